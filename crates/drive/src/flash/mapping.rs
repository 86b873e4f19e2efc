//! Where each logical page is kept, and what flash must do to keep it there.
//!
//! Everything here is decided by counting; how long it takes is another file's business.

use std::collections::VecDeque;

use super::candidates::{Candidates, NOT_CLOSED};
use super::geometry::{Geometry, Unit};

/// A logical page: what the host names. Never an index into flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lpn(pub u32);

/// Something that flash must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashOp {
    /// Program one page with data from the controller.
    Program(Unit),
    /// Move so many pages from one block of a unit to another, one after the other.
    Move(Unit, u32),
    /// Erase one block.
    Erase(Unit),
}

/// In the map: nothing was written there, or it was trimmed.
const UNMAPPED: u32 = u32::MAX;

/// Free blocks of a unit at which collection starts: one for each frontier to go on while a victim
/// is being emptied.
const FREE_LOW: usize = 2;

/// The page map of a flash drive: any logical page may be in any physical page.
///
/// Host and collection write to blocks of their own in each unit. A unit that runs out of free
/// blocks collects the block with the fewest valid pages (greedy), a few pages for each page that
/// the host writes, so that it is done just as its gain is needed.
///
/// A physical page (*slot*) is numbered `block << page_bits | page`, blocks unit by unit.
#[derive(Debug)]
pub struct Mapping {
    geometry: Geometry,
    page_bits: u32,
    /// The slot of each logical page.
    slots: Vec<u32>,
    /// The logical page that was last written to each slot.
    owners: Vec<u32>,
    /// A bit a slot: whether it is what the map points to.
    valid: Vec<u64>,
    /// Valid pages of each block, with [`NOT_CLOSED`] set while the block is open, free or a victim.
    counts: Vec<u16>,
    units: Vec<UnitState>,
    /// The highest level of any unit's candidates: above it no count is of interest.
    level_max: u16,
    /// The unit that takes the next page.
    next_unit: u32,
    /// Valid pages that a unit may hold before it is passed over.
    valid_max: u32,
    /// Of all that was ever decided; equal digests mean equal states.
    digest: u64,
    moved: u64,
}

/// What a unit is doing.
#[derive(Clone, Debug)]
struct UnitState {
    free: VecDeque<u32>,
    host: Frontier,
    collection: Frontier,
    victim: Option<Victim>,
    candidates: Candidates,
    valid: u32,
}

/// The block that is being written, and how far.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    block: u32,
    next: u32,
}

/// The block that is being collected.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: u32,
    /// The pages before this one have been dealt with.
    next: u32,
    /// Pages to move for each page that the host writes.
    pace: u32,
}

/// Which of the two streams of data of a unit.
#[derive(Clone, Copy)]
enum Source {
    Host,
    Collection,
}

impl Mapping {
    /// An empty map of `pages` logical pages onto flash of this `geometry`.
    ///
    /// # Panics
    /// If the flash has no room for the pages and the blocks that writing needs open.
    pub fn new(geometry: Geometry, pages: u32) -> Self {
        let page_bits = geometry.pages_per_block.next_power_of_two().trailing_zeros().max(6);
        let per_unit = u64::from(geometry.blocks_per_plane) * u64::from(geometry.pages_per_block);
        let working = (FREE_LOW as u64 + 3) * u64::from(geometry.pages_per_block);
        let share = u64::from(pages).div_ceil(u64::from(geometry.units()));
        assert!(
            per_unit >= share + working,
            "{per_unit} pages a unit cannot hold {share} and the {working} that writing needs open"
        );
        let slots = (geometry.blocks() as usize) << page_bits;
        assert!(slots < UNMAPPED as usize, "{slots} physical pages are more than 32 bits can number");
        let mut mapping = Self {
            geometry,
            page_bits,
            slots: vec![UNMAPPED; pages as usize],
            owners: vec![UNMAPPED; slots],
            valid: vec![0; slots / 64],
            counts: vec![NOT_CLOSED; geometry.blocks() as usize],
            units: Vec::new(),
            level_max: 0,
            next_unit: 0,
            valid_max: ((share + per_unit - working) / 2).max(share) as u32,
            digest: 0,
            moved: 0,
        };
        mapping.units = (0..geometry.units()).map(|unit| UnitState::new(Unit(unit), &geometry)).collect();
        mapping
    }

    /// Forgets all data. Flash is erased in the background; what it costs is not modelled.
    pub fn purge(&mut self) {
        self.slots.fill(UNMAPPED);
        self.valid.fill(0);
        self.counts.fill(NOT_CLOSED);
        for (unit, state) in self.units.iter_mut().enumerate() {
            *state = UnitState::new(Unit(unit as u32), &self.geometry);
        }
        self.level_max = 0;
        self.next_unit = 0;
        self.digest = 0;
    }

