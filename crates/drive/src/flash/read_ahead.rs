//! Reading what will probably be asked for next.

use std::collections::VecDeque;

use block::{Bytes, Lba, Nanos, Request};
use serde::{Deserialize, Serialize};

use super::operation::Lpn;
use crate::least::first_least;

/// How a drive reads ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadSpec {
    /// Pages read beyond the last of a sequential stream; none where nothing is read ahead.
    pub pages: u32,
    /// Sequential streams that are followed at once.
    pub streams: u32,
    /// What each page that is read ahead takes of the firmware, which delays the next command but not this one.
    pub page: Nanos,
}

/// Pages that were read from flash before they were asked for, because reads came in order.
///
/// Each stream has its own; a read that goes on with none of them takes the place of the one that was used longest ago.
///
/// Source: N. P. Jouppi, "Improving Direct-Mapped Cache Performance by the Addition of a Small Fully-Associative Cache and
/// Prefetch Buffers", ISCA 1990, §4.2: multi-way stream buffers, least recently used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadAhead {
    /// How many pages beyond the last read are kept ready at most.
    pages: u32,
    page_sectors: u32,
    /// As many now: twice as many for each read that goes on with a stream, as Linux does, so that two neighbours among random reads
    /// bring next to nothing.
    window: u32,
    /// Where the last read of each stream ended.
    read_to: Vec<Lba>,
    /// How many reads have gone on with it.
    followed: Vec<u32>,
    /// Which read that was.
    used: Vec<u64>,
    /// The pages of each in the controller's memory, ascending.
    ready: Vec<VecDeque<PrefetchedPage>>,
    /// The stream of the last read.
    current: usize,
    /// Counts reads, so that the stream used longest ago is known.
    reads: u64,
    pub counted: ReadAheadCounts,
}

/// A long read has so much, or as much as is read ahead if that is less.
const LONG: Bytes = Bytes::from_kib(256);
/// So many long reads must have gone on with a stream. Linux divides requests at 512 KiB in the usual case, and the parts of one of 4 MiB
/// in a random place are no stream.
const LONG_FOLLOWED: u32 = 8;

/// What was read ahead, for the drive's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadCounts {
    /// Pages.
    pub pages: u64,
    /// Of those, pages that were dropped before they were asked for.
    pub wasted: u64,
}

/// A page in the controller's memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PrefetchedPage {
    page: Lpn,
    /// When it is there.
    at: Nanos,
    /// Whether a read has asked for it.
    is_used: bool,
}

impl ReadAhead {
    /// Nothing was read yet.
    pub fn new(spec: ReadAheadSpec, page_sectors: u32) -> Self {
        let streams = spec.streams as usize;
        Self {
            pages: spec.pages,
            page_sectors,
            window: 0,
            read_to: vec![Lba::new(u64::MAX); streams],
            followed: vec![0; streams],
            used: vec![0; streams],
            ready: vec![VecDeque::new(); streams],
            current: 0,
            reads: 0,
            counted: ReadAheadCounts::default(),
        }
    }

    /// Notes a read; whether pages behind it are worth reading: it goes on where the last one of a stream ended or with what was read
    /// ahead behind that, or several have if they are long. One that goes on with none takes the place of another stream, whose pages
    /// are dropped.
    #[inline(always)]
    pub fn follows(&mut self, request: Request) -> bool {
        self.pages > 0 && self.note(request)
    }

    #[inline(never)]
    fn note(&mut self, request: Request) -> bool {
        self.reads += 1;
        let followed = self.read_to.iter().position(|&end| end == request.lba).or_else(|| self.skipping(request.lba));
        self.current = followed.unwrap_or_else(|| self.oldest());
        (self.read_to[self.current], self.used[self.current]) = (request.end(), self.reads);
        let count = &mut self.followed[self.current];
        if followed.is_none() {
            *count = 0;
            let ready = &mut self.ready[self.current];
            if !ready.is_empty() {
                self.counted.wasted += ready.drain(..).filter(|ready| !ready.is_used).count() as u64;
            }
            return false;
        }
        *count = count.saturating_add(1);
        let pages = request.sectors.div_ceil(self.page_sectors);
        self.window = self.pages.min(pages.saturating_mul(1 << (*count).min(16)));
        // A long read may be a part of one that the host has divided.
        let long = LONG.sectors().min(u64::from(self.pages) * u64::from(self.page_sectors));
        *count >= if u64::from(request.sectors) < long { 1 } else { LONG_FOLLOWED }
    }

