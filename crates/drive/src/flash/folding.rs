//! Folding: one-bit blocks that are emptied into others while the host writes.

use super::geometry::Unit;
use super::mapping::{Frontier, Mapping, UnitState};
use super::operation::Cells;

/// One-bit blocks of a unit at which folding can begin: one of them may be open.
pub const FOLD_MIN: u64 = 2;

impl Mapping {
    /// Whether the host may have one more one-bit block in a unit.
    pub(super) fn has_single(&self, unit: Unit) -> bool {
        let state = &self.units[unit.0 as usize];
        let is_spared = state.free.len() as u32 > self.collection.start + 2;
        self.slc.is_some_and(|slc| state.single < slc.fixed || state.single < slc.fixed + slc.dynamic && is_spared)
    }

    /// Has the host write to a one-bit block again, if there is one, where it had come to others. A block that it had begun is
    /// filled by what is moved, and what was opened for that is the host's.
    pub(super) fn return_to_single(&mut self, unit: Unit) {
        let Some(slc) = self.slc else { return };
        let UnitState { host, collection, .. } = self.units[unit.0 as usize];
        let is_whole = host.next.is_multiple_of(self.geometry.program_pages);
        let is_empty = |frontier: Frontier| frontier.next == 0;
        if host.cells == Cells::Single
            || !is_whole
            || !is_empty(host) && !is_empty(collection)
            || !self.has_single(unit)
        {
            return;
        }
        self.write_out(unit, host.block);
        let end = self.single_pages(slc);
        let state = &mut self.units[unit.0 as usize];
        if !is_empty(host) {
            std::mem::swap(&mut state.host, &mut state.collection);
        }
        state.host = Frontier { end, cells: Cells::Single, ..state.host };
        state.single += 1;
        self.single[state.host.block as usize] = true;
    }

    /// Whether a unit has so many one-bit blocks that one of them is to be emptied, whatever else is free.
    ///
    /// One page moves for each that the host writes, or as many as garbage collection would; so both have their share of the
    /// dies.
    #[inline]
    pub(super) fn folds(&self, unit: Unit) -> bool {
        let from = self.slc.and_then(|slc| slc.fold_from);
        from.is_some_and(|from| self.units[unit.0 as usize].single >= from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flash::geometry::Geometry;
    use crate::flash::operation::{Cells, FlashOp, Lpn, PageLocation};
    use crate::flash::{CollectionSpec, SlcSpec};

    const PAGES: u32 = 4 * 128 * 30;

    fn map(fold_from: Option<u32>) -> Mapping {
        let geometry = Geometry::four_dies(40, 1);
        let slc = SlcSpec { bits: 4, fixed: 2, dynamic: 6, fold_from };
        Mapping::new(geometry, CollectionSpec::DEFAULT, Some(slc), None, PAGES, None)
    }

    /// Writes pages in order from `first` on; of the programs of the host's, how many are of one-bit blocks, and how many pages
    /// were moved.
    fn write(map: &mut Mapping, first: u32, count: u32) -> (u32, u32) {
        let (mut plan, mut single, mut moved) = (Vec::new(), 0, 0);
        for page in first..first + count {
            map.write(Lpn(page), &mut plan);
            for op in plan.drain(..) {
                match op {
                    FlashOp::Program(PageLocation { cells: Cells::Single, .. }) => single += 1,
                    FlashOp::Move(_, moves) => moved += moves.pages,
                    _ => {}
                }
            }
        }
        (single, moved)
    }

    /// Eight blocks of each unit hold a quarter of 128 pages each. Beyond them the host has no more without folding, and with
    /// it those that have been folded meanwhile: a page is moved for each that is written.
    #[test]
    fn folding_gives_the_host_one_bit_blocks_again() {
        let cache = 4 * 8 * 32;
        let mut plain = map(None);
        assert_eq!(write(&mut plain, 0, 2 * cache), (cache, 0));
        let mut folding = map(Some(8));
        let (first, moved) = write(&mut folding, 0, cache);
        assert!(first == cache && moved <= 4 * 32, "{first} of {cache}, {moved} moved");
        let (single, moved) = write(&mut folding, cache, 4 * cache);
        assert!(single > cache, "{single} of {}", 4 * cache);
        assert!(moved.abs_diff(single) < cache / 2, "{single} written to one-bit blocks, {moved} moved");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Whatever is written and from wherever on it is folded: no page is lost, none has the place of another, and the host
        /// has no more one-bit blocks than there are.
        #[test]
        fn no_page_is_lost(fold_from in prop::option::of(2..9_u32), seed in any::<u64>(), count in 1..6_u32) {
            let (mut map, mut random) = (map(fold_from), testkit::Random::new(seed));
            let (mut plan, mut written) = (Vec::new(), vec![false; PAGES as usize]);
            for _ in 0..count * 4_000 {
                let page = random.below(u64::from(PAGES)) as u32;
                map.write(Lpn(page), &mut plan);
                plan.clear();
                written[page as usize] = true;
                // Now and then a rest, in which what the host had begun may come to be filled by what is moved.
                if random.below(500) == 0 {
                    let (unit, steps) = (Unit(random.below(4) as u32), random.below(200));
                    (0..steps).for_each(|_| _ = map.collect_idle(unit, 12, 1, &mut plan));
                    plan.clear();
                }
            }
            map.check();
            let mut slots: Vec<u32> = (0..PAGES).filter_map(|page| map.slot_of(Lpn(page))).collect();
            prop_assert_eq!(slots.len(), written.iter().filter(|&&is_written| is_written).count());
            slots.sort_unstable();
            slots.dedup();
            prop_assert_eq!(slots.len(), written.iter().filter(|&&is_written| is_written).count());
            prop_assert!(map.units.iter().all(|unit| unit.single <= 8));
        }
    }
}
