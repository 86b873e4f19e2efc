//! When each interval of a measurement was.

use block::Nanos;

use crate::{Measurement, TICK, Tick};

/// A [`Tick`] with its place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'m> {
    /// The round that it is of, counted from 0.
    pub round: usize,
    /// When it began, from the first counted submission on.
    pub start: Nanos,
    /// How much time it covers: a [`TICK`] at most, and nothing where completions came just after the end.
    pub length: Nanos,
    /// What was completed in it.
    pub tick: &'m Tick,
}

impl Measurement {
    /// When each interval of the series was, for measurements in rounds of `round` that follow one another.
    ///
    /// Each round has intervals of its own, the last of which may cover less than a [`TICK`]; none has rounds where the
    /// series is of one piece.
    pub fn intervals(&self, round: Option<Nanos>) -> impl Iterator<Item = Interval<'_>> {
        let rounds = round.map_or(1, |round| self.rounds(round));
        let each = self.series.len().div_ceil(rounds).max(1);
        let nanos = self.elapsed.as_nanos();
        // Rounds are as long as each other, but for the last requests of each.
        let share = move |count: usize| {
            Nanos::from_nanos((u128::from(nanos) * count.min(rounds) as u128 / rounds as u128) as u64)
        };
        self.series.iter().enumerate().map(move |(place, tick)| {
            let (round, within) = (place / each, TICK.times((place % each) as u64));
            let (begin, end) = (share(round), share(round + 1));
            let start = begin + within.min(end.since(begin));
            Interval { round, start, length: end.since(start).min(TICK), tick }
        })
    }

    /// How many rounds of `round` it took; at least one.
    fn rounds(&self, round: Nanos) -> usize {
        if round == Nanos::ZERO {
            return 1;
        }
        ((self.elapsed.as_secs_f64() / round.as_secs_f64()).round() as usize).clamp(1, self.series.len().max(1))
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use workload::Workload;

    use super::*;
    use crate::Clock;

    /// A request each millisecond.
    fn measured(requests: u64) -> Measurement {
        let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        let each = Nanos::from_millis(1);
        (1..=requests).for_each(|i| measurement.record(Op::Read, Bytes::from_kib(4), each.times(i), each));
        measurement
    }

    #[test]
    fn intervals_of_rounds_are_as_long_as_the_rounds() {
        let millis = |all: &Measurement, round: Option<u64>| -> Vec<(usize, u64, u64)> {
            let intervals = all.intervals(round.map(Nanos::from_millis));
            intervals
                .map(|one| (one.round, one.start.as_nanos() / 1_000_000, one.length.as_nanos() / 1_000_000))
                .collect()
        };
        let rounds = |length: u64| {
            let mut all = measured(length);
            (0..2).for_each(|_| all.append(&measured(length)));
            all
        };
        let short = rounds(200);
        assert_eq!(millis(&short, Some(200)), [(0, 0, 200), (1, 200, 200), (2, 400, 200)]);
        let uneven = [(0, 0, 1000), (0, 1000, 500), (1, 1500, 1000), (1, 2500, 500), (2, 3000, 1000), (2, 4000, 500)];
        assert_eq!(millis(&rounds(1500), Some(1500)), uneven);
        let whole = measured(2500);
        assert_eq!(millis(&whole, None), [(0, 0, 1000), (0, 1000, 1000), (0, 2000, 500)]);
        assert_eq!(millis(&whole, Some(0)), millis(&whole, None), "rounds that do not end by time");
        let nothing = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        assert_eq!(millis(&nothing, Some(200)), []);
    }
}
