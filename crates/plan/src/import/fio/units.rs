//! Numbers, sizes and times in fio's notation.

use block::{Bytes, Nanos};
use thiserror::Error;
use workload::{BYTES_MAX, COUNT_MAX, TIME_MAX};

use super::expression::evaluate;

/// A second, in nanoseconds: the unit of times that have none.
pub(super) const SECOND: f64 = 1e9;

/// What `k`, `m` and `g` stand for \[`kb_base`\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// `4k` is 4,096 and `4KiB` is 4,000: the default, for the sake of old scripts.
    #[default]
    Old,
    /// `4k` is 4,000 and `4KiB` is 4,096, as the standards have it.
    Standard,
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum UnitError {
    /// It is not a number.
    #[error("`{found}` is not {wanted}")]
    NotANumber {
        /// The text.
        found: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// It is less than nothing.
    #[error("`{found}` is negative")]
    Negative {
        /// The text.
        found: String,
    },
    /// It is more than can be held.
    #[error("`{found}` is out of range; at most {max} is possible")]
    TooLarge {
        /// The text.
        found: String,
        /// What is possible.
        max: &'static str,
    },
}

const SIZE: &str = "a size such as `4k`, `1m`, `512` or `0x1000`";
const TIME: &str = "a time such as `10`, `10s`, `500ms` or `2m`";
const COUNT: &str = "a whole number";

/// An amount of data: `4k`, `1.5m`, `4KiB`, `0x1000`, `(2*1m)`.
pub(super) fn size(text: &str, base: Base) -> Result<Bytes, UnitError> {
    let number = |digits: &str| scaled(digits, |unit| size_unit(unit, base));
    within(text, value(text, &number), SIZE, BYTES_MAX.get(), "1 EiB").map(|bytes| Bytes::new(bytes as u64))
}

/// A time; `bare` is the length in nanoseconds of the unit of a number without one, which is a microsecond in a sum.
pub(super) fn time(text: &str, bare: f64) -> Result<Nanos, UnitError> {
    let bare = if text.trim_start().starts_with('(') { 1e3 } else { bare };
    // Numbers without a unit may be factors as well, so that all is counted in that unit until the sum is known.
    let number = |digits: &str| scaled(digits, |unit| time_unit(unit, bare).map(|nanos| nanos / bare));
    let nanos = value(text, &number).map(|units| units * bare);
    within(text, nanos, TIME, TIME_MAX.as_nanos(), "10 years").map(|nanos| Nanos::from_nanos(nanos as u64))
}

/// A time of the command line, in seconds where it has no unit.
pub fn seconds(text: &str) -> Result<Nanos, String> {
    time(text, 1e9).map_err(|error| error.to_string())
}

/// A count, with a size's suffixes, as fio reads all its numbers.
pub(super) fn count(text: &str, base: Base) -> Result<u64, UnitError> {
    let number = |digits: &str| scaled(digits, |unit| size_unit(unit, base));
    within(text, value(text, &number), COUNT, COUNT_MAX, "1e15").map(|count| count as u64)
}

/// The share that `50%` stands for; none where the text is no share.
pub(super) fn percent(text: &str) -> Option<u32> {
    text.strip_suffix('%')?.trim_end_matches('%').trim().parse().ok()
}

/// How many zones `3z` stands for; none where the text is no number of zones.
pub(super) fn zones(text: &str) -> Option<u32> {
    text.trim().strip_suffix(['z', 'Z'])?.parse().ok()
}

/// What makes a text a sum.
const OPERATORS: [char; 8] = ['(', ')', '+', '-', '*', '/', '%', '^'];

/// A number, or a sum in parentheses, or one that a keyword such as `$ncpus` was part of.
fn value(text: &str, number: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let text = text.trim();
    // By itself a number is whole in fio, which takes the `1` of `1.5k`; in a sum it may have decimals.
    let whole = |text: &str| number(text).filter(|_| !text.contains('.'));
    whole(text).or_else(|| evaluate(text, number).filter(|_| text.contains(OPERATORS)))
}

fn within(
    text: &str,
    value: Option<f64>,
    wanted: &'static str,
    most: u64,
    max: &'static str,
) -> Result<f64, UnitError> {
    match value {
        None => Err(UnitError::NotANumber { found: text.to_owned(), wanted }),
        Some(value) if value < 0.0 => Err(UnitError::Negative { found: text.to_owned() }),
        Some(value) if value > most as f64 => Err(UnitError::TooLarge { found: text.to_owned(), max }),
        Some(value) => Ok(value.round()),
    }
}

/// A number with a unit, whose value `unit` knows.
fn scaled(text: &str, unit: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        return u64::from_str_radix(digits, 16).ok().map(|number| number as f64);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    unit(&suffix.trim().to_ascii_lowercase()).map(|factor| number * factor)
}

/// What a size's suffix multiplies by: `k`, `kb`, `ki` and `kib` and so on.
///
/// Only `kib` is in the other base than `k`. fio's manual says the same of `ki`; the program reads that as `k`, and so
/// do job files that were written for it.
fn size_unit(unit: &str, base: Base) -> Option<f64> {
    let other = unit.strip_suffix("ib").filter(|prefix| !prefix.is_empty());
    let prefix = other.or(unit.strip_suffix('b')).unwrap_or(unit);
    let binary = (base == Base::Old) == other.is_none();
    let prefix = prefix.strip_suffix('i').filter(|prefix| !prefix.is_empty() && other.is_none()).unwrap_or(prefix);
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    Some(if binary { 1024_f64 } else { 1000.0 }.powi(power))
}

fn time_unit(unit: &str, bare: f64) -> Option<f64> {
    Some(match unit {
        "" => bare,
        "d" => 86_400e9,
        "h" => 3_600e9,
        "m" => 60e9,
        "s" | "sec" => 1e9,
        "ms" | "msec" => 1e6,
        "us" | "usec" => 1e3,
        "ns" | "nsec" => 1.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: what fio 3.33 prints for `--bs` with either `kb_base`.
    #[test]
    fn sizes_are_fios_in_either_base() {
        for text in
            ["4096", "4096b", "4096B", "4k", "4kb", "4kB", "4K", "4KB", "0x1000", "(2*2k)", "(1.5k+2.5k)", "4ki"]
        {
            assert_eq!(size(text, Base::Old), Ok(Bytes::new(4096)), "{text}");
        }
        for text in ["4096", "4096B", "4kib", "4kiB", "4KiB"] {
            assert_eq!(size(text, Base::Standard), Ok(Bytes::new(4096)), "{text}");
        }
        for (text, base) in
            [("1mib", Base::Old), ("1000kib", Base::Old), ("1m", Base::Standard), ("1000k", Base::Standard)]
        {
            assert_eq!(size(text, base), Ok(Bytes::new(1_000_000)), "{text}");
        }
    }

    #[test]
    fn times_have_a_unit_of_their_own_where_none_is_given() {
        for (text, bare, nanos) in [
            ("10", 1e9, 10_000_000_000),
            ("10", 1e3, 10_000),
            ("2M", 1e9, 120_000_000_000),
            ("500msec", 1e9, 500_000_000),
            ("1d", 1e9, 86_400_000_000_000),
            ("(2*3)", 1e9, 6_000),
            ("(1s+1)", 1e9, 1_000_001_000),
        ] {
            assert_eq!(time(text, bare), Ok(Nanos::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_told() {
        for (text, words) in [
            ("", "is not a size"),
            ("k", "is not a size"),
            ("4q", "is not a size"),
            ("4i", "is not a size"),
            ("4ib", "is not a size"),
            ("1.5k", "is not a size"),
            ("-4k", "is negative"),
            ("4096p", "at most 1 EiB"),
            ("1.2.3", "is not a size"),
            ("0x", "is not a size"),
            ("99999999999999999999999999999", "at most 1 EiB"),
        ] {
            let said = size(text, Base::Old).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
        assert!(time("10parsec", 1e9).is_err());
        assert!(count("1e400", Base::Old).is_err());
    }
}
