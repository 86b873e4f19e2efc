//! How blocks are emptied, so that there are always free ones.

use std::ops::Range;

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, Unit};
use super::mapping::{Frontier, Mapping, PageSource, UnitState};
use super::marks::{NOT_CLOSED, words};
use super::operation::{FlashOp, Moved, UNNAMED};
use super::pacing::PacingSpec;
use super::placing::{InSlots, Placing};
use crate::divisor::Divisor;
use crate::shared_table::Numbers;

/// Which block is emptied next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CollectionPolicy {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one that was closed first.
    Fifo,
    /// The one with the most to gain for what it costs, older ones preferred: age × (1 − u) / 2u, where u is the share
    /// of valid pages.
    ///
    /// Source: A. Kawaguchi, S. Nishioka and H. Motoda, "A flash-memory based file system", USENIX 1995.
    CostBenefit,
    /// The one with the fewest valid pages among so many drawn at random; of one, any.
    Choices(u32),
    /// That of the superblock, a block of each unit, which has the fewest valid pages in all of them.
    Superblocks,
}

/// When and how blocks are emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionSpec {
    /// Which block.
    pub policy: CollectionPolicy,
    /// Free blocks of a unit at which it begins; at least `START_MIN`.
    pub start: u32,
    /// Units that empty a block at the same time; zero for all. One that has no more than `START_MIN`
    /// free blocks does not wait for others.
    pub at_once: u32,
    /// The pace at which writes are taken while blocks are emptied; as they come, if none. Where there is one, moves are
    /// spread evenly over the host's writes as well; otherwise the pages moved for each are rounded up.
    pub pacing: Option<PacingSpec>,
    /// What is done while the host asks nothing.
    pub idle: Option<IdleSpec>,
}

impl CollectionSpec {
    /// What a drive does whose file says nothing of it: greedy, as late as can be.
    pub const DEFAULT: Self =
        Self { policy: CollectionPolicy::Greedy, start: START_MIN, at_once: 0, pacing: None, idle: None };
}

/// Collection while the host asks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleSpec {
    /// How long nothing must have been asked.
    pub after: Nanos,
    /// Free blocks of each unit at which it stops.
    pub until_free: u32,
}

/// Free blocks of a unit at which it must collect: one for each frontier to go on while a victim is
/// being emptied.
pub const START_MIN: u32 = 2;

/// Pages at most of a block that moves for the sake of even wear, for each page that the host writes.
const LEVELLING_PACE: u32 = 16;

/// A page, as the pace of collection is kept.
const PACE_UNIT: u32 = 1 << 8;

/// Entries of a table that memory brings at once.
const LINE: u32 = 16;

/// How much faster blocks are emptied to make up for one that went bad, or where other units are ahead with a superblock.
const HURRY: u32 = 4;

/// The block that is being emptied.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Victim {
    pub block: u32,
    /// The pages before this one have been dealt with.
    pub next: u32,
    /// Pages to move for each page that the host writes, in 2⁻⁸.
    pace: u32,
    /// What is owed of a page, in 2⁻⁸.
    owed: u32,
    /// The array read whose other pages the controller has at hand, where writes are paced.
    pub sensed: u32,
    /// Whether it is emptied because it has become hard to read.
    refreshes: bool,
}

/// What was moved, for the drive's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveCounts {
    pub pages: u64,
    /// Of those, pages of blocks that had become hard to read.
    pub pages_refreshed: u64,
    pub blocks_refreshed: u64,
}

/// What came of moving some pages of a victim.
pub struct Copied {
    pub moved: Moved,
    /// Where to go on.
    pub next: u32,
    /// How much of its count was moved.
    pub size: u32,
    /// The last array read.
    pub sensed: u32,
}

