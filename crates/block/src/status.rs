//! How a drive ends a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a drive ends a command; the names are those of NVMe.
///
/// Source: NVM Express Base Specification 2.0, figures 99 to 101 (generic, command specific, and media errors); Zoned
/// Namespace Command Set Specification 1.1, figure 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    #[default]
    Success,
    /// The drive has no such command.
    InvalidOpcode,
    /// A part of the command makes no sense: no whole blocks, or no zone.
    InvalidField,
    /// Data on the media cannot be corrected.
    UnrecoveredRead,
    /// The media took no data: the drive is read-only.
    WriteFault,
    /// The command goes beyond the end of a zone, or of what the zone can hold.
    ZoneBoundary,
    ZoneIsFull,
    ZoneIsReadOnly,
    ZoneIsOffline,
    /// A write elsewhere than at the write pointer.
    ZoneInvalidWrite,
    TooManyActiveZones,
    TooManyOpenZones,
    /// The zone's state does not allow the action.
    InvalidZoneTransition,
}

impl Status {
    /// Whether what was asked was done.
    #[inline]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success)
    }

    /// This, or `other` if this is success.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        if self.is_success() { other } else { self }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Success => "success",
            Self::InvalidField => "invalid field in command",
            Self::InvalidOpcode => "invalid command opcode",
            Self::UnrecoveredRead => "unrecovered read error",
            Self::WriteFault => "write fault",
            Self::ZoneBoundary => "zone boundary error",
            Self::ZoneIsFull => "zone is full",
            Self::ZoneIsReadOnly => "zone is read only",
            Self::ZoneIsOffline => "zone is offline",
            Self::ZoneInvalidWrite => "zone invalid write",
            Self::TooManyActiveZones => "too many active zones",
            Self::TooManyOpenZones => "too many open zones",
            Self::InvalidZoneTransition => "invalid zone state transition",
        })
    }
}
