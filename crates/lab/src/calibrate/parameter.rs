//! Parameters of a drive with the bounds within which they are searched.

use std::fmt;

use block::{Bytes, Nanos, Rate, parse_bytes, parse_duration, parse_rate, parse_share};
use thiserror::Error;
use toml::{Table, Value};

/// A number in a drive's file that may be fitted, with its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its table and field: `nand.read`.
    pub name: String,
    /// The least that it may be, in the unit's whole steps.
    pub least: u64,
    pub most: u64,
    /// What it counts.
    pub unit: Unit,
}

/// What a parameter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    Rate,
    /// Millionths of a whole, written in percent.
    Share,
    /// Things: dies, channels.
    Count,
}

/// Why a text is no parameter with bounds.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{found}` is not a parameter with bounds: {why}; write `nand.read=20us..80us`")]
pub struct ParameterError {
    /// The text.
    pub found: String,
    /// What is wrong with it.
    pub why: String,
}

/// Reads `nand.read=20us..80us,controller.command=5us..60us`.
///
/// # Errors
/// Says which is wrong, and what would be right.
pub fn parse_list(text: &str) -> Result<Vec<Parameter>, ParameterError> {
    text.split(',').map(|one| Parameter::parse(one.trim())).collect()
}

impl Parameter {
    /// Reads `nand.read=20us..80us`.
    ///
    /// # Errors
    /// Says what is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<Self, ParameterError> {
        let wrong = |why: String| ParameterError { found: text.to_owned(), why };
        let (name, bounds) = text.split_once('=').ok_or_else(|| wrong("it has no `=`".to_owned()))?;
        let (least, most) = bounds.split_once("..").ok_or_else(|| wrong("it has no `..`".to_owned()))?;
        let name = name.trim();
        if !name.contains('.') {
            return Err(wrong(format!("`{name}` does not name its table")));
        }
        let read = |text: &str| Unit::read(text).ok_or_else(|| wrong(format!("`{}` is not a quantity", text.trim())));
        let ((least, unit), (most, other)) = (read(least)?, read(most)?);
        if unit != other {
            return Err(wrong("its bounds have different units".to_owned()));
        }
        if least >= most {
            return Err(wrong("its lower bound is not below its upper bound".to_owned()));
        }
        Ok(Self { name: name.to_owned(), least, most, unit })
    }

    /// Every duration in a drive's file but what its maker promises, from half to twice of what it is.
    pub fn durations_of(file: &str) -> Vec<Self> {
        let Ok(file) = file.parse::<Table>() else { return Vec::new() };
        let tables =
            file.iter().filter(|(name, _)| *name != "rated").filter_map(|(name, t)| Some((name, t.as_table()?)));
        let fields = tables.flat_map(|(table, fields)| fields.iter().map(move |(field, value)| (table, field, value)));
        fields
            .filter_map(|(table, field, value)| match Unit::read(value.as_str()?)? {
                (value, Unit::Time) if value > 0 => Some((format!("{table}.{field}"), value)),
                _ => None,
            })
            .map(|(name, value)| Self { name, least: value / 2, most: value * 2, unit: Unit::Time })
            .collect()
    }

    /// What a drive's file has for it; none if it has nothing or something else.
    pub fn current(&self, file: &str) -> Option<u64> {
        let file: Table = file.parse().ok()?;
        let (table, field) = self.name.split_once('.')?;
        let value = match file.get(table)?.get(field)? {
            Value::String(text) => Unit::read(text)?,
            Value::Integer(count) => (u64::try_from(*count).ok()?, Unit::Count),
            _ => return None,
        };
        (value.1 == self.unit).then_some(value.0)
    }

    /// The value at `place`, from 0 at the lower bound to 1 at the upper: equal steps are equal factors, but where
    /// the lower bound is zero.
    pub fn value(&self, place: f64) -> u64 {
        let (least, most) = (self.least as f64, self.most as f64);
        let value = if self.least == 0 { most * place } else { least * (most / least).powf(place) };
        (value.round() as u64).clamp(self.least, self.most)
    }

    /// Where `value` lies between the bounds; outside of them, on the nearer.
    pub fn place(&self, value: u64) -> f64 {
        let (least, most, value) = (self.least as f64, self.most as f64, value as f64);
        let place = if self.least == 0 { value / most } else { (value / least).ln() / (most / least).ln() };
        place.clamp(0.0, 1.0)
    }

    /// `value` as a drive's file has it, exactly.
    pub fn text(&self, value: u64) -> String {
        match self.unit {
            Unit::Time => format!("{value} ns"),
            Unit::Bytes => format!("{value} B"),
            Unit::Rate => format!("{value} B/s"),
            Unit::Share => format!("{}.{:04}%", value / 10_000, value % 10_000),
            Unit::Count => value.to_string(),
        }
    }

    /// `value` for people.
    pub fn shown(&self, value: u64) -> String {
        match self.unit {
            Unit::Time => Nanos::from_nanos(value).to_string(),
            Unit::Bytes => Bytes::new(value).to_string(),
            Unit::Rate => Rate::from_bytes_per_second(value).to_string(),
            Unit::Share => format!("{} %", value as f64 / 1e4),
            Unit::Count => value.to_string(),
        }
    }
}

