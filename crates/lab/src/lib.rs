//! Plans and procedures: what a review does, step by step, and what came of it.

mod metric;
mod outcome;
pub mod plan;

pub use metric::Metric;
pub use outcome::{CellOutcome, Finding, Outcome, StepOutcome};
