//! The page map where pages are kept compressed.

use super::collection::{Copied, Victim};
use super::digest;
use super::geometry::Unit;
use super::mapping::{Frontier, Mapping, PageSource};
use super::operation::{FlashOp, Lpn, Moved, PageLocation};
use super::placing::InSlots;
use crate::shared_table::{Numbers, SharedTable};

impl Mapping {
    /// A copy of the table of pages by slot.
    pub(super) fn owners_copied(&self) -> SharedTable {
        match self.packing.as_ref().zip(self.owners.flat()) {
            Some((packing, owners)) => SharedTable::new(packing.owners(owners, self.page_bits)),
            None => self.owners.clone(),
        }
    }

    /// Slots of a block.
    pub(super) fn block_slots(&self) -> u32 {
        if self.packing.is_some() { 1 << self.page_bits } else { self.geometry.pages_per_block }
    }

    /// Whether pages are kept at their compressed size.
    #[inline]
    pub fn is_packed(&self) -> bool {
        self.packing.is_some()
    }

    /// What pages of this map are counted in, of each.
    #[inline]
    pub(super) fn granules(&self) -> u32 {
        self.packing.as_ref().map_or(1, |packing| packing.granules)
    }

    /// What a block holds, in that.
    #[inline]
    pub(super) fn block_size(&self) -> u32 {
        self.geometry.pages_per_block * self.granules()
    }

    /// What a page takes, in that.
    #[inline]
    pub(super) fn size_of(&self, page: Lpn) -> u32 {
        self.packing.as_ref().map_or(1, |packing| packing.size_of(page))
    }

    /// How many of `sectors` of a page are left as it is stored, at least one.
    #[inline]
    pub fn stored(&self, page: Lpn, sectors: u32) -> u32 {
        match &self.packing {
            Some(packing) => (sectors * packing.size_of(page)).div_ceil(packing.granules),
            None => sectors,
        }
    }

    /// Percent of a page that are left as it is stored.
    pub fn left_of(&self, page: Lpn) -> u8 {
        (self.size_of(page) * 100 / self.granules()) as u8
    }

    /// Writes `page`, of which `entropy` percent are left: see [`write`](Self::write).
    pub fn pack(&mut self, page: Lpn, entropy: u8, plan: &mut Vec<FlashOp>) -> bool {
        let Some(packing) = &self.packing else { return self.write(page, plan) };
        let (size, together) = (packing.size(entropy), self.geometry.program_pages * packing.granules);
        self.invalidate(page);
        let unit = self.choose_unit();
        self.collect(unit, size, plan, &mut InSlots);
        let rest = !self.fits(self.units[unit.0 as usize].host, size) && self.finish(unit, PageSource::Host);
        let host = self.units[unit.0 as usize].host;
        if rest {
            plan.push(FlashOp::Program(PageLocation { unit, cells: host.cells, block: host.block, sense: 0 }));
        }
        let saved = (self.granules() - size) as u8;
        let (slot, ends) = self.put_behind(unit, PageSource::Host, page, size);
        self.packing.as_mut().expect("it is packed").saved[page.0 as usize] = saved;
        self.digest = digest::written(self.digest, slot, page) ^ u64::from(saved).rotate_left(13);
        if ends / together > (ends - size) / together {
            let (block, sense) = self.sense_of(slot);
            plan.push(FlashOp::Program(PageLocation { unit, cells: host.cells, block, sense }));
            self.next_unit = (unit.0 + 1) % self.units.len() as u32;
        } else if !rest {
            return false;
        }
        if self.is_full(self.units[unit.0 as usize].host) {
            self.close(unit, PageSource::Host);
        }
        true
    }

    /// Leaves what is still free of the flash page that is being filled: see [`pad`](Self::pad).
    pub(super) fn pad_packed(&mut self, plan: &mut Vec<FlashOp>) {
        let (unit, granules) = (Unit(self.next_unit), self.granules());
        let together = self.geometry.program_pages * granules;
        let host = self.units[unit.0 as usize].host;
        let filled = self.filled(host);
        let left = filled.next_multiple_of(together) - filled;
        if left == 0 {
            return;
        }
        if !self.read_only {
            self.collect(unit, left, plan, &mut InSlots);
        }
        let (block, sense) = self.sense_of(host.block << self.page_bits | host.next.saturating_sub(1));
        self.packing.as_mut().expect("it is packed").add(host.block, 0, left);
        plan.push(FlashOp::Program(PageLocation { unit, cells: host.cells, block, sense }));
        if self.is_full(host) {
            self.close(unit, PageSource::Host);
        }
        self.next_unit = (unit.0 + 1) % self.units.len() as u32;
        self.digest = self.digest.rotate_left(7) ^ u64::from(unit.0 + 1);
    }

