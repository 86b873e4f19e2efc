//! Results in SQLite: every run, every measurement, with the conditions.
//!
//! A cell is kept in one transaction as soon as it is finished, so that whatever ends the program
//! takes nothing with it. The store reads no clock and gives plans and environments no meaning.

mod database;
mod error;
mod health;
mod listing;
mod measured;
mod owner;
mod reader;
mod run;
mod sealed;
mod series;
mod tried;

pub use database::{NewRun, Note, Store};
pub use error::StoreError;
pub use health::Moment;
pub use listing::{Counted, Filter, Listed};
pub use measured::Stored;
pub use owner::Teller;
pub use run::{Run, RunId, State};
pub use tried::Tried;
