//! Writes that are taken no faster than garbage collection makes room for them.

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::Geometry;
use super::nand::NandTimes;
use super::operation::FlashOp;
use crate::draw::{Draws, Spread};
use crate::quantiles::Quantiles;

/// How writes are paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacingSpec {
    /// The time from one page to the next, in millionths of what the flash needs for it and its moves.
    pub share: u32,
    /// How many pages may come early: so many more are taken at once after idle time.
    pub burst: u32,
    /// What the controller takes for each page that is moved, one after the other for all dies.
    pub page_move: Nanos,
    /// How that differs from one write's pages to the next one's.
    pub page_move_spread: Spread,
}

/// The rate at which a drive takes pages, from what they have cost lately.
///
/// While there is no garbage collection nothing waits. Once there is, each page written brings moves with it; the controller
/// takes pages one after the other, each after the time that the flash needs for it and its moves when all dies work, or the
/// controller itself for its moves, if that is longer. So a write that comes in a burst waits a little, in place of some that
/// wait for a full buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pacing {
    spec: PacingSpec,
    costs: PageCosts,
    moving: Quantiles,
    /// Pages moved for each page that the host wrote, in 2⁻¹⁶, as a moving average.
    moved: u64,
    /// Array reads for these, likewise.
    reads: u64,
    /// When the next page can be taken, if none comes early.
    next: Nanos,
    /// How long the flash has worked ahead while writes were held, of which what is written now has a part.
    ahead: Nanos,
    /// At how much of the time from one page to the next they are taken meanwhile, in millionths.
    catch_up: u32,
}

/// What work takes of all dies together, in picoseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PageCosts {
    /// A logical page's part of a program, and its transfer.
    program: u64,
    /// An array read.
    read: u64,
    /// A page's transfer after that.
    carry: u64,
}

/// A page's share in the moving averages, as a power of two.
const SHARE: u32 = 9;

/// Writes that would have to wait for longer are limited by the flash.
pub const BEHIND: Nanos = Nanos::from_millis(1);

/// How many pages a plan moves, and how many it reads for that.
#[inline]
fn moved_and_read(plan: &[FlashOp]) -> [u64; 2] {
    let (mut moved, mut reads) = (0, 0);
    for op in plan {
        if let FlashOp::Move(_, moves) = op {
            (moved, reads) = (moved + u64::from(moves.pages), reads + u64::from(moves.reads));
        }
    }
    [moved, reads]
}

impl Pacing {
    /// A drive that nothing was written to.
    pub fn new(spec: PacingSpec, geometry: &Geometry, times: &NandTimes) -> Self {
        let together = u64::from(geometry.program_pages);
        let of = |time: Nanos, parts: u64| time.as_nanos() * 1000 / parts / u64::from(geometry.dies());
        let transfer = times.channel.time_for(geometry.page);
        let costs = PageCosts {
            program: of(times.program, together) + of(transfer, 1),
            read: of(times.read, 1),
            carry: if times.copy_back { 0 } else { of(transfer, 1) },
        };
        Self {
            spec,
            costs,
            moving: spec.page_move_spread.into(),
            moved: 0,
            reads: 0,
            next: Nanos::ZERO,
            ahead: Nanos::ZERO,
            catch_up: 1_000_000,
        }
    }

    /// Notes what writing a page of the host's brought about.
    #[inline]
    pub fn note(&mut self, plan: &[FlashOp]) {
        let [moved, reads] = moved_and_read(plan).map(|pages| pages << 16);
        self.average(moved, reads);
    }

    /// The same of so many pages that were written together, each of which had an equal share in it.
    pub fn note_together(&mut self, plan: &[FlashOp], pages: u32) {
        let [moved, reads] = moved_and_read(plan).map(|all| (all << 16) / u64::from(pages));
        (0..pages).for_each(|_| self.average(moved, reads));
    }

    #[inline]
    fn average(&mut self, moved: u64, reads: u64) {
        let average = |mean: &mut u64, new: u64| *mean = *mean - (*mean >> SHARE) + (new >> SHARE);
        average(&mut self.moved, moved);
        average(&mut self.reads, reads);
    }

    /// From one page to the next in the mean, and whether that is the controller's time.
    #[inline]
    fn each(&self) -> (Nanos, bool) {
        let PageCosts { program, read, carry } = self.costs;
        let moving = (self.moved * (program + carry) + self.reads * read) >> 16;
        let flash = (program + moving) / 1000 * u64::from(self.spec.share) / 1_000_000;
        let controller = (self.moved * self.spec.page_move.as_nanos()) >> 16;
        (Nanos::from_nanos(flash.max(controller)), controller > flash)
    }

