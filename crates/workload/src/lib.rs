//! What is asked of a drive: patterns, sizes, depths, when to stop, and the requests they make.
//!
//! A [`Workload`] is a description; a [`Stream`] is the endless row of requests that one of its
//! workers makes of it. Neither knows what it runs on, nor reads a clock.

mod spec;
mod stream;

pub use spec::{Invalid, Pattern, Stop, Workload};
pub use stream::Stream;
