//! A flash drive: link, command queue, write buffer, page map, dies.

mod absent;
mod arbitration;
mod buffer;
mod candidates;
mod channel;
mod collection;
mod construct;
mod copies;
mod counted;
mod die;
mod digest;
mod drawn;
mod errors;
mod extents;
mod file;
mod filling;
pub(crate) mod firmware;
mod folding;
mod free_slots;
mod geometry;
mod held_tables;
pub(crate) mod housekeeping;
mod journal;
mod lookup;
mod losses;

mod map_cache;
mod mapping;
mod marks;
mod naming;
mod nand;
mod operation;
pub(crate) mod pacing;
mod packed;
mod packing;
mod pages;
mod patrol;
mod placing;
mod power_cut;
mod random_writes;
mod read;
mod read_ahead;
mod recent;
mod retirement;
mod side_by_side;
mod spec;
mod superblocks;
mod timeline;
mod together;
mod variation;
mod warmth;
mod write;
mod zoned;

use arbitration::Arbiter;
pub use arbitration::ArbitrationSpec;
use block::{Bytes, Completion, Lba, Nanos, Op, Request, SECTOR, Seed, Status, Tag, Zone, ZoneLimits};
use buffer::Buffer;
pub use collection::{CollectionPolicy, CollectionSpec, IdleSpec};
pub use die::SuspendSpec;
pub use errors::{ErrorsSpec, Growth};
pub(crate) use file::{FlashFile, TaskTable, deviation};
use firmware::{Core, Firmware};
pub use geometry::Geometry;
use held_tables::HeldTables;
pub use held_tables::TablesSpec;
use housekeeping::Housekeeping;
pub use housekeeping::{TASKS, TaskSpec};
use journal::Journal;
use map_cache::MapCache;
pub use map_cache::MapCacheSpec;
use mapping::Mapping;
pub use mapping::SlcSpec;
use nand::Nand;
pub use nand::{CellTimes, NandBehaviour, NandTimes};
use operation::{FlashOp, Lpn};
use pacing::Pacing;
pub use pacing::PacingSpec;
pub use pages::{PAGE_TYPES_MAX, PageOrder, PageTypes};
use patrol::Patrol;
pub use patrol::PatrolSpec;
use power_cut::{BufferedPage, Unsettled};
use read_ahead::ReadAhead;
pub use read_ahead::ReadAheadSpec;
use recent::Recent;
use serde::{Deserialize, Serialize};
pub use spec::FlashSpec;
pub use variation::VariationSpec;
use zoned::ZonedFlash;

use crate::cloned::clone_in_place;
use crate::draw::Draws;
use crate::energy::EnergyMeter;
use crate::link::Link;
use crate::quantiles::Quantiles;
use crate::queue::CommandQueue;
use crate::shared::Shared;
use crate::thermal::Thermal;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen, not_before, within};

/// A simulated flash drive.
#[derive(Debug, Serialize, Deserialize)]
pub struct FlashDrive {
    spec: FlashSpec,
    specimen: Specimen,
    page_sectors: u32,
    now: Nanos,
    firmware: Firmware,
    /// None where commands are taken in order.
    arbiter: Option<Arbiter>,
    /// How what a command takes this time lies around what it takes in the mean: the table of the spec's.
    jitter: Quantiles,
    pace_draws: Draws,
    housekeeping: Housekeeping,
    /// None where flash is read for the host alone.
    patrol: Option<Patrol>,
    /// None where writes are taken as they come.
    pacing: Option<Pacing>,
    journal: Journal,
    read_ahead: ReadAhead,
    link: Link,
    queue: CommandQueue,
    buffer: Buffer,
    recent: Recent,
    mapping: Shared<Mapping>,
    /// In place of the map, where flash is divided into zones.
    zoned: Option<Box<ZonedFlash>>,
    map_cache: Option<MapCache>,
    /// None where the map is not in tables that are held for reads.
    tables: Option<HeldTables>,
    /// The logical page that holds the first mapping page: they come after those of the host.
    map_base: u32,
    nand: Nand,
    /// When the controller will have passed on to flash all that was written.
    encoded: Nanos,
    /// Where the last write ended.
    written_to: Lba,
    /// Whether the journal has noted all that was written.
    is_noted: bool,
    counters: Counters,
    meter: EnergyMeter,
    thermal: Option<Thermal>,
    /// How long the controller and flash take, in percent of what they take when cool.
    pace: u32,
    unsettled: Unsettled,
    /// How the command at hand ends; success between requests.
    #[serde(skip)]
    status: Status,
    /// When what was programmed is in flash, and what has FUA in the journal, as far as anybody waited for that: by now, if nothing is in
    /// flight. While a write is at hand, when what it programs is in flash.
    programmed: Nanos,
    /// From when on the last page of the journal that a flush waited for is programmed, and until when.
    noted: (Nanos, Nanos),
    /// Empty between requests.
    #[serde(skip)]
    plan: Vec<FlashOp>,
    /// Pages in the buffer that wait for their flash page to be full.
    waiting: Vec<BufferedPage>,
    /// When all of those have arrived.
    waiting_ready: Nanos,
}

