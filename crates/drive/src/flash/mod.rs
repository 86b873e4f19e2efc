//! A flash drive: link, command queue, write buffer, page map, dies.

mod buffer;
mod candidates;
mod channel;
mod collection;
mod compression;
mod file;
mod firmware;
mod geometry;
mod journal;
mod map_cache;
mod mapping;
mod nand;
mod power_cut;
mod read_ahead;
mod retirement;
mod warmth;

use block::{Bytes, Completion, Lba, Nanos, Op, Request, SECTOR, Tag};
use buffer::{Buffer, Merged, Partial};
pub use collection::{CollectionSpec, IdleSpec, Policy};
use compression::Compression;
pub(crate) use file::FlashFile;
use firmware::{Core, Firmware};
pub use geometry::Geometry;
use geometry::Unit;
use journal::Journal;
use map_cache::MapCache;
pub use map_cache::MapCacheSpec;
pub use mapping::SlcSpec;
use mapping::{FlashOp, Lpn, Mapping};
use nand::Nand;
pub use nand::{CellTimes, NandTimes};
use power_cut::{Unsettled, Waiting};
use read_ahead::ReadAhead;

use crate::link::{Link, LinkTimes};
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, Lost, Meter, PowerSpec, Shape, Thermal, ThermalSpec, WearSpec};

/// All that a flash drive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// The cable.
    pub link: LinkTimes,
    /// Processors of the controller, each with one command at a time.
    pub cores: u32,
    /// What the firmware takes for each command before flash can begin.
    pub command: Nanos,
    /// What it takes beside, which delays the next command but not this one.
    pub retire: Nanos,
    /// The same for a write.
    pub retire_write: Nanos,
    /// What it takes to note that data went elsewhere than on from the last write; one note at a time.
    pub journal: Nanos,
    /// What each change of the map takes beside: one for the first page that a write touches, one for all
    /// others; none where it goes on from the last write.
    pub write: Nanos,
    /// What each page that a write touches takes.
    pub page_write: Nanos,
    /// The part of the page map in the controller's memory; none where all of it is.
    pub map_cache: Option<MapCacheSpec>,
    /// Pages read beyond the last where reads come in order.
    pub read_ahead: u32,
    /// What is always left of compressed data, in percent; none where nothing is compressed.
    pub compression: Option<u32>,
    /// Pages of the write buffer.
    pub buffer_pages: u32,
    /// Of those, how many may hold pages that were written in part.
    pub buffer_partial_pages: u32,
    /// The layout of the flash.
    pub geometry: Geometry,
    /// The times of the flash.
    pub nand: NandTimes,
    /// How blocks are emptied.
    pub collection: CollectionSpec,
    /// Whether the host's reads go before what a die has been given and has not begun.
    pub reads_first: bool,
    /// Blocks that are written with one bit a cell first.
    pub slc: Option<SlcSpec>,
    /// What it consumes.
    pub power: PowerSpec,
    /// How warm that makes it; none if it is not to be followed.
    pub thermal: Option<ThermalSpec>,
    /// How its blocks wear out; none if they do not.
    pub wear: Option<WearSpec>,
}

impl FlashSpec {
    /// What the drive is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let (geometry, nand) = (&self.geometry, &self.nand);
        let raw = geometry.block().times(u64::from(geometry.blocks()));
        let spare = raw.get() as f64 / self.capacity.get() as f64 * 100.0 - 100.0;
        let Geometry { channels, dies_per_channel, planes, page, pages_per_block, .. } = geometry;
        let NandTimes { read, program, erase, channel, .. } = nand;
        let buffer = page.times(u64::from(self.buffer_pages));
        let (link, queue, command) = (self.link.rate, self.queue_depth, self.command);
        vec![
            ("capacity", format!("{} for the user, {raw} of flash: {spare:.1} % spare", self.capacity)),
            (
                "flash",
                format!(
                    "{channels} channels × {dies_per_channel} dies × {planes} planes, pages of {page}, \
                     {pages_per_block} a block"
                ),
            ),
            ("times", format!("read {read}, program {program}, erase {erase}, channel {channel}")),
            ("interface", format!("{link} link, queue of {queue}, {command} a command, {buffer} write buffer")),
        ]
    }
}

