//! Amounts of data and places on a drive.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::figure::in_units;

/// The unit in which places on a drive are counted, whatever the drive's own block is.
pub const SECTOR: Bytes = Bytes(512);

/// An amount of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// So many KiB of 1,024 bytes.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib << 10)
    }

    /// So many MiB of 1,048,576 bytes.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// So many GiB of 1,073,741,824 bytes.
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// So many sectors of 512 bytes.
    pub const fn from_sectors(sectors: u64) -> Self {
        Self(sectors * SECTOR.0)
    }

    /// The count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole sectors of 512 bytes, rounding down.
    pub const fn sectors(self) -> u64 {
        self.0 / SECTOR.0
    }

    /// How many whole `part`s fit.
    pub const fn div(self, part: Self) -> u64 {
        self.0 / part.0
    }

    /// This amount `count` times over.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0 * count)
    }

    /// Whether this is a whole number of `unit`s.
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// The largest whole number of `unit`s that fits.
    pub const fn round_down(self, unit: Self) -> Self {
        Self(self.0 / unit.0 * unit.0)
    }

    /// The smallest whole number of `unit`s that holds this; the largest where that is more than can be counted.
    pub const fn round_up(self, unit: Self) -> Self {
        match self.0.div_ceil(unit.0).checked_mul(unit.0) {
            Some(bytes) => Self(bytes),
            None => Self(u64::MAX).round_down(unit),
        }
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// `512 B`, `4 KiB`, `74.5 GiB`: three significant digits, binary units.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let units: [(f64, &str); 7] = std::array::from_fn(|power| ((1_u64 << (10 * power)) as f64, UNITS[power]));
        f.pad(&in_units(self.0 as f64, &units))
    }
}

/// A place on a drive, counted in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lba(u64);

impl Lba {
    /// The sector with this number.
    pub const fn new(sector: u64) -> Self {
        Self(sector)
    }

    /// The sector that holds this byte.
    pub const fn at(offset: Bytes) -> Self {
        Self(offset.sectors())
    }

    /// The number of the sector.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Where the sector begins, from the start of the drive.
    pub const fn offset(self) -> Bytes {
        Bytes::from_sectors(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_binary_units() {
        for (bytes, text) in
            [(512, "512 B"), (4096, "4 KiB"), (6144, "6 KiB"), (1 << 20, "1 MiB"), (80_026_361_856, "74.5 GiB")]
        {
            assert_eq!(Bytes::new(bytes).to_string(), text);
        }
    }

    #[test]
    fn rounding_keeps_whole_units() {
        let unit = Bytes::from_kib(4);
        assert_eq!(Bytes::new(6000).round_down(unit), Bytes::from_kib(4));
        assert_eq!(Bytes::new(6000).round_up(unit), Bytes::from_kib(8));
        assert!(Bytes::from_mib(1).is_multiple_of(unit));
    }
}
