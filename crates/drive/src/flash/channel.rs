//! The bus that some dies share.

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::timeline::Timeline;

/// The reservations of a flash channel, which moves one thing at a time for any of its dies.
///
/// Work is booked when it is decided, often far ahead: a die has ten milliseconds of collection before
/// it, and a read on its neighbour must find the gaps that those transfers leave. A die does its own
/// work in order, so what is booked for one die only ever grows at its end; a booking looks for a gap
/// among those of the other dies. Nothing is moved, neither in time nor in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Channel {
    Pair(Pair),
    Many(Timeline),
}

/// Two who share a channel: two dies, or one and its reads that go first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pair {
    lanes: [Lane; 2],
    /// For each of both, the first span of the other that can be in the way of its next booking, which will be no earlier than its
    /// last one.
    cursors: [usize; 2],
}

/// What is booked for one die.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lane {
    /// Reserved spans, ascending, apart from each other, some of them over.
    spans: Vec<(Nanos, Nanos)>,
    /// So many of them are forgotten, and only kept so that the rest need not be moved each time. The last one never is.
    forgotten: usize,
    /// How many of them are known to be over.
    over: usize,
}

/// A lane forgets spans that are over when there are so many of them. The number is part of what is simulated: a page that was
/// written in part long ago may be booked for then, and finds the gaps of what is not forgotten.
const MANY: usize = 256;

/// So many spans are looked at before the rest is searched.
const NEAR: usize = 8;

/// So many spans are compared together, without asking after each: where a search ends is by chance, and a processor that
/// guesses wrong loses more.
const FEW: usize = 4;

impl Channel {
    /// An idle channel of so many dies; `inserts` where what goes before the rest is reserved as well.
    pub fn new(dies: u32, inserts: bool) -> Self {
        match dies + u32::from(inserts) {
            2 => Self::Pair(Pair::default()),
            _ => Self::Many(Timeline::new(dies)),
        }
    }

    /// Reserves for `die` the earliest `length` that begins at `earliest` or later and after all that was
    /// reserved for that die before; returns its end.
    ///
    /// `now` is the time that has been reached: what ended before it is forgotten.
    #[inline]
    pub fn reserve(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        match self {
            Self::Pair(pair) => pair.reserve(now, die as usize, earliest, length),
            Self::Many(timeline) => timeline.reserve(now, die, earliest, length),
        }
    }

    /// Reserves `count` spans of `length` one after the other. From when on the one after it can be is what `next` says of the
    /// end of each; returns what it said of the last, or `earliest` where there is none.
    #[inline]
    pub fn reserve_each(
        &mut self,
        now: Nanos,
        die: u32,
        earliest: Nanos,
        length: Nanos,
        count: u32,
        mut next: impl FnMut(Nanos) -> Nanos,
    ) -> Nanos {
        match self {
            Self::Pair(pair) if count > 0 => {
                let (mine, other, cursor) = pair.sides(now, die as usize);
                mine.append_each(other, cursor, earliest, length, count, next)
            }
            _ => (0..count).fold(earliest, |from, _| next(self.reserve(now, die, from, length))),
        }
    }

    /// Reserves for a read of `die` that goes before what is booked for that die the earliest `length` from `earliest` on
    /// that the other dies and the other such reads leave free; returns its end.
    pub fn insert(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        let start = self.find(now, die, earliest, length);
        match self {
            Self::Pair(pair) => pair.sides(now, 1).0.insert(start, start + length),
            Self::Many(timeline) => timeline.insert(now, start, start + length),
        }
        start + length
    }

    /// The first moment from `earliest` on, which is not before `now`, at which the dies other than `die` leave the channel
    /// free for `length`. Nothing is reserved: for what goes before that which was promised.
    pub fn find(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        debug_assert!(earliest >= now, "what is over at {now} is not looked at, and {earliest} is before that");
        match self {
            Self::Pair(Pair { lanes: [first, second], .. }) => {
                let other = if die == 0 { second } else { first };
                let mut cursor = other.first_after(now, earliest);
                other.free_from(&mut cursor, earliest, length)
            }
            Self::Many(timeline) => timeline.find(now, die, earliest, length),
        }
    }
}

impl Pair {
    #[inline]
    fn reserve(&mut self, now: Nanos, die: usize, earliest: Nanos, length: Nanos) -> Nanos {
        let (mine, other, cursor) = self.sides(now, die);
        let from = earliest.max(mine.end());
        let mut place = other.first_late(*cursor, from);
        let start = other.free_from(&mut place, from, length);
        *cursor = place;
        mine.append(start, start + length);
        start + length
    }

    /// What is booked for a die and for the other, and the die's cursor; the first without what is over, if that is much.
    #[inline]
    fn sides(&mut self, now: Nanos, die: usize) -> (&mut Lane, &Lane, &mut usize) {
        if self.lanes[die].remembered() >= MANY {
            self.forget(die, now);
        }
        let [first, second] = &mut self.lanes;
        let (mine, other) = if die == 0 { (first, second) } else { (second, first) };
        (mine, other, &mut self.cursors[die])
    }

