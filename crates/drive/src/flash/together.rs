//! Pages of the host's that come to a unit together.

use super::digest;
use super::mapping::{Frontier, Mapping, PageSource, UnitState};
use super::operation::{FlashOp, Lpn, PageLocation};
use super::placing::Placing;

/// No more pages than this are written together where they are drawn, and no more than one part in so many of a block.
const MOST: u32 = 32;
const BLOCK_SHARE: u32 = 32;

impl Mapping {
    /// So many pages of the host's are written together: whole flash pages, and few beside a block.
    pub(super) fn pages_together(&self) -> u32 {
        let most = self.host_block_pages() / BLOCK_SHARE;
        most.clamp(1, MOST).next_multiple_of(self.geometry.program_pages)
    }

    /// Writes up to so many pages, of which there is no copy, as [`put`](Self::put) does one after the other, but all to the unit
    /// whose turn it is, and no more than its block has room for. How many, and whether none waits for its flash page to be full.
    #[inline]
    pub(super) fn put_together(
        &mut self,
        first: Lpn,
        most: u32,
        plan: &mut Vec<FlashOp>,
        placing: &mut impl Placing,
    ) -> (u32, bool) {
        let unit = self.choose_unit();
        let together = self.geometry.program_pages;
        let UnitState { host, valid, valid_max, .. } = self.units[unit.0 as usize];
        let Frontier { block, next, end, cells } = host;
        let room = most.min(end - next).min(valid_max - valid);
        // What is begun of a further flash page waits for the unit's next turn.
        let begun = (next + room) % together;
        let count = if begun < room { room - begun } else { room };
        self.collect_for(unit, count, plan, placing);
        let state = &mut self.units[unit.0 as usize];
        state.host.next += count;
        state.valid += count;
        self.counts[block as usize] += count as u16;
        let slot = block << self.page_bits | next;
        placing.put(first, slot);
        for page in 0..count {
            self.digest = digest::written(self.digest, slot + page, Lpn(first.0.wrapping_add(page)));
        }
        for page in (next / together..(next + count) / together).map(|number| number * together) {
            let (block, sense) = self.sense_of(block << self.page_bits | page);
            plan.push(FlashOp::Program(PageLocation { unit, cells, block, sense }));
        }
        if next + count == end {
            self.close(unit, PageSource::Host);
        }
        let is_full = (next + count).is_multiple_of(together);
        if is_full {
            self.give_turn(unit);
        }
        (count, is_full)
    }
}
