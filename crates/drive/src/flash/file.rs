//! A flash drive as its file describes it.

mod behaviour;
mod collection;
mod controller;
mod slc;
mod wear;
mod zones;

use behaviour::{ErrorsTable, PatrolTable, SuspendTable, VariationTable};
pub(crate) use behaviour::{TaskTable, deviation};
use block::{Bytes, Nanos};
use collection::CollectionTable;
use controller::ArbitrationTable;
use serde::Deserialize;
use slc::SlcTable;
use wear::WearTable;

use super::packing::Packing;
use super::retirement::WORN_START_MIN;
use super::{
    CellTimes, CollectionSpec, FlashSpec, Geometry, MapCacheSpec, NandBehaviour, NandTimes, PAGE_TYPES_MAX, PageOrder,
    PageTypes, TablesSpec, TaskSpec,
};
use crate::draw::{Factor, Spread};
use crate::preset::link::LinkTable;
use crate::preset::power::{PowerTable, ThermalTable};
use crate::preset::units::{self, given, percent};
use crate::preset::zones::ZonesTable;
use crate::preset::{HostTable, PresetError, Rated, drive_file, require, table, words};
use crate::smart::IdentityTable;
use crate::{PowerSpec, ZoneRules};

/// What a page takes that is trimmed, where the file does not say (a guess): its entry of the map and its block's count of
/// valid pages are changed in memory.
const PAGE_TRIM: Nanos = Nanos::from_nanos(10);

drive_file!(
    /// A drive's file as it is written.
    FlashFile {
        /// What the host can store, and what flash there is beyond that
        capacity: Capacity,
        /// How the flash is laid out
        geometry: GeometryTable,
        /// What the flash takes
        nand: NandTable,
        /// The firmware
        controller: Controller,
        /// Turns of reads and other commands, which are taken in order of arrival without it
        arbitration: Option<ArbitrationTable>,
        /// The map where it is not all in the controller's memory, as without it
        map: Option<MapTable>,
        /// Garbage collection; greedy, as late as can be, without it
        gc: Option<CollectionTable>,
        /// The SLC cache, if there is one
        slc: Option<SlcTable>,
        /// The write buffer
        buffer: BufferTable,
        /// The link to the host
        link: LinkTable,
        /// What the drive uses, and what it does without power
        power: Option<PowerTable>,
        /// How warm that makes it, and how it slows down
        thermal: Option<ThermalTable>,
        /// What it says of itself; follows from name and title without it
        smart: Option<IdentityTable>,
        /// How blocks wear out; they do not without it
        wear: Option<WearTable>,
        /// How dies, blocks, word lines and operations differ; they do not without it
        variation: Option<VariationTable>,
        /// Raw bit errors and what is done about them; none without it
        errors: Option<ErrorsTable>,
        /// Suspension of programs and erases by reads; none without it
        suspend: Option<SuspendTable>,
        /// The journal of the map, which holds commands from time to time
        journal: Option<TaskTable>,
        /// The checkpoint of the map, likewise
        checkpoint: Option<TaskTable>,
        /// A log of the firmware, likewise
        log: Option<TaskTable>,
        /// Reads of all flash in the background
        patrol: Option<PatrolTable>,
        /// Zones (ZNS), if the drive has them
        zones: Option<ZonesTable>,
        /// The host in which it is measured; by itself without it
        rig: Option<HostTable>,
    }
    #[serde(default)]
    pub rated: Rated,
);

table!(Capacity {
    /// What the host can store
    user: units::Bytes,
    /// Over-provisioning: flash beyond that as a share of it
    spare: units::Share,
});

table!(GeometryTable {
    /// Buses between controller and dies, 1 to 1,024
    channels: u32,
    /// Dies on each of them
    dies_per_channel: u32,
    /// Planes of each die; a plane is the unit that allocation takes by turns
    planes: u32,
    /// Whether the planes of a die program together
    multi_plane: bool,
    /// What an entry of the map stands for, 512 B to 64 KiB: a logical page or indirection unit
    page: units::Bytes,
    /// What is programmed at once in a plane, whole pages; `page` if left out
    program: Option<units::Bytes>,
    /// What an array read brings; divides `program`, which it is if left out
    sense: Option<units::Bytes>,
    /// Pages of a block, 1 to 16,384
    pages_per_block: u32,
});

