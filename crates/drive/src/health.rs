//! The state that a drive is in.

use block::{Nanos, Temperature};
use serde::{Deserialize, Serialize};

use crate::WearSummary;

/// The state that a drive is in: what it would show on a gauge, where [`Counters`](crate::Counters) are what
/// it would add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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

impl Health {
    /// That of two drives which serve one host together: the worse of each, and the wear of both.
    pub(crate) fn with(self, other: Self) -> Self {
        let wear = match (self.wear, other.wear) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        };
        Self {
            power_on: self.power_on.max(other.power_on),
            busy: self.busy.max(other.busy),
            power_cycles: self.power_cycles.max(other.power_cycles),
            temperature: self.temperature.max(other.temperature),
            temperature_max: self.temperature_max.max(other.temperature_max),
            wear,
        }
    }
}
