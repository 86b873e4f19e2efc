//! Operations and the order of their addresses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which operations, and in what order of addresses. Names are fio's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential, reads and writes mixed.
    ReadWrite,
    /// Random, reads and writes mixed.
    RandRw,
}

impl Pattern {
    /// Every pattern, with the name it is written by.
    pub const ALL: [(&'static str, Self); 8] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("trim", Self::Trim),
        ("randread", Self::RandRead),
        ("randwrite", Self::RandWrite),
        ("randtrim", Self::RandTrim),
        ("readwrite", Self::ReadWrite),
        ("randrw", Self::RandRw),
    ];

    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Read => "sequential read",
            Self::Write => "sequential write",
            Self::Trim => "sequential trim",
            Self::RandRead => "random read",
            Self::RandWrite => "random write",
            Self::RandTrim => "random trim",
            Self::ReadWrite => "mixed sequential",
            Self::RandRw => "mixed random",
        }
    }

    /// Whether addresses are drawn at random.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw)
    }

    /// Whether reads and writes are mixed.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
    }

    /// Whether all requests are trims.
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim)
    }

    /// Whether anything on the target may change.
    pub const fn changes_data(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, pattern)| pattern == self).expect("ALL holds every pattern").0;
        f.pad(name)
    }
}

impl FromStr for Pattern {
    type Err = ();

    /// Reads fio's names; `rw` is short for `readwrite`.
    fn from_str(name: &str) -> Result<Self, ()> {
        let name = if name == "rw" { "readwrite" } else { name };
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, pattern)| *pattern).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_read_by_the_name_it_is_written() {
        for (name, pattern) in Pattern::ALL {
            assert_eq!(name.parse(), Ok(pattern));
            assert_eq!(pattern.to_string(), name);
        }
        assert_eq!("rw".parse(), Ok(Pattern::ReadWrite));
        assert!("randreed".parse::<Pattern>().is_err());
    }
}
