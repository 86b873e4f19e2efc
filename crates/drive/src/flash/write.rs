//! How a flash drive writes, forgets and makes durable.

use std::ops::Range;

use block::{Nanos, Op, Request, SECTOR, Status};

use super::buffer::{Merged, Partial, SectorMask};
use super::firmware::Core;
use super::geometry::Unit;
use super::housekeeping::TaskWrites;
use super::map_cache::Need;
use super::operation::Lpn;
use super::power_cut::BufferedPage;
use super::{FlashDrive, IdleSpec, PagePart};

/// So many mapping pages are written back between the first look at what one needs and its turn.
const TABLES_AHEAD: usize = 8;

/// Up to when a die collects while nothing is asked before the others have their turn: some of what takes longest.
const IDLE_SLICE: Nanos = Nanos::from_millis(10);

impl FlashDrive {
    /// Has the map's entries for the pages of a write at hand, from `ready` on; when they are.
    #[inline]
    pub(super) fn claim_map(&mut self, ready: Nanos, request: Request) -> Nanos {
        if self.map_cache.is_none() {
            return ready;
        }
        let mut found = ready;
        for piece in self.pieces(request) {
            let Some(cache) = &mut self.map_cache else { break };
            let need = cache.write(piece.page);
            found = found.max(self.provide(ready, need));
        }
        found
    }

    /// Has flash do from `ready` on what changing the map needs; when the change can be made.
    #[inline]
    fn provide(&mut self, ready: Nanos, need: Need) -> Nanos {
        if let Some(region) = need.write_back.filter(|_| !self.mapping.is_read_only()) {
            self.call_tables();
            self.put(Lpn(self.map_base + region), ready, 100);
        }
        need.fetch.map_or(ready, |region| self.fetch_table(ready, region))
    }

    /// Has at hand soon what writing mapping pages back will need.
    #[inline]
    fn call_tables(&self) {
        let Some(cache) = &self.map_cache else { return };
        let page = |after| cache.expected_out(after).map(|region| Lpn(self.map_base + region));
        page(2 * TABLES_AHEAD).into_iter().for_each(|page| self.mapping.call(page));
        page(TABLES_AHEAD).into_iter().for_each(|page| {
            cache.call_region(page.0 - self.map_base);
            self.mapping.call_slot(page);
        });
    }

    pub(super) fn write(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        if self.mapping.is_read_only() {
            self.counters.host_rejected += request.bytes();
            self.status = Status::WriteFault;
            return self.link.send(self.now, ready, 0, true);
        }
        let asked = ready;
        let ready = self.claim_map(asked, request);
        let continues = std::mem::replace(&mut self.written_to, request.end()) == request.lba;
        let pages = self.pages(request);
        let handled = ready + self.paced(self.handling(pages, continues));
        let is_parked = ready > asked && self.park(core, ready, handled);
        if !is_parked {
            self.firmware.hold(core, handled + self.paced(self.retiring(Op::Write)));
        }
        let was_noted = std::mem::take(&mut self.is_noted);
        let before = std::mem::take(&mut self.programmed);
        let mut done = handled;
        if let Some(pacing) = &mut self.pacing {
            done = done.max(pacing.take(handled, pages, &mut self.pace_draws));
        }
        if !continues && self.spec.journal > Nanos::ZERO {
            let length = self.jitter.vary(&mut self.pace_draws, self.spec.journal);
            done = done.max(self.journal.note(ready, self.paced(length)));
        }
        let mut pieces = self.pieces(request).enumerate();
        while let Some((index, piece)) = pieces.next() {
            if let Some(arrived) = self.write_flash_page(ready, piece, index == 0, request) {
                done = done.max(arrived);
                pieces.nth(self.spec.geometry.program_pages as usize - 2);
                continue;
            }
            let slot_free = self.buffer.acquire();
            let arrived = self.link.receive(self.now, slot_free.max(ready), piece.sectors, index == 0);
            let merged = if piece.sectors == self.page_sectors {
                self.buffer.supersede(piece.page, self.now);
                Merged::Whole(request.entropy)
            } else {
                self.buffer.merge(piece, self.page_sectors, arrived, request.entropy)
            };
            match merged {
                Merged::Waits => {}
                Merged::Whole(entropy) => self.program(piece.page, SectorMask::MAX, arrived, entropy),
                Merged::Evicts(partial) => self.complete_page(partial),
            }
            done = done.max(arrived);
        }
        if self.spec.waits_for_flash(&request) {
            self.program_all();
            self.is_noted = was_noted;
            done = self.note(done.max(self.programmed));
            self.programmed = self.programmed.max(done);
        }
        self.programmed = self.programmed.max(before);
        done
    }

