//! Runs workloads against a drive: in virtual time on a simulated one, in real time on a real one.
//!
//! Both give the same [`Measurement`].

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod access;
mod buffers;
mod content;
mod crew;
mod device_check;
mod discard;
mod ending;
mod entries;
mod error;
mod fresh;
mod handover;
mod job;
mod kernel;
mod ledger;
mod live;
mod nvme;
mod pace;
mod part;
mod queue;
mod real;
mod record;
mod registration;
mod ring_setup;
mod running;
mod shortage;
mod steady;
mod target;
mod threads;
mod uring;
mod virtual_error;
mod virtual_run;
mod waker;
mod worker;
mod zone_plug;
mod zone_queue;
mod zone_report;
mod zone_traffic;

pub use access::{Access, PATIENCE};
pub use ending::Ending;
pub use error::{RealError, TargetError};
pub use handover::{Batch, IoEngine, Submission};
pub use job::Job;
pub use live::Lately;
pub use measurement::{
    Clock, Completed, Consumption, Cpu, Curve, CurveWindow, DiskUse, Failure, Failures, Flow, Handover, Measurement,
    Method, Missing, Observer, OnError, Settling, SubmissionTimes, TICK, TICKS_MAX, Tick, Verified,
};
pub use real::{LiveProgress, run_real, run_real_apart, run_real_together};
pub use record::Record;
pub use target::{Purged, Target};
pub use virtual_error::VirtualError;
pub use virtual_run::{run_virtual, run_virtual_recorded, run_virtual_together};
