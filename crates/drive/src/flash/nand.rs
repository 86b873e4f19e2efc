//! How long flash takes for what was decided.

use block::{Bytes, Nanos, Rate, SECTOR, Seed, Status};
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::die::{Die, Joinable, NOTHING, OperationKind, SuspendSpec, Suspension, SuspensionCounts};
use super::errors::{ErrorCounts, Errors, ErrorsSpec};
use super::geometry::{self, Geometry, Unit};
use super::operation::{Cells, FlashOp, PageLocation};
use super::pages::PageTypes;
use super::variation::{Variation, VariationSpec};

mod moves;
mod patrol;
#[cfg(test)]
mod tests;

/// What the parts of a flash die and its bus cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NandTimes {
    /// From the array into the die's register, the mean over the page types.
    pub read: Nanos,
    /// From the register into the array, one flash page, the mean over the page types.
    pub program: Nanos,
    /// How the pages of a word line differ from that.
    pub pages: PageTypes,
    /// The same where a cell holds one bit.
    pub single: CellTimes,
    /// One block.
    pub erase: Nanos,
    /// Between a die's register and the controller.
    pub channel: Rate,
    /// Whether a page that collection moves stays inside its die (copy-back) or crosses the channel
    /// twice to be checked and corrected.
    pub copy_back: bool,
    /// Whether the next page can be sent to a die while it programs one.
    pub cache_program: bool,
    /// Whether a die keeps the page that it read last until it does something else, so that other
    /// logical pages of it come without another read.
    pub keeps_page: bool,
}

/// What cells of one kind cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellTimes {
    /// From the array into the die's register.
    pub read: Nanos,
    /// From the register into the array.
    pub program: Nanos,
}

/// How flash behaves beside its times; without any of it every operation takes what it takes in the mean, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NandBehaviour {
    /// How its parts and operations differ.
    pub variation: Option<VariationSpec>,
    /// Its raw bit errors, and what the controller does about them.
    pub errors: Option<ErrorsSpec>,
    /// How the host's reads go before programs and erases.
    pub suspend: Option<SuspendSpec>,
}

/// The dies and channels of a drive, each with the time up to which it is booked.
///
/// A die does what it is given in order, so one register tells when it is free; where reads of the host go first, it
/// keeps what it was given: see [`Die`]. A channel serves whichever of its dies is ready first, so it keeps what is booked:
/// see [`Channel`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nand {
    times: NandTimes,
    suspension: Option<Suspension>,
    variation: Option<Variation>,
    errors: Option<Errors>,
    /// What decoding takes after a read's transfer.
    decode: Nanos,
    multi_plane: bool,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    die_of_unit: Vec<u32>,
    /// What a number of sectors takes on the channel, up to a logical page's worth.
    transfer: Vec<Nanos>,
    /// What a flash page takes there.
    fill: Nanos,
    program_pages: u32,
    /// Pages of the firmware's notes in the last of their blocks, and how many a full one has.
    noted: u32,
    notes_per_block: u32,
    /// What each program of the move at hand takes.
    #[serde(skip)]
    programming: Vec<Nanos>,
    /// A block of which a read took so many retries that its data is to be moved.
    ailing: Option<u32>,
    /// Whether a read found what cannot be corrected, since this was asked last.
    #[serde(default)]
    failure: Status,
    pub(super) pages_read: u64,
    pub(super) pages_programmed: u64,
    pub(super) blocks_erased: u64,
}

