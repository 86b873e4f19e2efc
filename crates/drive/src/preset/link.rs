//! The table of a drive's file that describes its cable.

use block::{Bytes, Nanos, Rate};

use super::error::{PresetError, require};
use super::fields::table;
use super::units::{bytes, duration, rate, some_duration};
use crate::LinkTimes;

table!(
    pub(crate) LinkTable {
        #[serde(deserialize_with = "rate")]
        rate: Rate,
        #[serde(deserialize_with = "bytes")]
        frame: Bytes,
        #[serde(deserialize_with = "duration")]
        frame_overhead: Nanos,
        #[serde(deserialize_with = "duration")]
        command: Nanos,
        #[serde(default, deserialize_with = "some_duration")]
        command_write: Option<Nanos>,
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
