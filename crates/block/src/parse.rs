//! Sizes, durations, counts and shares as people type them.
//!
//! Suffixes follow fio, because that is what users' fingers know: `4k` is 4,096 bytes and a bare
//! duration is in seconds. One difference is deliberate: fio reads `KiB` as 1,000 (for the sake of
//! old scripts); here `KiB`, `MiB`, `GiB` mean what the standard says, powers of 1,024.

use thiserror::Error;

use crate::{Bytes, Endurance, Energy, Nanos, Power, Rate, Temperature};

/// Why a text is not the quantity that was asked for.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    /// Nothing was given.
    #[error("empty value; {example}")]
    Empty {
        /// What would be right.
        example: &'static str,
    },
    /// The part before the unit is not a number.
    #[error("`{found}` is not a number; {example}")]
    NotANumber {
        /// The text as given.
        found: String,
        /// What would be right.
        example: &'static str,
    },
    /// The number has an exponent.
    #[error("`{found}` has an exponent; give all digits: {example}")]
    Exponent {
        /// The text as given.
        found: String,
        /// What would be right.
        example: &'static str,
    },
    /// The unit is not known.
    #[error("{}; use one of {units}", unknown_unit(.found, .unit))]
    UnknownUnit {
        /// The text as given.
        found: String,
        /// Empty where there was none, and one is needed.
        unit: String,
        /// The units that would be right.
        units: &'static str,
    },
    /// The number is negative.
    #[error("`{found}` is negative; {example}")]
    Negative {
        /// The text as given.
        found: String,
        /// What would be right.
        example: &'static str,
    },
    /// The quantity is outside what can be held or makes sense.
    #[error("`{found}` is out of range: at most {max} is possible")]
    TooLarge {
        /// The text as given.
        found: String,
        /// The largest that would be right.
        max: &'static str,
    },
    /// The quantity is less than what makes sense.
    #[error("`{found}` is out of range: at least {min} is needed")]
    TooSmall {
        /// The text as given.
        found: String,
        /// The least that would be right.
        min: &'static str,
    },
    /// A quantity that must be whole is not.
    #[error("`{found}` is not a whole number of {of}")]
    NotWhole {
        /// The text as given.
        found: String,
        /// What must be whole.
        of: &'static str,
    },
}

/// What is wrong with this unit.
pub fn unknown_unit(found: &str, unit: &str) -> String {
    match unit {
        "" => format!("`{found}` has no unit"),
        unit => format!("unknown unit `{unit}` in `{found}`"),
    }
}

/// How amounts of one kind are typed: a number and one of these units.
struct Amount {
    /// What would be right where there is no amount at all.
    example: &'static str,
    /// The spellings of each unit, parted by blanks, with the smallest amounts in it; `-` for no unit.
    units: &'static [(&'static str, u64)],
    /// Whether a unit may be typed in capitals or not.
    any_case: bool,
    /// The units as a mistake names them.
    known: &'static str,
    /// The smallest amount, of which there are only whole ones.
    of: &'static str,
    /// The most that can be held.
    max: &'static str,
    /// The least that makes sense, if nothing does not.
    least: Option<&'static str>,
}

/// What most kinds are.
const PLAIN: Amount = Amount { example: "", units: &[], any_case: false, known: "", of: "", max: "", least: None };

const SIZE: Amount = Amount {
    example: "a size looks like `4k`, `1m`, `2GiB` or `512`",
    units: &[
        ("- b", 1),
        ("k kb ki kib", 1 << 10),
        ("m mb mi mib", 1 << 20),
        ("g gb gi gib", 1 << 30),
        ("t tb ti tib", 1 << 40),
        ("p pb pi pib", 1 << 50),
    ],
    any_case: true,
    known: "B, k (KiB), m (MiB), g (GiB), t (TiB), p (PiB)",
    of: "bytes",
    max: "16 EiB",
    ..PLAIN
};

