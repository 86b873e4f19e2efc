//! What writes leave behind, without their time.
//!
//! The map knows no time, so what flash looks like after writes follows from the order in which they came alone. Here a drive
//! decides all that it would decide for them, and books nothing.

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR};

use super::buffer::{Merged, SectorMask};
use super::copies::are_lent;
use super::digest;
use super::extents::Extents;
use super::geometry::Unit;
use super::mapping::{Mapping, PageSource, UnitState};
use super::marks::mark;
use super::operation::Lpn;
use super::power_cut::BufferedPage;
use super::{FlashDrive, PagePart};
use crate::Counters;
use crate::energy::WorkEnergy;
use crate::shared_table::{Numbers, SharedTable};

/// Requests whose entries of the map are asked of memory together.
const BATCH: usize = 32;

impl FlashDrive {
    /// Whether the drive can be brought into the state that this write leaves without carrying it out: it is of whole
    /// pages, or goes to the very end, and nothing is in flight.
    pub fn can_write_untimed(&self, first: Lba, end: Lba) -> bool {
        let is_whole = |at: Lba| at.get().is_multiple_of(u64::from(self.page_sectors));
        let capacity = Lba::at(self.spec.capacity);
        if let Some(zoned) = &self.zoned {
            return end <= capacity && self.is_at_rest() && zoned.zones.can_fill(first, end);
        }
        let is_inside = first < end && end <= capacity && is_whole(first) && (is_whole(end) || end == capacity);
        is_inside && !self.mapping.is_read_only() && self.is_at_rest()
    }

    /// Brings the drive into the state in which these writes, taken in this order without a pause, would leave it, with a
    /// flush before and behind them, once it has come to rest: map, wear, counters and all else that knows no time.
    ///
    /// The clock goes on by what the flushes take alone, and the drive gets no warmer.
    ///
    /// # Panics
    /// If one of them is no write that [`can_write_untimed`](Self::can_write_untimed).
    pub fn write_untimed(&mut self, requests: impl IntoIterator<Item = Request>) {
        let mut writer = Writer::new(self);
        let (mut batch, mut requests) = (Vec::with_capacity(BATCH), requests.into_iter());
        loop {
            batch.extend(requests.by_ref().take(BATCH));
            if batch.is_empty() {
                return writer.finish();
            }
            crate::Drive::expect(writer.drive, &batch);
            for request in batch.drain(..) {
                let drive = &*writer.drive;
                let is_write = request.op == Op::Write && drive.can_write_untimed(request.lba, request.end());
                assert!(is_write || drive.mapping.is_read_only(), "{request:?}");
                writer.write(request);
            }
        }
    }

    /// The same for writes of `block` each, one behind the other from `first` to `end`. Where the drive is empty, nearly
    /// nothing is left to be done.
    ///
    /// # Panics
    /// As there.
    pub fn fill_untimed(&mut self, first: Lba, end: Lba, block: Bytes, entropy: u8) {
        if self.zoned.is_some() {
            return self.fill_zones(first, end, block);
        }
        let before = self.counters;
        let mut writer = Writer::new(self);
        let is_blank = writer.drive.forget_if_blank();
        let step = block.sectors().max(1);
        let mut at = first.get();
        while at < end.get() {
            if is_blank && writer.pending.is_empty() {
                at += writer.write_in_order(at, end.get(), entropy);
            }
            // The rest of a request that was taken in part is as good as one of its own.
            let next = (at + step - (at - first.get()) % step).min(end.get());
            if at < next {
                writer.write(Request { entropy, ..Request::new(Op::Write, Lba::new(at), (next - at) as u32) });
            }
            at = next;
        }
        // Counted as the requests that they are, however they were cut here.
        let (counters, Counters { requests, host_written, .. }) = (&mut writer.drive.counters, before);
        (counters.requests, counters.host_written) = (requests, host_written);
        counters.count_writes(first, end, block);
        writer.finish();
    }

