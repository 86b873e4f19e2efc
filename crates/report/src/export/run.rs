//! What is known of a run besides its figures, for programs.

use block::Price;
use host::Environment;
use measurement::{Run, RunId, RunNote, RunTag, Sharding};
use serde::Serialize;

/// A run without its figures: an entry of a list, and the head of its own document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunDocument<'a> {
    run: RunId,
    /// What tells it from runs of other stores.
    short_id: String,
    /// What it is in every store that has it.
    uuid: String,
    /// What the runs that one command started have in common; null where it started one.
    group: Option<&'a str>,
    /// Of a shard, the UUID of the run that it is a part of; else null.
    whole: Option<String>,
    /// Which part it is, from 1; null where it is none.
    shard: Option<u32>,
    /// How many parts the run has; null where it was carried out as one.
    shards: Option<u32>,
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
        let (whole, shard, shards) = match run.sharding {
            None => (None, None, None),
            Some(Sharding::Whole { count }) => (None, None, Some(count)),
            Some(Sharding::Shard { of, shard }) => (Some(of.to_string()), Some(shard.number()), Some(shard.count())),
        };
        Self {
            run: run.id,
            short_id: run.short_id(),
            uuid: run.uuid.to_string(),
            group: run.group.as_deref(),
            whole,
            shard,
            shards,
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
            state: run.state.name(),
            error: run.error.as_deref(),
            timestamp_ms: run.started_ms,
            finished_ms: run.finished_ms,
            assay: &run.version,
        }
    }
}

impl RunDocument<'_> {
    /// How far the run came, in a word.
    pub const fn state(&self) -> &'static str {
        self.state
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
