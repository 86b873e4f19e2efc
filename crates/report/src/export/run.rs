//! What is known of a run besides its figures, for programs.

use block::Price;
use host::Environment;
use measurement::{Run, RunId, RunNote, RunTag};
use serde::Serialize;

/// A run without its figures: an entry of a list, and the head of its own document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunDocument<'a> {
    run: RunId,
    /// What tells it from runs of other stores.
    short_id: String,
    plan: &'a str,
    quick: bool,
    simulated_lengths: bool,
    target: &'a str,
    target_identity: &'a str,
    /// The serial number of the target's device; null of a simulated drive.
    serial: Option<String>,
    host: Option<String>,
    tags: &'a [RunTag],
    note: Option<&'a RunNote>,
    price: Option<Price>,
    seed: String,
    state: &'static str,
    /// What ended it, if an error did.
    error: Option<&'a str>,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    timestamp_ms: i64,
    /// When it ended; null while it runs.
    finished_ms: Option<i64>,
    assay: &'a str,
}

impl<'a> From<&'a Run> for RunDocument<'a> {
    fn from(run: &'a Run) -> Self {
        let place: Environment = serde_json::from_str(&run.environment).unwrap_or_default();
        Self {
            run: run.id,
            short_id: run.short_id(),
            plan: &run.plan,
            quick: run.quick,
            simulated_lengths: run.simulated,
            target: &run.target,
            target_identity: &run.target_identity,
            serial: place.device.and_then(|device| device.serial),
            host: place.hostname,
            tags: &run.annotations.tags,
            note: run.annotations.note.as_ref(),
            price: run.annotations.price,
            seed: run.seed.to_string(),
            state: crate::conditions::state(run),
            error: run.error.as_deref(),
            timestamp_ms: run.started_ms,
            finished_ms: run.finished_ms,
            assay: &run.version,
        }
    }
}

/// A page of a list of runs, of which `found` there are in all, as one JSON object; ends with a line feed.
pub fn runs_json(runs: &[Run], found: u64) -> String {
    #[derive(Serialize)]
    struct List<'a> {
        found: u64,
        runs: Vec<RunDocument<'a>>,
    }
    let list = List { found, runs: runs.iter().map(RunDocument::from).collect() };
    serde_json::to_string_pretty(&list).expect("names and numbers always serialise") + "\n"
}
