//! What a set of measurements says, and how surely.
//!
//! Floating point lives here and in the report; the models below count in integers.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bins;
mod bootstrap;
mod change;
mod discovery;
mod enough;
mod families;
mod histogram;
mod holm;
mod interval;
mod levels;
mod outlier;
mod power;
mod quantile;
mod rank;
mod ratio;
mod robust;
mod steady;

pub use bins::Bins;
pub use bootstrap::Bootstrap;
pub use change::{ChangePoint, FALSE_ALARM};
pub use discovery::benjamini_hochberg;
pub use enough::{Enough, Judgement, REPEATS_LEAST};
pub use families::discoveries;
pub use histogram::{DecodeError, Histogram};
pub use holm::holm;
pub use interval::{Interval, PRECISION};
pub use levels::{LEVELS_DIFFER, levels};
pub use outlier::outliers;
pub use quantile::{QuantileBounds, five_numbers, median, normal_quantile, percentile};
pub use rank::{ALPHA, RankTest};
pub use ratio::{LogRatio, Ratio};
pub use robust::{RobustSpread, ScoreDistribution};
pub use steady::{Steadiness, SteadyRule};
