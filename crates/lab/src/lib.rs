//! Plans and procedures: what a review does, step by step, and what came of it.

pub mod calibrate;
pub mod compare;
mod counted;
pub mod doctor;
mod environment;
mod error;
mod fit;
pub mod import;
mod metric;
mod outcome;
pub mod plan;
mod quantity;
mod real;
mod recall;
pub mod replicate;
mod session;
mod simulated;
mod subject;
mod traces;
mod variants;
mod wear;

pub use environment::{BlockDevice, Environment, FileSystem};
pub use error::LabError;
pub use fit::fits;
pub use metric::Metric;
pub use outcome::{CellOutcome, Finding, Outcome, StepOutcome};
pub use quantity::Quantity;
pub use real::Real;
pub use recall::{plan_of, recall};
pub use session::{Session, Watch};
pub use simulated::Simulated;
pub use subject::{Keep, Live, Repeats, Share, Subject, Task};
pub use traces::{TraceFileError, Traces};
pub use wear::Wear;
