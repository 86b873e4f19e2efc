//! Random writes without time and without names.
//!
//! Where every page is as likely to be written as any other, nothing that flash does depends on which pages a block holds,
//! only on how many of them are valid. So a write makes some valid page invalid, all alike, or is the
//! first of its page, as often as pages that are nowhere are drawn; what is written and moved bears
//! no name and has no slot, and blocks are no more than counts. In the end it is [said by chance](super::naming) which slots of a
//! block are valid; who of the pages that were written is in which of them, all orders equally likely, is
//! [found when it is asked](super::drawn). Pages that were not written keep their unit and their order. What comes of it has the
//! distribution of what the same writes leave that are carried out, and is approximate in the buffer, the clock, and in which of a
//! block's slots are valid while it is written or emptied.
//!
//! Nearly all of what a write costs otherwise is memory: the map's tables, in which the pages that collection moves lie
//! scattered. These are not written here.

use block::{Bytes, Lba, Nanos, Seed};

use super::buffer::SectorMask;
use super::construct::Writer;
use super::counted::Counted;
use super::geometry::Geometry;
use super::losses::Losses;
use super::mapping::Mapping;
use super::marks::is_marked;
use super::nand::NandTimes;
use super::operation::{Cells, FlashOp, Lpn, PageLocation, UNNAMED};
use super::power_cut::BufferedPage;
use super::{FlashDrive, FlashSpec};
use crate::draw::Draws;
use crate::shared_table::Numbers;

/// Where more than one part in so many of a drive was written in order since it was written at random, the order is kept.
const IN_ORDER_PART: u32 = 16;

impl FlashDrive {
    /// Whether the drive can be brought into a state that writes of `block` each leave, at random over all of it: these are
    /// its pages or parts of them, all pages take as much room, and nothing is in flight.
    pub fn can_write_at_random(&self, block: Bytes) -> bool {
        let whole = Lba::at(self.spec.capacity);
        self.zoned.is_none()
            && !self.mapping.is_packed()
            && block > Bytes::ZERO
            && self.spec.geometry.page.get().is_multiple_of(block.get())
            && whole.get().is_multiple_of(block.sectors())
            && self.can_write_untimed(Lba::new(0), whole)
    }