impl Nand {
    /// Idle flash of this `geometry`, made by `seed`; `reads_first` where there will be reads that go before the rest.
    pub fn new(geometry: &Geometry, times: NandTimes, behaviour: NandBehaviour, reads_first: bool, seed: Seed) -> Self {
        let NandBehaviour { variation, errors, suspend } = behaviour;
        let suspend = suspend.or(reads_first.then_some(SuspendSpec::NEVER));
        let die = |die| Die::new(geometry.channel_of(geometry::Die(die)), die / geometry.channels, suspend.is_some());
        let channel = Channel::new(geometry.dies_per_channel, reads_first);
        // Where pages are programmed one by one, a word line has one with one bit a cell.
        let bits = if geometry.sense_pages == geometry.program_pages { times.pages.count } else { 1 };
        Self {
            times,
            suspension: suspend.map(|spec| Suspension::new(spec, seed.split("suspension"))),
            variation: variation.map(|spec| Variation::new(spec, geometry, seed.split("variation"))),
            errors: errors.map(|spec| Errors::new(spec, geometry, seed.split("errors"))),
            decode: errors.map_or(Nanos::ZERO, |errors| errors.decode),
            multi_plane: geometry.multi_plane,
            dies: (0..geometry.dies()).map(die).collect(),
            channels: vec![channel; geometry.channels as usize],
            die_of_unit: (0..geometry.units()).map(|unit| geometry.die_of(Unit(unit)).0).collect(),
            transfer: transfers(times.channel, geometry.page.sectors()),
            fill: fill(times.channel, geometry.page, geometry.program_pages),
            program_pages: geometry.program_pages,
            noted: 0,
            notes_per_block: (geometry.pages_per_block / geometry.program_pages).div_ceil(bits),
            programming: Vec::new(),
            ailing: None,
            failure: Status::Success,
            pages_read: 0,
            pages_programmed: 0,
            blocks_erased: 0,
        }
    }

    /// What is booked from now on takes these times; what is booked already keeps its own.
    pub fn set_times(&mut self, times: NandTimes) {
        let page = SECTOR.times(self.transfer.len() as u64 - 1);
        self.transfer = transfers(times.channel, page.sectors());
        self.fill = fill(times.channel, page, self.program_pages);
        self.times = times;
    }

    /// Has what operations draw from here on follow from `seed` too.
    pub fn draw_from(&mut self, seed: Seed) {
        self.variation.iter_mut().for_each(|variation| variation.draw_from(seed));
        self.errors.iter_mut().for_each(|errors| errors.draw_from(seed));
        self.suspension.iter_mut().for_each(|suspension| suspension.draw_from(seed));
    }

    /// What was done about errors; nothing where there are none.
    pub fn error_counts(&self) -> ErrorCounts {
        self.errors.as_ref().map_or(ErrorCounts::default(), |errors| errors.counted)
    }

    /// What was suspended; nothing where nothing is.
    pub fn suspension_counts(&self) -> SuspensionCounts {
        self.suspension.as_ref().map_or(SuspensionCounts::default(), |suspension| suspension.counted)
    }

    /// The block whose data is to be moved, if a read has found one since this was asked last.
    #[inline]
    pub fn take_ailing(&mut self) -> Option<u32> {
        // Hardly ever is there one to take.
        if self.ailing.is_some() { self.ailing.take() } else { None }
    }

    /// Whether all pages that were read since this was asked last could be corrected. What the drive reads for itself, old
    /// data that a write changes a part of and its map, it has twice: who reads for that asks too, and goes on.
    #[inline]
    pub fn take_failure(&mut self) -> Status {
        let failure = self.failure;
        if !failure.is_success() {
            self.failure = Status::Success;
        }
        failure
    }

    /// Reads `sectors` of the page at `place`, starting at `ready` at the earliest; when they are with the controller.
    #[inline(always)]
    pub fn read(&mut self, now: Nanos, ready: Nanos, place: PageLocation, sectors: u32) -> Nanos {
        let number = self.die_of_unit[place.unit.0 as usize] as usize;
        let transfer = self.transfer[sectors as usize];
        let sensing = self.sensing(now, number, place, transfer);
        let die = &mut self.dies[number];
        let start = die.free.max(ready);
        let done = self.channels[die.channel as usize].reserve(now, die.lane, start + sensing, transfer);
        die.note(now, OperationKind::Reads(done - start), start, done, false);
        die.free = done;
        die.joinable = None;
        self.pages_read += 1;
        done + self.decode
    }