/// The part of a request that falls on one page.
#[derive(Clone, Copy)]
struct PagePart {
    page: Lpn,
    first: u32,
    sectors: u32,
}

impl FlashDrive {
    /// A drive as it leaves the factory: all blocks erased, nothing mapped, time at zero.
    pub fn new(spec: FlashSpec) -> Self {
        Self::of(spec, Specimen::default())
    }

    /// The same of a certain specimen.
    pub fn of(spec: FlashSpec, specimen: Specimen) -> Self {
        let page_sectors = spec.geometry.page.sectors() as u32;
        let seed = specimen.seed();
        assert!(
            page_sectors.is_power_of_two() && page_sectors <= 128,
            "a page has 1, 2, 4 … 128 sectors, not {page_sectors}"
        );
        let pages = u32::try_from(spec.pages()).expect("the preset's reader checks that 32 bits number all pages");
        let map_cache = spec.map_cache.map(|spec| MapCache::new(spec, pages));
        let map_pages = map_cache.as_ref().map_or(0, MapCache::regions);
        let tables = spec.map_cache.and_then(|map| map.tables).map(|spec| HeldTables::new(spec, map_pages));
        Self {
            page_sectors,
            now: Nanos::ZERO,
            firmware: Firmware::new(spec.cores),
            arbiter: spec.arbitration.map(Arbiter::new),
            jitter: spec.jitter.into(),
            pace_draws: Draws::new(seed.split("firmware")),
            housekeeping: Housekeeping::new(spec.tasks, seed.split("housekeeping")),
            patrol: spec.patrol.map(|patrol| Patrol::new(patrol, &spec.geometry, seed.split("patrol"))),
            pacing: spec.collection.pacing.map(|pacing| Pacing::new(pacing, &spec.geometry, &spec.nand)),
            journal: Journal::default(),
            read_ahead: ReadAhead::new(spec.read_ahead, page_sectors),
            link: Link::new(spec.link, spec.geometry.page),
            queue: CommandQueue::new(spec.queue_depth),
            buffer: Buffer::new(spec.buffer_pages as usize, spec.buffer_partial_pages as usize),
            recent: Recent::new(spec.buffer_reads.then_some(spec.buffer_pages)),
            mapping: Shared::new(match spec.zones {
                Some(_) => zoned::no_map(spec.geometry),
                None => Mapping::new(
                    spec.geometry,
                    spec.collection,
                    spec.slc,
                    spec.wear.map(|wear| retirement::fresh(wear, &spec.geometry, specimen)),
                    pages + map_pages,
                    spec.compression,
                ),
            }),
            zoned: spec.zones.map(|zones| Box::new(ZonedFlash::new(zones, &spec.geometry))),
            map_cache,
            tables,
            map_base: pages,
            nand: Nand::new(&spec.geometry, spec.nand, spec.behaviour, spec.reads_first, seed.split("flash")),
            encoded: Nanos::ZERO,
            written_to: Lba::new(u64::MAX),
            is_noted: true,
            counters: Counters { page: spec.geometry.page, ..Counters::default() },
            meter: EnergyMeter::new(spec.power),
            thermal: spec.thermal.map(Thermal::new),
            pace: 100,
            unsettled: Unsettled::default(),
            status: Status::Success,
            programmed: Nanos::ZERO,
            noted: (Nanos::ZERO, Nanos::ZERO),
            plan: Vec::new(),
            waiting: Vec::new(),
            waiting_ready: Nanos::ZERO,
            specimen,
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &FlashSpec {
        &self.spec
    }

    /// Which drive of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// A number that is equal for equal histories of writes and trims, and so for equal states of the flash.
    pub fn digest(&self) -> u64 {
        self.mapping.digest()
    }

    /// About what a copy of its state takes in memory.
    pub(crate) fn memory(&self) -> Bytes {
        self.mapping.memory()
    }

    /// From now on, clones share the page map until they write.
    pub(crate) fn lend(&mut self) {
        self.mapping.lend();
    }

    /// Gives back the page map if it is another drive's; whether it has one of its own, whatever is in that.
    pub(crate) fn give_back(&mut self) -> bool {
        self.mapping.give_back()
    }

    /// Takes a command that had to wait into the drive at `now`.
    #[inline(never)]
    fn take_waiting(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.take(now, tag, request);
    }

    /// Takes a command into the drive at `now`.
    #[inline(always)]
    fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.warm_up(now);
        self.patrol(now);
        let awake = now + self.meter.begin(now);
        let turn = self.turn();
        let from = self.housekeeping.begin(awake, request.op, request.bytes(), turn, self.pacing.as_mut());
        if let Some(writes) = self.housekeeping.take_writes() {
            self.write_notes(writes);
        }
        let (core, start) = self.firmware.begin_among(self.spec.cores_of(request.op), awake, from, request.op);
        let command = self.jitter.vary(&mut self.pace_draws, self.spec.command);
        let ready = start + self.paced(command);
        self.firmware.hold(core, ready + self.paced(self.retiring(request.op)));
        let at = match request.op {
            Op::Read if self.zoned.is_none() => self.read(core, ready, request),
            _ => self.take_other(core, ready, request),
        };
        self.counters.count(&request);
        self.meter.end(at);
        let status = self.status;
        if !status.is_success() {
            self.note_failure();
        }
        self.queue.take(Completion { at, tag, status });
    }

    /// What a command does that is no read, or one of zones; when it ends.
    #[inline(never)]
    fn take_other(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        match request.op {
            _ if self.zoned.is_some() => self.take_zoned(core, ready, request),
            Op::Read => unreachable!("reads are taken elsewhere, but those of zones"),
            Op::Write => self.write(core, ready, request),
            Op::Trim => self.trim(core, ready, request),
            Op::Flush => self.flush(ready),
            Op::Append | Op::Zone(_) => {
                self.status = Status::InvalidOpcode;
                self.link.send(self.now, ready, 0, true)
            }
        }
    }

    /// Notes that the command at hand has failed, and makes ready for the next.
    #[cold]
    fn note_failure(&mut self) {
        self.status = Status::Success;
        self.counters.failed += 1;
    }

    /// When the flash has a turn for a paced write: by its pace, and by the room in the buffer.
    #[inline]
    fn turn(&self) -> Nanos {
        self.pacing.as_ref().map_or(Nanos::ZERO, |pacing| pacing.turn().max(self.buffer.next()))
    }

    /// What the firmware takes for a command when it is done with it.
    fn retiring(&self, op: Op) -> Nanos {
        if op.writes() { self.spec.retire_write } else { self.spec.retire }
    }

    /// Cuts a request at the boundaries of pages.
    #[inline]
    fn pieces(&self, request: Request) -> impl Iterator<Item = PagePart> + use<> {
        let (sectors, shift) = (u64::from(self.page_sectors), self.page_sectors.trailing_zeros());
        let (mut at, end) = (request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let first = at & (sectors - 1);
                let count = (sectors - first).min(end - at);
                let piece = PagePart { page: Lpn((at >> shift) as u32), first: first as u32, sectors: count as u32 };
                at += count;
                piece
            })
        })
    }

    /// The page that a request begins in.
    #[inline]
    fn first_page(&self, request: &Request) -> Lpn {
        Lpn((request.lba.get() >> self.page_sectors.trailing_zeros()) as u32)
    }

    /// How many pages a request touches.
    #[inline]
    fn pages(&self, request: Request) -> u64 {
        let shift = self.page_sectors.trailing_zeros();
        let last = |end: u64| (end + u64::from(self.page_sectors) - 1) >> shift;
        last(request.end().get()) - (request.lba.get() >> shift)
    }
}

