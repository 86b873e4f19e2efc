//! Why a plan could not be carried out.

use block::Bytes;
use drive::preset::PresetError;
use engine::{RealError, TargetError, VirtualError};
use store::StoreError;
use thiserror::Error;
use trial::TrialError;

use crate::{EraseError, TraceFileError};

/// Why a plan could not be carried out to its end.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum LabError {
    /// Somewhere in the plan.
    #[error("in step `{step}`{}: {source}", if cell.is_empty() { String::new() } else { format!(" ({cell})") })]
    At {
        step: String,
        /// The cell's key, or the round; empty for the step as a whole.
        cell: String,
        /// What went wrong.
        source: Box<LabError>,
    },
    /// What the plan asks for has no place on the target, whenever it is tried. Nothing was done.
    #[error("the plan does not fit the target: {first}{}. Nothing was changed. {}", others(*more), advice(*needed, *capacity))]
    DoesNotFit {
        /// The first that has none, with its place in the plan.
        first: Box<LabError>,
        /// How many more have none.
        more: usize,
        /// The size of a target on which all would have; none where that is not what is wrong.
        needed: Option<Bytes>,
        /// The size of this one.
        capacity: Bytes,
    },
    /// A method replays a trace that there is not.
    #[error(transparent)]
    Trace(#[from] TraceFileError),
    /// A simulated drive cannot be changed as the plan's sweep has it.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// Parts of a real drive are as they are.
    #[error(
        "`{changes}` changes a simulated drive, and this target is real; choose a `sim:DRIVE`, or leave the sweep out"
    )]
    NotSimulated { changes: String },
    /// On the simulated drive.
    #[error(transparent)]
    Virtual(VirtualError),
    /// On the real target.
    #[error(transparent)]
    Real(#[from] RealError),
    /// When the real target was opened or purged.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// When the drive was to be erased by a command of its own.
    #[error(transparent)]
    Erase(#[from] EraseError),
    /// What stands above the drive could not be tried.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A file system or a system's disk is made of one target.
    #[error("the target is {count} files or devices, and this step needs one; name one")]
    Several {
        /// How many.
        count: usize,
    },
    /// Only all of a target can be made a file system or a system's disk.
    #[error("--size limits the run to {size} of {}, and this step uses the whole device; leave --size out", path.display())]
    NotWhole {
        /// The target.
        path: std::path::PathBuf,
        /// How much of it is to be used.
        size: Bytes,
    },
    /// A simulated drive is too large for the machine's memory.
    #[error(
        "this simulated drive needs {needed} more memory in random states, and {available} is available; end other programs, \
         or give a smaller `?capacity.user=`"
    )]
    Memory { needed: Bytes, available: Bytes },
    /// It cannot be made a block device.
    #[error(
        "this step needs a block device, which this target cannot become; choose a device, a file or a `sim:DRIVE`"
    )]
    NoStage,
    /// When results were kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user, or the system, asked for an end.
    #[error("interrupted; finished measurements are stored and marked")]
    Interrupted,
    /// The plan that a run followed can no longer be read.
    #[error("the plan stored with run {run} cannot be read: {reason}")]
    Plan {
        run: store::RunId,
        /// The first mistake in it.
        reason: String,
    },
    /// What a run keeps of its simulated drive is damaged.
    #[error("the drive stored with run {run} cannot be read: {reason}")]
    Drive {
        run: store::RunId,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<VirtualError> for LabError {
    fn from(error: VirtualError) -> Self {
        match error {
            VirtualError::Interrupted => Self::Interrupted,
            error => Self::Virtual(error),
        }
    }
}

impl From<workload::Invalid> for LabError {
    fn from(invalid: workload::Invalid) -> Self {
        Self::Virtual(VirtualError::Invalid(invalid))
    }
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => "; nor does 1 more point".to_owned(),
        _ => format!("; nor do {more} more points"),
    }
}

fn advice(needed: Option<Bytes>, capacity: Bytes) -> String {
    match needed {
        Some(needed) => format!("It needs a target of at least {needed}; this one has {capacity}"),
        None => "Change the plan, or choose another target".to_owned(),
    }
}

impl LabError {
    /// Whether the same would happen again, because it lies in what was asked and not in what befell it.
    pub fn would_recur(&self) -> bool {
        match self {
            Self::At { source, .. } => source.would_recur(),
            Self::DoesNotFit { .. }
            | Self::Trace(_)
            | Self::Preset(_)
            | Self::NotSimulated { .. }
            | Self::Virtual(_)
            | Self::Erase(_)
            | Self::NotWhole { .. }
            | Self::Several { .. }
            | Self::NoStage
            | Self::Trial(TrialError::Lacks(_))
            | Self::Plan { .. }
            | Self::Drive { .. } => true,
            Self::Real(error) => !matches!(
                error.itself(),
                RealError::Memory { .. }
                    | RealError::Threads { .. }
                    | RealError::Uring { .. }
                    | RealError::Io { .. }
                    | RealError::Gone { .. }
                    | RealError::AllFailed { .. }
                    | RealError::Short { .. }
            ),
            Self::Memory { .. } | Self::Target(_) | Self::Trial(_) | Self::Store(_) | Self::Interrupted => false,
        }
    }

    /// Whether a workload was carried out, and had no request that counts.
    pub fn counted_nothing(&self) -> bool {
        match self {
            Self::At { source, .. } => source.counted_nothing(),
            Self::Virtual(error) => error.counted_nothing(),
            Self::Real(error) => error.counted_nothing(),
            _ => false,
        }
    }

    /// Whether it was the user, or the system, who asked for an end.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::At { source, .. } => source.is_interruption(),
            error => matches!(error, Self::Interrupted),
        }
    }

    /// The same, with the place in the plan.
    pub fn at(self, step: &str, cell: &str) -> Self {
        match self {
            Self::At { .. } => self,
            source => Self::At { step: step.to_owned(), cell: cell.to_owned(), source: Box::new(source) },
        }
    }
}
