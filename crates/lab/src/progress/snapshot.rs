//! What is known of a run while it goes on, without a word on how it is shown.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use block::Nanos;
use drive::Counters;
use engine::{Clock, Curve, LiveProgress, Measurement, TICK};
use trial::{Figure, Trial};

use super::Speed;
use crate::Metric;

/// How many of the latest speeds are kept: as many as the widest terminal shows.
const HISTORY: usize = 400;

/// The shortest time in which a rate can be told of a real target: requests are counted a batch at a time.
const HEARD_LEAST: Nanos = Nanos::from_millis(100);

/// How far a run has come, and what it has measured. All that is shown of a run while it goes on follows from this.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// How long it has gone on.
    pub elapsed: Duration,
    /// About how long the whole takes.
    pub whole: Nanos,
    /// How much of that is done.
    pub done: Nanos,
    /// Whether it has ended.
    pub is_over: bool,
    /// What is done now.
    pub step: String,
    /// The steps that have figures, in the order in which the latest came.
    pub charts: Vec<Chart>,
    /// What the workload does that is carried out now; none between workloads, and where several are simulated at once.
    pub now: Option<Speed>,
    /// How fast it has been since it began; all rounds of a conditioning are one. It stays until the next is heard of.
    pub curve: Curve,
    /// The last measurement that was kept.
    pub last: Option<Last>,
    /// Requests a second: of the measurement under way as often as it was heard of, else second by second of the last one.
    pub history: VecDeque<f64>,
    /// What a simulated drive and its clones have done; none where the drive is not simulated.
    pub counters: Option<Counters>,
    /// Repeats in the store.
    pub measurements: u64,
    /// Doubts, in the order in which they came.
    pub findings: Vec<String>,
}

/// The figures of a step.
#[derive(Clone, Debug)]
pub struct Chart {
    pub step: String,
    /// What the bars show, with its unit: `IOPS`, `Transactions, 1/s`.
    pub figure: String,
    /// Its cells that have figures, in the plan's order: cells of a simulated drive, which are measured side by side, end in
    /// any order.
    pub bars: Vec<Bar>,
}

/// The figure of a cell.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The cell's name: `bs=4k iodepth=32`, empty where nothing is swept.
    pub cell: String,
    /// How often it was measured.
    pub repeats: u32,
    /// The mean of all repeats.
    pub mean: f64,
}

/// A measurement that was kept.
#[derive(Clone, Debug)]
pub struct Last {
    pub step: String,
    /// The cell's name, empty where nothing is swept.
    pub cell: String,
    /// Its figures; those that it gives.
    pub figures: Vec<(Metric, f64)>,
}

impl Last {
    /// A figure, if it gives it.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        self.figures.iter().find(|(of, _)| *of == metric).map(|(_, value)| *value)
    }
}

/// The cells of each step, in the order in which the plan has them.
pub(super) type Order = HashMap<String, Vec<String>>;

impl Snapshot {
    /// The share of the whole that is done, from 0 to 1; none before anything is known of the whole.
    pub fn share(&self) -> Option<f64> {
        let share = self.done.as_secs_f64() / self.whole.as_secs_f64();
        share.is_finite().then_some(share.min(1.0))
    }

    /// How long the rest takes if it goes on as it has gone since the beginning; none before anything is done. What is done
    /// and the whole are what the plan was expected to cost, which a test holds against what it does cost.
    pub fn left(&self) -> Option<Duration> {
        let left = self.whole.since(self.done).as_secs_f64() / self.done.as_secs_f64();
        (self.done > Nanos::ZERO).then(|| self.elapsed.mul_f64(left))
    }

    /// Takes in that a step has begun.
    pub(super) fn begin_step(&mut self, title: &str) {
        title.clone_into(&mut self.step);
        self.now = None;
    }

    /// Takes in how far a workload has come since it was last heard of.
    /// What is heard right after it, as at the end of a measurement, is too little to tell a rate: then it is not taken in.
    pub(super) fn hear(&mut self, heard: &mut LiveProgress, now: LiveProgress) {
        let is_next = self.now.is_none() || now.elapsed < heard.elapsed;
        let before = if is_next { LiveProgress::default() } else { *heard };
        if now.clock == Clock::Real && now.elapsed.since(before.elapsed) < HEARD_LEAST {
            return;
        }
        *heard = now;
        let Some(speed) = Speed::between(before, now) else { return };
        if is_next {
            self.history.clear();
            self.curve = Curve::new(&self.step, now.clock);
        }
        self.curve.push(now.elapsed.as_secs_f64(), speed.iops);
        self.history.push_back(speed.iops);
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        self.now = Some(speed);
    }

