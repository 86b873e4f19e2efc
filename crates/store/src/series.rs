//! A series as bytes.
//!
//! A version byte, then each number of each tick as a LEB128 varint: a second of an idle drive takes
//! six bytes, of a busy one about twenty.

use block::{Bytes, Nanos};
use engine::Tick;

const VERSION: u8 = 1;

/// The bytes of a series.
pub fn encode(series: &[Tick]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for tick in series {
        let numbers = [
            tick.reads,
            tick.writes,
            tick.trims,
            tick.bytes.get(),
            tick.latency_total.as_nanos(),
            tick.latency_max.as_nanos(),
        ];
        numbers.into_iter().for_each(|number| push(&mut bytes, number));
    }
    bytes
}

/// The series that [`encode`] wrote; none if it did not write these bytes.
pub fn decode(bytes: &[u8]) -> Option<Vec<Tick>> {
    let (&version, mut rest) = bytes.split_first()?;
    let mut series = Vec::new();
    while version == VERSION && !rest.is_empty() {
        let mut number = || take(&mut rest);
        series.push(Tick {
            reads: number()?,
            writes: number()?,
            trims: number()?,
            bytes: Bytes::new(number()?),
            latency_total: Nanos::from_nanos(number()?),
            latency_max: Nanos::from_nanos(number()?),
        });
    }
    (version == VERSION).then_some(series)
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_comes_back_as_it_was() {
        let tick = Tick { reads: 300, bytes: Bytes::from_gib(5), latency_max: Nanos::MAX, ..Tick::default() };
        for series in [vec![], vec![Tick::default(); 3], vec![tick, Tick::default(), tick]] {
            assert_eq!(decode(&encode(&series)), Some(series));
        }
    }

    #[test]
    fn damage_is_noticed() {
        let whole = encode(&[Tick { reads: 300, ..Tick::default() }]);
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[9]), None, "another version");
        for length in 2..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "cut at {length}");
        }
        assert_eq!(
            decode(&[VERSION; 1].iter().copied().chain([0x80; 12]).collect::<Vec<_>>()),
            None,
            "an endless number"
        );
    }
}
