//! The table of a drive's file that describes its cable.

use block::Bytes;

use super::error::{PresetError, require};
use super::fields::table;
use super::units;
use crate::LinkTimes;

table!(pub(crate) LinkTable {
    /// Data a second without the coding: `"300 MB/s"` for SATA 3 Gb/s
    rate: units::Rate,
    /// The most data of a frame, 16 B to 16 MiB
    frame: units::Bytes,
    /// What each full frame costs beside its data
    frame_overhead: units::Duration,
    /// What each command costs beside its data
    command: units::Duration,
    /// The same of a write, whose data the host must be told to send; `command` if left out
    command_write: Option<units::Duration>,
    /// Whether both directions carry data at once, as PCIe does and SATA does not
    duplex: bool = default,
});

impl LinkTable {
    /// What it says.
    ///
    /// # Errors
    /// If frames carry nothing.
    pub fn times(&self) -> Result<LinkTimes, PresetError> {
        let Self { rate, frame, frame_overhead, command, command_write, duplex, .. } = *self;
        require(frame > Bytes::ZERO, || "link.frame is zero".to_owned(), "a frame carries at least a byte")?;
        let command_write = command_write.unwrap_or(command);
        Ok(LinkTimes { rate, frame, frame_overhead, command, command_write, duplex })
    }
}
