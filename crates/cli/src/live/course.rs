//! What is known of a run while it goes on, without a word on how it is shown.

use std::collections::{HashMap, VecDeque};

use block::Nanos;
use drive::Counters;
use engine::{Measurement, TICK};
use lab::Metric;
use trial::{Figure, Trial};

use crate::progress::Speed;

/// How many of the latest speeds are kept: as many as the widest terminal shows.
const HISTORY: usize = 400;

/// How far a run has come, and what it has measured.
#[derive(Default)]
pub struct Course {
    /// Which run it is.
    pub title: String,
    /// The cells of each step, in the order in which the plan has them.
    pub cells: HashMap<String, Vec<String>>,
    /// About how long the whole takes.
    pub whole: Nanos,
    /// How much of that is done.
    pub done: Nanos,
    /// What is done now.
    pub step: String,
    /// The steps that have figures, in the order in which the first came.
    pub charts: Vec<Chart>,
    /// What a measurement in real time does now; none where none is under way.
    pub now: Option<Speed>,
    /// The last measurement that was kept.
    pub last: Option<Last>,
    /// Requests a second: of the measurement under way as often as it was heard of, else second by second of the last one.
    pub history: VecDeque<f64>,
    /// What a simulated drive did in all measurements that were kept; none where the drive is not simulated.
    pub counters: Option<Counters>,
    /// How many measurements were kept.
    pub measurements: u64,
    /// Doubts, in the order in which they came.
    pub findings: Vec<String>,
    /// What the measurement under way had done when it was last heard of.
    pub heard: engine::Progress,
}

/// The figures of a step.
pub struct Chart {
    /// The step's name.
    pub step: String,
    /// What the bars show, with its unit: `IOPS`, `Transactions, 1/s`.
    pub figure: String,
    /// Its cells that have figures, in the plan's order: cells of a simulated drive, which are measured side by side, end in
    /// any order.
    pub bars: Vec<Bar>,
}

/// The figure of a cell.
pub struct Bar {
    /// The cell's name: `bs=4k iodepth=32`, empty where nothing is swept.
    pub cell: String,
    /// How often it was measured.
    pub repeats: u32,
    /// The mean of all repeats.
    pub mean: f64,
}

/// A measurement that was kept.
pub struct Last {
    /// The step and the cell.
    pub place: String,
    /// Its figures; those that it gives.
    pub figures: Vec<(Metric, f64)>,
}

impl Course {
    /// Takes in that a step has begun.
    pub fn begin_step(&mut self, title: &str) {
        if self.step != title {
            title.clone_into(&mut self.step);
            self.now = None;
        }
    }

    /// Takes in how far a measurement in real time has come.
    pub fn hear(&mut self, now: engine::Progress) {
        let before = std::mem::replace(&mut self.heard, now);
        let is_next = self.now.is_none() || now.elapsed < before.elapsed;
        let Some(speed) = Speed::between(before, now) else { return };
        if is_next {
            self.history.clear();
        }
        self.history.push_back(speed.iops);
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        self.now = Some(speed);
    }

    /// Takes in a measurement.
    pub fn keep(&mut self, step: &str, cell: &str, measurement: &Measurement) {
        self.measurements += 1;
        if let Some(did) = measurement.drive {
            self.counters = Some(self.counters.map_or(did, |sum| sum + did));
        }
        let figures = Metric::tabled().filter_map(|metric| Some((metric, metric.of(measurement)?))).collect();
        self.last = Some(Last { place: format!("{step} {cell}").trim_end().to_owned(), figures });
        if self.now.take().is_none() {
            self.history = by_second(measurement);
        }
        self.add(step, "IOPS", cell, measurement.iops());
    }

    /// Takes in a go of a trial: its most important figure makes a bar.
    pub fn try_out(&mut self, step: &str, cell: &str, trial: &Trial) {
        self.measurements += 1;
        if let Some(Figure { name, unit, value, .. }) = trial.figures.first() {
            self.add(step, &format!("{name}, {unit}"), cell, *value);
        }
    }

    /// Takes in a doubt.
    pub fn find(&mut self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        let place = [step, cell].into_iter().flatten().collect::<Vec<_>>().join(" ");
        self.findings.push(if place.is_empty() { finding.to_owned() } else { format!("{place}: {finding}") });
    }

    /// The share of the whole that is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        (self.done.as_secs_f64() / self.whole.as_secs_f64().max(1e-9)).min(1.0)
    }

    /// Takes a figure into the chart of its step, which is then the last.
    fn add(&mut self, step: &str, figure: &str, cell: &str, value: f64) {
        let mut chart = match self.charts.iter().position(|chart| chart.step == step) {
            Some(place) => self.charts.remove(place),
            None => Chart { step: step.to_owned(), figure: figure.to_owned(), bars: Vec::new() },
        };
        chart.add(cell, value, self.cells.get(step).map_or(&[], Vec::as_slice));
        self.charts.push(chart);
    }
}

