//! Zones, as a host sees them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Lba;

/// What a host asks of a zone as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZoneAction {
    Open,
    Close,
    /// Have it full, whatever was written.
    Finish,
    /// Forget what was written: the write pointer is at the start again.
    Reset,
}

/// The state of a zone.
///
/// Source: NVM Express Zoned Namespace Command Set Specification 1.1, §2.1.1.2; T10 ZBC-2, §4.4.3, has the same states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneState {
    /// It has no write pointer, and is written in any order.
    Conventional,
    Empty,
    /// Opened by a write.
    ImplicitlyOpen,
    /// Opened by [`ZoneAction::Open`].
    ExplicitlyOpen,
    Closed,
    Full,
    ReadOnly,
    Offline,
}

impl ZoneState {
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// Whether it takes one of the drive's active resources.
    pub const fn is_active(self) -> bool {
        self.is_open() || matches!(self, Self::Closed)
    }
}

impl fmt::Display for ZoneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Conventional => "conventional",
            Self::Empty => "empty",
            Self::ImplicitlyOpen => "implicitly open",
            Self::ExplicitlyOpen => "explicitly open",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::ReadOnly => "read only",
            Self::Offline => "offline",
        })
    }
}

/// A zone as the drive reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Its first sector.
    pub start: Lba,
    /// The sector after the last that can be written.
    pub writable: Lba,
    /// The first sector of the next zone.
    pub end: Lba,
    pub state: ZoneState,
    /// Where the next write goes; at `writable` in a full zone, without meaning in a conventional one.
    pub pointer: Lba,
}

/// How many zones may be in use at once; none where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneLimits {
    pub open: Option<u32>,
    pub active: Option<u32>,
    /// Whether the drive has the command that writes at the write pointer and tells where that was.
    pub append: bool,
}
