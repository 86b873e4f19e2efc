//! Why runs cannot be compared.

use measurement::RunId;
use thiserror::Error;

/// Why runs cannot be compared.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CompareError {
    /// There is nothing to compare with.
    #[error("a comparison needs two runs, and one was given; name another that `assay runs` lists")]
    Alone,
    /// A run against itself.
    #[error("run {run} was given twice; name another that `assay runs` lists")]
    Twice { run: RunId },
    /// A run that a process carries out.
    #[error("run {run} is still running; wait for its end")]
    Running { run: RunId },
    /// A run that was cut off.
    #[error("run {run} was interrupted; continue it: `assay review --resume {run}`")]
    Interrupted { run: RunId },
    /// A run that failed.
    #[error(
        "run {run} failed: {reason}. `assay review --resume {run}` continues it, `assay show {run}` prints its figures"
    )]
    Failed {
        run: RunId,
        /// What ended it.
        reason: String,
    },
    /// No cell is measured in both.
    #[error("runs {base} and {other} share no point: {why}. Compare runs of the same plan and the same durations")]
    NothingShared {
        /// The run that the other is held against.
        base: RunId,
        /// The other.
        other: RunId,
        /// Why none of the first's cells is shared.
        why: String,
    },
    /// A step that the first run does not have.
    #[error("run {run} measures no step `{found}`; it has {known}")]
    NoSuchStep {
        run: RunId,
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
}
