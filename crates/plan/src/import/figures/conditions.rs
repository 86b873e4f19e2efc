//! What fio's options say, as conditions of an experiment.

use std::collections::BTreeMap;
use std::path::Path;

use block::Bytes;
use serde_json::Value;
use workload::{Field, Workload};

use super::output::{Job, Output};
use super::points::Combined;
use crate::import::fio::{ImportedJob, World, import};
use crate::import::{Import, Severity};
use crate::printable;

/// Options that say where things lie, and nothing of what is measured.
const PLACES: &[&str] = &["name", "filename", "directory", "filename_format", "opendir", "description", "nrfiles"];
/// Files that fio writes beside.
fn is_log(name: &str) -> bool {
    name.starts_with("write_") && name.ends_with("_log")
}

/// What an experiment need not say: how long it is run follows from its points, and where it lies is told to readers.
const LEFT_OUT: &[Field] =
    &[Field::Runtime, Field::NumberIos, Field::IoSize, Field::Size, Field::Offset, Field::Norandommap, Field::EndFsync];

/// The conditions of jobs that ran side by side.
#[derive(Debug, Default)]
pub struct Conditions {
    keys: Vec<(&'static str, String)>,
    workload: Option<Workload>,
    /// What it was measured on, with what, for readers.
    place: Vec<String>,
    /// Whether the windows of fio's rates are half a second long.
    has_windows: bool,
    /// Why it is not simulated.
    pub unmeasured: Option<String>,
    pub notes: Vec<String>,
}

/// No file and no machine: what the options name is only told.
struct Nowhere;

impl World for Nowhere {
    fn file(&self, path: &Path) -> Result<String, String> {
        Err(format!("{} is not read: fio's output is all there is", path.display()))
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn page_size(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        0
    }

    fn processors(&self) -> u64 {
        1
    }

    fn capacity(&self, _: &str, _: bool) -> Option<Bytes> {
        Some(Bytes::from_gib(1024))
    }

    fn zone(&self, _: &str, _: bool) -> Option<Bytes> {
        None
    }
}

impl Conditions {
    pub fn of(output: &Output, jobs: &[&Job]) -> Self {
        let mut conditions = Self::default();
        let of = |job: &Job| options(output, job);
        let given = of(jobs[0]);
        let word = |name: &str| given.get(name).map(|value| printable(value));
        conditions.place =
            [word("ioengine"), word("filename").map(|name| format!("on {name}"))].into_iter().flatten().collect();
        conditions.place.extend(word("size").map(|size| format!("size {size}")));
        conditions.has_windows =
            ["iopsavgtime", "bwavgtime"].iter().all(|name| given.get(*name).is_none_or(|time| time == "500"));
        // Of a log, a window is one of its lines.
        conditions.has_windows &= !given.keys().any(|name| is_log(name));
        let is_clone = |job: &&&Job| job.jobname == jobs[0].jobname && of(job) == given;
        if let Some(other) = jobs.iter().find(|job| !is_clone(job)) {
            let others = printable(&other.jobname);
            conditions.refuse(format!(
                "`{others}` ran beside it, and an experiment has jobs of one kind; run them one by one"
            ));
        }
        if jobs.iter().any(|job| job.hostname != jobs[0].hostname) {
            conditions
                .refuse("it ran on several hosts, each with drives of its own; take the output of one".to_owned());
        }
        if let Some(job) = jobs.iter().find(|job| job.error != 0) {
            conditions.refuse(format!("fio ended it with error {}", job.error));
        }
        match given.is_empty() {
            true => conditions.note("fio's output has no job options: add `rw` and `qd` to `cond`".to_owned()),
            false => conditions.read(&given, jobs.len()),
        }
        conditions
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The first reason counts.
    fn refuse(&mut self, why: String) {
        self.unmeasured.get_or_insert(why);
    }

    /// Takes the options for those of a job file's only job.
    fn read(&mut self, given: &BTreeMap<String, String>, clones: usize) {
        let mut text = "[job]\n".to_owned();
        for (name, value) in given.iter().filter(|(name, _)| !PLACES.contains(&name.as_str()) && !is_log(name)) {
            if [name, value].iter().any(|word| word.contains(|letter: char| letter.is_control())) {
                return self.refuse("its options have control characters".to_owned());
            }
            // fio tells a switch without a value.
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            text += &format!("{name}{value}\n");
        }
        let import = import(Path::new("fio"), &text, &[], &Nowhere);
        let Some(job) = import.jobs().next().filter(|_| !import.refused()) else {
            let wrong = import.notices.iter().find(|notice| notice.severity == Severity::Error);
            return self.refuse(wrong.map_or_else(|| "its options make no job".to_owned(), ToString::to_string));
        };
        let losses = import.notices.iter().filter(|notice| notice.severity == Severity::Warning);
        self.notes.extend(losses.map(ToString::to_string));
        self.take(&import, job, clones);
    }

    fn take(&mut self, import: &Import, job: &ImportedJob, clones: usize) {
        let workload = &job.workload;
        self.place.push(if import.direct { "direct".to_owned() } else { "through the page cache".to_owned() });
        if !import.direct {
            self.refuse(
                "it went through the page cache, which answered in place of the drive; run fio with --direct=1"
                    .to_owned(),
            );
        }
        let mut others = Vec::new();
        for (field, value) in workload.fields() {
            let quoted = || toml::Value::String(value.clone()).to_string();
            match field {
                Field::Rw => self.keys.push(("rw", quoted())),
                Field::Bs => self.keys.push(("bs", workload.block.get().to_string())),
                Field::Iodepth => self.keys.push(("qd", workload.queue_depth.to_string())),
                Field::Numjobs => {}
                Field::Rwmixread => self.keys.push(("rwmixread", workload.read_percent.to_string())),
                Field::RandomDistribution => self.keys.push(("distribution", quoted())),
                Field::RateIops => self.keys.push(("rate_iops", workload.arrival.rate.to_string())),
                Field::RampTime => self.keys.push(("ramp_s", workload.ramp.as_secs_f64().round().to_string())),
                field if LEFT_OUT.contains(&field) => {}
                field => others.push(format!("`{}={value}`", field.name())),
            }
        }
        if !others.is_empty() {
            self.refuse(format!("no condition of an experiment says {}", others.join(", ")));
        }
        let workers = workload.workers.max(u32::try_from(clones).unwrap_or(u32::MAX));
        self.keys.push(("workers", workers.to_string()));
        self.workload = Some(Workload { workers, ..workload.clone() });
    }

    /// Adds what the measurement says.
    pub fn measured(&mut self, combined: &Combined, byte_unit: u64) {
        if self.workload.is_none() && self.unmeasured.is_none() {
            let block = combined
                .bytes()
                .saturating_mul(byte_unit)
                .checked_div(combined.requests())
                .filter(|block| *block > 0 && block.is_multiple_of(512));
            self.keys.extend(block.map(|block| ("bs", block.to_string())));
        }
        self.keys.extend(combined.seconds().map(|seconds| ("runtime_s", seconds.to_string())));
        self.keys.push(("ios", combined.requests().to_string()));
    }

    /// How many workers there were, if each had one request in flight and made the next at once.
    pub fn lone_workers(&self) -> Option<u32> {
        let is_lone =
            |workload: &&Workload| workload.queue_depth == 1 && workload.arrival == workload::Arrival::default();
        self.workload.as_ref().filter(|_| self.unmeasured.is_none()).filter(is_lone).map(|workload| workload.workers)
    }

    /// Whether the deviation of fio's rates is one of half seconds.
    pub fn is_windowed(&self) -> bool {
        let is_one = |workload: &Workload| workload.workers == 1 && workload.arrival.rate == 0;
        self.has_windows && self.workload.as_ref().is_some_and(is_one)
    }

    /// In words.
    pub fn about(&self) -> String {
        self.place.join(", ")
    }

    pub fn into_keys(self) -> Vec<(&'static str, String)> {
        self.keys
    }
}

/// The options in force for a job, those of all jobs among them.
fn options(output: &Output, job: &Job) -> BTreeMap<String, String> {
    let all = output.global.iter().chain(&job.options);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    all.map(|(name, value)| (name.clone(), text(value))).collect()
}
