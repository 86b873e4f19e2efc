//! Which pages are where, once it is known how many of a block's are valid.
//!
//! In a block that nothing was written to, chance says which of its pages are still there. Pages that were moved and not
//! written keep their order: those of a unit are dealt to its other blocks one after the other, as many as each has of them, and
//! lie together there, as they did before. All others come to the slots that are left by chance, and which slots of such a block
//! are valid is chance too.
//!
//! Several processors do this side by side, and what comes of it does not hang on how many.

use std::num::NonZero;
use std::ops::Range;

use block::Seed;
use prefetch_index::prefetch_index;

use super::counted::{Counted, UNNAMED};
use super::digest;
use super::extents::Extents;
use super::geometry::Unit;
use super::mapping::{Mapping, UNMAPPED};
use super::operation::Lpn;
use super::shuffle::Shuffle;
use crate::draw::Draws;
use crate::shared_table::{Numbers, SharedTable};
use crate::sparse;
use crate::table::Table;

/// For so many entries ahead memory is asked.
const AHEAD: usize = 64;
/// Entries of a table that are written together.
const BATCH: usize = 1024;
/// So many pages at least are worth another processor, and no more of those are of use: memory gives no more.
const PAGES_EACH: usize = 4 << 20;
const PROCESSORS_MOST: usize = 4;

/// Who was in which slot before.
struct Before<'m> {
    /// None where that stands in the tables that are to be written.
    lent: Option<&'m Mapping>,
    extents: &'m Extents,
}

/// The part of the tables that is a unit's.
struct UnitTables<'m> {
    unit: Unit,
    owners: &'m mut [u32],
    valid: &'m mut [u64],
    /// Pages that it had and that were written since.
    written: &'m mut [u32],
    /// Slots for such pages that the units before it have.
    before: u32,
}

impl Mapping {
    /// Gives every page a slot by what was `counted`. Who was where before follows from `extents` and stands in `lent`, or else
    /// in its own tables.
    pub(super) fn name_pages(&mut self, counted: &Counted, extents: &Extents, lent: Option<&Self>, seed: Seed) {
        let mut owners = std::mem::replace(&mut self.owners, SharedTable::new(Table::new(0)));
        let mut slots = std::mem::replace(&mut self.slots, SharedTable::new(Table::new(0)));
        let mut valid = std::mem::replace(&mut self.valid, Table::new(0));
        let before = Before { lent, extents };
        let in_units = seed.split("units");
        // Pages that were written are listed where their slots will stand.
        let processors = processors(slots.len());
        let tables = self.unit_tables(counted, owners.own(), &mut valid, slots.own());
        side_by_side(processors, tables, |mut tables| {
            let mut draws = Draws::new(in_units.number(u64::from(tables.unit.0)));
            let moved = self.sort_out(&mut tables, &before, counted, &mut draws);
            self.deal(&mut tables, &moved, counted, &mut draws);
        });
        let written: u32 =
            counted.had.iter().sum::<u32>() - counted.kept.iter().map(|kept| u32::from(*kept)).sum::<u32>();
        if written > 0 {
            let order = Shuffle::new(written, seed.split("order"));
            let tables = self.unit_tables(counted, owners.own(), &mut valid, &mut []);
            let pages = slots.flat().unwrap_or_default();
            side_by_side(processors, tables, |tables| name_written(tables, pages, &order));
        }
        (self.owners, self.slots, self.valid) = (owners, slots, valid);
        self.find_places();
        let of_map = (counted.first_of_map..self.slots.len() as u32).map(Lpn);
        of_map.filter(|page| !counted.holds(*page)).for_each(|page| self.slots.set(page.0 as usize, UNMAPPED));
        self.tabled = 0..self.slots.len() as u32;
        self.changes.lose();
        self.digest = digest::written(self.digest ^ seed.get(), 0, UNNAMED);
    }