    /// Counts what the firmware's tasks have written since the host had written `before`.
    pub(super) fn pass_tasks(&mut self, before: Bytes) {
        let written = Bytes::new(self.counters.host_written.get() - before.get());
        self.nand.count_notes(self.housekeeping.pass(written));
    }

    /// Makes an empty drive's map as good as new, so that data can lie in order there; whether it was empty.
    fn forget_if_blank(&mut self) -> bool {
        let is_blank = self.mapping.is_blank() && self.map_cache.as_ref().is_none_or(|cache| cache.is_in_order());
        if is_blank {
            self.mapping.forget_places();
            self.nand.blank(self.now);
        }
        is_blank
    }
}

/// A drive that is written without time.
pub(super) struct Writer<'d> {
    pub(super) drive: &'d mut FlashDrive,
    /// Pages that wait for their flash page to be full.
    pub(super) pending: Vec<BufferedPage>,
    /// The work that the drive had done before, and what the host had written.
    work: WorkEnergy,
    written: Bytes,
}

impl<'d> Writer<'d> {
    pub(super) fn new(drive: &'d mut FlashDrive) -> Self {
        assert!(drive.is_at_rest(), "a drive is written without time only when nothing is in flight");
        drive.warm_up(drive.now);
        drive.harden(drive.now);
        drive.complete_partials();
        // What a flush leaves in the buffer waits on.
        let pending = std::mem::take(&mut drive.waiting);
        pending.iter().for_each(|_| drive.buffer.release(drive.now));
        drive.waiting_ready = Nanos::ZERO;
        drive.now = drive.now.max(drive.buffer.drained());
        let (work, written) = (drive.work(), drive.counters.host_written);
        Self { drive, pending, work, written }
    }

    /// Writes a request as [`FlashDrive::write`] does.
    fn write(&mut self, request: Request) {
        let drive = &mut *self.drive;
        drive.counters.count(&request);
        if drive.mapping.is_read_only() {
            drive.counters.host_rejected += request.bytes();
            return;
        }
        self.claim_map(request);
        let drive = &mut *self.drive;
        drive.written_to = request.end();
        drive.is_noted = false;
        for piece in drive.pieces(request) {
            self.part(piece, request.entropy);
        }
    }

    /// As [`FlashDrive::claim_map`].
    fn claim_map(&mut self, request: Request) {
        for piece in self.drive.pieces(request) {
            let Some(cache) = &mut self.drive.map_cache else { return };
            let need = cache.write(piece.page);
            if let Some(region) = need.write_back.filter(|_| !self.drive.mapping.is_read_only()) {
                self.put(Lpn(self.drive.map_base + region), 100);
            }
            if let Some(region) = need.fetch {
                let is_here = self.drive.holds_table(region);
                let place = self.drive.place_of_table(region);
                self.drive.nand.pages_read += u64::from(!is_here && place.is_some());
            }
        }
    }

    /// Writes what falls on one page.
    fn part(&mut self, piece: PagePart, mut entropy: u8) {
        let drive = &mut *self.drive;
        if piece.sectors < drive.page_sectors {
            // Its rest is the next part, or never comes, at the end of a drive that ends within a page.
            drive.buffer.acquire();
            match drive.buffer.merge(piece, drive.page_sectors, drive.now, entropy) {
                Merged::Waits => return,
                Merged::Whole(most) => entropy = most,
                Merged::Evicts(partial) => unreachable!("{partial:?} waits for its rest alone"),
            }
            drive.buffer.release(drive.now);
        }
        if drive.mapping.is_read_only() {
            drive.counters.host_rejected += SECTOR.times(u64::from(drive.page_sectors));
        } else {
            let is_kept = drive.mapping.holds(piece.page);
            self.pending.push(BufferedPage { page: piece.page, sectors: SectorMask::MAX, is_kept });
            self.put(piece.page, entropy);
        }
    }