    /// Writes a flash page as a whole, the first of it a piece of the request, if that is as good as its pages one after the
    /// other; when the last of them has arrived.
    #[inline]
    fn write_flash_page(&mut self, ready: Nanos, piece: PagePart, is_first: bool, request: Request) -> Option<Nanos> {
        let together = self.spec.geometry.program_pages;
        let end = (u64::from(piece.page.0) + u64::from(together)) * u64::from(self.page_sectors);
        let is_whole = piece.first == 0 && end <= request.end().get() && self.waiting.is_empty();
        if !is_whole || together == 1 || together > u64::BITS || !self.mapping.takes_flash_page() {
            return None;
        }
        let pages = (piece.page.0..piece.page.0 + together).map(Lpn);
        let mut last = Nanos::ZERO;
        for page in pages.clone() {
            let slot_free = self.buffer.acquire();
            let is_first = is_first && page == piece.page;
            let arrived = self.link.receive(self.now, slot_free.max(ready), self.page_sectors, is_first);
            self.buffer.supersede(page, self.now);
            last = last.max(arrived);
            self.waiting_ready = self.waiting_ready.max(self.encode(arrived));
        }
        self.plan.clear();
        let kept = self.mapping.write_flash_page(piece.page, &mut self.plan);
        if let Some(pacing) = &mut self.pacing {
            pacing.note_together(&self.plan, together);
        }
        let ready = std::mem::replace(&mut self.waiting_ready, Nanos::ZERO);
        let programmed = self.nand.book(self.now, ready, &self.plan);
        self.unsettled.note_together(self.now, piece.page, together, kept, programmed);
        pages.for_each(|page| self.settle_page(page, programmed));
        self.programmed = self.programmed.max(programmed);
        Some(last)
    }

    /// What the firmware takes for a write of so many pages beside what every command takes.
    pub(super) fn handling(&self, pages: u64, continues: bool) -> Nanos {
        // As for reads, the first page is a change to the map by itself, the rest is another. What goes on
        // where the last write ended is part of its change.
        let changes = if continues { 0 } else { pages.min(2) };
        self.spec.write.times(changes) + self.spec.page_write.times(pages)
    }

    pub(super) fn trim(&mut self, core: Core, asked: Nanos, request: Request) -> Nanos {
        self.is_noted = false;
        // Pages that are trimmed in part are left alone.
        let sectors = u64::from(self.page_sectors);
        let (first, end) = (request.lba.get().div_ceil(sectors), request.end().get() / sectors);
        let pages = first as u32..end.max(first) as u32;
        let ready = self.claim_map_of_trimmed(asked, pages.clone());
        for page in pages.map(Lpn) {
            self.buffer.supersede(page, self.now);
            self.recent.forget(page);
            self.mapping.trim(page);
        }
        let handled = ready + self.paced(self.spec.page_trim.times(self.pages(request)));
        if ready == asked || !self.park(core, ready, handled) {
            self.firmware.hold(core, handled + self.paced(self.retiring(Op::Trim)));
        }
        self.link.send(self.now, handled, 0, true)
    }

    /// Has the map's entries of pages that are to be trimmed at hand, from `ready` on; when they are. A mapping page stays as
    /// it is where none of those pages was written, and is no longer needed where it describes no others.
    fn claim_map_of_trimmed(&mut self, ready: Nanos, pages: Range<u32>) -> Nanos {
        let Some(regions) = self.map_cache.as_ref().map(|cache| cache.by_region(pages)) else { return ready };
        let mut found = ready;
        for (region, pages) in regions {
            let is_whole = pages.len() == self.spec.map_cache.map_or(0, |spec| spec.entries as usize);
            let first = Lpn(pages.start);
            let was_written = pages.into_iter().any(|page| self.mapping.holds(Lpn(page)));
            let Some(cache) = self.map_cache.as_mut().filter(|_| was_written) else { continue };
            if is_whole {
                cache.trim_region(region);
                self.mapping.trim(Lpn(self.map_base + region));
            } else {
                let need = cache.trim_part(first);
                found = found.max(self.provide(ready, need));
            }
        }
        found
    }

