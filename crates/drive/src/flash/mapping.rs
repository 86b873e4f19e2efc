//! Where each logical page is kept, and what flash must do to keep it there.
//!
//! Everything here is decided by counting; how long it takes is another file's business.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::collection::{CollectionPolicy, CollectionSpec, MoveCounts, Victim};
use super::copies::{Changes, are_lent};
use super::digest;
use super::drawn::Drawn;
use super::extents::Extents;
use super::geometry::{Geometry, Unit};
use super::marks::NOT_CLOSED;
use super::operation::{Cells, FlashOp, Lpn, PageLocation, TRIMMED};
use super::packing::Packing;
use super::placing::{InSlots, Placing};
use super::retirement::{self, WORN_START_MIN};
use super::superblocks::Superblocks;
use crate::divisor::Divisor;
use crate::shared_table::{Numbers, SharedTable};
use crate::table::Table;
use crate::wear::{EraseVerdict, Wear};

/// Blocks that are written with one bit a cell first and emptied into others later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcSpec {
    /// Bits of each cell of the other blocks: so much less a block holds.
    pub bits: u32,
    /// Blocks of each unit that are always used so.
    pub fixed: u32,
    /// Blocks of each unit that are used so beside while they are free.
    pub dynamic: u32,
    /// Such blocks of a unit from which on they are folded while the host writes; none if only when free blocks run short.
    pub fold_from: Option<u32>,
}

/// So many slots behind the last of a block, which stand for no page, are memory worth saving.
const GAP: usize = 4096;

/// The page map of a flash drive: any logical page may be in any physical page.
///
/// Host and collection write to blocks of their own in each unit; how blocks are emptied is
/// [`collection`](super::collection)'s business. Where a flash page holds several logical ones, it is
/// filled before the next unit's turn.
///
/// A place for a logical page (*slot*) is numbered `block << page_bits | page`, blocks unit by unit.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mapping {
    pub(super) geometry: Geometry,
    pub(super) collection: CollectionSpec,
    pub(super) slc: Option<SlcSpec>,
    pub(super) page_bits: u32,
    /// Blocks of a unit, and pages that an array read brings.
    pub(super) unit_blocks: Divisor,
    pub(super) sense_pages: Divisor,
    /// The slot of each logical page, inverted.
    pub(super) slots: SharedTable,
    /// The logical page that was last written to each slot.
    pub(super) owners: SharedTable,
    /// Pages of which neither of these says anything.
    pub(super) extents: Extents,
    /// The same after random writes.
    pub(super) drawn: Option<Box<Drawn>>,
    /// The others lie between these, so that nobody need look for the rest of them.
    pub(super) tabled: Range<u32>,
    /// A bit a slot: whether it is what the map points to.
    pub(super) valid: Table<u64>,
    /// What compression leaves of each page; none where nothing is compressed.
    pub(super) packing: Option<Packing>,
    /// Valid pages of each block, in granules where they are packed, with [`NOT_CLOSED`] set while the block is open, free or a victim.
    pub(super) counts: Vec<u16>,
    /// Whether each block was last opened with one bit a cell; empty where none ever is.
    pub(super) single: Vec<bool>,
    pub(super) units: Vec<UnitState>,
    /// Which blocks are emptied together; none where each unit chooses for itself.
    pub(super) superblocks: Option<Box<Superblocks>>,
    /// The highest level of any unit's candidates: above it no count is of interest.
    pub(super) level_max: u16,
    /// The unit that takes the next page.
    pub(super) next_unit: u32,
    /// Units that are emptying a block.
    pub(super) collecting: u32,
    /// Of all that was ever decided; equal digests mean equal states.
    pub(super) digest: u64,
    pub(super) moved: MoveCounts,
    /// How worn the blocks are; none if they do not wear out.
    pub(super) wear: Option<Wear>,
    pub(super) read_only: bool,
    /// What its next copying has to do.
    #[serde(skip)]
    pub(super) changes: Changes,
}

/// What a unit is doing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UnitState {
    pub free: VecDeque<u32>,
    /// No free block has fewer erases.
    pub erases_min: u32,
    pub host: Frontier,
    pub collection: Frontier,
    pub victim: Option<Victim>,
    pub candidates: Candidates,
    /// Valid pages, in granules where they are packed.
    pub valid: u32,
    /// As many as it may hold before it is passed over.
    pub valid_max: u32,
    /// Blocks that hold one bit a cell.
    pub single: u32,
}

