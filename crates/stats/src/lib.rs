//! What a set of measurements says, and how surely.
//!
//! Floating point lives here and in the report; the models below count in integers.

mod bootstrap;
mod enough;
mod histogram;
mod holm;
mod interval;
mod outlier;
mod rank;
mod ratio;
mod steady;

pub use bootstrap::{Bootstrap, Bounds, LEAST as BOOTSTRAP_LEAST};
pub use enough::{Enough, Judgement, REPEATS_LEAST};
pub use histogram::{DecodeError, Histogram};
pub use holm::holm;
pub use interval::{Interval, PRECISION};
pub use outlier::{outliers, quantile};
pub use rank::{ALPHA, RankTest};
pub use ratio::Ratio;
pub use steady::{Steadiness, SteadyRule};
