//! What the disk remembers of what it has read.

use block::Lba;
use serde::{Deserialize, Serialize};

/// The read cache: segments, each holding one stretch of sectors; the one used longest ago gives way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Segments {
    size: u64,
    segments: Vec<Segment>,
    /// Counts uses, so that the one longest ago is known.
    uses: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Segment {
    first: u64,
    end: u64,
    used: u64,
    /// How many reads have gone on in it.
    run: u32,
}

impl Segments {
    /// Empty segments of so many sectors each.
    pub fn new(count: usize, size: u64) -> Self {
        Self { size, segments: vec![Segment::default(); count], uses: 0 }
    }

    /// Up to where the data from `first` on is held; `first` itself if it is not.
    #[inline]
    pub fn held(&self, first: Lba) -> Lba {
        let first = first.get();
        let holding = self.segments.iter().filter(|segment| segment.first <= first && first < segment.end);
        Lba::new(holding.map(|segment| segment.end).max().unwrap_or(first))
    }

    /// The segment that data from `first` on goes into: one that holds it already or up to it, else the one used
    /// longest ago, emptied.
    pub fn claim(&mut self, first: Lba) -> usize {
        let first = first.get();
        self.uses += 1;
        let (mut claimed, mut least) = (0, u64::MAX);
        for (index, segment) in self.segments.iter().enumerate() {
            if segment.first <= first && first <= segment.end && segment.first < segment.end {
                let segment = &mut self.segments[index];
                (segment.used, segment.run) = (self.uses, segment.run.saturating_add(1));
                return index;
            }
            if segment.used < least {
                (claimed, least) = (index, segment.used);
            }
        }
        self.segments[claimed] = Segment { first, end: first, used: self.uses, run: 1 };
        claimed
    }

    /// Notes that a segment now reaches up to `end`; what no longer fits is lost at its beginning.
    pub fn fill(&mut self, index: usize, end: Lba) {
        let segment = &mut self.segments[index];
        segment.end = segment.end.max(end.get());
        segment.first = segment.first.max(segment.end.saturating_sub(self.size));
    }

    /// Notes that a segment now has what lies from `first` to `end`, unless it was taken for something else meanwhile.
    pub fn fill_from(&mut self, index: usize, first: Lba, end: Lba) {
        let segment = self.segments[index];
        if segment.used > 0 && (segment.first..=segment.end).contains(&first.get()) {
            self.fill(index, end);
        }
    }

    /// How many reads have gone on in a segment, with the first.
    pub fn run(&self, index: usize) -> u32 {
        self.segments[index].run
    }

    /// How many sectors a segment holds.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Forgets these sectors, which are written anew. A segment is one stretch: it keeps what lies behind them, which a stream
    /// reads next, or else what lies before.
    pub fn forget(&mut self, first: Lba, end: Lba) {
        for segment in &mut self.segments {
            if segment.first >= end.get() || first.get() >= segment.end {
                continue;
            }
            if end.get() < segment.end {
                segment.first = end.get();
            } else if segment.first < first.get() {
                segment.end = first.get();
            } else {
                *segment = Segment::default();
            }
        }
    }

    /// Whether a segment holds data up to there.
    pub fn reaches(&self, index: usize, end: Lba) -> bool {
        self.segments[index].end == end.get()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.segments.fill(Segment::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(segments: &mut Segments, first: u64, end: u64) {
        let index = segments.claim(Lba::new(first));
        segments.fill(index, Lba::new(end));
    }

    fn held(segments: &Segments, first: u64) -> u64 {
        segments.held(Lba::new(first)).get() - first
    }

    #[test]
    fn a_stream_stays_in_its_segment_and_loses_its_beginning() {
        let mut segments = Segments::new(2, 100);
        read(&mut segments, 1_000, 1_080);
        read(&mut segments, 1_080, 1_150);
        assert_eq!((held(&segments, 1_049), held(&segments, 1_050), held(&segments, 1_150)), (0, 100, 0));
        read(&mut segments, 5_000, 5_010);
        assert_eq!((held(&segments, 1_050), held(&segments, 5_000)), (100, 10), "each has its own");
    }

    #[test]
    fn the_segment_used_longest_ago_gives_way() {
        let mut segments = Segments::new(2, 100);
        read(&mut segments, 0, 10);
        read(&mut segments, 1_000, 1_010);
        read(&mut segments, 10, 20);
        read(&mut segments, 2_000, 2_010);
        assert_eq!((held(&segments, 0), held(&segments, 1_000), held(&segments, 2_000)), (20, 0, 10));
    }

    #[test]
    fn what_is_written_is_forgotten() {
        let mut segments = Segments::new(2, 100);
        read(&mut segments, 0, 10);
        segments.forget(Lba::new(10), Lba::new(20));
        assert_eq!(held(&segments, 0), 10);
        segments.forget(Lba::new(9), Lba::new(20));
        assert_eq!((held(&segments, 0), held(&segments, 9)), (9, 0), "what lies before is left");
        segments.forget(Lba::new(2), Lba::new(4));
        assert_eq!([0, 3, 4].map(|first| held(&segments, first)), [0, 0, 5], "or what lies behind");
        assert!(segments.reaches(0, Lba::new(9)));
        segments.forget(Lba::new(0), Lba::new(20));
        assert!((0..10).all(|first| held(&segments, first) == 0));
        assert!(!segments.reaches(0, Lba::new(9)));
    }
}
