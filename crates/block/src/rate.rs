//! How fast data moves.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::figure::in_units;
use crate::{Bytes, Nanos};

/// A rate of transfer, in bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// So many bytes a second.
    pub const fn from_bytes_per_second(rate: u64) -> Self {
        Self(rate)
    }

    /// So many megabytes of 1,000,000 bytes a second, the unit of data sheets.
    pub const fn from_megabytes_per_second(rate: u64) -> Self {
        Self(rate * 1_000_000)
    }

    /// Bytes a second.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The time that `bytes` take at this rate, rounded up to whole nanoseconds.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn time_for(self, bytes: Bytes) -> Nanos {
        assert!(self.0 > 0, "a rate of zero moves nothing");
        let nanos = (bytes.get() as u128 * 1_000_000_000).div_ceil(self.0 as u128);
        Nanos::from_nanos(nanos as u64)
    }
}

/// `250 MB/s`: three significant digits, decimal units, as data sheets have it.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&in_units(self.0 as f64, &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sata_3_gb_link_moves_a_page_in_13_7_microseconds() {
        let time = Rate::from_megabytes_per_second(300).time_for(Bytes::from_kib(4));
        assert_eq!(time, Nanos::from_nanos(13_654));
    }
}