table!(NandTable {
    /// Array read, from the cells into the register: the mean over the page types
    read: units::Duration,
    /// Program, from the register into the cells: the mean over the page types
    program: units::Duration,
    /// Erase of a block
    erase: units::Duration,
    /// Rate of each channel
    channel: units::Rate,
    /// Whether pages that collection moves stay inside their die. If not, they cross the channel twice to be
    /// corrected
    copy_back: bool,
    /// Whether the next page is transferred to a die while one is programmed
    cache_program: bool = default,
    /// Whether a die keeps the page it read last, so that other logical pages of it need no array read; if left
    /// out, where `geometry.sense` is several pages
    keeps_page: Option<bool>,
    /// Whether reads go before what a die has not begun, and with `[suspend]` before what is in progress; true if
    /// left out
    reads_first: Option<bool>,
    /// One to four shares of `read`, one a page type, whose mean is 100%
    read_by_page: units::Shares = default,
    /// The same of `program`, where pages are programmed one by one (MLC). Where a word line is programmed in one
    /// shot, `geometry.program` is all its pages, and this is left out
    program_by_page: units::Shares = default,
    /// Order in which the pages of a block are programmed: word line by word line (`word-lines`), or each page of a word line once
    /// the next one has the page before it (`shadow`: L0, L1, U0, L2, U1 ...), as MLC and TLC that are programmed page by page;
    /// `word-lines` if left out
    page_order: Option<OrderName>,
});

/// In which order the pages of a block are programmed.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OrderName {
    WordLines,
    Shadow,
}

words!(OrderName);

table!(Controller {
    /// Commands that the drive takes at once, 1 to 65,536
    queue_depth: u32,
    /// Processors that the firmware runs on, each with one command at a time, 1 to 256; 1 if left out
    cores: Option<u32>,
    /// Of those, how many may work on writes at once; all if left out
    write_cores: Option<u32>,
    /// Firmware time of each command before flash can begin
    command: units::Duration,
    /// Relative standard deviation of `command` from one command to the next
    jitter: units::Share = default,
    /// Firmware time beside, which delays the next command and not this one
    retire: units::Duration,
    /// The same of a write; `retire` if left out
    retire_write: Option<units::Duration>,
    /// Time to note that data went elsewhere than on from the last write, one note at a time
    journal: units::Duration = default,
    /// Whether a flush of written data also programs a page of the map's journal
    flush_journal: bool = default,
    /// Time of each update of the map by a write: one for its first page, one for all others, none where it goes
    /// on from the last write
    write: units::Duration = default,
    /// Time of each page that a write touches
    page_write: units::Duration = default,
    /// Time of each page that a read touches, which delays the next command and not this one
    page_read: units::Duration = default,
    /// Time of each page that a trim touches; 10 ns if left out (a guess)
    page_trim: Option<units::Duration>,
    /// Rate at which the controller passes written data on to flash; no limit if left out
    write_rate: Option<units::Rate>,
    /// Data read beyond the last of a sequential stream, at most 64 MiB; 0, as if left out: nothing
    read_ahead: Option<units::Bytes>,
    /// Sequential streams that are followed at once, 1 to 64; 1 if left out
    read_streams: Option<u32>,
    /// Time of each page that is read ahead, which delays the next command
    read_ahead_page: units::Duration = default,
    /// What is always left of compressed data, 1% to 100%; nothing is compressed if left out. Needs `gc.policy =
    /// "greedy"`, no `[slc]`
    compression_floor: Option<units::Share>,
});

