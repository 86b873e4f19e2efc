//! The latencies of a short stretch of time, in few bytes.

use std::borrow::Cow;
use std::fmt;

use block::{Nanos, varint};

/// Bins to each power of two: a bin is at most a 32nd, 3.1 %, of its latencies wide.
const EACH: usize = 32;
/// Each power of two that a latency can have, those below 64 ns in two that tell every nanosecond.
const OCTAVES: usize = 60;

/// A distribution of latencies whose percentiles hold within 1.6 %.
///
/// A [`Histogram`](crate::Histogram) takes up to a megabyte; there is one of these for every second of every worker.
/// While latencies are recorded they are counted in 15 KiB, of which only the bins in use are touched. Closed, and in
/// every copy, they take two or three bytes a bin in use. Both are the same to who reads or compares them. Several add
/// up exactly to what one would have recorded, which percentiles do not.
#[derive(Default)]
pub struct Bins(Kept);

enum Kept {
    /// For each bin in use, in ascending order: its distance from the one before, then its count; both varints.
    Packed(Box<[u8]>),
    Open(Box<OpenBins>),
}

/// Bins that are recorded into.
struct OpenBins {
    /// A bit for each power of two that has counts.
    octaves: u64,
    counts: [u64; OCTAVES * EACH],
}

impl Bins {
    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.record_all(&[latency]);
    }

    /// Adds several.
    #[inline]
    pub fn record_all(&mut self, latencies: &[Nanos]) {
        let open = match &mut self.0 {
            Kept::Open(open) => open,
            Kept::Packed(_) => self.open(),
        };
        latencies.iter().for_each(|latency| open.add(bin_of(latency.as_nanos()), 1));
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        match &mut self.0 {
            Kept::Open(open) => pairs(&other.packed()).for_each(|(bin, count)| open.add(bin, count)),
            Kept::Packed(mine) => *mine = added(mine, &other.packed()),
        }
    }

    /// Packs what was recorded; gives empty bins that take over the memory in which it was counted.
    #[must_use]
    pub fn close(&mut self) -> Self {
        let packed = Kept::Packed(self.packed().into());
        match std::mem::replace(&mut self.0, packed) {
            Kept::Open(mut open) => {
                open.clear();
                Self(Kept::Open(open))
            }
            Kept::Packed(_) => Self::default(),
        }
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        pairs(&self.packed()).map(|(_, count)| count).sum()
    }

    /// The latency that `percent` of the requests did not exceed (50.0 is the median), within 1.6 %; none when empty.
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let packed = self.packed();
        let count: u64 = pairs(&packed).map(|(_, count)| count).sum();
        // Rounding may put what is a whole number a trifle above it.
        let rank = ((percent / 100.0 * count as f64 - 1e-6).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let found = pairs(&packed).find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(bin, _)| Nanos::from_nanos(middle_of(bin)))
    }

    /// The latency in the middle of every bin in use, ascending, with how many fell into it.
    pub fn bins(&self) -> Vec<(Nanos, u64)> {
        pairs(&self.packed()).map(|(bin, count)| (Nanos::from_nanos(middle_of(bin)), count)).collect()
    }

    /// The bins in use as bytes, for the store.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        self.packed()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; none if it did not write these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut rest, mut bin, mut all, mut is_first) = (bytes, 0_u64, 0_u64, true);
        while !rest.is_empty() {
            let (step, count) = (varint::take(&mut rest)?, varint::take(&mut rest)?);
            bin = bin.checked_add(step).filter(|&bin| bin < (OCTAVES * EACH) as u64)?;
            all = all.checked_add(count)?;
            if count == 0 || (step == 0 && !is_first) {
                return None;
            }
            is_first = false;
        }
        Some(Self(Kept::Packed(bytes.into())))
    }

    fn packed(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Kept::Packed(bytes) => Cow::Borrowed(bytes),
            Kept::Open(open) => Cow::Owned(packed(open.pairs())),
        }
    }

    /// What is packed, made ready to be recorded into.
    #[cold]
    fn open(&mut self) -> &mut OpenBins {
        let mut open = Box::new(OpenBins { octaves: 0, counts: [0; OCTAVES * EACH] });
        pairs(&self.packed()).for_each(|(bin, count)| open.add(bin, count));
        self.0 = Kept::Open(open);
        let Kept::Open(open) = &mut self.0 else { unreachable!("they have just been opened") };
        open
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self::Packed(Box::default())
    }
}