    /// When a write of so many pages that is there at `now` has been taken.
    #[inline]
    pub fn take(&mut self, now: Nanos, pages: u64, draws: &mut Draws) -> Nanos {
        if self.moved >> 15 == 0 {
            return now;
        }
        let (each, is_controller) = self.each();
        let all = each.times(pages);
        let time = if is_controller { self.moving.vary(draws, all) } else { all };
        let turn = self.next.max(now);
        self.next = turn + time - self.saved(turn > now, time);
        now + (turn - now).since(each.times(u64::from(self.spec.burst)))
    }

    /// How much sooner the next page has its turn for what the flash has done ahead, of which nothing is left once writes no longer
    /// wait.
    #[inline]
    fn saved(&mut self, is_waiting: bool, time: Nanos) -> Nanos {
        if self.ahead == Nanos::ZERO {
            return Nanos::ZERO;
        }
        let most = time - Nanos::from_nanos(time.as_nanos() * u64::from(self.catch_up) / 1_000_000);
        let saved = if is_waiting { most.min(self.ahead) } else { Nanos::ZERO };
        self.ahead = if is_waiting { self.ahead - saved } else { Nanos::ZERO };
        saved
    }

    /// Has writes wait from `from` on for `length` while the flash works ahead, and be taken in so many millionths of the time behind
    /// that, until they have caught up with it.
    pub fn hold(&mut self, from: Nanos, length: Nanos, catch_up: u32) {
        if self.next <= from {
            (self.next, self.ahead) = (from, Nanos::ZERO);
        }
        (self.next, self.ahead, self.catch_up) = (self.next + length, self.ahead + length, catch_up);
    }

    /// When the next write has its turn, if none comes early. More than [`BEHIND`] from now is more than the flash can keep up
    /// with.
    #[inline]
    pub const fn turn(&self) -> Nanos {
        self.next
    }

