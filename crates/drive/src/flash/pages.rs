//! The pages of a word line: each bit of a cell is one, and they differ.

use serde::{Deserialize, Serialize};

use crate::draw::Factor;

/// Bits of a cell at most.
pub const PAGE_TYPES_MAX: usize = 4;

/// What the page types of a word line take, as factors of the mean: lower, middle, upper, top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTypes {
    /// How many there are; they follow one another in a block.
    pub count: u32,
    pub read: [Factor; PAGE_TYPES_MAX],
    pub program: [Factor; PAGE_TYPES_MAX],
}

/// A word line of a block, and one of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLine {
    pub number: u32,
    pub page_type: u32,
}

impl PageTypes {
    /// All pages alike.
    pub const ALIKE: Self = Self { count: 1, read: [Factor::ONE; 4], program: [Factor::ONE; 4] };

    /// Where the page is that the block's array read `sense` brings.
    #[inline]
    pub const fn line(&self, sense: u32) -> WordLine {
        // Dividing by a number that is not known takes long, whatever it is.
        match self.count {
            1 => WordLine { number: sense, page_type: 0 },
            2 => WordLine { number: sense >> 1, page_type: sense & 1 },
            count => WordLine { number: sense / count, page_type: sense % count },
        }
    }
}
