//! The figures of a step as columns: what each is, and in which unit it is shown.

use measurement::Better;
use plan::{Group, Metric};
use stats::Interval;

use crate::figure::{CellFigure, CellFigures, scaled};
use crate::number::{Scaled, latency, three};
use crate::part::MeasuredStep;

/// One figure of a step.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) better: Better,
    /// The unit in which it is shown, and how much of it one of the figure's own unit is.
    pub(crate) unit: &'static str,
    pub(crate) scale: f64,
    /// The figure of requests that it is.
    pub(crate) metric: Option<Metric>,
}

/// The figures that any point of a step gives, in the order of tables.
pub(crate) fn columns(part: &MeasuredStep) -> Vec<Column> {
    let mut given: Vec<(&measurement::Figure, f64)> = Vec::new();
    for (figure, most) in part.readings.iter().flat_map(CellFigures::given) {
        match given.iter_mut().find(|(known, _)| known.name == figure.name) {
            Some((_, known)) => *known = most.max(*known),
            None => given.push((figure, most)),
        }
    }
    if part.trials().is_some() {
        return given.into_iter().map(|(figure, most)| Column::tried(figure, most)).collect();
    }
    let is_given = |metric: &Metric| part.readings.iter().any(|one| one.figure(*metric).interval().is_some());
    let latencies = of_latencies(part);
    Metric::tabled().filter(is_given).map(|metric| Column::of(metric).with(latencies)).collect()
}

/// The figures of flushes that any point of a step gives; none of trials, which make their own requests.
pub(crate) fn of_flushes(part: &MeasuredStep) -> Vec<Metric> {
    let is_given = |metric: &Metric| part.readings.iter().any(|one| one.figure(*metric).interval().is_some());
    Metric::of_group(Group::Flush).filter(|metric| part.trials().is_none() && is_given(metric)).collect()
}

/// The unit of latencies before they are scaled.
const LATENCY: &str = "µs";

/// The unit of all latencies of a step, so that those of a row can be compared.
pub(crate) fn of_latencies(part: &MeasuredStep) -> Scaled<'static> {
    let latencies = || Metric::tabled().filter(|metric| metric.unit() == LATENCY);
    let figures = part.readings.iter().flat_map(|one| latencies().map(|metric| one.figure(metric)));
    Scaled::over(LATENCY, figures.filter_map(|figure| Some(figure.interval()?.mean)))
}

impl Column {
    /// The column of a figure of requests.
    pub(crate) fn of(metric: Metric) -> Self {
        let better = if metric.more_is_better() { Better::More } else { Better::Less };
        Self { name: metric.title().to_owned(), better, unit: metric.unit(), scale: 1.0, metric: Some(metric) }
    }

    /// The same with latencies in their unit.
    pub(crate) fn with(self, latencies: Scaled<'static>) -> Self {
        let Scaled { unit, scale } = latencies;
        if self.unit == LATENCY { Self { unit, scale, ..self } } else { self }
    }

    /// Whether it is one of these figures.
    pub(crate) fn is_of(&self, group: Group) -> bool {
        self.metric.is_some_and(|metric| metric.group() == group)
    }

    /// Its name in a table that says what its figures are of: `Mean` of `Mean flush latency`.
    pub(crate) fn brief(&self) -> &str {
        self.name.trim_end_matches(" latency").trim_end_matches(" flush")
    }

    /// The column of a figure of trials, which is at most `most`: in the unit that suits.
    fn tried(figure: &measurement::Figure, most: f64) -> Self {
        let (unit, scale) = match figure.unit.as_str() {
            "s" if most < 1e-3 => ("µs", 1e6),
            "s" if most < 1.0 => ("ms", 1e3),
            "s" => ("s", 1.0),
            "B/s" => ("MB/s", 1e-6),
            "B" if most < 1e6 => ("kB", 1e-3),
            "B" => ("MB", 1e-6),
            // What the word says already.
            "1/s" if figure.name == "IOPS" => ("", 1.0),
            "1/s" => ("1/s", 1.0),
            "%" => ("%", 1.0),
            _ => ("", 1.0),
        };
        Self { name: figure.name.clone(), better: figure.better, unit, scale, metric: None }
    }

    /// The figure at a point, in the unit of the column.
    pub(crate) fn figure(&self, reading: &CellFigures) -> CellFigure {
        reading.named(&self.name).scaled(self.scale)
    }

    /// The same where there is one.
    pub(crate) fn interval(&self, reading: &CellFigures) -> Option<Interval> {
        self.figure(reading).interval().copied()
    }

    /// What single repeats gave, in the unit of the column.
    pub(crate) fn samples(&self, reading: &CellFigures) -> Vec<f64> {
        reading.samples(&self.name).iter().map(|sample| sample * self.scale).collect()
    }

    /// A figure in the unit in which the column is shown.
    pub(crate) fn scaled(&self, found: &Interval) -> Interval {
        scaled(found, self.scale)
    }

    /// What is measured, with its unit: `Transactions (1/s)`.
    pub(crate) fn head(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }

    /// The heading of a panel: `Transactions (1/s), more is better`.
    pub(crate) fn title(&self) -> String {
        self.head() + self.way()
    }

    /// Which way is better, to be put behind a heading: `, more is better`.
    pub(crate) const fn way(&self) -> &'static str {
        match self.better {
            Better::More => ", more is better",
            Better::Less => ", less is better",
            Better::Neither => "",
        }
    }

    /// A mean of the column as a sentence has it: `12,300 a second`, `252 MB/s`.
    pub(crate) fn told(&self, interval: &Interval) -> String {
        match self.unit {
            "µs" | "ms" | "s" if self.metric.is_some_and(|metric| metric.unit() == "µs") => {
                latency(interval.mean / self.scale)
            }
            "1/s" => format!("{} a second", three(interval.mean)),
            unit => format!("{} {unit}", three(interval.mean)).trim_end().to_owned(),
        }
    }
}
