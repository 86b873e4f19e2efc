//! Which block of a unit is to be emptied next.

use std::collections::VecDeque;

use block::Seed;
use serde::{Deserialize, Serialize};

use super::collection::CollectionPolicy;
use super::marks::NOT_CLOSED;

/// Finds the block of a unit to be emptied next, by the drive's [`CollectionPolicy`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Candidates {
    /// The fewest valid pages.
    Greedy(Fewest),
    /// The order in which blocks were closed.
    Fifo(VecDeque<u32>),
    /// When each block was closed, counted in closed blocks.
    CostBenefit {
        /// By block.
        closed_at: Vec<u32>,
        /// Blocks closed so far.
        closed: u32,
    },
    /// How many are drawn, and how many were.
    Choices {
        /// Each time.
        of: u32,
        /// So far, over all times.
        drawn: u64,
    },
    /// What all units empty together is chosen for all of them.
    Elsewhere,
}

impl Candidates {
    /// Nothing is known yet.
    pub fn new(policy: CollectionPolicy) -> Self {
        match policy {
            CollectionPolicy::Greedy => Self::Greedy(Fewest::new()),
            CollectionPolicy::Fifo => Self::Fifo(VecDeque::new()),
            CollectionPolicy::CostBenefit => Self::CostBenefit { closed_at: Vec::new(), closed: 0 },
            CollectionPolicy::Choices(of) => Self::Choices { of, drawn: 0 },
            CollectionPolicy::Superblocks => Self::Elsewhere,
        }
    }

    /// The count at and below which a block must be [`note`](Self::note)d.
    #[inline]
    pub const fn level(&self) -> u16 {
        match self {
            Self::Greedy(fewest) => fewest.level,
            _ => 0,
        }
    }

    /// Says that `block` has come to `count`, which is not above the level.
    pub fn note(&mut self, block: u32, count: u16) {
        if let Self::Greedy(fewest) = self {
            fewest.note(block, count);
        }
    }

    /// Says that `block` is full and can be chosen from now on.
    pub fn close(&mut self, block: u32) {
        match self {
            Self::Fifo(order) => order.push_back(block),
            Self::CostBenefit { closed_at, closed } => {
                *closed += 1;
                if closed_at.len() <= block as usize {
                    closed_at.resize(block as usize + 1, 0);
                }
                closed_at[block as usize] = *closed;
            }
            Self::Greedy(_) | Self::Choices { .. } | Self::Elsewhere => {}
        }
    }

    /// Says that `block` is being emptied without having been taken.
    pub fn remove(&mut self, block: u32) {
        if let Self::Fifo(order) = self {
            order.retain(|&closed| closed != block);
        }
    }

    /// The block that is likely to be taken next, if there is one to be told.
    pub fn expected(&self) -> Option<u32> {
        match self {
            Self::Greedy(fewest) => fewest.below.first().or(fewest.at_level.front()).copied(),
            Self::Fifo(order) => order.front().copied(),
            Self::CostBenefit { .. } | Self::Choices { .. } | Self::Elsewhere => None,
        }
    }

    /// Takes the block to be emptied next out of `counts`, which holds all blocks of the unit, each of `pages`
    /// pages; none if no block is closed.
    pub fn take(&mut self, counts: &[u16], pages: u32) -> Option<u32> {
        match self {
            Self::Greedy(fewest) => fewest.take(counts),
            Self::Fifo(order) => order.pop_front(),
            Self::CostBenefit { closed_at, closed } => {
                let score = |block: usize| {
                    let (valid, age) = (u64::from(counts[block]), u64::from(*closed - closed_at[block]) + 1);
                    // Whole numbers: age × (1 − u) / 2u, in millionths of a block.
                    age * (u64::from(pages) - valid) * 1_000_000 / (2 * valid).max(1)
                };
                let closed = (0..closed_at.len().min(counts.len())).filter(|&block| counts[block] < NOT_CLOSED);
                closed.max_by_key(|&block| (score(block), std::cmp::Reverse(block))).map(|block| block as u32)
            }
            Self::Choices { of, drawn } => {
                let mut draw = || {
                    *drawn += 1;
                    let number = Seed::new(0).split("victims").number(*drawn).get();
                    ((u128::from(number) * counts.len() as u128) >> 64) as usize
                };
                // Nearly all blocks are closed, so few draws miss; where none seems to be, look at all.
                let mut any = || {
                    (0..64)
                        .map(|_| draw())
                        .find(|&block| counts[block] < NOT_CLOSED)
                        .or_else(|| counts.iter().position(|&count| count < NOT_CLOSED))
                };
                (0..*of).filter_map(|_| any()).min_by_key(|&block| counts[block]).map(|block| block as u32)
            }
            Self::Elsewhere => None,
        }
    }
}

/// Finds the closed block with the fewest valid pages without keeping all blocks in order.
///
/// Greedy collection takes nearly all its victims at one count, the *level*. So it is enough to
/// know the blocks at the level and the few below it; each is noted as it gets there, which most
/// overwritten pages never bring about. Only when the level itself must move are all counts read,
/// and that is one pass over an array of 16-bit numbers. The choice is exact: always a block with
/// the fewest valid pages, the one that has waited longest at the level first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fewest {
    level: u16,
    at_level: VecDeque<u32>,
    below: Vec<u32>,
}

/// More blocks than this below the level mean that the level is too high.
const BELOW_MAX: usize = 32;

