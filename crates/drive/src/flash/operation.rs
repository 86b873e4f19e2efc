//! What flash is asked to do, and where.

use serde::{Deserialize, Serialize};

use super::geometry::Unit;

/// A logical page: what the host names. Never an index into flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

/// In the place of a page: one of the host's, whichever.
pub const UNNAMED: Lpn = Lpn(u32::MAX);

/// In the map, where places stand inverted: nothing was written there, unless it [lies in order](super::extents) or [was drawn](super::drawn). Memory fresh
/// from the system is zero, so that a large drive takes only what is used of it.
pub const UNMAPPED: u32 = 0;
/// Likewise: what was written there was trimmed.
pub const TRIMMED: u32 = 1;

/// How many bits each cell of a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cells {
    /// As many as the flash is made for.
    Native,
    /// One: quick, but a block holds less.
    Single,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLocation {
    pub unit: Unit,
    pub cells: Cells,
    /// The number of its block in the drive.
    pub block: u32,
    /// Which of the block's array reads brings it into the register.
    pub sense: u32,
}

/// Something that flash must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashOp {
    /// Program with data from the controller: one flash page, of as many logical pages as it holds; where its first is.
    Program(PageLocation),
    /// Move logical pages from one block of a unit to another.
    Move(Unit, Moved),
    /// Erase one block of a unit.
    Erase(Unit, u32),
}

/// What moving some logical pages takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Logical pages.
    pub pages: u32,
    /// Array reads that bring them.
    pub reads: u32,
    /// The block that they come from, and the last of these reads.
    pub from: (u32, u32),
    /// Flash pages that they fill.
    pub programs: u32,
    /// The block that the last of them went to, and which of its array reads would bring that one.
    pub to: (u32, u32),
}
