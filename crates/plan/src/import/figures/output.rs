//! fio's JSON output, of any version.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// Why a text is no output of fio's.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum FioOutputError {
    /// It has no JSON.
    #[error("it has no JSON; run fio with --output-format=json")]
    NoJson,
    /// Its JSON is cut short or not as fio writes it.
    #[error(
        "line {line}, column {column}: {found}; it is to be what fio prints with --output-format=json or json+, whole"
    )]
    Json { line: usize, column: usize, found: String },
    /// It has no jobs.
    #[error("its JSON has no `jobs`, and is none of fio's; run fio with --output-format=json")]
    NoJobs,
}

/// How much of a text is looked at to tell whether it is fio's.
const LOOKED_AT: usize = 1 << 16;

/// Whether a text looks like fio's JSON output.
pub fn is_fio_output(text: &str) -> bool {
    let end = (0..=text.len().min(LOOKED_AT)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    begin(text).is_some() && text[..end].contains("\"fio version\"")
}

/// Where the JSON begins: fio prints notes of its own before it.
fn begin(text: &str) -> Option<usize> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    });
    lines
        .filter(|(_, line)| line.trim_start().starts_with('{'))
        .map(|(at, line)| at + line.find('{').unwrap_or(0))
        .next()
}

/// All that one run of fio printed.
#[derive(Clone, Debug, Deserialize)]
pub struct Output {
    #[serde(rename = "fio version")]
    version: Option<String>,
    #[serde(rename = "global options", default)]
    pub global: BTreeMap<String, Value>,
    #[serde(default)]
    jobs: Vec<Job>,
    /// In place of jobs where servers ran them.
    #[serde(default)]
    client_stats: Vec<Job>,
}

/// A job, or a group of them that is reported as one.
#[derive(Clone, Debug, Deserialize)]
pub struct Job {
    #[serde(default)]
    pub jobname: String,
    #[serde(default)]
    pub groupid: i64,
    #[serde(default)]
    pub error: i64,
    /// Where a server ran it.
    #[serde(default)]
    pub hostname: String,
    #[serde(rename = "job options", default)]
    pub options: BTreeMap<String, Value>,
    #[serde(default)]
    pub read: Flow,
    #[serde(default)]
    pub write: Flow,
    #[serde(default)]
    pub trim: Flow,
    /// In place of the three with `unified_rw_reporting`.
    #[serde(default)]
    pub mixed: Flow,
}

/// What was measured of one kind of requests.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Flow {
    #[serde(default)]
    total_ios: u64,
    /// In KiB before fio 3.
    #[serde(default)]
    pub io_bytes: u64,
    #[serde(default)]
    pub iops: f64,
    /// In milliseconds.
    #[serde(default)]
    pub runtime: f64,
    pub clat_ns: Option<Latency>,
    pub lat_ns: Option<Latency>,
    /// In microseconds, of fio 2.
    pub clat: Option<Latency>,
    /// The same.
    pub lat: Option<Latency>,
    #[serde(default)]
    pub iops_stddev: f64,
    #[serde(default)]
    pub iops_samples: u64,
}

/// A latency.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Latency {
    #[serde(default)]
    pub max: f64,
    #[serde(default)]
    pub mean: f64,
    #[serde(default)]
    pub stddev: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl Latency {
    /// The latency that so many percent do not exceed, where it is told.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let is_it = |told: &str| told.parse::<f64>().is_ok_and(|told| (told - percent).abs() < 1e-9);
        self.percentile.iter().find(|(told, _)| is_it(told)).map(|(_, value)| *value).filter(|value| *value > 0.0)
    }

    fn has_percentiles(&self) -> bool {
        self.percentile.values().any(|value| *value > 0.0)
    }
}

impl Flow {
    /// How many requests there were; fio 2.1 and earlier only tell how many a second.
    pub fn requests(&self) -> u64 {
        if self.total_ios > 0 { self.total_ios } else { (self.iops * self.runtime / 1e3) as u64 }
    }

    /// The completion latency, or the total one where that alone has percentiles; and how many of its units make a microsecond.
    pub fn latency(&self) -> Option<(&Latency, f64)> {
        let known = [(&self.clat_ns, 1e3), (&self.clat, 1.0), (&self.lat_ns, 1e3), (&self.lat, 1.0)];
        let known = known.into_iter().filter_map(|(latency, scale)| Some((latency.as_ref()?, scale)));
        let all: Vec<(&Latency, f64)> = known.collect();
        all.iter().find(|(latency, _)| latency.has_percentiles()).or(all.first()).copied()
    }
}

impl Job {
    /// What was measured of each kind of requests, of which there were any.
    pub fn flows(&self) -> impl Iterator<Item = (Kind, &Flow)> {
        let all =
            [(Kind::Read, &self.read), (Kind::Write, &self.write), (Kind::Trim, &self.trim), (Kind::All, &self.mixed)];
        all.into_iter().filter(|(_, flow)| flow.requests() > 0)
    }
}

/// A kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Trim,
    /// Of all kinds together.
    All,
}

impl Output {
    /// The last output of a text, and how many others there are.
    pub fn read(text: &str) -> Result<(Self, usize), FioOutputError> {
        let begin = begin(text).ok_or(FioOutputError::NoJson)?;
        let mut outputs = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Self>();
        let (mut last, mut count) = (None, 0);
        loop {
            match outputs.next() {
                Some(Ok(output)) => {
                    last = Some(output);
                    count += 1;
                }
                // What follows the JSON may be words of fio's own.
                Some(Err(error)) if last.is_some() && error.is_syntax() => break,
                Some(Err(error)) => {
                    let before = text[..begin].matches('\n').count();
                    let found = error.to_string();
                    let found = found.split(" at line ").next().unwrap_or(&found).to_owned();
                    let (line, column) = (before + error.line(), error.column());
                    return Err(FioOutputError::Json { line, column, found });
                }
                None => break,
            }
        }
        match last {
            Some(output) if !output.all().is_empty() => Ok((output, count - 1)),
            _ => Err(FioOutputError::NoJobs),
        }
    }

    /// Its version, in words.
    pub fn version(&self) -> &str {
        self.version.as_deref().unwrap_or("a version that it does not tell")
    }

    /// How many bytes one of its `io_bytes` is.
    pub fn byte_unit(&self) -> u64 {
        let is_old = |version: &&str| ["fio-1.", "fio-2."].iter().any(|old| version.starts_with(old));
        if self.version.as_deref().filter(is_old).is_some() { 1024 } else { 1 }
    }

    fn all(&self) -> Vec<&Job> {
        // What a client sums up of its servers is each of them once more, unless there is but one.
        let is_sum = |job: &&Job| job.jobname == "All clients";
        let servers = self.client_stats.iter();
        let counted = servers.filter(|job| self.client_stats.len() == 1 || !is_sum(job));
        self.jobs.iter().chain(counted).collect()
    }

    /// Jobs that ran side by side, in order.
    pub fn groups(&self) -> Vec<Vec<&Job>> {
        let mut groups: Vec<Vec<&Job>> = Vec::new();
        for job in self.all() {
            match groups.last_mut().filter(|group| group[0].groupid == job.groupid) {
                Some(group) => group.push(job),
                None => groups.push(vec![job]),
            }
        }
        groups
    }
}
