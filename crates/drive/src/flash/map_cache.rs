//! Which parts of the page map the controller has at hand.

use std::collections::VecDeque;
use std::ops::Range;

use block::Bytes;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

use super::held_tables::TablesSpec;
use super::operation::Lpn;
use crate::divisor::Divisor;

/// How the map is kept where the controller's memory does not hold all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCacheSpec {
    /// The controller's memory for the map.
    pub size: Bytes,
    pub extent: Bytes,
    /// What one mapping page takes in flash, and so at most here.
    pub page: Bytes,
    /// Logical pages that one mapping page describes.
    pub entries: u32,
    /// Where reads find the map in tables that are held elsewhere; none where they know of extents and hold nothing.
    pub tables: Option<TablesSpec>,
}

impl MapCacheSpec {
    /// How many mapping pages describe so many logical pages.
    pub fn regions(&self, pages: u64) -> u64 {
        pages.div_ceil(u64::from(self.entries))
    }
}

/// The controller's memory for the page map, the whole of which is kept in flash.
///
/// The map is cut into *regions*, each described by one mapping page. A region whose pages were written
/// in order is one extent, which is always at hand. Every write out of order breaks an extent in two and
/// adds its own, until a plain table is smaller. While all that is scattered fits in memory, nothing else
/// happens. Then a region that is not here must be read from flash before a page of it can be found, and
/// one that must make room is written back if it was changed. So random writes make later reads slower
/// until the region is written in order again.
///
/// Only writes bring regions here. A read uses what it fetched and lets it go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MapCache {
    spec: MapCacheSpec,
    /// Extents at which a plain table is smaller.
    extents_max: u32,
    /// Logical pages that one mapping page describes.
    entries: Divisor,
    regions: Vec<Region>,
    /// A bit for each region of which no part can be found but in flash.
    missing: Vec<u64>,
    /// The regions that are here, the first to make room first.
    resident: VecDeque<u32>,
    /// What those take.
    used: Bytes,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Region {
    extents: u32,
    /// The page after the one last written.
    next: u32,
    /// Whether all pages before `next` were written in order.
    from_start: bool,
    resident: bool,
    changed: bool,
}

/// What flash must do before a page of the map can be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The region whose mapping page must be read first.
    pub fetch: Option<u32>,
    /// A region whose mapping page must be written to make room.
    pub write_back: Option<u32>,
}

impl MapCache {
    /// The cache for the map of `pages` logical pages, nothing of it written yet.
    pub fn new(spec: MapCacheSpec, pages: u32) -> Self {
        let regions = spec.regions(pages.into()) as usize;
        Self {
            extents_max: spec.page.div(spec.extent) as u32,
            entries: Divisor::from(u64::from(spec.entries)),
            regions: vec![Region::default(); regions],
            missing: vec![0; regions.div_ceil(64)],
            resident: VecDeque::new(),
            used: Bytes::ZERO,
            spec,
        }
    }

    /// How many mapping pages the whole map has.
    pub fn regions(&self) -> u32 {
        self.regions.len() as u32
    }

    #[inline]
    pub fn region_of(&self, page: Lpn) -> u32 {
        self.entries.divide_word(page.0)
    }

    /// Whether the mapping page of a region must be read from flash before a page of it can be found.
    #[inline]
    pub fn misses(&self, region: u32) -> bool {
        self.missing[(region >> 6) as usize] >> (region & 63) & 1 == 1
    }

    /// Whether a region is in the controller's memory because it was changed.
    #[inline]
    pub fn is_resident(&self, region: u32) -> bool {
        self.regions[region as usize].resident
    }

    /// Has at hand soon what changing the entry of `page` will need.
    #[inline]
    pub fn call(&self, page: Lpn) {
        self.call_region(self.region_of(page));
    }

    /// Has a region's state at hand soon.
    #[inline]
    pub fn call_region(&self, region: u32) {
        prefetch_index(&self.regions, region as usize);
    }

    /// The region that will make room after so many others, if none of them is written to meanwhile.
    #[inline]
    pub fn expected_out(&self, after: usize) -> Option<u32> {
        self.resident.get(after).copied()
    }

    /// Changes the map's entry of `page`; what flash must do for that.
    #[inline(always)]
    pub fn write(&mut self, page: Lpn) -> Need {
        let (number, offset) = self.entries.split_word(page.0);
        let before = self.regions[number as usize];
        let after = self.rewritten(before, offset);
        self.regions[number as usize] = after;
        if after.extents == before.extents && (before.resident || after.extents == 0) {
            return Need::default();
        }
        self.hold(number, before, after)
    }

    /// Whether no part of the map takes memory: all that was written was written in order.
    pub fn is_in_order(&self) -> bool {
        self.regions.iter().all(|region| region.extents == 0 && !region.resident)
    }

