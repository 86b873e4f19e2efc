//! Random writes without time and without names.
//!
//! Where every page is as likely to be written as any other, nothing that flash does depends on which pages a block holds,
//! only on how many of them are valid. So a write makes some valid slot invalid, all alike, what is written and moved bears
//! no name, and in the end those pages that were written are given to the slots without one, all orders equally likely.
//! Pages that were not written keep theirs, as do the pages of the map. What comes of it has the distribution of what the
//! same writes leave that are carried out, and is not approximate in anything but the buffer and the clock.
//!
//! Nearly all of what a write costs otherwise is the map's table, in which the pages that collection moves lie scattered:
//! here it is written once, at the end.

use block::{Bytes, Lba, Nanos, Seed};
use prefetch_index::prefetch_index;

use super::buffer::SectorMask;
use super::construct::Writer;
use super::extents::Extents;
use super::geometry::Geometry;
use super::mapping::{Followed, Mapping, UNMAPPED};
use super::nand::NandTimes;
use super::operation::{Cells, FlashOp, Lpn, PageLocation};
use super::power_cut::BufferedPage;
use super::shuffle::Shuffle;
use super::{FlashDrive, FlashSpec, digest};
use crate::shared_table::Numbers;
use crate::table::Table;

/// In the place of a slot's owner: a page that was written, and it will be said later which.
const UNNAMED: u32 = u32::MAX;

/// How many draws ahead memory is asked for what they need.
const AHEAD: usize = 64;

/// The pages of the map, which come after those of the host.
#[derive(Clone, Copy)]
struct MapPages {
    first: u32,
}

impl MapPages {
    #[inline]
    const fn has(self, page: u32) -> bool {
        page >= self.first && page != UNNAMED
    }
}

impl Followed for MapPages {
    const ALL: bool = false;

    #[inline]
    fn note(self, slots: &mut (impl Numbers + ?Sized), page: u32, slot: u32) {
        if self.has(page) {
            slots.set(page as usize, !slot);
        }
    }
}

impl FlashDrive {
    /// Whether the drive can be brought into a state that writes of `block` each leave, at random over all of it: these are
    /// its pages, all of them are mapped and take as much room, and nothing is in flight.
    pub fn can_write_at_random(&self, block: Bytes) -> bool {
        let whole = Lba::at(self.spec.capacity);
        let valid: u64 = self.mapping.units.iter().map(|unit| u64::from(unit.valid)).sum();
        let of_map =
            (self.map_base..self.mapping.slots.len() as u32).filter(|page| self.mapping.slot_of(Lpn(*page)).is_some());
        self.zoned.is_none()
            && !self.mapping.is_packed()
            && block == self.spec.geometry.page
            && whole.get().is_multiple_of(block.sectors())
            && self.can_write_untimed(Lba::new(0), whole)
            && valid == u64::from(self.map_base) + of_map.count() as u64
    }

    /// Brings the drive into a state that so many writes of a page each leave, everywhere alike and without a pause, once it
    /// has come to rest: with each seed another draw of it. The clock goes on as if all dies were busy all the time, so that
    /// data is about as old as it would be; the drive gets no warmer.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_at_random).
    pub fn write_at_random(&mut self, writes: u64, seed: Seed) {
        assert!(
            self.can_write_at_random(self.spec.geometry.page),
            "random writes need a drive that is full and at rest"
        );
        let mut writer = Writer::new(self);
        let drive = &mut *writer.drive;
        let map_pages = MapPages { first: drive.map_base };
        // Where pages of the host are is looked up nowhere here, and said anew at the end.
        drive.mapping.own_by(
            |mapping| mapping.without_places(map_pages.first),
            |mine, mapping| mine.copy_without_places(mapping, map_pages.first),
        );
        // Nearly all of both tables changes.
        drive.mapping.slots.own();
        drive.mapping.owners.own();
        drive.mapping.write_out_all();
        let mut slots = SlotDraws::new(&drive.mapping, map_pages, seed.split("slots"));
        let regions = seed.split("regions");
        let shares = DieShares::of(&drive.spec);
        let (mut done, mut waits) = (0, false);
        while done < writes && !drive.mapping.is_read_only() {
            if drive.map_cache.is_some() {
                drive.claim_region(Lpn(scaled(regions.number(done).get(), drive.map_base)), map_pages, shares);
                if drive.mapping.is_read_only() {
                    break;
                }
            }
            let slot = slots.take(&drive.mapping, map_pages);
            drive.mapping.empty_slot(slot, 1);
            waits = !drive.put_unnamed(Lpn(UNNAMED), map_pages, shares);
            done += 1;
        }
        let page = drive.spec.geometry.page;
        drive.counters.count_writes(Lba::new(0), Lba::at(page.times(writes)), page);
        drive.counters.host_rejected += page.times(writes - done);
        drive.written_to = Lba::new(u64::MAX);
        drive.is_noted &= done == 0;
        drive.mapping.name_pages(drive.map_base, seed.split("names"));
        if waits {
            writer.pending = writer.drive.mapping.unfilled();
        }
        writer.finish();
    }

