//! A flash drive: link, command queue, write buffer, page map, dies.

mod buffer;
mod candidates;
mod file;
mod geometry;
mod mapping;
mod nand;
mod power_cut;
mod warmth;

use block::{Bytes, Completion, Lba, Nanos, Op, Request, SECTOR, Tag};
use buffer::{Buffer, Merged, Partial};
pub(crate) use file::FlashFile;
pub use geometry::Geometry;
use mapping::{FlashOp, Lpn, Mapping};
use nand::Nand;
pub use nand::NandTimes;
use power_cut::Unsettled;

use crate::link::{Link, LinkTimes};
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, Lost, Meter, PowerSpec, Shape, Thermal, ThermalSpec};

/// All that a flash drive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// The cable.
    pub link: LinkTimes,
    /// What the controller's firmware takes for each command before flash can begin, one at a time.
    pub command: Nanos,
    /// What it takes beside, which delays the next command but not this one.
    pub retire: Nanos,
    /// Pages of the write buffer.
    pub buffer_pages: u32,
    /// Of those, how many may hold pages that were written in part.
    pub buffer_partial_pages: u32,
    /// The layout of the flash.
    pub geometry: Geometry,
    /// The times of the flash.
    pub nand: NandTimes,
    /// What it consumes.
    pub power: PowerSpec,
    /// How warm that makes it; none if it is not to be followed.
    pub thermal: Option<ThermalSpec>,
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
    /// When the firmware is free for the next command.
    firmware_free: Nanos,
    link: Link,
    queue: CommandQueue,
    buffer: Buffer,
    mapping: Mapping,
    nand: Nand,
    counters: Counters,
    meter: Meter,
    thermal: Option<Thermal>,
    /// How long the controller and flash take, in percent of what they take when cool.
    pace: u32,
    unsettled: Unsettled,
    plan: Vec<FlashOp>,
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
        assert!((1..=64).contains(&page_sectors), "a page has 1 to 64 sectors, not {page_sectors}");
        let pages = u32::try_from(spec.capacity.get().div_ceil(spec.geometry.page.get()))
            .expect("the preset's reader checks that 32 bits number all pages");
        Self {
            page_sectors,
            now: Nanos::ZERO,
            firmware_free: Nanos::ZERO,
            link: Link::new(spec.link, spec.geometry.page),
            queue: CommandQueue::new(spec.queue_depth),
            buffer: Buffer::new(spec.buffer_pages as usize, spec.buffer_partial_pages as usize),
            mapping: Mapping::new(spec.geometry, pages),
            nand: Nand::new(&spec.geometry, spec.nand),
            counters: Counters { page: spec.geometry.page, ..Counters::default() },
            meter: Meter::new(spec.power),
            thermal: spec.thermal.map(Thermal::new),
            pace: 100,
            unsettled: Unsettled::default(),
            plan: Vec::new(),
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
        let ready = self.firmware_free.max(awake) + self.paced(self.spec.command);
        self.firmware_free = ready + self.paced(self.spec.retire);
        let at = match request.op {
            Op::Read => self.read(ready, request),
            Op::Write => self.write(ready, request),
            Op::Trim => self.trim(ready, request),
            Op::Flush => self.flush(ready),
        };
        self.counters.requests[request.op as usize] += 1;
        self.meter.end(at);
        self.queue.take(Completion { at, tag });
    }

    fn read(&mut self, ready: Nanos, request: Request) -> Nanos {
        self.counters.host_read += request.bytes();
        let mut done = ready;
        for (index, piece) in self.pieces(request).enumerate() {
            let fetched = match self.mapping.unit_of(piece.page) {
                Some(unit) => self.nand.read(self.now, ready, unit, piece.sectors),
                None => ready,
            };
            done = done.max(self.link.send(self.now, fetched, piece.sectors, index == 0));
        }
        done
    }

    fn write(&mut self, ready: Nanos, request: Request) -> Nanos {
        self.counters.host_written += request.bytes();
        let mut done = ready;
        for (index, piece) in self.pieces(request).enumerate() {
            let slot_free = self.buffer.acquire();
            let arrived = self.link.send(self.now, slot_free.max(ready), piece.sectors, index == 0);
            if piece.sectors == self.page_sectors {
                self.buffer.supersede(piece.page, self.now);
                self.program(piece.page, arrived);
            } else {
                match self.buffer.merge(piece.page, piece.first, piece.sectors, self.page_sectors, arrived) {
                    Merged::Waits => {}
                    Merged::Whole => self.program(piece.page, arrived),
                    Merged::Evicts(partial) => self.complete_page(partial),
                }
            }
            done = done.max(arrived);
        }
        done
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
        while let Some(partial) = self.buffer.take_partial() {
            self.complete_page(partial);
        }
        let durable = self.buffer.drained().max(ready);
        self.link.send(self.now, durable, 0, true)
    }

    /// Programs a page whose data is in a slot of the buffer from `ready` on, and frees the slot then.
    #[inline]
    fn program(&mut self, page: Lpn, ready: Nanos) {
        self.plan.clear();
        let is_kept = self.mapping.unit_of(page).is_some();
        self.mapping.write(page, &mut self.plan);
        let programmed = self.nand.book(self.now, ready, &self.plan);
        self.unsettled.note(self.now, page, is_kept, programmed);
        self.buffer.release(programmed);
    }

    /// Programs a page of which only some sectors were written, after reading the others.
    fn complete_page(&mut self, partial: Partial) {
        let ready = match self.mapping.unit_of(partial.page) {
            Some(unit) => self.nand.read(self.now, partial.arrived.max(self.now), unit, self.page_sectors),
            None => partial.arrived,
        };
        self.program(partial.page, ready);
        self.unsettled.narrow(partial.sectors);
    }

    /// Cuts a request at the boundaries of pages.
    #[inline]
    fn pieces(&self, request: Request) -> impl Iterator<Item = Piece> + use<> {
        let sectors = u64::from(self.page_sectors);
        let (mut at, end) = (request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let first = at % sectors;
                let count = (sectors - first).min(end - at);
                let piece = Piece { page: Lpn((at / sectors) as u32), first: first as u32, sectors: count as u32 };
                at += count;
                piece
            })
        })
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
            wear: None,
        }
    }

    fn purge(&mut self) {
        assert!(self.queue.is_empty(), "a drive is purged only when nothing is in flight");
        self.now = self.now.max(self.buffer.drained());
        self.firmware_free = self.now;
        self.mapping.purge();
        self.buffer = Buffer::new(self.spec.buffer_pages as usize, self.spec.buffer_partial_pages as usize);
        self.link = Link::new(self.spec.link, self.spec.geometry.page);
    }

    fn cut_power(&mut self, now: Nanos) -> Lost {
        self.lose_power(now)
    }

    #[inline]
    fn expect(&self, soon: &[Request]) {
        let page_of = |request: &Request| Lpn((request.lba.get() / u64::from(self.page_sectors)) as u32);
        // Two passes of plain loads that nothing waits for: the processor overlaps their cache misses.
        let mut slots = [0; 32];
        for batch in soon.chunks(slots.len()) {
            for (slot, request) in slots.iter_mut().zip(batch) {
                *slot = self.mapping.touch(page_of(request));
            }
            let sum = slots[..batch.len()].iter().fold(0, |sum, &slot| sum ^ self.mapping.touch_slot(slot));
            std::hint::black_box(sum);
        }
    }
}