    /// The drive has come to rest.
    pub fn restart(&mut self) {
        (self.next, self.ahead) = (Nanos::ZERO, Nanos::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Rate, Seed};

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
            channel: Rate::from_bytes_per_second(1_000_000_000_000),
            copy_back: true,
            cache_program: false,
            keeps_page: false,
        };
        Pacing::new(
            PacingSpec { share, burst: 0, page_move: Nanos::ZERO, page_move_spread: Spread::NONE },
            &GEOMETRY,
            &times,
        )
    }

    /// Of a drive whose controller does not vary.
    fn take(pacing: &mut Pacing, now: Nanos, pages: u64) -> Nanos {
        pacing.take(now, pages, &mut Draws::new(Seed::new(1)))
    }

    fn moves(pages: u32) -> FlashOp {
        FlashOp::Move(Unit(0), Moved { pages, reads: pages, ..Moved::default() })
    }

    #[test]
    fn without_collection_nothing_waits() {
        let mut pacing = pacing(1_000_000);
        for _ in 0..10_000 {
            pacing.note(&[]);
            assert_eq!(take(&mut pacing, Nanos::ZERO, 1), Nanos::ZERO);
        }
    }

    /// A hundred pages a millisecond of all dies, of which three moved for each written leave a quarter: 40 µs. Their three
    /// array reads of 50 µs on ten dies take 15 µs.
    #[test]
    fn in_the_steady_state_pages_are_taken_as_fast_as_flash_programs_them_and_their_moves() {
        for (share, each) in [(1_000_000, 55), (2_000_000, 110)] {
            let mut pacing = pacing(share);
            (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
            take(&mut pacing, Nanos::ZERO, 1);
            let second = take(&mut pacing, Nanos::ZERO, 1).as_nanos();
            assert!(second.abs_diff(each * 1000) < 400, "{second} ns at {share}");
            let late = Nanos::from_secs(1);
            assert_eq!(take(&mut pacing, late, 5), late, "after a rest it is taken at once");
            let next = take(&mut pacing, late, 1) - late;
            assert!(next.as_nanos().abs_diff(5 * each * 1000) < 2_000, "{next} after five");
        }
    }

    /// The flash takes 55 us for a page and its three moves, as above.
    #[test]
    fn pages_are_taken_no_faster_than_the_controller_moves_others() {
        for (page_move, each) in [(10, 55), (18, 55), (20, 60), (100, 300)] {
            let mut pacing = pacing(1_000_000);
            pacing.spec.page_move = Nanos::from_micros(page_move);
            (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
            take(&mut pacing, Nanos::ZERO, 1);
            let second = take(&mut pacing, Nanos::ZERO, 1).as_nanos();
            assert!(second.abs_diff(each * 1000) < 400, "{second} ns with {page_move} us a move");
        }
    }

    /// Three moves of 100 us a page: 300 us, which differ by 65 % from one page to the next. Those of the flash do not.
    #[test]
    fn only_what_the_controller_takes_differs_from_write_to_write() {
        const COUNT: u64 = 200_000;
        for (page_move, spread, expected) in [(100, 650_000, 300_000.0), (10, 650_000, 55_000.0), (100, 0, 300_000.0)] {
            let mut pacing = pacing(1_000_000);
            pacing.spec.page_move = Nanos::from_micros(page_move);
            pacing.moving = Spread::new(spread).into();
            (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
            let mut draws = Draws::new(Seed::new(7));
            let turns: Vec<f64> =
                (0..=COUNT).map(|_| pacing.take(Nanos::ZERO, 1, &mut draws).as_nanos() as f64).collect();
            let mean = turns[COUNT as usize] / COUNT as f64;
            let variance = turns.windows(2).map(|pair| (pair[1] - pair[0] - mean).powi(2)).sum::<f64>() / COUNT as f64;
            let wanted = if page_move == 100 { spread as f64 / 1e6 } else { 0.0 };
            assert!((mean / expected - 1.0).abs() < 0.01, "{mean} ns from one to the next with {page_move} us a move");
            assert!((variance.sqrt() / mean - wanted).abs() < 0.02, "{} of {mean} ns", variance.sqrt());
        }
    }

    #[test]
    fn a_burst_is_taken_at_once_and_paid_for_before_the_next() {
        let mut pacing = pacing(1_000_000);
        pacing.spec.burst = 3;
        (0..20_000).for_each(|_| pacing.note(&[moves(3)]));
        let waits: Vec<u64> = (0..6).map(|_| take(&mut pacing, Nanos::ZERO, 1).as_nanos()).collect();
        let wanted = [0, 0, 0, 0, 55_000, 110_000];
        assert!(waits.iter().zip(wanted).all(|(wait, wanted)| wait.abs_diff(wanted) < 800), "{waits:?}");
        assert!(pacing.turn() < BEHIND);
        take(&mut pacing, Nanos::ZERO, 20);
        assert!(pacing.turn() > BEHIND);
    }

    #[test]
    fn once_collection_ends_nothing_waits_any_more() {
        let mut pacing = pacing(1_000_000);
        (0..20_000).for_each(|_| pacing.note(&[moves(4)]));
        (0..20_000).for_each(|_| pacing.note(&[]));
        pacing.restart();
        assert_eq!((take(&mut pacing, Nanos::ZERO, 9), take(&mut pacing, Nanos::ZERO, 1)), (Nanos::ZERO, Nanos::ZERO));
    }

    /// 1 ms for which writes are held, and a page each 55 µs: in three quarters of the time until 4 ms of it are written.
    #[test]
    fn what_the_flash_did_ahead_while_writes_were_held_is_caught_up_with_and_no_more() {
        let us = Nanos::from_micros;
        let mut pacing = pacing(1_000_000);
        (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
        let mut alone = pacing.clone();
        let until = us(1_000);
        pacing.hold(Nanos::ZERO, until, 750_000);
        let each = alone.each().0;
        let turns: Vec<Nanos> = (0..120).map(|_| take(&mut pacing, Nanos::ZERO, 1)).collect();
        let same: Vec<Nanos> = (0..120).map(|_| take(&mut alone, Nanos::ZERO, 1)).collect();
        assert_eq!(turns[0], until, "behind the hold");
        let ahead = turns.windows(2).filter(|pair| pair[1] - pair[0] < each).count();
        assert!((71..=74).contains(&ahead), "{ahead} of 4 ms / 55 us");
        assert_eq!(turns[20] - turns[0], Nanos::from_nanos(each.as_nanos() * 3 / 4).times(20), "{each}");
        assert_eq!(turns[119], same[119], "as if nothing had been held");
    }

    #[test]
    fn a_flash_that_waits_for_writes_has_nothing_ahead() {
        let mut pacing = pacing(1_000_000);
        (0..20_000).for_each(|_| pacing.note(&[moves(1), moves(2)]));
        pacing.hold(Nanos::ZERO, Nanos::from_millis(1), 500_000);
        let rested = Nanos::from_millis(2);
        assert_eq!(take(&mut pacing, rested, 1), rested);
        assert_eq!(take(&mut pacing, rested, 1) - rested, pacing.each().0, "at the pace of the flash");
        pacing.hold(Nanos::from_millis(3), Nanos::from_millis(1), 500_000);
        assert_eq!(pacing.turn(), Nanos::from_millis(4));
        assert_eq!(pacing.ahead, Nanos::from_millis(1), "of the last hold alone");
    }
}