/// The block that is being written, and how far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Frontier {
    pub block: u32,
    pub next: u32,
    /// How many pages it takes.
    pub end: u32,
    pub cells: Cells,
}

/// Which of the two streams of data of a unit.
#[derive(Clone, Copy)]
pub(super) enum PageSource {
    Host,
    Collection,
}

impl Mapping {
    /// An empty map of `pages` logical pages onto flash of this `geometry`; they are kept compressed if there is a `floor`,
    /// percent of which are always left.
    ///
    /// # Panics
    /// If the flash has no room for the pages and the blocks that writing needs open.
    pub fn new(
        geometry: Geometry,
        collection: CollectionSpec,
        slc: Option<SlcSpec>,
        wear: Option<Wear>,
        pages: u32,
        floor: Option<u32>,
    ) -> Self {
        let block_slots =
            floor.map_or(geometry.pages_per_block, |floor| Packing::slots(geometry.pages_per_block, floor));
        let page_bits = block_slots.next_power_of_two().trailing_zeros().max(6);
        let per_unit = u64::from(geometry.blocks_per_plane) * u64::from(geometry.pages_per_block);
        let working = (u64::from(collection.start) + 3) * u64::from(geometry.pages_per_block);
        let share = u64::from(pages).div_ceil(u64::from(geometry.units()));
        assert!(
            per_unit >= share + working,
            "{per_unit} pages a unit cannot hold {share} and the {working} that writing needs open"
        );
        let slots = (geometry.blocks() as usize) << page_bits;
        let in_lines = are_lent(pages as usize, floor.is_some());
        let blank = |table| if in_lines { SharedTable::in_lines(table) } else { SharedTable::new(table) };
        assert!(slots < (u32::MAX - TRIMMED) as usize, "{slots} physical pages are more than 32 bits can number");
        let mut mapping = Self {
            geometry,
            collection,
            slc,
            page_bits,
            unit_blocks: Divisor::from(u64::from(geometry.blocks_per_plane)),
            sense_pages: Divisor::from(u64::from(geometry.sense_pages)),
            slots: blank(Table::new(pages as usize)),
            owners: blank(match (1 << page_bits) - block_slots as usize >= GAP {
                true => Table::with_gaps(slots),
                false => Table::new(slots),
            }),
            extents: Extents::default(),
            drawn: None,
            tabled: 0..0,
            valid: Table::new(slots / 64),
            packing: floor.map(|floor| Packing::new(&geometry, floor, pages)),
            counts: vec![NOT_CLOSED; geometry.blocks() as usize],
            single: vec![false; if slc.is_some() { geometry.blocks() as usize } else { 0 }],
            units: Vec::new(),
            superblocks: None,
            level_max: 0,
            next_unit: 0,
            collecting: 0,
            digest: 0,
            moved: MoveCounts::default(),
            wear,
            read_only: false,
            changes: Changes::default(),
        };
        if let Some(wear) = &mapping.wear {
            assert!(collection.start >= WORN_START_MIN, "collection starts at {} blocks", collection.start);
            assert!(
                retirement::has_room(wear, &geometry, collection.start, pages),
                "{pages} pages do not fit beside the blocks that are bad from the start"
            );
        }
        mapping.open_units();
        mapping
    }

    /// Gives every unit all its good blocks, two of them open.
    fn open_units(&mut self) {
        let (geometry, start, share) = (&self.geometry, self.collection.start, self.share());
        let is_good = |block: &u32| self.wear.as_ref().is_none_or(|wear| !wear.is_bad(*block));
        let unit = |unit: u32| {
            let first = unit * geometry.blocks_per_plane;
            let free: VecDeque<u32> = (first..first + geometry.blocks_per_plane).filter(is_good).collect();
            let valid_max = retirement::valid_max(geometry, start, share, free.len() as u32) * self.granules();
            UnitState::new(first, free, valid_max, &self.collection)
        };
        self.units = (0..geometry.units()).map(unit).collect();
        let are_together = self.collection.policy == CollectionPolicy::Superblocks;
        self.superblocks = are_together.then(|| Box::new(Superblocks::new(geometry)));
        for unit in 0..geometry.units() {
            let (host, moves) =
                (self.open(Unit(unit), PageSource::Host), self.open(Unit(unit), PageSource::Collection));
            self.units[unit as usize].host = host;
            self.units[unit as usize].collection = moves;
        }
    }