    /// Gives back the memory for where pages of the host are, if that follows from who is in which slot; whether it did.
    pub(crate) fn shed_places(&mut self) -> bool {
        let can = self.can_write_at_random(self.spec.geometry.page) && self.mapping.extents.is_empty();
        if can {
            self.mapping.shed_places(self.map_base);
        }
        can
    }

    /// Finds where pages of the host are, which was shed.
    pub(crate) fn restore_places(&mut self) {
        self.mapping.find_places(self.map_base);
    }

    /// As [`FlashDrive::claim_map`] does for a write of `page`.
    fn claim_region(&mut self, page: Lpn, map_pages: MapPages, shares: DieShares) {
        let Some(cache) = &mut self.map_cache else { return };
        let need = cache.write(page);
        if let Some(region) = need.write_back {
            let page = Lpn(self.map_base + region);
            if let Some(slot) = self.mapping.slot_of(page) {
                self.mapping.empty_slot(slot, 1);
            }
            self.put_unnamed(page, map_pages, shares);
        }
        if let Some(region) = need.fetch {
            let is_here = self.holds_table(region);
            // Where tables are looked up that have no page of their own yet, the first page that they describe is read.
            let is_looked_up = self.spec.map_cache.is_some_and(|spec| spec.tables.is_some());
            let is_there = is_looked_up || self.mapping.slot_of(Lpn(self.map_base + region)).is_some();
            self.nand.pages_read += u64::from(!is_here && is_there);
        }
    }

    /// Has the map decide where a page goes of which there is no copy, and counts what that takes; whether nothing waits
    /// for its flash page to be full then.
    #[inline]
    fn put_unnamed(&mut self, page: Lpn, map_pages: MapPages, shares: DieShares) -> bool {
        self.plan.clear();
        let full = self.mapping.put(page, &mut self.plan, map_pages);
        let full = self.account(full);
        self.nand.count(self.now, &self.plan);
        self.now += shares.time(&self.plan);
        full
    }
}

/// What one die's operations take, shared out over all dies.
#[derive(Clone, Copy)]
struct DieShares {
    read: Nanos,
    program: Nanos,
    single: Nanos,
    erase: Nanos,
}

impl DieShares {
    fn of(spec: &FlashSpec) -> Self {
        let Geometry { multi_plane, .. } = spec.geometry;
        let at_once = if multi_plane { spec.geometry.units() } else { spec.geometry.dies() };
        let share = |time: Nanos| Nanos::from_nanos(time.as_nanos() / u64::from(at_once));
        let NandTimes { read, program, single, erase, .. } = spec.nand;
        Self { read: share(read), program: share(program), single: share(single.program), erase: share(erase) }
    }

    /// What they take for a plan.
    #[inline]
    fn time(self, plan: &[FlashOp]) -> Nanos {
        let of = |op: &FlashOp| match op {
            FlashOp::Program(PageLocation { cells: Cells::Single, .. }) => self.single,
            FlashOp::Program(_) => self.program,
            FlashOp::Move(_, moved) => {
                self.read.times(u64::from(moved.reads)) + self.program.times(u64::from(moved.programs))
            }
            FlashOp::Erase(..) => self.erase,
        };
        plan.iter().map(of).sum()
    }
}

/// What was drawn and has not had its turn: memory is asked for it when it is drawn.
struct Ahead<T> {
    items: [T; AHEAD],
    next: usize,
}

impl<T: Copy> Ahead<T> {
    const fn of(item: T) -> Self {
        Self { items: [item; AHEAD], next: 0 }
    }

    /// Takes one more; that which has its turn.
    #[inline]
    fn pass(&mut self, item: T) -> T {
        let first = std::mem::replace(&mut self.items[self.next], item);
        self.next = (self.next + 1) % AHEAD;
        first
    }
}

/// Slots of the host's pages, all that are valid alike.
struct SlotDraws {
    seed: Seed,
    drawn: u64,
    blocks: u32,
    pages: u32,
    page_bits: u32,
    ahead: Ahead<u32>,
}

