//! One figure of a point, or why there is none.

use drive::rig::Bottleneck;
use measurement::Measurement;
use plan::{Metric, PointOutcome};
use stats::Interval;
use workload::Workload;

/// A figure of a point over its repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CellFigure {
    /// The mean with its interval.
    Measured(Interval),
    /// A percentile that needs more requests than a repeat made.
    TooFew,
    /// Not a property of such a measurement, as write amplification is not of reads.
    NotGiven,
    /// The point has no measurement.
    NotMeasured,
}

impl CellFigure {
    pub(crate) fn interval(&self) -> Option<&Interval> {
        if let Self::Measured(interval) = self { Some(interval) } else { None }
    }

    /// Whether its interval is wider than ±2 %.
    pub(crate) fn is_imprecise(&self) -> bool {
        self.interval().is_some_and(Interval::is_imprecise)
    }

    /// The same in a unit of which one of its own is `scale`.
    pub(crate) fn scaled(self, scale: f64) -> Self {
        match self {
            Self::Measured(interval) => Self::Measured(scaled(&interval, scale)),
            none => none,
        }
    }
}

/// An interval in a unit of which one of its own is `scale`.
pub(crate) fn scaled(interval: &Interval, scale: f64) -> Interval {
    let half_width = interval.half_width.map(|half| half * scale);
    Interval { mean: interval.mean * scale, half_width, ..*interval }
}

/// A point with all its figures worked out once.
#[derive(Debug)]
pub(crate) struct CellFigures<'a> {
    pub(crate) point: &'a PointOutcome,
    cell: Option<Cell<'a>>,
    /// Each figure that any repeat gives, in the order of tables, with what each repeat gave.
    figures: Vec<(measurement::Figure, CellFigure, Vec<f64>)>,
}

/// What a point has that was measured request by request.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// What was asked.
    pub(crate) workload: &'a Workload,
    /// What was measured, a repeat each.
    pub(crate) repeats: Vec<&'a Measurement>,
    rounds: Vec<&'a Measurement>,
}

impl<'a> Cell<'a> {
    /// What was measured in each round, where it was measured in rounds.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = &'a Measurement> {
        self.rounds.iter().copied()
    }
}

impl<'a> CellFigures<'a> {
    /// Works out the figures of `point`.
    pub(crate) fn of(point: &'a PointOutcome) -> Self {
        let cell = point.workload().map(|workload| Cell {
            workload,
            repeats: point.measurements().collect(),
            rounds: point.rounds().collect(),
        });
        let mut figures: Vec<(measurement::Figure, CellFigure, Vec<f64>)> = Vec::new();
        for given in point.repeats.iter().flat_map(plan::Repeat::figures) {
            let value = given.value;
            match figures.iter_mut().find(|(known, ..)| known.name == given.name) {
                Some((_, _, samples)) => samples.push(value),
                None => figures.push((given, CellFigure::NotGiven, vec![value])),
            }
        }
        for (given, figure, samples) in &mut figures {
            *figure = over_repeats(point, &given.name, samples);
        }
        Self { point, cell, figures }
    }

    /// What was asked and measured request by request. Only steps that do so have tables that ask for it.
    pub(crate) fn cell(&self) -> &Cell<'a> {
        self.cell.as_ref().expect("a point of a trial has no requests of its own to be shown")
    }

    /// Whether it was measured request by request.
    pub(crate) fn is_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// A figure over the repeats.
    pub(crate) fn figure(&self, metric: Metric) -> CellFigure {
        self.named(metric.title())
    }

    /// The figure of this name over the repeats.
    pub(crate) fn named(&self, name: &str) -> CellFigure {
        let found = self.figures.iter().find(|(known, ..)| known.name == name).map(|(_, figure, _)| *figure);
        found.unwrap_or(if self.is_measured() { CellFigure::NotGiven } else { CellFigure::NotMeasured })
    }

    /// A figure of each repeat.
    pub(crate) fn samples(&self, name: &str) -> &[f64] {
        self.figures.iter().find(|(known, ..)| known.name == name).map_or(&[], |(_, _, samples)| samples)
    }

    /// What figures it has: name, unit and direction, with the largest of its repeats.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&measurement::Figure, f64)> {
        let largest = |samples: &[f64]| samples.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        self.figures.iter().map(move |(given, _, samples)| (given, largest(samples)))
    }

    /// What held the rig up, by the last repeat; none where there is no rig.
    pub(crate) fn limit(&self) -> Option<Bottleneck> {
        let last = self.point.measurements().next_back()?;
        last.drive?.limit(last.elapsed)
    }

    /// Whether pattern, size, depth, workers and span say all there is to say of it, on the target as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.point.workload().is_some_and(Workload::is_plain) && self.point.changes().is_empty()
    }

    /// Whether there is any measurement.
    pub(crate) fn is_measured(&self) -> bool {
        self.point.is_measured()
    }
}

/// The figure of this name over the repeats that gave `samples`.
fn over_repeats(point: &PointOutcome, name: &str, samples: &[f64]) -> CellFigure {
    let needed = point.workload().and(Metric::titled(name)).map_or(0, Metric::requests_needed);
    let least = point.measurements().map(Measurement::requests).filter(|&requests| requests > 0).min();
    match point.interval(name, samples) {
        None => CellFigure::NotGiven,
        Some(_) if least.is_some_and(|requests| requests < needed) => CellFigure::TooFew,
        Some(interval) => CellFigure::Measured(interval),
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos, Op, Seed};
    use measurement::Clock;

    use super::*;

    #[test]
    fn repeats_of_one_request_that_agree_are_imprecise() {
        let mut measured = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        measured.record(Op::Read, Bytes::from_kib(4), Nanos::from_secs(66), Nanos::from_secs(66));
        let point = PointOutcome::measured(Vec::new(), Workload::default(), vec![measured; 5]);
        let figures = CellFigures::of(&point);
        for metric in [Metric::Iops, Metric::LatencyMedian] {
            assert_eq!(figures.figure(metric).interval().and_then(Interval::relative), Some(1.0), "{}", metric.title());
        }
    }
}