    /// Forgets the spans of a lane that are over at `now`.
    #[cold]
    fn forget(&mut self, die: usize, now: Nanos) {
        let lane = &mut self.lanes[die];
        lane.forgotten += lane.spans[lane.forgotten..].partition_point(|&(_, end)| end <= now);
        let is_worth_it = lane.forgotten >= MANY || lane.forgotten == lane.spans.len();
        let dropped = if is_worth_it { std::mem::take(&mut lane.forgotten) } else { 0 };
        lane.spans.drain(..dropped);
        let first = lane.forgotten;
        lane.over = lane.over.saturating_sub(dropped).max(first);
        let cursor = &mut self.cursors[1 - die];
        *cursor = cursor.saturating_sub(dropped).max(first);
    }
}

impl Lane {
    /// How many spans it has not forgotten.
    #[inline]
    fn remembered(&self) -> usize {
        self.spans.len() - self.forgotten
    }

    /// When the last span ends.
    #[inline]
    fn end(&self) -> Nanos {
        self.spans.last().map_or(Nanos::ZERO, |&(_, end)| end)
    }

    /// The first moment from `start` on that leaves `length` free. No span before `cursor` is in the way of
    /// that, nor afterwards of anything later.
    #[inline]
    fn free_from(&self, cursor: &mut usize, mut start: Nanos, length: Nanos) -> Nanos {
        while let Some(&(from, until)) = self.spans.get(*cursor) {
            if start + length <= from {
                break;
            }
            start = start.max(until);
            *cursor += 1;
        }
        start
    }

    /// The first span that ends after `moment`, before which nothing from `cursor` on is in the way. Hardly anything is booked
    /// after that most often: dies of a channel have about as much before them.
    #[inline]
    fn first_late(&self, cursor: usize, moment: Nanos) -> usize {
        let later = self.spans.last_chunk::<FEW>().map_or(FEW, |last| FEW - over_at(last, moment));
        if later < FEW {
            return cursor.max(self.spans.len() - later);
        }
        cursor + self.spans[cursor..].iter().take_while(|&&(_, end)| end <= moment).count()
    }

    /// The first span that ends after `moment`, which is not before `now`. Hardly any are left that end before it: those that
    /// are over at `now` are not looked at again.
    #[inline]
    fn first_after(&mut self, now: Nanos, moment: Nanos) -> usize {
        let found = self.passed(self.over, moment);
        if found - self.over > FEW {
            self.over = self.passed(self.over, now);
        }
        found
    }

    /// The first span from number `first` on that ends after `moment`, which most often is one of the next few.
    #[inline]
    fn passed(&self, mut first: usize, moment: Nanos) -> usize {
        for _ in 0..NEAR / FEW {
            let Some(next) = self.spans[first..].first_chunk::<FEW>() else { break };
            let over = over_at(next, moment);
            first += over;
            if over < FEW {
                return first;
            }
        }
        first + self.spans[first..].partition_point(|&(_, end)| end <= moment)
    }

    /// Adds a span where it belongs. Where a cursor has passed, all is over for the die that it belongs to, so that it may
    /// point one span too early.
    fn insert(&mut self, start: Nanos, end: Nanos) {
        let later = self.spans.iter().rev().take_while(|&&(from, _)| from >= start).count();
        self.spans.insert((self.spans.len() - later).max(self.over), (start, end));
    }

    /// Adds a span at the end, joining it to the last if they touch.
    #[inline]
    fn append(&mut self, start: Nanos, end: Nanos) {
        match self.spans.last_mut() {
            Some((_, last)) if *last == start => {
                *last = end;
                self.over = self.over.min(self.spans.len() - 1);
            }
            _ => self.spans.push((start, end)),
        }
    }

    /// Adds spans at the end that the only `other` lane leaves free, as [`Channel::reserve_each`] says, and moves the cursor
    /// that points to that. The last one is not put back before it is known that the next does not touch it.
    #[inline]
    fn append_each(
        &mut self,
        other: &Self,
        cursor: &mut usize,
        earliest: Nanos,
        length: Nanos,
        count: u32,
        mut next: impl FnMut(Nanos) -> Nanos,
    ) -> Nanos {
        let mut from = earliest.max(self.end());
        let mut place = other.first_late(*cursor, from);
        let (mut begun, mut last) = self.spans.pop().unwrap_or_else(|| {
            from = other.free_from(&mut place, from, length);
            (from, from)
        });
        for _ in 0..count {
            let start = other.free_from(&mut place, last.max(from), length);
            if start != last {
                self.spans.push((begun, last));
                begun = start;
            }
            last = start + length;
            from = next(last);
        }
        self.spans.push((begun, last));
        self.over = self.over.min(self.spans.len() - 1);
        *cursor = place;
        from
    }
}

