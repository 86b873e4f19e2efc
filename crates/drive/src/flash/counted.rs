//! How many pages of which kind each block holds, while nobody asks which they are.

use block::Seed;
use prefetch_index::prefetch_index;

use super::drawn::Found;
use super::mapping::Mapping;
use super::operation::{Lpn, UNNAMED};
use super::placing::Placing;
use crate::draw::Draws;

/// So many pages are drawn together, and memory is asked for their blocks.
const TOGETHER: usize = 32;
/// Where a page of the map is that is nowhere.
const NOWHERE: u32 = u32::MAX;

/// Pages that are to be written, none of which is anywhere now.
#[derive(Clone, Copy)]
pub(super) struct Lost {
    pub pages: u32,
    /// How many of them were nowhere before, too.
    pub new: u32,
}

/// What the map's counts of valid pages do not say: how many of them are pages that were not written, and which are the map's
/// own.
pub(super) struct Counted {
    /// Of each block, pages of the host's that were not written at random, now or before.
    pub kept: Vec<u16>,
    /// Whether anything was written to each block since, or moved to it or from it.
    pub is_written: Vec<bool>,
    /// Pages of the host's that are nowhere.
    pub absent: u32,
    /// Pages that were written in order after others had been at random.
    pub in_order: u32,
    /// Of each block, its pages of the map; nothing where there are none.
    of_map: Vec<Vec<u32>>,
    /// The block of each page of the map, and the place that it has among that block's.
    places_of_map: Vec<(u32, u32)>,
    /// The first page of the map.
    pub first_of_map: u32,
    page_bits: u32,
    pub(super) draws: Draws,
}

impl Counted {
    /// As things are in `mapping`, whose own pages are those from number `first_of_map` on.
    pub fn new(mapping: &Mapping, first_of_map: u32, seed: Seed) -> Self {
        let pages = mapping.slots.len() as u32;
        let blocks = mapping.counts.len();
        let mut counted = Self {
            kept: Vec::with_capacity(blocks),
            is_written: (0..blocks as u32).map(|block| !mapping.is_untouched(block)).collect(),
            absent: 0,
            in_order: 0,
            of_map: vec![Vec::new(); if first_of_map < pages { blocks } else { 0 }],
            places_of_map: vec![(NOWHERE, 0); (pages - first_of_map) as usize],
            first_of_map,
            page_bits: mapping.page_bits,
            draws: Draws::new(seed),
        };
        let (mut named, mut in_named, mut elsewhere) = (Vec::new(), 0, 0);
        for block in 0..blocks as u32 {
            let found = match &mapping.drawn {
                Some(drawn) if counted.is_written[block as usize] => mapping.kept_of(drawn, block),
                _ => Found { kept: mapping.count(block), ..Found::default() },
            };
            counted.kept.push(found.kept as u16);
            counted.in_order += found.in_order;
            elsewhere += found.elsewhere;
            if found.is_named {
                named.push(block);
                in_named += found.kept;
            }
        }
        // As many that were written since have come back to their unit as to each other one.
        let back = u64::from(elsewhere / (mapping.geometry.units() - 1).max(1)).min(in_named.into());
        let mut draws = Draws::new(seed.split("back"));
        for block in named.into_iter().filter(|_| back > 0) {
            let kept = &mut counted.kept[block as usize];
            let lost = (u64::from(*kept) * back + u64::from(draws.below(in_named))) / u64::from(in_named);
            *kept -= lost as u16;
        }
        for page in (first_of_map..pages).map(Lpn) {
            if let Some(slot) = mapping.slot_of(page) {
                let block = slot >> mapping.page_bits;
                // What is not known of a block, but that it is as it was, are all of its pages.
                counted.kept[block as usize] -= u16::from(!counted.is_written[block as usize]);
                counted.note_of_map(page, block);
            }
        }
        let of_map = counted.places_of_map.iter().filter(|place| place.0 != NOWHERE).count() as u32;
        let held: u32 = mapping.units.iter().map(|unit| unit.valid).sum();
        counted.absent = first_of_map + of_map - held;
        counted
    }

    /// The pages of the map that a block holds.
    #[inline]
    pub fn of_map(&self, block: u32) -> &[u32] {
        self.of_map.get(block as usize).map_or(&[], Vec::as_slice)
    }

    fn note_of_map(&mut self, page: Lpn, block: u32) {
        let pages = &mut self.of_map[block as usize];
        self.places_of_map[(page.0 - self.first_of_map) as usize] = (block, pages.len() as u32);
        pages.push(page.0);
    }

    /// Whether the map has no pages of its own.
    pub fn is_without_map(&self) -> bool {
        self.of_map.is_empty()
    }

    /// Whether a page of the map was ever written.
    pub fn holds(&self, page: Lpn) -> bool {
        self.places_of_map[(page.0 - self.first_of_map) as usize].0 != NOWHERE
    }