/// Source: IDEMA, LBA1-03, and the footnotes of data sheets ("1 GB = 1,000,000,000 bytes") for capacities; JEDEC, JESD100B.01,
/// "kilo", "mega", for parts of memory.
const RATED_SIZE: Amount = Amount {
    units: &[
        ("- b", 1),
        ("k kb ki kib", 1 << 10),
        ("m mb mi mib", 1 << 20),
        ("gb", 1_000_000_000),
        ("g gi gib", 1 << 30),
        ("tb", 1_000_000_000_000),
        ("t ti tib", 1 << 40),
        ("pb", 1_000_000_000_000_000),
        ("p pi pib", 1 << 50),
    ],
    known: "B, KiB, MiB, GiB, TiB, PiB, or GB, TB, PB (powers of 1000)",
    ..SIZE
};

const DURATION: Amount = Amount {
    example: "a duration looks like `10s`, `500ms`, `2m` or `1h`; a bare number is in seconds",
    units: &[
        ("ns nsec", 1),
        ("us usec µs", 1_000),
        ("ms msec", 1_000_000),
        ("- s sec", 1_000_000_000),
        ("m min", 60_000_000_000),
        ("h hour hours", 3_600_000_000_000),
        ("d day days", 86_400_000_000_000),
    ],
    any_case: true,
    known: "ns, us, ms, s, m (minutes), h, d",
    of: "nanoseconds",
    max: "584 years",
    ..PLAIN
};

const COUNT: Amount = Amount {
    example: "a count looks like `10000`, `10k` or `1m`",
    units: &[("-", 1), ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000)],
    any_case: true,
    known: "k (thousand), m (million), g (billion)",
    of: "requests",
    max: "18e18",
    ..PLAIN
};

const PERCENT: Amount = Amount {
    example: "a share looks like `67%` or `67`, from 0 to 100",
    units: &[("- %", 1)],
    known: "% or none",
    of: "percent",
    max: "100 %",
    ..PLAIN
};

const RATE: Amount = Amount {
    example: "a rate looks like `250 MB/s` or `1.2 GB/s`",
    units: &[("B/s", 1), ("kB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000)],
    known: "B/s, kB/s, MB/s, GB/s",
    of: "bytes a second",
    max: "18e18 B/s",
    least: Some("1 B/s"),
    ..PLAIN
};

const ENDURANCE: Amount = Amount {
    example: "a rated endurance looks like `150TB` or `1.2PB`",
    units: &[("gb gbw", 1_000_000_000), ("tb tbw", 1_000_000_000_000), ("pb pbw", 1_000_000_000_000_000)],
    any_case: true,
    known: "GB, TB, PB",
    of: "bytes",
    max: "18,000 PB",
    least: Some("1 GB"),
};

const SHARE: Amount = Amount {
    example: "a share looks like `7.3%`",
    units: &[("%", 10_000)],
    known: "%",
    of: "millionths",
    max: "1e15 %",
    ..PLAIN
};

const POWER: Amount = Amount {
    example: "a power looks like `2.4 W` or `150 mW`",
    units: &[("uW µW", 1), ("mW", 1_000), ("W", 1_000_000)],
    known: "uW, mW, W",
    of: "microwatts",
    max: "18e12 W",
    ..PLAIN
};

const ENERGY: Amount = Amount {
    example: "an energy looks like `75 uJ` or `4 nJ`",
    units: &[("pJ", 1), ("nJ", 1_000), ("uJ µJ", 1_000_000), ("mJ", 1_000_000_000), ("J", 1_000_000_000_000)],
    known: "pJ, nJ, uJ, mJ, J",
    of: "picojoules",
    max: "18e6 J",
    ..PLAIN
};

const TEMPERATURE: Amount = Amount {
    example: "a temperature looks like `70 C`",
    units: &[("C °C", 1_000_000)],
    known: "C",
    of: "microdegrees",
    max: "18e12 C",
    ..PLAIN
};

const RESISTANCE: Amount = Amount {
    example: "a thermal resistance looks like `12 K/W`",
    units: &[("K/W", 1_000)],
    known: "K/W",
    of: "thousandths of a kelvin a watt",
    max: "18e15 K/W",
    ..PLAIN
};

const CAPACITY: Amount = Amount {
    example: "a heat capacity looks like `30 J/K`",
    units: &[("J/K", 1_000)],
    known: "J/K",
    of: "thousandths of a joule a kelvin",
    max: "18e15 J/K",
    ..PLAIN
};

impl Amount {
    /// Reads a text as so many of the smallest amount.
    fn read(&self, text: &str) -> Result<u64, ParseError> {
        let (number, unit) = split(text, self.example)?;
        let found = || text.trim().to_owned();
        let typed = if self.any_case { &*unit.to_ascii_lowercase() } else { unit };
        let spelt = |spellings: &str| {
            spellings.split(' ').any(|known| if known == "-" { typed.is_empty() } else { known == typed })
        };
        let Some((_, factor)) = self.units.iter().find(|(spellings, _)| spelt(spellings)) else {
            if is_exponent(unit) {
                return Err(ParseError::Exponent { found: found(), example: self.example });
            }
            return Err(ParseError::UnknownUnit { found: found(), unit: unit.to_owned(), units: self.known });
        };
        match (scaled(text, number, *factor, self.of, self.max, self.example)?, self.least) {
            (0, Some(min)) => Err(ParseError::TooSmall { found: found(), min }),
            (amount, _) => Ok(amount),
        }
    }
}

/// Reads an amount of data: `512`, `4k`, `4KiB`, `1.5m`, `2GiB`.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseError> {
    SIZE.read(text).map(Bytes::new)
}

/// The same as data sheets have it: `960 GB` and `1.92 TB` are powers of 1,000, as capacities are sold; `4 KB` and `512 MB` are
/// of 1,024, as pages and buffers are.
///
/// # Errors
/// As those of [`parse_bytes`].
pub fn parse_rated_bytes(text: &str) -> Result<Bytes, ParseError> {
    RATED_SIZE.read(text).map(Bytes::new)
}

/// Reads a duration: `10` (seconds), `10s`, `500ms`, `100us`, `2m`, `1h`, `1d`.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_duration(text: &str) -> Result<Nanos, ParseError> {
    DURATION.read(text).map(Nanos::from_nanos)
}

