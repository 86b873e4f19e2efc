//! What a flash drive's file says of its cache of one-bit cells.

use block::Bytes;

use crate::flash::folding::FOLD_MIN;
use crate::flash::{CellTimes, Geometry, SlcSpec};
use crate::preset::units::{self, given, percent};
use crate::preset::{PresetError, require, table};

table!(pub(super) SlcTable {
    /// Bits of a cell where it does not hold one, 2 to 8
    bits: u32,
    /// Blocks that are always in SLC mode, in what the host can write to them
    fixed: units::Bytes,
    /// The same that are in SLC mode while free blocks last
    dynamic: units::Bytes,
    /// In use from which on blocks are folded beside the host's writes too, a page for each that is written; only
    /// in idle time and when there are no free ones if left out. Needs `gc.policy = "greedy"`
    fold_at: Option<units::Share>,
    /// Array read of a cell of one bit
    read: units::Duration,
    /// Program of a cell of one bit
    program: units::Duration,
});

impl SlcTable {
    /// The times of cells of one bit.
    pub(super) const fn cells(&self) -> CellTimes {
        CellTimes { read: self.read, program: self.program }
    }

    /// The cache in blocks of each unit.
    pub(super) fn spec(&self, geometry: &Geometry, is_greedy: bool) -> Result<SlcSpec, PresetError> {
        require(
            (2..=8).contains(&self.bits),
            || format!("slc.bits is {}", self.bits),
            "cells hold 2 to 8 bits where they do not hold one",
        )?;
        require(
            self.fold_at.is_none_or(|share| share <= 1_000_000 && is_greedy),
            || format!("slc.fold_at is {}", given(self.fold_at.map(percent))),
            "blocks are folded from at most 100% of the one-bit blocks on, by gc.policy = \"greedy\", which takes those first",
        )?;
        require(
            geometry.pages_per_block >= self.bits * geometry.program_pages,
            || format!("blocks of {} pages, and slc.bits is {}", geometry.pages_per_block, self.bits),
            "with one bit a cell a block still holds a page that is programmed as a whole: raise geometry.pages_per_block",
        )?;
        // What one block of each unit holds with one bit a cell.
        let row = geometry.block().get() / u64::from(self.bits) * u64::from(geometry.units());
        // Both end where free blocks do, as in a drive that was made smaller.
        let blocks = |bytes: Bytes| (bytes.get() / row).min(u64::from(u32::MAX >> 2)) as u32;
        let (fixed, dynamic) = (blocks(self.fixed), blocks(self.dynamic));
        let fold_from = |share: u64| (u64::from(fixed + dynamic) * share).div_ceil(1_000_000).max(FOLD_MIN) as u32;
        Ok(SlcSpec { bits: self.bits, fixed, dynamic, fold_from: self.fold_at.map(fold_from) })
    }
}