impl Clone for Bins {
    /// A copy is packed.
    fn clone(&self) -> Self {
        Self(Kept::Packed(self.packed().into()))
    }
}

impl PartialEq for Bins {
    fn eq(&self, other: &Self) -> bool {
        self.packed() == other.packed()
    }
}

impl Eq for Bins {}

impl fmt::Debug for Bins {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_map().entries(pairs(&self.packed()).map(|(bin, count)| (middle_of(bin), count))).finish()
    }
}

impl OpenBins {
    #[inline]
    fn add(&mut self, bin: usize, count: u64) {
        self.octaves |= 1 << (bin / EACH);
        self.counts[bin] += count;
    }

    fn clear(&mut self) {
        self.octaves().for_each(|octave| self.counts[octave * EACH..][..EACH].fill(0));
        self.octaves = 0;
    }

    fn octaves(&self) -> impl Iterator<Item = usize> + use<> {
        let octaves = self.octaves;
        (0..OCTAVES).filter(move |octave| octaves >> octave & 1 == 1)
    }

    /// Each bin in use with its count.
    fn pairs(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let bins = self.octaves().flat_map(|octave| octave * EACH..(octave + 1) * EACH);
        bins.map(|bin| (bin, self.counts[bin])).filter(|(_, count)| *count > 0)
    }
}

/// The bin of a latency, of `EACH` bins to a power of two.
#[inline]
pub(crate) fn bin_among<const EACH: usize>(ns: u64) -> usize {
    let shift = (ns | 1).ilog2().saturating_sub(EACH.ilog2());
    shift as usize * EACH + (ns >> shift) as usize
}

/// The least latency of such a bin, and its width as a power of two.
pub(crate) fn span_among<const EACH: usize>(bin: usize) -> (u64, u32) {
    let shift = (bin / EACH).saturating_sub(1);
    (((bin - shift * EACH) as u64) << shift, shift as u32)
}

#[inline]
fn bin_of(ns: u64) -> usize {
    bin_among::<EACH>(ns)
}

/// The latency in the middle of a bin.
fn middle_of(bin: usize) -> u64 {
    let (least, width) = span_among::<EACH>(bin);
    least + (1 << width >> 1)
}

/// Bins in ascending order, each with its count, as bytes.
fn packed(pairs: impl Iterator<Item = (usize, u64)>) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for (bin, count) in pairs {
        varint::push(&mut bytes, (bin - last) as u64);
        varint::push(&mut bytes, count);
        last = bin;
    }
    bytes
}

/// The bins that [`packed`] wrote.
fn pairs(packed: &[u8]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let (mut rest, mut bin) = (packed, 0);
    std::iter::from_fn(move || {
        bin += varint::take(&mut rest)? as usize;
        Some((bin, varint::take(&mut rest)?))
    })
}

