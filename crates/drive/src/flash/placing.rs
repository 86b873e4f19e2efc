//! What is noted of where pages are: their slots, or no more than their blocks.

use super::operation::Lpn;

/// What is noted of pages as they are written and moved.
pub(super) trait Placing {
    /// Whether it is which of them is in which slot. Otherwise no more is known of a page than its block.
    const SLOTS: bool;

    /// `page` was written to a block.
    fn put(&mut self, _page: Lpn, _block: u32) {}

    /// So many of the pages that are `left` in a block are moved to another.
    fn moved(&mut self, _from: u32, _to: u32, _left: u32, _count: u32) {}
}

/// The slot of each.
pub(super) struct InSlots;

impl Placing for InSlots {
    const SLOTS: bool = true;
}