/// Reads a count: `10000`, `10k` (10,000: counts are decimal), `2m`.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_count(text: &str) -> Result<u64, ParseError> {
    COUNT.read(text)
}

/// Reads a share in whole percent: `67%` or `67`.
///
/// # Errors
/// Says what was found and what would be right; more than 100 is refused.
pub fn parse_percent(text: &str) -> Result<u8, ParseError> {
    match PERCENT.read(text)?.try_into() {
        Ok(percent @ 0..=100) => Ok(percent),
        _ => Err(ParseError::TooLarge { found: text.to_owned(), max: PERCENT.max }),
    }
}

/// Reads a rate of transfer: `250 MB/s`, `1.2 GB/s`; decimal units, as data sheets have them.
///
/// # Errors
/// Says what was found and what would be right; zero is refused.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    RATE.read(text).map(Rate::from_bytes_per_second)
}

/// Reads how much may be written to a drive: `150TB`, `1.2 PB`, `600TBW`; decimal units, as data sheets have them.
///
/// # Errors
/// Says what was found and what would be right; zero is refused.
pub fn parse_endurance(text: &str) -> Result<Endurance, ParseError> {
    ENDURANCE.read(text).map(|bytes| Endurance::new(Bytes::new(bytes)))
}

/// Reads a share in percent, with decimals: `7.3%`; in millionths of the whole.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_share(text: &str) -> Result<u64, ParseError> {
    SHARE.read(text)
}

/// Reads a power: `2.4 W`, `150 mW`, `500 uW`.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_power(text: &str) -> Result<Power, ParseError> {
    POWER.read(text).map(Power::from_microwatts)
}

/// Reads an energy: `75 uJ`, `4.5 nJ`; a part of a picojoule is refused.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_energy(text: &str) -> Result<Energy, ParseError> {
    ENERGY.read(text).map(Energy::from_picojoules)
}

/// Reads a temperature: `70 C`, not below zero.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_temperature(text: &str) -> Result<Temperature, ParseError> {
    TEMPERATURE.read(text).map(Temperature::from_microdegrees)
}

