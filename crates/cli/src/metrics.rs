//! What a run does now, for Prometheus: a file that its textfile collector reads, written whole each time, or an address
//! at which it asks.

mod address;
mod place;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use block::Nanos;
use engine::Measurement;
use host::Output;
use lab::{Metric, Watch};
use trial::Trial;

use crate::progress::{Speed, time_left};
use crate::terminal::notice;
pub use address::Names;
pub use place::{Outlet, Place};

/// How often the file is written, at most.
const EVERY: Duration = Duration::from_secs(1);

/// The figures of a run, where Prometheus finds them.
pub struct Metrics {
    shared: Arc<Shared>,
    /// The file; none where the figures are asked for.
    output: Option<Arc<Mutex<Output>>>,
}

/// What whoever asks is told of.
struct Shared {
    /// What says which run it is.
    labels: Vec<(&'static str, String)>,
    began: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    whole: Nanos,
    done: Nanos,
    is_over: bool,
    measurements: u64,
    findings: u64,
    last: Option<Last>,
    /// Requests a second since it was last heard of a measurement in real time.
    live: Option<f64>,
    heard: engine::Progress,
    written: Option<Instant>,
    /// Whether it was told already that the file cannot be written.
    is_told: bool,
}

/// The last measurement.
struct Last {
    step: String,
    cell: String,
    figures: Vec<(Metric, f64)>,
}

impl Metrics {
    /// Will write to a file, or answers from now on until the program ends.
    pub fn new(outlet: &Outlet, labels: Vec<(&'static str, String)>) -> Self {
        let shared = Arc::new(Shared { labels, began: Instant::now(), state: Mutex::default() });
        let output = match outlet {
            Outlet::File(output) => Some(Arc::clone(output)),
            Outlet::Listener { listener, names } => {
                let told = Arc::clone(&shared);
                address::answer(Arc::clone(listener), *names, move || told.text(&told.lock()));
                None
            }
        };
        Self { shared, output }
    }

    /// Writes that the run is over.
    pub fn finish(&self) {
        self.change(true, |state| state.is_over = true);
    }

    /// Changes what is known, and writes it if it is time to, or at once.
    fn change(&self, at_once: bool, change: impl FnOnce(&mut State)) {
        let mut state = self.shared.lock();
        change(&mut state);
        let Some(output) = &self.output else { return };
        if at_once || state.written.is_none_or(|written| written.elapsed() >= EVERY) {
            state.written = Some(Instant::now());
            let text = self.shared.text(&state);
            let written = output.lock().expect("nothing panics while it writes").write(text.as_bytes());
            if let Err(error) = written
                && !std::mem::replace(&mut state.is_told, true)
            {
                notice(format_args!("metrics are no longer written: {error}; the run continues"));
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the figures")
    }

    /// Source: OpenMetrics 1.0; what stands here is also the text format 0.0.4 of Prometheus.
    fn text(&self, state: &State) -> String {
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, labels: &[(&str, &str)], value: f64| {
            let labels: Vec<String> = labels.iter().map(|(key, is)| format!("{key}=\"{}\"", escaped(is))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name}{labels} {value}")
                .expect("memory takes it");
        };
        let own: Vec<(&str, &str)> = self.labels.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let share = state.done.as_secs_f64() / state.whole.as_secs_f64().max(1e-9);
        let elapsed = self.began.elapsed();
        gauge("assay_run_info", "The run.", &own, 1.0);
        gauge("assay_running", "1 while the run is in progress.", &[], f64::from(u8::from(!state.is_over)));
        gauge(
            "assay_progress_ratio",
            "Share of the plan that is done.",
            &[],
            if state.is_over { 1.0 } else { share.min(1.0) },
        );
        gauge("assay_elapsed_seconds", "Elapsed time of the run.", &[], elapsed.as_secs_f64());
        let left = time_left(elapsed, state.done.as_nanos(), state.whole.as_nanos());
        if let Some(left) = left.filter(|_| !state.is_over) {
            gauge("assay_left_seconds", "Estimated time left.", &[], left.as_secs_f64());
        }
        gauge("assay_measurements", "Stored measurements.", &[], state.measurements as f64);
        gauge("assay_findings", "Findings so far.", &[], state.findings as f64);
        if let Some(live) = state.live {
            gauge("assay_live_iops", "IOPS of the current measurement.", &[], live);
        }
        if let Some(Last { step, cell, figures }) = &state.last {
            let place = [("step", step.as_str()), ("cell", cell.as_str())];
            for (metric, value) in figures {
                match metric {
                    Metric::Iops => gauge("assay_last_iops", "IOPS of the last measurement.", &place, *value),
                    Metric::Bandwidth => {
                        let help = "Throughput of the last measurement.";
                        gauge("assay_last_bytes_per_second", help, &place, value * 1e6);
                    }
                    _ => {
                        let help = "99th percentile latency of the last measurement.";
                        gauge("assay_last_latency_p99_seconds", help, &place, value / 1e6);
                    }
                }
            }
        }
        text + "# EOF\n"
    }
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl Watch for Metrics {
    fn begin(&self, whole: Nanos) {
        self.change(true, |state| state.whole = whole);
    }

    fn step(&self, _: &str) {}

    fn advance(&self, done: Nanos) {
        self.change(false, |state| state.done += done);
    }

    fn live(&self, now: engine::Progress) {
        self.change(false, |state| {
            let before = std::mem::replace(&mut state.heard, now);
            state.live = Speed::between(before, now).map(|speed| speed.iops).or(state.live);
        });
    }

    fn kept(&self, step: &str, cell: &str, measurement: &Measurement) {
        let figures = [Metric::Iops, Metric::Bandwidth, Metric::Latency99];
        let figures = figures.into_iter().filter_map(|metric| Some((metric, metric.of(measurement)?))).collect();
        self.change(false, |state| {
            state.measurements += 1;
            state.last = Some(Last { step: step.to_owned(), cell: cell.to_owned(), figures });
        });
    }

    fn tried(&self, _: &str, _: &str, _: &Trial) {
        self.change(false, |state| state.measurements += 1);
    }

    fn found(&self, _: Option<&str>, _: Option<&str>, _: &str) {
        self.change(false, |state| state.findings += 1);
    }
}

/// Several who want to know how far a plan has come.
pub struct Watchers<'a>(pub Vec<&'a dyn Watch>);

impl Watch for Watchers<'_> {
    fn begin(&self, whole: Nanos) {
        self.0.iter().for_each(|one| one.begin(whole));
    }

    fn step(&self, title: &str) {
        self.0.iter().for_each(|one| one.step(title));
    }

    fn advance(&self, done: Nanos) {
        self.0.iter().for_each(|one| one.advance(done));
    }

    fn live(&self, now: engine::Progress) {
        self.0.iter().for_each(|one| one.live(now));
    }

    fn kept(&self, step: &str, cell: &str, measurement: &Measurement) {
        self.0.iter().for_each(|one| one.kept(step, cell, measurement));
    }

    fn tried(&self, step: &str, cell: &str, trial: &Trial) {
        self.0.iter().for_each(|one| one.tried(step, cell, trial));
    }

    fn found(&self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        self.0.iter().for_each(|one| one.found(step, cell, finding));
    }
}
