//! Quantities with their units in a drive's file.

use block::{
    Bytes, Endurance, Energy, Nanos, ParseError, Power, Rate, Temperature, parse_duration, parse_endurance,
    parse_energy, parse_heat_capacity, parse_power, parse_rate, parse_rated_bytes, parse_share, parse_temperature,
    parse_thermal_resistance,
};
use serde::{Deserialize, Deserializer};

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// An amount of data, in the units of data sheets.
pub fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    read(deserializer, parse_rated_bytes)
}

/// A length of time. Without a unit it would be in seconds, as on the command line, where most are microseconds.
pub fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().parse::<f64>().is_ok_and(|number| number > 0.0) {
        let found = text.trim();
        let words = format!("`{found}` has no unit; give the time with one, such as `{found}us`");
        return Err(serde::de::Error::custom(words));
    }
    parse_duration(&text).map_err(serde::de::Error::custom)
}

/// Data a second.
pub fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    read(deserializer, parse_rate)
}

/// A share, in millionths.
pub fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    read(deserializer, parse_share)
}

/// Shares, in millionths.
pub fn shares<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| parse_share(text).map_err(serde::de::Error::custom)).collect()
}

/// A share that may be left out.
pub fn some_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    share(deserializer).map(Some)
}

/// A rate that may be left out.
pub fn some_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rate>, D::Error> {
    rate(deserializer).map(Some)
}

/// A length of time that may be left out.
pub fn some_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Nanos>, D::Error> {
    duration(deserializer).map(Some)
}

/// An amount of data that may be left out.
pub fn some_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    bytes(deserializer).map(Some)
}

/// How much may be written in a drive's life, where that is known.
pub fn some_endurance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Endurance>, D::Error> {
    read(deserializer, parse_endurance).map(Some)
}

pub fn power<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Power, D::Error> {
    read(deserializer, parse_power)
}

/// A power that may be left out.
pub fn some_power<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Power>, D::Error> {
    power(deserializer).map(Some)
}

pub fn energy<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Energy, D::Error> {
    read(deserializer, parse_energy)
}

pub fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Temperature, D::Error> {
    read(deserializer, parse_temperature)
}

/// A thermal resistance, in thousandths of a kelvin a watt.
pub fn thermal_resistance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    read(deserializer, parse_thermal_resistance)
}

/// A heat capacity, in thousandths of a joule a kelvin.
pub fn heat_capacity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    read(deserializer, parse_heat_capacity)
}
