//! Which block of a unit has the fewest valid pages.

/// Set in a block's count while the block is open, free or being collected: it is no candidate then.
pub const NOT_CLOSED: u16 = 0x8000;

/// Finds the closed block with the fewest valid pages without keeping all blocks in order.
///
/// Greedy collection takes nearly all its victims at one count, the *level*. So it is enough to
/// know the blocks at the level and the few below it; each is noted as it gets there, which most
/// overwritten pages never bring about. Only when the level itself must move are all counts read,
/// and that is one pass over an array of 16-bit numbers. The choice is exact: always a block with
/// the fewest valid pages, the one that has waited longest at the level first.
#[derive(Clone, Debug)]
pub struct Candidates {
    level: u16,
    at_level: std::collections::VecDeque<u32>,
    below: Vec<u32>,
}

/// More blocks than this below the level mean that the level is too high.
const BELOW_MAX: usize = 32;

impl Candidates {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self { level: 0, at_level: Default::default(), below: Vec::new() }
    }

    /// The count at and below which a block must be [`note`](Self::note)d.
    #[inline]
    pub const fn level(&self) -> u16 {
        self.level
    }

    /// Says that `block` has come to `count`, which is not above the level.
    pub fn note(&mut self, block: u32, count: u16) {
        debug_assert!(count <= self.level);
        if count == self.level {
            self.at_level.push_back(block);
        } else if count + 1 == self.level || !self.below.contains(&block) {
            self.below.push(block);
        }
    }

    /// Takes the block with the fewest valid pages out of `counts`, which holds all blocks of the unit;
    /// none if no block is closed.
    pub fn take(&mut self, counts: &[u16]) -> Option<u32> {
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
        let mut state = 9_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) as usize) % below
        };
        let mut counts = vec![128_u16; 500];
        let mut candidates = Candidates::new();
        for step in 0..400_000 {
            let block = random(counts.len());
            let count = counts[block];
            if count > 0 && count < NOT_CLOSED {
                counts[block] = count - 1;
                if count - 1 <= candidates.level() {
                    candidates.note(block as u32, count - 1);
                }
            }
            if step % 25 == 0 {
                let fewest = counts.iter().copied().min().unwrap();
                let victim = candidates.take(&counts).unwrap() as usize;
                assert_eq!(counts[victim], fewest, "step {step}");
                counts[victim] = if step % 50 == 0 { 128 } else { 64 };
                if counts[victim] <= candidates.level() {
                    candidates.note(victim as u32, counts[victim]);
                }
            }
        }
    }

    #[test]
    fn open_blocks_are_never_chosen() {
        let counts = [NOT_CLOSED, NOT_CLOSED | 5, 7, NOT_CLOSED];
        assert_eq!(Candidates::new().take(&counts), Some(2));
        assert_eq!(Candidates::new().take(&[NOT_CLOSED; 3]), None);
    }
}