impl SlotDraws {
    fn new(mapping: &Mapping, map_pages: MapPages, seed: Seed) -> Self {
        let (blocks, pages) = (mapping.geometry.blocks(), mapping.geometry.pages_per_block);
        let mut draws = Self { seed, drawn: 0, blocks, pages, page_bits: mapping.page_bits, ahead: Ahead::of(0) };
        for _ in 0..AHEAD {
            draws.next(mapping, map_pages);
        }
        draws
    }

    /// The next of them.
    #[inline]
    fn take(&mut self, mapping: &Mapping, map_pages: MapPages) -> u32 {
        loop {
            let slot = self.next(mapping, map_pages);
            let is_valid = mapping.valid[(slot >> 6) as usize] >> (slot & 63) & 1 == 1;
            let is_of_map =
                || (map_pages.first as usize) < mapping.slots.len() && map_pages.has(mapping.owners.get(slot as usize));
            if is_valid && !is_of_map() {
                return slot;
            }
        }
    }

    /// The next slot, valid or not, in whose place one more is drawn.
    #[inline]
    fn next(&mut self, mapping: &Mapping, map_pages: MapPages) -> u32 {
        let draw = self.seed.number(self.drawn).get();
        self.drawn += 1;
        let (block, page) = (scaled(draw, self.blocks), scaled(draw << 32, self.pages));
        let drawn = block << self.page_bits | page;
        mapping.valid.call((drawn >> 6) as usize);
        prefetch_index(&mapping.counts, block as usize);
        if (map_pages.first as usize) < mapping.slots.len() {
            mapping.owners.call(drawn as usize);
        }
        self.ahead.pass(drawn)
    }
}

/// A number below `limit`, from the upper half of a draw.
#[inline]
const fn scaled(draw: u64, limit: u32) -> u32 {
    (((draw >> 32) * limit as u64) >> 32) as u32
}

impl Mapping {
    /// Writes all that lies in order into the tables.
    fn write_out_all(&mut self) {
        if self.extents.is_empty() {
            return;
        }
        for block in 0..self.geometry.blocks() {
            self.write_out(self.unit_of_block(block), block);
        }
        self.extents = Extents::default();
    }

    /// Gives each page of the first `pages` a valid slot: that which has its name, or one of those without, by chance.
    fn name_pages(&mut self, pages: u32, seed: Seed) {
        self.changes.lose();
        self.slots.own().zero(..pages as usize);
        self.tabled = 0..self.slots.len() as u32;
        let unnamed = self.find_places(pages);
        let Self { valid, owners, slots, .. } = self;
        let (owners, slots) = (&mut owners.own()[..], &mut slots.own()[..pages as usize]);
        match unnamed {
            0 => {}
            // A list of few is short, and every draw of it counts.
            few if few < pages / 2 => name_few(valid, owners, slots, few, seed),
            _ => name_many(valid, owners, slots, seed),
        }
        self.digest = digest::written(self.digest ^ seed.get(), 0, Lpn(pages));
    }

    /// Notes where those of the first `pages` are that have a slot, and of which nothing is noted; how many valid slots have no
    /// name.
    fn find_places(&mut self, pages: u32) -> u32 {
        let Self { valid, owners, slots, .. } = self;
        let (owners, mut unnamed) = (&owners.own()[..], 0);
        let mut places = Scattered::over(&mut slots.own()[..pages as usize]);
        for slot in valid_slots(valid) {
            let page = owners[slot as usize];
            unnamed += u32::from(page == UNNAMED);
            if page < pages {
                places.put(page, !slot);
            }
        }
        places.finish();
        unnamed
    }

    /// Gives back the memory for where the first `pages` are.
    fn shed_places(&mut self, pages: u32) {
        self.changes.lose();
        let kept: Vec<u32> = (pages as usize..self.slots.len()).map(|page| self.slots.get(page)).collect();
        self.slots.clear();
        self.slots.own()[pages as usize..].copy_from_slice(&kept);
    }

    /// The pages of the flash page that is being filled.
    fn unfilled(&self) -> Vec<BufferedPage> {
        let host = self.units[self.next_unit as usize].host;
        let filled = host.next % self.geometry.program_pages;
        (host.next - filled..host.next)
            .map(|page| host.block << self.page_bits | page)
            .filter(|slot| self.valid[(slot >> 6) as usize] >> (slot & 63) & 1 == 1)
            .map(|slot| BufferedPage {
                page: Lpn(self.owners.get(slot as usize)),
                sectors: SectorMask::MAX,
                is_kept: true,
            })
            .collect()
    }
}