    /// Granules of an open block that are used.
    pub(super) fn filled(&self, open: Frontier) -> u32 {
        self.packing.as_ref().map_or(0, |packing| u32::from(packing.filled[open.block as usize]))
    }

    /// Whether not even the smallest page fits in an open block any more.
    pub(super) fn is_full(&self, open: Frontier) -> bool {
        match &self.packing {
            Some(packing) => !self.fits(open, packing.size_min),
            None => open.next == open.end,
        }
    }

    fn fits(&self, open: Frontier, size: u32) -> bool {
        open.next < open.end && self.filled(open) + size <= self.block_size()
    }

    /// Closes a block that has no room for what comes next; whether a flash page of it is still to be programmed.
    fn finish(&mut self, unit: Unit, source: PageSource) -> bool {
        let open = *self.units[unit.0 as usize].frontier(source);
        let is_within = !self.filled(open).is_multiple_of(self.geometry.program_pages * self.granules());
        self.close(unit, source);
        is_within
    }

    /// Puts a page into the next slot of an open block in which it fits; the slot, and how full the block is then.
    fn put_behind(&mut self, unit: Unit, source: PageSource, page: Lpn, size: u32) -> (u32, u32) {
        let open = self.units[unit.0 as usize].frontier(source);
        let slot = open.block << self.page_bits | open.next;
        open.next += 1;
        let block = open.block;
        self.note_tabled(page);
        self.slots.set(page.0 as usize, !slot);
        self.owners.set(slot as usize, page.0);
        self.valid[(slot >> 6) as usize] |= 1 << (slot & 63);
        self.counts[block as usize] += size as u16;
        if let PageSource::Host = source {
            self.units[unit.0 as usize].valid += size;
        }
        let packing = self.packing.as_mut().expect("it is packed");
        packing.add(block, 1, size);
        (slot, u32::from(packing.filled[block as usize]))
    }