    pub(super) fn flush(&mut self, ready: Nanos) -> Nanos {
        let durable = self.harden(ready);
        self.link.send(self.now, durable, 0, true)
    }

    /// Has all that was written survive a loss of power; when it does. A capacitor takes care of the write buffer.
    pub(super) fn harden(&mut self, ready: Nanos) -> Nanos {
        if self.spec.power.capacitor {
            return ready;
        }
        // What waits in a zone is held by the buffer, and zones have no map of which a journal would tell.
        if self.zoned.is_some() {
            return self.buffer.drained().max(ready);
        }
        self.program_all();
        let drained = self.buffer.drained().max(ready).max(self.programmed);
        let (begins, ends) = self.noted;
        // A page of the journal that has not begun when the data is in flash tells of it, too.
        if std::mem::replace(&mut self.is_noted, true) || drained < begins {
            return drained.max(ends);
        }
        let begins = drained.max(ends);
        self.noted = (begins, self.note(begins));
        self.noted.1
    }

    /// Programs all that waits for more, as it is.
    pub(super) fn program_all(&mut self) {
        self.complete_partials();
        if !self.waiting.is_empty() {
            self.pad();
        }
    }

    /// Has pages that were written in part whole, with what flash has of them.
    pub(super) fn complete_partials(&mut self) {
        while let Some(partial) = self.buffer.take_partial() {
            self.complete_page(partial);
        }
    }

    /// Notes in the journal what is in flash from `ready` on, if flushes do; when it is there. The unit that programmed last has done
    /// so then; any other would have to be kept free for it until then.
    fn note(&mut self, ready: Nanos) -> Nanos {
        if !self.spec.flush_journal {
            return ready;
        }
        let units = self.spec.geometry.units();
        self.nand.note_for_flush(self.now, ready, Unit((self.mapping.next_unit + units - 1) % units))
    }

    /// Writes what the firmware notes for itself: nobody waits for it but who needs a die that is at work on it.
    #[cold]
    pub(super) fn write_notes(&mut self, TaskWrites { from, flash_pages }: TaskWrites) {
        for page in 0..flash_pages {
            self.nand.note(self.now, from, self.note_unit(page));
        }
    }

    /// The unit that gets this of some pages of notes: half-way round from what is programmed next, which so does not wait for
    /// it.
    fn note_unit(&self, page: u64) -> Unit {
        let units = self.spec.geometry.units();
        Unit(((u64::from(self.mapping.next_unit + units / 2) + page) % u64::from(units)) as u32)
    }

    /// Gives `sectors` of a page that were written to flash. The page is in a slot of the buffer and
    /// whole from `ready` on; the slot is free once the flash page that it is part of has been programmed.
    #[inline(always)]
    pub(super) fn program(&mut self, page: Lpn, sectors: SectorMask, ready: Nanos, entropy: u8) {
        if self.mapping.is_read_only() {
            return self.reject(sectors, ready);
        }
        let ready = self.encode(ready);
        self.recent.note(page, Nanos::MAX);
        let (full, is_kept) = self.decide(page, entropy);
        self.waiting.push(BufferedPage { page, sectors, is_kept });
        self.carry_out(full, ready);
    }

    /// When the controller has passed on a page that is there at `ready`, one after the other.
    #[inline]
    fn encode(&mut self, ready: Nanos) -> Nanos {
        let Some(rate) = self.spec.write_rate else { return ready };
        self.encoded = self.encoded.max(ready) + rate.time_for(self.spec.geometry.page);
        self.encoded
    }

    /// Leaves a page that was written where flash takes no more, and frees its slot. What is at hand ends with a write fault,
    /// be it the page's own command or the flush that was to make it durable.
    #[cold]
    pub(super) fn reject(&mut self, sectors: SectorMask, ready: Nanos) {
        self.counters.host_rejected += SECTOR.times(u64::from(sectors.count_ones().min(self.page_sectors)));
        self.status = Status::WriteFault;
        self.buffer.release(ready);
    }

