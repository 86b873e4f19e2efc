//! The description of a workload.

use std::fmt;
use std::str::FromStr;

use block::{Bytes, Nanos, SECTOR};
use serde::{Deserialize, Serialize};
use thiserror::Error;

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

    /// Whether addresses are drawn at random.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw)
    }

    /// Whether reads and writes are mixed.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
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

/// When a workload ends: at the first of the limits that are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// After so much time.
    pub time: Option<Nanos>,
    /// After so many requests of each worker.
    pub requests: Option<u64>,
    /// After so much data of all workers together.
    pub bytes: Option<Bytes>,
}

impl Stop {
    /// After so much time.
    pub const fn after(time: Nanos) -> Self {
        Self { time: Some(time), requests: None, bytes: None }
    }

    /// After each worker has made so many requests.
    pub const fn after_requests(requests: u64) -> Self {
        Self { time: None, requests: Some(requests), bytes: None }
    }

    /// After so much data.
    pub const fn after_bytes(bytes: Bytes) -> Self {
        Self { time: None, requests: None, bytes: Some(bytes) }
    }

    /// Whether there is any limit at all.
    pub const fn is_set(&self) -> bool {
        self.time.is_some() || self.requests.is_some() || self.bytes.is_some()
    }
}

/// What is asked of a target. Field names on the command line and in plans are fio's, given in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Operations and order of addresses \[`rw`\].
    pub pattern: Pattern,
    /// The share of reads where reads and writes are mixed, in percent \[`rwmixread`\].
    pub read_percent: u8,
    /// The size of a request \[`bs`\].
    pub block: Bytes,
    /// How many requests each worker keeps in flight \[`iodepth`\].
    pub queue_depth: u32,
    /// How many workers \[`numjobs`\].
    pub workers: u32,
    /// Where the span that is used begins \[`offset`\].
    pub offset: Bytes,
    /// How long the span is; none for all that the target has \[`size`\].
    pub size: Option<Bytes>,
    /// When to end.
    pub stop: Stop,
    /// Time at the start that is run but not counted \[`ramp_time`\].
    pub ramp: Nanos,
}

impl Default for Workload {
    /// fio's defaults: sequential reads of 4 KiB, one at a time, by one worker.
    fn default() -> Self {
        Self {
            pattern: Pattern::Read,
            read_percent: 50,
            block: Bytes::from_kib(4),
            queue_depth: 1,
            workers: 1,
            offset: Bytes::ZERO,
            size: None,
            stop: Stop::default(),
            ramp: Nanos::ZERO,
        }
    }
}

/// The most requests that may be in flight at once, over all workers.
const DEPTH_MAX: u64 = 65_536;

impl Workload {
    /// The share of requests that read, in percent.
    pub const fn reads(&self) -> u8 {
        match self.pattern {
            Pattern::Read | Pattern::RandRead => 100,
            Pattern::ReadWrite | Pattern::RandRw => self.read_percent,
            _ => 0,
        }
    }

    /// The part of a target of `capacity` that the workload uses, in whole blocks: start and length.
    ///
    /// # Errors
    /// If the workload makes no sense at all or does not fit the target.
    pub fn span(&self, capacity: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        self.check()?;
        if self.offset >= capacity {
            return Err(Invalid::OffsetBeyond { offset: self.offset, capacity });
        }
        let length = self.size.unwrap_or(capacity - self.offset);
        if self.offset + length > capacity {
            return Err(Invalid::TooLarge { size: length, offset: self.offset, capacity });
        }
        let blocks = length.div(self.block);
        if blocks < u64::from(self.workers) {
            return Err(Invalid::TooSmall { size: length, block: self.block, workers: self.workers });
        }
        Ok((self.offset, self.block.times(blocks)))
    }

