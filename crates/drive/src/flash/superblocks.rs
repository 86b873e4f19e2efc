//! Superblocks: a block of each unit, written side by side and emptied one behind the other everywhere.
//!
//! A controller that stripes data over all its flash keeps account of superblocks and not of single blocks. That with the fewest valid
//! pages is emptied in all units, so that what a page of the host's costs is the same everywhere and changes from one to the next; where each unit chooses for itself, such changes are averaged over all units.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, Unit};
use super::marks::NOT_CLOSED;

/// Streams of data, of the host and of collection, each with superblocks of its own.
const STREAMS: u32 = 2;

/// Which blocks belong together, and which are emptied next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Superblocks {
    blocks_per_unit: u32,
    /// The superblock that each block was last opened for: as many as its unit had opened of the stream, and the stream.
    of: Vec<u32>,
    /// How many each unit has opened of each stream.
    opened: Vec<[u32; STREAMS as usize]>,
    /// What is emptied, in this order, by units that come to it at different times.
    chosen: VecDeque<u32>,
    /// How many were chosen before these.
    done: u32,
    /// How many of all that were chosen each unit has come to.
    taken: Vec<u32>,
}

impl Superblocks {
    /// Nothing has been opened.
    pub fn new(geometry: &Geometry) -> Self {
        let units = geometry.units() as usize;
        Self {
            blocks_per_unit: geometry.blocks_per_plane,
            of: vec![u32::MAX; geometry.blocks() as usize],
            opened: vec![[0; STREAMS as usize]; units],
            chosen: VecDeque::new(),
            done: 0,
            taken: vec![0; units],
        }
    }

    /// Notes that a unit goes on with this block in a stream.
    pub fn open(&mut self, unit: Unit, stream: u32, block: u32) {
        let opened = &mut self.opened[unit.0 as usize][stream as usize];
        self.of[block as usize] = *opened * STREAMS + stream;
        *opened += 1;
    }

    /// Whether others empty a superblock that the unit has not come to. A unit that went by its own free blocks alone would choose
    /// sooner and sooner: what is emptied too soon has more to move, so that the next is needed sooner still.
    #[inline]
    pub fn is_behind(&self, unit: Unit) -> bool {
        self.next_of(unit) < self.chosen.len()
    }

    /// Which of those that were chosen the unit comes to next.
    fn next_of(&self, unit: Unit) -> usize {
        (self.taken[unit.0 as usize] - self.done) as usize
    }

    /// Takes the block that a unit empties next, of the blocks with these counts of valid pages: if it needs
    /// one, that of a superblock that nobody has come to yet.
    pub fn take(&mut self, unit: Unit, is_needed: bool, counts: &[u16]) -> Option<u32> {
        loop {
            let superblock = match self.chosen.get(self.next_of(unit)) {
                Some(superblock) => *superblock,
                None if !is_needed => return None,
                None => match self.choose(counts) {
                    Some(superblock) => {
                        self.chosen.push_back(superblock);
                        superblock
                    }
                    None => return self.fewest(unit, counts),
                },
            };
            self.taken[unit.0 as usize] += 1;
            while self.taken.iter().all(|taken| *taken > self.done) {
                self.chosen.pop_front();
                self.done += 1;
            }
            // A unit has none in it where a block is bad or was emptied for another reason.
            if let Some(block) = self.closed(unit, counts).find(|block| self.of[*block as usize] == superblock) {
                return Some(block);
            }
        }
    }

    /// The superblock with the fewest valid pages a block, among those that are full everywhere and not chosen yet.
    fn choose(&self, counts: &[u16]) -> Option<u32> {
        // Each unit's last one is open.
        let full = [0, 1].map(|stream| self.opened.iter().map(|opened| opened[stream] - 1).min().unwrap_or(0));
        let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (superblock, count) in self.of.iter().zip(counts) {
            if *count < NOT_CLOSED && superblock / STREAMS < full[(superblock % STREAMS) as usize] {
                let (valid, blocks) = sums.entry(*superblock).or_default();
                (*valid, *blocks) = (*valid + u64::from(*count), *blocks + 1);
            }
        }
        let open = sums.into_iter().filter(|(superblock, _)| !self.chosen.contains(superblock));
        let fewest = open.min_by_key(|(superblock, (valid, blocks))| ((valid << 16) / blocks, *superblock));
        fewest.map(|(superblock, _)| superblock)
    }

