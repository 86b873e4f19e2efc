//! A run: what was done to what, by what, where, and how far it came.

use std::fmt;

use block::{Bytes, Seed};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Annotations, Sharding};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// A process carries it out.
    Running,
    /// It was cut off before its end, and no process carries it out; what was measured is kept, and it can be resumed.
    Interrupted,
    /// All of its plan was done.
    Complete,
    /// An error ended it; what was measured before is kept.
    Failed,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Running, Self::Interrupted, Self::Complete, Self::Failed];

    /// The word for it, wherever a state is named.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }

    /// The state of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A run: what was done to what, by what, where, and how far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The number by which it is asked for.
    pub id: RunId,
    /// What it is in every store that has it: made when it began; of a run of before there were any, from what it began with.
    #[serde(default)]
    pub uuid: Uuid,
    /// The name of the runs that one command started, of which it is one.
    #[serde(default)]
    pub group: Option<String>,
    /// Whether it is a shard of a run, or a run of shards; none where it is neither.
    #[serde(default)]
    pub sharding: Option<Sharding>,
    /// The name of the plan; `run` for a single workload.
    pub plan: String,
    pub plan_text: String,
    /// Whether durations and repeats were shortened.
    pub quick: bool,
    /// Whether lengths that the plan gives for simulated drives were taken.
    #[serde(default)]
    pub simulated: bool,
    /// What it ran on, as it was asked for: `sim:x25-m`, a path.
    pub target: String,
    /// How the target names itself: model and capacity of a drive, kind and size of a file.
    pub target_identity: String,
    /// What tells a real target from another of the same name; none where nothing does.
    pub target_fingerprint: Option<String>,
    /// Whether a real target's page cache was passed by.
    pub direct: bool,
    /// How much of a real target was used; none for all of it.
    pub size: Option<Bytes>,
    /// How much of the target is used; none in stores of earlier versions, which did not keep it.
    #[serde(default)]
    pub capacity: Option<Bytes>,
    /// The origin of all its random choices.
    pub seed: Seed,
    /// Repeats a cell where the command line changed them; none for the plan's own.
    pub repeats: Option<u32>,
    /// How far it came.
    pub state: RunState,
    /// What ended it, if an error did.
    pub error: Option<String>,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// When it ended; none while it runs.
    pub finished_ms: Option<i64>,
    /// The program's version.
    pub version: String,
    /// The git commit the program was built from; empty if unknown.
    pub commit: String,
    /// The host and the target in detail, as JSON of `lab::Environment`.
    pub environment: String,
    /// What people added to it.
    #[serde(default)]
    pub annotations: Annotations,
}

impl Run {
    /// Six hexadecimal digits that tell the run from one of the same number in another store: they are drawn from when
    /// and where it began, its plan and its seed.
    pub fn short_id(&self) -> String {
        let began = Seed::new(self.started_ms.unsigned_abs()).split(&self.target).split(&self.environment);
        format!("{:06x}", began.split(&self.plan_text).number(self.seed.get()).get() >> 40)
    }
}

/// A run as a list shows it; see [`Run`] for what each means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`Run` says what they are")]
pub struct Listed {
    pub id: RunId,
    pub group: Option<String>,
    pub plan: String,
    pub quick: bool,
    pub target: String,
    pub target_identity: String,
    pub state: RunState,
    pub started_ms: i64,
    pub finished_ms: Option<i64>,
}

/// Which runs are wanted: those to which all of it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Each stands somewhere in the run's plan, target or target's identity, or is its number; case is of no account in
    /// ASCII.
    pub words: Vec<String>,
    /// What it ran on.
    pub target: Option<String>,
    /// How the target names itself.
    pub model: Option<String>,
    pub plan: Option<String>,
    /// How far it has come.
    pub state: Option<RunState>,
    /// A tag that it has.
    pub tag: Option<String>,
    /// The group that it is one of.
    pub group: Option<String>,
    /// The name of the host.
    pub host: Option<String>,
    /// The serial number of the target's device.
    pub serial: Option<String>,
}

/// A drive that runs were made on: known by its serial number, or else by what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDrive {
    pub serial: Option<String>,
    /// What its latest run was on.
    pub target: String,
    /// How that names itself.
    pub model: String,
    /// Its latest run.
    pub latest: RunId,
    /// When that began, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// How many runs it has.
    pub runs: u64,
}

/// Something that runs share, and how many do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// What they share.
    pub name: String,
    /// How many.
    pub runs: u64,
}