impl Mapping {
    /// Does the unit's share of collection before the host writes one page of this size to it: a few pages for each
    /// page written, so that a block is empty just as it is needed.
    #[inline(always)]
    pub(super) fn collect<P: Placing>(&mut self, unit: Unit, size: u32, plan: &mut Vec<FlashOp>, placing: &mut P) {
        if self.wants_victim(unit) {
            self.begin(unit);
            if P::SLOTS {
                self.write_out_victim(unit);
            }
        }
        if let Some(victim) = &mut self.units[unit.0 as usize].victim {
            let due = victim.owed + victim.pace * size;
            if due & (PACE_UNIT - 1) != victim.owed {
                victim.owed = due & (PACE_UNIT - 1);
            }
            let victim = *victim;
            self.move_pages(unit, victim, due / PACE_UNIT, plan, placing);
        }
        let UnitState { free, host, .. } = &self.units[unit.0 as usize];
        if free.len() < START_MIN as usize && host.next + size >= host.end {
            self.catch_up(unit, plan, placing);
        }
    }

    /// Empties blocks until the host can open another and collection one beside it. That they are emptied by and by does not
    /// suffice where what the host writes takes up several times its pages, in blocks of one bit, and a block has next to nothing
    /// to gain.
    #[cold]
    fn catch_up<P: Placing>(&mut self, unit: Unit, plan: &mut Vec<FlashOp>, placing: &mut P) {
        while self.units[unit.0 as usize].free.len() < START_MIN as usize {
            if self.units[unit.0 as usize].victim.is_none() {
                self.choose_victim(unit, true);
                if P::SLOTS {
                    self.write_out_victim(unit);
                }
            }
            // None where nothing has anything to gain, as in a drive that is worn out.
            let Some(victim) = self.units[unit.0 as usize].victim else { return };
            self.move_pages(unit, victim, self.count(victim.block), plan, placing);
        }
    }

    /// The same before each of so many pages of the host's, where nothing else comes between them. Some of these may be noted as
    /// written to the host's block: the caller says how many there are.
    pub(super) fn collect_for(&mut self, unit: Unit, pages: u32, plan: &mut Vec<FlashOp>, placing: &mut impl Placing) {
        let mut left = pages;
        while left > 0 {
            let due = match self.units[unit.0 as usize].victim {
                // Up to the page before which the last is moved: another block may be chosen behind it.
                Some(Victim { block, pace, owed, .. }) => {
                    let moves = self.count(block) * PACE_UNIT;
                    moves.saturating_sub(owed).div_ceil(pace).clamp(1, left)
                }
                None if self.wants_victim(unit) => 1,
                None => return,
            };
            self.collect(unit, due, plan, placing);
            // How many erased pages are left has a part in how fast the next block is emptied.
            self.units[unit.0 as usize].host.next += due;
            left -= due;
        }
    }

    /// Whether a unit that empties no block is to begin with one.
    #[inline]
    pub(super) fn wants_victim(&self, unit: Unit) -> bool {
        self.units[unit.0 as usize].victim.is_none() && (self.needs_blocks(unit) || self.is_behind(unit))
    }

    /// Whether other units empty a superblock that this one has not come to.
    #[inline(always)]
    fn is_behind(&self, unit: Unit) -> bool {
        self.superblocks.as_ref().is_some_and(|superblocks| superblocks.is_behind(unit))
    }

    /// Whether a unit has so few free blocks, or so many of one bit, that it has to empty one.
    #[inline(always)]
    fn needs_blocks(&self, unit: Unit) -> bool {
        self.units[unit.0 as usize].free.len() <= self.collection.start as usize || self.folds(unit)
    }

    /// Valid pages of a block, in granules where they are packed, whatever is done with it.
    #[inline]
    pub(super) fn count(&self, block: u32) -> u32 {
        u32::from(self.counts[block as usize] & !NOT_CLOSED)
    }

    /// Moves at least `pages` pages of the unit while the host asks nothing, appending it to `plan`; whether
    /// there was anything to do.
    pub fn collect_idle(&mut self, unit: Unit, until_free: u32, pages: u32, plan: &mut Vec<FlashOp>) -> bool {
        let state = &self.units[unit.0 as usize];
        if self.read_only {
            return false;
        }
        // Blocks of one bit are emptied whatever is free, so that the host can have them again.
        let wanted = state.free.len() < until_free as usize || state.single > 1;
        if state.victim.is_none() && wanted {
            self.choose_victim(unit, true);
            self.write_out_victim(unit);
        }
        let Some(victim) = self.units[unit.0 as usize].victim else { return false };
        let Frontier { next, end, .. } = self.units[unit.0 as usize].collection;
        // Not beyond the block that takes them, where the host may have the next one.
        let pages = if self.slc.is_some() { pages.min(end - next) } else { pages };
        self.move_pages(unit, victim, pages * self.granules(), plan, &mut InSlots);
        self.return_to_single(unit);
        self.digest = (self.digest ^ u64::from(unit.0) << 32 ^ u64::from(pages)).wrapping_mul(0x94d0_49bb_1331_11eb);
        true
    }

