//! `assay aftermath`: undoes what a run that was killed has left, and says why it was killed where that is known.

use std::path::PathBuf;
use std::sync::Mutex;

use lab::RunRecord;
use store::{RunId, Store};
use trial::Cleanup;

use crate::failure::Failure;

/// What the run that starts this says of itself.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The run that is guarded
    run: i64,

    /// The file of its promises
    promises: PathBuf,
}

/// Waits for the end of standard input. If the process there was killed, what it left is undone, and the cause is entered in
/// the run and told at the terminal that the run was started from: nobody else is left to do so.
pub fn run(arguments: &Arguments, open: impl FnOnce() -> Result<Store, Failure>) -> Result<(), Failure> {
    let (cause, settled) = Cleanup::guard(&arguments.promises).map_err(Failure::failed)?;
    let Some(cause) = cause else { return settled.map_err(Failure::failed) };
    let run = RunId(arguments.run);
    let entered = open().and_then(|store| Ok(RunRecord::of(&Mutex::new(store), run).killed(&cause)?));
    let words = match entered {
        Ok(()) => format!("{cause}\nRun {run} is marked failed; what was measured before is kept"),
        Err(error) => format!("{cause}\nRun {run} stays marked interrupted: {}", error.words(false)),
    };
    let left = settled.err().map(|error| format!("\n{error}")).unwrap_or_default();
    Err(Failure::failed(format!("{words}{left}")))
}
