//! What work costs in energy.

use std::fmt;
use std::ops::Add;

use crate::Nanos;
use crate::nanos::three_digits;

/// Energy used a second, in whole microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(u64);

/// Energy, in whole femtojoules, so that any power over any time is a whole number of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Energy(u128);

impl Power {
    /// None.
    pub const ZERO: Self = Self(0);

    /// So many microwatts.
    pub const fn from_microwatts(uw: u64) -> Self {
        Self(uw)
    }

    /// So many milliwatts.
    pub const fn from_milliwatts(mw: u64) -> Self {
        Self(mw * 1_000)
    }

    /// What this power uses in that time.
    pub const fn over(self, time: Nanos) -> Energy {
        Energy(self.0 as u128 * time.as_nanos() as u128)
    }
}

impl Energy {
    /// Whole nanojoules, rounding down.
    pub const fn as_nanojoules(self) -> u64 {
        (self.0 / 1_000_000) as u64
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// `2.4 W`, `150 mW`: three significant digits.
impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            uw if uw < 1_000 => format!("{uw} µW"),
            uw if uw < 1_000_000 => format!("{} mW", three_digits(uw as f64 / 1e3)),
            uw => format!("{} W", three_digits(uw as f64 / 1e6)),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_over_a_time_is_an_energy() {
        assert_eq!(Power::from_milliwatts(150).over(Nanos::from_secs(2)).as_nanojoules(), 300_000_000);
        assert_eq!(Power::from_milliwatts(2_400).to_string(), "2.4 W");
    }
}
