//! Writes that are taken no faster than garbage collection makes room for them.

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::Geometry;
use super::nand::NandTimes;
use super::operation::FlashOp;

/// The rate at which a drive takes pages, from what they have cost lately.
///
/// While there is no garbage collection nothing waits. Once there is, each page written brings moves with it; the controller
/// takes pages one after the other, each after the time that the flash needs for it and its moves when all dies program. So a
/// write that comes in a burst waits a little, in place of some that wait for a full buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pacing {
    /// What a page takes of all dies together, times the share of the drive's file.
    page: Nanos,
    /// Pages moved for each page that the host wrote, in 2⁻¹⁶, as a moving average.
    moved: u64,
    /// When the next page can be taken.
    next: Nanos,
}

/// A page's share in the moving average, as a power of two.
const SHARE: u32 = 9;

impl Pacing {
    /// A drive that nothing was written to, which takes so many millionths of the time that its flash needs.
    pub fn new(share: u32, geometry: &Geometry, times: &NandTimes) -> Self {
        let pages = u64::from(geometry.program_pages) * u64::from(geometry.dies());
        let page = times.program.as_nanos() * u64::from(share) / 1_000_000 / pages;
        Self { page: Nanos::from_nanos(page), moved: 0, next: Nanos::ZERO }
    }

    /// Notes what writing a page of the host's brought about.
    #[inline]
    pub fn note(&mut self, plan: &[FlashOp]) {
        let moved: u32 = plan.iter().map(|op| if let FlashOp::Move(_, moved) = op { moved.pages } else { 0 }).sum();
        self.moved = self.moved - (self.moved >> SHARE) + (u64::from(moved) << (16 - SHARE));
    }

    /// When a write of so many pages that is there at `now` has been taken.
    #[inline]
    pub fn take(&mut self, now: Nanos, pages: u64) -> Nanos {
        if self.moved >> 15 == 0 {
            return now;
        }
        let each = Nanos::from_nanos((self.page.as_nanos() * ((1 << 16) + self.moved)) >> 16);
        let taken = self.next.max(now);
        self.next = taken + each.times(pages);
        taken
    }

    /// The drive has come to rest.
    pub fn restart(&mut self) {
        self.next = Nanos::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Rate};

    use super::super::geometry::Unit;
    use super::super::operation::Moved;
    use super::super::{CellTimes, PageTypes};
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        channels: 2,
        dies_per_channel: 5,
        planes: 1,
        multi_plane: false,
        blocks_per_plane: 8,
        pages_per_block: 64,
        page: Bytes::from_kib(4),
        program_pages: 10,
        sense_pages: 1,
    };

    fn pacing(share: u32) -> Pacing {
        let (read, program) = (Nanos::from_micros(50), Nanos::from_millis(1));
        let times = NandTimes {
            read,
            program,
            pages: PageTypes::ALIKE,
            single: CellTimes { read, program },
            erase: Nanos::from_millis(5),
            channel: Rate::from_bytes_per_second(1_000_000_000),
            copy_back: false,
            cache_program: false,
            keeps_page: false,
        };
        Pacing::new(share, &GEOMETRY, &times)
    }

    fn moves(pages: u32) -> FlashOp {
        FlashOp::Move(Unit(0), Moved { pages, ..Moved::default() })
    }

    #[test]
    fn without_collection_nothing_waits() {
        let mut pacing = pacing(1_000_000);
        for _ in 0..10_000 {
            pacing.note(&[]);
            assert_eq!(pacing.take(Nanos::ZERO, 1), Nanos::ZERO);
        }
    }

    /// A hundred pages a millisecond of all dies; three moved for each written leave a quarter.
    #[test]
    fn in_the_steady_state_pages_are_taken_as_fast_as_flash_programs_them_and_their_moves() {
        for (share, each) in [(1_000_000, 40), (1_500_000, 60)] {
            let mut pacing = pacing(share);
            (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
            pacing.take(Nanos::ZERO, 1);
            let second = pacing.take(Nanos::ZERO, 1).as_nanos();
            assert!(second.abs_diff(each * 1000) < 400, "{second} ns at {share}");
            let late = Nanos::from_secs(1);
            assert_eq!(pacing.take(late, 5), late, "after a rest it is taken at once");
            let next = pacing.take(late, 1) - late;
            assert!(next.as_nanos().abs_diff(5 * each * 1000) < 2_000, "{next} after five");
        }
    }

    #[test]
    fn once_collection_ends_nothing_waits_any_more() {
        let mut pacing = pacing(1_000_000);
        (0..20_000).for_each(|_| pacing.note(&[moves(4)]));
        (0..20_000).for_each(|_| pacing.note(&[]));
        pacing.restart();
        assert_eq!((pacing.take(Nanos::ZERO, 9), pacing.take(Nanos::ZERO, 1)), (Nanos::ZERO, Nanos::ZERO));
    }
}
