//! Why a plan could not be carried out.

use engine::{RealError, TargetError, VirtualError};
use store::StoreError;
use thiserror::Error;

/// Why a plan could not be carried out to its end.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum LabError {
    /// Somewhere in the plan.
    #[error("in step `{step}`{}: {source}", if cell.is_empty() { String::new() } else { format!(" ({cell})") })]
    At {
        /// The step's name.
        step: String,
        /// The cell's key, or the round; empty for the step as a whole.
        cell: String,
        /// What went wrong.
        source: Box<LabError>,
    },
    /// On the simulated drive.
    #[error(transparent)]
    Virtual(#[from] VirtualError),
    /// On the real target.
    #[error(transparent)]
    Real(#[from] RealError),
    /// When the real target was opened or purged.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// When results were kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The plan that a run followed can no longer be read.
    #[error("the plan stored with run {run} cannot be read: {reason}")]
    Plan {
        /// The run.
        run: store::RunId,
        /// The first mistake in it.
        reason: String,
    },
}

impl From<workload::Invalid> for LabError {
    fn from(invalid: workload::Invalid) -> Self {
        Self::Virtual(VirtualError::Invalid(invalid))
    }
}

impl LabError {
    /// The same, with the place in the plan.
    pub fn at(self, step: &str, cell: &str) -> Self {
        match self {
            Self::At { .. } => self,
            source => Self::At { step: step.to_owned(), cell: cell.to_owned(), source: Box::new(source) },
        }
    }
}