    /// Whether writes from `page` on break no extent, as long as all behind it is in order.
    pub fn goes_on_at(&self, page: Lpn) -> bool {
        let (number, offset) = (page.0 / self.spec.entries, page.0 % self.spec.entries);
        let region = self.regions[number as usize];
        region.extents == 0 && (offset == 0 || offset == region.next && region.from_start)
    }

    /// Changes the map's entries of so many pages from one that it [goes on at](Self::goes_on_at), for which flash has
    /// nothing to do.
    pub fn write_in_order(&mut self, first: Lpn, pages: u32) {
        let (mut at, end, entries) = (first.0, first.0 + pages, self.spec.entries);
        while at < end {
            let (number, offset) = (at / entries, at % entries);
            at = ((number + 1) * entries).min(end);
            let region = &mut self.regions[number as usize];
            region.from_start |= offset == 0;
            region.next = at - number * entries;
            region.changed = true;
        }
    }

    /// What becomes of a region in which the page at `offset` is written.
    #[inline]
    fn rewritten(&self, mut region: Region, offset: u32) -> Region {
        // Behind the last page, or that page again, as one that is written in parts.
        let continues = region.next.wrapping_sub(offset) <= 1;
        region.from_start = offset == 0 || continues && region.from_start;
        region.next = offset + 1;
        region.changed = true;
        if region.from_start && region.next == self.spec.entries {
            region.extents = 0;
        } else if !continues && (offset > 0 || region.extents > 0) {
            region.extents = (region.extents + 2).min(self.extents_max);
        }
        region
    }

    /// Cuts pages where another region begins: the number of each region, and those of its pages.
    pub fn by_region(&self, pages: Range<u32>) -> impl Iterator<Item = (u32, Range<u32>)> + use<> {
        let (mut at, entries) = (pages.start, self.spec.entries);
        std::iter::from_fn(move || {
            (at < pages.end).then(|| {
                let region = at / entries;
                let first = std::mem::replace(&mut at, ((region + 1) * entries).min(pages.end));
                (region, first..at)
            })
        })
    }

    /// Forgets all entries of a region, which is one extent again, whatever it was.
    pub fn trim_region(&mut self, number: u32) {
        let region = &mut self.regions[number as usize];
        let extents = std::mem::take(&mut region.extents);
        (region.next, region.from_start, region.changed) = (0, false, true);
        if region.resident {
            self.used = self.used - self.cost(extents);
        }
        self.missing[(number >> 6) as usize] &= !(1 << (number & 63));
    }

    /// Forgets entries of a region from the page on that is `first`; what flash must do for that.
    pub fn trim_part(&mut self, first: Lpn) -> Need {
        let (number, offset) = self.entries.split_word(first.0);
        let before = self.regions[number as usize];
        let after = Region {
            extents: (before.extents + 2).min(self.extents_max),
            from_start: before.from_start && offset >= before.next,
            changed: true,
            ..before
        };
        self.regions[number as usize] = after;
        self.hold(number, before, after)
    }

    /// Makes room for a region whose extents have changed or that is not here.
    #[inline(never)]
    fn hold(&mut self, number: u32, before: Region, after: Region) -> Need {
        let fetch = (before.extents > 0 && !before.resident).then_some(number);
        if before.resident {
            self.used = self.used - self.cost(before.extents);
        } else {
            self.resident.push_back(number);
        }
        self.regions[number as usize].resident = true;
        self.missing[(number >> 6) as usize] &= !(1 << (number & 63));
        self.used += self.cost(after.extents);
        let mut write_back = None;
        while self.used > self.spec.size && self.resident.len() > 1 && write_back.is_none() {
            write_back = self.evict();
        }
        Need { fetch, write_back }
    }

    /// Lets the first region go; it, if it must be written back.
    fn evict(&mut self) -> Option<u32> {
        let number = self.resident.pop_front()?;
        let extents = self.regions[number as usize].extents;
        self.used = self.used - self.cost(extents);
        let region = &mut self.regions[number as usize];
        let write_back = region.changed && extents > 0;
        region.resident = false;
        region.changed = false;
        self.missing[(number >> 6) as usize] |= u64::from(extents > 0) << (number & 63);
        write_back.then_some(number)
    }

    #[inline]
    fn cost(&self, extents: u32) -> Bytes {
        self.spec.extent.times(u64::from(extents)).min(self.spec.page)
    }