    /// Forgets all data. Flash is erased in the background; what it costs, in time and wear, is not modelled.
    pub fn purge(&mut self) {
        self.forget_places();
        self.valid.fill(0);
        self.counts.fill(NOT_CLOSED);
        self.single.fill(false);
        self.packing.iter_mut().for_each(Packing::clear);
        self.open_units();
        self.level_max = 0;
        self.next_unit = 0;
        self.collecting = 0;
        // Blocks that are worn tell a drive that was purged from a fresh one.
        self.digest = if self.wear.is_some() { self.digest.rotate_left(17) ^ 1 } else { 0 };
    }

    /// Writes `page`, appending to `plan` all that flash must do for it, in order. Whether that programs it:
    /// where a flash page holds several, it waits for the others.
    #[inline]
    pub fn write(&mut self, page: Lpn, plan: &mut Vec<FlashOp>) -> bool {
        self.write_over(page, plan).0
    }

    /// The same, and whether there was an older copy.
    #[inline]
    pub fn write_over(&mut self, page: Lpn, plan: &mut Vec<FlashOp>) -> (bool, bool) {
        let is_kept = self.invalidate(page);
        (self.put(page, plan, &mut InSlots), is_kept)
    }

    /// Writes a page of which there is no other copy.
    #[inline]
    pub(super) fn put(&mut self, page: Lpn, plan: &mut Vec<FlashOp>, placing: &mut impl Placing) -> bool {
        let unit = self.choose_unit();
        self.collect(unit, 1, plan, placing);
        let cells = self.units[unit.0 as usize].host.cells;
        let slot = self.append(unit, page, placing);
        self.digest = digest::written(self.digest, slot, page);
        let full = self.fills(slot);
        if full {
            let (block, sense) = self.sense_of(slot + 1 - self.geometry.program_pages);
            plan.push(FlashOp::Program(PageLocation { unit, cells, block, sense }));
            self.give_turn(unit);
        }
        full
    }

    /// Gives the turn to the unit behind this one.
    #[inline(always)]
    pub(super) fn give_turn(&mut self, unit: Unit) {
        self.next_unit = if unit.0 + 1 == self.units.len() as u32 { 0 } else { unit.0 + 1 };
    }

    /// Leaves what is still free of the flash page that is being filled, so that it can be programmed.
    pub fn pad(&mut self, plan: &mut Vec<FlashOp>) {
        if self.packing.is_some() {
            return self.pad_packed(plan);
        }
        let unit = Unit(self.next_unit);
        let together = self.geometry.program_pages;
        let Frontier { next, cells, .. } = self.units[unit.0 as usize].host;
        if next.is_multiple_of(together) {
            return;
        }
        // A page left empty uses up a block as one that is written does.
        for _ in next..next.next_multiple_of(together) {
            if !self.read_only {
                self.collect(unit, 1, plan, &mut InSlots);
            }
        }
        let host = &mut self.units[unit.0 as usize].host;
        host.next = next.next_multiple_of(together);
        let (block, next) = (host.block, host.next - together);
        if host.next == host.end {
            self.close(unit, PageSource::Host);
        }
        let (block, sense) = self.sense_of(block << self.page_bits | next);
        plan.push(FlashOp::Program(PageLocation { unit, cells, block, sense }));
        self.next_unit = (unit.0 + 1) % self.units.len() as u32;
        self.digest = self.digest.rotate_left(7) ^ u64::from(unit.0 + 1);
    }

    /// Whether `slot` is the last of its flash page.
    #[inline]
    fn fills(&self, slot: u32) -> bool {
        let together = self.geometry.program_pages;
        together == 1 || ((slot & ((1 << self.page_bits) - 1)) + 1).is_multiple_of(together)
    }

