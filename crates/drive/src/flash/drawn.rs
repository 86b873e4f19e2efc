//! Where pages are that chance has brought somewhere: found when it is asked, so that no table need say it.
//!
//! After random writes, all orders of the pages that were written are equally likely. Such a page is in the first of the slots
//! that its number draws, one after the other, which holds one of those; two of them may be found in one slot, and each is
//! found in the same as long as nothing changes there. A page that is written again leaves one of these slots, any of them as
//! likely; pages that collection moves need not be known for that. Pages that were not written are where they were before, or in
//! the same order elsewhere in their unit, which a bit for each and its rank tell.
//!
//! The map's tables come first: what they say of a page or a block holds.

use std::ops::Range;
use std::sync::Arc;

use block::{Bytes, Seed};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

use super::absent::Absent;
use super::extents::Extents;
use super::geometry::Unit;
use super::marks::{is_marked, select, valid_slots};
use super::operation::{Lpn, TRIMMED, UNNAMED};
use crate::draw::Draws;
use crate::shared_table::{Numbers, SharedTable};
use crate::table::Table;

/// In the place of the first slot of a block for pages that were written: the tables say who is in that block.
const NAMED: u16 = u16::MAX;
/// Pages that share a hint: about as many as a block has of them.
const HINT_BITS: u32 = 9;
/// After so many draws, the next slot that fits is taken: there are few such.
const DRAWS_MOST: u32 = 64;

/// Where pages are of which the tables say nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Drawn {
    pub origin: Arc<Origin>,
    pub places: Arc<Places>,
    /// By block: its first slot for pages that were written, behind those for others.
    from: Vec<u16>,
}

/// Where all pages were before any were written at random.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    pub slots: SharedTable,
    pub owners: SharedTable,
    pub extents: Extents,
}

/// What chance has said.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Places {
    pub seed: Seed,
    /// Slots of a block are numbered by so many bits; it has so many pages, and a unit so many blocks.
    pub page_bits: u32,
    pub pages: u32,
    pub unit_blocks: u32,
    /// The pages behind these are the map's own, of which the tables say where they are.
    pub first_of_map: u32,
    /// A bit for each slot of the origin: whether its page was not written since.
    pub kept: Table<u64>,
    /// The pages that were nowhere when they were drawn, if there were such.
    pub absent: Option<Absent>,
    /// The slots that were valid when they were drawn.
    pub valid: Table<u64>,
    /// The blocks of each unit, and behind them what all of them have.
    pub blocks: Vec<BlockPlaces>,
    /// Of each unit, which of its blocks has the first of every `1 << HINT_BITS` pages that were moved.
    pub hints: Hints,
}

/// For each unit as many numbers of blocks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hints {
    each: usize,
    blocks: Vec<u32>,
}

/// The pages of a block that were not written.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct BlockPlaces {
    /// Whether they are where they were.
    pub stays: bool,
    /// Of those of its unit that were moved: how many the blocks before this one had at the origin, and how many they have now.
    pub moved_before: u32,
    pub dealt_before: u32,
}

/// What a block holds of pages that were not written since the origin.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    /// Those that may be such: of their unit, and not where they were.
    pub kept: u32,
    /// The same of other units, which therefore were written since.
    pub elsewhere: u32,
    /// Others that were written in order.
    pub in_order: u32,
    /// Whether the tables say who is there, so that some of `kept` may have been written to this unit by chance.
    pub is_named: bool,
}

impl Origin {
    #[inline]
    fn slot_of(&self, page: Lpn) -> Option<u32> {
        let inverted = self.slots.get(page.0 as usize);
        if inverted > TRIMMED { Some(!inverted) } else { self.extents.slot_of(page) }
    }

    /// Who was in the first slots of a block, as many as there is room for.
    fn owners_of(&self, block: u32, unit: Unit, page_bits: u32, owners: &mut [u32]) {
        let first = (block as usize) << page_bits;
        match self.owners.flat() {
            Some(flat) => owners.copy_from_slice(&flat[first..first + owners.len()]),
            None => owners.iter_mut().zip(first..).for_each(|(owner, slot)| *owner = self.owners.get(slot)),
        }
        self.extents.pages_of(block, unit, page_bits, |slot, page| owners[slot as usize - first] = page.0);
    }
}

impl Hints {
    /// Those for the blocks of units that have so many each, and behind them what all of them have.
    pub fn new(blocks: &[BlockPlaces], unit_blocks: u32) -> Self {
        let units = || blocks.chunks(unit_blocks as usize + 1);
        let most = units().filter_map(|blocks| Some(blocks.last()?.dealt_before)).max().unwrap_or(0);
        let each = (most >> HINT_BITS) as usize + 1;
        let mut hints = Vec::with_capacity(units().len() * each);
        for blocks in units() {
            let mut number = 0;
            for rank in (0..each as u32).map(|hint| hint << HINT_BITS) {
                number = holder(blocks, number, rank);
                hints.push(number as u32);
            }
        }
        Self { each, blocks: hints }
    }