impl Fewest {
    fn new() -> Self {
        Self { level: 0, at_level: VecDeque::new(), below: Vec::new() }
    }

    /// Says that `block` has come to `count`, which is not above the level.
    fn note(&mut self, block: u32, count: u16) {
        debug_assert!(count <= self.level);
        if count == self.level {
            self.at_level.push_back(block);
        } else if count + 1 == self.level || !self.below.contains(&block) {
            self.below.push(block);
        }
    }

    /// Takes the block with the fewest valid pages out of `counts`, which holds all blocks of the unit;
    /// none if no block is closed.
    fn take(&mut self, counts: &[u16]) -> Option<u32> {
        if self.below.len() > BELOW_MAX {
            self.lower(counts);
        }
        if self.at_level.len() > 2 * counts.len() {
            let level = self.level;
            self.at_level.retain(|&block| counts[block as usize] == level);
        }
        if let Some(block) = self.take_below(counts) {
            return Some(block);
        }
        while let Some(block) = self.at_level.pop_front() {
            if counts[block as usize] == self.level {
                return Some(block);
            }
        }
        self.survey(counts);
        self.at_level.pop_front()
    }

    fn take_below(&mut self, counts: &[u16]) -> Option<u32> {
        let level = self.level;
        self.below.retain(|&block| counts[block as usize] < level);
        let (index, _) = self.below.iter().enumerate().min_by_key(|&(_, &block)| counts[block as usize])?;
        Some(self.below.remove(index))
    }

    /// Moves the level down to the highest count below it.
    fn lower(&mut self, counts: &[u16]) {
        let level = self.level;
        self.below.retain(|&block| counts[block as usize] < level);
        let Some(highest) = self.below.iter().map(|&block| counts[block as usize]).max() else { return };
        self.level = highest;
        self.at_level.clear();
        self.at_level.extend(self.below.iter().copied().filter(|&block| counts[block as usize] == highest));
        self.below.retain(|&block| counts[block as usize] < highest);
    }

    /// Sets the level to the lowest count there is and finds all blocks at it.
    fn survey(&mut self, counts: &[u16]) {
        let lowest = counts.iter().copied().min().unwrap_or(NOT_CLOSED);
        self.below.clear();
        self.at_level.clear();
        if lowest < NOT_CLOSED {
            self.level = lowest;
            let at_level = counts.iter().enumerate().filter(|&(_, &count)| count == lowest);
            self.at_level.extend(at_level.map(|(block, _)| block as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that fall at random, victims taken now and then: the choice is always a minimum.
    #[test]
    fn the_choice_is_always_a_block_with_the_fewest_valid_pages() {
        let mut random = testkit::Random::new(9);
        let mut random = |below: usize| random.place(below);
        let mut counts = vec![128_u16; 500];
        let mut candidates = Fewest::new();
        for step in 0..400_000 {
            let block = random(counts.len());
            let count = counts[block];
            if count > 0 && count < NOT_CLOSED {
                counts[block] = count - 1;
                if count - 1 <= candidates.level {
                    candidates.note(block as u32, count - 1);
                }
            }
            if step % 25 == 0 {
                let fewest = counts.iter().copied().min().unwrap();
                let victim = candidates.take(&counts).unwrap() as usize;
                assert_eq!(counts[victim], fewest, "step {step}");
                counts[victim] = if step % 50 == 0 { 128 } else { 64 };
                if counts[victim] <= candidates.level {
                    candidates.note(victim as u32, counts[victim]);
                }
            }
        }
    }

    #[test]
    fn open_blocks_are_never_chosen() {
        let counts = [NOT_CLOSED, NOT_CLOSED | 5, 7, NOT_CLOSED];
        assert_eq!(Fewest::new().take(&counts), Some(2));
        assert_eq!(Fewest::new().take(&[NOT_CLOSED; 3]), None);
    }

    #[test]
    fn the_first_closed_goes_first() {
        let mut candidates = Candidates::new(CollectionPolicy::Fifo);
        [3, 1, 2].into_iter().for_each(|block| candidates.close(block));
        assert_eq!(candidates.take(&[9, 5, 1, 7], 10), Some(3));
        assert_eq!(candidates.take(&[9, 5, 1, 7], 10), Some(1));
    }

    #[test]
    fn age_makes_up_for_cost() {
        let mut candidates = Candidates::new(CollectionPolicy::CostBenefit);
        (0..4).for_each(|block| candidates.close(block));
        // Ages 4, 3, 2, 1; gain over cost 0.5, 0.05, 0.5, 2.
        assert_eq!(candidates.take(&[50, 91, 50, 20], 100), Some(0));
        assert_eq!(candidates.take(&[50 | NOT_CLOSED, 91, 50, 20], 100), Some(3));
    }

    #[test]
    fn many_choices_are_greedy_and_one_is_any() {
        let counts: Vec<u16> = (0..100).map(|block| 100 - block).collect();
        assert_eq!(Candidates::new(CollectionPolicy::Choices(2_000)).take(&counts, 128), Some(99));
        let mut any = Candidates::new(CollectionPolicy::Choices(1));
        let mut seen = [false; 100];
        (0..2_000).for_each(|_| seen[any.take(&counts, 128).unwrap() as usize] = true);
        assert!(seen.iter().all(|&block| block));
        assert_eq!(any.take(&[NOT_CLOSED; 9], 128), None);
    }
}
