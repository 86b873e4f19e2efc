//! What is noted of where pages are: their slots, or no more than their blocks.

use super::operation::Lpn;

/// What is noted of pages as they are written and moved.
pub(super) trait Placing {
    /// Whether the map's tables say which of them is in which slot.
    const SLOTS: bool;
    /// Whether all pages of a block that is emptied are valid, where those tables do not say.
    const WHOLE: bool = false;

    /// `page` was written to a slot, and those behind it to the next ones.
    fn put(&mut self, _page: Lpn, _slot: u32) {}

    /// So many of the pages that are `left` in a block are moved to the slots from `to` on.
    fn moved(&mut self, _from: u32, _to: u32, _left: u32, _count: u32) {}
}

/// The slot of each.
pub(super) struct InSlots;

impl Placing for InSlots {
    const SLOTS: bool = true;
}
