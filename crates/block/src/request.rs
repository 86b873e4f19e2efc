//! What is asked of a drive, and its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Lba, Nanos, Status, ZoneAction};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
// With a tag of its own: to tell which it is takes one comparison, wherever the compiler would have hidden the tag.
#[repr(u8)]
pub enum Op {
    /// Bring data to the host.
    Read,
    /// Take data from the host.
    Write,
    /// Forget data: what was there need not be kept.
    Trim,
    /// Make all that was written survive a loss of power.
    Flush,
    /// Take data from the host to the write pointer of a zone, whose start is named.
    Append,
    /// Do something to a zone as a whole, whose start is named.
    Zone(ZoneAction),
}

impl Op {
    /// Its number among read, write, trim and flush; an append is a write, and what is done to zones is none of them.
    #[inline]
    pub const fn number(self) -> Option<usize> {
        match self {
            Self::Read => Some(0),
            Self::Write | Self::Append => Some(1),
            Self::Trim => Some(2),
            Self::Flush => Some(3),
            Self::Zone(_) => None,
        }
    }

    /// Whether only a drive with zones has this command.
    #[inline]
    pub const fn needs_zones(self) -> bool {
        matches!(self, Self::Append | Self::Zone(_))
    }

    /// How a drive without zones ends this command if it has nothing against it otherwise.
    #[inline]
    pub const fn without_zones(self) -> Status {
        if self.needs_zones() { Status::InvalidOpcode } else { Status::Success }
    }

    /// Whether data goes from the host to the drive.
    #[inline]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
            Op::Append => "append",
            Op::Zone(ZoneAction::Open) => "zone open",
            Op::Zone(ZoneAction::Close) => "zone close",
            Op::Zone(ZoneAction::Finish) => "zone finish",
            Op::Zone(ZoneAction::Reset) => "zone reset",
        })
    }
}

/// One read, write, trim or flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// The first sector; of no meaning for a flush.
    pub lba: Lba,
    /// How many sectors of 512 bytes; zero for a flush.
    pub sectors: u32,
    /// What is left of written data when it is compressed, in percent: 100 for random data, 0 for zeroes.
    pub entropy: u8,
    /// Whether a write must survive a loss of power before it completes (force unit access).
    pub durable: bool,
}

impl Request {
    /// A flush of everything written before it.
    pub const FLUSH: Self = Self::new(Op::Flush, Lba::new(0), 0);

    /// A request whose data, if any, does not compress and may wait in a cache.
    pub const fn new(op: Op, lba: Lba, sectors: u32) -> Self {
        Self { op, lba, sectors, entropy: 100, durable: false }
    }

    /// How much data it concerns.
    pub const fn bytes(&self) -> Bytes {
        Bytes::from_sectors(self.sectors as u64)
    }

    /// The request as the workload has it: a trim is carried out by the reset of a zone, whose length it names then.
    pub const fn as_asked(self) -> Self {
        match self.op {
            Op::Zone(ZoneAction::Reset) if self.sectors > 0 => Self { op: Op::Trim, ..self },
            _ => self,
        }
    }

    /// The sector after the last.
    pub const fn end(&self) -> Lba {
        Lba::new(self.lba.get() + self.sectors as u64)
    }
}

/// The asker's name for a request in flight; a drive hands it back and attaches no meaning to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tag(pub u32);

/// A request that has been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// When the host learnt of it.
    pub at: Nanos,
    /// The name it was submitted under.
    pub tag: Tag,
    /// Whether it was done, or why not.
    #[serde(default)]
    pub status: Status,
}

impl Completion {
    /// The answer to a request that was done.
    #[inline]
    pub const fn new(at: Nanos, tag: Tag) -> Self {
        Self { at, tag, status: Status::Success }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_is_two_words() {
        assert_eq!(size_of::<Completion>(), 16);
    }
}