    /// The stream of which a read leaves out something, but not all that was read ahead.
    fn skipping(&self, lba: Lba) -> Option<usize> {
        // Of random reads, none has anything ready.
        if self.ready.iter().all(VecDeque::is_empty) {
            return None;
        }
        let page = lba.get() / u64::from(self.page_sectors);
        let is_ahead = |last: &PrefetchedPage| page <= u64::from(last.page.0);
        let mut streams = self.ready.iter().zip(&self.read_to);
        streams.position(|(ready, end)| ready.back().is_some_and(is_ahead) && *end <= lba)
    }

    /// The stream that was used longest ago.
    fn oldest(&self) -> usize {
        first_least(self.used.iter().copied())
    }

    /// When `page` is in the controller's memory, if it was read ahead of the stream of the last read. Pages before it are
    /// dropped.
    #[inline]
    pub fn take(&mut self, page: Lpn) -> Option<Nanos> {
        if self.pages == 0 {
            return None;
        }
        let ready = &mut self.ready[self.current];
        while let Some(first) = ready.pop_front_if(|first| first.page < page) {
            self.counted.wasted += u64::from(!first.is_used);
        }
        let first = ready.front_mut().filter(|first| first.page == page)?;
        first.is_used = true;
        Some(first.at)
    }

    /// The pages that are to be read now that `last` was asked for.
    pub fn wanted(&self, last: Lpn, pages: u32) -> std::ops::Range<u32> {
        let first = self.ready[self.current].back().map_or(last.0 + 1, |ready| ready.page.0 + 1);
        first..(last.0 + 1 + self.window).min(pages).max(first)
    }

    /// Notes a page of the last read's stream that will be there at `at`.
    pub fn add(&mut self, page: Lpn, at: Nanos) {
        self.counted.pages += 1;
        self.ready[self.current].push_back(PrefetchedPage { page, at, is_used: false });
    }
}

#[cfg(test)]
mod tests {
    use block::Op;
    use proptest::prelude::*;

    use super::*;

    const AHEAD: ReadAheadSpec = ReadAheadSpec { pages: 4, streams: 1, page: Nanos::ZERO };

    fn read(lba: u64, sectors: u32) -> Request {
        Request::new(Op::Read, Lba::new(lba), sectors)
    }

    #[test]
    fn each_read_in_order_brings_twice_as_many_of_the_next_pages() {
        let mut ahead = ReadAhead::new(AHEAD, 8);
        assert!(!ahead.follows(read(0, 8)));
        assert!(ahead.follows(read(8, 8)));
        assert_eq!(ahead.wanted(Lpn(1), 100), 2..4);
        (2..4).for_each(|page| ahead.add(Lpn(page), Nanos::from_micros(u64::from(page))));
        assert!(ahead.follows(read(16, 8)));
        assert_eq!(ahead.take(Lpn(2)), Some(Nanos::from_micros(2)));
        assert_eq!(ahead.wanted(Lpn(2), 100), 4..7);
        assert!(ahead.follows(read(24, 8)));
        assert_eq!(ahead.wanted(Lpn(3), 100), 4..8, "no more than there is room for");
        assert_eq!(ahead.wanted(Lpn(5), 8), 4..8, "none beyond the end");
    }

