//! When something that serves one at a time is taken.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// The reservations of something that serves one at a time: a link, a controller's path.
///
/// A plain "busy until" register would be wrong here. Work is booked when it is decided, often far
/// ahead (data that a die will have in ten milliseconds), and whatever is decided later but
/// needed sooner must find the gaps that such bookings leave. What is booked is never moved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Calendar {
    /// Reserved spans, ascending, apart from each other.
    taken: Vec<(Nanos, Nanos)>,
    /// How many of them are over.
    over: usize,
}

/// So many spans that are over are kept before they are dropped together.
const OVER_MAX: usize = 64;

impl Calendar {
    /// Reserves the earliest `length` that begins at `earliest` or later; returns its end.
    ///
    /// `now` is the time that has been reached: what ended before it is forgotten.
    #[inline]
    pub fn reserve(&mut self, now: Nanos, earliest: Nanos, length: Nanos) -> Nanos {
        self.forget(now);
        match self.taken[self.over..].last_mut() {
            Some((_, end)) if *end > earliest => self.squeeze(earliest, length),
            Some((_, end)) if *end == earliest => {
                *end = earliest + length;
                *end
            }
            _ => {
                self.taken.push((earliest, earliest + length));
                earliest + length
            }
        }
    }

    #[inline]
    fn forget(&mut self, now: Nanos) {
        while self.taken.get(self.over).is_some_and(|&(_, end)| end <= now) {
            self.over += 1;
        }
        if self.over >= OVER_MAX {
            self.drop_over();
        }
    }

    #[cold]
    fn drop_over(&mut self) {
        self.taken.drain(..self.over);
        self.over = 0;
    }

    /// Reserves `length` in the first gap from `earliest` on, or behind all, the last of which ends later. Its end.
    #[inline]
    fn squeeze(&mut self, earliest: Nanos, length: Nanos) -> Nanos {
        let next = self.first_ending_after(earliest);
        let mut start = earliest;
        for (index, &(taken_from, taken_until)) in self.taken[next..].iter().enumerate() {
            if start + length <= taken_from {
                self.insert(next + index, start, start + length);
                return start + length;
            }
            start = start.max(taken_until);
        }
        self.taken.last_mut().expect("the last ends later").1 = start + length;
        start + length
    }

    /// The first span that ends after `moment`: near the back for work booked far ahead, else searched for. Of those near the back
    /// some are compared together: where the search ends is by chance, and a processor that guesses wrong loses more. It goes
    /// twice as far back each time, for there may be thousands.
    #[inline]
    fn first_ending_after(&self, moment: Nanos) -> usize {
        const FEW: usize = 4;
        let mut rest = &self.taken[self.over..];
        for _ in 0..2 {
            let Some(last) = rest.last_chunk::<FEW>() else { break };
            let later: usize = last.iter().map(|(_, end)| usize::from(*end > moment)).sum();
            rest = &rest[..rest.len() - later];
            if later < FEW {
                return self.over + rest.len();
            }
        }
        let (mut first, mut back) = (rest.len(), 2 * FEW);
        while first > 0 && rest[first - 1].1 > moment {
            rest = &rest[..first];
            first = first.saturating_sub(back);
            back *= 2;
        }
        self.over + first + rest[first..].partition_point(|&(_, end)| end <= moment)
    }

    /// Adds a span before index `next`, joining it to the neighbours it touches.
    #[inline]
    fn insert(&mut self, next: usize, start: Nanos, end: Nanos) {
        let touches_previous = next > self.over && self.taken[next - 1].1 == start;
        let touches_next = self.taken.get(next).is_some_and(|&(from, _)| from == end);
        match (touches_previous, touches_next) {
            (true, true) => {
                self.taken[next - 1].1 = self.taken[next].1;
                self.taken.remove(next);
            }
            (true, false) => self.taken[next - 1].1 = end,
            (false, true) => self.taken[next].0 = start,
            (false, false) => self.taken.insert(next, (start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Nanos {
        Nanos::from_nanos(ns)
    }

    fn reserve(calendar: &mut Calendar, earliest: u64, length: u64) -> u64 {
        calendar.reserve(Nanos::ZERO, at(earliest), at(length)).as_nanos()
    }

    #[test]
    fn late_bookings_leave_gaps_that_early_ones_use() {
        let mut calendar = Calendar::default();
        assert_eq!(reserve(&mut calendar, 100, 10), 110);
        assert_eq!(reserve(&mut calendar, 0, 30), 30, "the gap before it is free");
        assert_eq!(reserve(&mut calendar, 20, 70), 100, "it fits exactly between");
        assert_eq!(reserve(&mut calendar, 0, 1), 111, "all is taken up to 110");
        assert_eq!(calendar.taken.len(), 1, "spans that touch are one");
    }

    #[test]
    fn a_gap_that_is_too_short_is_passed_over() {
        let mut calendar = Calendar::default();
        reserve(&mut calendar, 10, 10);
        reserve(&mut calendar, 25, 10);
        assert_eq!(reserve(&mut calendar, 18, 6), 41);
        assert_eq!(reserve(&mut calendar, 18, 5), 25);
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut calendar = Calendar::default();
        for i in 0..1000 {
            calendar.reserve(at(i * 100), at(i * 100), at(10));
        }
        assert!(calendar.taken.len() <= OVER_MAX, "{} spans", calendar.taken.len());
    }

    /// Any order of bookings gives spans that are apart, and each booking the earliest gap there was.
    #[test]
    fn no_two_bookings_overlap_and_none_waits_without_need() {
        let mut random = testkit::Random::new(1);
        let mut random = |below: u64| random.below(below);
        let (mut calendar, mut minutes) = (Calendar::default(), vec![false; 40_000]);
        for _ in 0..2_000 {
            let (earliest, length) = (random(20_000), 1 + random(9));
            let end = reserve(&mut calendar, earliest, length);
            let free = |from: u64| (from..from + length).all(|minute| !minutes[minute as usize]);
            let expected = (earliest..).find(|&from| free(from)).unwrap();
            assert_eq!(end, expected + length);
            (expected..end).for_each(|minute| minutes[minute as usize] = true);
        }
    }
}
