//! `assay merge`: the runs of several stores in one.

use std::path::{Path, PathBuf};

use host::open;
use store::{Filter, Merged, RunState, Sharding, Store, StoreError};

use crate::failure::Failure;
use crate::terminal::{complain, line, say};

const AFTER_HELP: &str = "A run is known by its UUID, so merging again, or after an interruption, adds only what is missing. \
A run that went on elsewhere replaces its earlier state; contents that contradict each other are refused and named, and what was \
there stays. Shards of a run (assay review --shard) are one run afterwards, complete when all are there. Stores of earlier versions \
are read as they are; no source is changed.";

/// What was asked of `assay merge`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The stores to read
    #[arg(value_name = "STORE", required = true)]
    sources: Vec<PathBuf>,

    /// The store to add their runs to, created if there is none [default: the store of results]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    /// The store that takes the runs, where the command line names it.
    pub fn destination(&self) -> Option<PathBuf> {
        self.output.clone()
    }
}

/// How many runs were taken, by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub added: u64,
    pub continued: u64,
    pub known: u64,
    pub refused: u64,
}

impl Tally {
    pub fn count(&mut self, merged: Merged) {
        match merged {
            Merged::Added(_) => self.added += 1,
            Merged::Continued(_) => self.continued += 1,
            Merged::Known(_) => self.known += 1,
        }
    }

    /// Why the command failed, if a run was refused.
    pub fn judged(self) -> Result<(), Failure> {
        match self.refused {
            0 => Ok(()),
            1 => Err(Failure::failed("one run was refused; all others are there")),
            some => Err(Failure::failed(format!("{some} runs were refused; all others are there"))),
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} added, {} continued, {} known", self.added, self.continued, self.known)?;
        if self.refused > 0 { write!(f, ", {} refused", self.refused) } else { Ok(()) }
    }
}

/// Takes the runs of all sources into one store.
pub fn run(output: &Path, arguments: &Arguments) -> Result<(), Failure> {
    // What is misspelt is told before anything is written.
    let sources = arguments.sources.iter().map(|path| source(path, output)).collect::<Result<Vec<_>, _>>()?;
    let mut into = Store::open(output)?;
    let mut refused = 0;
    for from in sources {
        let mut tally = Tally::default();
        for run in from.offered()? {
            match into.merge(&from, run) {
                Ok(merged) => tally.count(merged),
                // A whole without shards has nothing.
                Err(StoreError::ShardsFirst { .. }) => {}
                Err(error) if is_of(&error, output) => return Err(error.into()),
                Err(error) => {
                    tally.refused += 1;
                    complain(format!("run {run} of {}: {error}", line(&from.path().display().to_string())));
                }
            }
        }
        refused += tally.refused;
        say(&format!("{}: {tally}\n", line(&from.path().display().to_string())))?;
    }
    say(&lacking(&into)?)?;
    Tally { refused, ..Tally::default() }.judged()
}

/// Whether an error is of the store that is written, so that no other run would fare better.
pub fn is_of(error: &StoreError, output: &Path) -> bool {
    matches!(error, StoreError::Unusable { path, .. } | StoreError::Endless { path } if path == output)
}

/// A store to read, which has to be there and be another than the one that is written.
fn source(path: &Path, output: &Path) -> Result<Store, Failure> {
    let identity = |path: &Path| open::handle(path).and_then(|handle| open::identity(&handle)).ok();
    let Some(found) = identity(path) else {
        return Err(Failure::usage(format!("there is no store {}; name the stores to read", path.display())));
    };
    if identity(output) == Some(found) {
        return Err(Failure::usage(format!("{} is the store to write; name others to read", path.display())));
    }
    Ok(Store::open_to_read(path)?)
}

/// A line for each run of shards that are not all there.
fn lacking(store: &Store) -> Result<String, Failure> {
    let filter = Filter { state: Some(RunState::Interrupted), ..Filter::default() };
    let mut lines = String::new();
    for listed in store.listed(&filter, 0, i64::MAX.unsigned_abs())? {
        if let Some(Sharding::Whole { .. }) = store.run(listed.id)?.sharding
            && let Some(lack) = store.notes(listed.id)?.first()
        {
            lines += &format!("Run {}: {}\n", listed.id, lack.text);
        }
    }
    Ok(lines)
}