    /// Decides where a page goes of which compression leaves `entropy` percent, and plans what flash must do for it; whether
    /// that programs it, and whether there was an older copy.
    #[inline(always)]
    pub(super) fn decide(&mut self, page: Lpn, entropy: u8) -> (bool, bool) {
        self.plan.clear();
        let (full, is_kept) = match self.spec.compression {
            None => self.mapping.write_over(page, &mut self.plan),
            Some(_) => {
                let is_kept = self.mapping.holds(page);
                (self.mapping.pack(page, entropy, &mut self.plan), is_kept)
            }
        };
        if let Some(pacing) = &mut self.pacing {
            pacing.note(&self.plan);
        }
        (full, is_kept)
    }

    /// Gives a page that is there from `ready` on to flash.
    #[inline]
    pub(super) fn put(&mut self, page: Lpn, ready: Nanos, entropy: u8) {
        let (full, _) = self.decide(page, entropy);
        self.carry_out(full, ready);
    }

    /// Has flash do what is planned for a page that is there from `ready` on; `full` where that programs it.
    #[inline]
    fn carry_out(&mut self, full: bool, ready: Nanos) {
        self.waiting_ready = self.waiting_ready.max(ready);
        let end = self.nand.book(self.now, self.waiting_ready, &self.plan);
        if full {
            self.settle(end);
        }
    }

    /// Programs what waits for its flash page to be full, as it is.
    pub(super) fn pad(&mut self) {
        self.plan.clear();
        self.mapping.pad(&mut self.plan);
        let end = self.nand.book(self.now, self.waiting_ready.max(self.now), &self.plan);
        self.settle(end);
    }

    /// Frees the slots of the pages that waited for their flash page, which is programmed then.
    #[inline(always)]
    pub(super) fn settle(&mut self, programmed: Nanos) {
        for index in 0..self.waiting.len() {
            self.unsettled.note(self.now, self.waiting[index], programmed);
            self.settle_page(self.waiting[index].page, programmed);
        }
        self.waiting.clear();
        self.waiting_ready = Nanos::ZERO;
        self.programmed = self.programmed.max(programmed);
    }

    /// Frees the slot of a page that is programmed then.
    #[inline(always)]
    fn settle_page(&mut self, page: Lpn, programmed: Nanos) {
        self.recent.note(page, programmed);
        self.buffer.release(programmed);
    }

    /// From when on a drive that is asked nothing from now on empties blocks.
    pub(super) fn idle_from(&self) -> Nanos {
        self.spec.collection.idle.map_or(Nanos::MAX, |idle| self.now + idle.after)
    }

    /// Empties blocks while nothing is asked between `from` and `until`.
    pub(super) fn idle(&mut self, from: Nanos, until: Nanos) {
        let Some(IdleSpec { until_free, .. }) = self.spec.collection.idle else { return };
        if from >= until {
            return;
        }
        // All dies go on together, so that none books its channel far ahead of the others.
        let mut units: Vec<Unit> = (0..self.spec.geometry.units()).map(Unit).collect();
        let (mut at, step) = (from, self.spec.geometry.program_pages);
        while at < until && !units.is_empty() {
            let end = until.min(at + IDLE_SLICE);
            // Planes of a die take turns: each does a step, and another is the first of the next slice.
            let mut is_busy = true;
            while is_busy {
                is_busy = false;
                units.retain(|unit| {
                    if self.nand.free_at(*unit).max(at) >= end {
                        return true;
                    }
                    self.plan.clear();
                    let moves = self.mapping.collect_idle(*unit, until_free, step, &mut self.plan);
                    if moves {
                        self.nand.book(at, at, &self.plan);
                    }
                    is_busy |= moves;
                    moves
                });
            }
            if !units.is_empty() {
                units.rotate_left(1);
            }
            at = end;
        }
    }

    /// Programs a page of which only some sectors were written, after reading the others.
    pub(super) fn complete_page(&mut self, partial: Partial) {
        let ready = self.at_hand(partial.arrived.max(self.now), partial.page, self.page_sectors);
        self.nand.take_failure();
        // The rest of it compresses as it did before; of both, the one that compresses less is taken for all.
        let entropy = partial.entropy.max(self.mapping.left_of(partial.page));
        self.program(partial.page, partial.sectors, ready, entropy);
    }
}