impl Clone for FlashDrive {
    fn clone(&self) -> Self {
        Self {
            spec: self.spec,
            page_sectors: self.page_sectors,
            now: self.now,
            firmware_free: self.firmware_free,
            link: self.link.clone(),
            queue: self.queue.clone(),
            buffer: self.buffer.clone(),
            mapping: self.mapping.clone(),
            nand: self.nand.clone(),
            counters: self.counters,
            meter: self.meter,
            thermal: self.thermal,
            pace: self.pace,
            unsettled: self.unsettled.clone(),
            plan: Vec::new(),
        }
    }

    /// Copies into the memory already had. The page map, which is nearly all of it, is left alone where
    /// it has not changed since it was copied.
    fn clone_from(&mut self, other: &Self) {
        self.spec = other.spec;
        self.page_sectors = other.page_sectors;
        self.now = other.now;
        self.firmware_free = other.firmware_free;
        self.link.clone_from(&other.link);
        self.queue.clone_from(&other.queue);
        self.buffer.clone_from(&other.buffer);
        self.mapping.clone_from(&other.mapping);
        self.nand.clone_from(&other.nand);
        self.counters = other.counters;
        self.meter = other.meter;
        self.thermal = other.thermal;
        self.pace = other.pace;
        self.unsettled.clone_from(&other.unsettled);
    }
}