impl Chart {
    fn add(&mut self, cell: &str, value: f64, order: &[String]) {
        match self.bars.iter_mut().find(|bar| bar.cell == cell) {
            Some(bar) => {
                bar.repeats += 1;
                bar.mean += (value - bar.mean) / f64::from(bar.repeats);
            }
            None => {
                let place = |cell: &str| order.iter().position(|one| one == cell).unwrap_or(order.len());
                let at = self.bars.partition_point(|bar| place(&bar.cell) <= place(cell));
                self.bars.insert(at, Bar { cell: cell.to_owned(), repeats: 1, mean: value });
            }
        }
    }
}

/// Requests in each whole second.
fn by_second(measurement: &Measurement) -> VecDeque<f64> {
    let whole = (measurement.elapsed.as_nanos() / TICK.as_nanos()) as usize;
    let ticks = measurement.series.iter().take(whole).map(|tick| tick.requests() as f64);
    ticks.skip(whole.saturating_sub(HISTORY)).collect()
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use engine::Clock;
    use workload::Workload;

    use super::*;

    /// Reads of 4 KiB, so many in each second for two and a half of them.
    fn measured(each: u64) -> Measurement {
        let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for read in 1..=each * 5 / 2 {
            let at = Nanos::from_nanos(read * 1_000_000_000 / each);
            measurement.record(Op::Read, Bytes::from_kib(4), at, Nanos::from_micros(100));
        }
        measurement.drive = Some(Counters { blocks_erased: 3, ..Counters::default() });
        measurement
    }

    fn told(requests: u64, millis: u64) -> engine::Progress {
        let bytes = Bytes::from_kib(4).times(requests);
        engine::Progress { requests, bytes, elapsed: Nanos::from_millis(millis), lately: None }
    }

    #[test]
    fn a_cell_shows_the_mean_of_its_repeats_and_the_latest_step_comes_last() {
        let mut course = Course::default();
        course.keep("read", "bs=4k", &measured(100));
        course.keep("read", "bs=4k", &measured(200));
        course.keep("write", "", &measured(40));
        course.keep("read", "bs=8k", &measured(50));
        let steps: Vec<&str> = course.charts.iter().map(|chart| chart.step.as_str()).collect();
        assert_eq!(steps, ["write", "read"]);
        let bars: Vec<_> = course.charts[1].bars.iter().map(|bar| (bar.cell.as_str(), bar.repeats, bar.mean)).collect();
        assert_eq!(bars, [("bs=4k", 2, 150.0), ("bs=8k", 1, 50.0)]);
        assert_eq!((course.measurements, course.counters.unwrap().blocks_erased), (4, 12));
    }

    #[test]
    fn cells_stand_in_the_plan_s_order_whichever_ends_first() {
        let cells = HashMap::from([("read".to_owned(), ["bs=1m", "bs=4k", "bs=512"].map(str::to_owned).to_vec())]);
        let mut course = Course { cells, ..Course::default() };
        for cell in ["bs=512", "bs=1m", "bs=4k", "another"] {
            course.keep("read", cell, &measured(100));
        }
        let bars: Vec<&str> = course.charts[0].bars.iter().map(|bar| bar.cell.as_str()).collect();
        assert_eq!(bars, ["bs=1m", "bs=4k", "bs=512", "another"]);
    }

    #[test]
    fn a_trial_shows_its_most_important_figure() {
        let mut course = Course::default();
        for value in [100.0, 300.0] {
            let figures = vec![Figure::more("Transactions", "1/s", value), Figure::more("Commits", "1/s", 7.0)];
            course.try_out("bench", "clients=8", &Trial { figures, ..Trial::default() });
        }
        let chart = &course.charts[0];
        assert_eq!((chart.figure.as_str(), chart.bars[0].mean, course.measurements), ("Transactions, 1/s", 200.0, 2));
    }

    #[test]
    fn the_course_of_the_last_measurement_leaves_out_the_second_that_is_not_whole() {
        let mut course = Course::default();
        course.keep("read", "", &measured(100));
        // What completes on the second's turn is the next one's.
        assert_eq!(course.history, [99.0, 100.0]);
    }

    #[test]
    fn each_measurement_in_real_time_has_a_course_of_its_own() {
        let mut course = Course::default();
        for (requests, millis) in [(1000, 250), (3000, 500)] {
            course.hear(told(requests, millis));
        }
        assert_eq!(course.history, [4000.0, 8000.0]);
        course.hear(told(50, 250));
        assert_eq!(course.history, [200.0], "time has begun anew");
        course.begin_step("The next");
        assert!(course.now.is_none());
    }
}
