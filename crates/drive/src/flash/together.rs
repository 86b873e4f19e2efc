//! Pages of the host's that come to a unit together.

use std::slice;

use prefetch_index::prefetch_index;

use super::digest;
use super::geometry::Unit;
use super::mapping::{Frontier, Mapping, PageSource, UnitState};
use super::marks::mark;
use super::operation::{FlashOp, Lpn, PageLocation};
use super::placing::{InSlots, Placing};
use crate::shared_table::Numbers;

/// No more pages than this are written together where they are drawn, and no more than one part in so many of a block.
const MOST: u32 = 32;
const BLOCK_SHARE: u32 = 32;
/// The same where many were lost before at once.
const OF_MANY: u32 = 256;
const OF_MANY_SHARE: u32 = 8;
/// For the turns of so many units ahead memory is asked.
const TURNS_AHEAD: usize = 4;

impl Mapping {
    /// So many pages of the host's are written together: whole flash pages, and few beside a block.
    pub(super) fn pages_together(&self, are_many: bool) -> u32 {
        let (most, share) = if are_many { (OF_MANY, OF_MANY_SHARE) } else { (MOST, BLOCK_SHARE) };
        (self.host_block_pages() / share).clamp(1, most).next_multiple_of(self.geometry.program_pages)
    }

    /// Writes up to so many pages, of which there is no copy, as [`put`](Self::put) does one after the other, but all to the unit
    /// whose turn it is, and no more than its block has room for. How many, and whether none waits for its flash page to be full.
    #[inline]
    pub(super) fn put_together<P: Placing>(
        &mut self,
        first: Lpn,
        most: u32,
        plan: &mut Vec<FlashOp>,
        placing: &mut P,
    ) -> (u32, bool) {
        let unit = self.choose_unit();
        let together = self.geometry.program_pages;
        let UnitState { host, valid, valid_max, .. } = self.units[unit.0 as usize];
        let Frontier { block, next, end, cells } = host;
        let room = most.min(end - next).min(valid_max - valid);
        // What is begun of a further flash page waits for the unit's next turn.
        let begun = (next + room) % together;
        let count = if begun < room { room - begun } else { room };
        self.collect_for(unit, count, plan, placing);
        let state = &mut self.units[unit.0 as usize];
        state.host.next = next + count;
        state.valid += count;
        self.counts[block as usize] += count as u16;
        let slot = block << self.page_bits | next;
        placing.put(first, slot);
        if P::SLOTS {
            self.note_tabled(first);
            self.note_tabled(Lpn(first.0 + count - 1));
            self.slots.set_row(first.0 as usize, count as usize, |page| !(slot + page));
            self.owners.set_row(slot as usize, count as usize, |page| first.0 + page);
            mark(&mut self.valid, slot..slot + count);
        }
        for page in 0..count {
            self.digest = digest::written(self.digest, slot + page, Lpn(first.0.wrapping_add(page)));
        }
        for page in (next / together..(next + count) / together).map(|number| number * together) {
            let (block, sense) = self.sense_of(block << self.page_bits | page);
            plan.push(FlashOp::Program(PageLocation { unit, cells, block, sense }));
        }
        if next + count == end {
            self.close(unit, PageSource::Host);
        }
        let is_full = (next + count).is_multiple_of(together);
        if is_full {
            self.give_turn(unit);
        }
        (count, is_full)
    }

    /// Whether a whole flash page of the host's can go to the unit whose turn it is, and nothing else is to be done for it.
    #[inline]
    pub fn takes_flash_page(&self) -> bool {
        let unit = Unit(self.next_unit);
        let UnitState { host, valid, valid_max, victim, .. } = &self.units[unit.0 as usize];
        let has_room = host.next.is_multiple_of(self.geometry.program_pages)
            && valid + self.geometry.program_pages <= *valid_max
            && !self.read_only;
        has_room && victim.is_none() && !self.wants_victim(unit) && self.packing.is_none()
    }

