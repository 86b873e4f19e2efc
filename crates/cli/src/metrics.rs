//! What a run does now, for Prometheus: a file that its textfile collector reads, written whole each time, or an address
//! at which it asks.

mod address;
mod sink;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use host::Output;
use lab::{Metric, News, Progress, Show, Snapshot};

use crate::terminal::notice;
pub use address::HostNames;
pub use sink::{MetricsSink, OpenMetricsSink};

/// How often the file is written, at most.
const EVERY: Duration = Duration::from_secs(1);

/// What says which run it is.
pub type Labels = Vec<(&'static str, String)>;

/// The figures of a run in a file, where Prometheus finds them.
pub struct Metrics {
    labels: Labels,
    output: Arc<Mutex<Output>>,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    when: Option<Instant>,
    /// Whether it was told already that the file cannot be written.
    is_told: bool,
}

impl Metrics {
    /// Will write to a file; none where the figures are asked for, which are answered from now on until the program ends.
    pub fn new(outlet: &OpenMetricsSink, labels: Labels, progress: &Progress) -> Option<Self> {
        match outlet {
            OpenMetricsSink::File(output) => {
                Some(Self { labels, output: Arc::clone(output), written: Mutex::default() })
            }
            OpenMetricsSink::Listener { listener, names } => {
                let progress = progress.clone();
                address::answer(Arc::clone(listener), *names, move || progress.look(|now| text(&labels, now)));
                None
            }
        }
    }
}

impl Show for Metrics {
    fn show(&self, snapshot: &Snapshot, news: News) {
        let mut written = self.written.lock().expect("nothing panics while it writes");
        if news == News::Over || written.when.is_none_or(|when| when.elapsed() >= EVERY) {
            written.when = Some(Instant::now());
            let text = text(&self.labels, snapshot);
            let output = self.output.lock().expect("nothing panics while it writes").write(text.as_bytes());
            if let Err(error) = output
                && !std::mem::replace(&mut written.is_told, true)
            {
                notice(format_args!("metrics are no longer written: {error}; the run continues"));
            }
        }
    }
}

/// Source: OpenMetrics 1.0; what stands here is also the text format 0.0.4 of Prometheus.
fn text(labels: &Labels, snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, labels: &[(&str, &str)], value: f64| {
        let labels: Vec<String> = labels.iter().map(|(key, is)| format!("{key}=\"{}\"", escaped(is))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name}{labels} {value}").expect("memory takes it");
    };
    let own: Vec<(&str, &str)> = labels.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let is_over = snapshot.is_over;
    let share = if is_over { 1.0 } else { snapshot.share().unwrap_or(0.0) };
    gauge("assay_run_info", "The run.", &own, 1.0);
    gauge("assay_running", "1 while the run is in progress.", &[], f64::from(u8::from(!is_over)));
    gauge("assay_progress_ratio", "Progress of the run, from 0 to 1.", &[], share);
    gauge("assay_elapsed_seconds", "Elapsed time of the run.", &[], snapshot.elapsed.as_secs_f64());
    if let Some(left) = snapshot.left().filter(|_| !is_over) {
        gauge("assay_left_seconds", "Estimated time left.", &[], left.as_secs_f64());
    }
    gauge("assay_measurements", "Stored measurements.", &[], snapshot.measurements as f64);
    gauge("assay_findings", "Findings so far.", &[], snapshot.findings.len() as f64);
    if let Some(speed) = snapshot.now {
        gauge("assay_live_iops", "IOPS of the current measurement.", &[], speed.iops);
    }
    if let Some(last) = &snapshot.last {
        let place = [("step", last.step.as_str()), ("cell", last.cell.as_str())];
        let figures = [
            ("assay_last_iops", "IOPS of the last measurement.", last.figure(Metric::Iops)),
            (
                "assay_last_bytes_per_second",
                "Throughput of the last measurement.",
                last.figure(Metric::Bandwidth).map(|megabytes| megabytes * 1e6),
            ),
            (
                "assay_last_latency_p99_seconds",
                "99th percentile latency of the last measurement.",
                last.figure(Metric::Latency99).map(|micros| micros / 1e6),
            ),
        ];
        for (name, help, value) in figures {
            value.into_iter().for_each(|value| gauge(name, help, &place, value));
        }
    }
    text + "# EOF\n"
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
