//! Time, simulated or measured.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::figure::in_units;

/// A length of simulated or measured time, or a moment on a clock that began at zero, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(u64);

impl Nanos {
    /// No time at all; the moment at which every clock starts.
    pub const ZERO: Self = Self(0);
    /// Later than any moment that can be reached.
    pub const MAX: Self = Self(u64::MAX);

    /// So many nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// So many microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// So many milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// So many seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// The whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for statistics and for people.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Microseconds, for statistics and for people.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This length `count` times in a row.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0 * count)
    }

    /// The same as the standard library has it, for sleeping and for display elsewhere.
    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }

    /// From the standard library's duration; more than 584 years saturate.
    pub fn from_std(duration: std::time::Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// Three significant digits in the unit that suits, `85.3 µs`, `2.4 s`; from two minutes on to the nearest second, `2 min 51 s`,
/// and from an hour on to the nearest minute, `2 h 15 min`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            0 => "0 s".to_owned(),
            ns if ns < 120_000_000_000 => in_units(ns as f64, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")]),
            ns => {
                let nearest = |unit: u64| ns.saturating_add(unit / 2) / unit;
                let (seconds, minutes) = (nearest(1_000_000_000), nearest(60_000_000_000));
                let (larger, smaller, units) = if seconds < 3600 {
                    (seconds / 60, seconds % 60, ["min", "s"])
                } else {
                    (minutes / 60, minutes % 60, ["h", "min"])
                };
                match smaller {
                    0 => format!("{larger} {}", units[0]),
                    _ => format!("{larger} {} {smaller} {}", units[0], units[1]),
                }
            }
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_three_digits_in_a_fitting_unit() {
        for (ns, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (85_300, "85.3 µs"),
            (999_499, "999 µs"),
            (999_500, "1 ms"),
            (999_615, "1 ms"),
            (1_500_000, "1.5 ms"),
            (999_499_999, "999 ms"),
            (999_500_000, "1 s"),
            (10_000_000_000, "10 s"),
            (90_000_000_000, "90 s"),
            (171_400_000_000, "2 min 51 s"),
            (599_600_000_000, "10 min"),
            (3_599_499_999_999, "59 min 59 s"),
            (3_599_500_000_000, "1 h"),
            (8_069_999_999_999, "2 h 14 min"),
            (8_100_000_000_000, "2 h 15 min"),
        ] {
            assert_eq!(Nanos::from_nanos(ns).to_string(), text);
        }
    }

    #[test]
    fn time_since_a_later_moment_is_zero() {
        assert_eq!(Nanos::from_secs(1).since(Nanos::from_secs(2)), Nanos::ZERO);
    }
}
