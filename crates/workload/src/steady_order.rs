//! The order of writes that leaves a flash drive as endless random writing would have left it.

use block::Seed;

use crate::Spare;
use crate::permutation::Permutation;

/// Writes of as much as a drive has flash for, in such an order that afterwards as many blocks hold as much valid data
/// as after endless random writing; from then on, random writes.
///
/// In the steady state of uniform random writes a drive empties its oldest block whenever it needs room. Data stays
/// valid until it is overwritten by chance, so that of a block at depth `x` in the drive's log the share
/// exp(−x ÷ (A × U)) is valid, where U is the user's data and A the write amplification: while the log grows by A, one
/// page of U is overwritten. The oldest block, at the depth T of all flash, holds u = exp(−T ÷ (A × U)), and emptying it
/// gains 1 − u = 1 ÷ A. These two give u and A for any T ÷ U, and shares that add up to U over the log.
///
/// So the row of T writes is one of writes that stay valid, whose share grows from u at its begin to 1 at its end, and
/// of writes to be overwritten later in the row. Counted from its end, it is a row in which ever fewer blocks come for
/// the first time, each after any of those seen already. How many came up to any place is known from the law above, and
/// which ones from a shuffle, so that any place of the row can be told without remembering another.
///
/// Source for the law: P. Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, on LRU collection,
/// which greedy collection of large blocks comes near. The aim is that of fio's `sprandom`, which overwrites part of
/// each of a hundred regions in the next.
#[derive(Clone, Debug)]
pub(crate) struct SteadyOrder {
    /// Blocks of the user's data: U.
    blocks: u64,
    /// Writes until the state is there: T.
    length: u64,
    /// Over how many writes the share of valid data falls by a factor of e: A × U.
    decay: f64,
    /// Places are settled in groups of so many, each shuffled, lest blocks that stay and blocks that do not fall to
    /// the parts of a drive in turn.
    group: u64,
    which: Permutation,
    places: Seed,
    overwritten: Seed,
    /// The group that was asked for last.
    latest: Option<OrderGroup>,
    /// The place of the next write, and how far apart those of one worker are.
    next: u64,
    stride: u64,
}

/// Neighbours in the row, counted from its end.
#[derive(Clone, Debug)]
struct OrderGroup {
    number: u64,
    /// The first of them.
    start: u64,
    /// Blocks that come for the first time before them, and up to the last of them.
    before: u64,
    through: u64,
    order: Permutation,
}

/// Places of a group in a long row, and how many groups a short one has at least.
const GROUP_MAX: u64 = 4096;
const GROUPS_MIN: u64 = 256;

impl SteadyOrder {
    /// The row over `blocks` blocks of a drive with so much to `spare`, of which this worker, one of `workers`, makes
    /// each so many-th write.
    pub fn new(blocks: u64, spare: Spare, (worker, workers): (u32, u32), seed: Seed) -> Self {
        let length = spare.flash(blocks);
        let oldest = validity_of_oldest(length as f64 / blocks as f64);
        Self {
            blocks,
            length,
            decay: blocks as f64 / (1.0 - oldest),
            group: (length / GROUPS_MIN).clamp(1, GROUP_MAX),
            which: Permutation::new(blocks, seed.split("blocks")),
            places: seed.split("places"),
            overwritten: seed.split("overwritten"),
            latest: None,
            next: u64::from(worker),
            stride: u64::from(workers),
        }
    }

    /// The block of the next write.
    pub fn draw(&mut self) -> u64 {
        let place = self.next;
        self.next += self.stride;
        if place >= self.length {
            return below(self.blocks, self.overwritten.number(place));
        }
        let from_end = self.length - 1 - place;
        let number = from_end / self.group;
        if self.latest.as_ref().is_none_or(|group| group.number != number) {
            self.latest = Some(self.settle(number));
        }
        let group = self.latest.as_ref().expect("it was just settled");
        let rank = group.order.at(from_end - group.start);
        let comes_first = rank < group.through - group.before;
        let any = || below(group.through, self.overwritten.number(place));
        self.which.at(if comes_first { group.before + rank } else { any() })
    }

    /// Settles the places of a group.
    fn settle(&self, number: u64) -> OrderGroup {
        let start = number * self.group;
        let end = (start + self.group).min(self.length);
        let order = Permutation::new(end - start, self.places.number(number));
        OrderGroup { number, start, before: self.distinct(start), through: self.distinct(end), order }
    }

    /// How many blocks come at all in the last `depth` writes of the row: the valid data of that much log.
    fn distinct(&self, depth: u64) -> u64 {
        // exp_m1, because the share of what is young is a small difference of two numbers near one. What rounding
        // leaves of a whole number counts as whole.
        let valid = |depth: u64| -(-(depth as f64) / self.decay).exp_m1();
        let share = valid(depth) / valid(self.length);
        ((share * self.blocks as f64 + 1e-6) as u64).min(depth)
    }
}

