//! One figure of a cell, or why there is none.

use drive::rig::Limit;
use lab::{CellOutcome, Metric};
use stats::Interval;

/// A figure of a cell over its repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    /// The mean with its interval.
    Measured(Interval),
    /// A percentile that needs more requests than a repeat made.
    TooFew,
    /// Not a property of such a measurement, as write amplification is not of reads.
    NotGiven,
    /// The cell has no measurement.
    NotMeasured,
}

impl Figure {
    /// The interval, where there is one.
    pub(crate) fn interval(&self) -> Option<&Interval> {
        if let Self::Measured(interval) = self { Some(interval) } else { None }
    }

    /// Whether its interval is wider than ±2 %.
    pub(crate) fn is_imprecise(&self) -> bool {
        self.interval().is_some_and(Interval::is_imprecise)
    }
}

/// A cell with all its figures worked out once.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The cell.
    pub(crate) cell: &'a CellOutcome,
    figures: [Figure; Metric::ALL.len()],
    samples: [Vec<f64>; Metric::ALL.len()],
}

impl<'a> Reading<'a> {
    /// Works out the figures of `cell`.
    pub(crate) fn of(cell: &'a CellOutcome) -> Self {
        let samples = Metric::ALL.map(|metric| samples(cell, metric));
        let figures = std::array::from_fn(|i| figure(cell, Metric::ALL[i], &samples[i]));
        Self { cell, figures, samples }
    }

    /// A figure over the repeats.
    pub(crate) fn figure(&self, metric: Metric) -> Figure {
        self.figures[place(metric)]
    }

    /// A figure of each repeat.
    pub(crate) fn samples(&self, metric: Metric) -> &[f64] {
        &self.samples[place(metric)]
    }

    /// What held the rig up, by the last repeat; none where there is no rig.
    pub(crate) fn limit(&self) -> Option<Limit> {
        let last = self.cell.repeats.last()?;
        last.drive?.limit(last.elapsed)
    }

    /// Whether pattern, size, depth, workers and span say all there is to say of it, on the target as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.cell.workload.is_plain() && self.cell.changes().is_empty()
    }

    /// Whether there is any measurement.
    pub(crate) fn is_measured(&self) -> bool {
        self.cell.repeats.iter().any(|repeat| repeat.requests() > 0)
    }
}

fn place(metric: Metric) -> usize {
    Metric::ALL.iter().position(|&other| other == metric).expect("ALL holds every metric")
}

fn samples(cell: &CellOutcome, metric: Metric) -> Vec<f64> {
    cell.repeats.iter().filter_map(|repeat| metric.of(repeat)).collect()
}

fn figure(cell: &CellOutcome, metric: Metric, samples: &[f64]) -> Figure {
    let requests_least = cell.repeats.iter().map(engine::Measurement::requests).filter(|&n| n > 0).min();
    match (requests_least, Interval::of(samples)) {
        (None, _) => Figure::NotMeasured,
        (Some(_), None) => Figure::NotGiven,
        (Some(requests), _) if requests < metric.requests_needed() => Figure::TooFew,
        (Some(_), Some(interval)) => Figure::Measured(interval),
    }
}
