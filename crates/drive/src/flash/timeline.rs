//! What is booked on a bus that many share.

use std::collections::VecDeque;

use block::Nanos;
use serde::{Deserialize, Serialize};

/// The reservations of a channel of many dies, all in one row.
///
/// Dies of a channel have about as much before them, so that what is in the way of a die's next booking is what was booked since
/// its last one, and lies behind that in memory too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// In the order in which they begin, in chunks so that one can be put between them; some of them are over.
    chunks: VecDeque<Vec<Span>>,
    /// How many these are.
    spans: usize,
    /// No span is longer.
    longest: Nanos,
    /// How many chunks are known to be over.
    over: usize,
    /// How many are kept no more.
    forgotten: usize,
    /// The last stretch without a gap, whoever it is booked for: nothing is booked behind it.
    last: (Nanos, Nanos),
    /// When the last span of each die ends, and the number of its chunk among all that were ever there, or a lower one.
    dies: Vec<(Nanos, usize)>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Span {
    start: Nanos,
    end: Nanos,
    /// For which die; for reads that go first, none there is.
    die: u32,
}

/// Where a span is, or could be put: its chunk and its place there.
type Place = (usize, usize);

/// Spans of a chunk.
const CHUNK: usize = 32;
/// Chunks that are over are forgotten when there are so many spans. The number is part of what is simulated: a page that was
/// written in part long ago may be booked for then, and finds the gaps of what is not forgotten.
const MANY: usize = 1024;

impl Timeline {
    /// Nothing is booked yet for any of so many dies.
    pub fn new(dies: u32) -> Self {
        Self {
            chunks: VecDeque::from([Vec::with_capacity(CHUNK)]),
            spans: 0,
            longest: Nanos::ZERO,
            over: 0,
            forgotten: 0,
            last: (Nanos::ZERO, Nanos::ZERO),
            dies: vec![(Nanos::ZERO, 0); dies as usize],
        }
    }

    /// See `Channel::reserve`.
    #[inline(never)]
    pub fn reserve(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        self.forget(now);
        let (end, chunk) = self.dies[die as usize];
        let from = earliest.max(end);
        let (place, start) = if from >= self.last.0 {
            let last = self.chunks.len() - 1;
            ((last, self.chunks[last].len()), from.max(self.last.1))
        } else {
            self.gap(chunk.saturating_sub(self.forgotten), from, length, |_| true)
        };
        let end = start + length;
        let chunk = self.add(place, Span { start, end, die });
        self.dies[die as usize] = (end, self.forgotten + chunk);
        end
    }

    /// The first gap of a length from a moment on, between spans that count, and the place before the span behind it. What is in
    /// the way is hardly before chunk number `near`.
    #[inline(always)]
    fn gap(&self, near: usize, from: Nanos, length: Nanos, counts: impl Fn(&Span) -> bool) -> (Place, Nanos) {
        let mut chunk = near;
        while chunk > 0 && !self.is_over(chunk, from) {
            chunk -= 1;
        }
        chunk = self.first_left(chunk, from);
        let mut start = from;
        for (number, spans) in self.chunks.range(chunk..).enumerate() {
            for (place, span) in spans.iter().enumerate() {
                if span.start >= start + length {
                    return ((chunk + number, place), start);
                }
                if counts(span) {
                    start = start.max(span.end);
                }
            }
        }
        let last = self.chunks.len() - 1;
        ((last, self.chunks[last].len()), start)
    }

    /// Whether all before this chunk is over at a moment.
    #[inline]
    fn is_over(&self, chunk: usize, moment: Nanos) -> bool {
        self.chunks[chunk].first().is_some_and(|first| first.start + self.longest <= moment)
    }

    /// The first chunk from this one on that is not known to be over at a moment.
    #[inline]
    fn first_left(&self, mut chunk: usize, moment: Nanos) -> usize {
        while chunk + 1 < self.chunks.len() && self.is_over(chunk + 1, moment) {
            chunk += 1;
        }
        chunk
    }

    /// Adds a span in its place; the number of its chunk.
    #[inline]
    fn add(&mut self, (mut chunk, mut place): Place, span: Span) -> usize {
        self.spans += 1;
        self.longest = self.longest.max(span.end - span.start);
        if span.start > self.last.1 {
            self.last = (span.start, span.end);
        } else {
            self.last.1 = self.last.1.max(span.end);
        }
        if self.chunks[chunk].len() == CHUNK {
            (chunk, place) = self.make_room(chunk, place);
        }
        self.over = self.over.min(chunk);
        self.chunks[chunk].insert(place, span);
        chunk
    }

