//! What tells one history of writes from another.

use block::GOLDEN;

use super::operation::Lpn;

/// The digest after `page` was written to `slot`.
///
/// It is a polynomial of all that was written, so that the digest after many writes in order follows from few of them.
#[inline]
pub fn written(digest: u64, slot: u32, page: Lpn) -> u64 {
    digest.wrapping_mul(STEP).wrapping_add(entry(slot, page))
}

/// What a write adds to the digest: linear in the numbers of both, and never nothing for the first.
#[inline]
pub fn entry(slot: u32, page: Lpn) -> u64 {
    WRITE.wrapping_add(SLOT.wrapping_mul(u64::from(slot))).wrapping_add(PAGE.wrapping_mul(u64::from(page.0)))
}

/// By which the digest is multiplied with each write, and what slots and pages are. Any odd numbers without a pattern do:
/// these are the fractions of the golden ratio and of the square roots of 2, 3 and 5.
pub const STEP: u64 = GOLDEN;
pub const SLOT: u64 = 0x6a09_e667_f3bc_c909;
pub const PAGE: u64 = 0xbb67_ae85_84ca_a73b;
const WRITE: u64 = 0x3c6e_f372_fe94_f82b;
