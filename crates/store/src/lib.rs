//! Results in SQLite: every run, every measurement, with the conditions.

mod run;

pub use run::{Run, RunId, State};
