//! What a flash drive's file says of its firmware.

use block::{Bytes, Nanos};

use super::Controller;
use crate::flash::{ArbitrationSpec, Geometry, ReadAheadSpec};
use crate::preset::{PresetError, require, table};

table!(pub(super) ArbitrationTable {
    /// Reads that are taken in a round where both kinds wait, 1 to 256
    read_weight: u32 = 1,
    /// Other commands that are taken in such a round, 1 to 256
    write_weight: u32 = 1,
    /// Whether a write that waits for its mapping page leaves its core to other commands meanwhile, as reads
    /// always do. The core goes on with it when the page is there and the command that it has then is done; the
    /// write's own completion does not wait for that command
    non_blocking: bool = default,
});

impl ArbitrationTable {
    /// The turns of the commands, on a drive that may have a map in flash.
    pub(super) fn spec(&self, has_map: bool) -> Result<ArbitrationSpec, PresetError> {
        let weights = [self.read_weight, self.write_weight];
        require(
            weights.iter().all(|weight| (1..=256).contains(weight)),
            || format!("arbitration.read_weight is {}, arbitration.write_weight {}", weights[0], weights[1]),
            "1 to 256 commands of either kind are taken in a round",
        )?;
        require(
            has_map || !self.non_blocking,
            || "arbitration.non_blocking is true, and the drive has no [map]".to_owned(),
            "where all of the map is in memory no write waits for it: leave non_blocking out",
        )?;
        Ok(ArbitrationSpec { weights, non_blocking: self.non_blocking })
    }
}

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

    /// How many of them may work on writes at once.
    pub(super) fn write_cores(&self, cores: u32) -> Result<u32, PresetError> {
        let write_cores = self.write_cores.unwrap_or(cores);
        require(
            (1..=cores).contains(&write_cores),
            || format!("controller.write_cores is {write_cores}, controller.cores {cores}"),
            "1 to all of the cores work on writes",
        )?;
        Ok(write_cores)
    }

    /// What is read ahead of how many streams.
    pub(super) fn read_ahead(&self, geometry: &Geometry) -> Result<ReadAheadSpec, PresetError> {
        let Self { read_ahead, read_streams, read_ahead_page: page, .. } = *self;
        let pages = read_ahead.map_or(0, |ahead| ahead.div(geometry.page) as u32);
        let streams = read_streams.unwrap_or(1);
        require(
            read_ahead.is_none_or(|ahead| ahead <= Bytes::from_mib(64)),
            || format!("controller.read_ahead is {}", read_ahead.unwrap_or(Bytes::ZERO)),
            "a drive reads at most 64 MiB ahead; check its unit",
        )?;
        // Where a drive's file turns it off, what its class says of it is without effect.
        let is_off = read_ahead == Some(Bytes::ZERO);
        let says_nothing = read_ahead.is_none() && read_streams.is_none() && page == Nanos::ZERO;
        require(
            (1..=64).contains(&streams) && (pages > 0 || is_off || says_nothing),
            || {
                let ahead = read_ahead.map_or_else(|| "not given".to_owned(), |ahead| ahead.to_string());
                format!("controller.read_streams is {streams}, controller.read_ahead {ahead}")
            },
            "1 to 64 sequential streams are followed where controller.read_ahead is a page or more; 0 turns it off; without it \
             leave read_streams and read_ahead_page out",
        )?;
        Ok(ReadAheadSpec { pages, streams, page })
    }
}