    /// Forgets all, as the map does when the drive is purged.
    pub fn purge(&mut self) {
        self.regions.fill(Region::default());
        self.missing.fill(0);
        self.resident.clear();
        self.used = Bytes::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory for eight extents; from four on, a region is a table.
    const SPEC: MapCacheSpec =
        MapCacheSpec { size: Bytes::new(64), extent: Bytes::new(8), page: Bytes::new(32), entries: 8, tables: None };

    fn cache() -> MapCache {
        let mut cache = MapCache::new(SPEC, 80);
        for page in 0..80 {
            assert_eq!(cache.write(Lpn(page)), Need::default(), "in order, page {page}");
        }
        cache
    }

    #[test]
    fn what_was_written_in_order_is_always_at_hand() {
        let cache = cache();
        assert!((0..10).all(|region| !cache.misses(region)));
        assert_eq!(cache.used, Bytes::ZERO);
    }

    #[test]
    fn pages_that_are_written_in_parts_in_order_stay_in_order() {
        let mut cache = MapCache::new(SPEC, 80);
        for part in 0..160 {
            assert_eq!(cache.write(Lpn(part / 2)), Need::default(), "half a page, {part}");
        }
        assert!(cache.is_in_order() && cache.goes_on_at(Lpn(72)));
    }

    #[test]
    fn extents_fit_until_memory_is_full_and_then_the_oldest_region_is_written_back() {
        let mut cache = cache();
        for region in 0..4 {
            assert_eq!(cache.write(Lpn(region * 8 + 3)), Need::default(), "two extents each: region {region}");
        }
        assert_eq!(cache.write(Lpn(4 * 8 + 3)), Need { fetch: None, write_back: Some(0) });
        assert!(cache.misses(0) && !cache.misses(1));
        assert_eq!(cache.write(Lpn(5)), Need { fetch: Some(0), write_back: Some(1) });
    }

    #[test]
    fn a_region_never_takes_more_than_its_table() {
        let mut cache = cache();
        for page in [1, 5, 3, 7, 1, 6, 2] {
            cache.write(Lpn(page));
        }
        assert_eq!(cache.used, SPEC.page);
    }

    #[test]
    fn writing_on_from_the_last_page_breaks_nothing_more() {
        let mut cache = cache();
        for page in 2..6 {
            cache.write(Lpn(page));
        }
        assert_eq!(cache.used, SPEC.extent.times(2));
    }

    #[test]
    fn writing_in_order_makes_a_region_whole_again() {
        let mut cache = cache();
        for region in 0..5 {
            cache.write(Lpn(region * 8 + 3));
        }
        assert!(cache.misses(0));
        for page in 0..8 {
            cache.write(Lpn(page));
        }
        assert!(!cache.misses(0));
        assert_eq!(cache.used, SPEC.extent.times(6), "three other regions are here");
    }

    #[test]
    fn trims_of_all_that_a_mapping_page_describes_make_it_one_extent_and_others_break_it() {
        let mut cache = cache();
        let cut: Vec<_> = cache.by_region(5..17).collect();
        assert_eq!(cut, [(0, 5..8), (1, 8..16), (2, 16..17)]);
        for region in 0..5 {
            cache.write(Lpn(region * 8 + 3));
        }
        assert!(cache.misses(0) && !cache.misses(1));
        assert_eq!(cache.trim_part(Lpn(5)), Need { fetch: Some(0), write_back: Some(1) });
        assert_eq!(
            cache.used,
            SPEC.page + SPEC.extent.times(6),
            "four extents are a table, beside three other regions"
        );
        (0..3).for_each(|region| cache.trim_region(region));
        assert!((0..3).all(|region| !cache.misses(region)));
        assert_eq!(cache.used, SPEC.extent.times(4), "two regions are left");
        assert_eq!(cache.write(Lpn(0)), Need::default());
        assert!(cache.regions[0].from_start, "it is written in order anew");
    }

    /// Whatever is written or trimmed, what is used is the sum of what is here and within the memory.
    #[test]
    fn memory_is_never_overdrawn() {
        let mut random = testkit::Random::new(5);
        let mut cache = cache();
        for _ in 0..10_000 {
            let page = Lpn(random.below(80) as u32);
            let need = match random.below(8) {
                0 => cache.trim_part(page),
                1 => {
                    cache.trim_region(cache.region_of(page));
                    Need::default()
                }
                _ => cache.write(page),
            };
            let sum: Bytes =
                cache.resident.iter().map(|&region| cache.cost(cache.regions[region as usize].extents)).sum();
            assert_eq!(cache.used, sum);
            for (number, region) in (0..).zip(&cache.regions) {
                assert_eq!(cache.misses(number), region.extents > 0 && !region.resident, "region {number}");
            }
            let most = SPEC.size + SPEC.page.times(2);
            assert!(cache.used <= most, "one request evicts one region that was changed, be it smaller than its own");
            // The region that has been here for longest goes, even if it is the one that has just grown.
            let region = cache.region_of(page);
            assert!(!cache.misses(region) || need.write_back == Some(region));
        }
    }
}
