//! Quantities with their units in a drive's file.

use std::fmt::Display;

use block::{
    Bytes, Endurance, Energy, Nanos, ParseError, Power, Rate, Temperature, parse_duration, parse_endurance,
    parse_energy, parse_heat_capacity, parse_power, parse_rate, parse_rated_bytes, parse_share, parse_temperature,
    parse_thermal_resistance,
};
use serde::{Deserialize, Deserializer};

/// A quantity as the file has it. A number that nobody has put in quotation marks lacks its unit, which is told of as such.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a quantity with its unit in quotation marks, such as \"50us\" or \"4KiB\"")]
enum Quantity {
    Text(String),
    Whole(i64),
    Real(f64),
}

impl Quantity {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
        }
    }
}

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    parse(&Quantity::deserialize(deserializer)?.text()).map_err(serde::de::Error::custom)
}

/// Millionths as a file has them: `12.5%`.
pub fn percent(millionths: u64) -> String {
    format!("{}%", millionths as f64 / 10_000.0)
}

/// What may be left out, in an error.
pub fn given<T: Display>(quantity: Option<T>) -> String {
    quantity.map_or_else(|| "not given".to_owned(), |quantity| quantity.to_string())
}

/// An amount of data, in the units of data sheets.
pub fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    read(deserializer, parse_rated_bytes)
}

/// A length of time. Without a unit it would be in seconds, as on the command line, where most are microseconds.
pub fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    let text = Quantity::deserialize(deserializer)?.text();
    let found = text.trim();
    if found.parse::<f64>().is_ok_and(|number| number > 0.0) && found.starts_with(|first: char| first.is_ascii_digit())
    {
        let words = match found.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            true => format!("`{found}` has no unit; give the time with one, such as `{found}us`"),
            false => format!("`{found}` has an exponent and no unit; give all digits and a unit, such as `50us`"),
        };
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
    let texts = Vec::<Quantity>::deserialize(deserializer)?;
    texts.into_iter().map(|text| parse_share(&text.text()).map_err(serde::de::Error::custom)).collect()
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
