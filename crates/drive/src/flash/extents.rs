//! Data that lies in order, which needs no tables.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

use super::geometry::Unit;
use super::operation::Lpn;
use crate::divisor::Divisor;

/// Logical pages that were written in order to empty blocks, flash page by flash page and unit by unit: where they are
/// follows from where the first of them are.
///
/// The map's tables say nothing of such a page until it is written again or moved, so that the memory for it is never
/// touched. A block that is to be emptied has its part written out first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Extents {
    units: u32,
    /// Logical pages of a flash page, of one of every unit, and of the first extent.
    together: Divisor,
    row: Divisor,
    usual: Divisor,
    /// Rows of the first extent.
    usual_rows: u32,
    /// Up to this page, every extent is as long as the first and begins where the one before it ends.
    usual_until: u32,
    /// Ascending by first page.
    list: Vec<Extent>,
    /// The slot of the first page that each unit has of an extent, in the order of their turns, extent by extent.
    starts: Vec<u32>,
    /// For each block that has pages only the extents know of, one more than the number of the first of those; else zero.
    first_extents: Vec<u32>,
    /// The extent that holds the first page of every `1 << HINT_BITS`, or else the last before it.
    hints: Vec<u32>,
}

/// Rows of flash pages, one of each unit in turn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Extent {
    first: u32,
    rows: u32,
    /// The unit that comes first.
    turn: u32,
}

/// Logical pages that share a hint: fewer than an extent of any usual drive has.
const HINT_BITS: u32 = 12;

impl Extents {
    /// None yet, on flash of so many units and blocks.
    pub fn new(units: u32, together: u32, blocks: u32) -> Self {
        let [together, row] = [together, units * together].map(|pages| Divisor::from(u64::from(pages)));
        Self { units, together, row, first_extents: vec![0; blocks as usize], ..Self::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Notes rows of pages from `first` on. The unit `turn` comes first; `starts` are the slots of the units in turn,
    /// each in the block `slot >> page_bits`.
    pub fn add(&mut self, first: Lpn, rows: u32, turn: Unit, starts: &[u32], page_bits: u32) {
        let number = self.list.len() as u32;
        let pages = rows * self.row.get() as u32;
        if number == 0 {
            (self.usual, self.usual_rows) = (Divisor::from(u64::from(pages)), rows);
        }
        if first.0 == self.usual_until && rows == self.usual_rows {
            self.usual_until += pages;
        }
        self.list.push(Extent { first: first.0, rows, turn: turn.0 });
        self.starts.extend_from_slice(starts);
        for start in starts {
            let known = &mut self.first_extents[(start >> page_bits) as usize];
            if *known == 0 {
                *known = number + 1;
            }
        }
        let end = first.0 + pages;
        while (self.hints.len() as u64) << HINT_BITS < u64::from(end) {
            let page = (self.hints.len() as u64) << HINT_BITS;
            let before = number.saturating_sub(u32::from(page < u64::from(first.0)));
            self.hints.push(before);
        }
    }

    /// Where `page` was put, if it was written so.
    #[inline(always)]
    pub fn slot_of(&self, page: Lpn) -> Option<u32> {
        let (number, down, along) = if page.0 < self.usual_until { self.usual_place(page) } else { self.search(page)? };
        let together = self.together.get() as u32;
        let (turn, rest) = if together == 1 { (along, 0) } else { self.together.split_word(along) };
        Some(self.starts[(number * self.units + turn) as usize] + down * together + rest)
    }

    /// Has at hand soon what finding `page` will need.
    #[inline]
    pub fn call(&self, page: Lpn) {
        if page.0 < self.usual_until {
            let (number, _, along) = self.usual_place(page);
            let turn = if self.together.get() == 1 { along } else { self.together.divide_word(along) };
            prefetch_index(&self.starts, (number * self.units + turn) as usize);
        }
    }

    /// The extent of `page`, and its row and place in that, where all are as long as the first.
    #[inline(always)]
    fn usual_place(&self, page: Lpn) -> (u32, u32, u32) {
        let number = self.usual.divide_word(page.0);
        let (rows, along) = self.row.split_word(page.0);
        (number, rows - number * self.usual_rows, along)
    }

    /// The same of any page.
    #[cold]
    fn search(&self, page: Lpn) -> Option<(u32, u32, u32)> {
        let mut number = *self.hints.get((page.0 >> HINT_BITS) as usize)?;
        while self.list.get(number as usize + 1).is_some_and(|extent| extent.first <= page.0) {
            number += 1;
        }
        let extent = self.list[number as usize];
        let (down, along) = self.row.split_word(page.0.checked_sub(extent.first)?);
        (down < extent.rows).then_some((number, down, along))
    }

    /// Hands the slots and pages of a block of `unit` to `note` that only the extents know of, and forgets that.
    pub fn take(&mut self, block: u32, unit: Unit, page_bits: u32, note: impl FnMut(u32, Lpn)) {
        self.pages_of(block, unit, page_bits, note);
        self.first_extents.get_mut(block as usize).map(std::mem::take);
    }

    /// The same without forgetting.
    pub fn pages_of(&self, block: u32, unit: Unit, page_bits: u32, mut note: impl FnMut(u32, Lpn)) {
        let known = self.first_extents.get(block as usize);
        let Some(first) = known.and_then(|known| known.checked_sub(1)) else { return };
        let (together, row) = (self.together.get() as u32, self.row.get() as u32);
        for (number, extent) in self.list.iter().enumerate().skip(first as usize) {
            let turn = (unit.0 + self.units - extent.turn) % self.units;
            let start = self.starts[number * self.units as usize + turn as usize];
            if start >> page_bits != block {
                break;
            }
            for page in 0..extent.rows * together {
                let (down, along) = (page / together, page % together);
                note(start + page, Lpn(extent.first + down * row + turn * together + along));
            }
        }
    }
}