    /// Has the map decide where a page goes, and counts what that takes.
    fn put(&mut self, page: Lpn, entropy: u8) {
        let drive = &mut *self.drive;
        let (full, _) = drive.decide(page, entropy);
        drive.nand.count(drive.now, &drive.plan);
        if full {
            self.pending.clear();
        }
    }

    /// Lays whole rows of flash pages from sector `at` on, on a drive that has nothing but such data; how many sectors.
    fn write_in_order(&mut self, at: u64, end: u64, entropy: u8) -> u64 {
        let drive = &mut *self.drive;
        let sectors = u64::from(drive.page_sectors);
        let first = Lpn((at / sectors) as u32);
        if drive.mapping.is_packed() && entropy < 100 {
            return 0;
        }
        if !at.is_multiple_of(sectors) || drive.map_cache.as_ref().is_some_and(|cache| !cache.goes_on_at(first)) {
            return 0;
        }
        let mut page = first;
        loop {
            let written = drive.mapping.write_in_order(page, (end / sectors) as u32);
            if written == 0 {
                break;
            }
            page.0 += written;
        }
        let mut pages = page.0 - first.0;
        drive.nand.pages_programmed += u64::from(pages);
        let FlashDrive { mapping, nand, pacing, now, .. } = drive;
        // Pacing goes by what each page takes.
        let each = if pacing.is_some() { 1 } else { mapping.geometry.program_pages };
        pages += mapping.fill_on(page, (end / sectors) as u32, each, |plan| {
            pacing.iter_mut().for_each(|pacing| pacing.note(plan));
            nand.count(*now, plan);
        });
        if let Some(cache) = &mut drive.map_cache {
            cache.write_in_order(first, pages);
        }
        drive.written_to = Lba::new(at + u64::from(pages) * sectors);
        drive.is_noted &= pages == 0;
        u64::from(pages) * sectors
    }

    /// Has all of it in flash, which is at rest then, or in the buffer, if a flush leaves it there.
    pub(super) fn finish(self) {
        let drive = self.drive;
        for waiting in self.pending {
            drive.buffer.acquire();
            drive.waiting.push(waiting);
        }
        drive.pass_tasks(self.written);
        // A page of the journal that a flush has asked for before or here tells of nothing that is written later.
        drive.noted.0 = Nanos::ZERO;
        drive.harden(drive.now);
        drive.noted.0 = Nanos::ZERO;
        drive.now = drive.now.max(drive.buffer.drained());
        let [before, used] = [self.work, drive.work()].map(|work| drive.meter.energy(drive.now, work));
        if let Some(thermal) = &mut drive.thermal {
            thermal.pass_over(used - before);
        }
    }
}

impl Mapping {
    /// Forgets where everything is.
    pub(super) fn forget_places(&mut self) {
        self.changes.lose();
        match are_lent(self.slots.len(), self.packing.is_some()) {
            true => self.slots = SharedTable::in_lines(self.slots.like()),
            false => self.slots.clear(),
        }
        self.extents = Extents::default();
        self.drawn = None;
        self.tabled = 0..0;
    }

    /// Whether there is no data at all.
    fn is_blank(&self) -> bool {
        self.units.iter().all(|unit| unit.valid == 0)
    }

    /// Writes pages from `first` on, at most up to `end` and none of them mapped, as [`write`](Self::write) does one
    /// after the other, as long as no unit needs another block or collection; how many.
    ///
    /// These are whole rows: a flash page of each unit in turn. What it takes to program them is the caller's to count.
    fn write_in_order(&mut self, first: Lpn, end: u32) -> u32 {
        let (units, together) = (self.geometry.units(), self.geometry.program_pages);
        let row = units * together;
        let rows = self.rows_left().min(end.saturating_sub(first.0) / row);
        if rows == 0 {
            return 0;
        }
        let turn = self.next_unit;
        let starts: Vec<u32> =
            (0..units).map(|place| self.append_in_order((turn + place) % units, rows * together)).collect();
        self.note_rows(first, rows, &starts);
        if self.extents.is_empty() {
            self.extents = Extents::new(units, together, self.geometry.blocks());
        }
        self.extents.add(first, rows, Unit(turn), &starts, self.page_bits);
        for unit in (0..units).map(|place| Unit((turn + place) % units)) {
            if self.is_full(self.units[unit.0 as usize].host) {
                self.close(unit, PageSource::Host);
            }
        }
        rows * row
    }

