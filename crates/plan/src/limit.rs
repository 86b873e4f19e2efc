//! How far a conditioning goes, read from text.

use std::fmt;

use block::{Bytes, Nanos, ParseError, parse_bytes, parse_count, parse_duration};

use super::Limit;

/// The most percent of a target's capacity that a plan may ask for: a thousand times over.
const PERCENT_MAX: u64 = 100_000;

/// Why a text is not a limit: what was found, and what would be right.
pub(super) struct NotALimit {
    /// What was found.
    pub(super) found: String,
    /// What would be right.
    pub(super) help: &'static str,
}

impl Limit {
    /// Reads `300%` (of the target's capacity), `20GiB` or `30min`.
    ///
    /// A unit is needed, and `m` is refused: it is MiB in a size and minutes in a duration.
    pub(super) fn read(text: &str) -> Result<Self, NotALimit> {
        let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ".+-_".contains(c)).trim();
        let refused = |error: ParseError| {
            let (found, _) = super::diagnostic::told(&error);
            NotALimit { found, help: EXAMPLE }
        };
        match unit.to_ascii_lowercase().as_str() {
            "" => Err(NotALimit { found: format!("`{text}` has no unit"), help: EXAMPLE }),
            "m" => Err(NotALimit {
                found: format!("`{text}` may mean minutes or MiB"),
                help: "write `min` for minutes or `MiB` for data",
            }),
            "%" => match parse_count(text.trim().trim_end_matches('%').trim_end()).map_err(refused)? {
                percent @ 0..=PERCENT_MAX => Ok(Self::Percent(percent as u32)),
                percent => Err(NotALimit {
                    found: format!("{percent} % of the capacity is out of range"),
                    help: "at most 100000% is possible",
                }),
            },
            _ => match parse_duration(text) {
                Err(ParseError::UnknownUnit { .. }) => parse_bytes(text).map(Self::Bytes).map_err(refused),
                time => time.map(Self::Time).map_err(refused),
            },
        }
    }

    /// Whether it is reached from the beginning.
    pub(super) fn is_nothing(self) -> bool {
        matches!(self, Self::Percent(0) | Self::Bytes(Bytes::ZERO) | Self::Time(Nanos::ZERO))
    }

    /// Whether both are of a kind and this is more than `other`.
    pub(super) fn exceeds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Percent(mine), Self::Percent(other)) => mine > other,
            (Self::Bytes(mine), Self::Bytes(other)) => mine > other,
            (Self::Time(mine), Self::Time(other)) => mine > other,
            _ => false,
        }
    }
}

/// `300 % of the capacity`, `20 GiB`, `30 min`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(share) => write!(f, "{share} % of the capacity"),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

const EXAMPLE: &str = "a limit looks like `300%` (of the capacity, written), `20GiB` (written) or `30min`";

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos};

    use super::*;

    #[test]
    fn the_unit_decides_what_is_limited() {
        for (text, limit) in [
            ("100%", Limit::Percent(100)),
            ("300 %", Limit::Percent(300)),
            ("20GiB", Limit::Bytes(Bytes::from_gib(20))),
            ("512k", Limit::Bytes(Bytes::from_kib(512))),
            ("5s", Limit::Time(Nanos::from_secs(5))),
            ("1.5 h", Limit::Time(Nanos::from_secs(5400))),
            ("30min", Limit::Time(Nanos::from_secs(1800))),
        ] {
            assert_eq!(Limit::read(text).ok(), Some(limit), "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_things_is_refused() {
        for (text, found) in [
            ("100", "`100` has no unit"),
            ("5m", "`5m` may mean minutes or MiB"),
            ("5M", "`5M` may mean minutes or MiB"),
            ("200000%", "200000 % of the capacity is out of range"),
            ("-5%", "`-5` is negative"),
            ("3q", "unknown unit `q` in `3q`"),
        ] {
            assert_eq!(Limit::read(text).err().map(|error| error.found).as_deref(), Some(found), "{text}");
        }
    }

    #[test]
    fn only_limits_of_a_kind_are_compared() {
        assert!(Limit::Percent(300).exceeds(Limit::Percent(100)));
        assert!(!Limit::Percent(100).exceeds(Limit::Percent(100)));
        assert!(!Limit::Percent(300).exceeds(Limit::Time(Nanos::from_secs(1))));
    }
}
