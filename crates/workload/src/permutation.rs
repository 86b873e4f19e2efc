//! Every number below a bound once, in an order that looks like chance, without remembering which were given out.

use block::Seed;

/// A shuffle of the numbers below a bound.
///
/// A Feistel network over the least power of two that holds the bound moves each number to another, one to one; a
/// number that lands beyond the bound is moved again until it lands below it, which keeps the shuffle one to one.
/// Source for the method: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    cells: u64,
    /// The bits of the lower half, and those of both halves as masks.
    low_bits: u32,
    low: u64,
    high: u64,
    keys: [u64; ROUNDS],
}

/// Enough that neither half can be told from the other half's input.
const ROUNDS: usize = 6;

impl Permutation {
    /// A shuffle of the numbers below `cells`, which are one or more.
    pub fn new(cells: u64, seed: Seed) -> Self {
        let bits = (u64::BITS - (cells - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mask = |bits: u32| (1 << bits) - 1;
        let keys = std::array::from_fn(|round| seed.number(round as u64).get());
        Self { cells, low_bits, low: mask(low_bits), high: mask(bits - low_bits), keys }
    }

    /// Where the number `index` below the bound goes.
    pub fn at(&self, index: u64) -> u64 {
        let mut place = index;
        loop {
            place = self.moved(place);
            if place < self.cells {
                return place;
            }
        }
    }

    fn moved(&self, place: u64) -> u64 {
        let (mut low, mut high) = (place & self.low, place >> self.low_bits);
        for pair in self.keys.chunks_exact(2) {
            low ^= mixed(high ^ pair[0]) & self.low;
            high ^= mixed(low ^ pair[1]) & self.high;
        }
        high << self.low_bits | low
    }
}

/// Spreads every bit of `word` over all of it.
/// Source: S. Vigna, splitmix64, public domain.
const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_whatever_the_bound() {
        for cells in [1, 2, 3, 5, 64, 1000, 4096, 4097, 65_535] {
            let shuffle = Permutation::new(cells, Seed::new(7));
            let mut seen = vec![false; cells as usize];
            (0..cells).for_each(|index| assert!(!std::mem::replace(&mut seen[shuffle.at(index) as usize], true)));
        }
    }

    #[test]
    fn neighbours_are_scattered_and_each_seed_has_its_own_order() {
        let order = |seed| {
            let shuffle = Permutation::new(10_000, Seed::new(seed));
            (0..10_000).map(|index| shuffle.at(index)).collect::<Vec<_>>()
        };
        let (one, other) = (order(1), order(2));
        let apart = one.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum::<u64>() as f64 / 9_999.0;
        assert!((apart / (10_000.0 / 3.0) - 1.0).abs() < 0.03, "two even draws lie a third apart in the mean: {apart}");
        let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 10, "{same} of 10,000 in the same place");
    }

    #[test]
    fn the_largest_bound_is_one() {
        let shuffle = Permutation::new(1 << 40, Seed::new(3));
        assert!((0..1000).all(|index| shuffle.at(index) < 1 << 40));
    }
}