    /// The tables by unit, and as many of `written` for each as it had pages that were written.
    fn unit_tables<'m>(
        &self,
        counted: &Counted,
        owners: &'m mut [u32],
        valid: &'m mut [u64],
        mut written: &'m mut [u32],
    ) -> Vec<UnitTables<'m>> {
        let blocks = self.geometry.blocks_per_plane as usize;
        let slots = blocks << self.page_bits;
        let mut before = 0;
        let parts = owners.chunks_mut(slots).zip(valid.chunks_mut(slots / 64));
        let units = counted.kept.chunks(blocks).zip(&counted.had).zip(self.units.iter());
        let tables = (0..).map(Unit).zip(parts).zip(units).map(|((unit, (owners, valid)), ((kept, had), state))| {
            let kept: u32 = kept.iter().map(|kept| u32::from(*kept)).sum();
            let count = if written.is_empty() { 0 } else { (had - kept) as usize };
            let (mine, others) = std::mem::take(&mut written).split_at_mut(count);
            written = others;
            let tables = UnitTables { unit, owners, valid, written: mine, before };
            let first = unit.0 * self.geometry.blocks_per_plane;
            let of_map: usize = (first..first + blocks as u32).map(|block| counted.of_map(block).len()).sum();
            before += state.valid - kept - of_map as u32;
            tables
        });
        tables.collect()
    }

    /// Looks through the pages of a unit: by chance, they stay where they are, were moved, or were written and are listed as
    /// such. Gives those that were moved, in their order.
    fn sort_out(&self, tables: &mut UnitTables, before: &Before, counted: &Counted, draws: &mut Draws) -> Vec<u32> {
        let as_they_were = self.blocks_of(tables.unit).filter(|block| self.is_as_it_was(tables.unit, *block, counted));
        let staying: u32 = as_they_were.map(|block| u32::from(counted.kept[block as usize])).sum();
        let mut gone = counted.had[tables.unit.0 as usize] - staying;
        let mut moved_left = gone - tables.written.len() as u32;
        let mut moved = vec![0; moved_left as usize + 1];
        let (mut moved_count, mut written_count) = (0, 0);
        let (pages, words) = (self.geometry.pages_per_block as usize, 1 << self.page_bits >> 6);
        let (mut owners, mut valid) = (vec![0; pages], vec![0; words]);
        for (number, block) in self.blocks_of(tables.unit).enumerate() {
            let (first, mine) = ((block as usize) << self.page_bits, number << self.page_bits);
            match before.lent {
                Some(lent) => valid.copy_from_slice(&lent.valid[first / 64..][..words]),
                None => valid.copy_from_slice(&tables.valid[mine / 64..][..words]),
            }
            if valid.iter().any(|word| *word != 0) {
                match before.lent.map(|lent| (lent.owners.flat(), &lent.owners)) {
                    None => owners.copy_from_slice(&tables.owners[mine..mine + pages]),
                    Some((Some(flat), _)) => owners.copy_from_slice(&flat[first..first + pages]),
                    Some((None, lent)) => {
                        owners.iter_mut().zip(first..).for_each(|(owner, slot)| *owner = lent.get(slot));
                    }
                }
                before.extents.pages_of(block, tables.unit, self.page_bits, |slot, page| {
                    owners[slot as usize - first] = page.0;
                });
            }
            let my_owners = &mut tables.owners[mine..mine + pages];
            let my_valid = &mut tables.valid[mine / 64..][..words];
            my_valid.fill(0);
            let stays = self.is_as_it_was(tables.unit, block, counted);
            if stays {
                sparse::zero(my_owners);
            }
            let (mut kept_left, of_map) = (u32::from(counted.kept[block as usize]), counted.of_map(block));
            let of_host = |slot: &u32| owners[*slot as usize] < counted.first_of_map;
            let mut left = if stays { valid_slots(&valid).filter(of_host).count() as u32 } else { 0 };
            for slot in valid_slots(&valid) {
                let page = owners[slot as usize];
                let is_of_host = page < counted.first_of_map;
                if stays {
                    let is_kept = if is_of_host { draws.below(left) < kept_left } else { of_map.contains(&page) };
                    left -= u32::from(is_of_host);
                    if is_kept {
                        kept_left -= u32::from(is_of_host);
                        my_owners[slot as usize] = page;
                        my_valid[slot as usize / 64] |= 1 << (slot % 64);
                        continue;
                    }
                }
                // Nobody can tell beforehand which it is: it is put into both lists, and counted in one.
                let is_moved = is_of_host & (draws.below(gone) < moved_left);
                let is_written = is_of_host & !is_moved;
                moved[moved_count] = page;
                if let Some(written) = tables.written.get_mut(written_count) {
                    *written = page;
                }
                moved_count += usize::from(is_moved);
                written_count += usize::from(is_written);
                moved_left -= u32::from(is_moved);
                gone -= u32::from(is_of_host);
            }
        }
        moved
    }

    /// Whether a block holds nothing that it did not before, in the same slots.
    fn is_as_it_was(&self, unit: Unit, block: u32, counted: &Counted) -> bool {
        let victim = self.units[unit.0 as usize].victim;
        !counted.is_written[block as usize] && victim.is_none_or(|victim| victim.block != block)
    }

    /// Draws which slots of a unit's other blocks are valid, and puts the pages that were moved into some of them, and those of
    /// the map.
    fn deal(&self, tables: &mut UnitTables, moved: &[u32], counted: &Counted, draws: &mut Draws) {
        let mut moved_count = 0;
        for (number, block) in self.blocks_of(tables.unit).enumerate() {
            if self.is_as_it_was(tables.unit, block, counted) {
                continue;
            }
            let mine = number << self.page_bits;
            let owners = &mut tables.owners[mine..mine + self.geometry.pages_per_block as usize];
            let mut left = self.count(block);
            let used = self.used(tables.unit, block);
            let (mut kept_left, mut of_map) = (u32::from(counted.kept[block as usize]), counted.of_map(block));
            let words = &mut tables.valid[mine / 64..][..1 << self.page_bits >> 6];
            for (first, (owners, word)) in (0..).step_by(64).zip(owners.chunks_mut(64).zip(words)) {
                for (bit, owner) in owners.iter_mut().enumerate() {
                    let page = first + bit as u32;
                    let is_valid = used.contains(&page) && draws.below(used.end - page) < left;
                    let is_kept = is_valid & (kept_left > 0);
                    let other = if is_valid { UNNAMED.0 } else { 0 };
                    *owner = if is_kept { moved[moved_count] } else { other };
                    if is_valid && !is_kept && !of_map.is_empty() {
                        *owner = of_map[0];
                        of_map = &of_map[1..];
                    }
                    *word |= u64::from(is_valid) << bit;
                    moved_count += usize::from(is_kept);
                    kept_left -= u32::from(is_kept);
                    left -= u32::from(is_valid);
                }
            }
        }
    }

    fn blocks_of(&self, unit: Unit) -> Range<u32> {
        let blocks = self.geometry.blocks_per_plane;
        unit.0 * blocks..(unit.0 + 1) * blocks
    }

    /// The pages of a block that may be valid: those that were written and not yet moved.
    fn used(&self, unit: Unit, block: u32) -> Range<u32> {
        let state = &self.units[unit.0 as usize];
        let open = [state.host, state.collection].into_iter().find(|open| open.block == block);
        let moved = state.victim.filter(|victim| victim.block == block).map_or(0, |victim| victim.next);
        moved..open.map_or(self.block_end(block), |open| open.next)
    }

    /// Gives back the memory for where the first `pages` are.
    pub(super) fn shed_places(&mut self, pages: u32) {
        self.changes.lose();
        let kept: Vec<u32> = (pages as usize..self.slots.len()).map(|page| self.slots.get(page)).collect();
        self.slots.clear();
        self.slots.own()[pages as usize..].copy_from_slice(&kept);
    }

    /// Notes where each page is by who is in which slot.
    pub(super) fn find_places(&mut self) {
        let Self { valid, owners, slots, .. } = self;
        let (owners, slots) = (&owners.own()[..], &mut slots.own()[..]);
        let processors = processors(slots.len());
        let each = slots.len().div_ceil(processors);
        let parts: Vec<_> = slots.chunks_mut(each).enumerate().collect();
        side_by_side(processors, parts, |(number, places)| note_places(places, (number * each) as u32, owners, valid));
    }
}

