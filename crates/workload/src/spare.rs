//! How much flash a drive has beyond what its user sees.

use std::fmt;
use std::str::FromStr;

use block::{ParseError, parse_share};
use serde::{Deserialize, Serialize};

/// Flash beyond what the host sees, as a share of what it sees: over-provisioning, in whole millionths.
///
/// From 0.1 % to 1,000 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spare(u32);

impl Spare {
    /// What every drive has that is sold in powers of ten and made of flash in powers of two: GiB ÷ GB − 1.
    pub const USUAL: Self = Self(73_741);
    /// What fio's `spr_op` is where it is not given.
    /// Source: fio's HOWTO, `spr_op`, "Default=0.15".
    pub const FIOS: Self = Self(150_000);
    const MIN: u64 = 1_000;
    const MAX: u64 = 10_000_000;

    /// So many millionths; none outside the range.
    pub fn from_millionths(millionths: u64) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&millionths).then_some(Self(millionths as u32))
    }

    /// How many blocks of flash a drive has that shows its user so many; one more at least.
    pub fn flash(self, blocks: u64) -> u64 {
        blocks + ((blocks as f64 * self.share()).ceil() as u64).max(1)
    }

    /// So much of the whole: 0.0734 for 7.34 %.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

impl fmt::Display for Spare {
    /// `7.34 %`, without rounding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000);
        write!(f, "{} %", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl FromStr for Spare {
    type Err = ParseError;

    /// Reads `7.34%`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = text.to_owned();
        match parse_share(text)? {
            millionths if millionths > Self::MAX => Err(ParseError::TooLarge { found, max: "1000 %" }),
            millionths => Self::from_millionths(millionths).ok_or(ParseError::TooSmall { found, min: "0.1 %" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_and_told_without_rounding() {
        for (text, share, told) in
            [("7.34%", 0.0734, "7.34 %"), ("28 %", 0.28, "28 %"), ("0.1%", 0.001, "0.1 %"), ("200%", 2.0, "200 %")]
        {
            let spare: Spare = text.parse().unwrap();
            assert_eq!((spare.share(), spare.to_string().as_str()), (share, told));
            assert_eq!(spare.to_string().parse(), Ok(spare));
        }
    }

    #[test]
    fn no_flash_to_spare_and_too_much_are_refused() {
        for (text, words) in [
            ("0%", "at least 0.1 %"),
            ("0.01%", "at least 0.1 %"),
            ("1001%", "at most 1000 %"),
            ("7", "%"),
            ("-7%", ""),
        ] {
            let said = text.parse::<Spare>().expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
