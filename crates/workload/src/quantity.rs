//! Amounts of data and times as fields have them.

use block::{Bytes, Nanos};

/// An amount of data without rounding: `512`, `4k`, `1m`.
pub fn amount(bytes: Bytes) -> String {
    let units = [("g", Bytes::from_gib(1)), ("m", Bytes::from_mib(1)), ("k", Bytes::from_kib(1))];
    let fitting = units.into_iter().find(|(_, unit)| bytes > Bytes::ZERO && bytes.is_multiple_of(*unit));
    fitting.map_or_else(|| bytes.get().to_string(), |(suffix, unit)| format!("{}{suffix}", bytes.div(unit)))
}

/// A time without rounding: `2s`, `500ms`, `7us`, `30ns`.
pub fn duration(time: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (unit, size) =
        units.into_iter().find(|(_, size)| time.as_nanos().is_multiple_of(*size)).expect("ns divide all");
    format!("{}{unit}", time.as_nanos() / size)
}
