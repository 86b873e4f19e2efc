//! What is asked of a drive, and its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Lba, Nanos};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Bring data to the host.
    Read,
    /// Take data from the host.
    Write,
    /// Forget data: what was there need not be kept.
    Trim,
    /// Make all that was written survive a loss of power.
    Flush,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        })
    }
}

/// One read, write, trim or flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// The first sector; of no meaning for a flush.
    pub lba: Lba,
    /// How many sectors of 512 bytes; zero for a flush.
    pub sectors: u32,
}

impl Request {
    /// A flush of everything written before it.
    pub const FLUSH: Self = Self { op: Op::Flush, lba: Lba::new(0), sectors: 0 };

    /// How much data it concerns.
    pub const fn bytes(&self) -> Bytes {
        Bytes::from_sectors(self.sectors as u64)
    }

    /// The sector after the last.
    pub const fn end(&self) -> Lba {
        Lba::new(self.lba.get() + self.sectors as u64)
    }
}

/// The asker's name for a request in flight; a drive hands it back and attaches no meaning to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// A request that has been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the host learnt of it.
    pub at: Nanos,
    /// The name it was submitted under.
    pub tag: Tag,
}