/// A simulated flash drive.
#[derive(Debug)]
pub struct FlashDrive {
    spec: FlashSpec,
    page_sectors: u32,
    now: Nanos,
    firmware: Firmware,
    journal: Journal,
    read_ahead: ReadAhead,
    compression: Option<Compression>,
    link: Link,
    queue: CommandQueue,
    buffer: Buffer,
    mapping: Mapping,
    map_cache: Option<MapCache>,
    /// The logical page that holds the first mapping page: they come after those of the host.
    map_base: u32,
    nand: Nand,
    /// Where the last write ended.
    written_to: Lba,
    counters: Counters,
    meter: Meter,
    thermal: Option<Thermal>,
    /// How long the controller and flash take, in percent of what they take when cool.
    pace: u32,
    unsettled: Unsettled,
    plan: Vec<FlashOp>,
    /// Pages in the buffer that wait for their flash page to be full.
    waiting: Vec<Waiting>,
    /// When all of those have arrived.
    waiting_ready: Nanos,
}

/// The part of a request that falls on one page.
#[derive(Clone, Copy)]
struct Piece {
    page: Lpn,
    first: u32,
    sectors: u32,
}

impl FlashDrive {
    /// A drive as it leaves the factory: all blocks erased, nothing mapped, time at zero.
    pub fn new(spec: FlashSpec) -> Self {
        let page_sectors = spec.geometry.page.sectors() as u32;
        assert!(
            page_sectors.is_power_of_two() && page_sectors <= 64,
            "a page has 1, 2, 4 … 64 sectors, not {page_sectors}"
        );
        let pages = u32::try_from(spec.capacity.get().div_ceil(spec.geometry.page.get()))
            .expect("the preset's reader checks that 32 bits number all pages");
        let map_cache = spec.map_cache.map(|spec| MapCache::new(spec, pages));
        let map_pages = map_cache.as_ref().map_or(0, MapCache::regions);
        Self {
            page_sectors,
            now: Nanos::ZERO,
            firmware: Firmware::new(spec.cores),
            journal: Journal::default(),
            read_ahead: ReadAhead::new(spec.read_ahead),
            compression: spec.compression.map(Compression::new),
            link: Link::new(spec.link, spec.geometry.page),
            queue: CommandQueue::new(spec.queue_depth),
            buffer: Buffer::new(spec.buffer_pages as usize, spec.buffer_partial_pages as usize),
            mapping: Mapping::new(spec.geometry, spec.collection, spec.slc, spec.wear, pages + map_pages),
            map_cache,
            map_base: pages,
            nand: Nand::new(&spec.geometry, spec.nand),
            written_to: Lba::new(u64::MAX),
            counters: Counters { page: spec.geometry.page, ..Counters::default() },
            meter: Meter::new(spec.power),
            thermal: spec.thermal.map(Thermal::new),
            pace: 100,
            unsettled: Unsettled::default(),
            plan: Vec::new(),
            waiting: Vec::new(),
            waiting_ready: Nanos::ZERO,
            spec,
        }
    }

    /// A number that is equal for equal histories of writes and trims, and so for equal states of the flash.
    pub fn digest(&self) -> u64 {
        self.mapping.digest()
    }