    /// The closed block of a unit with the fewest valid pages.
    fn fewest(&self, unit: Unit, counts: &[u16]) -> Option<u32> {
        self.closed(unit, counts).min_by_key(|block| counts[*block as usize])
    }

    /// The closed blocks of a unit.
    fn closed<'c>(&self, unit: Unit, counts: &'c [u16]) -> impl Iterator<Item = u32> + use<'c> {
        let first = unit.0 * self.blocks_per_unit;
        (first..first + self.blocks_per_unit).filter(|block| counts[*block as usize] < NOT_CLOSED)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use testkit::Random;

    use super::*;
    use crate::flash::collection::{CollectionPolicy, CollectionSpec};
    use crate::flash::mapping::Mapping;
    use crate::flash::operation::{FlashOp, Lpn};
    use crate::flash::pacing::PacingSpec;

    const PAGES: u32 = 16 * 128 * 84;

    fn map(policy: CollectionPolicy) -> Mapping {
        let geometry = Geometry { channels: 4, dies_per_channel: 4, ..Geometry::four_dies(100, 1) };
        Mapping::new(
            geometry,
            CollectionSpec { policy, pacing: Some(PacingSpec::default()), ..CollectionSpec::DEFAULT },
            None,
            None,
            PAGES,
            None,
        )
    }

    /// A page: five of six writes go to the same half of all pages, most of these to few of them.
    fn skewed(random: &mut Random) -> Lpn {
        let share = random.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        let rank = (f64::from(PAGES) * share.powi(4)) as u64;
        Lpn((rank * 7919 % u64::from(PAGES)) as u32)
    }

    /// All units empty the same superblock, or one that was chosen next to it.
    #[test]
    fn units_empty_the_same_superblocks() {
        let (mut map, mut random, mut plan) = (map(CollectionPolicy::Superblocks), Random::new(3), Vec::new());
        let mut emptied = 0;
        for _ in 0..4 * PAGES {
            map.write(skewed(&mut random), &mut plan);
            emptied += plan.drain(..).filter(|op| matches!(op, FlashOp::Erase(..))).count();
            let superblocks = map.superblocks.as_ref().unwrap();
            assert!(superblocks.chosen.len() <= 3, "{:?}", superblocks.chosen);
            let victims = map.units.iter().filter_map(|unit| unit.victim);
            let emptying: BTreeSet<u32> = victims.map(|victim| superblocks.of[victim.block as usize]).collect();
            assert!(emptying.len() <= 3, "{emptying:?}");
        }
        map.check();
        assert!(emptied > 1_000, "{emptied} blocks");
    }

    /// What is moved for the host's pages changes from one superblock to the next, where units that choose by themselves do so at different times.
    #[test]
    fn skewed_writes_cost_more_at_some_times_than_at_others() {
        let deviation = |policy| {
            let (mut map, mut random, mut plan) = (map(policy), Random::new(4), Vec::new());
            (0..5 * PAGES).for_each(|_| _ = map.write(skewed(&mut random), &mut plan));
            let moved: Vec<f64> = (0..400)
                .map(|_| {
                    let before = map.moved().pages;
                    (0..256).for_each(|_| _ = map.write(skewed(&mut random), &mut plan));
                    plan.clear();
                    (map.moved().pages - before) as f64
                })
                .collect();
            let mean = moved.iter().sum::<f64>() / moved.len() as f64;
            let square = moved.iter().map(|pages| (pages - mean).powi(2)).sum::<f64>() / moved.len() as f64;
            (square.sqrt() / mean, mean / 256.0)
        };
        let (alone, cost) = deviation(CollectionPolicy::Greedy);
        let (together, dear) = deviation(CollectionPolicy::Superblocks);
        assert!(together > 1.5 * alone, "{together:.3} of the mean, {alone:.3} with units by themselves");
        assert!((0.9..1.2).contains(&(dear / cost)), "{dear:.2} and {cost:.2} pages moved a page written");
    }
}
