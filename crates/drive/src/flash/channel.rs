//! The bus that some dies share.

use block::Nanos;

/// The reservations of a flash channel, which moves one thing at a time for any of its dies.
///
/// Work is booked when it is decided, often far ahead: a die has ten milliseconds of collection before
/// it, and a read on its neighbour must find the gaps that those transfers leave. A die does its own
/// work in order, so what is booked for one die only ever grows at its end; a booking looks for a gap
/// among those of the other dies. Nothing is moved, neither in time nor in memory.
#[derive(Clone, Debug)]
pub struct Channel {
    lanes: Vec<Lane>,
}

/// What is booked for one die.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Reserved spans, ascending, apart from each other; those before `first` are over.
    spans: Vec<(Nanos, Nanos)>,
    first: usize,
    /// While a booking is made: no span before this is in its way.
    cursor: usize,
}

impl Channel {
    /// An idle channel of so many dies.
    pub fn new(dies: u32) -> Self {
        Self { lanes: vec![Lane::default(); dies as usize] }
    }

    /// Reserves for `die` the earliest `length` that begins at `earliest` or later and after all that was
    /// reserved for that die before; returns its end.
    ///
    /// `now` is the time that has been reached: what ended before it is forgotten.
    #[inline]
    pub fn reserve(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        self.reserve_each(now, die, earliest, length, Nanos::ZERO, 1)
    }

    /// The first moment from `earliest` on at which the dies other than `die` leave the channel free for
    /// `length`. Nothing is reserved: for what goes before that which was promised.
    pub fn find(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        let (before, rest) = self.lanes.split_at_mut(die as usize);
        let (_, after) = rest.split_first_mut().expect("the die is one of the channel's");
        begin(before, after, now, earliest);
        first_gap(before, after, earliest, length)
    }

    /// Reserves `count` spans of `length` one after the other, each beginning `pause` after the end of the
    /// one before or later; returns the end of the last.
    #[inline]
    pub fn reserve_each(
        &mut self,
        now: Nanos,
        die: u32,
        earliest: Nanos,
        length: Nanos,
        pause: Nanos,
        count: u32,
    ) -> Nanos {
        let (before, rest) = self.lanes.split_at_mut(die as usize);
        let (own, after) = rest.split_first_mut().expect("the die is one of the channel's");
        own.forget(now);
        let mut from = own.end().max(earliest);
        begin(before, after, now, from);
        let mut end = from;
        for _ in 0..count {
            let start = first_gap(before, after, from, length);
            end = start + length;
            own.append(start, end);
            from = end + pause;
        }
        end
    }
}

/// Makes ready to look for gaps from `earliest` on.
#[inline]
fn begin(before: &mut [Lane], after: &mut [Lane], now: Nanos, earliest: Nanos) {
    for lane in before.iter_mut().chain(after) {
        lane.forget(now);
        lane.seek(earliest);
    }
}

/// The first moment from `earliest` on at which all these lanes are free for `length`.
#[inline]
fn first_gap(before: &mut [Lane], after: &mut [Lane], earliest: Nanos, length: Nanos) -> Nanos {
    let mut start = earliest;
    loop {
        // A lane that moves the start may bring it into the way of one that was passed: so until all agree.
        let tried = start;
        for lane in before.iter_mut().chain(after.iter_mut()) {
            start = lane.free_from(start, length);
        }
        if start == tried || before.len() + after.len() == 1 {
            return start;
        }
    }
}

impl Lane {
    /// When the last span ends.
    #[inline]
    fn end(&self) -> Nanos {
        self.spans.last().map_or(Nanos::ZERO, |&(_, end)| end)
    }

    #[inline]
    fn forget(&mut self, now: Nanos) {
        const MANY: usize = 64;
        while self.spans.get(self.first).is_some_and(|&(_, end)| end <= now) {
            self.first += 1;
        }
        if self.first >= MANY && 2 * self.first >= self.spans.len() {
            self.spans.drain(..self.first);
            self.first = 0;
        }
    }

    /// Sets the cursor to the first span that ends after `moment`; mostly that is near the end of them.
    #[inline]
    fn seek(&mut self, moment: Nanos) {
        let spans = &self.spans[self.first..];
        let later = spans.iter().rev().take_while(|&&(_, end)| end > moment).count();
        self.cursor = self.spans.len() - later;
    }

