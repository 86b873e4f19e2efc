//! What is asked of a drive: patterns, sizes, depths, when to stop, and the requests they make.
//!
//! A [`Workload`] is a description; a [`Stream`] is the endless row of requests that one of its
//! workers makes of it, and [`Arrivals`] are the times at which they are due where they come at a rate.
//! None knows what it runs on, nor reads a clock.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod arrival;
mod blend;
mod distribution;
mod field;
mod invalid;
mod options;
mod pattern;
mod permutation;
pub mod profile;
mod quantity;
mod random_share;
mod replay;
mod shares;
mod sizes;
mod span;
mod spare;
mod spec;
mod stamp;
mod steady_end;
mod steady_group;
mod steady_order;
mod stream;
mod trace;
mod verify;
mod zoned;
mod zoned_access;

pub use arrival::{Arrival, ArrivalProcess, Arrivals};
pub use distribution::{AddressZone, Decimal, Distribution};
pub use field::{BYTES_MAX, COUNT_MAX, Field, FieldError, Fio, FioValue, Mark, TIME_MAX, Unit};
pub use invalid::Invalid;
pub use pattern::Pattern;
pub use quantity::{amount, duration};
pub use random_share::RandomShare;
pub use replay::{REPLAY_DEPTH, Replay, ReplayPace, TraceDigest, VOLUMES_APART, quicker};
pub use shares::ListError;
pub use sizes::{Sizes, Weighted};
pub use spare::Spare;
pub use spec::{Stop, Workload};
pub use stamp::{Damage, DamageKind, Stamp};
pub use steady_end::{SteadyCriterion, SteadyEnd, SteadyFigure, SteadyMeasure};
pub use steady_group::SteadyGroup;
pub use stream::Stream;
pub use trace::{
    IologFile, NewTraceFile, Trace, TraceDone, TraceError, TraceFile, TraceFormat, TracePlace, TraceReader,
    TraceRequests, Traced, to_iolog, to_iolog_of, to_timed,
};
pub use verify::Verify;
pub use zoned::{HostZones, ZoneStep, ZonedJob};
pub use zoned_access::ZonedAccess;
