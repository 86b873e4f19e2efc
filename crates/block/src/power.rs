//! What work costs, and the heat it leaves.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::figure::in_units;

/// Energy used a second, in whole microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Power(u64);

/// Energy, in whole femtojoules, so that any power over any time is a whole number of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Energy(u128);

/// A temperature on the Celsius scale, in whole microdegrees, not below the freezing point of water.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Temperature(u64);

impl Power {
    /// None.
    pub const ZERO: Self = Self(0);

    pub const fn from_microwatts(uw: u64) -> Self {
        Self(uw)
    }

    pub const fn from_milliwatts(mw: u64) -> Self {
        Self(mw * 1_000)
    }

    /// What this power uses in that time, exactly: a microwatt for a nanosecond is a femtojoule.
    pub const fn over(self, time: Nanos) -> Energy {
        Energy(self.0 as u128 * time.as_nanos() as u128)
    }
}

impl Add for Power {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Energy {
    /// None.
    pub const ZERO: Self = Self(0);

    pub const fn from_picojoules(pj: u64) -> Self {
        Self(pj as u128 * 1_000)
    }

    pub const fn from_nanojoules(nj: u64) -> Self {
        Self(nj as u128 * 1_000_000)
    }

    pub const fn as_femtojoules(self) -> u128 {
        self.0
    }

    /// Whole nanojoules, rounding down. They fit up to 584 years at a watt.
    pub const fn as_nanojoules(self) -> u64 {
        (self.0 / 1_000_000) as u64
    }

    /// This energy `count` times over.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0 * count as u128)
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Energy {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Temperature {
    /// So many degrees.
    pub const fn from_celsius(degrees: u64) -> Self {
        Self(degrees * 1_000_000)
    }

    /// So many millionths of a degree.
    pub const fn from_microdegrees(microdegrees: u64) -> Self {
        Self(microdegrees)
    }

    /// The millionths of a degree.
    pub const fn as_microdegrees(self) -> u64 {
        self.0
    }

    /// Whole degrees, as a drive reports them: rounding down.
    pub const fn as_celsius(self) -> u64 {
        self.0 / 1_000_000
    }
}

/// `2.4 W`, `150 mW`: three significant digits.
impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&in_units(self.0 as f64, &[(1.0, "µW"), (1e3, "mW"), (1e6, "W")]))
    }
}

/// `74.2 µJ`, `1.27 kJ`: three significant digits.
impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sizes are in femtojoules.
        const UNITS: [(f64, &str); 6] =
            [(1e3, "pJ"), (1e6, "nJ"), (1e9, "µJ"), (1e12, "mJ"), (1e15, "J"), (1e18, "kJ")];
        f.pad(&in_units(self.0 as f64, &UNITS))
    }
}

/// `41.5 °C`.
impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1} °C", self.0 as f64 / 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_over_a_time_is_an_energy_to_the_last_femtojoule() {
        assert_eq!(Power::from_milliwatts(150).over(Nanos::from_secs(2)), Energy::from_nanojoules(300_000_000));
        assert_eq!(Power::from_microwatts(1).over(Nanos::from_nanos(1)).as_femtojoules(), 1);
        let year = Nanos::from_secs(31_557_600);
        assert_eq!(Power::from_milliwatts(10_000).over(year).as_nanojoules(), 315_576_000_000_000_000);
    }

    #[test]
    fn people_read_three_digits_in_a_fitting_unit() {
        assert_eq!(Power::from_milliwatts(2_400).to_string(), "2.4 W");
        assert_eq!(Power::from_microwatts(62_500).to_string(), "62.5 mW");
        assert_eq!(Energy::from_nanojoules(74_250).to_string(), "74.2 µJ");
        assert_eq!(Energy::from_nanojoules(1_270_000_000_000).to_string(), "1.27 kJ");
        assert_eq!(Energy::ZERO.to_string(), "0 pJ");
        assert_eq!(Temperature::from_microdegrees(41_500_000).to_string(), "41.5 °C");
    }
}