    /// How many flash pages each unit can be given one after the other before any of them has something else to do.
    fn rows_left(&self) -> u32 {
        let collects = |(unit, state): (Unit, &UnitState)| state.victim.is_some() || self.wants_victim(unit);
        if (0..).map(Unit).zip(&self.units).any(collects) { 0 } else { self.rows_of_blocks() }
    }

    /// How many flash pages each unit can be given one after the other until one of them needs another block.
    pub(super) fn rows_of_blocks(&self) -> u32 {
        let (together, granules) = (self.geometry.program_pages, self.granules());
        let rows = self.units.iter().map(|unit| {
            let is_packed = self.packing.is_some();
            // Compressed pages before these: they lie at no place that follows from their number.
            let is_dense = is_packed && self.filled(unit.host) != unit.host.next * granules;
            let is_within = !unit.host.next.is_multiple_of(together) || is_dense;
            let end = if is_packed { self.geometry.pages_per_block } else { unit.host.end };
            let room = (end.saturating_sub(unit.host.next)).min(unit.valid_max.saturating_sub(unit.valid) / granules);
            if is_within { 0 } else { room / together }
        });
        if self.read_only { 0 } else { rows.min().unwrap_or(0) }
    }

    /// Puts so many pages behind those that a unit's open block has; the slot of the first.
    fn append_in_order(&mut self, unit: u32, pages: u32) -> u32 {
        let size = pages * self.granules();
        let state = &mut self.units[unit as usize];
        let start = state.host.block << self.page_bits | state.host.next;
        self.counts[state.host.block as usize] += size as u16;
        if let Some(packing) = &mut self.packing {
            packing.add(state.host.block, pages, size);
        }
        state.host.next += pages;
        state.valid += size;
        mark(&mut self.valid, start..start + pages);
        start
    }

    /// Has the digest as after so many rows of writes, the first of them of the pages from `first` on to these slots.
    fn note_rows(&mut self, first: Lpn, rows: u32, starts: &[u32]) {
        let together = self.geometry.program_pages;
        let slots = starts.iter().flat_map(|start| (0..together).map(move |page| start + page));
        // Of the first row: what it adds, what one more in each of its entries would add, and by what it multiplies.
        let (mut adds, mut each, mut times) = (0_u64, 0_u64, 1_u64);
        for (slot, page) in slots.zip(first.0..) {
            adds = adds.wrapping_mul(digest::STEP).wrapping_add(digest::entry(slot, Lpn(page)));
            each = each.wrapping_mul(digest::STEP).wrapping_add(1);
            times = times.wrapping_mul(digest::STEP);
        }
        let row = starts.len() as u64 * u64::from(together);
        let more = digest::SLOT.wrapping_mul(u64::from(together)).wrapping_add(digest::PAGE.wrapping_mul(row));
        let more = more.wrapping_mul(each);
        for _ in 0..rows {
            self.digest = self.digest.wrapping_mul(times).wrapping_add(adds);
            adds = adds.wrapping_add(more);
        }
    }

    /// Writes into the table which pages a block holds that lies in order, before it is emptied.
    pub(super) fn write_out(&mut self, unit: Unit, block: u32) {
        self.changes.note(block, self.counts.len() as u32);
        if let Some(drawn) = &mut self.drawn {
            drawn.name(block, &self.valid, &mut self.owners);
        }
        let owners = &mut self.owners;
        self.extents.take(block, unit, self.page_bits, |slot, page| owners.set(slot as usize, page.0));
    }
}