    /// Makes room in a full chunk: where the place is then.
    #[cold]
    fn make_room(&mut self, chunk: usize, place: usize) -> Place {
        let is_last = chunk + 1 == self.chunks.len() && place == CHUNK;
        let keep = if is_last { CHUNK } else { CHUNK / 2 };
        let mut rest = Vec::with_capacity(CHUNK);
        rest.extend(self.chunks[chunk].drain(keep..));
        self.chunks.insert(chunk + 1, rest);
        if place < keep { (chunk, place) } else { (chunk + 1, place - keep) }
    }

    /// See `Channel::insert`.
    pub fn insert(&mut self, now: Nanos, start: Nanos, end: Nanos) {
        self.forget(now);
        let begins_later = |spans: &Vec<Span>| spans.first().is_some_and(|first| first.start >= start);
        let later = self.chunks.iter().skip(1).rev().take_while(|spans| begins_later(spans)).count();
        let chunk = self.chunks.len() - 1 - later;
        let place = self.chunks[chunk].partition_point(|span| span.start < start);
        self.add((chunk, place), Span { start, end, die: self.dies.len() as u32 });
    }

    /// See `Channel::find`.
    pub fn find(&mut self, now: Nanos, die: u32, earliest: Nanos, length: Nanos) -> Nanos {
        self.over = self.first_left(self.over, now);
        if earliest >= self.last.1 {
            return earliest;
        }
        self.gap(self.over, earliest, length, |span| span.die != die).1
    }

    /// Forgets what is over at `now`, where that may be much.
    #[inline]
    fn forget(&mut self, now: Nanos) {
        while self.spans >= MANY && self.chunks.len() > 1 && self.is_over(1, now) {
            let first = self.chunks.pop_front().expect("there is more than one");
            self.spans -= first.len();
            self.forgotten += 1;
            self.over = self.over.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long after the first were forgotten: spans are apart and in order, each is the earliest that there was for its die, and
    /// reads that go first find what the other dies leave.
    #[test]
    fn each_booking_has_the_earliest_gap_whatever_was_forgotten() {
        const DIES: usize = 12;
        let (mut random, mut timeline) = (testkit::Random::new(7), Timeline::new(DIES as u32));
        let (mut now, mut taken, mut last) = (0, Vec::<(u32, u64, u64)>::new(), [0; DIES]);
        let at = Nanos::from_nanos;
        for turn in 0..30_000_u64 {
            now += random.below(16);
            let (die, length) = (random.below(DIES as u64) as u32, 1 + random.below(9));
            // Now and then far ahead, so that many chunks are there at once.
            let earliest = now + random.below(if turn / 3_000 % 2 == 0 { 60 } else { 20_000 });
            let is_read = random.below(4) == 0;
            let from = if is_read { earliest } else { earliest.max(last[die as usize]) };
            let ahead = taken.iter().filter(|(of, _, end)| *end > from && !(is_read && *of == die));
            let mut expected = from;
            for &(_, start, end) in ahead {
                if start >= expected + length {
                    break;
                }
                expected = expected.max(end);
            }
            let end = expected + length;
            let of = if is_read {
                assert_eq!(timeline.find(at(now), die, at(earliest), at(length)), at(expected), "turn {turn}");
                timeline.insert(at(now), at(expected), at(end));
                DIES as u32
            } else {
                assert_eq!(timeline.reserve(at(now), die, at(earliest), at(length)), at(end), "turn {turn}");
                last[die as usize] = end;
                die
            };
            taken.retain(|(_, _, end)| *end > now);
            let place = taken.partition_point(|(_, start, _)| *start < expected);
            taken.insert(place, (of, expected, end));
        }
        assert!(
            timeline.forgotten > 200 && timeline.spans < 2 * MANY + taken.len(),
            "{} forgotten",
            timeline.forgotten
        );
        let starts = timeline.chunks.iter().flatten().map(|span| span.start);
        assert!(starts.is_sorted() && timeline.chunks.iter().all(|spans| spans.len() <= CHUNK));
    }
}