    /// Draws so many pages of the host's, all alike, of which those that are valid are so no longer.
    #[inline]
    pub fn lose(&mut self, mapping: &mut Mapping, count: u32) -> Lost {
        let (blocks, pages) = (mapping.counts.len() as u32, mapping.geometry.pages_per_block);
        let new = self.draw_absent(count);
        let (mut left, mut drawn) = (count - new, [(0, 0); TOGETHER]);
        while left > 0 {
            let drawn = &mut drawn[..TOGETHER.min(left as usize)];
            for place in &mut *drawn {
                *place = (self.draws.below(blocks), self.draws.below(pages));
                prefetch_index(&mapping.counts, place.0 as usize);
                prefetch_index(&self.kept, place.0 as usize);
            }
            for &mut (block, page) in drawn {
                let valid = mapping.count(block);
                // In this order: the pages that were not written, all others, those of the map.
                if page < valid - self.of_map(block).len() as u32 {
                    let kept = &mut self.kept[block as usize];
                    *kept -= u16::from(page < u32::from(*kept));
                    mapping.lose(block, 1);
                    left -= 1;
                }
            }
        }
        Lost { pages: count, new }
    }

    /// Of so many pages, how many are nowhere, so that they are written for the first time now.
    #[inline]
    fn draw_absent(&mut self, count: u32) -> u32 {
        let before = self.absent;
        if before > 0 {
            for _ in 0..count {
                self.absent -= u32::from(self.draws.below(self.first_of_map) < self.absent);
            }
        }
        before - self.absent
    }

    /// Has a page of the map be nowhere, if it was somewhere.
    pub fn lose_of_map(&mut self, mapping: &mut Mapping, page: Lpn) {
        let place = &mut self.places_of_map[(page.0 - self.first_of_map) as usize];
        let (block, place) = std::mem::replace(place, (NOWHERE, 0));
        if block != NOWHERE {
            let pages = &mut self.of_map[block as usize];
            pages.swap_remove(place as usize);
            if let Some(last) = pages.get(place as usize) {
                self.places_of_map[(last - self.first_of_map) as usize].1 = place;
            }
            mapping.lose(block, 1);
        }
    }

    /// Of so many pages that are moved from a block, how many are such that were not written and how many the map's, all that are
    /// `left` alike.
    #[inline]
    fn draw_moved(&mut self, from: u32, left: u32, count: u32) -> (u32, u32) {
        let (kept, of_map) = (u32::from(self.kept[from as usize]), self.of_map(from).len() as u32);
        if count == left || kept + of_map == 0 {
            return (kept, of_map);
        }
        let moved_of_map = self.share(of_map, left, count);
        // As many of every kind as there are.
        let (rest, others) = (count - moved_of_map, left - kept - of_map);
        let moved = self.share(kept, left, count).clamp(rest.saturating_sub(others), kept.min(rest));
        (moved, moved_of_map)
    }

    /// How many of `some` pages are among `count` of those that are `left`: what is to be expected, rounded by chance.
    #[inline]
    pub fn share(&mut self, some: u32, left: u32, count: u32) -> u32 {
        let expected = u64::from(some) * u64::from(count);
        if some == 0 { 0 } else { ((expected + u64::from(self.draws.below(left))) / u64::from(left)) as u32 }
    }
}

impl Placing for Counted {
    const SLOTS: bool = false;

    #[inline]
    fn put(&mut self, page: Lpn, slot: u32) {
        let block = slot >> self.page_bits;
        self.is_written[block as usize] = true;
        if page != UNNAMED {
            self.note_of_map(page, block);
        }
    }

    #[inline]
    fn moved(&mut self, from: u32, to: u32, left: u32, count: u32) {
        let to = to >> self.page_bits;
        self.is_written[to as usize] = true;
        self.is_written[from as usize] = true;
        let (moved, moved_of_map) = self.draw_moved(from, left, count);
        self.kept[from as usize] -= moved as u16;
        self.kept[to as usize] += moved as u16;
        for _ in 0..moved_of_map {
            let page = self.of_map[from as usize].pop().expect("no more are moved than there are");
            self.note_of_map(Lpn(page), to);
        }
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Lba};
    use testkit::Random;

    use super::*;
    use crate::flash::FlashDrive;
    use crate::flash::mapping::UnitState;
    use crate::flash::marks::NOT_CLOSED;
    use crate::preset::{Preset, Spec};

    /// Two blocks, the first of which holds so many pages of either kind.
    fn counted(kept: u32, of_map: u32) -> Counted {
        Counted {
            kept: vec![kept as u16, 0],
            is_written: vec![false; 2],
            absent: 0,
            in_order: 0,
            of_map: vec![(1_000..1_000 + of_map).collect(), Vec::new()],
            places_of_map: (0..of_map).map(|place| (0, place)).collect(),
            first_of_map: 1_000,
            page_bits: 9,
            draws: Draws::new(Seed::new(u64::from(kept + of_map))),
        }
    }

