//! Quantities with their units in a drive's file.

use std::fmt::Display;

use block::{
    Nanos, parse_duration, parse_endurance, parse_energy, parse_heat_capacity, parse_power, parse_rate,
    parse_rated_bytes, parse_share, parse_temperature, parse_thermal_resistance,
};
use serde::{Deserialize, Deserializer};

use super::fields::{Field, Kind};

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

/// Millionths as a file has them: `12.5%`.
pub fn percent(millionths: u64) -> String {
    format!("{}%", millionths as f64 / 10_000.0)
}

/// What may be left out, in an error.
pub fn given<T: Display>(quantity: Option<T>) -> String {
    quantity.map_or_else(|| "not given".to_owned(), |quantity| quantity.to_string())
}

/// Declares quantities, each with what a table holds of it, how its text is read, and what it is.
macro_rules! quantities {
    ($($(#[$about:meta])* $name:ident: $value:ty, $parse:expr, $kind:ident;)*) => {
        $($(#[$about])*
        pub struct $name($value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Quantity::deserialize(deserializer)?.text();
                $parse(&text).map(Self).map_err(serde::de::Error::custom)
            }
        }

        impl Field for $name {
            type Value = $value;

            fn value(self) -> $value {
                self.0
            }

            fn kind() -> Kind {
                Kind::$kind
            }
        })*
    };
}

quantities! {
    /// An amount of data, in the units of data sheets.
    Bytes: block::Bytes, parse_rated_bytes, Bytes;
    /// A length of time. Without a unit it would be in seconds, as on the command line, where most are microseconds.
    #[derive(Default)]
    Duration: Nanos, parse_time, Time;
    /// Data a second.
    Rate: block::Rate, parse_rate, Rate;
    /// A share, in millionths.
    #[derive(Default)]
    Share: u64, parse_share, Share;
    #[derive(Default)]
    Power: block::Power, parse_power, Power;
    #[derive(Default)]
    Energy: block::Energy, parse_energy, Energy;
    Temperature: block::Temperature, parse_temperature, Temperature;
    /// A thermal resistance, in thousandths of a kelvin a watt.
    ThermalResistance: u64, parse_thermal_resistance, ThermalResistance;
    /// A heat capacity, in thousandths of a joule a kelvin.
    HeatCapacity: u64, parse_heat_capacity, HeatCapacity;
    /// How much may be written in a drive's life.
    Endurance: block::Endurance, parse_endurance, Endurance;
}

/// Shares, in millionths.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct Shares(Vec<Share>);

impl Field for Shares {
    type Value = Vec<u64>;

    fn value(self) -> Vec<u64> {
        self.0.into_iter().map(Share::value).collect()
    }

    fn kind() -> Kind {
        Kind::Shares
    }
}

/// A field that is no table's, as a table would hold it.
pub fn held<'de, F: Field, D: Deserializer<'de>>(deserializer: D) -> Result<F::Value, D::Error> {
    F::deserialize(deserializer).map(F::value)
}

fn parse_time(text: &str) -> Result<Nanos, String> {
    let found = text.trim();
    if found.parse::<f64>().is_ok_and(|number| number > 0.0) && found.starts_with(|first: char| first.is_ascii_digit())
    {
        return Err(match found.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            true => format!("`{found}` has no unit; give the time with one, such as `{found}us`"),
            false => format!("`{found}` has an exponent and no unit; give all digits and a unit, such as `50us`"),
        });
    }
    parse_duration(text).map_err(|error| error.to_string())
}