    /// Reads `sectors` of the page at `place` before what the die has been given and has not begun; where programs and
    /// erases are suspended, before the rest of those as well.
    ///
    /// Where reads of the host do not go first, only those of the map do, and operations are not kept one by one: the end of the
    /// one under way is reckoned back from the end of all, in steps of one page moved. The rest is put off by what the read takes.
    pub fn read_first(&mut self, now: Nanos, ready: Nanos, place: PageLocation, sectors: u32) -> Nanos {
        let number = self.die_of_unit[place.unit.0 as usize] as usize;
        let transfer = self.transfer[sectors as usize];
        let sensing = self.sensing(now, number, place, transfer);
        let step = self.times.read + self.fill + self.fill + self.times.program;
        let die = &mut self.dies[number];
        let channel = &mut self.channels[die.channel as usize];
        self.pages_read += 1;
        let Some(suspension) = &mut self.suspension else {
            let waits = Nanos::from_nanos(die.free.since(ready).as_nanos() % step.as_nanos());
            let start = (ready + waits).max(die.reads_until);
            let done = channel.insert(now, die.lane, start + sensing, transfer);
            die.free = die.free.max(start) + done.since(start);
            die.reads_until = done;
            die.joinable = None;
            return done + self.decode;
        };
        let turn = die.turn(suspension, ready);
        let done = channel.insert(now, die.lane, turn.start + sensing, transfer);
        die.resume(turn, done);
        done + self.decode
    }

    /// What it takes to have the page of `place` in the register of its die, with the retries that its errors need.
    #[inline(always)]
    fn sensing(&mut self, now: Nanos, die: usize, place: PageLocation, transfer: Nanos) -> Nanos {
        let at = (place.block, place.sense);
        if self.times.keeps_page && std::mem::replace(&mut self.dies[die].holds, at) == at {
            return Nanos::ZERO;
        }
        if place.cells == Cells::Single {
            return self.varied(self.times.single.read);
        }
        let line = self.times.pages.line(place.sense);
        let sensing = self.varied(self.times.pages.read(line, self.times.read));
        let Some(errors) = &mut self.errors else { return sensing };
        let effort = errors.read(now, place.block, line);
        if effort.refresh {
            self.ailing = Some(place.block);
        }
        if effort.uncorrectable {
            self.failure = Status::UnrecoveredRead;
        }
        sensing + errors.time(effort, sensing + transfer)
    }

    /// What an array read of this mean time takes this time.
    #[inline(always)]
    fn varied(&mut self, mean: Nanos) -> Nanos {
        match &mut self.variation {
            Some(variation) => variation.read(mean),
            None => mean,
        }
    }

    /// What programming the flash page at `place` takes.
    #[inline]
    fn programming(&mut self, die: usize, place: PageLocation) -> Nanos {
        let line = self.times.pages.line(place.sense);
        let mean = match place.cells {
            Cells::Single => self.times.single.program,
            Cells::Native => self.times.pages.program(line, self.times.program),
        };
        let Some(variation) = &mut self.variation else { return mean };
        let in_block = variation.in_block(die as u32, place.block, mean);
        variation.program(line.number, in_block)
    }

    /// Does what `plan` says in its order; data of the host is there from `ready` on. When the last of it ends.
    pub fn book(&mut self, now: Nanos, ready: Nanos, plan: &[FlashOp]) -> Nanos {
        let mut end = ready;
        for op in plan {
            end = match *op {
                FlashOp::Program(place) => self.program(now, ready, place),
                FlashOp::Move(unit, moved) => self.move_pages(now, unit, moved),
                FlashOp::Erase(unit, block) => self.erase(now, unit, block),
            };
        }
        end
    }

    /// Counts what `plan` says as done at `now`, in no time.
    pub fn count(&mut self, now: Nanos, plan: &[FlashOp]) {
        for op in plan {
            match *op {
                FlashOp::Program(place) => self.count_programs(now, place.block, 1),
                FlashOp::Move(_, moved) => {
                    self.pages_read += u64::from(moved.pages);
                    self.count_programs(now, moved.to.0, moved.programs);
                }
                FlashOp::Erase(_, block) => self.count_erase(block),
            }
        }
    }

    #[inline]
    fn count_programs(&mut self, now: Nanos, block: u32, flash_pages: u32) {
        self.pages_programmed += u64::from(flash_pages * self.program_pages);
        if let (Some(errors), true) = (&mut self.errors, flash_pages > 0) {
            errors.programmed(now, block);
        }
    }

    fn count_erase(&mut self, block: u32) {
        self.blocks_erased += 1;
        if let Some(errors) = &mut self.errors {
            errors.erased(block);
        }
    }

    /// Notes that there is no data at `now`.
    pub fn blank(&mut self, now: Nanos) {
        if let Some(errors) = &mut self.errors {
            errors.blank(now);
        }
    }

