//! Finding pages: in the map's tables, or by what is known of pages of which these say nothing.

use std::ops::Range;

use prefetch_index::prefetch_index;

use super::mapping::Mapping;
use super::operation::{Lpn, PageLocation, TRIMMED, UNMAPPED};
use crate::shared_table::Numbers;

impl Mapping {
    /// Where `page` is kept; none if it was never written or trimmed.
    #[inline(always)]
    pub fn place_of(&self, page: Lpn) -> Option<PageLocation> {
        let (block, sense) = self.sense_of(self.slot_of(page)?);
        Some(PageLocation { unit: self.unit_of_block(block), cells: self.cells_of(block), block, sense })
    }

    /// The block of a slot, and which of that block's array reads brings it.
    #[inline(always)]
    pub(super) fn sense_of(&self, slot: u32) -> (u32, u32) {
        let (block, page) = (slot >> self.page_bits, slot & ((1 << self.page_bits) - 1));
        let page = self.packing.as_ref().map_or(page, |packing| packing.place(block, page));
        let is_one = self.geometry.sense_pages == 1;
        (block, if is_one { page } else { self.sense_pages.divide_word(page) })
    }

    /// Has at hand soon what the next access to `page` will need first: see `Drive::expect`.
    #[inline(always)]
    pub fn call(&self, page: Lpn) {
        if !self.is_tabled(page) {
            return self.extents.call(page);
        }
        self.slots.call(page.0 as usize);
        if let Some(drawn) = &self.drawn {
            drawn.call(page, &self.valid);
        }
    }

    /// Has at hand soon what overwriting `page` will need, once [`call`](Self::call) has had its answer.
    #[inline(always)]
    pub fn call_slot(&self, page: Lpn) {
        if self.is_tabled(page) {
            self.call_tabled(page);
        }
    }

    #[inline]
    fn call_tabled(&self, page: Lpn) {
        let inverted = self.slots.get(page.0 as usize);
        if inverted > TRIMMED {
            let slot = !inverted;
            self.valid.call((slot >> 6) as usize);
            prefetch_index(&self.counts, (slot >> self.page_bits) as usize);
        } else if let Some(drawn) = &self.drawn {
            drawn.call_kept(page);
        } else {
            self.extents.call(page);
        }
    }

    /// The slot that `page` is in; none if it was never written or trimmed.
    #[inline(always)]
    pub(super) fn slot_of(&self, page: Lpn) -> Option<u32> {
        if !self.is_tabled(page) {
            return self.extents.slot_of(page);
        }
        let inverted = self.slots.get(page.0 as usize);
        if inverted > TRIMMED { Some(!inverted) } else { self.extent_slot(page, inverted) }
    }

    /// Whether `page` is somewhere.
    #[inline]
    pub fn holds(&self, page: Lpn) -> bool {
        match &self.drawn {
            Some(drawn) if self.slots.get(page.0 as usize) == UNMAPPED => drawn.has(page),
            _ => self.slot_of(page).is_some(),
        }
    }

    /// Whether the tables may say something of `page`.
    #[inline]
    fn is_tabled(&self, page: Lpn) -> bool {
        self.tabled.contains(&page.0)
    }

    /// Notes that the tables say something of `page` from now on.
    #[inline]
    pub(super) fn note_tabled(&mut self, page: Lpn) {
        if !self.is_tabled(page) {
            let Range { start, end } = self.tabled;
            self.tabled = if start == end { page.0..page.0 + 1 } else { start.min(page.0)..end.max(page.0 + 1) };
        }
    }

    /// The slot of a page of which the table says nothing but this.
    #[inline(never)]
    pub(super) fn extent_slot(&self, page: Lpn, inverted: u32) -> Option<u32> {
        match &self.drawn {
            _ if inverted == TRIMMED => None,
            Some(drawn) => drawn.slot_of(page, &self.valid, &self.owners),
            None => self.extents.slot_of(page),
        }
    }
}