/// Gives the valid slots that have no name, which are so many, the pages that have no slot, in ascending order, by chance.
fn name_few(valid: &[u64], owners: &mut [u32], slots: &mut [u32], count: u32, seed: Seed) {
    let mut unnamed = Table::new(count as usize);
    let without = valid_slots(valid).filter(|slot| owners[*slot as usize] == UNNAMED);
    unnamed.iter_mut().zip(without).for_each(|(place, slot)| *place = slot);
    let (mut order, mut ahead) = (Shuffle::new(count, seed), Ahead::of(0));
    let mut draw = || {
        let drawn = order.draw();
        unnamed.call(drawn as usize);
        unnamed[ahead.pass(drawn) as usize]
    };
    for _ in 0..AHEAD {
        draw();
    }
    let mut names = Scattered::over(owners);
    for (page, place) in (0..).zip(slots).filter(|(_, place)| **place == UNMAPPED) {
        let slot = draw();
        *place = !slot;
        names.put(slot, page);
    }
    names.finish();
}

/// The same of many: of all pages by chance those that have no slot, without a list.
fn name_many(valid: &[u64], owners: &mut [u32], slots: &mut [u32], seed: Seed) {
    let mut names = Names::new(slots, seed);
    let mut places = Scattered::over(slots);
    for slot in valid_slots(valid) {
        let owner = &mut owners[slot as usize];
        if *owner == UNNAMED {
            *owner = names.give();
            places.put(*owner, !slot);
        }
    }
    places.finish();
}

/// A table while it is written to, here and there: memory is asked for what is written next.
struct Scattered<'m> {
    table: &'m mut [u32],
    /// Where what is still to be written; a number beyond the table's end where that is nothing.
    ahead: Ahead<(u32, u32)>,
}

impl<'m> Scattered<'m> {
    fn over(table: &'m mut [u32]) -> Self {
        Self { table, ahead: Ahead::of((u32::MAX, 0)) }
    }

    /// Has a number be in this place.
    #[inline]
    fn put(&mut self, index: u32, number: u32) {
        prefetch_index(&*self.table, index as usize);
        self.write(index, number);
    }

    #[inline]
    fn write(&mut self, index: u32, number: u32) {
        let (index, number) = self.ahead.pass((index, number));
        if let Some(place) = self.table.get_mut(index as usize) {
            *place = number;
        }
    }

    /// Writes all that is left.
    fn finish(mut self) {
        (0..AHEAD).for_each(|_| self.write(u32::MAX, 0));
    }
}

/// The slots whose bits are set, ascending.
fn valid_slots(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            rest &= rest.checked_sub(1)?;
            Some((index as u32) << 6 | bit)
        })
    })
}

/// Pages that have no slot yet, by chance.
struct Names {
    /// A bit a page: these are few enough to stay at hand, which pages' slots are not.
    free: Table<u64>,
    order: Shuffle,
    ahead: Ahead<u32>,
}

impl Names {
    /// Of pages that have these slots, or none.
    fn new(slots: &[u32], seed: Seed) -> Self {
        let order = Shuffle::new(slots.len() as u32, seed);
        let mut free = Table::new(slots.len().div_ceil(64));
        for (word, slots) in free.iter_mut().zip(slots.chunks(64)) {
            *word = slots.iter().rev().fold(0, |word, slot| word << 1 | u64::from(*slot == UNMAPPED));
        }
        let mut names = Self { free, order, ahead: Ahead::of(0) };
        for _ in 0..AHEAD {
            names.next();
        }
        names
    }

    /// Gives one of them away; which.
    #[inline]
    fn give(&mut self) -> u32 {
        loop {
            let page = self.next();
            let word = &mut self.free[(page >> 6) as usize];
            if *word >> (page & 63) & 1 == 1 {
                *word &= !(1 << (page & 63));
                return page;
            }
        }
    }

