//! A meter's readings with their times, and the energy between two moments.

use std::collections::VecDeque;

use block::Nanos;

/// Fewer readings within a measurement say too little of what was consumed.
const READINGS_LEAST: u64 = 5;
/// A pause between readings is one too long if it is so many times the usual one…
const GAP_TIMES: u64 = 3;
/// …and more than this part of the measurement, in percent.
const GAP_PERCENT: u64 = 10;

/// What a reading is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeterUnit {
    /// Power at that moment, in watts; between two readings it goes straight from one to the other.
    Watts,
    /// All energy until then, in joules.
    Joules,
}

/// A reading: when, since the meters' clock began, and what.
pub(super) type MeterReading = (Nanos, f64);

/// Readings in the order of their times.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    unit: MeterUnit,
    readings: VecDeque<MeterReading>,
}

/// Why the energy of a stretch of time is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The readings begin later or end earlier.
    NotCovered,
    Few(u64),
    /// There are none for so long.
    Gap(Nanos),
}

/// Energy of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    pub joules: f64,
    /// How many readings lie within.
    pub readings: u64,
}

impl Samples {
    pub fn new(unit: MeterUnit) -> Self {
        Self { unit, readings: VecDeque::new() }
    }

    /// Adds a reading; one that is not later than the last is left out.
    pub fn add(&mut self, at: Nanos, value: f64) {
        if self.last().is_none_or(|last| at > last) {
            self.readings.push_back((at, value));
        }
    }

    /// When the first reading was.
    pub fn first(&self) -> Option<Nanos> {
        self.readings.front().map(|(at, _)| *at)
    }

    /// When the last reading was.
    pub fn last(&self) -> Option<Nanos> {
        self.readings.back().map(|(at, _)| *at)
    }

    /// Drops what is needed only for times before `moment`.
    pub fn forget_before(&mut self, moment: Nanos) {
        while self.readings.get(1).is_some_and(|(at, _)| *at <= moment) {
            self.readings.pop_front();
        }
    }

    /// Energy from `from` to `to`: the area below straight lines from reading to reading, or the difference of counters.
    ///
    /// # Errors
    /// If the readings do not reach from one to the other, are too few, or leave a gap.
    pub fn energy(&self, from: Nanos, to: Nanos) -> Result<Amount, Lack> {
        let before = self.readings.partition_point(|(at, _)| *at <= from).checked_sub(1).ok_or(Lack::NotCovered)?;
        let behind = self.readings.partition_point(|(at, _)| *at < to);
        if behind == self.readings.len() {
            return Err(Lack::NotCovered);
        }
        let pairs = || self.readings.range(before..=behind).zip(self.readings.range(before + 1..=behind));
        let readings = self.readings.range(before..=behind).filter(|(at, _)| (from..=to).contains(at)).count() as u64;
        let pauses = || pairs().map(|(one, next)| next.0 - one.0);
        let longest = pauses().max().unwrap_or_default();
        if readings < READINGS_LEAST {
            return Err(Lack::Few(readings));
        }
        let mut sorted: Vec<Nanos> = pauses().collect();
        sorted.sort_unstable();
        let usual = sorted[sorted.len() / 2];
        if longest > usual.times(GAP_TIMES) && longest.times(100) > to.since(from).times(GAP_PERCENT) {
            return Err(Lack::Gap(longest));
        }
        let joules = pairs().map(|(one, next)| self.between(*one, *next, from, to)).sum();
        Ok(Amount { joules, readings })
    }