    /// Brings the drive into a state that so many writes of `block` each leave, everywhere alike and without a pause, once it
    /// has come to rest: with each seed another draw of it. The clock goes on as if all dies were busy all the time, so that
    /// data is about as old as it would be; the drive gets no warmer. Of writes of less than a page, no page becomes whole.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_at_random).
    pub fn write_at_random(&mut self, writes: u64, block: Bytes, seed: Seed) {
        assert!(self.can_write_at_random(block), "random writes need a drive at rest");
        let page = self.spec.geometry.page;
        let merged = if block < page { self.merged(writes, seed.split("merged")) } else { 0 };
        let pages = writes - merged;
        self.program_all();
        let mut writer = Writer::new(self);
        let drive = &mut *writer.drive;
        let count = |mapping: &Mapping| Counted::new(mapping, drive.map_base, seed.split("pages"));
        let mut counted = count(&drive.mapping);
        // With one unit alone, nothing tells pages that were written since from those that were moved.
        let is_alone = drive.mapping.drawn.is_some() && drive.mapping.units.len() == 1;
        if is_alone || counted.in_order > drive.map_base / IN_ORDER_PART {
            drive.mapping.name_all(seed.split("all"));
            counted = count(&drive.mapping);
        }
        // Who is where is looked up nowhere here, and drawn anew at the end.
        let lent = drive.mapping.lent();
        drive.mapping.own_by(Mapping::without_tables, Mapping::copy_without_tables);
        let before = drive.mapping.leave(lent.as_deref(), &counted);
        drop(lent);
        let mut regions = Draws::new(seed.split("regions"));
        let shares = DieShares::of(&drive.spec);
        // What the map's memory has to do is asked before each.
        let is_plain = drive.map_cache.is_none() && counted.is_without_map();
        let geometry = &drive.mapping.geometry;
        let losses = Losses::new(geometry.blocks_per_plane * geometry.pages_per_block).filter(|_| is_plain);
        let most = if drive.map_cache.is_some() { 1 } else { drive.mapping.pages_together(losses.is_some()) };
        let (mut done, mut waits) = (0, false);
        while done < pages && !drive.mapping.is_read_only() {
            let due = pages - done;
            if drive.map_cache.is_some() {
                drive.claim_region(Lpn(regions.below(drive.map_base)), &mut counted, shares);
                if drive.mapping.is_read_only() {
                    break;
                }
            }
            let mut lost = match losses.as_ref().filter(|losses| due >= losses.most(&drive.mapping)) {
                Some(losses) => counted.lose_everywhere(&mut drive.mapping, losses),
                None => counted.lose(&mut drive.mapping, due.min(u64::from(most)) as u32),
            };
            let surplus = u64::from(lost.pages).saturating_sub(due) as u32;
            counted.give_back(&mut drive.mapping, &mut lost, surplus);
            if block < page {
                // What was not written of a page is read before.
                let read = lost.pages - lost.new;
                drive.nand.pages_read += u64::from(read);
                drive.now += shares.read.times(read.into());
            }
            let mut left = lost.pages;
            while left > 0 {
                if left > most && drive.mapping.is_read_only() {
                    counted.give_back(&mut drive.mapping, &mut lost, left);
                    break;
                }
                let (count, is_full) = drive.put_together(left.min(most), &mut counted, shares);
                (left, waits) = (left - count, !is_full);
                done += u64::from(count);
            }
        }
        drive.counters.count_writes(Lba::new(0), Lba::at(block.times(writes)), block);
        drive.counters.host_rejected += block.times(pages - done);
        drive.written_to = Lba::new(u64::MAX);
        drive.is_noted &= done == 0;
        drive.mapping.draw_places(&counted, before, seed.split("places"));
        if waits {
            writer.pending = writer.drive.mapping.unfilled(seed.split("unfilled"));
        }
        writer.finish();
        self.program_all();
    }

