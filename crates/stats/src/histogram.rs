//! A distribution of latencies.

use block::Nanos;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use thiserror::Error;

/// Latencies up to this long are told apart; longer ones count as this long (the maximum stays exact).
const LONGEST: Nanos = Nanos::from_secs(3_600);
/// Three significant digits: 1,234 µs and 1,235 µs may share a bin, 1,230 µs and 1,240 µs never do.
const DIGITS: u8 = 3;

/// A distribution of latencies to three significant digits, with exact count, mean, minimum and maximum.
///
/// It holds as many bins as the longest latency needs, so recording allocates only when a new longest
/// comes, a score of times at the most. Two histograms add up to what one would have recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bins: hdrhistogram::Histogram<u64>,
    total: u128,
    /// The sum of squares, for the exact standard deviation.
    squares: f64,
    least: Nanos,
    most: Nanos,
}

impl Histogram {
    /// An empty distribution.
    pub fn new() -> Self {
        let bins = hdrhistogram::Histogram::new(DIGITS).expect("the digits are a constant that the library accepts");
        Self { bins, total: 0, squares: 0.0, least: Nanos::MAX, most: Nanos::ZERO }
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
            self.bins.record(latency.min(LONGEST).as_nanos()).expect("the bins grow as they are needed");
            total += u128::from(latency.as_nanos());
            // With a sign, as no latency needs the last bit: processors convert that in one step.
            let nanos = latency.as_nanos() as i64 as f64;
            squares += nanos * nanos;
            (least, most) = (least.min(latency), most.max(latency));
        }
        (self.total, self.squares, self.least, self.most) = (total, squares, least, most);
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        self.bins.add(&other.bins).expect("the bins grow as they are needed");
        self.total += other.total;
        self.squares += other.squares;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.bins.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
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
        let value = Nanos::from_nanos(self.bins.value_at_percentile(percent));
        value.clamp(self.min(), self.max())
    }

    /// The distribution as (latency, count) for every bin in use, in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.bins.iter_recorded().map(|bin| (Nanos::from_nanos(bin.value_iterated_to()), bin.count_at_value()))
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
        V2Serializer::new().serialize(&self.bins, &mut bytes).expect("writing to memory does not fail");
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
        read.bins.add(bins).map_err(|_| DecodeError)?;
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
