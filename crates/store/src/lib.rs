//! Results in SQLite: every run, every measurement, with the conditions.
//!
//! A cell is kept in one transaction as soon as it is finished, so that whatever ends the program
//! takes nothing with it. The store reads no clock and gives plans and environments no meaning.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod annotation;
mod baseline;
mod budget;
mod content;
mod database;
mod error;
mod file;
mod health;
mod identity;
mod listing;
mod measured;
mod merge;
mod owner;
mod run;
mod schema;
mod sealed;
mod series;
mod trial;
mod whole;

pub use database::{Store, StoredFinding};
pub use error::StoreError;
pub use health::HealthMoment;
pub use measured::StoredMeasurement;
pub use measurement::{
    Annotations, Counted, Filter, KnownDrive, Listed, Run, RunId, RunNote, RunState, RunTag, Shard, Sharding,
};
pub use merge::Merged;
pub use owner::ProgressChannel;
pub use run::NewRun;
pub use trial::StoredTrial;
pub use uuid::Uuid;