/// Reads a thermal resistance: `12 K/W`; in thousandths.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_thermal_resistance(text: &str) -> Result<u64, ParseError> {
    RESISTANCE.read(text)
}

/// Reads a heat capacity: `30 J/K`; in thousandths.
///
/// # Errors
/// Says what was found and what would be right.
pub fn parse_heat_capacity(text: &str) -> Result<u64, ParseError> {
    CAPACITY.read(text)
}

/// Cuts a trimmed text into its number and its unit.
fn split<'t>(text: &'t str, example: &'static str) -> Result<(&'t str, &'t str), ParseError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ParseError::Empty { example });
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return Err(ParseError::NotANumber { found: text.to_owned(), example });
    }
    Ok((number, unit.trim()))
}

/// Whether what follows the digits is the exponent of a number, such as the `e9` of `1e9`.
fn is_exponent(unit: &str) -> bool {
    let power = unit.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    power.is_some_and(|power| power.starts_with(|first: char| first.is_ascii_digit()))
}

/// `number × factor`, exactly; a fraction is welcome as long as the product is whole.
fn scaled(
    text: &str,
    number: &str,
    factor: u64,
    of: &'static str,
    max: &'static str,
    example: &'static str,
) -> Result<u64, ParseError> {
    let found = text.trim().to_owned();
    let plain = number.replace('_', "");
    if plain.starts_with('-') {
        return Err(ParseError::Negative { found, example });
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let not_a_number = || ParseError::NotANumber { found: found.clone(), example };
    let digits = |part: &str| match part {
        "" => Ok(0),
        part if part.len() <= 19 && part.bytes().all(|b| b.is_ascii_digit()) => {
            part.parse().map_err(|_| not_a_number())
        }
        part if part.bytes().all(|b| b.is_ascii_digit()) => Err(ParseError::TooLarge { found: found.clone(), max }),
        _ => Err(not_a_number()),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(not_a_number());
    }
    let (whole, decimals): (u64, u64) = (digits(whole)?, digits(fraction)?);
    let tenths = 10_u128.pow(fraction.len().min(19) as u32);
    let product = u128::from(whole) * u128::from(factor) * tenths + u128::from(decimals) * u128::from(factor);
    if !product.is_multiple_of(tenths) {
        return Err(ParseError::NotWhole { found, of });
    }
    u64::try_from(product / tenths).map_err(|_| ParseError::TooLarge { found, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rated_endurance_is_in_the_units_of_data_sheets() {
        for (text, bytes, words) in [
            ("150TB", 150_000_000_000_000, "150 TB"),
            ("1.38 PB", 1_380_000_000_000_000, "1.38 PB"),
            ("600tbw", 600_000_000_000_000, "600 TB"),
            ("36500 GB", 36_500_000_000_000, "36.5 TB"),
        ] {
            let endurance = parse_endurance(text).unwrap();
            assert_eq!((endurance.bytes().get(), endurance.to_string().as_str()), (bytes, words));
        }
        assert!(parse_endurance("0TB").unwrap_err().to_string().contains("at least 1 GB"));
        for wrong in ["150", "150TiB", "-1TB", "lots"] {
            let said = parse_endurance(wrong).unwrap_err().to_string();
            assert!(said.contains("TB"), "{wrong}: {said}");
        }
    }

    #[test]
    fn sizes_read_as_fio_reads_them() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("1m", 1 << 20),
            ("1.5m", 3 << 19),
            ("2GiB", 2 << 30),
            ("1_000", 1000),
        ] {
            assert_eq!(parse_bytes(text), Ok(Bytes::new(bytes)), "{text}");
        }
    }

    #[test]
    fn capacities_are_of_powers_of_1000_where_they_are_rated() {
        for (text, bytes) in [
            ("960 GB", 960_000_000_000),
            ("1.92TB", 1_920_000_000_000),
            ("6 GiB", 6 << 30),
            ("16g", 16 << 30),
            ("512 MB", 512 << 20),
            ("4 KB", 4096),
            ("960197124096 B", 960_197_124_096),
        ] {
            assert_eq!(parse_rated_bytes(text), Ok(Bytes::new(bytes)), "{text}");
        }
        assert_eq!(parse_bytes("1 GB"), Ok(Bytes::from_gib(1)), "elsewhere as fio has it");
    }

    #[test]
    fn durations_default_to_seconds() {
        for (text, nanos) in [
            ("10", 10_000_000_000),
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("0.5s", 500_000_000),
            ("2m", 120_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Nanos::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn rates_are_decimal_and_shares_in_millionths() {
        assert_eq!(parse_rate("250 MB/s"), Ok(Rate::from_megabytes_per_second(250)));
        assert_eq!(parse_rate("43.2MB/s"), Ok(Rate::from_bytes_per_second(43_200_000)));
        assert!(parse_rate("0 MB/s").unwrap_err().to_string().contains("at least 1 B/s"));
        assert!(parse_rate("3 Gb/s").unwrap_err().to_string().contains("unknown unit `Gb/s`"));
        assert_eq!(parse_share("7.34%"), Ok(73_400));
        assert!(parse_share("7.34").is_err());
    }

    #[test]
    fn power_energy_and_heat_read_as_data_sheets_have_them() {
        assert_eq!(parse_power("2.4 W"), Ok(Power::from_milliwatts(2_400)));
        assert_eq!(parse_power("62.5mW"), Ok(Power::from_microwatts(62_500)));
        assert_eq!(parse_energy("74.25 uJ"), Ok(Energy::from_picojoules(74_250_000)));
        assert_eq!(parse_temperature("70 C"), Ok(Temperature::from_celsius(70)));
        assert_eq!((parse_thermal_resistance("12.5 K/W"), parse_heat_capacity("30 J/K")), (Ok(12_500), Ok(30_000)));
        for (found, units) in [
            (parse_power("2 VA").map(|_| ()), "uW, mW, W"),
            (parse_energy("2 Wh").map(|_| ()), "pJ, nJ, uJ, mJ, J"),
            (parse_temperature("70 F").map(|_| ()), "use one of C"),
            (parse_thermal_resistance("12 W/K").map(|_| ()), "K/W"),
            (parse_heat_capacity("30 J").map(|_| ()), "J/K"),
            (parse_temperature("-5 C").map(|_| ()), "negative"),
            (parse_energy("0.5 pJ").map(|_| ()), "whole number of picojoules"),
        ] {
            let said = found.unwrap_err().to_string();
            assert!(said.contains(units), "{said}");
        }
    }

    #[test]
    fn nonsense_is_named_and_answered() {
        let said = |e: ParseError| e.to_string();
        assert!(said(parse_bytes("4q").unwrap_err()).contains("unknown unit `q`"));
        assert_eq!(said(parse_share("0").unwrap_err()), "`0` has no unit; use one of %");
        for exponent in ["1e400", "1e9 s", "2E+6us", "1e-3s"] {
            let words = format!("`{exponent}` has an exponent; give all digits: a duration looks like");
            assert!(said(parse_duration(exponent).unwrap_err()).starts_with(&words), "{exponent}");
        }
        assert!(said(parse_bytes("").unwrap_err()).contains("a size looks like"));
        assert!(said(parse_bytes("-4k").unwrap_err()).contains("negative"));
        assert!(said(parse_bytes("four").unwrap_err()).contains("`four` is not a number"));
        assert!(said(parse_bytes("1.2.3k").unwrap_err()).contains("not a number"));
        assert!(said(parse_bytes("0.3").unwrap_err()).contains("not a whole number of bytes"));
        assert!(said(parse_bytes("99999999999999p").unwrap_err()).contains("at most 16 EiB"));
        assert!(said(parse_bytes("99999999999999999999999999").unwrap_err()).contains("at most 16 EiB"));
        assert!(said(parse_percent("101%").unwrap_err()).contains("at most 100 %"));
        assert!(said(parse_duration("10parsec").unwrap_err()).contains("unknown unit `parsec`"));
    }
}