table!(MapTable {
    /// The controller's memory for the map, the whole of which is in flash
    cache: units::Bytes,
    /// What the map takes for a page
    entry: units::Bytes,
    /// What the map takes for an extent of pages written in order
    extent: units::Bytes,
    /// Memory of the controller for tables that reads look up, at most 16 GiB; if left out, reads know of extents
    /// and hold nothing
    lookup: Option<units::Bytes>,
    /// Host memory buffer that holds more of them; needs `lookup`; none if left out
    hmb: Option<units::Bytes>,
    /// Time of an access to the host's memory, beside the transfer over the link
    hmb_access: Option<units::Duration>,
});

table!(BufferTable {
    /// The write buffer: a write is done when it is there
    size: units::Bytes,
    /// How much of it may be pages that were written in part, and wait for the rest
    partial: units::Bytes,
    /// Whether pages that are still in the buffer are read from there. If not, such a read waits for the program
    serves_reads: bool = default,
    /// Whether a write is done only once it is programmed, as with the volatile write cache turned off: each is a write with FUA, on
    /// a drive with `power.capacitor` too
    write_through: bool = default,
});

impl MapTable {
    fn spec(&self, page: Bytes) -> Result<MapCacheSpec, PresetError> {
        let Self { cache: size, entry, extent, .. } = *self;
        require(
            size >= page && [entry, extent].iter().all(|&of| of > Bytes::ZERO && of.times(2) <= page),
            || format!("map.cache is {size}, map.entry {entry}, map.extent {extent}"),
            "the cache holds at least one page, and a page at least two entries or extents",
        )?;
        Ok(MapCacheSpec { size, extent, page, entries: page.div(entry) as u32, tables: self.tables(page)? })
    }

    /// Where tables of a page each are held for reads, if they are.
    fn tables(&self, page: Bytes) -> Result<Option<TablesSpec>, PresetError> {
        let Some(lookup) = self.lookup else {
            require(
                self.hmb.is_none() && self.hmb_access.is_none(),
                || "map has hmb or hmb_access, and no lookup".to_owned(),
                "a host memory buffer holds tables that the controller looks up: say how much of it holds such, map.lookup",
            )?;
            return Ok(None);
        };
        let hmb = self.hmb.unwrap_or(Bytes::ZERO);
        require(
            lookup.max(hmb) <= Bytes::from_gib(16),
            || format!("map.lookup is {lookup}, map.hmb {hmb}"),
            "each is at most 16 GiB",
        )?;
        let tables = |size: Bytes| size.div(page) as u32;
        let hmb_access = self.hmb_access.unwrap_or_default();
        Ok(Some(TablesSpec { lookup: tables(lookup), hmb: tables(hmb), hmb_access }))
    }
}

impl GeometryTable {
    /// The flash that holds this capacity.
    fn geometry(&self, capacity: &Capacity) -> Result<Geometry, PresetError> {
        let Self { channels, dies_per_channel, planes, multi_plane, page, pages_per_block, .. } = *self;
        require(
            page.get().is_power_of_two() && (1..=128).contains(&page.sectors()),
            || format!("geometry.page is {page}"),
            "a page is 512 B, 1, 2, 4 … or 64 KiB",
        )?;
        require(
            (1..=16_384).contains(&pages_per_block),
            || format!("geometry.pages_per_block is {pages_per_block}"),
            "a block has 1 to 16,384 pages",
        )?;
        let units = [channels, dies_per_channel, planes];
        require(
            units.iter().all(|count| (1..=1024).contains(count)),
            || format!("geometry.channels is {channels}, dies_per_channel {dies_per_channel}, planes {planes}"),
            "each is 1 to 1,024",
        )?;
        let program = self.program.unwrap_or(page);
        let program_pages = program.div(page);
        require(
            program_pages >= 1
                && program.is_multiple_of(page)
                && u64::from(pages_per_block).is_multiple_of(program_pages),
            || format!("geometry.program is {program}, geometry.page {page}, pages_per_block {pages_per_block}"),
            "whole pages are programmed together, and a block is a whole number of such",
        )?;
        let sense = self.sense.unwrap_or(program);
        let sense_pages = sense.div(page);
        require(
            sense_pages >= 1 && sense.is_multiple_of(page) && program_pages.is_multiple_of(sense_pages),
            || format!("geometry.sense is {sense}, geometry.page {page}, geometry.program {program}"),
            "an array read brings whole pages, and a flash page is a whole number of such reads",
        )?;
        let (program_pages, sense_pages) = (program_pages as u32, sense_pages as u32);
        let blocks_per_plane = 0;
        let geometry = Geometry {
            channels,
            dies_per_channel,
            planes,
            multi_plane,
            blocks_per_plane,
            pages_per_block,
            page,
            program_pages,
            sense_pages,
        };
        Ok(geometry.with_spare(capacity.user, capacity.spare))
    }
}

