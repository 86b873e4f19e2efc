//! The vocabulary that every other crate shares: time, bytes, rates, requests, seeds.
//!
//! Nothing here does anything: these are the words in which a workload asks and a drive answers,
//! and the one place where such words are read from text and written for people.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bytes;
mod endurance;
mod figure;
mod nanos;
mod parse;
mod power;
mod price;
mod rate;
mod request;
mod seed;
mod status;
mod suggest;
pub mod varint;
mod zone;

pub use bytes::{Bytes, Lba, SECTOR};
pub use endurance::Endurance;
pub use figure::separated;
pub use nanos::Nanos;
pub use parse::{
    ParseError, parse_bytes, parse_count, parse_duration, parse_endurance, parse_energy, parse_heat_capacity,
    parse_percent, parse_power, parse_rate, parse_rated_bytes, parse_share, parse_temperature,
    parse_thermal_resistance, unknown_unit,
};
pub use power::{Energy, Power, Temperature};
pub use price::{Price, PriceError};
pub use rate::Rate;
pub use request::{Completion, Op, Request, Tag};
pub use seed::{GOLDEN, Seed};
pub use status::Status;
pub use suggest::{field_suggestion, nearest, suggestion};
pub use zone::{Zone, ZoneAction, ZoneLimits, ZoneState};
