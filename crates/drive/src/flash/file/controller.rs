//! What a flash drive's file says of its firmware.

use block::Nanos;

use super::Controller;
use crate::flash::{Geometry, ReadAheadSpec};
use crate::preset::{PresetError, require};

impl Controller {
    /// How many processors the firmware runs on.
    pub(super) fn cores(&self) -> Result<u32, PresetError> {
        let cores = self.cores.unwrap_or(1);
        require(
            (1..=1 << 16).contains(&self.queue_depth) && (1..=256).contains(&cores),
            || format!("controller has a queue of {} and {cores} cores", self.queue_depth),
            "the queue takes 1 to 65,536 commands, the firmware runs on 1 to 256 cores",
        )?;
        Ok(cores)
    }

    /// What is read ahead of how many streams.
    pub(super) fn read_ahead(&self, geometry: &Geometry) -> Result<ReadAheadSpec, PresetError> {
        let Self { read_ahead, read_streams, read_ahead_page: page, .. } = *self;
        let pages = read_ahead.map_or(0, |ahead| ahead.div(geometry.page) as u32);
        let streams = read_streams.unwrap_or(1);
        require(
            (1..=64).contains(&streams) && (pages > 0 || read_streams.is_none() && page == Nanos::ZERO),
            || format!("controller.read_streams is {streams}, controller.read_ahead {pages} pages"),
            "1 to 64 sequential streams are followed where controller.read_ahead is a page or more; without it leave \
             read_streams and read_ahead_page out",
        )?;
        Ok(ReadAheadSpec { pages, streams, page })
    }
}
