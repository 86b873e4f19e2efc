//! Where written data waits for flash.

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::PagePart;
use super::free_slots::FreeSlots;
use super::operation::Lpn;

/// The drive's write buffer: slots of one page each.
///
/// A page that the host wrote whole goes on to flash at once and its slot is free again when it is
/// programmed. A page written in part waits for the rest, so that small sequential writes are put
/// together; if too many wait, the one that waited longest must go as it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// When slots that hold no partial page are free.
    free_at: FreeSlots,
    /// Those that were given back last, as long as all of them are free at one time: the pages of a flash page are.
    released: (Nanos, u32),
    /// Pages that were written in part, the one that waits longest first.
    partial: Vec<Partial>,
    partial_max: usize,
}

/// A bit for each sector of a page, of which there are at most 128.
pub type SectorMask = u128;

/// A page of which only some sectors were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    pub page: Lpn,
    /// Those that were written.
    pub sectors: SectorMask,
    /// When the last of them arrived.
    pub arrived: Nanos,
    /// Percent that compression leaves of them, the most of any.
    pub entropy: u8,
}

/// What a partial write brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Nothing: the page waits for more.
    Waits,
    /// The page is whole now and can be programmed; compression leaves so many percent of it.
    Whole(u8),
    /// The page waits, and another must go to flash for it: read, merged, programmed.
    Evicts(Partial),
}

impl Buffer {
    /// An empty buffer of so many slots, of which at most `partial_max` may hold partial pages.
    ///
    /// # Panics
    /// If nothing is left for whole pages.
    pub fn new(slots: usize, partial_max: usize) -> Self {
        assert!(partial_max < slots, "{partial_max} partial pages leave no slot of {slots} for whole ones");
        let released = (Nanos::ZERO, slots as u32);
        Self { free_at: FreeSlots::default(), released, partial: Vec::with_capacity(partial_max), partial_max }
    }

    /// Takes a slot; the time at which it is free.
    #[inline(always)]
    pub fn acquire(&mut self) -> Nanos {
        let (last, count) = &mut self.released;
        match self.free_at.first() {
            Some(first) if *count == 0 || first <= *last => {
                self.free_at.take();
                first
            }
            _ => {
                assert!(*count > 0, "whole pages and partial ones together never hold all slots");
                *count -= 1;
                *last
            }
        }
    }

    /// When the slot is free that would be taken next.
    #[inline]
    pub fn next(&self) -> Nanos {
        let (last, count) = self.released;
        match self.free_at.first() {
            Some(first) if count == 0 || first <= last => first,
            _ => last,
        }
    }

    /// Gives back a slot that is free from `when` on.
    #[inline]
    pub fn release(&mut self, when: Nanos) {
        if self.released.0 != when {
            let earlier = std::mem::replace(&mut self.released, (when, 0));
            if earlier.1 > 0 {
                self.free_at.add(earlier.0, earlier.1);
            }
        }
        self.released.1 += 1;
    }

    /// Forgets what was written of `page` in part, because it was written whole or trimmed.
    #[inline]
    pub fn supersede(&mut self, page: Lpn, now: Nanos) {
        if let Some(index) = self.partial.iter().position(|partial| partial.page == page) {
            self.partial.remove(index);
            self.release(now);
        }
    }

    /// Adds sectors of a page that arrived in a slot just acquired. `page_sectors` is how many make a page; compression leaves
    /// `entropy` percent of these.
    pub fn merge(&mut self, piece: PagePart, page_sectors: u32, arrived: Nanos, entropy: u8) -> Merged {
        let PagePart { page, first, sectors: count } = piece;
        let ones = |count: u32| if count == SectorMask::BITS { SectorMask::MAX } else { (1 << count) - 1 };
        let sectors = ones(count) << first;
        if let Some(index) = self.partial.iter().position(|partial| partial.page == page) {
            self.release(arrived);
            let partial = &mut self.partial[index];
            partial.sectors |= sectors;
            partial.arrived = arrived;
            partial.entropy = partial.entropy.max(entropy);
            let entropy = partial.entropy;
            if partial.sectors == ones(page_sectors) {
                self.partial.remove(index);
                return Merged::Whole(entropy);
            }
            return Merged::Waits;
        }
        let evicted = (self.partial.len() == self.partial_max).then(|| self.partial.remove(0));
        self.partial.push(Partial { page, sectors, arrived, entropy });
        evicted.map_or(Merged::Waits, Merged::Evicts)
    }

    /// Takes the partial page that waits longest.
    pub fn take_partial(&mut self) -> Option<Partial> {
        (!self.partial.is_empty()).then(|| self.partial.remove(0))
    }

    /// The pages that wait for the rest of them.
    pub fn partial(&self) -> &[Partial] {
        &self.partial
    }

    /// When all that was handed on to flash is there.
    pub fn drained(&self) -> Nanos {
        let last = Some(self.released).filter(|(_, count)| *count > 0);
        self.free_at.times().chain(last.map(|(when, _)| when)).max().unwrap_or(Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sector_of(page: u32, first: u32) -> PagePart {
        PagePart { page: Lpn(page), first, sectors: 1 }
    }

    #[test]
    fn a_full_buffer_waits_for_the_first_slot_to_be_free() {
        let mut buffer = Buffer::new(2, 1);
        for end in [300, 200] {
            assert_eq!(buffer.acquire(), Nanos::ZERO);
            buffer.release(Nanos::from_micros(end));
        }
        assert_eq!(buffer.acquire(), Nanos::from_micros(200));
        assert_eq!(buffer.drained(), Nanos::from_micros(300));
    }

    /// Whatever is given back when, the slot that is free first is taken.
    #[test]
    fn slots_are_taken_in_the_order_in_which_they_are_free() {
        let mut random = testkit::Random::new(4);
        let (mut buffer, mut free) = (Buffer::new(64, 0), vec![Nanos::ZERO; 64]);
        for _ in 0..20_000 {
            let count = 1 + random.place(free.len());
            for _ in 0..count {
                free.sort_unstable();
                assert_eq!(buffer.acquire(), free.remove(0));
            }
            let mut when = Nanos::ZERO;
            for _ in 0..count {
                if random.below(3) == 0 {
                    when = Nanos::from_micros(random.below(200));
                }
                buffer.release(when);
                free.push(when);
            }
            assert_eq!(Some(buffer.drained()), free.iter().copied().max());
        }
    }

    #[test]
    fn eight_sectors_in_a_row_become_one_page() {
        let mut buffer = Buffer::new(4, 2);
        for sector in 0..8 {
            buffer.acquire();
            let merged = buffer.merge(sector_of(5, sector), 8, Nanos::ZERO, 100);
            assert_eq!(merged, if sector == 7 { Merged::Whole(100) } else { Merged::Waits }, "sector {sector}");
        }
        assert_eq!(buffer.take_partial(), None);
    }

    #[test]
    fn too_many_partial_pages_push_out_the_oldest() {
        let mut buffer = Buffer::new(4, 2);
        let mut write = |page| {
            buffer.acquire();
            buffer.merge(sector_of(page, 0), 8, Nanos::ZERO, 100)
        };
        assert_eq!((write(1), write(2)), (Merged::Waits, Merged::Waits));
        assert!(matches!(write(3), Merged::Evicts(Partial { page: Lpn(1), .. })));
    }
}
