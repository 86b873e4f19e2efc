//! What a drive has done.

use std::array::from_fn;
use std::ops::{Add, Sub};

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, Status, Zone};
use serde::{Deserialize, Serialize};

/// Declares [`Counters`], their sum and their difference, so that a counter is named once.
macro_rules! counters {
    (
        counted { $($(#[$counted_about:meta])* $counted:ident: $kind:ty,)* }
        known { $($(#[$known_about:meta])* $known:ident: $of:ty,)* }
    ) => {
        /// What a drive has done since it was made, or between two such readings.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Counters {
            /// Requests by kind: read, write, trim, flush.
            pub requests: [u64; 4],
            $($(#[$counted_about])* pub $counted: $kind,)*
            $($(#[$known_about])* pub $known: $of,)*
        }

        /// What was done between the earlier reading `before` and `self`.
        impl Sub for Counters {
            type Output = Self;
            fn sub(self, before: Self) -> Self {
                let requests = from_fn(|kind| self.requests[kind] - before.requests[kind]);
                Self { requests, $($counted: self.$counted - before.$counted,)* ..self }
            }
        }

        /// What was done in two stretches of time.
        impl Add for Counters {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                let requests = from_fn(|kind| self.requests[kind] + other.requests[kind]);
                Self { requests, $($counted: self.$counted + other.$counted,)* ..self }
            }
        }
    };
}

counters! {
    counted {
        /// Data that the host read.
        host_read: Bytes,
        /// Data that the host wrote.
        host_written: Bytes,
        /// Of what it wrote, data that a worn-out drive did not take.
        host_rejected: Bytes,
        /// Data that the host trimmed.
        host_trimmed: Bytes,
        /// Flash pages read for the host, for read-modify-write, for collection and by patrol.
        pages_read: u64,
        /// Flash pages programmed, for the host and for collection.
        pages_programmed: u64,
        /// Of those, pages that collection moved.
        pages_moved: u64,
        /// Flash blocks erased.
        blocks_erased: u64,
        /// Blocks that were emptied because reads of them took many retries.
        blocks_refreshed: u64,
        /// Of the pages moved, those of such blocks.
        pages_refreshed: u64,
        /// How often programs were suspended for reads; one of them several times.
        program_suspensions: u64,
        /// The same of erases.
        erase_suspensions: u64,
        /// Array reads beyond the first that raw bit errors made necessary.
        read_retries: u64,
        /// Pages that took soft decoding.
        soft_decodes: u64,
        /// Of those, pages that could not be corrected even so.
        uncorrectable: u64,
        /// Array reads of patrol.
        patrol_reads: u64,
        /// Pages that were read before they were asked for.
        pages_read_ahead: u64,
        /// Of those, pages that were dropped before they were asked for.
        read_ahead_wasted: u64,
        /// Commands that ended with an error.
        failed: u64,
        /// Reads of an array's member that failed and were made good from the other members.
        repaired: u64,
        /// Zones that were reset while something was written in them.
        zone_resets: u64,
        /// Energy used, in nanojoules; zero if the drive's file does not say what it consumes.
        energy_nj: u64,
        /// Time at a slower pace because the drive was too warm.
        throttled: Nanos,
        /// Times that power was cut without notice.
        unsafe_shutdowns: u64,
        /// How long the host's processors worked for requests, summed over them.
        host_busy: Nanos,
        /// How long the one that worked most did.
        host_busiest: Nanos,
        /// How long the controllers' processors worked for commands, summed over them.
        controller_commands_busy: Nanos,
        /// How long the controllers moved data, summed over them.
        controller_data_busy: Nanos,
    }
    known {
        /// The size of a flash page, so that pages can be compared with bytes.
        page: Bytes,
        /// How many processors the host has, so that they can be compared with time; zero where there is no rig.
        host_cpus: u32,
        controllers: u32,
    }
}

impl Counters {
    /// Data programmed into flash for each byte that the host wrote; none where it wrote nothing or there is no
    /// flash.
    pub fn write_amplification(&self) -> Option<f64> {
        // Counters of a stored run may be any number, so they are not multiplied as whole ones.
        let programmed = self.page.get() as f64 * self.pages_programmed as f64;
        let taken = self.host_taken();
        (taken > Bytes::ZERO && self.page > Bytes::ZERO).then(|| programmed / taken.get() as f64)
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