    /// Forgets `page`.
    pub fn trim(&mut self, page: Lpn) {
        if self.invalidate(page) {
            self.note_tabled(page);
            self.slots.set(page.0 as usize, TRIMMED);
            self.changes.lose();
            self.digest = (self.digest ^ u64::from(!page.0)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31);
        }
    }

    /// A number that is equal for equal histories, and so for equal states.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// What collection has moved since the map was made.
    pub fn moved(&self) -> MoveCounts {
        self.moved
    }

    #[inline]
    pub(super) fn unit_of_block(&self, block: u32) -> Unit {
        Unit(self.unit_blocks.divide_word(block))
    }

    #[inline]
    pub(super) fn cells_of(&self, block: u32) -> Cells {
        if !self.single.is_empty() && self.single[block as usize] { Cells::Single } else { Cells::Native }
    }

    /// The next unit in turn that has room. A unit may be full of valid pages only because the host
    /// overwrote what is on the others; there is room on those then.
    #[inline]
    pub(super) fn choose_unit(&mut self) -> Unit {
        loop {
            let unit = self.next_unit;
            let UnitState { valid, valid_max, .. } = self.units[unit as usize];
            if valid < valid_max {
                return Unit(unit);
            }
            self.pass_over(Unit(unit));
        }
    }

    /// Gives the turn to the next unit, even if a flash page of this one is not full: it goes on there later.
    #[cold]
    fn pass_over(&mut self, unit: Unit) {
        self.give_turn(unit);
    }

    /// Marks what `page` points to as no longer valid; whether there was such.
    #[inline(always)]
    pub(super) fn invalidate(&mut self, page: Lpn) -> bool {
        let Some(slot) = self.slot_of(page) else { return false };
        self.empty_slot(slot, self.size_of(page));
        true
    }

    /// Marks what is in a slot, a page of this size, as no longer valid.
    #[inline(always)]
    fn empty_slot(&mut self, slot: u32, size: u32) {
        self.valid.change((slot >> 6) as usize, |word| word & !(1 << (slot & 63)));
        self.lose(slot >> self.page_bits, size);
    }

    /// Counts a page of this size less in a block.
    #[inline(always)]
    pub(super) fn lose(&mut self, block: u32, size: u32) {
        let count = self.counts[block as usize] - size as u16;
        self.counts[block as usize] = count;
        let unit = self.unit_of_block(block);
        self.units[unit.0 as usize].valid -= size;
        if count <= self.level_max {
            self.note(unit, block, count);
        }
    }

    /// Tells the unit's candidates of a closed block with few valid pages.
    #[cold]
    pub(super) fn note(&mut self, unit: Unit, block: u32, count: u16) {
        let candidates = &mut self.units[unit.0 as usize].candidates;
        if count <= candidates.level() {
            candidates.note(block - unit.0 * self.geometry.blocks_per_plane, count);
        }
    }

    /// Puts `page` of the host's into the next slot of the unit.
    #[inline]
    fn append<P: Placing>(&mut self, unit: Unit, page: Lpn, placing: &mut P) -> u32 {
        let state = &mut self.units[unit.0 as usize];
        let frontier = &mut state.host;
        let slot = frontier.block << self.page_bits | frontier.next;
        frontier.next += 1;
        let full = frontier.next == frontier.end;
        state.valid += 1;
        let block = slot >> self.page_bits;
        placing.put(page, slot);
        if P::SLOTS {
            self.note_tabled(page);
            self.slots.set(page.0 as usize, !slot);
            self.owners.set(slot as usize, page.0);
            self.valid.change((slot >> 6) as usize, |word| word | 1 << (slot & 63));
        }
        self.counts[block as usize] += 1;
        if full {
            self.close(unit, PageSource::Host);
        }
        slot
    }

    /// Closes a full block, making it a candidate, and opens the next.
    pub(super) fn close(&mut self, unit: Unit, source: PageSource) {
        let next = self.open(unit, source);
        let state = &mut self.units[unit.0 as usize];
        let block = std::mem::replace(state.frontier(source), next).block;
        let count = self.counts[block as usize] & !NOT_CLOSED;
        self.counts[block as usize] = count;
        self.note(unit, block, count);
        self.units[unit.0 as usize].candidates.close(block % self.geometry.blocks_per_plane);
    }