impl NandTable {
    /// The times of the flash; cells of one bit have those of `slc`, where there are such.
    fn times(&self, geometry: &Geometry, slc: Option<&SlcTable>) -> Result<NandTimes, PresetError> {
        let Self { read, program, erase, channel, copy_back, cache_program, .. } = *self;
        // A page of several logical ones is read once for all of a command's.
        let keeps_page = self.keeps_page.unwrap_or(geometry.sense_pages > 1);
        let single = slc.map_or(CellTimes { read, program }, SlcTable::cells);
        let pages = self.pages(geometry)?;
        Ok(NandTimes { read, program, pages, single, erase, channel, copy_back, cache_program, keeps_page })
    }

    /// How the pages of a word line differ.
    fn pages(&self, geometry: &Geometry) -> Result<PageTypes, PresetError> {
        let (reads, programs) = (&self.read_by_page, &self.program_by_page);
        let fits = |shares: &[u64]| {
            let mean = shares.iter().sum::<u64>() / (shares.len() as u64).max(1);
            shares.is_empty() || shares.len() <= PAGE_TYPES_MAX && mean.abs_diff(1_000_000) <= 10_000
        };
        let agree = reads.is_empty() || programs.is_empty() || reads.len() == programs.len();
        require(
            fits(reads) && fits(programs) && agree,
            || {
                let list = |shares: &[u64]| shares.iter().copied().map(percent).collect::<Vec<_>>().join(", ");
                format!("nand.read_by_page is [{}], nand.program_by_page [{}]", list(reads), list(programs))
            },
            "each names the one to four page types of a word line as shares of nand.read and nand.program whose mean is 100%, and both have as many",
        )?;
        let factors = |shares: &[u64]| {
            std::array::from_fn(|page| {
                shares.get(page).map_or(Factor::ONE, |share| Factor::from_units(((share << 16) / 1_000_000) as u32))
            })
        };
        let count = reads.len().max(programs.len()).max(1) as u32;
        let word_lines = geometry.senses_per_block().div_ceil(count);
        let order = match self.page_order {
            None | Some(OrderName::WordLines) => PageOrder::WordLines,
            Some(OrderName::Shadow) => PageOrder::Shadow { word_lines },
        };
        require(
            order == PageOrder::WordLines
                || count > 1 && geometry.sense_pages == geometry.program_pages && word_lines >= count,
            || {
                format!(
                    "nand.page_order is shadow with {count} page types, {word_lines} word lines a block and {} array reads a program",
                    geometry.program_pages / geometry.sense_pages
                )
            },
            "pages are programmed one by one (geometry.sense is geometry.program), of two types or more (nand.read_by_page, \
             nand.program_by_page), and a block has as many word lines or more",
        )?;
        Ok(PageTypes { count, order, read: factors(reads), program: factors(programs) })
    }
}

impl BufferTable {
    /// How many pages it holds, and how many of them may be partial.
    fn pages(&self, geometry: &Geometry) -> Result<(u32, u32), PresetError> {
        let (size, partial) = (self.size.div(geometry.page), self.partial.div(geometry.page));
        require(
            partial >= 1 && partial < size && size <= 1 << 24,
            || format!("the buffer has {size} pages, {partial} of them partial"),
            "1 ≤ partial < size ≤ 16 million pages",
        )?;
        require(
            u64::from(geometry.program_pages) + partial < size,
            || format!("the buffer has {size} pages, and geometry.program is {}", geometry.program_pages),
            "the buffer holds its partial pages and what is programmed together, and more",
        )?;
        Ok((size as u32, partial as u32))
    }
}