    /// Where `page` is kept; none if it was never written or trimmed.
    #[inline]
    pub fn unit_of(&self, page: Lpn) -> Option<Unit> {
        let slot = self.slots[page.0 as usize];
        (slot != UNMAPPED).then(|| self.unit_of_block(slot >> self.page_bits))
    }

    /// Writes `page`, appending to `plan` all that flash must do for it, in order.
    #[inline]
    pub fn write(&mut self, page: Lpn, plan: &mut Vec<FlashOp>) {
        self.invalidate(page);
        let unit = self.choose_unit();
        self.collect(unit, plan);
        let slot = self.append(unit, Source::Host, page);
        plan.push(FlashOp::Program(unit));
        self.digest = (self.digest ^ (u64::from(slot) << 32 | u64::from(page.0)))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    /// Forgets `page`.
    pub fn trim(&mut self, page: Lpn) {
        if self.invalidate(page) {
            self.slots[page.0 as usize] = UNMAPPED;
            self.digest = (self.digest ^ u64::from(!page.0)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31);
        }
    }

    /// Loads what the next write of `page` will need, without waiting for it: see `Drive::expect`.
    #[inline]
    pub fn touch(&self, page: Lpn) -> u32 {
        self.slots[page.0 as usize]
    }

    /// Loads what overwriting a page at `slot` will need; `slot` is what [`touch`](Self::touch) gave.
    #[inline]
    pub fn touch_slot(&self, slot: u32) -> u64 {
        if slot == UNMAPPED {
            return 0;
        }
        self.valid[(slot >> 6) as usize] ^ u64::from(self.counts[(slot >> self.page_bits) as usize])
    }

    /// A number that is equal for equal histories, and so for equal states.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Pages that collection has moved since the map was made.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    #[inline]
    fn unit_of_block(&self, block: u32) -> Unit {
        Unit(block / self.geometry.blocks_per_plane)
    }

    /// The next unit in turn that has room. A unit may be full of valid pages only because the host
    /// overwrote what is on the others; there is room on those then.
    #[inline]
    fn choose_unit(&mut self) -> Unit {
        loop {
            let unit = self.next_unit;
            self.next_unit = if unit + 1 == self.units.len() as u32 { 0 } else { unit + 1 };
            if self.units[unit as usize].valid < self.valid_max {
                return Unit(unit);
            }
        }
    }

    /// Marks what `page` points to as no longer valid; whether there was such.
    #[inline]
    fn invalidate(&mut self, page: Lpn) -> bool {
        let slot = self.slots[page.0 as usize];
        if slot == UNMAPPED {
            return false;
        }
        let block = slot >> self.page_bits;
        self.valid[(slot >> 6) as usize] &= !(1 << (slot & 63));
        let count = self.counts[block as usize] - 1;
        self.counts[block as usize] = count;
        let unit = self.unit_of_block(block);
        self.units[unit.0 as usize].valid -= 1;
        if count <= self.level_max {
            self.note(unit, block, count);
        }
        true
    }

    /// Tells the unit's candidates of a closed block with few valid pages.
    #[cold]
    fn note(&mut self, unit: Unit, block: u32, count: u16) {
        let candidates = &mut self.units[unit.0 as usize].candidates;
        if count <= candidates.level() {
            candidates.note(block - unit.0 * self.geometry.blocks_per_plane, count);
        }
    }

    /// Puts `page` into the next slot of the unit's frontier.
    #[inline]
    fn append(&mut self, unit: Unit, source: Source, page: Lpn) -> u32 {
        let state = &mut self.units[unit.0 as usize];
        let frontier = match source {
            Source::Host => &mut state.host,
            Source::Collection => &mut state.collection,
        };
        let slot = frontier.block << self.page_bits | frontier.next;
        frontier.next += 1;
        let full = frontier.next == self.geometry.pages_per_block;
        state.valid += 1;
        self.slots[page.0 as usize] = slot;
        self.owners[slot as usize] = page.0;
        self.valid[(slot >> 6) as usize] |= 1 << (slot & 63);
        self.counts[(slot >> self.page_bits) as usize] += 1;
        if full {
            self.close(unit, source);
        }
        slot
    }

    /// Closes a full block, making it a candidate, and opens the next.
    fn close(&mut self, unit: Unit, source: Source) {
        let state = &mut self.units[unit.0 as usize];
        let next = state.free.pop_front().expect("collection starts while there are free blocks and keeps pace");
        let frontier = match source {
            Source::Host => &mut state.host,
            Source::Collection => &mut state.collection,
        };
        let block = std::mem::replace(frontier, Frontier { block: next, next: 0 }).block;
        let count = self.counts[block as usize] & !NOT_CLOSED;
        self.counts[block as usize] = count;
        self.note(unit, block, count);
    }

    /// Does the unit's share of collection before the host writes one page to it.
    #[inline]
    fn collect(&mut self, unit: Unit, plan: &mut Vec<FlashOp>) {
        let state = &self.units[unit.0 as usize];
        if state.victim.is_none() && state.free.len() <= FREE_LOW {
            self.choose_victim(unit);
        }
        if let Some(victim) = self.units[unit.0 as usize].victim {
            self.move_pages(unit, victim, plan);
        }
    }

    fn choose_victim(&mut self, unit: Unit) {
        let blocks = self.geometry.blocks_per_plane;
        let first = unit.0 * blocks;
        let counts = &self.counts[first as usize..(first + blocks) as usize];
        let candidates = &mut self.units[unit.0 as usize].candidates;
        let chosen = candidates.take(counts);
        self.level_max = self.units.iter().map(|state| state.candidates.level()).max().unwrap_or(0);
        let Some(block) = chosen.map(|block| first + block) else { return };
        let valid = u32::from(self.counts[block as usize]);
        let gain = self.geometry.pages_per_block - valid;
        if gain == 0 {
            self.note(unit, block, valid as u16);
            return;
        }
        self.counts[block as usize] |= NOT_CLOSED;
        self.units[unit.0 as usize].victim = Some(Victim { block, next: 0, pace: valid.div_ceil(gain).max(1) });
    }

    /// Moves up to `victim.pace` valid pages; erases the block when none is left.
    fn move_pages(&mut self, unit: Unit, victim: Victim, plan: &mut Vec<FlashOp>) {
        let pages = self.geometry.pages_per_block;
        let base = victim.block << self.page_bits;
        let (mut next, mut moved) = (victim.next, 0);
        while moved < victim.pace {
            let Some(page) = self.next_valid(base, next, pages) else { break };
            let slot = base | page;
            self.valid[(slot >> 6) as usize] &= !(1 << (slot & 63));
            self.append(unit, Source::Collection, Lpn(self.owners[slot as usize]));
            next = page + 1;
            moved += 1;
        }
        let state = &mut self.units[unit.0 as usize];
        state.valid -= moved;
        let count = self.counts[victim.block as usize] - moved as u16;
        self.counts[victim.block as usize] = count;
        if moved > 0 {
            self.moved += u64::from(moved);
            plan.push(FlashOp::Move(unit, moved));
        }
        if count == NOT_CLOSED {
            state.victim = None;
            state.free.push_back(victim.block);
            plan.push(FlashOp::Erase(unit));
        } else if let Some(victim) = &mut state.victim {
            // Only this word: rewriting all of it would wait for the map's scattered stores above.
            victim.next = next;
        }
    }

    /// The first valid page of a block at `from` or after it.
    #[inline]
    fn next_valid(&self, base: u32, from: u32, pages: u32) -> Option<u32> {
        let mut page = from;
        while page < pages {
            let slot = base | page;
            let rest = self.valid[(slot >> 6) as usize] >> (slot & 63);
            if rest != 0 {
                return Some(page + rest.trailing_zeros());
            }
            page = (page | 63) + 1;
        }
        None
    }
}

impl UnitState {
    fn new(unit: Unit, geometry: &Geometry) -> Self {
        let first = unit.0 * geometry.blocks_per_plane;
        let mut free: VecDeque<u32> = (first..first + geometry.blocks_per_plane).collect();
        let mut open = || Frontier { block: free.pop_front().expect("a unit has more than two blocks"), next: 0 };
        let (host, collection) = (open(), open());
        Self { free, host, collection, victim: None, candidates: Candidates::new(), valid: 0 }
    }
}

impl Clone for Mapping {
    fn clone(&self) -> Self {
        Self {
            geometry: self.geometry,
            page_bits: self.page_bits,
            slots: self.slots.clone(),
            owners: self.owners.clone(),
            valid: self.valid.clone(),
            counts: self.counts.clone(),
            units: self.units.clone(),
            level_max: self.level_max,
            next_unit: self.next_unit,
            valid_max: self.valid_max,
            digest: self.digest,
            moved: self.moved,
        }
    }

    /// Copies into the memory already had; copies nothing large if both have the same history.
    fn clone_from(&mut self, other: &Self) {
        if self.digest != other.digest || self.geometry != other.geometry || self.slots.len() != other.slots.len() {
            self.slots.clone_from(&other.slots);
            self.owners.clone_from(&other.owners);
            self.valid.clone_from(&other.valid);
            self.counts.clone_from(&other.counts);
            self.units.clone_from(&other.units);
        }
        self.geometry = other.geometry;
        self.page_bits = other.page_bits;
        self.level_max = other.level_max;
        self.next_unit = other.next_unit;
        self.valid_max = other.valid_max;
        self.digest = other.digest;
        self.moved = other.moved;
    }
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
