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
    /// Where parts of extents are that are not where the rest of their unit's part is.
    parts: Vec<Part>,
    /// The first of these for each start that has such, in the order of the starts; nothing where there are none.
    first_parts: Vec<u32>,
    /// What was moved to blocks, by slot.
    moved: Vec<Part>,
}

/// Some of the pages that a unit has of an extent, which lie one behind the other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    /// Its place among the starts.
    of: u32,
    from: u32,
    pages: u32,
    slot: u32,
}

/// Pages of a block, from this one on, that were moved to the slots from this one on.
#[derive(Clone, Copy)]
pub struct Run {
    pub from: u32,
    pub pages: u32,
    pub slot: u32,
}

/// In the place of a start: the part does not lie in one piece.
const IN_PARTS: u32 = u32::MAX;
/// In the place of a block's first extent: all that it has was moved there.
const MOVED: u32 = u32::MAX;

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
        let (of, at) = (number * self.units + turn, down * together + rest);
        let start = self.starts[of as usize];
        Some(if start == IN_PARTS { self.slot_in_part(of, at) } else { start + at })
    }

    #[cold]
    fn slot_in_part(&self, of: u32, at: u32) -> u32 {
        let first = self.first_parts[of as usize] as usize;
        let behind = self.parts[first..].iter().take_while(|part| part.of == of && part.from <= at).count();
        let part = self.parts[first + behind - 1];
        part.slot + at - part.from
    }

    /// Notes that all of a block of `unit` was moved so. What was noted must be [sorted](Self::sort) before pages are looked for.
    pub fn move_block(&mut self, block: u32, unit: Unit, runs: &[Run], page_bits: u32) {
        let was_moved = self.first_extents[block as usize] == MOVED;
        if was_moved {
            self.sort_moved();
        }
        let parts = self.parts_of(block, unit, page_bits);
        if was_moved {
            let is_elsewhere = |part: &Part| part.slot >> page_bits != block;
            self.moved.retain(is_elsewhere);
            self.parts.retain(is_elsewhere);
        }
        for part in parts {
            let begin = part.slot & ((1 << page_bits) - 1);
            for run in runs {
                let (first, end) = (begin.max(run.from), (begin + part.pages).min(run.from + run.pages));
                if first >= end {
                    continue;
                }
                let (from, slot) = (part.from + first - begin, run.slot + first - run.from);
                let to = Part { from, pages: end - first, slot, ..part };
                let is_whole = self.starts[part.of as usize] == part.slot && to.pages == part.pages;
                self.starts[part.of as usize] = if is_whole { slot } else { IN_PARTS };
                if !is_whole {
                    self.parts.push(to);
                }
                self.moved.push(to);
                self.first_extents[(slot >> page_bits) as usize] = MOVED;
            }
        }
        self.first_extents[block as usize] = 0;
    }

    /// Brings what was noted of moved blocks in order.
    pub fn sort(&mut self) {
        self.sort_moved();
        self.parts.sort_unstable_by_key(|part| (part.of, part.from));
        self.first_parts = vec![0; if self.parts.is_empty() { 0 } else { self.starts.len() }];
        for (number, part) in self.parts.iter().enumerate().rev() {
            self.first_parts[part.of as usize] = number as u32;
        }
    }

    fn sort_moved(&mut self) {
        self.moved.sort_unstable_by_key(|part| part.slot);
    }

    /// What a block of `unit` holds that only the extents know of.
    fn parts_of(&self, block: u32, unit: Unit, page_bits: u32) -> Vec<Part> {
        let first = match self.first_extents.get(block as usize).copied().unwrap_or(0) {
            0 => return Vec::new(),
            MOVED => {
                let first = self.moved.partition_point(|part| part.slot >> page_bits < block);
                let here = self.moved[first..].iter().take_while(|part| part.slot >> page_bits == block);
                return here.copied().collect();
            }
            first => first - 1,
        };
        let part = |(number, extent): (u32, &Extent)| {
            let of = number * self.units + (unit.0 + self.units - extent.turn) % self.units;
            let slot = self.starts[of as usize];
            let is_here = slot != IN_PARTS && slot >> page_bits == block;
            is_here.then(|| Part { of, from: 0, pages: extent.rows * self.together.get() as u32, slot })
        };
        (0..).zip(&self.list).skip(first as usize).map_while(part).collect()
    }

    /// Has at hand soon what finding `page` will need.
    #[inline]
    pub fn call(&self, page: Lpn) {
        if page.0 < self.usual_until {
            let (number, _, along) = self.usual_place(page);
            let turn = if self.together.get() == 1 { along } else { self.together.divide_word(along) };
            prefetch_index(&self.starts, (number * self.units + turn) as usize);
        } else {
            prefetch_index(&self.hints, (page.0 >> HINT_BITS) as usize);
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
        let (together, row) = (self.together.get() as u32, self.row.get() as u32);
        for Part { of, from, pages, slot } in self.parts_of(block, unit, page_bits) {
            let first = self.list[(of / self.units) as usize].first + of % self.units * together;
            for page in 0..pages {
                let at = from + page;
                note(slot + page, Lpn(first + at / together * row + at % together));
            }
        }
    }
}