/// How many of some spans are over at a moment, which are the first of them.
#[inline]
fn over_at(spans: &[(Nanos, Nanos)], moment: Nanos) -> usize {
    spans.iter().map(|&(_, end)| usize::from(end <= moment)).sum()
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
        let mut channel = Channel::new(3, false);
        assert_eq!(reserve(&mut channel, 0, 100, 10), 110);
        assert_eq!(reserve(&mut channel, 1, 0, 30), 30, "the gap before it is free");
        assert_eq!(reserve(&mut channel, 2, 20, 70), 100, "it fits exactly between");
        assert_eq!(reserve(&mut channel, 1, 0, 1), 111, "all is taken up to 110");
    }

    #[test]
    fn a_die_never_overtakes_itself() {
        let mut channel = Channel::new(2, false);
        reserve(&mut channel, 0, 100, 10);
        assert_eq!(reserve(&mut channel, 0, 0, 10), 120);
    }

    #[test]
    fn a_gap_that_is_too_short_is_passed_over() {
        let mut channel = Channel::new(2, false);
        reserve(&mut channel, 0, 10, 10);
        reserve(&mut channel, 0, 25, 10);
        assert_eq!(reserve(&mut channel, 1, 18, 6), 41);
    }

    #[test]
    fn a_row_of_bookings_is_the_same_as_one_after_the_other() {
        let (mut row, mut single) = (Channel::new(2, false), Channel::new(2, false));
        for channel in [&mut row, &mut single] {
            for (earliest, length) in [(100, 30), (300, 200), (900, 10)] {
                reserve(channel, 1, earliest, length);
            }
        }
        let next = row.reserve_each(Nanos::ZERO, 0, at(60), at(50), 9, |end| end + at(25));
        let mut from = 60;
        for _ in 0..9 {
            from = reserve(&mut single, 0, from, 50) + 25;
        }
        assert_eq!(next, at(from));
        let (Channel::Pair(row), Channel::Pair(single)) = (row, single) else { panic!("two dies are a pair") };
        assert_eq!(row.lanes[0].spans, single.lanes[0].spans);
    }

    #[test]
    fn the_past_is_forgotten_and_nothing_else() {
        let mut channel = Channel::new(2, false);
        let mut other = 0;
        for i in 0..10_000 {
            channel.reserve(at(i * 100), 0, at(i * 100), at(10));
            other = channel.reserve(at(i * 100), 1, at(i * 100), at(10)).as_nanos();
        }
        let Channel::Pair(pair) = channel else { panic!("two dies are a pair") };
        assert!(pair.lanes.iter().all(|lane| lane.spans.len() <= MANY));
        assert_eq!(other, at(9_999 * 100 + 20).as_nanos(), "the first die's span was seen each time");
    }

    #[test]
    fn reads_of_a_lone_die_are_forgotten_too() {
        let mut channel = Channel::new(1, true);
        for i in 0..10_000 {
            assert_eq!(channel.insert(at(i * 100), 0, at(i * 100), at(10)), at(i * 100 + 10));
        }
        let Channel::Pair(Pair { lanes: [_, reads], .. }) = channel else { panic!("a die and its reads are a pair") };
        assert!(reads.spans.len() <= 2 * MANY);
    }

    /// Reads that go first find the earliest gap that there is, whatever is over by then.
    #[test]
    fn a_read_that_goes_first_has_the_earliest_gap() {
        let mut random = testkit::Random::new(2);
        let (mut channel, mut taken, mut now, mut last) =
            (Channel::new(3, true), Vec::<(usize, u64, u64)>::new(), 0, [0; 3]);
        for _ in 0..20_000 {
            now += random.below(12);
            let (die, length) = (random.below(3) as usize, 1 + random.below(9));
            let earliest = now + random.below(60);
            // A die's own bookings are put off by the read, and are in no one's way.
            let others = |from: u64, from_die: usize| {
                taken.iter().any(|&(of, begin, end)| of != from_die && begin < from + length && from < end)
            };
            if random.below(2) == 0 {
                let end = channel.insert(at(now), die as u32, at(earliest), at(length)).as_nanos() / 1000;
                assert_eq!(end - length, (earliest..).find(|&from| !others(from, die)).unwrap(), "at {now}");
                taken.push((3, end - length, end));
            } else {
                let from = last[die].max(earliest);
                let end = channel.reserve(at(now), die as u32, at(earliest), at(length)).as_nanos() / 1000;
                assert_eq!(end - length, (from..).find(|&from| !others(from, die)).unwrap(), "at {now}");
                taken.push((die, end - length, end));
                last[die] = end;
            }
            taken.retain(|&(_, _, end)| end + 1 > now);
        }
    }

    /// Any order of bookings gives spans that are apart, and each the earliest gap there was for its die.
    #[test]
    fn no_two_bookings_overlap_and_none_waits_without_need() {
        let mut random = testkit::Random::new(1);
        let mut random = |below: u64| random.below(below);
        let (mut channel, mut taken, mut last) = (Channel::new(4, false), vec![false; 60_000], [0; 4]);
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
