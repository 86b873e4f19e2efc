//! Which slots hold what, once it is known how many pages of a block are valid.
//!
//! In a block that nothing was written to, chance says which of its pages are still there. Pages that were moved and not
//! written keep their order: those of a unit are dealt to its other blocks one after the other, as many as each has of them, and
//! lie together there, as they did before. Which slots of such a block are valid is chance, too. All other pages are in the slots
//! that are left, and [who of them is where](super::drawn) is said when it is asked.

use std::ops::Range;
use std::sync::Arc;

use block::Seed;

use super::absent::Absent;
use super::copies::are_lent;
use super::counted::Counted;
use super::digest;
use super::drawn::{BlockPlaces, Drawn, Found, Hints, Origin, Places};
use super::geometry::Unit;
use super::mapping::Mapping;
use super::marks::{draw_valid, ones, select, thin, thin_by, valid_slots};
use super::operation::{Lpn, UNMAPPED, UNNAMED};
use super::side_by_side::{processors, side_by_side};
use crate::draw::Draws;
use crate::shared_table::{Numbers, SharedTable};
use crate::table::Table;

/// Who was where before pages were written at random.
pub(super) struct Before {
    origin: Arc<Origin>,
    /// A bit for each slot of the origin whose page was not written yet.
    kept: Table<u64>,
    /// The pages that were nowhere, if there were such.
    absent: Option<Absent>,
    /// The map's own pages, and their slots.
    of_map: Vec<(u32, u32)>,
}

/// The part of what is drawn that is a unit's.
struct UnitPlaces<'m> {
    unit: Unit,
    kept: &'m mut [u64],
    valid: &'m mut [u64],
    blocks: &'m mut [BlockPlaces],
    from: &'m mut [u16],
}

impl Mapping {
    /// Takes who is where out of the map, or out of that which was `lent` to it, as it was `counted`: its tables say nothing then.
    pub(super) fn leave(&mut self, lent: Option<&Self>, counted: &Counted) -> Before {
        let earlier = lent.unwrap_or(self);
        let pages = counted.first_of_map..self.slots.len() as u32;
        let of_map: Vec<(u32, u32)> = pages.filter_map(|page| Some((page, earlier.slot_of(Lpn(page))?))).collect();
        let mut kept = match &earlier.drawn {
            Some(drawn) => earlier.may_be_kept(drawn),
            None => earlier.valid.clone(),
        };
        if earlier.drawn.is_none() {
            of_map.iter().for_each(|(_, slot)| kept[(slot >> 6) as usize] &= !(1 << (slot & 63)));
        }
        let absent = earlier.absent(counted, &mut kept);
        let origin = earlier.drawn.as_ref().map(|drawn| Arc::clone(&drawn.origin));
        let in_lines = are_lent(self.slots.len(), false);
        let [slots, owners] = [&mut self.slots, &mut self.owners].map(|table| {
            let blank = table.like();
            std::mem::replace(table, if in_lines { SharedTable::in_lines(blank) } else { SharedTable::new(blank) })
        });
        let extents = std::mem::take(&mut self.extents);
        let origin = origin.unwrap_or_else(|| {
            let [slots, owners] =
                lent.map_or([slots, owners], |lent| [&lent.slots, &lent.owners].map(SharedTable::clone));
            Arc::new(Origin { slots, owners, extents })
        });
        self.drawn = None;
        Before { origin, kept, absent, of_map }
    }

    /// Which pages of the host's are nowhere, if any are; and they are `kept` no longer.
    fn absent(&self, counted: &Counted, kept: &mut [u64]) -> Option<Absent> {
        let first_of_map = counted.first_of_map;
        if counted.absent == 0 {
            return None;
        }
        if counted.absent == first_of_map {
            kept.fill(0);
            return Some(Absent::all(first_of_map));
        }
        let absent = Absent::of(first_of_map, |page| !self.holds(page));
        if let Some(drawn) = &self.drawn {
            let gone = (0..first_of_map).map(Lpn).filter(|page| absent.has(*page));
            for slot in gone.filter_map(|page| drawn.origin_of_kept(page)) {
                kept[(slot >> 6) as usize] &= !(1 << (slot & 63));
            }
        }
        Some(absent)
    }