    /// The first moment from `start` on that leaves `length` free; `start` never goes back.
    #[inline]
    fn free_from(&mut self, mut start: Nanos, length: Nanos) -> Nanos {
        while let Some(&(from, until)) = self.spans.get(self.cursor) {
            if start + length <= from {
                break;
            }
            start = start.max(until);
            self.cursor += 1;
        }
        start
    }

    /// Adds a span at the end, joining it to the last if they touch.
    #[inline]
    fn append(&mut self, start: Nanos, end: Nanos) {
        match self.spans[self.first..].last_mut() {
            Some((_, last)) if *last == start => *last = end,
            _ => self.spans.push((start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Nanos {
        Nanos::from_micros(us)
    }

    fn reserve(channel: &mut Channel, die: u32, earliest: u64, length: u64) -> u64 {
        channel.reserve(Nanos::ZERO, die, at(earliest), at(length)).as_nanos() / 1000
    }

    #[test]
    fn late_bookings_leave_gaps_that_other_dies_use() {
        let mut channel = Channel::new(3);
        assert_eq!(reserve(&mut channel, 0, 100, 10), 110);
        assert_eq!(reserve(&mut channel, 1, 0, 30), 30, "the gap before it is free");
        assert_eq!(reserve(&mut channel, 2, 20, 70), 100, "it fits exactly between");
        assert_eq!(reserve(&mut channel, 1, 0, 1), 111, "all is taken up to 110");
    }

    #[test]
    fn a_die_never_overtakes_itself() {
        let mut channel = Channel::new(2);
        reserve(&mut channel, 0, 100, 10);
        assert_eq!(reserve(&mut channel, 0, 0, 10), 120);
    }

    #[test]
    fn a_gap_that_is_too_short_is_passed_over() {
        let mut channel = Channel::new(2);
        reserve(&mut channel, 0, 10, 10);
        reserve(&mut channel, 0, 25, 10);
        assert_eq!(reserve(&mut channel, 1, 18, 6), 41);
    }

    #[test]
    fn a_row_of_bookings_is_the_same_as_one_after_the_other() {
        let (mut row, mut single) = (Channel::new(2), Channel::new(2));
        for channel in [&mut row, &mut single] {
            for (earliest, length) in [(100, 30), (300, 200), (900, 10)] {
                reserve(channel, 1, earliest, length);
            }
        }
        let end = row.reserve_each(Nanos::ZERO, 0, at(60), at(50), at(25), 9);
        let mut from = 60;
        for _ in 0..9 {
            from = reserve(&mut single, 0, from, 50) + 25;
        }
        assert_eq!(end, at(from - 25));
        assert_eq!(row.lanes[0].spans, single.lanes[0].spans);
    }

    #[test]
    fn what_touches_a_span_that_is_over_is_seen_all_the_same() {
        let mut channel = Channel::new(2);
        channel.reserve(at(0), 0, at(0), at(10));
        channel.reserve(at(10), 0, at(10), at(10));
        assert_eq!(channel.reserve(at(10), 1, at(10), at(5)), at(25));
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut channel = Channel::new(1);
        for i in 0..1000 {
            channel.reserve(at(i * 100), 0, at(i * 100), at(10));
        }
        assert_eq!(channel.lanes[0].spans.len() - channel.lanes[0].first, 1);
        assert!(channel.lanes[0].spans.len() < 130);
    }

    /// Any order of bookings gives spans that are apart, and each the earliest gap there was for its die.
    #[test]
    fn no_two_bookings_overlap_and_none_waits_without_need() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut channel, mut taken, mut last) = (Channel::new(4), vec![false; 60_000], [0; 4]);
        for _ in 0..2_000 {
            let (die, length) = (random(4) as usize, 1 + random(9));
            let earliest = last[die] + random(40);
            let end = reserve(&mut channel, die as u32, earliest, length);
            let free = |from: u64| (from..from + length).all(|us| !taken[us as usize]);
            let expected = (earliest..).find(|&from| free(from)).unwrap();
            assert_eq!(end, expected + length);
            (expected..end).for_each(|us| taken[us as usize] = true);
            last[die] = end;
        }
    }
}
