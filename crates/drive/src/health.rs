//! The state that a drive is in.

use block::{Nanos, Temperature};

use crate::WearSummary;

/// The state that a drive is in: what it would show on a gauge, where [`Counters`](crate::Counters) are what
/// it would add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How long it has been switched on.
    pub power_on: Nanos,
    /// How long commands were in flight in that time.
    pub busy: Nanos,
    /// How often it was switched on.
    pub power_cycles: u64,
    /// How warm it is, if it knows.
    pub temperature: Option<Temperature>,
    /// How warm it was at most.
    pub temperature_max: Option<Temperature>,
    /// How worn its flash is, if it keeps account of that.
    pub wear: Option<WearSummary>,
}