    /// Which of a unit's blocks has this of the pages that were moved.
    #[inline]
    fn find(&self, unit: u32, blocks: &[BlockPlaces], rank: u32) -> usize {
        holder(blocks, self.blocks[unit as usize * self.each + (rank >> HINT_BITS) as usize] as usize, rank)
    }
}

/// From this block on, the first that has this of the pages that were moved; that behind the last, if there are not as many.
#[inline]
fn holder(blocks: &[BlockPlaces], from: usize, rank: u32) -> usize {
    let has_less = |next: &&BlockPlaces| next.dealt_before <= rank;
    from + blocks[from + 1..].iter().take_while(has_less).count()
}

impl Places {
    /// The words of a block's bits.
    pub fn words<'t>(&self, table: &'t Table<u64>, block: u32) -> &'t [u64] {
        &table[(block as usize) << self.page_bits >> 6..][..1 << self.page_bits >> 6]
    }

    /// The unit of a block, its first block, and all of them.
    fn unit_of(&self, block: u32) -> (Unit, u32, &[BlockPlaces]) {
        let (unit, each) = (block / self.unit_blocks, self.unit_blocks as usize + 1);
        (Unit(unit), unit * self.unit_blocks, &self.blocks[unit as usize * each..][..each])
    }

    /// Whether the pages of a block that were not written are where they were.
    pub fn stays(&self, block: u32) -> bool {
        let (_, first, blocks) = self.unit_of(block);
        blocks[(block - first) as usize].stays
    }

    /// Whether the page that was in a slot at the origin was not written since.
    #[inline]
    fn is_kept(&self, origin: u32) -> bool {
        is_marked(&self.kept, origin)
    }

    /// Which of the pages of its unit that were moved a block has now.
    pub fn dealt(&self, block: u32) -> Range<u32> {
        let (_, first, blocks) = self.unit_of(block);
        let number = (block - first) as usize;
        blocks[number].dealt_before..blocks[number + 1].dealt_before
    }

    /// Where a page is that was not written, by its slot at the origin.
    fn slot_of_kept(&self, origin: u32) -> u32 {
        let (block, at) = (origin >> self.page_bits, origin & ((1 << self.page_bits) - 1));
        let (_, first, blocks) = self.unit_of(block);
        let BlockPlaces { stays, moved_before, .. } = blocks[(block - first) as usize];
        if stays {
            return origin;
        }
        let words = self.words(&self.kept, block);
        let (whole, part) = words.split_at((at >> 6) as usize);
        let before: u32 = whole.iter().map(|word| word.count_ones()).sum();
        let rank = moved_before + before + (part[0] & ((1 << (at & 63)) - 1)).count_ones();
        let number = self.hints.find(block / self.unit_blocks, blocks, rank);
        let to = first + number as u32;
        to << self.page_bits | select(self.words(&self.valid, to), rank - blocks[number].dealt_before)
    }

    /// Tells `note` who is in which slot of a block, of the pages that were not written, in the order of the slots.
    fn kept_of(&self, block: u32, origin: &Origin, mut note: impl FnMut(u32, u32)) {
        let (unit, first, blocks) = self.unit_of(block);
        let (mut owners, base) = (vec![0; self.pages as usize], block << self.page_bits);
        if self.stays(block) {
            origin.owners_of(block, unit, self.page_bits, &mut owners);
            return valid_slots(self.words(&self.kept, block)).for_each(|at| note(base | at, owners[at as usize]));
        }
        let dealt = self.dealt(block);
        let (mut left, mut slots) = (dealt.len(), valid_slots(self.words(&self.valid, block)));
        let mut from = blocks.partition_point(|block| block.moved_before <= dealt.start) - 1;
        let mut passed = (dealt.start - blocks[from].moved_before) as usize;
        while left > 0 {
            let block = first + from as u32;
            if !blocks[from].stays {
                origin.owners_of(block, unit, self.page_bits, &mut owners);
                let here = valid_slots(self.words(&self.kept, block)).skip(passed).take(left);
                for (at, slot) in here.zip(&mut slots) {
                    note(base | slot, owners[at as usize]);
                    left -= 1;
                }
                passed = 0;
            }
            from += 1;
        }
    }
}

impl Drawn {
    /// Where chance brought everything, and from which slot on each block holds pages that were written.
    pub fn new(origin: Arc<Origin>, places: Places, from: Vec<u16>) -> Self {
        Self { origin, places: Arc::new(places), from }
    }