    /// Whether any unit is emptying a block.
    pub fn is_collecting(&self) -> bool {
        self.collecting > 0
    }

    /// Chooses a victim unless enough other units have one.
    fn begin(&mut self, unit: Unit) {
        let CollectionSpec { at_once, .. } = self.collection;
        let must = self.units[unit.0 as usize].free.len() <= START_MIN as usize;
        if must || at_once == 0 || self.collecting < at_once {
            self.choose_victim(unit, self.needs_blocks(unit));
        }
    }

    /// Chooses a victim. A policy that does not look for the fewest valid pages may come to blocks that have nothing to gain:
    /// it goes on to the next, until none is left. A unit that does not need one empties only what others do.
    fn choose_victim(&mut self, unit: Unit, is_needed: bool) {
        let tries = match self.collection.policy {
            CollectionPolicy::Greedy => 1,
            _ => self.geometry.blocks_per_plane,
        };
        let _ = (0..tries).find(|_| self.is_chosen(unit, is_needed));
    }

    /// Whether the choice is over: there is a victim, or no block to choose. A block with nothing to gain is put back.
    fn is_chosen(&mut self, unit: Unit, is_needed: bool) -> bool {
        let (blocks, pages, size) = (self.geometry.blocks_per_plane, self.geometry.pages_per_block, self.block_size());
        let first = unit.0 * blocks;
        let cold = self.cold(unit);
        let counts = &self.counts[first as usize..(first + blocks) as usize];
        let candidates = &mut self.units[unit.0 as usize].candidates;
        let chosen = match (cold, &mut self.superblocks) {
            (Some(block), _) => {
                candidates.remove(block - first);
                Some(block - first)
            }
            (None, Some(superblocks)) => superblocks.take(unit, is_needed, &self.counts).map(|block| block - first),
            (None, None) => candidates.take(counts, size),
        };
        self.level_max = self.units.iter().map(|state| state.candidates.level()).max().unwrap_or(0);
        let Some(block) = chosen.map(|block| first + block) else { return true };
        let valid = u32::from(self.counts[block as usize]);
        // A block that moves for the sake of even wear may gain nothing: it is done with in a few host's pages.
        // Where pages are packed, as good as a page is lost at the end of what the host writes and of what is moved.
        let lost = if self.packing.is_some() { 2 * self.granules() } else { 0 };
        let gain = (size - valid).saturating_sub(lost);
        let gain = gain.max(if cold.is_some() { size.div_ceil(LEVELLING_PACE) } else { 0 });
        if gain == 0 {
            self.note(unit, block, valid as u16);
            self.units[unit.0 as usize].candidates.close(block - first);
            return false;
        }
        // The host takes up a block with as many pages as fit in those it opens while there are few.
        let unit_of_pace = if self.collection.pacing.is_some() { u64::from(PACE_UNIT) } else { 1 };
        let (moves, room) = (u64::from(valid * pages) * unit_of_pace, u64::from(gain * self.host_block_pages()));
        let pace = (moves.div_ceil(room).max(1) * u64::from(PACE_UNIT) / unit_of_pace) as u32;
        let hurries = self.is_short(unit) || self.is_behind(unit);
        self.empty(unit, block, if hurries { pace * HURRY } else { pace }, false);
        true
    }

    /// Has the tables say what is in the block that a unit empties, if it does.
    #[cold]
    fn write_out_victim(&mut self, unit: Unit) {
        if let Some(victim) = self.units[unit.0 as usize].victim {
            self.write_out(unit, victim.block);
        }
    }

