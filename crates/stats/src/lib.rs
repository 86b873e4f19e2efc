//! What a set of measurements says, and how surely.
//!
//! Floating point lives here and in the report; the models below count in integers.

mod histogram;
mod interval;
mod steady;

pub use histogram::{DecodeError, Histogram};
pub use interval::{Interval, PRECISION};
pub use steady::{Steadiness, SteadyRule};
