//! Shards: parts of a run that are carried out apart and make one run when their stores are merged.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One of `count` parts of a run, numbered from 1: `3/64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// The most parts of a run.
    pub const COUNT_MAX: u32 = 65_536;

    /// Shard `number` of `count`; none unless 1 ≤ `number` ≤ `count` ≤ [`Self::COUNT_MAX`].
    pub fn new(number: u32, count: u32) -> Option<Self> {
        (1 <= number && number <= count && count <= Self::COUNT_MAX).then_some(Self { number, count })
    }

    /// Which it is, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Of how many.
    pub const fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, count) = text.split_once('/')?;
            Self::new(number.parse().ok()?, count.parse().ok()?)
        };
        read().ok_or_else(|| {
            format!("`{text}` is no shard; it is I/N with 1 ≤ I ≤ N ≤ {}, such as 3/64", Self::COUNT_MAX)
        })
    }
}

/// How a run and its shards belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharding {
    /// It is a shard of the run with this UUID.
    Shard { of: Uuid, shard: Shard },
    /// It is made of so many shards.
    Whole { count: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_those_that_there_are() {
        for good in ["1/1", "3/64", "64/64", "65536/65536"] {
            assert_eq!(good.parse::<Shard>().unwrap().to_string(), good);
        }
        for wrong in ["", "3", "0/4", "5/4", "1/65537", "-1/4", "1/0", "a/b", "1/2/3", "1 /2"] {
            assert!(wrong.parse::<Shard>().is_err_and(|error| error.contains("I/N")), "{wrong}");
        }
    }
}
