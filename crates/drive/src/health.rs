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
    /// What became of it where a copy of it went from one state to another in its place: what adds up is added, and the worse of
    /// all else counts, so that the order of several copies makes no difference.
    pub fn gone(self, from: &Self, to: &Self) -> Self {
        let wear = match (self.wear, &from.wear, &to.wear) {
            (Some(wear), Some(from), Some(to)) => Some(wear.gone(from, to)),
            (wear, ..) => wear,
        };
        Self {
            power_on: self.power_on + to.power_on.since(from.power_on),
            busy: self.busy + to.busy.since(from.busy),
            power_cycles: self.power_cycles + to.power_cycles.saturating_sub(from.power_cycles),
            temperature: self.temperature.max(to.temperature),
            temperature_max: self.temperature_max.max(to.temperature_max),
            wear,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copies_went_through_adds_up_and_the_worst_of_them_stays() {
        let wear = |erases_mean, retired, read_only| {
            Some(WearSummary { rated: 100, erases_mean, retired, read_only, reserve: 9, ..WearSummary::default() })
        };
        let state = |hours: u64, wear| Health { power_on: Nanos::from_secs(3_600 * hours), wear, ..Health::default() };
        let before = state(5, wear(10, 1, false));
        let ends = [state(6, wear(110, 4, true)), state(8, wear(30, 1, false))];
        let after = ends.iter().fold(before, |all, end| all.gone(&before, end));
        assert_eq!(after, state(9, wear(130, 4, true)));
        let backwards = ends.iter().rev().fold(before, |all, end| all.gone(&before, end));
        assert_eq!(after, backwards);
    }
}
