//! Compressed data, of which a block holds more.

use serde::{Deserialize, Serialize};

use super::geometry::Geometry;
use super::operation::Lpn;
use crate::table::Table;

/// Where logical pages are kept at the size that compression leaves of them, one behind the other (SandForce).
///
/// A page's size is a number of *granules*, the unit in which blocks are counted then. A page may go on in the next flash
/// page of its block, but not in another block: what is left at the end of a block, less than a page, is lost. So a full
/// block never holds fewer pages than it would uncompressed.
///
/// The place of a page within its block is known only as far as pages of it are of equal size; it decides no more than
/// which word line is read.
///
/// Source: E. T. Cohen (LSI), "Variable-size flash translation layer", US 9,495,288: place and length are known finer than to
/// what is read at once, and data may go on in the next flash page. The size of a granule, a 32nd of a page, is a guess.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Packing {
    /// Of a page.
    pub(super) granules: u32,
    /// The least that is left of a page.
    pub(super) size_min: u32,
    /// What is not needed of each logical page as it was last written.
    pub(super) saved: Table<u8>,
    /// Slots of each block that have been written since it was opened, and granules.
    pub(super) used: Vec<u16>,
    pub(super) filled: Vec<u16>,
    /// Granules that were moved and make no page yet.
    pub(super) moved: u32,
}

/// Granules of a block at most: they are counted in 15 bits.
const BLOCK_MAX: u32 = 16_384;

impl Packing {
    /// For so many logical pages on this flash, of which at least `floor` percent are always left.
    pub fn new(geometry: &Geometry, floor: u32, pages: u32) -> Self {
        let granules = Self::granules(geometry.pages_per_block);
        let blocks = geometry.blocks() as usize;
        Self {
            granules,
            size_min: (granules * floor).div_ceil(100).max(1),
            saved: Table::new(pages as usize),
            used: vec![0; blocks],
            filled: vec![0; blocks],
            moved: 0,
        }
    }

    /// Into how many granules each page of such a block is divided.
    fn granules(pages_per_block: u32) -> u32 {
        1 << (BLOCK_MAX / pages_per_block).checked_ilog2().unwrap_or(0).min(5)
    }

    /// Whether blocks of so many pages can be counted finely enough.
    pub fn takes(pages_per_block: u32) -> bool {
        Self::granules(pages_per_block) >= 8
    }

    /// How many pages a block of `pages_per_block` may hold.
    pub fn slots(pages_per_block: u32, floor: u32) -> u32 {
        let granules = Self::granules(pages_per_block);
        pages_per_block * (granules / (granules * floor).div_ceil(100).max(1))
    }

    /// The size of a page of which `entropy` percent are left.
    pub fn size(&self, entropy: u8) -> u32 {
        (u32::from(entropy) * self.granules).div_ceil(100).clamp(self.size_min, self.granules)
    }

    pub fn size_of(&self, page: Lpn) -> u32 {
        self.granules - u32::from(self.saved[page.0 as usize])
    }

    /// Forgets what is in the blocks.
    pub fn clear(&mut self) {
        self.used.fill(0);
        self.filled.fill(0);
    }

    /// Notes that a block is opened.
    pub fn open(&mut self, block: u32) {
        self.used[block as usize] = 0;
        self.filled[block as usize] = 0;
    }

    /// Notes pages that were put one behind the other into a block.
    pub fn add(&mut self, block: u32, pages: u32, granules: u32) {
        self.used[block as usize] += pages as u16;
        self.filled[block as usize] += granules as u16;
    }

    /// Where in its block the `page`th that it holds lies, in pages.
    pub fn place(&self, block: u32, page: u32) -> u32 {
        let (used, filled) = (u32::from(self.used[block as usize]), u32::from(self.filled[block as usize]));
        page * filled / used.max(1) / self.granules
    }

    /// The table of pages by slot, of which only what is used is copied.
    pub fn owners(&self, owners: &[u32], page_bits: u32) -> Table<u32> {
        let mut copy = Table::new(owners.len());
        for (block, &used) in self.used.iter().enumerate() {
            let range = block << page_bits..(block << page_bits) + usize::from(used);
            if owners[range.clone()].iter().any(|&owner| owner != 0) {
                copy[range.clone()].copy_from_slice(&owners[range]);
            }
        }
        copy
    }
}