impl Drive for FlashDrive {
    fn shape(&self) -> Shape {
        let block = if self.zoned.is_some() { self.spec.geometry.page } else { SECTOR };
        Shape { capacity: self.spec.capacity, block, queue_depth: self.spec.queue_depth }
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity, &request);
        if self.arbiter.is_some() {
            return self.submit_to_arbiter(now, tag, request);
        }
        if self.queue.is_empty() {
            self.rest(now);
        }
        self.now = now;
        if self.queue.has_room() {
            self.take(now, tag, request);
        } else {
            self.queue.wait(tag, request);
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        if self.arbiter.is_some() { self.next_event_of_arbiter() } else { self.queue.next() }
    }

    #[inline(never)]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        if self.arbiter.is_some() {
            return self.complete_beside_arbiter(until);
        }
        let completion = self.queue.complete(until)?;
        self.now = self.now.max(completion.at);
        if let Some((tag, request)) = self.queue.admit() {
            self.take_waiting(self.now, tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        let (errors, suspended, moved) =
            (self.nand.error_counts(), self.nand.suspension_counts(), self.mapping.moved());
        Counters {
            read_retries: errors.retries,
            soft_decodes: errors.soft_decodes,
            uncorrectable: errors.uncorrectable,
            patrol_reads: self.patrol.as_ref().map_or(0, |patrol| patrol.read),
            pages_read_ahead: self.read_ahead.counted.pages,
            read_ahead_wasted: self.read_ahead.counted.wasted,
            zone_resets: self.zoned.as_ref().map_or(0, |zoned| zoned.zones.resets()),
            pages_read: self.nand.pages_read,
            pages_programmed: self.nand.pages_programmed,
            pages_moved: moved.pages,
            pages_refreshed: moved.pages_refreshed,
            blocks_refreshed: moved.blocks_refreshed,
            program_suspensions: suspended.programs,
            erase_suspensions: suspended.erases,
            blocks_erased: self.nand.blocks_erased,
            energy_nj: self.meter.energy(at.max(self.now), self.work()).as_nanojoules(),
            throttled: self.thermal_at_now().map_or(Nanos::ZERO, |thermal| thermal.throttled()),
            ..self.counters
        }
    }

    fn health(&self) -> Health {
        let thermal = self.thermal_at_now();
        Health {
            power_on: self.now,
            busy: self.meter.busy(self.now),
            power_cycles: 1 + self.counters.unsafe_shutdowns,
            temperature: thermal.map(|thermal| thermal.temperature()),
            temperature_max: thermal.map(|thermal| thermal.temperature_max()),
            wear: self.mapping.wear(),
        }
    }

    fn purge(&mut self) {
        assert!(self.is_at_rest(), "a drive is purged only when nothing is in flight");
        self.now = self.now.max(self.buffer.drained());
        self.firmware.restart(self.now);
        self.arbiter = self.spec.arbitration.map(Arbiter::new);
        self.journal = Journal::default();
        self.recent.clear();
        self.nand.blank(self.now);
        self.mapping.purge();
        self.clear_zones();
        if let Some(cache) = &mut self.map_cache {
            cache.purge();
        }
        self.tables.iter_mut().for_each(HeldTables::clear);
        (self.is_noted, self.programmed, self.noted) = (true, Nanos::ZERO, (Nanos::ZERO, Nanos::ZERO));
        self.encoded = Nanos::ZERO;
        self.buffer = Buffer::new(self.spec.buffer_pages as usize, self.spec.buffer_partial_pages as usize);
        self.link = Link::new(self.spec.link, self.spec.geometry.page);
        self.waiting.clear();
        self.waiting_ready = Nanos::ZERO;
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        self.lose_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.at_risk(now)
    }

    fn draw_from(&mut self, seed: Seed) {
        self.pace_draws.join(seed);
        self.housekeeping.draw_from(seed);
        self.nand.draw_from(seed);
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        self.zoned.as_ref().map(|zoned| zoned.zones.limits())
    }

    fn zones(&self) -> Vec<Zone> {
        self.zoned.as_ref().map_or_else(Vec::new, |zoned| zoned.zones.report())
    }

    #[inline]
    fn expect(&self, soon: &[Request]) {
        if self.zoned.is_some() {
            return;
        }
        let mapping = &*self.mapping;
        for request in soon {
            let page = self.first_page(request);
            mapping.call(page);
            // Reads look at no more than a bit of each region, where no tables are held.
            if let Some(cache) = self.map_cache.as_ref().filter(|_| request.op.writes() || self.tables.is_some()) {
                cache.call(page);
            }
        }
    }

    #[inline]
    fn expect_next(&self, next: &[Request]) {
        let mapping = &*self.mapping;
        if self.zoned.is_none() {
            next.iter().for_each(|request| mapping.call_slot(self.first_page(request)));
        }
    }
}

// The page map, which is nearly all of it, is left alone where it has not changed since it was copied.
clone_in_place!(FlashDrive {
    spec,
    specimen,
    page_sectors,
    now,
    firmware,
    arbiter,
    jitter,
    pace_draws,
    housekeeping,
    patrol,
    pacing,
    journal,
    read_ahead,
    link,
    queue,
    buffer,
    recent,
    mapping,
    zoned,
    map_cache,
    tables,
    map_base,
    nand,
    encoded,
    written_to,
    is_noted,
    counters,
    meter,
    thermal,
    pace,
    unsettled,
    status,
    programmed,
    noted,
    plan,
    waiting,
    waiting_ready,
});