/// Gives the slots of a unit that have no page yet each one that was written, of these `pages` in this order.
fn name_written(tables: UnitTables, pages: &[u32], order: &Shuffle) {
    let UnitTables { owners, valid, mut before, .. } = tables;
    let mut draw = || {
        // Nobody waits for what is behind the last.
        let place = if before < order.bound() { order.at(before) as usize } else { 0 };
        before += 1;
        prefetch_index(pages, place);
        place
    };
    let (mut ahead, mut turn): ([usize; AHEAD], _) = (std::array::from_fn(|_| draw()), 0);
    for slot in valid_slots(valid) {
        let owner = &mut owners[slot as usize];
        if *owner == UNNAMED.0 {
            *owner = pages[std::mem::replace(&mut ahead[turn], draw())];
            turn = (turn + 1) % AHEAD;
        }
    }
}

/// Notes in which slots the pages from `first` on are.
fn note_places(places: &mut [u32], first: u32, owners: &[u32], valid: &[u64]) {
    // What is of others is written over by what comes next.
    let (mut batch, mut count) = ([(0, 0); BATCH + 64], 0);
    for (index, word) in valid.iter().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let slot = (index as u32) << 6 | rest.trailing_zeros();
            rest &= rest - 1;
            let place = owners[slot as usize].wrapping_sub(first);
            batch[count] = (place, !slot);
            count += usize::from((place as usize) < places.len());
        }
        if count >= BATCH {
            write_places(places, &batch[..count]);
            count = 0;
        }
    }
    write_places(places, &batch[..count]);
}