    /// Takes in a measurement.
    pub(super) fn keep(&mut self, step: &str, cell: &str, measurement: &Measurement, order: &Order) {
        self.measurements += 1;
        let figures = Metric::tabled().filter_map(|metric| Some((metric, metric.of(measurement)?))).collect();
        self.last = Some(Last { step: step.to_owned(), cell: cell.to_owned(), figures });
        if self.now.take().is_none() {
            self.history = by_second(measurement);
        }
        // What goes on in order is told by its data, as everywhere.
        let metric = if measurement.workload.pattern.is_random() { Metric::Iops } else { Metric::Bandwidth };
        if let Some(value) = metric.of(measurement) {
            self.add(step, metric.unit(), cell, value, order);
        }
    }

    /// Takes in a go of a trial: its most important figure makes a bar.
    pub(super) fn try_out(&mut self, step: &str, cell: &str, trial: &Trial, order: &Order) {
        self.measurements += 1;
        if let Some(Figure { name, unit, value, .. }) = trial.figures.first() {
            self.add(step, &format!("{name}, {unit}"), cell, *value, order);
        }
    }

    /// Takes in a doubt.
    pub(super) fn find(&mut self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        let place = [step, cell].into_iter().flatten().collect::<Vec<_>>().join(" ");
        self.findings.push(if place.is_empty() { finding.to_owned() } else { format!("{place}: {finding}") });
    }