    /// Makes a closed block the unit's victim, to be emptied by so many 2⁻⁸ pages for each that the host writes.
    fn empty(&mut self, unit: Unit, block: u32, pace: u32, refreshes: bool) {
        self.counts[block as usize] |= NOT_CLOSED;
        self.collecting += 1;
        self.units[unit.0 as usize].victim =
            Some(Victim { block, next: 0, pace, owed: 0, sensed: u32::MAX, refreshes });
    }

    /// Moves the data of a block that has become hard to read: a flash page of it for each read of its unit that is hard, and
    /// some of it for each page that the host writes there. While its unit empties another block, that one goes on first.
    pub fn refresh(&mut self, block: u32, plan: &mut Vec<FlashOp>) {
        let unit = self.unit_of_block(block);
        let state = &self.units[unit.0 as usize];
        let idle = state.victim.is_none() && state.free.len() > START_MIN as usize;
        if idle && self.is_closed(block) && !self.read_only {
            let blocks = self.geometry.blocks_per_plane;
            self.units[unit.0 as usize].candidates.remove(block - unit.0 * blocks);
            self.empty(unit, block, self.refresh_pace(unit, block), true);
            self.moved.blocks_refreshed += 1;
            self.write_out(unit, block);
        }
        if let Some(victim) = self.units[unit.0 as usize].victim {
            self.move_pages(unit, victim, self.geometry.program_pages * self.granules(), plan, &mut InSlots);
            self.digest = (self.digest ^ u64::from(block)).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(23);
        }
    }

    /// How many 2⁻⁸ pages of a block that is refreshed are moved for each page that the host writes: so many that it is empty
    /// when the host has written half of what the unit takes before it has to collect.
    fn refresh_pace(&self, unit: Unit, block: u32) -> u32 {
        let blocks = self.units[unit.0 as usize].free.len().saturating_sub(self.collection.start as usize) as u64;
        let pages = self.slc.map_or(self.geometry.pages_per_block, |slc| self.single_pages(slc));
        let room = blocks * u64::from(pages * self.granules()) / 2;
        let most = u64::from(LEVELLING_PACE * PACE_UNIT);
        let moves = u64::from(self.count(block) * PACE_UNIT);
        moves.div_ceil(room.max(1)).clamp(1, most) as u32
    }

    /// Moves valid pages that count for `count`; erases the block when none is left.
    fn move_pages<P: Placing>(
        &mut self,
        unit: Unit,
        victim: Victim,
        count: u32,
        plan: &mut Vec<FlashOp>,
        placing: &mut P,
    ) {
        let Copied { moved, next, size, sensed } = match self.packing {
            None if P::SLOTS => self.copy_valid(unit, victim, count),
            None => self.move_counted(unit, victim, count, placing),
            Some(_) => self.copy_packed(unit, victim, count),
        };
        let left = self.counts[victim.block as usize] - size as u16;
        self.counts[victim.block as usize] = left;
        if moved.pages + moved.programs > 0 || moved.reads > 0 {
            self.moved.pages += u64::from(moved.pages);
            self.moved.pages_refreshed += u64::from(if victim.refreshes { moved.pages } else { 0 });
            plan.push(FlashOp::Move(unit, moved));
        }
        if left == NOT_CLOSED {
            self.units[unit.0 as usize].victim = None;
            self.collecting -= 1;
            self.free(unit, victim.block);
            if P::SLOTS {
                self.call_victim(unit);
            }
            plan.push(FlashOp::Erase(unit, victim.block));
        } else if let Some(victim) = &mut self.units[unit.0 as usize].victim {
            // Only this word: rewriting all of it would wait for the map's scattered stores above.
            victim.next = next;
            if self.collection.pacing.is_some() {
                victim.sensed = sensed;
            }
        }
    }

    /// Has the map's entries at hand for the next `count` valid pages of a block from `next` on: other units
    /// have their turn before these are moved, and by then memory has answered. Whose pages come after those
    /// is at hand by the next turn.
    #[inline]
    fn call_for(&self, base: u32, next: u32, count: u32) {
        match (self.slots.flat(), self.owners.flat()) {
            (Some(slots), Some(owners)) => self.call_pages(slots, owners, base, next, count),
            _ => self.call_pages(&self.slots, &self.owners, base, next, count),
        }
    }

