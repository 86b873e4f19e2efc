//! A series as bytes.
//!
//! A version byte, then each number of each tick as a LEB128 varint: a second of an idle drive takes
//! seven bytes, of a busy one a hundred or two, most of them for how its latencies lie.

use block::{Bytes, Nanos, varint};
use measurement::{TICKS_MAX, Tick};
use stats::Bins;

/// Ticks end with the length of their bins, then these.
const VERSION: u8 = 2;
/// Ticks had no bins, so that no percentile of theirs is known.
const WITHOUT_BINS: u8 = 1;

/// The most requests or data that all ticks can add up to, of which a few can be added up in turn.
const SUM_MAX: u64 = 1 << 61;

/// The bytes of a series.
pub fn encode(series: &[Tick]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for tick in series {
        let latencies = tick.latencies.to_bytes();
        let numbers = [
            tick.reads,
            tick.writes,
            tick.trims,
            tick.bytes.get(),
            tick.latency_total.as_nanos(),
            tick.latency_max.as_nanos(),
            latencies.len() as u64,
        ];
        numbers.into_iter().for_each(|number| varint::push(&mut bytes, number));
        bytes.extend_from_slice(&latencies);
    }
    bytes
}

/// The series that [`encode`] wrote, in this version or an earlier one; none if it did not write these bytes.
pub fn decode(bytes: &[u8]) -> Option<Vec<Tick>> {
    let (&version, mut rest) = bytes.split_first()?;
    if !matches!(version, WITHOUT_BINS | VERSION) {
        return None;
    }
    let (mut series, mut sums) = (Vec::new(), [0_u64; 4]);
    while !rest.is_empty() {
        if series.len() == TICKS_MAX {
            return None;
        }
        let mut number = || varint::take(&mut rest);
        let mut tick = Tick {
            reads: number()?,
            writes: number()?,
            trims: number()?,
            bytes: Bytes::new(number()?),
            latency_total: Nanos::from_nanos(number()?),
            latency_max: Nanos::from_nanos(number()?),
            latencies: Bins::default(),
        };
        let summed = [tick.reads, tick.writes, tick.trims, tick.bytes.get()];
        for (sum, number) in sums.iter_mut().zip(summed) {
            *sum = sum.checked_add(number).filter(|sum| *sum <= SUM_MAX)?;
        }
        if version == VERSION {
            let length = usize::try_from(number()?).ok()?;
            let (bins, tail) = rest.split_at_checked(length)?;
            (tick.latencies, rest) = (Bins::from_bytes(bins)?, tail);
        }
        series.push(tick);
    }
    Some(series)
}

#[cfg(test)]
mod tests {
    use block::Op;

    use super::*;

    /// A tick of three requests.
    fn busy() -> Tick {
        let mut tick = Tick::default();
        for us in [80, 90, 4_000] {
            tick.record(Op::Read, Bytes::from_kib(4), Nanos::from_micros(us));
        }
        tick
    }

    #[test]
    fn a_series_comes_back_as_it_was() {
        let unknown = Tick { reads: 300, bytes: Bytes::from_gib(5), latency_max: Nanos::MAX, ..Tick::default() };
        let long = Tick { reads: 2_000_000, latency_total: Nanos::from_nanos(u64::MAX / 2), ..Tick::default() };
        for series in [vec![], vec![Tick::default(); 3], vec![busy(), Tick::default(), unknown], vec![long; 3]] {
            assert_eq!(decode(&encode(&series)), Some(series));
        }
    }

    /// Bytes that the first version wrote.
    #[test]
    fn an_old_series_is_read_and_its_percentiles_are_not_known() {
        let old = [1, 2, 1, 0, 0x80, 0x60, 0xac, 0x02, 0xc8, 0x01, 0, 0, 0, 0, 0, 0];
        let series = decode(&old).unwrap();
        assert_eq!((series.len(), series[0].reads, series[0].writes, series[0].trims), (2, 2, 1, 0));
        assert_eq!((series[0].bytes, series[0].latency_total), (Bytes::from_kib(12), Nanos::from_nanos(300)));
        assert_eq!((series[0].latency_max, series[0].percentile(50.0)), (Nanos::from_nanos(200), None));
        let mut sum = series[0].clone();
        sum.merge(&busy());
        assert_eq!((sum.requests(), sum.percentile(50.0)), (6, None), "half of the requests say nothing of all");
        assert_eq!(decode(&encode(&series)), Some(series));
    }

    #[test]
    fn damage_is_noticed() {
        let whole = encode(&[busy()]);
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[9]), None, "another version");
        for length in 2..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "cut at {length}");
        }
        assert_eq!(decode(&[[VERSION].as_slice(), &[0x80; 12]].concat()), None, "an endless number");
        let far = [[VERSION].as_slice(), &[0; 6], &[0xff; 9], &[1]].concat();
        assert_eq!(decode(&far), None, "bins beyond the end");
    }
}
