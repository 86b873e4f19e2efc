//! What a drive has done.

use std::ops::{Add, Sub};

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, Status, Zone};
use serde::{Deserialize, Serialize};

/// What a drive has done since it was made, or between two such readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Requests by kind: read, write, trim, flush.
    pub requests: [u64; 4],
    /// Data that the host read.
    pub host_read: Bytes,
    /// Data that the host wrote.
    pub host_written: Bytes,
    /// Of what it wrote, data that a worn-out drive did not take.
    pub host_rejected: Bytes,
    /// Data that the host trimmed.
    pub host_trimmed: Bytes,
    /// Flash pages read for the host, for read-modify-write, for collection and by patrol.
    pub pages_read: u64,
    /// Flash pages programmed, for the host and for collection.
    pub pages_programmed: u64,
    /// Of those, pages that collection moved.
    pub pages_moved: u64,
    /// Flash blocks erased.
    pub blocks_erased: u64,
    /// Array reads beyond the first that raw bit errors made necessary.
    pub read_retries: u64,
    /// Pages that took soft decoding.
    pub soft_decodes: u64,
    /// Of those, pages that could not be corrected even so.
    pub uncorrectable: u64,
    /// Array reads of patrol.
    pub patrol_reads: u64,
    /// Pages that were read before they were asked for.
    pub pages_read_ahead: u64,
    /// Of those, pages that were dropped before they were asked for.
    pub read_ahead_wasted: u64,
    /// Commands that ended with an error.
    pub failed: u64,
    /// Reads of an array's member that failed and were made good from the other members.
    pub repaired: u64,
    /// Zones that were reset while something was written in them.
    pub zone_resets: u64,
    /// Energy used, in nanojoules; zero if the drive's file does not say what it consumes.
    pub energy_nj: u64,
    /// Time at a slower pace because the drive was too warm.
    pub throttled: Nanos,
    /// Times that power was cut without notice.
    pub unsafe_shutdowns: u64,
    /// How long the host's processors worked for requests, summed over them.
    pub host_busy: Nanos,
    /// How long the one that worked most did.
    pub host_busiest: Nanos,
    /// How long the controllers' processors worked for commands, summed over them.
    pub controller_commands_busy: Nanos,
    /// How long the controllers moved data, summed over them.
    pub controller_data_busy: Nanos,
    /// The size of a flash page, so that pages can be compared with bytes.
    pub page: Bytes,
    /// How many processors the host has, so that they can be compared with time; zero where there is no rig.
    pub host_cpus: u32,
    pub controllers: u32,
}

impl Counters {
    /// Data programmed into flash for each byte that the host wrote; none where it wrote nothing or there is no
    /// flash.
    pub fn write_amplification(&self) -> Option<f64> {
        // Counters of a stored run may be any number, so they are not multiplied as whole ones.
        let programmed = self.page.get() as f64 * self.pages_programmed as f64;
        (self.host_written > Bytes::ZERO && self.page > Bytes::ZERO)
            .then(|| programmed / self.host_written.get() as f64)
    }

    /// Data that the host wrote and the drive took.
    pub fn host_taken(&self) -> Bytes {
        Bytes::new(self.host_written.get().saturating_sub(self.host_rejected.get()))
    }

    /// Counts how a request was ended.
    #[inline]
    pub(crate) fn count_end(&mut self, status: Status) {
        self.failed += u64::from(!status.is_success());
    }

    /// Counts writes of `block` each from `first` to `end`.
    pub(crate) fn count_writes(&mut self, first: Lba, end: Lba, block: Bytes) {
        let bytes = SECTOR.times(end.get() - first.get());
        self.requests[1] += bytes.get().div_ceil(block.get().max(1));
        self.host_written += bytes;
    }

    /// The same of a drive whose zones these are: of each, what can be written; all of it where there are none.
    pub(crate) fn count_fill(&mut self, zones: &[Zone], first: Lba, end: Lba, block: Bytes) {
        if zones.is_empty() {
            return self.count_writes(first, end, block);
        }
        let within = zones.iter().filter(|zone| first <= zone.start && zone.end <= end);
        within.for_each(|zone| self.count_writes(zone.start, zone.writable, block));
    }

    /// Counts a request that was taken.
    #[inline]
    pub(crate) fn count(&mut self, request: &Request) {
        let (kind, bytes) = match request.op {
            Op::Read => (0, &mut self.host_read),
            Op::Write | Op::Append => (1, &mut self.host_written),
            Op::Trim => (2, &mut self.host_trimmed),
            Op::Flush => return self.requests[3] += 1,
            Op::Zone(_) => return,
        };
        *bytes += request.bytes();
        self.requests[kind] += 1;
    }

    /// What was done inside, for what was asked of the whole.
    pub(crate) fn asked_as(self, whole: &Self) -> Self {
        let Self { requests, host_read, host_written, host_trimmed, failed, .. } = *whole;
        Self { requests, host_read, host_written, host_trimmed, failed, ..self }
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
        let time = |mine: Nanos, other: Nanos| Nanos::from_nanos(op(mine.as_nanos(), other.as_nanos()));
        Self {
            requests: std::array::from_fn(|i| op(self.requests[i], other.requests[i])),
            host_read: bytes(self.host_read, other.host_read),
            host_written: bytes(self.host_written, other.host_written),
            host_rejected: bytes(self.host_rejected, other.host_rejected),
            host_trimmed: bytes(self.host_trimmed, other.host_trimmed),
            pages_read: op(self.pages_read, other.pages_read),
            pages_programmed: op(self.pages_programmed, other.pages_programmed),
            pages_moved: op(self.pages_moved, other.pages_moved),
            blocks_erased: op(self.blocks_erased, other.blocks_erased),
            read_retries: op(self.read_retries, other.read_retries),
            soft_decodes: op(self.soft_decodes, other.soft_decodes),
            uncorrectable: op(self.uncorrectable, other.uncorrectable),
            patrol_reads: op(self.patrol_reads, other.patrol_reads),
            pages_read_ahead: op(self.pages_read_ahead, other.pages_read_ahead),
            read_ahead_wasted: op(self.read_ahead_wasted, other.read_ahead_wasted),
            failed: op(self.failed, other.failed),
            zone_resets: op(self.zone_resets, other.zone_resets),
            repaired: op(self.repaired, other.repaired),
            energy_nj: op(self.energy_nj, other.energy_nj),
            throttled: time(self.throttled, other.throttled),
            unsafe_shutdowns: op(self.unsafe_shutdowns, other.unsafe_shutdowns),
            host_busy: time(self.host_busy, other.host_busy),
            host_busiest: time(self.host_busiest, other.host_busiest),
            controller_commands_busy: time(self.controller_commands_busy, other.controller_commands_busy),
            controller_data_busy: time(self.controller_data_busy, other.controller_data_busy),
            page: self.page,
            host_cpus: self.host_cpus,
            controllers: self.controllers,
        }
    }
}
