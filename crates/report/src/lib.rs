//! What people read: one HTML file, tables for terminals, documents for programs.
//!
//! Everything here is a function of an [`Outcome`](plan::Outcome), a [`Comparison`](plan::compare::Comparison) or a
//! [`Replication`](plan::replicate::Replication): no clock, no file, no environment.

mod axis;
mod change;
mod chart;
mod column;
pub mod comparison;
mod conditions;
mod consistency;
mod cost;
mod drawn;
mod energy;
pub mod export;
mod figure;
mod finding;
pub mod fleet;
pub mod forecast;
pub mod gate;
mod glance;
mod headline;
pub mod health;
mod key;
mod key_places;
mod limited;
mod load;
mod noise;
mod number;
mod page;
#[cfg(test)]
mod palette;
mod part;
mod parts;
pub mod prediction;
mod prose;
mod quoting;
pub mod ranking;
mod rated;
mod replay;
pub mod replication;
mod report;
mod reproduction;
mod reviewed;
mod rounds;
mod saturation;
mod section;
mod setup;
pub mod site;
mod sparks;
mod state;
mod summary;
mod sweep;
mod table;
mod timeline;
mod told;
mod trials;
mod wrap;

pub use conditions::date;
pub use key_places::key_places;
pub use page::html;
pub use report::Report;
pub use sparks::{bars, sparks};
pub use summary::summary;
pub use wrap::{bare, columns, hanging, wrapped};
