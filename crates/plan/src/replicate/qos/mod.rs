//! Published latencies, tails and rates of real drives, beside what their presets do under the same conditions.
//!
//! `published/qos.toml`, or a file of the user's own, has the figures and, of each experiment, its conditions. Those are turned into workloads by one
//! rule for all ([`Measure`]); no experiment has a plan of its own.

mod condition;
mod drive;
mod file;
mod judge;
mod keys;
#[cfg(test)]
mod own_tests;
mod quantity;
mod stated;

pub use condition::Measure;
pub use drive::QosDrive;
pub use file::{Qos, QosGroup, QosPoint, builtin, is_figures, parse};
pub use judge::{Bar, BarVerdict, Ordering, QosAnswer, QosRun, QosTarget, Standing, Tallied};
pub use quantity::{Kind, Quantity, Sense, Simulated, WINDOW};