    /// How many of so many writes of parts of pages fall on one that waits in the buffer for the rest of it.
    fn merged(&self, writes: u64, seed: Seed) -> u64 {
        let (pages, waiting) = (u128::from(self.map_base), u128::from(self.spec.buffer_partial_pages));
        let rounding = u128::from(Draws::new(seed).below(self.map_base));
        ((u128::from(writes) * waiting.min(pages - 1) + rounding) / pages) as u64
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
    fn unfilled(&mut self, seed: Seed) -> Vec<BufferedPage> {
        let host = self.units[self.next_unit as usize].host;
        let filled = host.next % self.geometry.program_pages;
        let slots: Vec<u32> = (host.next - filled..host.next)
            .map(|page| host.block << self.page_bits | page)
            .filter(|slot| is_marked(&self.valid, *slot))
            .collect();
        let mut draws = Draws::new(seed);
        for slot in &slots {
            if self.owners.get(*slot as usize) == UNNAMED.0 {
                self.name_slot(*slot, &mut draws);
            }
        }
        slots
            .into_iter()
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
    use block::{Op, Request, SECTOR, Tag};

    use super::super::counted::Lost;
    use super::super::marks::valid_slots;
    use super::*;
    use crate::Drive;
    use crate::preset::{Preset, Spec};

    fn filled(changes: &str, percent: u64) -> FlashDrive {
        let Spec::Flash(spec) = Preset::find(changes).unwrap().spec else { panic!("{changes} is flash") };
        let mut drive = FlashDrive::new(spec);
        let end = Lba::at(PAGE.times(spec.capacity.div(PAGE) * percent / 100));
        drive.fill_untimed(Lba::new(0), end, Bytes::from_mib(1), 100);
        drive
    }

    fn full(changes: &str) -> FlashDrive {
        filled(changes, 100)
    }

    const SMALL: &str = "capacity.user=96MiB&channels=2&dies_per_channel=2&pages_per_block=96&capacity.spare=40%";

    const PAGE: Bytes = Bytes::from_kib(4);

    const KINDS: [&str; 3] = ["x25-m?map.cache=4KiB&", "ssd-320?", "990-pro?slc.fixed=2MB&slc.dynamic=4MB&"];

    /// Writes pages at random in time, as the host does; and some in order.
    fn write_timed(drive: &mut FlashDrive, seed: u64, random: u32, in_order: u32) {
        let mut draws = testkit::Random::new(seed);
        let first = draws.below(u64::from(drive.map_base - in_order)) as u32;
        let all = u64::from(drive.map_base);
        let any = (0..random).map(|_| draws.below(all) as u32);
        let sectors = drive.page_sectors;
        for page in any.chain(first..first + in_order) {
            let lba = Lba::new(u64::from(page) * u64::from(sectors));
            drive.submit(drive.now(), Tag(0), Request { op: Op::Write, lba, sectors, ..Request::FLUSH });
            drive.complete(Nanos::MAX);
        }
    }

    /// Which page is in each valid slot, by the map's tables, after all have been named; and the slots of pages that were not written.
    fn check(drive: &FlashDrive, told: &str) {
        let mut mapping = (*drive.mapping).clone();
        let before: Vec<Option<u32>> = (0..mapping.slots.len() as u32).map(|page| mapping.slot_of(Lpn(page))).collect();
        let (tabled, kept): (Vec<bool>, Vec<bool>) = (0..mapping.slots.len() as u32)
            .map(|page| {
                (
                    mapping.slots.get(page as usize) > 1,
                    mapping
                        .drawn
                        .as_ref()
                        .is_some_and(|drawn| drawn.has(Lpn(page)) && drawn.origin_of_kept(Lpn(page)).is_some()),
                )
            })
            .unzip();
        let slots: Vec<u32> = valid_slots(&mapping.valid).collect();
        let held = (0..mapping.slots.len() as u32).filter(|page| mapping.holds(Lpn(*page))).count();
        assert_eq!(held, slots.len(), "{told}: as many pages are somewhere");
        assert!(
            before.iter().flatten().all(|slot| slots.binary_search(slot).is_ok()),
            "{told}: every page is in a valid slot"
        );
        mapping.name_all(Seed::new(1));
        let mut named = 0;
        for &slot in &slots {
            let page = mapping.owners.get(slot as usize);
            assert_eq!(mapping.slot_of(Lpn(page)), Some(slot), "{told}: page {page}");
            if tabled[page as usize] || kept[page as usize] {
                named += 1;
                assert_eq!(before[page as usize], Some(slot), "{told}: page {page} was found there");
            }
        }
        let is_full = held >= drive.map_base as usize;
        assert!(!is_full || named > slots.len() / 100, "{told}: {named} of {}", slots.len());
        let named = (0..mapping.slots.len() as u32).filter_map(|page| mapping.slot_of(Lpn(page))).count();
        assert_eq!(named, slots.len(), "{told}");
        assert_eq!(sums(&mapping).0 as usize, slots.len(), "{told}");
    }

    /// Places, tables, valid bits and counts agree, whatever else happened: other states made of it, writes in time.
    #[test]
    fn every_page_has_one_slot_of_its_own_and_every_valid_slot_a_page() {
        let begins = KINDS.iter().flat_map(|kind| [100, 0, 30].map(|percent| (kind, percent)));
        for (kind, percent) in begins {
            let mut drive = filled(&format!("{kind}{SMALL}"), percent);
            let kind = format!("{kind} of which {percent} % were written");
            for (seed, writes, timed, in_order) in [
                (1, 1, 0, 0),
                (2, 3_001, 2_000, 0),
                (3, 20_000, 500, 4_000),
                (4, 0, 300, 40),
                (5, 9_000, 0, 0),
                (6, 5, 1, 0),
            ] {
                drive.write_at_random(writes, PAGE, Seed::new(seed));
                assert!(drive.waiting.is_empty(), "{kind}");
                check(&drive, &format!("{kind} after {writes}"));
                write_timed(&mut drive, seed, timed, in_order);
                drive.complete(Nanos::MAX);
                check(&drive, &format!("{kind} after {writes} and {timed}"));
                if seed % 2 == 0 {
                    drive.lend();
                    drive = drive.clone();
                }
            }
            assert!(drive.mapping.moved().pages > 0, "{kind}");
        }
    }

    #[test]
    fn pages_that_were_not_written_stay_in_order() {
        let mut drive = full(&format!("x25-m?{SMALL}"));
        let before: Vec<_> = (0..drive.map_base).map(|page| drive.mapping.slot_of(Lpn(page))).collect();
        let writes = u64::from(drive.map_base / 20);
        drive.write_at_random(writes, PAGE, Seed::new(1));
        let same = before.iter().zip(0..).filter(|(slot, page)| **slot == drive.mapping.slot_of(Lpn(*page))).count();
        let most = before.len() - writes as usize * 9 / 10;
        assert!(
            same > before.len() * 17 / 20 && same <= most,
            "{same} of {}, of which {writes} were written",
            before.len()
        );
    }

    /// Whether in time or not: once all was written twice since a state in which much was in order, hardly anything is.
    #[test]
    fn what_was_written_at_random_since_is_in_order_no_more() {
        let one = "capacity.user=24MiB&channels=1&dies_per_channel=1&planes=1&pages_per_block=96&capacity.spare=40%";
        for size in [one, SMALL] {
            let mut drive = full(&format!("990-pro?{size}"));
            let (pages, row) =
                (drive.map_base, drive.mapping.units.len() as u32 * drive.mapping.geometry.program_pages);
            drive.write_at_random(u64::from(pages / 10), PAGE, Seed::new(3));
            let in_order = |drive: &FlashDrive| {
                let slots: Vec<_> = (0..pages).map(|page| drive.mapping.slot_of(Lpn(page)).unwrap()).collect();
                slots.windows(2).filter(|pair| pair[1].wrapping_sub(pair[0]) <= row).count() as u32
            };
            assert!(in_order(&drive) > pages / 3, "{size}: {} of {pages} at first", in_order(&drive));
            write_timed(&mut drive, 5, 2 * pages, 0);
            drive.write_at_random(u64::from(pages / 50), PAGE, Seed::new(4));
            check(&drive, size);
            assert!(in_order(&drive) < pages / 8, "{size}: {} of {pages}", in_order(&drive));
        }
    }

    const LARGE: &str = "capacity.user=320MiB&channels=1&dies_per_channel=2&pages_per_block=512&capacity.spare=65%";

    /// How many valid pages blocks hold, and units.
    fn sums(mapping: &Mapping) -> (u32, u32) {
        let blocks = (0..mapping.counts.len() as u32).map(|block| mapping.count(block)).sum();
        (blocks, mapping.units.iter().map(|unit| unit.valid).sum())
    }

    #[test]
    fn a_drive_that_wears_out_meanwhile_keeps_all_its_pages() {
        let worn = "rated_erases=12&reserve=2%&spread_max=2&least_worn_first=true";
        let mut drive = full(&format!("990-pro?{worn}&slc.fixed=0B&slc.dynamic=0B&{LARGE}"));
        drive.write_at_random(u64::from(100 * drive.map_base), PAGE, Seed::new(1));
        assert!(drive.mapping.is_read_only() && drive.counters.host_rejected > Bytes::ZERO);
        assert_eq!(sums(&drive.mapping), (drive.map_base, drive.map_base));
        assert_eq!(valid_slots(&drive.mapping.valid).count(), drive.map_base as usize);
        assert!((0..drive.map_base).all(|page| drive.mapping.slot_of(Lpn(page)).is_some()));
    }

    #[test]
    fn pages_that_are_lost_together_are_fewer_everywhere_and_can_be_given_back() {
        let drive = full(&format!("990-pro?slc.fixed=8MB&slc.dynamic=16MB&{LARGE}"));
        let (mut mapping, pages) = (drive.mapping.without_tables(), drive.map_base);
        let mut counted = Counted::new(&mapping, pages, Seed::new(2));
        let losses = Losses::new(mapping.geometry.blocks_per_plane * 512).unwrap();
        let (before, mut all) = (mapping.counts.clone(), 0);
        for _ in 0..1_000 {
            all += counted.lose_everywhere(&mut mapping, &losses).pages;
        }
        assert_eq!(sums(&mapping), (pages - all, pages - all));
        let full_blocks = || before.iter().zip(&mapping.counts).filter(|(before, _)| **before == 512);
        let left: Vec<u16> = full_blocks().map(|(_, now)| *now).collect();
        let mean = left.iter().map(|left| f64::from(*left)).sum::<f64>() / left.len() as f64;
        let expected = 512.0 * f64::from(pages - all) / f64::from(pages);
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean} of 512 left, {expected} expected");
        counted.give_back(&mut mapping, &mut Lost { pages: all, new: 0 }, all);
        assert_eq!(sums(&mapping), (pages, pages));
        assert!((0..before.len() as u32).all(|block| mapping.count(block) <= mapping.block_end(block)));
        assert!(mapping.counts.iter().zip(&counted.kept).all(|(count, kept)| *kept <= count & 0x7fff));
    }

    /// The last pages of which nobody has said where they are are found as well, among few or many others.
    #[test]
    fn all_of_a_drive_is_trimmed_and_leaves_nothing_valid() {
        let mut drive = full(&format!("x25-m?{SMALL}"));
        drive.write_at_random(20_000, PAGE, Seed::new(1));
        let half = drive.map_base / 2;
        write_timed(&mut drive, 1, 0, half);
        (0..drive.map_base).for_each(|page| drive.mapping.trim(Lpn(page)));
        assert_eq!(valid_slots(&drive.mapping.valid).count(), 0);
        assert!((0..drive.map_base).all(|page| drive.mapping.slot_of(Lpn(page)).is_none()));
    }

    /// Of a purged drive as many pages are written as that many draws hit, all as likely; and what was trimmed stays nowhere until
    /// it is written.
    #[test]
    fn pages_that_were_never_drawn_are_nowhere() {
        // Of units of 135 blocks, a 4096th is no whole number of pages.
        let large =
            "capacity.user=327MiB&channels=1&dies_per_channel=2&planes=1&pages_per_block=512&capacity.spare=65%";
        for (kind, size, percent) in
            [(KINDS[0], SMALL, 0), (KINDS[2], SMALL, 0), (KINDS[2], SMALL, 40), (KINDS[2], large, 0)]
        {
            let mut drive = filled(&format!("{kind}{size}"), percent);
            let pages = u64::from(drive.map_base);
            let nowhere = |drive: &FlashDrive, pages: std::ops::Range<u64>| {
                pages.filter(|page| !drive.mapping.holds(Lpn(*page as u32))).count() as f64
            };
            let first = pages * percent / 100;
            drive.write_at_random(2 * pages, PAGE, Seed::new(1));
            let expected = (pages - first) as f64 * (-2_f64).exp();
            assert_eq!(nowhere(&drive, 0..first), 0.0);
            for (part, share, error) in [(first..pages, 1.0, 0.04), (first..(first + pages) / 2, 0.5, 0.08)] {
                let found = nowhere(&drive, part);
                assert!((found / (expected * share) - 1.0).abs() < error, "{kind}: {found} of {expected} expected");
            }
            let tenth = pages / 10;
            (0..tenth).for_each(|page| drive.mapping.trim(Lpn(page as u32)));
            check(&drive, kind);
            drive.write_at_random(tenth, PAGE, Seed::new(2));
            check(&drive, kind);
            let found = nowhere(&drive, 0..tenth);
            assert!(
                (found / (tenth as f64 * (-0.1_f64).exp()) - 1.0).abs() < 0.03,
                "{kind}: {found} of {tenth} trimmed"
            );
            drive.write_at_random(30 * pages, PAGE, Seed::new(3));
            assert_eq!(nowhere(&drive, 0..pages), 0.0);
        }
    }

    /// Once all was written often, hardly any page is where it was, and pages of one flash page are all over the drive.
    #[test]
    fn pages_that_were_written_are_anywhere() {
        let mut drive = full(&format!("990-pro?{SMALL}"));
        drive.write_at_random(u64::from(8 * drive.map_base), PAGE, Seed::new(3));
        let slots: Vec<u32> = (0..drive.map_base).map(|page| drive.mapping.slot_of(Lpn(page)).unwrap()).collect();
        let pages = drive.mapping.geometry.pages();
        let near = slots.windows(2).filter(|pair| u64::from(pair[0].abs_diff(pair[1])) < pages / 20).count();
        assert!(near < slots.len() / 5, "{near} of {}", slots.len());
        let mut units = vec![0; drive.mapping.units.len()];
        slots
            .iter()
            .for_each(|slot| units[drive.mapping.unit_of_block(slot >> drive.mapping.page_bits).0 as usize] += 1);
        let each = slots.len() / units.len();
        assert!(units.iter().all(|pages| (each * 9 / 10..each * 11 / 10).contains(pages)), "{units:?}");
    }

    /// In lines, as large drives have them, everything is as it is in tables.
    #[test]
    fn tables_in_lines_say_the_same() {
        let made = |in_lines: bool| {
            let mut drive = full(&format!("x25-m?map.cache=4KiB&{SMALL}"));
            drive.write_at_random(20_000, PAGE, Seed::new(1));
            if in_lines {
                drive.mapping.put_in_lines();
            }
            write_timed(&mut drive, 7, 400, 100);
            if in_lines {
                drive.mapping.lend_tables();
            }
            let mut clone = drive.clone();
            write_timed(&mut clone, 8, 400, 0);
            let places: Vec<_> = (0..drive.map_base).map(|page| clone.mapping.slot_of(Lpn(page))).collect();
            (places, drive.digest(), clone.digest())
        };
        assert_eq!(made(true), made(false));
    }

    #[test]
    fn what_was_written_in_order_since_stays_in_order() {
        let mut drive = full(&format!("990-pro?{SMALL}"));
        drive.write_at_random(u64::from(2 * drive.map_base), PAGE, Seed::new(3));
        let half = drive.map_base / 2;
        write_timed(&mut drive, 1, 0, half);
        drive.write_at_random(u64::from(drive.map_base / 50), PAGE, Seed::new(4));
        let slots: Vec<u32> = (0..drive.map_base).map(|page| drive.mapping.slot_of(Lpn(page)).unwrap()).collect();
        let together = slots.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(together > slots.len() / 4, "{together} of {}", slots.len());
    }

    #[test]
    fn the_same_seed_leaves_the_same_and_another_another() {
        let made = |seed| {
            let mut drive = full(&format!("x25-m?cache=4KiB&{SMALL}"));
            drive.write_at_random(20_000, PAGE, Seed::new(seed));
            (drive.mapping.slots.clone(), drive.digest())
        };
        assert_eq!(made(1), made(1));
        assert!(made(1).0 != made(2).0 && made(1).1 != made(2).1);
    }

    #[test]
    fn only_a_drive_at_rest_is_written_at_random_without_time() {
        let mut drive = full(&format!("x25-m?{SMALL}"));
        assert!(drive.can_write_at_random(PAGE) && drive.can_write_at_random(SECTOR));
        assert!(!drive.can_write_at_random(PAGE.times(2)), "pages of which some belong together");
        assert!(!drive.can_write_at_random(SECTOR.times(3)), "parts that cross pages");
        drive.submit(drive.now(), Tag(0), Request::new(Op::Write, Lba::new(0), 8));
        assert!(!drive.can_write_at_random(PAGE), "a write is in flight");
    }
}