    /// Puts at least `count` granules of the victim's valid pages behind the unit's other moved ones, if it has as many.
    pub(super) fn copy_packed(&mut self, unit: Unit, victim: Victim, count: u32) -> Copied {
        let (base, together) = (victim.block << self.page_bits, self.geometry.program_pages * self.granules());
        let end = self.packing.as_ref().map_or(0, |packing| u32::from(packing.used[victim.block as usize]));
        let (mut next, mut size, mut sensed, mut last) = (victim.next, 0, victim.sensed, 0);
        let mut moved = Moved::default();
        while size < count && next < end {
            let word = ((base | next) >> 6) as usize;
            let rest = self.valid[word] & u64::MAX << (next & 63);
            if rest == 0 {
                next = (next | 63) + 1;
                continue;
            }
            next = (next & !63) + rest.trailing_zeros();
            let page = Lpn(self.owners.get((base | next) as usize));
            self.valid[word] &= !(1 << (next & 63));
            let (sense, each) = (self.sense_of(base | next).1, self.size_of(page));
            moved.reads += u32::from(sense != sensed);
            sensed = sense;
            let source = PageSource::Collection;
            if !self.fits(self.units[unit.0 as usize].collection, each) {
                moved.programs += u32::from(self.finish(unit, source));
            }
            let (slot, ends) = self.put_behind(unit, source, page, each);
            moved.programs += ends / together - (ends - each) / together;
            (last, size, next) = (slot, size + each, next + 1);
        }
        moved.to = self.sense_of(last);
        let packing = self.packing.as_mut().expect("it is packed");
        packing.moved += size;
        moved.pages = packing.moved / packing.granules;
        packing.moved %= packing.granules;
        Copied { moved, next, size, sensed }
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;
    use testkit::Random;

    use super::super::collection::CollectionSpec;
    use super::super::geometry::Geometry;
    use super::*;

    /// Four dies that hold so many pages and `spare` millionths more, of which an eighth is always left.
    fn packed(pages: u32, spare: u64, together: u32) -> Mapping {
        let geometry = Geometry::four_dies(0, together);
        let geometry = geometry.with_spare(Bytes::from_kib(4).times(pages.into()), spare);
        Mapping::new(geometry, CollectionSpec::DEFAULT, None, None, pages, Some(12))
    }

    /// Pages programmed, counted as whole ones, for each of `count` writes at random.
    fn programmed(map: &mut Mapping, pages: u32, entropy: u8, count: u32, numbers: &mut Random) -> f64 {
        let (mut plan, mut programs) = (Vec::new(), 0);
        for _ in 0..count {
            map.pack(Lpn(numbers.below(pages.into()) as u32), entropy, &mut plan);
            programs += plan
                .drain(..)
                .map(|op| match op {
                    FlashOp::Program(_) => 1,
                    FlashOp::Move(_, moved) => moved.programs,
                    FlashOp::Erase(..) => 0,
                })
                .sum::<u32>();
        }
        f64::from(programs * map.geometry.program_pages) / f64::from(count)
    }

    /// What compression saves is spare room: pages are moved as often as on a drive that compresses nothing and has as much
    /// more spare. Theory holds for that one: see `write_amplification_follows_theory`.
    #[test]
    fn what_compression_saves_is_spare_room_for_collection() {
        let pages = 4 * 128 * 256;
        // Of 32 granules 32, 27 and 16 are left: 8 % of spare become 28 % and 116 %.
        for (entropy, left, spare) in [(100, 1.0, 80_000), (84, 27.0 / 32.0, 280_000), (50, 0.5, 1_160_000)] {
            let (mut map, mut numbers) = (packed(pages, 80_000, 2), Random::new(7));
            let geometry = packed(pages, spare, 2).geometry;
            let mut plain = Mapping::new(geometry, CollectionSpec::DEFAULT, None, None, pages, None);
            let [mine, its] = [(&mut map, entropy), (&mut plain, 100)].map(|(map, entropy)| {
                (0..pages).for_each(|page| _ = map.pack(Lpn(page), entropy, &mut Vec::new()));
                programmed(map, pages, entropy, 3 * pages, &mut numbers);
                programmed(map, pages, entropy, pages, &mut numbers)
            });
            let ratio = mine / left / its;
            assert!((0.96..=1.05).contains(&ratio), "{entropy} % left: {mine:.3} programs a page, {its:.3} without");
        }
    }

    #[test]
    fn a_block_takes_as_many_compressed_pages_as_fit_and_a_page_is_in_no_two() {
        let mut map = packed(4 * 128 * 30, 300_000, 1);
        let mut plan = Vec::new();
        // Ten granules each: 3 pages of ten, and what is left of a flash page goes to the next.
        (0..4 * 16).for_each(|page| _ = map.pack(Lpn(page), 31, &mut plan));
        assert_eq!(plan.len(), 20, "64 pages of 10 granules fill twenty flash pages of 32 to the end");
        let mut map = packed(4 * 128 * 30, 300_000, 1);
        (0..4 * 500).for_each(|page| _ = map.pack(Lpn(page), 31, &mut Vec::new()));
        let packing = map.packing.as_ref().unwrap();
        let full: Vec<_> = (0..map.counts.len()).filter(|&block| map.is_closed(block as u32)).collect();
        assert!(
            !full.is_empty() && full.iter().all(|&block| packing.used[block] == 409),
            "4,096 granules hold 409 times ten"
        );
    }

    /// Any mix of pages, sizes and trims, also where hardly anything is spare.
    #[test]
    fn whatever_is_written_all_pages_are_kept_and_no_block_holds_more_than_fits() {
        for seed in 0..12 {
            let mut numbers = Random::new(seed);
            let together = [1, 2, 4][numbers.place(3)];
            let (pages, spare) = (4 * 128 * (20 + numbers.below(30) as u32), 200_000 + 50_000 * numbers.below(3));
            let mut map = packed(pages, spare, together);
            let mut plan = Vec::new();
            for step in 0..60_000 {
                let page = Lpn(numbers.below(pages.into()) as u32);
                match numbers.below(50) {
                    0 => map.trim(page),
                    1 => map.pad(&mut plan),
                    _ => {
                        // All sizes in turn, or one for long.
                        let entropy = if step / 10_000 % 2 == 0 { numbers.below(101) } else { seed * 9 };
                        map.pack(page, entropy as u8, &mut plan);
                        assert!(map.place_of(page).is_some(), "seed = {seed}, step {step}");
                    }
                }
                plan.clear();
                if step % 15_000 == 0 {
                    map.check();
                }
            }
            map.check();
            let packing = map.packing.as_ref().unwrap();
            let full = u32::from(*packing.filled.iter().max().unwrap());
            assert!(full <= map.block_size(), "seed = {seed}: {full} granules of {}", map.block_size());
            let mut clone = packed(pages, spare, together);
            clone.clone_from(&map);
            clone.check();
            for entropy in [10, 90] {
                let page = Lpn(numbers.below(pages.into()) as u32);
                let (mut mine, mut its) = (Vec::new(), Vec::new());
                assert_eq!(map.pack(page, entropy, &mut mine), clone.pack(page, entropy, &mut its));
                assert_eq!((mine, map.digest()), (its, clone.digest()), "seed = {seed}: a clone goes the same way");
            }
        }
    }
}