    #[inline(always)]
    fn call_pages<T: Numbers + ?Sized>(&self, slots: &T, owners: &T, base: u32, next: u32, count: u32) {
        let (mut next, mut left) = (next, count);
        while left > 0 && next < self.geometry.pages_per_block {
            let word = ((base | next) >> 6) as usize;
            let mut rest = self.valid.number(word).unwrap_or(0) & u64::MAX << (next & 63);
            while rest != 0 && left > 0 {
                let page = owners.get((word << 6) | rest.trailing_zeros() as usize);
                slots.call(page as usize);
                rest &= rest - 1;
                left -= 1;
            }
            next = if rest == 0 { (next | 63) + 1 } else { (next & !63) + rest.trailing_zeros() };
        }
        call_owners(owners, base | next.min(self.geometry.pages_per_block - 1), count);
    }

    /// Has at hand soon what emptying the unit's next victim will begin with.
    fn call_victim(&self, unit: Unit) {
        let Some(block) = self.units[unit.0 as usize].candidates.expected() else { return };
        let base = (unit.0 * self.geometry.blocks_per_plane + block) << self.page_bits;
        self.valid.call((base >> 6) as usize);
        call_owners(&self.owners, base, LINE);
    }

    /// The same as [`copy_valid`](Self::copy_valid) where the tables do not say which slots are valid: all of a block's, or so many
    /// that lie as closely as they do on average.
    fn move_counted<P: Placing>(&mut self, unit: Unit, victim: Victim, count: u32, placing: &mut P) -> Copied {
        let together = self.geometry.program_pages;
        let left = self.count(victim.block);
        let size = count.min(left);
        let rest = self.block_end(victim.block) - victim.next;
        let next = victim.next + if size == left { rest } else { rest * size / left };
        let (mut due, mut programs) = (size, 0);
        while due > 0 {
            let to = self.units[unit.0 as usize].collection;
            let part = due.min(to.end - to.next);
            placing.moved(victim.block, to.block << self.page_bits | to.next, left - (size - due), part);
            self.counts[to.block as usize] += part as u16;
            programs += flash_pages(to.next, to.next + part, together);
            self.units[unit.0 as usize].collection.next += part;
            due -= part;
            if to.next + part == to.end {
                self.close(unit, PageSource::Collection);
            }
        }
        let to = self.units[unit.0 as usize].collection;
        let to = self.sense_of(to.block << self.page_bits | to.next.saturating_sub(1));
        let (reads, sensed) = if P::WHOLE {
            self.senses(victim, size)
        } else {
            // At such a density hardly any array read brings no valid page.
            (size.min(self.sense_pages.divide_word(next - victim.next) + 1), u32::MAX)
        };
        let (reads, programs) = if together == 1 { (size, size) } else { (reads, programs) };
        let from = self.sense_of(victim.block << self.page_bits | next.saturating_sub(1));
        Copied { moved: Moved { pages: size, reads, from, programs, to }, next, size, sensed }
    }

    /// How many array reads bring the next `count` pages of a block, beside the one at hand; and the last of them.
    fn senses(&self, victim: Victim, count: u32) -> (u32, u32) {
        let first = victim.block << self.page_bits | victim.next;
        let sense = |slot: u32| self.sense_pages.divide_word(slot);
        match (self.geometry.program_pages, count) {
            // Each page is one.
            (1, _) | (_, 0) => (count, victim.sensed),
            _ => {
                let (begin, end) = (sense(first), sense(first + count - 1));
                (end - begin + u32::from(begin != victim.sensed), end)
            }
        }
    }

