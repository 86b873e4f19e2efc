//! What a flash drive is made of.

use block::{Bytes, Nanos, Op, Rate, Request};
use serde::{Deserialize, Serialize};

use super::copies::{are_lent, drawn_memory, map_memory};
use super::{
    ArbitrationSpec, CollectionSpec, Geometry, MapCacheSpec, NandBehaviour, NandTimes, PatrolSpec, ReadAheadSpec,
    SlcSpec, TASKS, TaskSpec, retirement,
};
use crate::draw::Spread;
use crate::{LinkTimes, PowerSpec, Specimen, ThermalSpec, WearSpec, ZonesSpec};

/// A clone of a large map changes about one part in so many of it in a million random writes: a line of each table for each page
/// that is written or moved, and all of what says where those lines are and which slots are valid.
const CHANGED_PART: u64 = 8;

/// All that a flash drive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// The cable.
    pub link: LinkTimes,
    /// Processors of the controller, each with one command at a time.
    pub cores: u32,
    /// Of those, how many work on commands other than reads at once.
    pub write_cores: u32,
    /// How reads and other commands that wait for a processor take turns; in order of arrival if there is none.
    pub arbitration: Option<ArbitrationSpec>,
    /// What the firmware takes for each command before flash can begin.
    pub command: Nanos,
    /// How much that differs from one command to the next.
    pub jitter: Spread,
    /// What it takes beside, which delays the next command but not this one.
    pub retire: Nanos,
    /// The same for a write.
    pub retire_write: Nanos,
    /// What it takes to note that data went elsewhere than on from the last write; one note at a time.
    pub journal: Nanos,
    /// Whether a flush of what was written also programs a page of the map's journal.
    pub flush_journal: bool,
    /// What each change of the map takes beside: one for the first page that a write touches, one for all
    /// others; none where it goes on from the last write.
    pub write: Nanos,
    /// At which the controller passes written data on to flash: parity, error correction. None where nothing holds it up.
    pub write_rate: Option<Rate>,
    /// What each page that a write touches takes.
    pub page_write: Nanos,
    /// What each page that a read touches takes, which delays the next command but not this one.
    pub page_read: Nanos,
    /// What each page that a trim touches takes.
    pub page_trim: Nanos,
    /// What the firmware does for itself: the journal of the map, its checkpoint, a log.
    pub tasks: [Option<TaskSpec>; TASKS],
    /// How often flash is read in the background; none if it never is.
    pub patrol: Option<PatrolSpec>,
    /// The part of the page map in the controller's memory; none where all of it is.
    pub map_cache: Option<MapCacheSpec>,
    /// What is read before it is asked for, where reads come in order.
    pub read_ahead: ReadAheadSpec,
    /// What is always left of compressed data, in percent; none where nothing is compressed.
    pub compression: Option<u32>,
    /// Pages of the write buffer.
    pub buffer_pages: u32,
    /// Of those, how many may hold pages that were written in part.
    pub buffer_partial_pages: u32,
    /// Whether a read of a page that is still in the write buffer is answered from there.
    pub buffer_reads: bool,
    /// Whether a write is done only once it is programmed.
    pub write_through: bool,
    /// The layout of the flash.
    pub geometry: Geometry,
    /// The times of the flash.
    pub nand: NandTimes,
    /// How the flash behaves beside.
    pub behaviour: NandBehaviour,
    /// How blocks are emptied.
    pub collection: CollectionSpec,
    /// Whether reads of the host, and for the rest of a page of which it wrote a part, go before what a die has been given and
    /// has not begun.
    pub reads_first: bool,
    /// Blocks that are written with one bit a cell first.
    pub slc: Option<SlcSpec>,
    /// What it consumes.
    pub power: PowerSpec,
    /// How warm that makes it; none if it is not to be followed.
    pub thermal: Option<ThermalSpec>,
    /// How its blocks wear out; none if they do not.
    pub wear: Option<WearSpec>,
    /// How it is divided into zones; none if it is not.
    pub zones: Option<ZonesSpec>,
}

impl FlashSpec {
    /// Whether this write waits for flash, where a capacitor does not take care of it.
    #[inline]
    pub(super) const fn waits_for_flash(&self, write: &Request) -> bool {
        self.write_through || write.durable && !self.power.capacitor
    }

    /// How many processors may have such a command.
    #[inline]
    pub(super) fn cores_of(&self, op: Op) -> u32 {
        if op == Op::Read { self.cores } else { self.write_cores }
    }

    /// How many may have reads, and how many other commands.
    pub(super) fn cores_for(&self) -> [u32; 2] {
        [self.cores, self.write_cores]
    }

    /// Pages that the host can write.
    pub(super) fn pages(&self) -> u64 {
        self.capacity.get().div_ceil(self.geometry.page.get())
    }

    /// What its map takes in memory once all of it was written at random; nothing where zones take its place.
    pub(crate) fn map_memory(&self) -> Bytes {
        match self.zones {
            Some(_) => Bytes::ZERO,
            None if self.is_lent() => drawn_memory(self.pages(), self.geometry.pages()),
            None => map_memory(self.pages(), self.geometry.pages()),
        }
    }

    /// The same of a clone after some million writes: where it has the tables in common with others, what it changes of them.
    pub(crate) fn clone_memory(&self) -> Bytes {
        match self.is_lent() && self.zones.is_none() {
            true => Bytes::new(map_memory(self.pages(), self.geometry.pages()).get() / CHANGED_PART),
            false => self.map_memory(),
        }
    }

    fn is_lent(&self) -> bool {
        are_lent(self.pages() as usize, self.compression.is_some())
    }

    /// Whether the blocks of a specimen that are good when it leaves the factory hold all that it promises.
    pub(crate) fn has_room(&self, specimen: u32) -> bool {
        let pages = self.pages();
        let pages = pages + self.map_cache.map_or(0, |map| map.regions(pages));
        self.wear.is_none_or(|wear| {
            let wear = retirement::fresh(wear, &self.geometry, Specimen::new("", specimen));
            retirement::has_room(&wear, &self.geometry, self.collection.start, pages as u32)
        })
    }

    /// What the drive is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let (geometry, nand) = (&self.geometry, &self.nand);
        let raw = geometry.block().times(u64::from(geometry.blocks()));
        let user = self.zones.map_or(self.capacity, |zones| zones.writable());
        let spare = raw.get() as f64 / user.get() as f64 * 100.0 - 100.0;
        let Geometry { channels, dies_per_channel, planes, page, pages_per_block, .. } = geometry;
        let NandTimes { read, program, erase, channel, .. } = nand;
        let buffer = page.times(u64::from(self.buffer_pages));
        let (link, queue, command) = (self.link.rate, self.queue_depth, self.command);
        let mut facts = vec![
            ("capacity", format!("{user} user capacity, {raw} of flash: {spare:.1} % over-provisioning")),
            (
                "flash",
                format!(
                    "{channels} channels × {dies_per_channel} dies × {planes} planes, pages of {page}, \
                     {pages_per_block} per block"
                ),
            ),
            ("times", format!("read {read}, program {program}, erase {erase}, channel {channel}")),
            ("interface", format!("{link} link, queue depth {queue}, {command} per command, {buffer} write buffer")),
        ];
        facts.extend(self.zones.map(|zones| ("zones", zones.fact())));
        facts
    }
}