    #[test]
    fn a_read_that_leaves_something_out_goes_on_with_what_was_read_ahead() {
        let mut ahead = ReadAhead::new(AHEAD, 8);
        (0..4).for_each(|page| _ = ahead.follows(read(8 * page, 8)));
        (4..8).for_each(|page| ahead.add(Lpn(page), Nanos::from_micros(u64::from(page))));
        assert!(ahead.follows(read(8 * 6, 8)), "without two pages");
        assert_eq!(ahead.take(Lpn(6)), Some(Nanos::from_micros(6)));
        assert_eq!(ahead.counted.wasted, 2);
        assert!(!ahead.follows(read(8 * 6, 8)), "again, which goes on with nothing");
        assert!(!ahead.follows(read(8 * 9, 8)), "behind all that was read ahead");
    }

    #[test]
    fn parts_of_a_long_read_are_no_stream_and_long_reads_in_order_are() {
        // What is read ahead is 32 sectors.
        let mut ahead = ReadAhead::new(AHEAD, 8);
        for place in [0, 50_000, 20_000] {
            assert!((0..8).all(|part| !ahead.follows(read(place + 32 * part, 32))), "parts of one read at {place}");
        }
        assert!(ahead.follows(read(20_000 + 32 * 8, 32)), "nine in order");
        assert!(!ahead.follows(read(90_000, 24)) && ahead.follows(read(90_024, 24)), "short ones");
    }

    #[test]
    fn a_read_elsewhere_drops_them_and_counts_what_was_read_in_vain() {
        let mut ahead = ReadAhead::new(AHEAD, 8);
        ahead.follows(read(0, 8));
        (1..4).for_each(|page| ahead.add(Lpn(page), Nanos::ZERO));
        assert!(ahead.follows(read(8, 8)) && ahead.take(Lpn(1)).is_some());
        assert!(!ahead.follows(read(80, 8)));
        assert_eq!(ahead.take(Lpn(1)), None);
        assert_eq!(ahead.counted, ReadAheadCounts { pages: 3, wasted: 2 });
    }

    /// Three streams in turn: all go on where there is room for three, and none where there are two.
    #[test]
    fn as_many_streams_as_there_is_room_for_go_on() {
        for (streams, expected) in [(1, 0), (2, 0), (3, 297), (8, 297)] {
            let mut ahead = ReadAhead::new(ReadAheadSpec { streams, ..AHEAD }, 8);
            let reads = (0..100).flat_map(|turn| [0, 10_000, 20_000].map(|first| read(first + 8 * turn, 8)));
            assert_eq!(reads.filter(|&request| ahead.follows(request)).count(), expected, "{streams}");
        }
    }

    proptest! {
        /// Whatever is read: what was read ahead is asked for, dropped in vain or still there, and a page comes from memory
        /// only if it was read ahead.
        #[test]
        fn no_page_that_was_read_ahead_is_lost(
            streams in 1..5_u32,
            reads in prop::collection::vec((0..4_u64, 0..40_u64, prop::bool::weighted(0.8)), 1..200),
        ) {
            let mut ahead = ReadAhead::new(ReadAheadSpec { streams, ..AHEAD }, 8);
            let (mut next, mut asked, mut known) = ([0, 1_000, 2_000, 3_000], 0, std::collections::BTreeSet::new());
            for (stream, place, goes_on) in reads {
                let page = if goes_on { next[stream as usize] } else { 1_000 * stream + place };
                next[stream as usize] = page + 1;
                let follows = ahead.follows(read(8 * page, 8));
                let page = Lpn(page as u32);
                let found = ahead.take(page).is_some();
                prop_assert!(!found || known.contains(&page));
                asked += u64::from(found);
                if follows {
                    for wanted in ahead.wanted(page, 10_000) {
                        ahead.add(Lpn(wanted), Nanos::ZERO);
                        known.insert(Lpn(wanted));
                    }
                }
            }
            let left = ahead.ready.iter().flatten().filter(|ready| !ready.is_used).count();
            prop_assert_eq!(ahead.counted.pages, asked + ahead.counted.wasted + left as u64);
            prop_assert!(ahead.ready.iter().all(|ready| ready.len() <= AHEAD.pages as usize + 1));
        }
    }
}
