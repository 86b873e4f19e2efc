//! Which pages are where, once it is known how many of a block's are valid.
//!
//! In a block that nothing was written to, chance says which of its pages are still there. Pages that were moved and not
//! written keep their order: those of a unit are dealt to its other blocks one after the other, as many as each has of them, and
//! lie together there, as they did before. All others come to the slots that are left by chance, and which slots of such a block
//! are valid is chance too.

use std::ops::Range;

use block::Seed;
use prefetch_index::prefetch_index;

use super::collection::mark;
use super::counted::{Counted, UNNAMED};
use super::digest;
use super::extents::Extents;
use super::geometry::Unit;
use super::mapping::{Mapping, UNMAPPED};
use super::operation::Lpn;
use super::shuffle::{Buckets, Shuffle};
use super::side_by_side::{processors, side_by_side};
use crate::draw::Draws;
use crate::shared_table::{Numbers, SharedTable};
use crate::sparse;
use crate::table::Table;

/// For so many entries ahead memory is asked.
const AHEAD: usize = 64;
/// Entries of a table that are written together.
const BATCH: usize = 1024;

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
    /// Pages that were not written.
    kept: u32,
    /// Slots for pages that were written that the units before it have.
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
        let processors = processors(slots.len());
        // Pages that were written are listed where their slots will stand.
        let written: Vec<u32> = self.kept(counted).zip(&counted.had).map(|(kept, had)| had - kept).collect();
        let mut written = Shuffle::new(&written, slots.own(), seed.split("order"), processors);
        let units = self.unit_tables(counted, owners.own(), &mut valid).into_iter().zip(written.parts());
        side_by_side(processors, units.collect(), |(mut tables, mut written)| {
            let mut draws = Draws::new(in_units.number(u64::from(tables.unit.0)));
            let moved = self.sort_out(&mut tables, &mut written, &before, counted, &mut draws);
            self.deal(&mut tables, &moved, counted, &mut draws);
        });
        let written = written.finish(processors);
        let units = self.unit_tables(counted, owners.own(), &mut valid);
        side_by_side(processors, units, |tables| name_written(tables, written));
        (self.owners, self.slots, self.valid) = (owners, slots, valid);
        self.find_places();
        let of_map = (counted.first_of_map..self.slots.len() as u32).map(Lpn);
        of_map.filter(|page| !counted.holds(*page)).for_each(|page| self.slots.set(page.0 as usize, UNMAPPED));
        self.tabled = 0..self.slots.len() as u32;
        self.changes.lose();
        self.digest = digest::written(self.digest ^ seed.get(), 0, UNNAMED);
    }

    /// How many pages of each unit were not written.
    fn kept(&self, counted: &Counted) -> impl Iterator<Item = u32> {
        let units = counted.kept.chunks(self.geometry.blocks_per_plane as usize);
        units.map(|blocks| blocks.iter().map(|kept| u32::from(*kept)).sum())
    }

    /// The tables by unit.
    fn unit_tables<'m>(&self, counted: &Counted, owners: &'m mut [u32], valid: &'m mut [u64]) -> Vec<UnitTables<'m>> {
        let slots = (self.geometry.blocks_per_plane as usize) << self.page_bits;
        let mut before = 0;
        let parts = owners.chunks_mut(slots).zip(valid.chunks_mut(slots / 64));
        let units = self.kept(counted).zip(self.units.iter());
        let tables = (0..).map(Unit).zip(parts).zip(units).map(|((unit, (owners, valid)), (kept, state))| {
            let tables = UnitTables { unit, owners, valid, kept, before };
            let of_map: usize = self.blocks_of(unit).map(|block| counted.of_map(block).len()).sum();
            before += state.valid - kept - of_map as u32;
            tables
        });
        tables.collect()
    }

    /// Looks through the pages of a unit: by chance, they stay where they are, were moved, or come among those that were
    /// `written`. Gives those that were moved, in their order.
    fn sort_out(
        &self,
        tables: &mut UnitTables,
        written: &mut Buckets,
        before: &Before,
        counted: &Counted,
        draws: &mut Draws,
    ) -> Vec<u32> {
        let as_they_were = self.blocks_of(tables.unit).filter(|block| self.is_as_it_was(tables.unit, *block, counted));
        let staying: u32 = as_they_were.map(|block| u32::from(counted.kept[block as usize])).sum();
        let mut gone = counted.had[tables.unit.0 as usize] - staying;
        let mut moved_left = tables.kept - staying;
        let (mut moved, mut leaving) = (Vec::with_capacity(moved_left as usize), Vec::new());
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
            let is_of_host = |page: u32| page < counted.first_of_map;
            leaving.clear();
            if stays {
                let of_host = |slot: &u32| is_of_host(owners[*slot as usize]);
                let mut left = valid_slots(&valid).filter(of_host).count() as u32;
                for slot in valid_slots(&valid) {
                    let page = owners[slot as usize];
                    let is_kept = match is_of_host(page) {
                        true => draws.below(left) < kept_left,
                        false => of_map.contains(&page),
                    };
                    left -= u32::from(is_of_host(page));
                    kept_left -= u32::from(is_kept && is_of_host(page));
                    if is_kept {
                        my_owners[slot as usize] = page;
                        my_valid[slot as usize / 64] |= 1 << (slot % 64);
                    } else if is_of_host(page) {
                        leaving.push(page);
                    }
                }
            } else {
                let pages = valid_slots(&valid).map(|slot| owners[slot as usize]);
                leaving.extend(pages.filter(|page| is_of_host(*page)));
            }
            for (page, gone) in leaving.iter().zip((0..=gone).rev()) {
                if draws.below(gone) < moved_left {
                    moved_left -= 1;
                    moved.push(*page);
                } else {
                    written.put(*page);
                }
            }
            gone -= leaving.len() as u32;
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
    fn deal(&self, tables: &mut UnitTables, mut moved: &[u32], counted: &Counted, draws: &mut Draws) {
        for (number, block) in self.blocks_of(tables.unit).enumerate() {
            if self.is_as_it_was(tables.unit, block, counted) {
                continue;
            }
            let mine = number << self.page_bits;
            let words = &mut tables.valid[mine / 64..][..1 << self.page_bits >> 6];
            draw_valid(words, self.used(tables.unit, block), self.count(block), draws);
            let (kept, of_map) = (usize::from(counted.kept[block as usize]), counted.of_map(block));
            let (now, later) = moved.split_at(kept);
            moved = later;
            let mut named = now.iter().chain(of_map);
            let owners = &mut tables.owners[mine..mine + self.geometry.pages_per_block as usize];
            for (owners, word) in owners.chunks_mut(64).zip(words) {
                for (bit, owner) in owners.iter_mut().enumerate() {
                    *owner = match *word >> bit & 1 {
                        0 => 0,
                        _ => named.next().copied().unwrap_or(UNNAMED.0),
                    };
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

/// Draws so many of the `used` slots of a block, none of which is marked yet, and marks them.
fn draw_valid(marks: &mut [u64], used: Range<u32>, count: u32, draws: &mut Draws) {
    let all = used.end - used.start;
    // Those are drawn that are fewer, the valid or the others.
    let are_few = count <= all / 2;
    if !are_few {
        mark(marks, used.clone());
    }
    let mut left = if are_few { count } else { all - count };
    while left > 0 {
        let slot = used.start + draws.below(all);
        let (word, bit) = (&mut marks[(slot >> 6) as usize], 1 << (slot & 63));
        if (*word & bit == 0) == are_few {
            *word ^= bit;
            left -= 1;
        }
    }
}

/// Gives the slots of a unit that have no page yet each one that was `written`, in their order.
fn name_written(tables: UnitTables, written: &[u32]) {
    let UnitTables { owners, valid, before, .. } = tables;
    let mut pages = written[before as usize..].iter();
    for slot in valid_slots(valid) {
        let owner = &mut owners[slot as usize];
        if *owner == UNNAMED.0 {
            *owner = *pages.next().expect("as many pages were written as slots are without a page");
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

#[cfg(test)]
mod tests {
    use testkit::Random;

    use super::*;

    /// As many are valid as are to be, none elsewhere, and each as often as any other.
    #[test]
    fn so_many_slots_are_drawn_each_as_likely() {
        let (mut draws, used) = (Draws::new(Seed::new(4)), 37..187);
        for count in [0, 1, 40, 75, 76, 149, 150] {
            let mut seen = [0_u32; 256];
            for _ in 0..4_000 {
                let mut marks = [0; 4];
                draw_valid(&mut marks, used.clone(), count, &mut draws);
                assert_eq!(valid_slots(&marks).count() as u32, count);
                valid_slots(&marks).for_each(|slot| seen[slot as usize] += 1);
            }
            let expected = 4_000.0 * f64::from(count) / 150.0;
            let near = |times: u32| (f64::from(times) - expected).abs() < 5.0 * expected.max(1.0).sqrt();
            assert!((0..256).all(|slot| if used.contains(&slot) {
                near(seen[slot as usize])
            } else {
                seen[slot as usize] == 0
            }));
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
