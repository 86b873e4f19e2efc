//! What was consumed while a workload ran.

use block::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What was consumed while a workload ran: by a simulated drive, or by all that a meter supplies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consumption {
    pub meter: String,
    /// All energy, in joules; none where it is not known, for which there is then a doubt.
    pub joules: Option<f64>,
    /// The mean power of the last rest before, in watts; none where no rest was metered.
    pub idle_watts: Option<f64>,
    /// Of how many readings it is made, by the meter that gave the fewest; none where the count is exact.
    pub readings: Option<u64>,
    /// Why something of it is not known.
    pub doubts: Vec<String>,
}

impl Consumption {
    /// Mean power over the time that was `elapsed`, in watts; none where the energy or the time is not known.
    pub fn watts(&self, elapsed: Nanos) -> Option<f64> {
        self.joules.filter(|_| elapsed > Nanos::ZERO).map(|joules| joules / elapsed.as_secs_f64())
    }

    /// What the work took beside what a rest of the same length would have taken, in joules; below zero where the target
    /// used less than at rest.
    pub fn above_idle(&self, elapsed: Nanos) -> Option<f64> {
        let (joules, at_rest) = (self.joules?, self.idle_watts? * elapsed.as_secs_f64());
        // What is left of equal numbers is rounding.
        let above = joules - at_rest;
        Some(if above.abs() < joules.abs() * 1e-9 { 0.0 } else { above })
    }

    /// Joules for each GiB of these bytes; none where there are none.
    pub fn per_gib(&self, bytes: Bytes) -> Option<f64> {
        let gib = bytes.get() as f64 / Bytes::from_gib(1).get() as f64;
        self.joules.filter(|_| bytes > Bytes::ZERO).map(|joules| joules / gib)
    }

    /// Joules for each thousand of these requests; none where there are none.
    pub fn per_thousand(&self, requests: u64) -> Option<f64> {
        self.joules.filter(|_| requests > 0).map(|joules| joules * 1e3 / requests as f64)
    }

    /// What was consumed in two stretches of time that follow one another. The energy is known only where it is of both.
    pub fn one_after_another(first: Option<Self>, next: Option<&Self>) -> Option<Self> {
        let (Some(mut first), Some(next)) = (first, next) else { return None };
        first.joules = first.joules.zip(next.joules).map(|(first, next)| first + next);
        first.idle_watts = first.idle_watts.or(next.idle_watts);
        first.readings = first.readings.zip(next.readings).map(|(first, next)| first + next);
        first.doubts.extend(next.doubts.iter().cloned());
        first.doubts.dedup();
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_follows_from_energy_time_and_work() {
        let used = Consumption { joules: Some(12.0), idle_watts: Some(0.5), ..Consumption::default() };
        let elapsed = Nanos::from_secs(4);
        assert_eq!(used.watts(elapsed), Some(3.0));
        assert_eq!(used.above_idle(elapsed), Some(10.0));
        assert_eq!(used.per_gib(Bytes::from_mib(512)), Some(24.0));
        assert_eq!(used.per_thousand(6_000), Some(2.0));
        assert_eq!((used.watts(Nanos::ZERO), used.per_gib(Bytes::ZERO), used.per_thousand(0)), (None, None, None));
        let resting = Consumption { joules: Some(12.0), ..Consumption::default() };
        assert_eq!(resting.above_idle(elapsed), None, "without a rest nothing is above it");
    }

    #[test]
    fn energy_that_is_known_of_a_part_is_not_known_of_the_whole() {
        let known = Consumption { joules: Some(3.0), readings: Some(10), ..Consumption::default() };
        let failed = Consumption { doubts: vec!["It fell silent.".into()], ..Consumption::default() };
        let both = Consumption::one_after_another(Some(known.clone()), Some(&known)).unwrap();
        assert_eq!((both.joules, both.readings), (Some(6.0), Some(20)));
        let broken = Consumption::one_after_another(Some(known), Some(&failed)).unwrap();
        assert_eq!((broken.joules, broken.doubts), (None, failed.doubts));
    }
}