fn write_places(places: &mut [u32], batch: &[(u32, u32)]) {
    for (index, (place, slot)) in batch.iter().enumerate() {
        if let Some((next, _)) = batch.get(index + AHEAD) {
            prefetch_index(&*places, *next as usize);
        }
        places[*place as usize] = *slot;
    }
}

/// The slots whose bits are set, ascending.
pub(super) fn valid_slots(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            rest &= rest.checked_sub(1)?;
            Some((index as u32) << 6 | bit)
        })
    })
}

/// How many processors are worth while for so many pages.
fn processors(pages: usize) -> usize {
    let there = std::thread::available_parallelism().map_or(1, NonZero::get);
    (pages / PAGES_EACH).clamp(1, there.min(PROCESSORS_MOST))
}

/// Does the same work on parts that have nothing to do with each other.
fn side_by_side<T: Send>(processors: usize, parts: Vec<T>, work: impl Fn(T) + Sync) {
    let each = parts.len().div_ceil(processors).max(1);
    let (mut parts, work) = (parts.into_iter(), &work);
    std::thread::scope(|scope| {
        for _ in 1..processors {
            let share: Vec<T> = parts.by_ref().take(each).collect();
            scope.spawn(move || share.into_iter().for_each(work));
        }
        parts.for_each(work);
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use testkit::Random;

    use super::*;

    #[test]
    fn every_part_is_worked_on_once_whoever_does_it() {
        for (processors, parts) in [(1, 5), (2, 5), (4, 5), (4, 3), (3, 0)] {
            let done: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
            side_by_side(processors, (0..parts).collect(), |part| _ = done[part].fetch_add(1, Ordering::Relaxed));
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{processors} for {parts}");
        }
    }

    #[test]
    fn places_are_the_same_in_parts_as_in_one_piece() {
        let mut random = Random::new(3);
        let (slots, pages) = (64 * 200, 9_001_usize);
        let (mut owners, mut valid, mut order) =
            (vec![7; slots], vec![0_u64; slots / 64], (0..slots).collect::<Vec<_>>());
        for (page, first) in (0..pages).map(|page| (page as u32, page)) {
            order.swap(first, first + random.place(slots - first));
            owners[order[first]] = page;
            valid[order[first] / 64] |= 1 << (order[first] % 64);
        }
        let mut whole = vec![0; pages];
        note_places(&mut whole, 0, &owners, &valid);
        assert!((0..pages).all(|page| whole[page] == !(order[page] as u32)));
        let mut in_parts = vec![0; pages];
        for (number, part) in in_parts.chunks_mut(1_000).enumerate() {
            note_places(part, number as u32 * 1_000, &owners, &valid);
        }
        assert_eq!(in_parts, whole);
    }
}
