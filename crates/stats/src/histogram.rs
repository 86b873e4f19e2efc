//! A distribution of latencies.

use block::Nanos;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use thiserror::Error;

use crate::bins::{bin_among, span_among};

/// Latencies up to this long are told apart; longer ones count as this long (the maximum stays exact).
const LONGEST: Nanos = Nanos::from_secs(3_600);
/// Three significant digits: 1,234 µs and 1,235 µs may share a bin, 1,230 µs and 1,240 µs never do.
const DIGITS: u8 = 3;
/// Bins to each power of two, as HdrHistogram has them for so many digits: the powers of two from a thousand on.
const EACH: usize = 1024;

/// A distribution of latencies to three significant digits, with exact count, mean, minimum and maximum.
///
/// It holds as many bins as the longest latency needs, so recording allocates only when a new longest
/// comes. The bins are those of HdrHistogram, by which they are stored; they are counted in here, which takes a third of the
/// steps. Two histograms add up to what one would have recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// How many latencies are in each bin, up to that of the longest.
    bins: Vec<u64>,
    count: u64,
    total: u128,
    /// The sum of squares, for the exact standard deviation.
    squares: f64,
    least: Nanos,
    most: Nanos,
}

impl Histogram {
    /// An empty distribution.
    pub fn new() -> Self {
        Self { bins: Vec::new(), count: 0, total: 0, squares: 0.0, least: Nanos::MAX, most: Nanos::ZERO }
    }

    /// Adds one latency.
    #[inline(always)]
    pub fn record(&mut self, latency: Nanos) {
        self.record_all(&[latency]);
    }

    /// Adds several latencies, with the same result as one after another.
    #[inline]
    pub fn record_all(&mut self, latencies: &[Nanos]) {
        let Self { mut total, mut squares, mut least, mut most, .. } = *self;
        for &latency in latencies {
            let bin = bin_among::<EACH>(latency.min(LONGEST).as_nanos());
            match self.bins.get_mut(bin) {
                Some(count) => *count += 1,
                None => self.grow_to(bin),
            }
            total += u128::from(latency.as_nanos());
            // With a sign, as no latency needs the last bit: processors convert that in one step.
            let nanos = latency.as_nanos() as i64 as f64;
            squares += nanos * nanos;
            (least, most) = (least.min(latency), most.max(latency));
        }
        (self.total, self.squares, self.least, self.most) = (total, squares, least, most);
        self.count += latencies.len() as u64;
    }

    /// Counts the first latency of a bin beyond all others.
    #[cold]
    fn grow_to(&mut self, bin: usize) {
        self.bins.resize(bin, 0);
        self.bins.push(1);
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        self.bins.iter_mut().zip(&other.bins).for_each(|(mine, other)| *mine += other);
        self.count += other.count;
        self.total += other.total;
        self.squares += other.squares;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The exact mean, in nanoseconds; zero when empty.
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.total as f64 / count as f64,
        }
    }

    /// The standard deviation of the recorded latencies, in nanoseconds; zero when empty.
    pub fn deviation(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => (self.squares / count as f64 - self.mean().powi(2)).max(0.0).sqrt(),
        }
    }

    /// The shortest latency, exactly; zero when empty.
    pub fn min(&self) -> Nanos {
        if self.is_empty() { Nanos::ZERO } else { self.least }
    }

    /// The longest latency, exactly; zero when empty.
    pub fn max(&self) -> Nanos {
        self.most
    }

    /// The latency that `percent` of the requests did not exceed (50.0 is the median), to three digits.
    pub fn percentile(&self, percent: f64) -> Nanos {
        let rank = ((percent / 100.0).min(1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.bins.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        let most = found.map_or(Nanos::ZERO, longest_of);
        if percent == 0.0 { self.min() } else { most.clamp(self.min(), self.max()) }
    }

    /// The distribution as (latency, count) for every bin in use, in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.bins.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| (longest_of(bin), *count))
    }

    /// The distribution as bytes, for the store.
    ///
    /// Little-endian total (16 bytes), squares, minimum, maximum (8 bytes each), then HdrHistogram's own "V2" encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.total.to_le_bytes());
        bytes.extend(self.squares.to_le_bytes());
        bytes.extend(self.least.as_nanos().to_le_bytes());
        bytes.extend(self.most.as_nanos().to_le_bytes());
        let mut bins: hdrhistogram::Histogram<u64> =
            hdrhistogram::Histogram::new(DIGITS).expect("the digits are a constant that the library accepts");
        // The longest first, so that it makes room for all of them once.
        for (latency, count) in self.bins().collect::<Vec<_>>().into_iter().rev() {
            bins.record_n(latency.as_nanos(), count).expect("the bins grow as they are needed");
        }
        V2Serializer::new().serialize(&bins, &mut bytes).expect("writing to memory does not fail");
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// If the bytes are not such an encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (head, mut rest) = bytes.split_at_checked(40).ok_or(DecodeError)?;
        let word = |at: usize| -> [u8; 8] { head[at..at + 8].try_into().expect("eight bytes were asked for") };
        let bins: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut rest).map_err(|_| DecodeError)?;
        // No latency of ours is told apart that is longer: bins for more would take memory for nothing.
        if bins.max() > 2 * LONGEST.as_nanos() {
            return Err(DecodeError);
        }
        let mut read = Self::new();
        for bin in bins.iter_recorded() {
            let (place, count) = (bin_among::<EACH>(bin.value_iterated_to()), bin.count_at_value());
            read.bins.resize(place + 1, 0);
            read.bins[place] += count;
            read.count = read.count.checked_add(count).ok_or(DecodeError)?;
        }
        read.total = u128::from_le_bytes(head[..16].try_into().expect("sixteen bytes were asked for"));
        read.squares = f64::from_le_bytes(word(16));
        read.least = Nanos::from_nanos(u64::from_le_bytes(word(24)));
        read.most = Nanos::from_nanos(u64::from_le_bytes(word(32)));
        if read.agrees() { Ok(read) } else { Err(DecodeError) }
    }

    /// Whether total, squares and extremes can be those of so many latencies.
    fn agrees(&self) -> bool {
        let (count, total) = (u128::from(self.count()), self.total);
        let [least, most] = [self.least, self.most].map(|latency| u128::from(latency.as_nanos()));
        let squares = self.squares.is_finite() && self.squares >= 0.0;
        match count {
            0 => total == 0 && self.squares == 0.0 && (self.least, self.most) == (Nanos::MAX, Nanos::ZERO),
            _ => squares && least <= most && (count * least..=count * most).contains(&total),
        }
    }
}

