//! Quantities with their units in a drive's file.

use block::{Bytes, Nanos, ParseError, Power, Rate, parse_bytes, parse_duration, parse_power, parse_rate, parse_share};
use serde::{Deserialize, Deserializer};

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// An amount of data.
pub fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    read(deserializer, parse_bytes)
}

/// A length of time.
pub fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    read(deserializer, parse_duration)
}

/// Data a second.
pub fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    read(deserializer, parse_rate)
}

/// A share, in millionths.
pub fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    read(deserializer, parse_share)
}

/// A rate that may be left out.
pub fn some_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rate>, D::Error> {
    rate(deserializer).map(Some)
}

/// A length of time that may be left out.
pub fn some_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Nanos>, D::Error> {
    duration(deserializer).map(Some)
}

/// A power.
pub fn power<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Power, D::Error> {
    read(deserializer, parse_power)
}
