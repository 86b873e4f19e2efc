//! Many numbers, which several have in parts, brought into an order of which all are equally likely.

use block::Seed;

use super::side_by_side::side_by_side;
use crate::draw::{Draws, lasting};

/// So many numbers have room near a processor, which goes to and fro among them.
const BUCKET: u64 = 1 << 16;
/// More buckets than this are too many to be filled side by side.
const BUCKETS_MOST: u64 = 1 << 10;

/// Numbers in buckets to which chance brings each of them, in memory that was given for them.
///
/// Once all are in, each bucket is put in order by chance, and so all of them are, one bucket after the other. Memory is gone
/// through from its beginning to its end, where an order that is drawn for all at once would go to and fro in all of it.
/// Source for the method: C. R. Rao, "Generation of random permutations of given number of elements using random sampling
/// numbers", Sankhya A 23, 1961.
pub struct Shuffle<'m> {
    numbers: &'m mut [u32],
    /// Of each part, how many numbers come to each bucket.
    counts: Vec<Vec<u32>>,
    seed: Seed,
}

/// The buckets of a part, as far as they are its own.
pub struct Buckets<'m> {
    buckets: Vec<&'m mut [u32]>,
    /// How many numbers each has by now, and all of them.
    filled: Vec<u32>,
    count: u32,
    seed: Seed,
}

impl<'m> Shuffle<'m> {
    /// For parts of so many numbers, in the first of `numbers`; on so many processors.
    pub fn new(parts: &[u32], numbers: &'m mut [u32], seed: Seed, processors: usize) -> Self {
        let all: u64 = parts.iter().map(|count| u64::from(*count)).sum();
        let buckets = (all / BUCKET).clamp(1, BUCKETS_MOST) as usize;
        let mut counts = vec![vec![0; buckets]; parts.len()];
        let work = (0..).zip(parts).zip(&mut counts).collect();
        side_by_side(processors, work, |((part, count), counts): ((u64, &u32), &mut Vec<u32>)| {
            let seed = seed.number(part);
            (0..*count).for_each(|number| counts[bucket_of(seed, number, buckets)] += 1);
        });
        Self { numbers: &mut numbers[..all as usize], counts, seed }
    }

    /// The buckets of each part, to be filled.
    pub fn parts(&mut self) -> Vec<Buckets<'_>> {
        let buckets = self.counts.first().map_or(0, Vec::len);
        let part = |part| Buckets {
            buckets: Vec::with_capacity(buckets),
            filled: vec![0; buckets],
            count: 0,
            seed: self.seed.number(part),
        };
        let mut parts: Vec<Buckets> = (0..self.counts.len() as u64).map(part).collect();
        let mut rest = &mut *self.numbers;
        for bucket in 0..buckets {
            for (part, counts) in parts.iter_mut().zip(&self.counts) {
                part.buckets
                    .push(rest.split_off_mut(..counts[bucket] as usize).expect("all counts are of the numbers"));
            }
        }
        parts
    }

    /// All numbers, which the parts have put there, in their order.
    pub fn finish(self, processors: usize) -> &'m [u32] {
        let Self { numbers, counts, seed } = self;
        let (buckets, mut rest) = (counts.first().map_or(0, Vec::len), &mut *numbers);
        let bucket = |bucket: usize| {
            let count: u32 = counts.iter().map(|counts| counts[bucket]).sum();
            (bucket as u64, rest.split_off_mut(..count as usize).expect("all counts are of the numbers"))
        };
        let work = (0..buckets).map(bucket).collect();
        let seed = seed.split("order");
        side_by_side(processors, work, |(bucket, numbers): (u64, &mut [u32])| {
            let mut draws = Draws::new(seed.number(bucket));
            for left in (2..=numbers.len()).rev() {
                numbers.swap(draws.below(left as u32) as usize, left - 1);
            }
        });
        numbers
    }
}

impl Buckets<'_> {
    /// Puts a number into the bucket that chance says.
    ///
    /// # Panics
    /// If these are more than there are to be.
    #[inline(always)]
    pub fn put(&mut self, number: u32) {
        let bucket = bucket_of(self.seed, self.count, self.buckets.len());
        let filled = &mut self.filled[bucket];
        self.buckets[bucket][*filled as usize] = number;
        *filled += 1;
        self.count += 1;
    }
}

/// The bucket that a part brings a number to, before which it has put so many.
#[inline(always)]
const fn bucket_of(part: Seed, number: u32, buckets: usize) -> usize {
    ((lasting(part, number as u64) as u64 * buckets as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers up to the sum of the parts' counts, in order before.
    fn shuffled(parts: &[u32], seed: u64, processors: usize) -> Vec<u32> {
        let all: u32 = parts.iter().sum();
        let mut memory = vec![u32::MAX; all as usize + 3];
        let mut shuffle = Shuffle::new(parts, &mut memory, Seed::new(seed), processors);
        let mut numbers = 0..;
        for (part, count) in shuffle.parts().iter_mut().zip(parts) {
            numbers.by_ref().take(*count as usize).for_each(|number| part.put(number));
        }
        shuffle.finish(processors).to_vec()
    }

    #[test]
    fn every_number_comes_once_whoever_does_it() {
        for parts in [&[][..], &[0], &[1], &[3, 0, 4], &[70_000, 1, 200_000]] {
            let one = shuffled(parts, 1, 1);
            assert_eq!(one, shuffled(parts, 1, 3));
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..parts.iter().sum()), "{parts:?}");
            assert!(one.len() < 9 || one != shuffled(parts, 2, 1));
        }
    }

    /// Of neighbours, the distances are as of independent draws: below a tenth of all in 19 % of cases, in one bucket or many.
    #[test]
    fn neighbours_come_apart() {
        for parts in [&[10_000][..], &[300_000, 300_000]] {
            let (bound, all) = (parts.iter().sum::<u32>(), shuffled(parts, 1, 1));
            for lag in [1, 2, bound.isqrt() as usize] {
                let close =
                    all.iter().zip(&all[lag..]).filter(|(one, other)| one.abs_diff(**other) < bound / 10).count();
                let share = close as f64 / (all.len() - lag) as f64;
                assert!((share - 0.19).abs() < 0.015, "{bound} at {lag}: {share}");
            }
        }
    }

    /// Each of a few numbers comes to each place as often as any other.
    #[test]
    fn all_orders_of_a_few_are_as_likely() {
        let mut seen = [[0_u32; 4]; 4];
        for seed in 0..4_000 {
            shuffled(&[1, 3], seed, 1).iter().zip(&mut seen).for_each(|(number, seen)| seen[*number as usize] += 1);
        }
        assert!(seen.as_flattened().iter().all(|times| (900..1_100).contains(times)), "{seen:?}");
    }
}