    /// About what it takes in memory, with the origin where no other state has it.
    pub fn memory(&self) -> Bytes {
        let origin = match Arc::strong_count(&self.origin) {
            1 => self.origin.slots.memory() + self.origin.owners.memory(),
            _ => Bytes::ZERO,
        };
        let absent = self.places.absent.as_ref().map_or(Bytes::ZERO, Absent::memory);
        self.places.kept.memory() + self.places.valid.memory() + absent + origin
    }

    /// Whether the tables say who is in a block.
    pub fn is_named(&self, block: u32) -> bool {
        self.from[block as usize] == NAMED
    }

    /// Has the tables say who is in a block, from now on.
    #[inline]
    pub fn note_named(&mut self, block: u32) {
        self.from[block as usize] = NAMED;
    }

    /// Whether a page of which the tables say nothing is somewhere: the map's own are not.
    #[inline]
    pub fn has(&self, page: Lpn) -> bool {
        page.0 < self.places.first_of_map && self.places.absent.as_ref().is_none_or(|absent| !absent.has(page))
    }

    /// The slot of a page of which the tables say nothing; none if it has none.
    pub fn slot_of(&self, page: Lpn, valid: &Table<u64>, owners: &SharedTable) -> Option<u32> {
        if !self.has(page) {
            return None;
        }
        match self.origin_of_kept(page) {
            Some(origin) => Some(self.places.slot_of_kept(origin)),
            None => self.draw_slot(page, valid, owners),
        }
    }

    /// The slot at the origin of a page that was not written since; none if it was.
    #[inline]
    pub fn origin_of_kept(&self, page: Lpn) -> Option<u32> {
        self.origin.slot_of(page).filter(|origin| self.places.is_kept(*origin))
    }

    /// The first slot that the number of a page draws of those that hold pages that were written.
    fn draw_slot(&self, page: Lpn, valid: &Table<u64>, owners: &SharedTable) -> Option<u32> {
        let mut draws = self.draws(page);
        for _ in 0..DRAWS_MOST {
            let slot = self.next_draw(&mut draws);
            if self.is_of_written(slot, valid, owners) {
                return Some(slot);
            }
        }
        let (first, rest) = valid.split_at((self.next_draw(&mut draws) >> 6) as usize);
        let slots = |words, from| valid_slots(words).map(move |slot| from + slot);
        let mut slots = slots(rest, (first.len() as u32) << 6).chain(slots(first, 0));
        slots.find(|slot| self.is_of_written(*slot, valid, owners))
    }

    #[inline]
    fn draws(&self, page: Lpn) -> Draws {
        Draws::new(self.places.seed.number(u64::from(page.0)))
    }

    #[inline]
    fn next_draw(&self, draws: &mut Draws) -> u32 {
        draws.below(self.from.len() as u32) << self.places.page_bits | draws.below(self.places.pages)
    }

    /// Whether a slot holds a page that was written, and nobody has said which.
    #[inline]
    fn is_of_written(&self, slot: u32, valid: &Table<u64>, owners: &SharedTable) -> bool {
        let (from, at) =
            (self.from[(slot >> self.places.page_bits) as usize], slot & ((1 << self.places.page_bits) - 1));
        let may_be = from == NAMED || at >= u32::from(from);
        may_be && is_marked(valid, slot) && (from < NAMED || owners.get(slot as usize) == UNNAMED.0)
    }

    /// Has at hand soon what finding a page will need first: the slot that it draws first, and where it was.
    #[inline]
    pub fn call(&self, page: Lpn, valid: &Table<u64>) {
        let slot = self.next_draw(&mut self.draws(page));
        valid.call((slot >> 6) as usize);
        prefetch_index(&self.from, (slot >> self.places.page_bits) as usize);
        self.origin.extents.call(page);
    }

    /// The same of what it will need then.
    #[inline]
    pub fn call_kept(&self, page: Lpn) {
        if let Some(origin) = self.origin.slot_of(page) {
            self.places.kept.call((origin >> 6) as usize);
        }
    }

    /// Has the tables say who is in a block: of pages that were written, that it is one of them.
    pub fn name(&mut self, block: u32, valid: &Table<u64>, owners: &mut SharedTable) {
        let from = u32::from(std::mem::replace(&mut self.from[block as usize], NAMED));
        if from == u32::from(NAMED) {
            return;
        }
        let base = block << self.places.page_bits;
        self.places.kept_of(block, &self.origin, |slot, page| owners.set(slot as usize, page));
        let is_of_written = |at: &u32| *at >= from;
        for at in valid_slots(self.places.words(valid, block)).filter(is_of_written) {
            owners.set((base | at) as usize, UNNAMED.0);
        }
    }
}
