//! Random writes without time and without names.
//!
//! Where every page is as likely to be written as any other, nothing that flash does depends on which pages a block holds,
//! only on how many of them are valid. So a write makes some valid page invalid, all alike, what is written and moved bears
//! no name and has no slot, and blocks are no more than counts. In the end it is [said by chance](super::naming) which slots of a
//! block are valid, and those pages that were written are given to slots, all orders equally likely. Pages that were not
//! written keep their unit and their order. What comes of it has the distribution of what the same writes leave that are carried
//! out, and is approximate in the buffer, the clock, and in which of a block's slots are valid while it is written or emptied.
//!
//! Nearly all of what a write costs otherwise is memory: the map's tables, in which the pages that collection moves lie
//! scattered, are written once, at the end.

use block::{Bytes, Lba, Nanos, Seed};

use super::buffer::SectorMask;
use super::construct::Writer;
use super::counted::{Counted, UNNAMED};
use super::geometry::Geometry;
use super::mapping::Mapping;
use super::nand::NandTimes;
use super::operation::{Cells, FlashOp, Lpn, PageLocation};
use super::power_cut::BufferedPage;
use super::{FlashDrive, FlashSpec};
use crate::draw::Draws;
use crate::shared_table::Numbers;

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
        let mut counted = Counted::new(&drive.mapping, drive.map_base, seed.split("pages"));
        // Who is where is looked up nowhere here, and said anew at the end.
        let lent = drive.mapping.lent();
        drive.mapping.own_by(Mapping::without_tables, Mapping::copy_without_tables);
        let extents = std::mem::take(&mut drive.mapping.extents);
        let mut regions = Draws::new(seed.split("regions"));
        let shares = DieShares::of(&drive.spec);
        // What the map's memory has to do is asked before each.
        let most = if drive.map_cache.is_some() { 1 } else { drive.mapping.pages_together() };
        let (mut done, mut waits) = (0, false);
        while done < writes && !drive.mapping.is_read_only() {
            let mut left = u64::from(most).min(writes - done) as u32;
            if drive.map_cache.is_some() {
                drive.claim_region(Lpn(regions.below(drive.map_base)), &mut counted, shares);
                if drive.mapping.is_read_only() {
                    break;
                }
            }
            counted.lose(&mut drive.mapping, left);
            done += u64::from(left);
            while left > 0 {
                let (count, is_full) = drive.put_together(left, &mut counted, shares);
                (left, waits) = (left - count, !is_full);
            }
        }
        let page = drive.spec.geometry.page;
        drive.counters.count_writes(Lba::new(0), Lba::at(page.times(writes)), page);
        drive.counters.host_rejected += page.times(writes - done);
        drive.written_to = Lba::new(u64::MAX);
        drive.is_noted &= done == 0;
        drive.mapping.name_pages(&counted, &extents, lent.as_deref(), seed.split("names"));
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
        self.mapping.find_places();
    }

    /// As [`FlashDrive::claim_map`] does for a write of `page`.
    fn claim_region(&mut self, page: Lpn, counted: &mut Counted, shares: DieShares) {
        let Some(cache) = &mut self.map_cache else { return };
        let need = cache.write(page);
        if let Some(region) = need.write_back {
            let page = Lpn(self.map_base + region);
            counted.lose_of_map(&mut self.mapping, page);
            self.put_of_map(page, counted, shares);
        }
        if let Some(region) = need.fetch {
            let is_here = self.holds_table(region);
            // Where tables are looked up that have no page of their own yet, the first page that they describe is read.
            let is_looked_up = self.spec.map_cache.is_some_and(|spec| spec.tables.is_some());
            let is_there = is_looked_up || counted.holds(Lpn(self.map_base + region));
            self.nand.pages_read += u64::from(!is_here && is_there);
        }
    }

    /// Has the map decide where a page of its own goes of which there is no copy, and counts what that takes.
    fn put_of_map(&mut self, page: Lpn, counted: &mut Counted, shares: DieShares) {
        self.plan.clear();
        self.mapping.put(page, &mut self.plan, counted);
        self.count_plan(1, shares);
    }

    /// Has the map decide where up to so many pages go, and counts what that takes; how many do, and whether nothing waits for
    /// its flash page to be full then.
    #[inline]
    fn put_together(&mut self, most: u32, counted: &mut Counted, shares: DieShares) -> (u32, bool) {
        self.plan.clear();
        let put = self.mapping.put_together(UNNAMED, most, &mut self.plan, counted);
        self.count_plan(put.0, shares);
        put
    }

    /// Counts what so many pages take.
    #[inline]
    fn count_plan(&mut self, pages: u32, shares: DieShares) {
        if let Some(pacing) = &mut self.pacing {
            pacing.note_together(&self.plan, pages);
        }
        self.nand.count(self.now, &self.plan);
        self.now += shares.time(&self.plan);
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

impl Mapping {
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

#[cfg(test)]
mod tests {
    use super::super::naming::valid_slots;
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