    /// Opens a free block: with one bit a cell for the host, as long as there are blocks for that.
    fn open(&mut self, unit: Unit, source: PageSource) -> Frontier {
        let pages = self.geometry.pages_per_block;
        let single = matches!(source, PageSource::Host) && self.has_single(unit);
        let state = &mut self.units[unit.0 as usize];
        let block = if self.wear.is_none() { state.free.pop_front() } else { self.take_least_worn(unit) };
        let block = block.expect("collection starts while there are free blocks and keeps pace");
        self.changes.note(block, self.counts.len() as u32);
        if let Some(superblocks) = &mut self.superblocks {
            superblocks.open(unit, source as u32, block);
        }
        if let Some(drawn) = &mut self.drawn {
            drawn.note_named(block);
        }
        let state = &mut self.units[unit.0 as usize];
        if self.slc.is_some() {
            state.single += u32::from(single);
            self.single[block as usize] = single;
        }
        let (cells, end) = match (self.slc, &mut self.packing) {
            (Some(slc), _) if single => (Cells::Single, self.single_pages(slc)),
            (_, Some(packing)) => {
                packing.open(block);
                (Cells::Native, 1 << self.page_bits)
            }
            _ => (Cells::Native, pages),
        };
        Frontier { block, next: 0, end, cells }
    }

    /// Pages that a block holds with as many bits a cell as it has now.
    pub(super) fn block_end(&self, block: u32) -> u32 {
        match (self.slc, self.cells_of(block)) {
            (Some(slc), Cells::Single) => self.single_pages(slc),
            _ => self.geometry.pages_per_block,
        }
    }

    /// Pages of the blocks that the host writes when few are free.
    pub(super) fn host_block_pages(&self) -> u32 {
        self.slc.filter(|slc| slc.fixed > 0).map_or(self.geometry.pages_per_block, |slc| self.single_pages(slc))
    }

    /// Pages of a block with one bit a cell.
    pub(super) fn single_pages(&self, slc: SlcSpec) -> u32 {
        (self.geometry.pages_per_block / slc.bits).next_multiple_of(self.geometry.program_pages)
    }

    /// Erased pages of a unit, as many as they are worth with all bits a cell.
    pub(super) fn erased_pages(&self, unit: Unit) -> u32 {
        let state = &self.units[unit.0 as usize];
        let pages = self.geometry.pages_per_block;
        let left = [state.host, state.collection].map(|open| match self.packing {
            Some(_) => (self.block_size() - self.filled(open)) / self.granules(),
            None => (open.end - open.next) * (pages / open.end.max(1)),
        });
        state.free.len() as u32 * pages + left[0] + left[1]
    }

    /// Whether a block is full and neither free nor being emptied.
    pub(super) fn is_closed(&self, block: u32) -> bool {
        self.counts[block as usize] < NOT_CLOSED
    }

    /// Takes back a block that was erased, unless it has gone bad.
    pub(super) fn free(&mut self, unit: Unit, block: u32) {
        let state = &mut self.units[unit.0 as usize];
        if !self.single.is_empty() && std::mem::take(&mut self.single[block as usize]) {
            state.single -= 1;
        }
        match self.wear.as_mut().map_or(EraseVerdict::Good, |wear| wear.erased(block)) {
            EraseVerdict::Good => {
                let erases = self.wear.as_ref().map_or(0, |wear| wear.erases(block));
                state.erases_min = state.erases_min.min(erases);
                state.free.push_back(block);
            }
            EraseVerdict::Retired => self.retire(unit),
        }
    }
}

impl UnitState {
    /// The block that a stream of data goes to.
    #[inline]
    pub fn frontier(&mut self, source: PageSource) -> &mut Frontier {
        match source {
            PageSource::Host => &mut self.host,
            PageSource::Collection => &mut self.collection,
        }
    }

    fn new(first: u32, free: VecDeque<u32>, valid_max: u32, collection: &CollectionSpec) -> Self {
        // The two blocks that are written are opened next.
        let none = Frontier { block: first, next: 0, end: 0, cells: Cells::Native };
        Self {
            free,
            erases_min: 0,
            host: none,
            collection: none,
            victim: None,
            candidates: Candidates::new(collection.policy),
            valid: 0,
            valid_max,
            single: 0,
        }
    }
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
