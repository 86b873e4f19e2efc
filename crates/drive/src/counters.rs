//! What a drive has done.

use std::ops::{Add, Sub};

use block::Bytes;
use serde::{Deserialize, Serialize};

/// What a drive has done since it was made, or between two such readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Requests by kind: read, write, trim, flush.
    pub requests: [u64; 4],
    /// Data that the host read.
    pub host_read: Bytes,
    /// Data that the host wrote.
    pub host_written: Bytes,
    /// Data that the host trimmed.
    pub host_trimmed: Bytes,
    /// Flash pages read for the host, for read-modify-write and for collection.
    pub pages_read: u64,
    /// Flash pages programmed, for the host and for collection.
    pub pages_programmed: u64,
    /// Of those, pages that collection moved.
    pub pages_moved: u64,
    /// Flash blocks erased.
    pub blocks_erased: u64,
    /// Energy used, in nanojoules; zero if the drive's file does not say what it consumes.
    #[serde(default)]
    pub energy_nj: u64,
    /// The size of a flash page, so that pages can be compared with bytes.
    pub page: Bytes,
}

impl Counters {
    /// Data programmed into flash for each byte that the host wrote; none where it wrote nothing or there is no
    /// flash.
    pub fn write_amplification(&self) -> Option<f64> {
        let programmed = self.page.times(self.pages_programmed).get();
        (self.host_written > Bytes::ZERO && self.page > Bytes::ZERO)
            .then(|| programmed as f64 / self.host_written.get() as f64)
    }
}

/// What was done between the earlier reading `before` and `self`.
impl Sub for Counters {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        self.with(before, |mine, other| mine - other)
    }
}

/// What was done in two stretches of time.
impl Add for Counters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, |mine, other| mine + other)
    }
}

impl Counters {
    fn with(self, other: Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let bytes = |mine: Bytes, other: Bytes| Bytes::new(op(mine.get(), other.get()));
        Self {
            requests: std::array::from_fn(|i| op(self.requests[i], other.requests[i])),
            host_read: bytes(self.host_read, other.host_read),
            host_written: bytes(self.host_written, other.host_written),
            host_trimmed: bytes(self.host_trimmed, other.host_trimmed),
            pages_read: op(self.pages_read, other.pages_read),
            pages_programmed: op(self.pages_programmed, other.pages_programmed),
            pages_moved: op(self.pages_moved, other.pages_moved),
            blocks_erased: op(self.blocks_erased, other.blocks_erased),
            energy_nj: op(self.energy_nj, other.energy_nj),
            page: self.page,
        }
    }
}