impl FlashFile {
    /// The drive itself.
    ///
    /// # Errors
    /// If the numbers do not make a drive.
    pub fn spec(&self) -> Result<FlashSpec, PresetError> {
        let mut geometry = self.geometry.geometry(&self.capacity)?;
        let zones = self.zones.as_ref().map(|zones| zones.spec(ZoneRules::Zns, self.capacity.user)).transpose()?;
        let cores = self.controller.cores()?;
        let (buffer_pages, buffer_partial_pages) = self.buffer.pages(&geometry)?;
        let map_cache = self.map.as_ref().map(|map| map.spec(geometry.page)).transpose()?;
        let wear = self.wear.as_ref().map(WearTable::spec).transpose()?;
        let mut collection = self.gc.as_ref().map_or(Ok(CollectionSpec::DEFAULT), CollectionTable::spec)?;
        if wear.is_some() {
            let asked = self.gc.as_ref().and_then(CollectionTable::start);
            require(
                asked.is_none_or(|start| start >= WORN_START_MIN),
                || format!("gc.start is {}, and the drive has [wear]", given(asked)),
                "blocks that go bad are replaced by free ones, so that collection starts at 4 or more: raise gc.start",
            )?;
            collection.start = collection.start.max(WORN_START_MIN);
        }
        match &zones {
            Some(zones) => self.lay_zones(zones, &mut geometry)?,
            None => self.check_room(&geometry, map_cache, collection.start)?,
        }
        let slc = self.slc.as_ref().map(|slc| slc.spec(&geometry, self.is_greedy())).transpose()?;
        if let (Some(idle), Some(slc)) = (&mut collection.idle, slc)
            && self.gc.as_ref().is_some_and(|gc| gc.idle_free().is_none())
        {
            // Room for the one-bit blocks that there always are, of no more than half of what the spare leaves.
            let user = self.capacity.user.get().div_ceil(u64::from(geometry.units())).div_ceil(geometry.block().get());
            let room = geometry.blocks_per_plane.saturating_sub(user as u32 + collection.start + 3);
            idle.until_free += slc.fixed.min(room / 2);
        }
        let nand = self.nand.times(&geometry, self.slc.as_ref())?;
        let flash_page = geometry.page.times(u64::from(geometry.program_pages));
        let [journal, checkpoint, log] = [&self.journal, &self.checkpoint, &self.log]
            .map(|task| task.as_ref().map(|task| task.spec(Some(flash_page))).transpose());
        let tasks = [journal?, checkpoint?, log?];
        let needs_pace = |task: &TaskSpec| task.beside.is_some() || task.catch_up.is_some();
        require(
            collection.pacing.is_some() || !tasks.iter().flatten().any(needs_pace),
            || "a journal, checkpoint or log has beside or catch_up, and gc no pacing".to_owned(),
            "both are of writes that wait for the pace of the flash: give gc.pacing, or leave them out",
        )?;
        let behaviour = NandBehaviour {
            variation: self.variation.as_ref().map(VariationTable::spec).transpose()?,
            errors: self.errors.as_ref().map(|errors| errors.spec(&nand.pages)).transpose()?,
            suspend: self.suspend.as_ref().map(SuspendTable::spec),
        };
        require(
            self.nand.reads_first != Some(false) || self.suspend.is_none(),
            || "nand.reads_first is false, and the drive has [suspend]".to_owned(),
            "what is suspended makes way for reads: leave reads_first out, or [suspend]",
        )?;
        let spec = FlashSpec {
            capacity: zones.map_or(self.capacity.user, |zones| zones.space()),
            queue_depth: self.controller.queue_depth,
            link: self.link.times()?,
            cores,
            write_cores: self.controller.write_cores(cores)?,
            arbitration: self.arbitration.as_ref().map(|table| table.spec(self.map.is_some())).transpose()?,
            command: self.controller.command,
            jitter: Spread::new(u64::from(deviation("controller.jitter", self.controller.jitter)?)),
            retire: self.controller.retire,
            retire_write: self.controller.retire_write.unwrap_or(self.controller.retire),
            journal: self.controller.journal,
            flush_journal: self.controller.flush_journal,
            write_rate: self.controller.write_rate,
            write: self.controller.write,
            page_write: self.controller.page_write,
            page_read: self.controller.page_read,
            page_trim: self.controller.page_trim.unwrap_or(PAGE_TRIM),
            tasks,
            patrol: self.patrol.as_ref().map(|patrol| patrol.spec(&geometry, &nand)).transpose()?,
            map_cache,
            read_ahead: self.controller.read_ahead(&geometry)?,
            compression: self.compression(&geometry)?,
            buffer_pages,
            buffer_partial_pages,
            buffer_reads: self.buffer.serves_reads,
            write_through: self.buffer.write_through,
            geometry,
            nand,
            behaviour,
            collection,
            reads_first: self.nand.reads_first != Some(false),
            slc,
            power: self.power.as_ref().map_or(Ok(PowerSpec::default()), PowerTable::spec)?,
            thermal: self.thermal.as_ref().map(ThermalTable::spec).transpose()?,
            wear,
            zones,
        };
        self.check_zones(&spec)?;
        require(
            spec.has_room(1),
            || format!("capacity.spare leaves {} blocks a plane before the bad ones", geometry.blocks_per_plane),
            "the blocks without factory defects must hold the user data, and gc.start and three more in each plane",
        )?;
        Ok(spec)
    }