/// The longest latency of a bin.
fn longest_of(bin: usize) -> Nanos {
    let (least, width) = span_among::<EACH>(bin);
    Nanos::from_nanos(least + (1 << width) - 1)
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes that should hold a histogram do not.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the stored latency histogram is damaged; measure this cell again")]
pub struct DecodeError;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        micros.into_iter().for_each(|us| histogram.record(Nanos::from_micros(us)));
        histogram
    }

    #[test]
    fn mean_and_extremes_are_exact_and_percentiles_hold_three_digits() {
        let histogram = of(1..=1000);
        assert_eq!(histogram.count(), 1000);
        assert_eq!(histogram.mean(), 500_500.0);
        assert_eq!((histogram.min(), histogram.max()), (Nanos::from_micros(1), Nanos::from_micros(1000)));
        let median = histogram.percentile(50.0).as_micros_f64();
        assert!((median / 500.0 - 1.0).abs() < 0.001, "median {median} µs");
        assert!((histogram.deviation() / 288_675.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let mut parts = of(1..=400);
        parts.merge(&of(401..=1000));
        assert_eq!(parts, of(1..=1000));
    }

    #[test]
    fn bins_are_those_of_hdrhistogram() {
        let latencies = (0..40_000).map(|step| Nanos::from_nanos((1.0009_f64.powi(step) * 3.0) as u64).min(LONGEST));
        let (mut histogram, mut other) = (Histogram::new(), hdrhistogram::Histogram::<u64>::new(DIGITS).unwrap());
        for latency in latencies {
            histogram.record(latency);
            other.record(latency.as_nanos()).unwrap();
        }
        let theirs =
            other.iter_recorded().map(|bin| (Nanos::from_nanos(bin.value_iterated_to()), bin.count_at_value()));
        assert!(histogram.bins().eq(theirs));
        for percent in [0.1, 25.0, 50.0, 99.0, 99.99, 100.0] {
            let theirs = Nanos::from_nanos(other.value_at_percentile(percent)).clamp(histogram.min(), histogram.max());
            assert_eq!(histogram.percentile(percent), theirs, "{percent} %");
        }
    }

    #[test]
    fn the_store_gives_back_what_it_got() {
        for histogram in [Histogram::new(), of([7]), of(1..=1000)] {
            assert_eq!(Histogram::from_bytes(&histogram.to_bytes()).as_ref(), Ok(&histogram));
        }
        assert!(Histogram::from_bytes(b"nonsense").is_err());
        let bytes = of([3, 5]).to_bytes();
        for (place, why) in
            [(0, "a total below the least"), (23, "squares that are no number"), (31, "a least above the most")]
        {
            let mut changed = bytes.clone();
            changed[place] = if place == 0 { 0 } else { 0xff };
            changed[if place == 0 { 1 } else { place - 1 }] = if place == 0 { 0 } else { 0xff };
            assert!(Histogram::from_bytes(&changed).is_err(), "{why}");
        }
    }

    #[test]
    fn an_hour_and_more_saturate_but_the_maximum_is_kept() {
        let mut histogram = Histogram::new();
        histogram.record(Nanos::from_secs(10_000));
        assert_eq!(histogram.max(), Nanos::from_secs(10_000));
    }
}
