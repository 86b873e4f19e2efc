//! The table of a drive's file that describes its cable.

use block::Bytes;

use super::error::{PresetError, require};
use super::fields::table;
use super::units;
use crate::LinkTimes;

table!(
    pub(crate) LinkTable {
        rate: units::Rate,
        frame: units::Bytes,
        frame_overhead: units::Duration,
        command: units::Duration,
        command_write: Option<units::Duration>,
        #[serde(default)]
        duplex: bool,
    }
);

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