    /// Draws where everything is by what was `counted`, and who was where `before`.
    pub(super) fn draw_places(&mut self, counted: &Counted, before: Before, seed: Seed) {
        let Before { origin, mut kept, absent, of_map } = before;
        let mut draws = Draws::new(seed.split("absent"));
        let absent = absent.and_then(|absent| absent.thinned(counted.absent, &mut draws));
        let geometry = self.geometry;
        let (each, slots) =
            (geometry.blocks_per_plane as usize, (geometry.blocks_per_plane as usize) << self.page_bits);
        let mut valid = std::mem::replace(&mut self.valid, Table::new(0));
        let mut blocks = vec![BlockPlaces::default(); geometry.units() as usize * (each + 1)];
        let mut from = vec![0; geometry.blocks() as usize];
        let parts = kept.chunks_mut(slots / 64).zip(valid.chunks_mut(slots / 64));
        let parts = parts.zip(blocks.chunks_mut(each + 1).zip(from.chunks_mut(each)));
        let units = (0..).map(Unit).zip(parts).map(|(unit, ((kept, valid), (blocks, from)))| UnitPlaces {
            unit,
            kept,
            valid,
            blocks,
            from,
        });
        let in_units = seed.split("units");
        side_by_side(processors(self.slots.len()), units.collect(), |mut unit| {
            let mut draws = Draws::new(in_units.number(u64::from(unit.unit.0)));
            self.draw_unit(&mut unit, counted, &mut draws);
        });
        for (page, slot) in of_map {
            let block = slot >> self.page_bits;
            if counted.of_map(block).contains(&page) && self.is_as_it_was(block, counted) {
                valid[(slot >> 6) as usize] |= 1 << (slot & 63);
                self.note_place(Lpn(page), slot);
            }
        }
        let words = 1 << self.page_bits >> 6;
        for block in 0..geometry.blocks() {
            if self.is_as_it_was(block, counted) {
                continue;
            }
            let (kept, marks) = (u32::from(counted.kept[block as usize]), (block as usize) * words..);
            for (page, place) in counted.of_map(block).iter().zip(kept..) {
                let slot = block << self.page_bits | select(&valid[marks.clone()][..words], place);
                self.note_place(Lpn(*page), slot);
            }
        }
        self.valid.clone_from(&valid);
        let places = Places {
            seed: seed.split("pages"),
            page_bits: self.page_bits,
            pages: geometry.pages_per_block,
            unit_blocks: geometry.blocks_per_plane,
            first_of_map: counted.first_of_map,
            kept,
            absent,
            valid,
            hints: Hints::new(&blocks, geometry.blocks_per_plane),
            blocks,
        };
        self.drawn = Some(Box::new(Drawn::new(origin, places, from)));
        for unit in 0..self.units.len() {
            let state = &self.units[unit];
            let victim = state.victim.map(|victim| victim.block);
            for block in [state.host.block, state.collection.block].into_iter().chain(victim) {
                self.name_block(block);
            }
        }
        self.tabled = 0..self.slots.len() as u32;
        self.changes.lose();
        self.digest = digest::written(self.digest ^ seed.get(), 0, UNNAMED);
    }

    /// Draws which of a unit's pages that may not have been written were not, and which of its slots are valid.
    fn draw_unit(&self, places: &mut UnitPlaces, counted: &Counted, draws: &mut Draws) {
        let words = 1 << self.page_bits >> 6;
        let of_unit = |number: usize| places.unit.0 * self.geometry.blocks_per_plane + number as u32;
        let is_left = |(number, _): &(usize, &[u64])| !self.is_as_it_was(of_unit(*number), counted);
        let left = places.kept.chunks(words).enumerate().filter(is_left);
        let (mut moved, mut gone) = (0, 0);
        for (number, kept) in left {
            moved += u32::from(counted.kept[of_unit(number) as usize]);
            gone += ones(kept);
        }
        debug_assert!(moved <= gone, "{moved} pages of {:?} were moved of {gone}", places.unit);
        let mut sums = BlockPlaces::default();
        let parts = places.kept.chunks_mut(words).zip(places.valid.chunks_mut(words));
        for (number, (kept, valid)) in parts.enumerate() {
            let block = of_unit(number);
            let (count, of_map) = (u32::from(counted.kept[block as usize]), counted.of_map(block).len() as u32);
            let stays = self.is_as_it_was(block, counted);
            places.blocks[number] = BlockPlaces { stays, ..sums };
            places.from[number] = self.geometry.pages_per_block as u16;
            if stays {
                thin(kept, count, draws);
                valid.copy_from_slice(kept);
                continue;
            }
            sums.moved_before += thin_by(kept, &mut moved, &mut gone, draws);
            sums.dealt_before += count;
            debug_assert!(count + of_map <= self.count(block), "block {block}: {count} of {}", self.count(block));
            valid.fill(0);
            draw_valid(valid, self.used(places.unit, block), self.count(block), draws);
            if count + of_map < self.count(block) {
                places.from[number] = select(valid, count + of_map) as u16;
            }
        }
        debug_assert_eq!(sums.moved_before, sums.dealt_before, "{:?}", places.unit);
        places.blocks[self.geometry.blocks_per_plane as usize] = sums;
    }

    /// Whether a block holds nothing that it did not before, in the same slots.
    fn is_as_it_was(&self, block: u32, counted: &Counted) -> bool {
        let victim = self.units[self.unit_of_block(block).0 as usize].victim;
        !counted.is_written[block as usize] && victim.is_none_or(|victim| victim.block != block)
    }

