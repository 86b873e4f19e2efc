//! What was measured, as points of an experiment.

use std::ops::RangeInclusive;

use block::Nanos;

use super::output::{Flow, Job, Kind};
use crate::printable;

/// The percentiles that criteria are of.
const PERCENTILES: [f64; 4] = [50.0, 99.0, 99.9, 99.99];
/// A deviation of fewer windows is one of few values.
const WINDOWS_LEAST: u64 = 20;

/// Microseconds and requests a second that can have been measured.
const MEANT: RangeInclusive<f64> = 1e-3..=1e12;

/// A number and what it is of.
pub struct Point {
    name: String,
    value: f64,
    unit: Option<&'static str>,
}

impl Point {
    /// As it stands in the file; `unmeasured` says why it is not simulated, if it is not.
    pub fn written(&self, unmeasured: Option<&str>) -> String {
        // A thousandth of a microsecond is the least that fio tells.
        let value = (self.value * 1e3).round() / 1e3;
        let mut text = format!("{{ q = \"{}\", v = {value}", self.name);
        if let Some(unit) = self.unit {
            text += &format!(", unit = \"{unit}\"");
        }
        if let Some(why) = unmeasured {
            text += &format!(", unmeasured = {}", toml::Value::String(printable(why)));
        }
        text + " }"
    }
}

/// What jobs that ran side by side measured together.
pub struct Combined<'o> {
    jobs: &'o [&'o Job],
}

impl<'o> Combined<'o> {
    pub const fn of(jobs: &'o [&'o Job]) -> Self {
        Self { jobs }
    }

    fn flows(&self) -> impl Iterator<Item = (Kind, &'o Flow)> {
        self.jobs.iter().flat_map(|job| job.flows())
    }

    /// How many requests there were.
    pub fn requests(&self) -> u64 {
        self.flows().map(|(_, flow)| flow.requests()).fold(0, u64::saturating_add)
    }

    /// How much was moved.
    pub fn bytes(&self) -> u64 {
        self.flows().map(|(_, flow)| flow.io_bytes).fold(0, u64::saturating_add)
    }

    /// How long it took, in whole seconds; none where it is less than one.
    pub fn seconds(&self) -> Option<u64> {
        let millis = self.flows().map(|(_, flow)| flow.runtime).fold(0.0, f64::max);
        Some((millis / 1e3).round() as u64).filter(|seconds| *seconds > 0)
    }

    /// Whether its latencies are of several jobs, each with percentiles of its own.
    pub fn is_parted(&self) -> bool {
        self.jobs.len() > 1
    }

    fn rate(&self, kind: Option<Kind>) -> f64 {
        self.flows().filter(|(of, _)| kind.is_none_or(|kind| kind == *of)).map(|(_, flow)| flow.iops).sum()
    }

    /// In microseconds.
    fn mean(&self) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, flow) in self.flows() {
            let (latency, scale) = flow.latency()?;
            sum += latency.mean / scale * flow.requests() as f64;
            count += flow.requests() as f64;
        }
        Some(sum / count).filter(|mean| *mean > 0.0)
    }

    /// What each of so many workers, with one request in flight, takes for it outside of its latency.
    pub fn outside(&self, workers: u32) -> Option<Nanos> {
        let micros = f64::from(workers) * 1e6 / self.rate(None) - self.mean()?;
        (micros > 0.0 && micros < 1e6).then(|| Nanos::from_nanos((micros * 1e3) as u64))
    }

    /// Its points; of requests of several kinds each kind has percentiles and a rate of its own.
    pub fn points(&self, is_windowed: bool) -> Vec<Point> {
        let is_mixed = self.flows().any(|(kind, _)| self.flows().any(|(other, _)| other != kind));
        let micros = |name: String, value: f64| Point { name, value, unit: None };
        let rate = |name: &str, value: f64| Point { name: name.to_owned(), value, unit: Some("IOPS") };
        let mut points = Vec::new();
        points.extend(self.mean().map(|mean| micros("mean".to_owned(), mean)));
        if !self.is_parted() {
            for (kind, flow) in self.flows() {
                let of = match kind {
                    Kind::Read if is_mixed => "read ",
                    Kind::Write if is_mixed => "write ",
                    Kind::Trim if is_mixed => continue,
                    _ => "",
                };
                let Some((latency, scale)) = flow.latency() else { continue };
                for percent in PERCENTILES {
                    let value = latency.percentile(percent);
                    points.extend(value.map(|value| micros(format!("{of}p{percent}"), value / scale)));
                }
                points.push(micros(format!("{of}max"), latency.max / scale));
                if !is_mixed && latency.stddev > 0.0 {
                    points.push(micros("latency std dev".to_owned(), latency.stddev / scale));
                }
            }
        }
        match is_mixed {
            true => {
                points.push(rate("achieved reads/s", self.rate(Some(Kind::Read))));
                points.push(rate("achieved writes/s", self.rate(Some(Kind::Write))));
            }
            false => points.push(rate("IOPS", self.rate(None))),
        }
        let flows: Vec<(Kind, &Flow)> = self.flows().collect();
        if let [(_, flow)] = flows[..]
            && is_windowed
            && flow.iops_samples >= WINDOWS_LEAST
            && flow.iops_stddev > 0.0
        {
            points.push(rate("IOPS std dev (0.5 s samples)", flow.iops_stddev));
        }
        points.retain(|point| MEANT.contains(&point.value));
        points
    }
}