    /// Takes a command into the drive at `now`.
    fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.warm_up(now);
        let awake = now + self.meter.begin(now);
        let (core, start) = self.firmware.begin(awake);
        let ready = start + self.paced(self.spec.command);
        self.firmware.hold(core, ready + self.paced(self.retiring(request.op)));
        let at = match request.op {
            Op::Read => self.read(ready, request),
            Op::Write => self.write(core, ready, request),
            Op::Trim => self.trim(ready, request),
            Op::Flush => self.flush(ready),
        };
        self.counters.requests[request.op as usize] += 1;
        self.meter.end(at);
        self.queue.take(Completion { at, tag });
    }

    /// What the firmware takes for a command when it is done with it.
    fn retiring(&self, op: Op) -> Nanos {
        if op == Op::Write { self.spec.retire_write } else { self.spec.retire }
    }

    fn read(&mut self, ready: Nanos, request: Request) -> Nanos {
        self.counters.host_read += request.bytes();
        let mut done = ready;
        let mut found = ready;
        let follows = self.read_ahead.follows(request);
        for (index, piece) in self.pieces(request).enumerate() {
            // The first page is looked up by itself, so that flash can begin; then the rest together.
            if index <= 1 || self.starts_region(piece.page) {
                found = self.look_up(found, piece.page);
            }
            let fetched = match self.read_ahead.take(piece.page) {
                Some(there) => there.max(found),
                None => self.fetch(found, piece.page, piece.sectors),
            };
            done = done.max(self.link.send(self.now, fetched, piece.sectors, index == 0));
        }
        if follows {
            self.fetch_ahead(found, Lpn(((request.end().get() - 1) / u64::from(self.page_sectors)) as u32));
        }
        done
    }

    /// Reads sectors of a page, if it was ever written; when they are with the controller.
    #[inline]
    fn fetch(&mut self, ready: Nanos, page: Lpn, sectors: u32) -> Nanos {
        let sectors = self.compression.as_ref().map_or(sectors, |compression| compression.stored(sectors));
        match self.mapping.place_of(page) {
            Some(place) if self.spec.reads_first => self.nand.read_first(ready, place, sectors),
            Some(place) => self.nand.read(self.now, ready, place, sectors),
            None => ready,
        }
    }

    /// Reads the pages that will be asked for if reads go on after `last`.
    fn fetch_ahead(&mut self, ready: Nanos, last: Lpn) {
        for page in self.read_ahead.wanted(last, self.map_base).map(Lpn) {
            let there = self.fetch(ready, page, self.page_sectors);
            self.read_ahead.add(page, there);
        }
    }

    /// When it is known where `page` is kept, if the question is asked at `ready`.
    #[inline]
    fn look_up(&mut self, ready: Nanos, page: Lpn) -> Nanos {
        match &self.map_cache {
            Some(cache) if cache.misses(cache.region_of(page)) => self.fetch_map(ready, cache.region_of(page)),
            _ => ready,
        }
    }

    /// Whether another mapping page describes `page` than the page before it.
    #[inline]
    fn starts_region(&self, page: Lpn) -> bool {
        self.spec.map_cache.is_some_and(|spec| page.0.is_multiple_of(spec.entries))
    }

    /// Reads the mapping page of `region`.
    fn fetch_map(&mut self, ready: Nanos, region: u32) -> Nanos {
        match self.mapping.place_of(Lpn(self.map_base + region)) {
            Some(place) => self.nand.read_first(ready, place, self.page_sectors),
            None => ready,
        }
    }

    /// Has the map's entries for the pages of a write at hand, from `ready` on; when they are.
    #[inline]
    fn claim_map(&mut self, ready: Nanos, request: Request) -> Nanos {
        if self.map_cache.is_none() {
            return ready;
        }
        let mut found = ready;
        for piece in self.pieces(request) {
            let Some(cache) = &mut self.map_cache else { break };
            let need = cache.write(piece.page);
            if let Some(region) = need.write_back.filter(|_| !self.mapping.is_read_only()) {
                self.put(Lpn(self.map_base + region), ready);
            }
            if let Some(region) = need.fetch {
                found = found.max(self.fetch_map(ready, region));
            }
        }
        found
    }

    fn write(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        self.counters.host_written += request.bytes();
        if self.mapping.is_read_only() {
            self.counters.host_rejected += request.bytes();
            return self.link.send(self.now, ready, 0, true);
        }
        let ready = self.claim_map(ready, request);
        let continues = std::mem::replace(&mut self.written_to, request.end()) == request.lba;
        let handled = ready + self.paced(self.handling(request, continues));
        self.firmware.hold(core, handled + self.paced(self.retiring(Op::Write)));
        let mut done = handled;
        if !continues {
            done = done.max(self.journal.note(ready, self.paced(self.spec.journal)));
        }
        for (index, piece) in self.pieces(request).enumerate() {
            let slot_free = self.buffer.acquire();
            let arrived = self.link.receive(self.now, slot_free.max(ready), piece.sectors, index == 0);
            if let Some(compression) = &mut self.compression {
                compression.note(request.entropy);
            }
            if piece.sectors == self.page_sectors {
                self.buffer.supersede(piece.page, self.now);
                self.program(piece.page, u64::MAX, arrived);
            } else {
                match self.buffer.merge(piece.page, piece.first, piece.sectors, self.page_sectors, arrived) {
                    Merged::Waits => {}
                    Merged::Whole => self.program(piece.page, u64::MAX, arrived),
                    Merged::Evicts(partial) => self.complete_page(partial),
                }
            }
            done = done.max(arrived);
        }
        if request.durable { self.harden(done) } else { done }
    }

    /// What the firmware takes for a write beside what every command takes.
    fn handling(&self, request: Request, continues: bool) -> Nanos {
        let pages = self.pages(request);
        // As for reads, the first page is a change to the map by itself, the rest is another. What goes on
        // where the last write ended is part of its change.
        let changes = if continues { 0 } else { pages.min(2) };
        self.spec.write.times(changes) + self.spec.page_write.times(pages)
    }

    fn trim(&mut self, ready: Nanos, request: Request) -> Nanos {
        self.counters.host_trimmed += request.bytes();
        for piece in self.pieces(request) {
            if piece.sectors == self.page_sectors {
                self.buffer.supersede(piece.page, self.now);
                self.mapping.trim(piece.page);
            }
        }
        self.link.send(self.now, ready, 0, true)
    }

    fn flush(&mut self, ready: Nanos) -> Nanos {
        let durable = self.harden(ready);
        self.link.send(self.now, durable, 0, true)
    }

    /// Has all that was written in flash; when it is.
    fn harden(&mut self, ready: Nanos) -> Nanos {
        while let Some(partial) = self.buffer.take_partial() {
            self.complete_page(partial);
        }
        if !self.waiting.is_empty() {
            self.pad();
        }
        if self.spec.power.capacitor { ready } else { self.buffer.drained().max(ready) }
    }

    /// Gives `sectors` of a page that were written, as bits, to flash. The page is in a slot of the buffer and
    /// whole from `ready` on; the slot is free once the flash page that it is part of has been programmed.
    #[inline]
    fn program(&mut self, page: Lpn, sectors: u64, ready: Nanos) {
        if self.mapping.is_read_only() {
            return self.reject(sectors, ready);
        }
        self.waiting.push(Waiting { page, sectors, is_kept: self.mapping.place_of(page).is_some() });
        self.put(page, ready);
    }

    /// Leaves a page that was written where flash takes no more, and frees its slot.
    #[cold]
    fn reject(&mut self, sectors: u64, ready: Nanos) {
        self.counters.host_rejected += SECTOR.times(u64::from(sectors.count_ones().min(self.page_sectors)));
        self.buffer.release(ready);
    }

    /// Gives a page that is there from `ready` on to flash.
    #[inline]
    fn put(&mut self, page: Lpn, ready: Nanos) {
        self.plan.clear();
        let mut full = self.mapping.write(page, &mut self.plan);
        if let Some(compression) = &mut self.compression {
            // What fills no flash page yet is as good as written: it goes with what comes next.
            full = compression.shrink(&mut self.plan) || full;
        }
        self.waiting_ready = self.waiting_ready.max(ready);
        let end = self.nand.book(self.now, self.waiting_ready, &self.plan);
        if full {
            self.settle(end);
        }
    }

    /// Programs what waits for its flash page to be full, as it is.
    fn pad(&mut self) {
        self.plan.clear();
        self.mapping.pad(&mut self.plan);
        let end = self.nand.book(self.now, self.waiting_ready.max(self.now), &self.plan);
        self.settle(end);
    }

    /// Frees the slots of the pages that waited for their flash page, which is programmed then.
    #[inline]
    fn settle(&mut self, programmed: Nanos) {
        for &waiting in &self.waiting {
            self.unsettled.note(self.now, waiting, programmed);
            self.buffer.release(programmed);
        }
        self.waiting.clear();
        self.waiting_ready = Nanos::ZERO;
    }

    /// Does what a drive that is asked nothing does until `until`.
    fn idle(&mut self, until: Nanos) {
        let Some(IdleSpec { after, until_free }) = self.spec.collection.idle else { return };
        let from = self.now + after;
        for unit in (0..self.spec.geometry.units()).map(Unit) {
            while self.nand.free_at(unit).max(from) < until {
                self.plan.clear();
                let step = self.spec.geometry.program_pages;
                if !self.mapping.collect_idle(unit, until_free, step, &mut self.plan) {
                    break;
                }
                self.nand.book(from, from, &self.plan);
            }
        }
    }

    /// Programs a page of which only some sectors were written, after reading the others.
    fn complete_page(&mut self, partial: Partial) {
        let ready = match self.mapping.place_of(partial.page) {
            Some(place) => self.nand.read(self.now, partial.arrived.max(self.now), place, self.page_sectors),
            None => partial.arrived,
        };
        self.program(partial.page, partial.sectors, ready);
    }

    /// Cuts a request at the boundaries of pages.
    #[inline]
    fn pieces(&self, request: Request) -> impl Iterator<Item = Piece> + use<> {
        let (sectors, shift) = (u64::from(self.page_sectors), self.page_sectors.trailing_zeros());
        let (mut at, end) = (request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let first = at & (sectors - 1);
                let count = (sectors - first).min(end - at);
                let piece = Piece { page: Lpn((at >> shift) as u32), first: first as u32, sectors: count as u32 };
                at += count;
                piece
            })
        })
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
        Shape { capacity: self.spec.capacity, block: SECTOR, queue_depth: self.spec.queue_depth }
    }

    #[inline]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        assert!(now >= self.now, "submitted at {now} to a drive that has reached {}", self.now);
        let end = Lba::at(self.spec.capacity);
        assert!(request.end() <= end, "sector {} is beyond the drive's {}", request.end().get(), end.get());
        if self.queue.is_empty() {
            self.idle(now);
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
        self.queue.next()
    }

    #[inline]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let (completion, next) = self.queue.complete(until)?;
        self.now = self.now.max(completion.at);
        if let Some((tag, request)) = next {
            self.take(self.now, tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters(&self) -> Counters {
        Counters {
            pages_read: self.nand.pages_read,
            pages_programmed: self.nand.pages_programmed,
            pages_moved: self.mapping.moved(),
            blocks_erased: self.nand.blocks_erased,
            energy_nj: self.meter.energy(self.now, self.work()).as_nanojoules(),
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
        assert!(self.queue.is_empty(), "a drive is purged only when nothing is in flight");
        self.now = self.now.max(self.buffer.drained());
        self.firmware.restart(self.now);
        self.journal = Journal::default();
        self.mapping.purge();
        if let Some(cache) = &mut self.map_cache {
            cache.purge();
        }
        self.buffer = Buffer::new(self.spec.buffer_pages as usize, self.spec.buffer_partial_pages as usize);
        self.link = Link::new(self.spec.link, self.spec.geometry.page);
        self.waiting.clear();
        self.waiting_ready = Nanos::ZERO;
    }

    fn cut_power(&mut self, now: Nanos) -> Lost {
        self.lose_power(now)
    }

    #[inline]
    fn expect(&self, soon: &[Request]) {
        let page_of = |request: &Request| Lpn((request.lba.get() >> self.page_sectors.trailing_zeros()) as u32);
        soon.iter().for_each(|request| self.mapping.call(page_of(request)));
        soon.iter().for_each(|request| self.mapping.call_slot(page_of(request)));
    }
}

impl Clone for FlashDrive {
    fn clone(&self) -> Self {
        Self {
            spec: self.spec,
            page_sectors: self.page_sectors,
            now: self.now,
            firmware: self.firmware.clone(),
            journal: self.journal,
            read_ahead: self.read_ahead.clone(),
            compression: self.compression,
            link: self.link.clone(),
            queue: self.queue.clone(),
            buffer: self.buffer.clone(),
            mapping: self.mapping.clone(),
            map_cache: self.map_cache.clone(),
            map_base: self.map_base,
            nand: self.nand.clone(),
            written_to: self.written_to,
            counters: self.counters,
            meter: self.meter,
            thermal: self.thermal,
            pace: self.pace,
            unsettled: self.unsettled.clone(),
            plan: Vec::new(),
            waiting: self.waiting.clone(),
            waiting_ready: self.waiting_ready,
        }
    }

    /// Copies into the memory already had. The page map, which is nearly all of it, is left alone where
    /// it has not changed since it was copied.
    fn clone_from(&mut self, other: &Self) {
        self.spec = other.spec;
        self.page_sectors = other.page_sectors;
        self.now = other.now;
        self.firmware.clone_from(&other.firmware);
        self.journal = other.journal;
        self.read_ahead.clone_from(&other.read_ahead);
        self.compression = other.compression;
        self.link.clone_from(&other.link);
        self.queue.clone_from(&other.queue);
        self.buffer.clone_from(&other.buffer);
        self.mapping.clone_from(&other.mapping);
        self.map_cache.clone_from(&other.map_cache);
        self.map_base = other.map_base;
        self.nand.clone_from(&other.nand);
        self.written_to = other.written_to;
        self.counters = other.counters;
        self.waiting.clone_from(&other.waiting);
        self.waiting_ready = other.waiting_ready;
        self.meter = other.meter;
        self.thermal = other.thermal;
        self.pace = other.pace;
        self.unsettled.clone_from(&other.unsettled);
    }
}
