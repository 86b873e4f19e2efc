//! One seed a run, split by name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// 2⁶⁴ divided by the golden ratio: multiples of it are spread evenly. What SplitMix64 goes on by.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The origin of every random choice in a run.
///
/// A stream is had by [`split`](Seed::split)ting it by name, so that adding a draw, or a whole
/// stream, in one part of the program never moves the draws of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(u64);

impl Seed {
    /// The seed with this number.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The number, for a generator or for the record.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seed of the stream called `name`.
    ///
    /// FNV-1a over the name, then SplitMix64's finaliser, so that names that differ in one letter
    /// give unrelated streams.
    /// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    pub const fn split(self, name: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ self.0;
        let bytes = name.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        self.number(hash)
    }

    /// The seed of the `index`-th of several like streams (workers, repeats).
    pub const fn number(self, index: u64) -> Self {
        let mut z = self.0 ^ index.wrapping_add(1).wrapping_mul(GOLDEN);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_give_unrelated_seeds() {
        let seed = Seed::new(42);
        let seeds = [
            seed,
            seed.split("pages"),
            seed.split("page"),
            seed.split("arrivals"),
            seed.number(0),
            seed.number(1),
            Seed::new(43).split("pages"),
        ];
        for (i, a) in seeds.iter().enumerate() {
            for b in &seeds[i + 1..] {
                assert!((a.get() ^ b.get()).count_ones() > 12, "{a} and {b} look alike");
            }
        }
    }

    #[test]
    fn a_name_always_gives_the_same_seed() {
        assert_eq!(Seed::new(1).split("pages"), Seed::new(1).split("pages"));
    }
}