/// `nand.read=20 µs..80 µs`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}..{}", self.name, self.shown(self.least), self.shown(self.most))
    }
}

impl Unit {
    /// A quantity and its unit; none where it is none, or has a unit that may mean two things.
    fn read(text: &str) -> Option<(u64, Self)> {
        let text = text.trim();
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".+_".contains(c)).trim();
        match unit {
            "" => text.parse().ok().map(|count| (count, Self::Count)),
            "%" => parse_share(text).ok().map(|share| (share, Self::Share)),
            // Minutes or MiB.
            "m" | "M" => None,
            unit if unit.ends_with("/s") => parse_rate(text).ok().map(|rate| (rate.get(), Self::Rate)),
            "ns" | "us" | "µs" | "ms" | "s" | "min" | "h" => {
                parse_duration(text).ok().map(|time| (time.as_nanos(), Self::Time))
            }
            _ => parse_bytes(text).ok().map(|bytes| (bytes.get(), Self::Bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_in_any_unit_and_written_back_exactly() {
        for (text, least, most, written) in [
            ("nand.read=20us..80us", 20_000, 80_000, "20000 ns"),
            ("link.rate=150 MB/s..300 MB/s", 150_000_000, 300_000_000, "150000000 B/s"),
            ("buffer.size=64KiB..1MiB", 65_536, 1_048_576, "65536 B"),
            ("capacity.spare=5%..12.5%", 50_000, 125_000, "5.0000%"),
            ("geometry.channels=4..10", 4, 10, "4"),
        ] {
            let parameter = Parameter::parse(text).unwrap();
            assert_eq!((parameter.least, parameter.most), (least, most), "{text}");
            assert_eq!(parameter.text(parameter.least), written);
            assert_eq!(Unit::read(written), Some((least, parameter.unit)), "what is written reads back");
        }
    }

    #[test]
    fn what_is_no_parameter_is_explained() {
        for (text, words) in [
            ("nand.read", "no `=`"),
            ("nand.read=20us", "no `..`"),
            ("read=20us..80us", "name its table"),
            ("nand.read=20us..80", "different units"),
            ("nand.read=80us..20us", "not below"),
            ("nand.read=2m..4m", "`2m` is not a quantity"),
            ("nand.read=20 parsec..30 parsec", "not a quantity"),
        ] {
            let said = Parameter::parse(text).expect_err(words).to_string();
            assert!(said.contains(words) && said.contains("nand.read=20us..80us"), "{said}");
        }
        assert!(parse_list("nand.read=20us..80us, controller.command=5us..60us").is_ok_and(|list| list.len() == 2));
    }

    #[test]
    fn equal_steps_are_equal_factors_and_places_are_undone() {
        let parameter = Parameter::parse("nand.read=20us..80us").unwrap();
        assert_eq!((parameter.value(0.0), parameter.value(0.5), parameter.value(1.0)), (20_000, 40_000, 80_000));
        for value in [20_000, 21_300, 64_999, 80_000] {
            assert_eq!(parameter.value(parameter.place(value)), value);
        }
        assert_eq!((parameter.place(1), parameter.place(u64::MAX)), (0.0, 1.0));
        let from_zero = Parameter::parse("nand.read=0us..80us").unwrap();
        assert_eq!((from_zero.value(0.5), from_zero.place(20_000)), (40_000, 0.25));
    }

    #[test]
    fn durations_of_a_file_are_found_with_what_they_are() {
        let file = "name = \"x\"\n[rated]\nread_latency = \"85 us\"\n[nand]\nsource = \"s\"\nread = \"50 us\"\nchannel = \"43.2 MB/s\"\n[geometry]\nchannels = 10\n";
        let found = Parameter::durations_of(file);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["nand.read=25 µs..100 µs"]);
        assert_eq!(found[0].current(file), Some(50_000));
        let current = |text: &str| Parameter::parse(text).unwrap().current(file);
        assert_eq!(current("geometry.channels=1..20"), Some(10));
        assert_eq!(current("nand.read=1..20"), None, "a duration is no count");
        assert_eq!(current("nand.write=1us..20us"), None);
    }
}