    /// Puts up to `count` of the victim's valid pages behind the unit's other moved ones. A word of valid bits at a time: this
    /// is what most of a simulation's time goes to.
    #[inline(always)]
    fn copy_valid(&mut self, unit: Unit, victim: Victim, count: u32) -> Copied {
        let Geometry { pages_per_block: pages, program_pages: together, .. } = self.geometry;
        let base = victim.block << self.page_bits;
        self.tabled = 0..self.slots.len() as u32;
        let mut to = self.units[unit.0 as usize].collection;
        let (mut next, mut left, mut started, mut programs) = (victim.next, count, to.next, 0);
        let sense_pages = if together == 1 { None } else { Some(self.sense_pages) };
        let mut sensing = Sensing { pages: sense_pages, sensed: victim.sensed, reads: 0 };
        let programmed = |from: u32, to: u32| flash_pages(from, to, together);
        while left > 0 && next < pages {
            let word = ((base | next) >> 6) as usize;
            let valid = self.valid.number(word).unwrap_or(0) & u64::MAX << (next & 63);
            let first = to.block << self.page_bits | to.next;
            let places = first..first + left.min(to.end - to.next);
            let (slot, rest) = match (self.slots.own_already(), self.owners.own_already()) {
                (Some(slots), Some(owners)) => copy_word(slots, owners, (word, valid), places, &mut sensing),
                _ => copy_word(&mut self.slots, &mut self.owners, (word, valid), places, &mut sensing),
            };
            self.valid.change(word, |marks| marks & !(valid ^ rest));
            words(first..slot).for_each(|(word, bits)| self.valid.change(word, |marks| marks | bits));
            to.next += slot - first;
            left -= slot - first;
            if to.next == to.end {
                self.counts[to.block as usize] += (to.next - started) as u16;
                programs += programmed(started, to.next);
                self.close(unit, PageSource::Collection);
                to = self.units[unit.0 as usize].collection;
                started = 0;
            }
            next = if rest == 0 { (next | 63) + 1 } else { (next & !63) + rest.trailing_zeros() };
        }
        self.counts[to.block as usize] += (to.next - started) as u16;
        programs += programmed(started, to.next);
        self.units[unit.0 as usize].collection.next = to.next;
        self.call_for(base, next, count);
        let moved = count - left;
        let to = self.sense_of(to.block << self.page_bits | to.next.saturating_sub(1));
        let Sensing { sensed, reads, .. } = sensing;
        let (reads, programs) = if together == 1 { (moved, moved) } else { (reads, programs) };
        // The last word of valid bits may reach beyond the block.
        let from = self.sense_of(base | next.min(pages).saturating_sub(1));
        Copied { moved: Moved { pages: moved, reads, from, programs, to }, next, size: moved, sensed }
    }
}

/// How many flash pages of several pages each are full once a block is written from one page on to another; none are counted
/// where each page is one.
#[inline(always)]
fn flash_pages(from: u32, to: u32, together: u32) -> u32 {
    if together > 1 { to / together - from / together } else { 0 }
}

/// Which slots array reads bring.
struct Sensing {
    /// How many each brings; none where it is a page's alone.
    pages: Option<Divisor>,
    /// The last one.
    sensed: u32,
    reads: u32,
}

impl Sensing {
    /// Has the page in this slot be read.
    #[inline(always)]
    fn read(&mut self, slot: usize) {
        if let Some(pages) = self.pages {
            let sense = pages.divide_word(slot as u32);
            self.reads += u32::from(sense != self.sensed);
            self.sensed = sense;
        }
    }
}

/// Puts what is valid of a word's slots into these places, as far as there are such; the place after the last, and what is left.
#[inline(always)]
fn copy_word<T: Numbers + ?Sized>(
    slots: &mut T,
    owners: &mut T,
    (word, valid): (usize, u64),
    places: Range<u32>,
    sensing: &mut Sensing,
) -> (u32, u64) {
    let (mut slot, mut rest) = (places.start, valid);
    while rest != 0 && slot < places.end {
        let from = (word << 6) | rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let page = owners.get(from);
        // A page that nobody has named need not be found there.
        if page != UNNAMED.0 {
            slots.set(page as usize, !slot);
        }
        owners.set(slot as usize, page);
        slot += 1;
        sensing.read(from);
    }
    (slot, rest)
}

/// Has at hand soon whose pages are in the slots from `first` on, of which `count` are valid and some are not.
#[inline(always)]
fn call_owners(owners: &(impl Numbers + ?Sized), first: u32, count: u32) {
    let (mut slot, end) = (first, first + count + LINE);
    while slot < end {
        owners.call(slot as usize);
        slot += LINE;
    }
}