    /// Whether the block with the fewest valid pages is emptied first.
    fn is_greedy(&self) -> bool {
        self.gc.as_ref().is_none_or(CollectionTable::is_greedy)
    }

    /// What is always left of compressed data, in percent, if data is compressed.
    fn compression(&self, geometry: &Geometry) -> Result<Option<u32>, PresetError> {
        let Some(floor) = self.controller.compression_floor else { return Ok(None) };
        require(
            (10_000..=1_000_000).contains(&floor),
            || format!("controller.compression_floor is {}", percent(floor)),
            "1% to 100% is always left of compressed data",
        )?;
        require(
            self.is_greedy() && self.slc.is_none() && Packing::takes(geometry.pages_per_block),
            || {
                format!(
                    "compression is combined with blocks of {} pages, this gc.policy or [slc]",
                    geometry.pages_per_block
                )
            },
            "compression goes with greedy collection, without [slc], and with blocks of 2,048 pages or fewer",
        )?;
        Ok(Some((floor / 10_000) as u32))
    }

    /// Whether what is beyond the user's capacity suffices for the blocks that writing keeps open.
    fn check_room(&self, geometry: &Geometry, map: Option<MapCacheSpec>, start: u32) -> Result<(), PresetError> {
        let floor = self.compression(geometry)?;
        let slots = floor.map_or(geometry.pages_per_block, |floor| Packing::slots(geometry.pages_per_block, floor));
        let per_block = slots.next_power_of_two().max(64);
        let blocks = u128::from(geometry.units()) * u128::from(geometry.blocks_per_plane);
        let pages = blocks * u128::from(per_block);
        require(
            pages < u128::from(u32::MAX),
            || format!("{pages} flash pages"),
            "at most 4.29 billion pages can be numbered; use larger pages",
        )?;
        let user = self.capacity.user.get().div_ceil(geometry.page.get());
        // Mapping pages are kept beside the user's.
        let user = user + map.map_or(0, |map| map.regions(user));
        let per_unit = u64::from(geometry.blocks_per_plane) * u64::from(geometry.pages_per_block);
        let working = u64::from(start + 3) * u64::from(geometry.pages_per_block);
        // Compressed data leaves a part of a page unused at the end of a block: collection must gain more than that.
        let working = working + floor.map_or(0, |_| 4 * u64::from(geometry.blocks_per_plane));
        require(
            per_unit >= user.div_ceil(u64::from(geometry.units())) + working,
            || format!("capacity.spare leaves {} blocks a plane", geometry.blocks_per_plane),
            "each plane needs gc.start and three more blocks beyond its share of the user data and the map; raise capacity.spare, or lower geometry.pages_per_block",
        )
    }
}