    /// The next page, with a slot or not, in whose place one more is drawn.
    #[inline]
    fn next(&mut self) -> u32 {
        let drawn = self.order.draw();
        self.free.call((drawn >> 6) as usize);
        self.ahead.pass(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::{Preset, Spec};

    fn full(changes: &str) -> FlashDrive {
        let Spec::Flash(spec) = Preset::find(changes).unwrap().spec else { panic!("{changes} is flash") };
        let mut drive = FlashDrive::new(spec);
        drive.fill_untimed(Lba::new(0), Lba::at(spec.capacity), Bytes::from_mib(1), 100);
        drive
    }

    const SMALL: &str = "capacity.user=96MiB&channels=2&dies_per_channel=2&pages_per_block=96&capacity.spare=40%";

    /// Table, owners, valid bits and counts agree, whatever else happened.
    #[test]
    fn every_page_has_one_slot_of_its_own_and_every_valid_slot_a_page() {
        for kind in ["x25-m?map.cache=4KiB&", "ssd-320?", "990-pro?slc.fixed=2MB&slc.dynamic=4MB&"] {
            let mut drive = full(&format!("{kind}{SMALL}"));
            for (seed, writes) in [(1, 1), (2, 3_001), (3, 40_000), (4, 0)] {
                drive.write_at_random(writes, Seed::new(seed));
                let mapping = &*drive.mapping;
                let slots: Vec<u32> = valid_slots(&mapping.valid).collect();
                assert!(slots.len() >= drive.map_base as usize);
                for &slot in &slots {
                    assert_eq!(
                        mapping.slot_of(Lpn(mapping.owners.get(slot as usize))),
                        Some(slot),
                        "{kind} after {writes}"
                    );
                }
                let named = (0..mapping.slots.len() as u32).filter_map(|page| mapping.slot_of(Lpn(page))).count();
                assert_eq!(named, slots.len(), "{kind} after {writes}");
                let counted: u32 = mapping.counts.iter().map(|count| u32::from(count & 0x7fff)).sum();
                assert_eq!(counted as usize, slots.len(), "{kind} after {writes}");
            }
            assert!(drive.mapping.moved() > 0 && drive.waiting.is_empty());
        }
    }

    #[test]
    fn pages_that_were_not_written_stay_in_order() {
        let mut drive = full(&format!("x25-m?{SMALL}"));
        let before: Vec<_> = (0..drive.map_base).map(|page| drive.mapping.slot_of(Lpn(page))).collect();
        let writes = u64::from(drive.map_base / 20);
        drive.write_at_random(writes, Seed::new(1));
        let same = before.iter().zip(0..).filter(|(slot, page)| **slot == drive.mapping.slot_of(Lpn(*page))).count();
        let most = before.len() - writes as usize * 9 / 10;
        assert!(
            same > before.len() * 17 / 20 && same <= most,
            "{same} of {}, of which {writes} were written",
            before.len()
        );
    }

    #[test]
    fn places_that_were_shed_are_found_again_and_other_states_made_meanwhile_are_the_same() {
        for kind in ["x25-m?map.cache=4KiB&", "990-pro?slc.fixed=2MB&slc.dynamic=4MB&"] {
            let mut drive = full(&format!("{kind}{SMALL}"));
            assert!(!drive.shed_places(), "{kind}: what lies in order is in no table");
            drive.write_at_random(20_000, Seed::new(1));
            let (before, mut other) = (drive.clone(), drive.clone());
            other.write_at_random(9_000, Seed::new(2));
            assert!(drive.shed_places());
            let places = (0..drive.map_base).filter_map(|page| drive.mapping.slot_of(Lpn(page))).count();
            assert_eq!(places, 0, "{kind}: none of the host's is left");
            drive.lend();
            let mut made = drive.clone();
            made.write_at_random(9_000, Seed::new(2));
            drive.restore_places();
            for (one, two) in [(&made, &other), (&drive, &before)] {
                assert!(one.mapping.slots == two.mapping.slots && one.digest() == two.digest(), "{kind}");
                assert!(one.mapping.valid == two.mapping.valid && one.mapping.owners == two.mapping.owners, "{kind}");
            }
        }
    }

    #[test]
    fn the_same_seed_leaves_the_same_and_another_another() {
        let made = |seed| {
            let mut drive = full(&format!("x25-m?cache=4KiB&{SMALL}"));
            drive.write_at_random(20_000, Seed::new(seed));
            (drive.mapping.slots.clone(), drive.digest())
        };
        assert_eq!(made(1), made(1));
        assert!(made(1).0 != made(2).0 && made(1).1 != made(2).1);
    }

    #[test]
    fn only_a_full_drive_at_rest_is_written_at_random_without_time() {
        let mut drive = full(&format!("x25-m?{SMALL}"));
        let page = drive.spec.geometry.page;
        assert!(drive.can_write_at_random(page));
        assert!(!drive.can_write_at_random(page.times(2)), "pages of which some belong together");
        drive.mapping.trim(Lpn(5));
        assert!(!drive.can_write_at_random(page), "a page that is not mapped");
    }
}