    /// The pages of a block that may be valid: those that were written and not yet moved.
    pub(super) fn used(&self, unit: Unit, block: u32) -> Range<u32> {
        let state = &self.units[unit.0 as usize];
        let open = [state.host, state.collection].into_iter().find(|open| open.block == block);
        match (open, state.victim.filter(|victim| victim.block == block)) {
            (Some(open), _) => 0..open.next,
            (_, Some(victim)) => victim.next..self.block_end(block),
            _ if self.is_closed(block) => 0..self.block_end(block),
            _ => 0..0,
        }
    }

    /// Has the tables say who is in a block, as far as somebody has.
    fn name_block(&mut self, block: u32) {
        if let Some(drawn) = &mut self.drawn {
            drawn.name(block, &self.valid, &mut self.owners);
        }
    }

    /// What a block that was touched holds of pages that were not written since the origin.
    pub(super) fn kept_of(&self, drawn: &Drawn, block: u32) -> Found {
        let places = &drawn.places;
        let words = places.words(&self.valid, block);
        if !drawn.is_named(block) {
            let were = places.dealt(block).len();
            let end = valid_slots(places.words(&places.valid, block)).nth(were).unwrap_or(places.pages);
            return Found { kept: valid_slots(words).filter(|at| *at < end).count() as u32, ..Found::default() };
        }
        let (base, row) = (block << self.page_bits, 2 * self.geometry.units() * self.geometry.program_pages);
        let (mut found, mut last) = (Found { is_named: true, ..Found::default() }, UNNAMED.0);
        let pages = valid_slots(words).map(|at| self.owners.get((base | at) as usize));
        let pages: Vec<u32> = pages.filter(|page| *page < places.first_of_map).collect();
        pages.iter().for_each(|page| drawn.call_kept(Lpn(*page)));
        for page in pages {
            // What was written since, and is named for that, may have left its block behind as it was, or its unit.
            let from = drawn.origin_of_kept(Lpn(page)).map(|origin| origin >> self.page_bits);
            let from = from.filter(|from| drawn.is_named(*from) || !places.stays(*from));
            let is_kept = from.is_some_and(|from| from / places.unit_blocks == block / places.unit_blocks);
            found.kept += u32::from(is_kept);
            found.elsewhere += u32::from(from.is_some() && !is_kept);
            found.in_order += u32::from(!is_kept && page.wrapping_sub(last).wrapping_sub(1) < row);
            last = page;
        }
        found
    }

    /// Whether a block is as it was at the origin, but for what was written since.
    pub(super) fn is_untouched(&self, block: u32) -> bool {
        self.drawn.as_ref().is_none_or(|drawn| !drawn.is_named(block) && drawn.places.stays(block))
    }

    /// The bits of pages that may stay or be moved as they are, by their slots at the origin, but for those of the map.
    pub(super) fn may_be_kept(&self, drawn: &Drawn) -> Table<u64> {
        let mut kept = drawn.places.kept.clone();
        let words = 1 << self.page_bits >> 6;
        for (block, kept) in (0..).zip(kept.chunks_mut(words)).filter(|(block, _)| self.is_untouched(*block)) {
            kept.iter_mut().zip(drawn.places.words(&self.valid, block)).for_each(|(kept, valid)| *kept &= valid);
        }
        kept
    }

    /// Says by chance who is in a slot that holds a page that was written.
    pub(super) fn name_slot(&mut self, slot: u32, draws: &mut Draws) {
        let Some(drawn) = &self.drawn else { return };
        let page = loop {
            let page = Lpn(draws.below(drawn.places.first_of_map));
            let is_somewhere = self.slots.get(page.0 as usize) == UNMAPPED && drawn.has(page);
            if is_somewhere && drawn.origin_of_kept(page).is_none() {
                break page;
            }
        };
        self.note_place(page, slot);
    }

    /// Has the tables say where every page is.
    pub(super) fn name_all(&mut self, seed: Seed) {
        (0..self.counts.len() as u32).for_each(|block| self.name_block(block));
        let Some(drawn) = self.drawn.take() else { return };
        let mut unnamed = Vec::new();
        for slot in valid_slots(&self.valid) {
            match self.owners.get(slot as usize) {
                page if page == UNNAMED.0 => unnamed.push(slot),
                page => self.slots.set(page as usize, !slot),
            }
        }
        let mut draws = Draws::new(seed);
        for page in (0..drawn.places.first_of_map).filter(|page| drawn.has(Lpn(*page))) {
            if self.slots.get(page as usize) == UNMAPPED && !unnamed.is_empty() {
                let slot = unnamed.swap_remove(draws.below(unnamed.len() as u32) as usize);
                self.note_place(Lpn(page), slot);
            }
        }
        self.changes.lose();
    }
}