    /// Takes a figure into the chart of its step, which is then the last.
    fn add(&mut self, step: &str, figure: &str, cell: &str, value: f64, order: &Order) {
        let mut chart = match self.charts.iter().position(|chart| chart.step == step) {
            Some(place) => self.charts.remove(place),
            None => Chart { step: step.to_owned(), figure: figure.to_owned(), bars: Vec::new() },
        };
        chart.add(cell, value, order.get(step).map_or(&[], Vec::as_slice));
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

/// Requests a second in each whole interval: a second, or a round that is shorter.
fn by_second(measurement: &Measurement) -> VecDeque<f64> {
    let whole = (measurement.elapsed.as_nanos() / TICK.as_nanos()) as usize;
    // A series of one piece has an interval for every second, and one for what is left.
    let is_in_rounds = measurement.series.len() > whole + 1;
    let round = measurement.workload.stop.time.filter(|_| is_in_rounds);
    let longest = round.map_or(TICK, |round| round.min(TICK));
    let intervals = measurement.intervals(round).filter(|one| one.length.times(2) > longest);
    let rates: Vec<f64> = intervals.map(|one| one.tick.requests() as f64 / one.length.as_secs_f64()).collect();
    rates[rates.len().saturating_sub(HISTORY)..].iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use engine::Clock;
    use workload::{Pattern, Workload};

    use super::*;

    /// Reads of 4 KiB, so many in each second for two and a half of them.
    fn measured(each: u64) -> Measurement {
        let workload = Workload { pattern: Pattern::RandRead, ..Workload::default() };
        let mut measurement = Measurement::new(workload, Seed::new(1), Clock::Virtual);
        for read in 1..=each * 5 / 2 {
            let at = Nanos::from_nanos(read * 1_000_000_000 / each);
            measurement.record(Op::Read, Bytes::from_kib(4), at, Nanos::from_micros(100));
        }
        measurement
    }

    fn told(requests: u64, millis: u64) -> engine::LiveProgress {
        let bytes = Bytes::from_kib(4).times(requests);
        engine::LiveProgress { requests, bytes, elapsed: Nanos::from_millis(millis), ..Default::default() }
    }

    #[test]
    fn the_rest_takes_as_long_as_what_was_done() {
        let left = |elapsed, done| {
            let (elapsed, done) = (Duration::from_secs(elapsed), Nanos::from_secs(done));
            Snapshot { elapsed, done, whole: Nanos::from_secs(100), ..Snapshot::default() }.left()
        };
        assert_eq!(left(30, 25), Some(Duration::from_secs(90)));
        assert_eq!(left(30, 120), Some(Duration::ZERO), "more was done than was expected");
        assert_eq!(left(30, 0), None);
        assert_eq!(Snapshot::default().share(), None, "nothing is known of it yet");
    }

    #[test]
    fn a_cell_shows_the_mean_of_its_repeats_and_the_latest_step_comes_last() {
        let (mut snapshot, order) = (Snapshot::default(), Order::new());
        snapshot.keep("read", "bs=4k", &measured(100), &order);
        snapshot.keep("read", "bs=4k", &measured(200), &order);
        snapshot.keep("write", "", &measured(40), &order);
        snapshot.keep("read", "bs=8k", &measured(50), &order);
        let steps: Vec<&str> = snapshot.charts.iter().map(|chart| chart.step.as_str()).collect();
        assert_eq!(steps, ["write", "read"]);
        let bars: Vec<_> =
            snapshot.charts[1].bars.iter().map(|bar| (bar.cell.as_str(), bar.repeats, bar.mean)).collect();
        assert_eq!(bars, [("bs=4k", 2, 150.0), ("bs=8k", 1, 50.0)]);
        assert_eq!(snapshot.measurements, 4);
    }

    #[test]
    fn cells_stand_in_the_plan_s_order_whichever_ends_first() {
        let order = Order::from([("read".to_owned(), ["bs=1m", "bs=4k", "bs=512"].map(str::to_owned).to_vec())]);
        let mut snapshot = Snapshot::default();
        for cell in ["bs=512", "bs=1m", "bs=4k", "another"] {
            snapshot.keep("read", cell, &measured(100), &order);
        }
        let bars: Vec<&str> = snapshot.charts[0].bars.iter().map(|bar| bar.cell.as_str()).collect();
        assert_eq!(bars, ["bs=1m", "bs=4k", "bs=512", "another"]);
    }

    #[test]
    fn a_trial_shows_its_most_important_figure() {
        let mut snapshot = Snapshot::default();
        for value in [100.0, 300.0] {
            let figures = vec![Figure::more("Transactions", "1/s", value), Figure::more("Commits", "1/s", 7.0)];
            snapshot.try_out("bench", "clients=8", &Trial { figures, ..Trial::default() }, &Order::new());
        }
        let chart = &snapshot.charts[0];
        assert_eq!((chart.figure.as_str(), chart.bars[0].mean, snapshot.measurements), ("Transactions, 1/s", 200.0, 2));
    }

    #[test]
    fn the_course_of_the_last_measurement_leaves_out_the_second_that_is_not_whole() {
        let mut snapshot = Snapshot::default();
        snapshot.keep("read", "", &measured(100), &Order::new());
        // What completes on the second's turn is the next one's.
        assert_eq!(snapshot.history, [99.0, 100.0]);
    }

    #[test]
    fn each_measurement_in_real_time_has_a_course_of_its_own() {
        let mut snapshot = Snapshot::default();
        let mut heard = LiveProgress::default();
        snapshot.hear(&mut heard, told(1000, 250));
        snapshot.hear(&mut heard, told(3000, 500));
        assert_eq!(snapshot.history, [4000.0, 8000.0]);
        snapshot.hear(&mut heard, told(3001, 501));
        assert_eq!(snapshot.history, [4000.0, 8000.0], "the end of a measurement says nothing of its rate");
        snapshot.hear(&mut heard, told(50, 250));
        assert_eq!(snapshot.history, [200.0], "time has begun anew");
        assert_eq!(snapshot.curve.points, [(0.25, 200.0)]);
        snapshot.begin_step("The next");
        assert!(snapshot.now.is_none());
        snapshot.hear(&mut heard, told(500, 500));
        assert_eq!(snapshot.history, [1000.0], "nothing of the step before counts");
        let virtually = |requests, micros| LiveProgress {
            clock: Clock::Virtual,
            requests,
            elapsed: Nanos::from_micros(micros),
            ..LiveProgress::default()
        };
        snapshot.hear(&mut heard, virtually(1, 100));
        snapshot.hear(&mut heard, virtually(3, 200));
        assert_eq!(snapshot.history, [10_000.0, 20_000.0], "simulated time is exact");
        assert_eq!(snapshot.curve.points, [(0.0001, 10_000.0), (0.0002, 20_000.0)]);
    }
}