    /// What of the energy between two neighbouring readings falls between `from` and `to`.
    fn between(&self, one: MeterReading, next: MeterReading, from: Nanos, to: Nanos) -> f64 {
        let (begin, end) = (one.0.max(from), next.0.min(to));
        let share = |at: Nanos| at.since(one.0).as_secs_f64() / (next.0 - one.0).as_secs_f64();
        match self.unit {
            MeterUnit::Joules => (next.1 - one.1) * (share(end) - share(begin)),
            MeterUnit::Watts => {
                let at = |moment: Nanos| one.1 + (next.1 - one.1) * share(moment);
                (at(begin) + at(end)) / 2.0 * end.since(begin).as_secs_f64()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// A reading every `step` ms for ten seconds.
    fn samples(unit: MeterUnit, step: usize, of: impl Fn(f64) -> f64) -> Samples {
        let mut samples = Samples::new(unit);
        (0..=10_000).step_by(step).for_each(|at| samples.add(ms(at), of(at as f64 / 1e3)));
        samples
    }

    #[test]
    fn energy_is_the_area_below_the_readings_and_ends_between_them() {
        let level = samples(MeterUnit::Watts, 100, |_| 2.5);
        let amount = level.energy(ms(1_033), ms(3_066)).unwrap();
        assert!((amount.joules - 2.5 * 2.033).abs() < 1e-9, "{amount:?}");
        assert_eq!(amount.readings, 20);
        // A watt a second: the area from a to b is (b² − a²) / 2, whatever lies between readings.
        let rising = samples(MeterUnit::Watts, 100, |at| at);
        let joules = rising.energy(ms(1_050), ms(4_030)).unwrap().joules;
        assert!((joules - (4.03 * 4.03 - 1.05 * 1.05) / 2.0).abs() < 1e-9, "{joules}");
    }

    #[test]
    fn a_counter_gives_the_difference_between_its_ends() {
        let counter = samples(MeterUnit::Joules, 100, |at| 1_000.0 + 7.0 * at);
        let joules = counter.energy(ms(2_050), ms(4_075)).unwrap().joules;
        assert!((joules - 7.0 * 2.025).abs() < 1e-9, "{joules}");
    }

    #[test]
    fn stretches_that_meet_add_up() {
        let wild = samples(MeterUnit::Watts, 50, |at| 3.0 + (at * 7.0).sin());
        let joules = |from, to| wild.energy(ms(from), ms(to)).unwrap().joules;
        assert!((joules(1_111, 3_333) + joules(3_333, 7_777) - joules(1_111, 7_777)).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_covered_has_no_energy() {
        let mut samples = samples(MeterUnit::Watts, 100, |_| 1.0);
        assert_eq!(samples.energy(ms(9_000), ms(10_001)), Err(Lack::NotCovered));
        samples.forget_before(ms(5_050));
        assert_eq!(samples.first(), Some(ms(5_000)));
        assert!(samples.energy(ms(5_050), ms(6_000)).is_ok());
        assert_eq!(samples.energy(ms(4_950), ms(6_000)), Err(Lack::NotCovered));
        assert_eq!(Samples::new(MeterUnit::Watts).energy(ms(0), ms(1)), Err(Lack::NotCovered));
    }

    #[test]
    fn few_readings_are_told_and_so_is_a_gap() {
        let slow = samples(MeterUnit::Watts, 1_000, |_| 1.0);
        assert_eq!(slow.energy(ms(1_500), ms(3_500)), Err(Lack::Few(2)));
        assert!(slow.energy(ms(1_500), ms(7_500)).is_ok());
        let mut broken = Samples::new(MeterUnit::Watts);
        (0..100).filter(|at| !(40..50).contains(at)).for_each(|at| broken.add(ms(at * 100), 1.0));
        assert_eq!(broken.energy(ms(1_000), ms(9_000)), Err(Lack::Gap(ms(1_100))));
        assert!(broken.energy(ms(5_000), ms(9_000)).is_ok());
        let mut hitch = Samples::new(MeterUnit::Watts);
        (0..1_000).filter(|at| !(40..44).contains(at)).for_each(|at| hitch.add(ms(at * 10), 1.0));
        assert!(hitch.energy(ms(100), ms(9_000)).is_ok(), "a hundredth of the time is no gap");
    }
}