/// The share of valid data in the block that is emptied next, where there is `flash` times as much flash as data: the
/// solution below one of u = exp(−flash × (1 − u)).
fn validity_of_oldest(flash: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Below the solution the right side is larger. After so many halvings nothing is left between the two.
    for _ in 0..64 {
        let middle: f64 = (low + high) / 2.0;
        if (-flash * (1.0 - middle)).exp() > middle { low = middle } else { high = middle }
    }
    low
}

/// A number below `bound`, as even as `seed`.
const fn below(bound: u64, seed: Seed) -> u64 {
    ((seed.get() as u128 * bound as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 1 << 20;

    fn row(blocks: u64, spare: &str, worker: (u32, u32)) -> Vec<u64> {
        let spare: Spare = spare.parse().unwrap();
        let mut order = SteadyOrder::new(blocks, spare, worker, Seed::new(7));
        (u64::from(worker.0)..spare.flash(blocks)).step_by(worker.1 as usize).map(|_| order.draw()).collect()
    }

    /// Whether each write of the row is the last of its block.
    fn stays(row: &[u64], blocks: u64) -> Vec<bool> {
        let mut last = vec![usize::MAX; blocks as usize];
        row.iter().enumerate().for_each(|(place, &block)| last[block as usize] = place);
        row.iter().enumerate().map(|(place, &block)| last[block as usize] == place).collect()
    }

    /// Write amplification of LRU collection under uniform random writes.
    /// Source: Desnoyers' α ÷ (α + W(−α e^−α)), with Lambert's W solved apart, by Newton's method in Python:
    /// `w -= (w*exp(w) - z) / (exp(w)*(w + 1))` for z = −α e^−α, two hundred times from 0.
    #[test]
    fn the_oldest_block_is_as_theory_has_it() {
        for (flash, amplification) in [(1.07, 7.817_16), (1.28, 2.481_36), (2.0, 1.255_00)] {
            let found = 1.0 / (1.0 - validity_of_oldest(flash));
            assert!((found / amplification - 1.0_f64).abs() < 1e-4, "{flash}: {found}, expected {amplification}");
        }
    }

    #[test]
    fn every_block_is_written_whatever_the_size_and_the_spare() {
        for blocks in [1, 2, 3, 7, 100, 1000, 4097, 65_536, 1_000_003] {
            for spare in ["0.1%", "7.34%", "28%", "200%", "1000%"] {
                let row = row(blocks, spare, (0, 1));
                let stay = stays(&row, blocks).into_iter().filter(|&stays| stays).count() as u64;
                assert_eq!(stay, blocks, "{blocks} blocks, {spare}");
            }
        }
    }

    /// The share of writes that stay falls with their age as in the log of a drive in steady state.
    #[test]
    fn what_stays_follows_the_law() {
        for spare in ["7%", "28%", "100%"] {
            let row = row(BLOCKS, spare, (0, 1));
            let (stays, length) = (stays(&row, BLOCKS), row.len() as f64);
            let oldest = validity_of_oldest(length / BLOCKS as f64);
            for (tenth, part) in stays.chunks(row.len().div_ceil(10)).enumerate() {
                let age = (9.5 - tenth as f64) / 10.0;
                let expected = oldest.powf(age);
                let found = part.iter().filter(|&&stays| stays).count() as f64 / part.len() as f64;
                assert!((found - expected).abs() < 0.002, "{spare}, tenth {tenth}: {found}, expected {expected}");
            }
        }
    }

    /// A drive spreads neighbours over its dies: no die may get more of what is overwritten than another.
    #[test]
    fn what_is_overwritten_falls_to_all_parts_of_a_drive_alike() {
        let row = row(BLOCKS, "7%", (0, 1));
        let stays = stays(&row, BLOCKS);
        for units in [2, 16, 20, 64] {
            let gone = |unit: usize| stays.iter().skip(unit).step_by(units).filter(|&&stays| !stays).count() as f64;
            let mean = (row.len() as u64 - BLOCKS) as f64 / units as f64;
            let worst = (0..units).map(|unit| (gone(unit) - mean).abs() / mean.sqrt()).fold(0.0, f64::max);
            assert!(worst < 5.0, "{units} units: off by {worst} standard deviations");
        }
    }

    #[test]
    fn workers_share_the_row() {
        let whole = row(1000, "28%", (0, 1));
        let parts: Vec<Vec<u64>> = (0..3).map(|worker| row(1000, "28%", (worker, 3))).collect();
        let woven: Vec<u64> = (0..whole.len()).map(|place| parts[place % 3][place / 3]).collect();
        assert_eq!(woven, whole);
    }

    #[test]
    fn what_comes_after_the_row_is_random() {
        let spare: Spare = "28%".parse().unwrap();
        let mut order = SteadyOrder::new(1000, spare, (0, 1), Seed::new(7));
        (0..spare.flash(1000)).for_each(|_| _ = order.draw());
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[(order.draw() / 100) as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
    }
}