/// Both together.
fn added(mine: &[u8], theirs: &[u8]) -> Box<[u8]> {
    let (mut mine, mut theirs) = (pairs(mine).peekable(), pairs(theirs).peekable());
    let both = std::iter::from_fn(|| {
        let bin = match (mine.peek(), theirs.peek()) {
            (Some(one), Some(two)) => one.0.min(two.0),
            (one, two) => one.or(two)?.0,
        };
        let here = |pair: &(usize, u64)| pair.0 == bin;
        let counts = [mine.next_if(here), theirs.next_if(here)].into_iter().flatten().map(|(_, count)| count);
        Some((bin, counts.sum()))
    });
    packed(both).into()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::Histogram;

    fn of(all: &[Nanos]) -> Bins {
        let mut bins = Bins::default();
        all.iter().for_each(|&latency| bins.record(latency));
        bins
    }

    /// Latencies from 32 ns to 4 s, as many in each power of two.
    fn latencies(seed: u64, count: usize) -> Vec<Nanos> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = || Nanos::from_nanos(2_f64.powf(random.random_range(5.0..32.0)) as u64);
        (0..count).map(|_| draw()).collect()
    }

    #[test]
    fn bins_follow_one_another_and_hold_their_middle() {
        for bin in 0..OCTAVES * EACH - 1 {
            assert_eq!(bin_of(middle_of(bin)), bin);
            assert!(middle_of(bin) < middle_of(bin + 1), "{bin}");
        }
        assert_eq!((bin_of(0), bin_of(63), bin_of(64), bin_of(66)), (0, 63, 64, 65));
        assert_eq!(bin_of(u64::MAX), OCTAVES * EACH - 1);
    }

    #[test]
    fn percentiles_hold_within_the_stated_resolution() {
        for seed in 0..8 {
            let all = latencies(seed, 10_000);
            let (bins, mut exact, mut digits) = (of(&all), all.clone(), Histogram::new());
            exact.sort_unstable();
            all.iter().for_each(|&latency| digits.record(latency));
            for percent in [0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
                let found = bins.percentile(percent).unwrap().as_nanos() as f64;
                let rank = ((percent * 100.0_f64).round() as usize).max(1);
                let truth = exact[rank - 1].as_nanos() as f64;
                assert!((found / truth - 1.0).abs() <= 0.016, "seed = {seed}, {percent} %: {found}, {truth}");
                let other = digits.percentile(percent).as_nanos() as f64;
                assert!((found / other - 1.0).abs() <= 0.018, "seed = {seed}, {percent} %: {found}, {other}");
            }
        }
        assert_eq!(Bins::default().percentile(50.0), None);
    }

    #[test]
    fn every_latency_is_in_the_bin_nearest_to_it() {
        let all = latencies(5, 1_000);
        let bins = of(&all).bins();
        assert_eq!(bins.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
        assert!(bins.is_sorted_by(|one, other| one.0 < other.0));
        for latency in all {
            let near = |(middle, _): &(Nanos, u64)| (middle.as_nanos() as f64 / latency.as_nanos() as f64 - 1.0).abs();
            assert!(bins.iter().map(near).fold(1.0, f64::min) <= 0.016, "{latency}");
        }
    }

    #[test]
    fn parts_add_up_to_the_whole_however_they_are_kept() {
        let all = latencies(1, 3_000);
        let (first, second) = all.split_at(1_000);
        let whole = of(&all);
        let (mut open, mut packed) = (of(first), of(first).clone());
        open.merge(&of(second));
        packed.merge(&of(second));
        assert_eq!((&open, &packed), (&whole, &whole));
        packed.record(Nanos::from_secs(7));
        assert_ne!(packed, whole);
        assert_eq!(
            (packed.count(), packed.percentile(100.0).is_some_and(|most| most > Nanos::from_secs(6))),
            (3_001, true)
        );
    }

    #[test]
    fn what_is_closed_is_kept_and_what_follows_begins_anew() {
        let (first, second) = (latencies(1, 500), latencies(2, 500));
        let mut closed = of(&first);
        let mut next = closed.close();
        assert_eq!((&closed, &next), (&of(&first), &Bins::default()));
        second.iter().for_each(|&latency| next.record(latency));
        assert_eq!(next, of(&second), "nothing of the first is left in the memory that it was counted in");
    }

    #[test]
    fn the_store_gives_back_what_it_got_and_nothing_else() {
        for bins in [Bins::default(), of(&[Nanos::ZERO, Nanos::MAX]), of(&latencies(3, 100))] {
            assert_eq!(Bins::from_bytes(&bins.to_bytes()), Some(bins));
        }
        for (bytes, why) in [
            (&[1][..], "a bin without a count"),
            (&[1, 0], "a bin that is not in use"),
            (&[1, 5, 0, 5], "a bin twice"),
            (&[0x80, 0x0f, 1], "a bin beyond the last"),
        ] {
            assert_eq!(Bins::from_bytes(bytes), None, "{why}");
        }
    }
}