    /// When a die of `unit` has done all that it was given.
    pub fn free_at(&self, unit: Unit) -> Nanos {
        self.dies[self.die_of_unit[unit.0 as usize] as usize].free
    }

    fn program(&mut self, now: Nanos, ready: Nanos, place: PageLocation) -> Nanos {
        let unit = place.unit;
        let number = self.die_of_unit[unit.0 as usize] as usize;
        self.count_programs(now, place.block, 1);
        let programming = self.programming(number, place);
        let die = &mut self.dies[number];
        let channel = &mut self.channels[die.channel as usize];
        // Another plane joins a program for which it has data by the time that one would begin.
        let joins = |other: &Joinable| self.multi_plane && other.unit < unit && ready <= other.start;
        let joined = die.joinable.filter(joins);
        let register_free = if self.times.cache_program { die.loaded } else { die.free };
        let loads_from = joined.map_or(register_free, |other| other.loads_from);
        let loaded = channel.reserve(now, die.lane, loads_from.max(ready), self.fill);
        let start = loaded.max(joined.map_or(die.free, |other| other.start));
        die.note(now, OperationKind::Program, start, start + programming, joined.is_some());
        die.loaded = start;
        die.free = die.free.max(start + programming);
        die.joinable = Some(Joinable { unit, start, loads_from });
        die.holds = NOTHING;
        die.free
    }

    /// Programs a page of the firmware's notes, as the map's journal, with as few bits a cell as there are. They have blocks of
    /// their own, of which one is erased whenever the last is full.
    pub fn note(&mut self, now: Nanos, ready: Nanos, unit: Unit) -> Nanos {
        if self.noted == self.notes_per_block {
            self.noted = 0;
            self.erase_notes(now, ready, unit);
        }
        self.noted += 1;
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        let loaded = self.channels[die.channel as usize].reserve(now, die.lane, die.free.max(ready), self.fill);
        let end = loaded + self.times.single.program;
        die.occupy(now, OperationKind::Program, loaded, end);
        self.pages_programmed += u64::from(self.program_pages);
        end
    }

    /// The same of one for which the host waits: a block that is full is erased behind the first page of the next.
    pub fn note_for_flush(&mut self, now: Nanos, ready: Nanos, unit: Unit) -> Nanos {
        let is_full = self.noted == self.notes_per_block;
        if is_full {
            self.noted = 0;
        }
        let end = self.note(now, ready, unit);
        if is_full {
            self.erase_notes(now, end, unit);
        }
        end
    }

    /// Counts so many such pages as done in no time.
    pub fn count_notes(&mut self, flash_pages: u64) {
        // A block that is full is erased with the next page.
        let noted = u64::from(self.noted) + flash_pages;
        let erased = noted.saturating_sub(1) / u64::from(self.notes_per_block);
        self.noted = (noted - erased * u64::from(self.notes_per_block)) as u32;
        self.blocks_erased += erased;
        self.pages_programmed += flash_pages * u64::from(self.program_pages);
    }

    /// Erases a block of notes that nobody needs any more.
    #[cold]
    fn erase_notes(&mut self, now: Nanos, ready: Nanos, unit: Unit) {
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        let start = die.free.max(ready);
        die.occupy(now, OperationKind::Erase, start, start + self.times.erase);
        self.blocks_erased += 1;
    }

    fn erase(&mut self, now: Nanos, unit: Unit, block: u32) -> Nanos {
        let number = self.die_of_unit[unit.0 as usize];
        self.count_erase(block);
        let erasing = match &mut self.variation {
            Some(variation) => variation.erase(number, block, self.times.erase),
            None => self.times.erase,
        };
        let die = &mut self.dies[number as usize];
        let start = die.free.max(now);
        die.occupy(now, OperationKind::Erase, start, start + erasing);
        die.free
    }
}

/// What a flash page of so many logical ones takes on the channel.
fn fill(channel: Rate, page: Bytes, pages: u32) -> Nanos {
    channel.time_for(page.times(u64::from(pages)))
}

/// What each number of sectors up to a page's worth takes on the channel.
fn transfers(channel: Rate, page_sectors: u64) -> Vec<Nanos> {
    (0..=page_sectors).map(|sectors| channel.time_for(SECTOR.times(sectors))).collect()
}
