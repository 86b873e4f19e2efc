//! Why a workload gave no measurement on a simulated drive.

use block::{Bytes, Nanos, Op, Status};
use thiserror::Error;
use workload::Invalid;

use crate::Job;
use crate::zone_plug::ZoneMisfit;

/// Why a workload gave no measurement on a simulated drive.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VirtualError {
    /// The workload makes no sense, or not on this drive.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The workload ended before any request did.
    #[error(
        "no request completed in the measured {time} of simulated time; give a shorter ramp_time, a longer runtime, or \
         a larger number_ios or io_size"
    )]
    NothingCompleted {
        /// How long it ran.
        time: Nanos,
    },
    /// All that it asked for was over before anything counts.
    #[error(
        "all requests completed in {time} of simulated time, within the ramp time of {ramp}; give a shorter ramp_time, or \
         a larger number_ios or io_size"
    )]
    OverInRamp { time: Nanos, ramp: Nanos },
    /// Written data is to be checked, and there is none.
    #[error("a simulated drive stores no data to verify; leave verify out, or choose a file or a block device")]
    HoldsNoData,
    /// The drive ended a request with an error.
    #[error(
        "{op} of {length} at offset {} failed: {status}; --on-error=count counts failed requests and continues", offset.get()
    )]
    Failed { op: Op, offset: Bytes, length: Bytes, status: Status },
    /// Requests do not suit the zones.
    #[error(transparent)]
    Zones(#[from] ZoneMisfit),
    /// What is read was never written, or reset since.
    #[error("nothing is written in the zones that are read; write them first, or add --read_beyond_wp=1")]
    ZonesEmpty,
    /// Somebody asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// It ended all with an error.
    #[error("all requests failed: {words}")]
    AllFailed { words: String },
    /// The drive came to the end of its life.
    #[error("the drive reached its end of life and is read-only after {written} of host writes; start with a new one")]
    WornOut {
        /// What it took from its host in all its life.
        written: Bytes,
    },
    /// One of several jobs gave none.
    #[error("job `{name}`: {error}")]
    OfJob {
        /// What it is called.
        name: String,
        /// Why.
        error: Box<Self>,
    },
}

impl VirtualError {
    /// Whether the workload was carried out, and had no request that counts.
    pub fn counted_nothing(&self) -> bool {
        match self {
            Self::OfJob { error, .. } => error.counted_nothing(),
            error => matches!(error, Self::NothingCompleted { .. } | Self::OverInRamp { .. } | Self::ZonesEmpty),
        }
    }

    /// The error of a workload that had no request that counts in so much time; whether because zones are empty.
    pub(crate) fn of_nothing(time: Nanos, ramp: Nanos, is_empty: bool) -> Self {
        match is_empty {
            true => Self::ZonesEmpty,
            false if ramp > time => Self::OverInRamp { time, ramp },
            false => Self::NothingCompleted { time },
        }
    }

    /// The error, which is that of `job`.
    pub(crate) fn of(self, job: &Job) -> Self {
        match job.name {
            "" => self,
            name => Self::OfJob { name: name.to_owned(), error: Box::new(self) },
        }
    }
}
