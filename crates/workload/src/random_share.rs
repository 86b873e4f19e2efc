//! Which share of requests is random.

use std::fmt;
use std::str::FromStr;

use block::{Op, parse_percent};
use serde::{Deserialize, Serialize};

use crate::ListError;

/// Shares of random requests in percent, of reads, writes and trims: fio's `percentage_random`.
///
/// Written `80`, or with a share for each: `100,0` for random reads beside writes in sequence. Kinds without a share of their
/// own have the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct RandomShare([u8; 3]);

/// As it is stored: a number where it is the same for all.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    All(u8),
    Each([u8; 3]),
}

impl From<Stored> for RandomShare {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::All(percent) => percent.into(),
            Stored::Each(shares) => Self(shares),
        }
    }
}

impl From<RandomShare> for Stored {
    fn from(share: RandomShare) -> Self {
        share.same().map_or(Self::Each(share.0), Self::All)
    }
}

impl From<u8> for RandomShare {
    fn from(percent: u8) -> Self {
        Self([percent; 3])
    }
}

impl From<[u8; 3]> for RandomShare {
    fn from(shares: [u8; 3]) -> Self {
        Self(shares)
    }
}

impl RandomShare {
    /// All requests are random.
    pub const ALL: Self = Self([100; 3]);
    /// None is.
    pub const NONE: Self = Self([0; 3]);

    /// That of requests of this kind; a flush is at no place.
    pub fn of(self, op: Op) -> u8 {
        op.number().and_then(|number| self.0.get(number)).map_or(0, |share| *share)
    }

    /// The share of all; none where kinds have their own.
    pub fn same(self) -> Option<u8> {
        let [reads, writes, trims] = self.0;
        (reads == writes && writes == trims).then_some(reads)
    }

    /// For people, before a percent sign: `80`, `reads 100, writes 0`.
    pub(crate) fn shown(&self) -> String {
        let [reads, writes, trims] = self.0;
        match self.same() {
            Some(all) => all.to_string(),
            None if writes == trims => format!("reads {reads}, writes {writes}"),
            None => format!("reads {reads}, writes {writes}, trims {trims}"),
        }
    }

    /// The largest, which is more than 100 only where a store says so.
    pub(crate) fn largest(self) -> u8 {
        self.0.into_iter().max().unwrap_or_default()
    }
}

impl FromStr for RandomShare {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let shares = text.split(',').map(|share| parse_percent(share.trim())).collect::<Result<Vec<_>, _>>()?;
        match shares[..] {
            [all] => Ok(all.into()),
            [reads, writes] => Ok(Self([reads, writes, writes])),
            [reads, writes, trims] => Ok(Self([reads, writes, trims])),
            _ => Err(ListError::TooManyLists { found: shares.len() }),
        }
    }
}

impl fmt::Display for RandomShare {
    /// The shortest that is read as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [reads, writes, trims] = self.0;
        match self.same() {
            Some(all) => write!(f, "{all}"),
            None if writes == trims => write!(f, "{reads},{writes}"),
            None => write!(f, "{reads},{writes},{trims}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_or_of_each_kind() {
        for (text, shares, told) in [
            ("80", [80, 80, 80], "80"),
            ("100,0", [100, 0, 0], "100,0"),
            ("50%, 50", [50, 50, 50], "50"),
            ("1,2,3", [1, 2, 3], "1,2,3"),
            ("7,8,8", [7, 8, 8], "7,8"),
        ] {
            let share: RandomShare = text.parse().unwrap();
            assert_eq!((share, share.to_string().as_str()), (shares.into(), told), "{text}");
            assert_eq!(share.shown() == told, share.same().is_some(), "{}", share.shown());
            let stored = serde_json::to_string(&share).unwrap();
            assert_eq!(serde_json::from_str::<RandomShare>(&stored).unwrap(), share, "{stored}");
        }
        assert_eq!(serde_json::to_string(&RandomShare::from(80)).unwrap(), "80", "as it always was");
        for wrong in ["", ",", "101", "100,", "1,2,3,4", "50,x"] {
            assert!(wrong.parse::<RandomShare>().is_err(), "{wrong}");
        }
    }
}