    /// Whether the numbers make sense by themselves.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.block == Bytes::ZERO || !self.block.is_multiple_of(SECTOR) {
            return Err(Invalid::Block { found: self.block });
        }
        if self.block.sectors() > u64::from(u32::MAX) {
            return Err(Invalid::BlockTooLarge { found: self.block });
        }
        if self.queue_depth == 0 || self.workers == 0 {
            return Err(Invalid::Nobody { depth: self.queue_depth, workers: self.workers });
        }
        if u64::from(self.queue_depth) * u64::from(self.workers) > DEPTH_MAX {
            return Err(Invalid::TooDeep { depth: self.queue_depth, workers: self.workers, max: DEPTH_MAX });
        }
        if self.read_percent > 100 {
            return Err(Invalid::ReadShare { found: self.read_percent });
        }
        if !self.offset.is_multiple_of(SECTOR) {
            return Err(Invalid::Offset { found: self.offset });
        }
        if !self.stop.is_set() {
            return Err(Invalid::Endless);
        }
        let none = self.stop.time == Some(Nanos::ZERO)
            || self.stop.requests == Some(0)
            || self.stop.bytes.is_some_and(|bytes| bytes < self.block);
        if none { Err(Invalid::EndsAtOnce { block: self.block }) } else { Ok(()) }
    }
}

/// Why a workload cannot be run. Each message says what was found, what would be right and what to do.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Invalid {
    #[error("block size {found} is not a whole number of 512 B sectors; try 512 or 4k")]
    Block { found: Bytes },
    #[error("block size {found} is too large: a request holds at most 2 TiB; try 1m")]
    BlockTooLarge { found: Bytes },
    #[error("queue depth {depth} × {workers} workers asks for nothing; both must be at least 1")]
    Nobody { depth: u32, workers: u32 },
    #[error("queue depth {depth} × {workers} workers is more than {max} requests in flight; lower iodepth or numjobs")]
    TooDeep { depth: u32, workers: u32, max: u64 },
    #[error("a read share of {found} % is more than everything; give 0 to 100")]
    ReadShare { found: u8 },
    #[error("offset {found} is not a whole number of 512 B sectors")]
    Offset { found: Bytes },
    #[error("offset {offset} is beyond the target's {capacity}; give a smaller offset")]
    OffsetBeyond { offset: Bytes, capacity: Bytes },
    #[error("size {size} from offset {offset} is more than the target's {capacity}; give a smaller size")]
    TooLarge { size: Bytes, offset: Bytes, capacity: Bytes },
    #[error(
        "size {size} holds fewer blocks of {block} than the {workers} workers; give a larger size or a smaller block"
    )]
    TooSmall { size: Bytes, block: Bytes, workers: u32 },
    #[error("nothing says when to stop; give runtime, number_ios or io_size")]
    Endless,
    #[error(
        "the workload would stop before its first request of {block}; give a longer runtime, more requests or more bytes"
    )]
    EndsAtOnce { block: Bytes },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_seconds() -> Workload {
        Workload { stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() }
    }

    #[test]
    fn every_pattern_is_read_by_the_name_it_is_written() {
        for (name, pattern) in Pattern::ALL {
            assert_eq!(name.parse(), Ok(pattern));
            assert_eq!(pattern.to_string(), name);
        }
        assert_eq!("rw".parse(), Ok(Pattern::ReadWrite));
        assert!("randreed".parse::<Pattern>().is_err());
    }

    #[test]
    fn the_span_is_the_whole_target_in_whole_blocks() {
        let span = Workload { block: Bytes::from_mib(4), ..ten_seconds() }.span(Bytes::from_mib(10));
        assert_eq!(span, Ok((Bytes::ZERO, Bytes::from_mib(8))));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let capacity = Bytes::from_gib(1);
        let cases = [
            (Workload { block: Bytes::new(1000), ..ten_seconds() }, "512 B sectors"),
            (Workload { queue_depth: 0, ..ten_seconds() }, "at least 1"),
            (Workload { workers: 100_000, ..ten_seconds() }, "in flight"),
            (Workload { size: Some(Bytes::from_gib(2)), ..ten_seconds() }, "more than the target's 1 GiB"),
            (Workload { offset: Bytes::from_gib(1), ..ten_seconds() }, "beyond the target's"),
            (Workload { stop: Stop::default(), ..ten_seconds() }, "when to stop"),
            (Workload { stop: Stop::after_requests(0), ..ten_seconds() }, "before its first request"),
            (Workload { block: Bytes::from_gib(1), workers: 2, ..ten_seconds() }, "fewer blocks"),
        ];
        for (workload, words) in cases {
            let said = workload.span(capacity).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