    #[test]
    fn no_more_pages_of_a_kind_are_moved_than_there_are() {
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let left = 1 + random.below(300) as u32;
            let kept = random.below(u64::from(left) + 1) as u32;
            let of_map = random.below(u64::from(left - kept) + 1) as u32;
            let count = 1 + random.below(left.into()) as u32;
            let told = format!("{count} of {left}, {kept} kept, {of_map} of the map");
            let mut counted = counted(kept, of_map);
            counted.moved(0, 1 << 9, left, count);
            let (moved, moved_of_map) = (u32::from(counted.kept[1]), counted.of_map(1).len() as u32);
            assert_eq!(u32::from(counted.kept[0]) + moved, kept, "{told}");
            assert_eq!(counted.of_map(0).len() as u32 + moved_of_map, of_map, "{told}");
            let others = (count).checked_sub(moved + moved_of_map).expect(&told);
            assert!(others <= left - kept - of_map, "{told}: {others} others");
            for (block, pages) in (0..).zip(&counted.of_map) {
                let are_there = (0..).zip(pages).all(|(place, page)| {
                    counted.places_of_map[(page - counted.first_of_map) as usize] == (block, place)
                });
                assert!(are_there, "{told}");
            }
        }
    }

    #[test]
    fn what_is_moved_is_as_it_is_on_average() {
        let (mut counted, mut sums) = (counted(60, 10), (0, 0));
        for _ in 0..100_000 {
            let (moved, moved_of_map) = counted.draw_moved(0, 100, 3);
            sums = (sums.0 + moved, sums.1 + moved_of_map);
        }
        let close = |sum: u32, expected: f64| (f64::from(sum) / 100_000.0 / expected - 1.0).abs() < 0.02;
        assert!(close(sums.0, 1.8) && close(sums.1, 0.3), "{sums:?}");
    }

    #[test]
    fn pages_that_are_put_together_leave_what_they_leave_one_by_one() {
        for kind in ["x25-m?", "990-pro?slc.fixed=2MB&slc.dynamic=4MB&gc.idle_after=1s&"] {
            let small = "capacity.user=96MiB&channels=2&dies_per_channel=2&pages_per_block=96&capacity.spare=40%";
            let Spec::Flash(spec) = Preset::find(&format!("{kind}{small}")).unwrap().spec else { panic!("{kind}") };
            let mut drive = FlashDrive::new(spec);
            drive.fill_untimed(Lba::new(0), Lba::at(spec.capacity), Bytes::from_mib(1), 100);
            let mut maps = [drive.mapping.without_tables(), drive.mapping.without_tables()];
            let mut counted = [1, 2].map(|seed| Counted::new(&maps[0], drive.map_base, Seed::new(seed)));
            let (mut random, mut plan) = (Random::new(5), Vec::new());
            let mut pages = [0_u32; 2];
            for _ in 0..20_000 {
                let most = 1 + random.below(12) as u32;
                for _ in 0..most {
                    // As both moved other pages, only what is counted of all of them is the same.
                    let block = loop {
                        let block = random.place(maps[0].counts.len());
                        if maps[0].counts[block] & !NOT_CLOSED > 0 {
                            break block as u32;
                        }
                    };
                    for (map, counted) in maps.iter_mut().zip(&mut counted) {
                        map.lose(block, 1);
                        let kept = &mut counted.kept[block as usize];
                        *kept = (*kept).min(map.counts[block as usize] & !NOT_CLOSED);
                    }
                }
                let mut left = most;
                while left > 0 {
                    let turn = maps[1].choose_unit();
                    let (count, _) = maps[0].put_together(UNNAMED, left, &mut plan, &mut counted[0]);
                    for _ in 0..count {
                        maps[1].next_unit = turn.0;
                        maps[1].put(UNNAMED, &mut plan, &mut counted[1]);
                    }
                    left -= count;
                    pages = [pages[0] + 1, pages[1] + count];
                }
                let [together, apart] = &maps;
                assert!(together.counts == apart.counts && together.moved == apart.moved, "{kind}");
                assert_eq!(together.next_unit, apart.next_unit, "{kind}");
                for (one, other) in together.units.iter().zip(&apart.units) {
                    let of =
                        |state: &UnitState| (state.free.clone(), state.host.next, state.collection.next, state.valid);
                    assert_eq!(of(one), of(other), "{kind}");
                    let of = |state: &UnitState| state.victim.map(|victim| victim.block);
                    assert_eq!(of(one), of(other), "{kind}");
                }
            }
            assert!(
                maps[0].moved.pages > 10_000 && pages[1] > 3 * pages[0],
                "{kind}: {} moved, {pages:?}",
                maps[0].moved.pages
            );
        }
    }
}