    /// Writes the pages of a flash page, from `first` on, where one [can go](Self::takes_flash_page), as [`write`](Self::write)
    /// does one after the other. A bit for each says whether an older copy of it is in flash.
    pub fn write_flash_page(&mut self, first: Lpn, plan: &mut Vec<FlashOp>) -> u64 {
        let (unit, together) = (Unit(self.next_unit), self.geometry.program_pages);
        if self.tabled.is_empty() {
            self.begin_in_order();
        }
        let mut kept = 0;
        for page in 0..together {
            kept |= u64::from(self.invalidate(Lpn(first.0 + page))) << page;
        }
        self.put_together(first, together, plan, &mut InSlots);
        self.call_turn(unit);
        kept
    }

    /// Has tables of its own from now on in place of such that others have too, where these say nothing: what is written in order
    /// fills its own from one end, in no more memory than lines would take.
    #[cold]
    fn begin_in_order(&mut self) {
        if self.extents.is_empty() && self.drawn.is_none() {
            for table in [&mut self.slots, &mut self.owners] {
                if table.own_already().is_none() {
                    table.clear();
                }
            }
        }
    }

    /// Has at hand soon what will be needed when it is the turn of a unit that comes some time behind this one.
    #[inline]
    fn call_turn(&self, unit: Unit) {
        let units = self.units.len();
        let later = &self.units[(unit.0 as usize + 2 * TURNS_AHEAD) % units];
        prefetch_index(slice::from_ref(&later.host), 0);
        prefetch_index(slice::from_ref(&later.valid), 0);
        prefetch_index(slice::from_ref(&later.victim), 0);
        let Frontier { block, next, .. } = self.units[(unit.0 as usize + TURNS_AHEAD) % units].host;
        let slot = (block << self.page_bits | next) as usize;
        prefetch_index(&self.counts, block as usize);
        self.valid.call(slot >> 6);
        self.owners.call(slot);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flash::geometry::Geometry;
    use crate::flash::{CollectionSpec, SlcSpec};

    const PAGES: u32 = 4 * 128 * 20;

    fn map(slc: Option<SlcSpec>) -> Mapping {
        let geometry = Geometry::four_dies(32, 4);
        Mapping::new(geometry, CollectionSpec::DEFAULT, slc, None, PAGES, None)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Flash pages that are written as a whole leave what their pages leave one by one, and have the same done for them;
        /// so too on a clone that has its tables in common with others.
        #[test]
        fn a_flash_page_as_a_whole_is_its_pages_one_by_one(
            firsts in prop::collection::vec(0..PAGES - 4, 1..4_000),
            lent in any::<bool>(),
            fold_from in prop::option::of(2_u32..6),
        ) {
            let slc = fold_from.map(|from| SlcSpec { bits: 3, fixed: 2, dynamic: 4, fold_from: Some(from) });
            let (mut whole, mut single) = (map(slc), map(slc));
            if lent {
                whole.lend_tables();
                whole = whole.clone();
            }
            let (mut plans, mut wholes) = ([Vec::new(), Vec::new()], 0);
            for first in firsts.into_iter().map(Lpn) {
                let pages = (first.0..first.0 + 4).map(Lpn);
                let kept: u64 = pages.clone().zip(0..).map(|(page, bit)| u64::from(single.slot_of(page).is_some()) << bit).sum();
                if whole.takes_flash_page() {
                    wholes += 1;
                    prop_assert_eq!(whole.write_flash_page(first, &mut plans[0]), kept);
                } else {
                    pages.clone().for_each(|page| _ = whole.write(page, &mut plans[0]));
                }
                pages.for_each(|page| _ = single.write(page, &mut plans[1]));
                prop_assert_eq!(&plans[0], &plans[1]);
                plans.iter_mut().for_each(Vec::clear);
            }
            whole.check();
            prop_assert!(wholes > 0);
            prop_assert!(whole.slots == single.slots && whole.owners == single.owners && whole.valid == single.valid);
            prop_assert!(whole.digest == single.digest && whole.counts == single.counts && whole.moved == single.moved);
            prop_assert!(whole.tabled == single.tabled && whole.next_unit == single.next_unit);
        }
    }
}
