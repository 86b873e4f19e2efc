//! What was measured, and in which run: plain data that the engine and trials make, the store keeps and reports show.
//!
//! A [`Measurement`] is of requests to a drive, a [`Trial`] of what stands above one. Nothing here measures.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod annotation;
mod completed;
mod curve;
mod failures;
mod handover;
mod hardware;
mod intervals;
mod measured;
mod run;
mod settling;
mod shard;
mod trial;
mod verified;

pub use annotation::{Annotations, RunNote, RunTag};
pub use completed::{Completed, Observer};
pub use curve::{Curve, CurveWindow};
pub use failures::{Failure, Failures, Missing, OnError};
pub use handover::{Handover, Method};
pub use hardware::{DiskUse, SubmissionTimes, TimesSum};
pub use host::power::Consumption;
pub use intervals::Interval;
pub use measured::{Clock, Cpu, Flow, Measurement, TICK, TICKS_MAX, Tick};
pub use run::{Counted, Filter, KnownDrive, Listed, Run, RunId, RunState};
pub use settling::{Settling, SteadySample, TickSum, Trend};
pub use shard::{Shard, Sharding};
pub use trial::{Better, Course, Figure, Paper, Trial};
pub use uuid::Uuid;
pub use verified::Verified;
