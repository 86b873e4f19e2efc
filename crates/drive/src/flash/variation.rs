//! How the parts of flash differ, and how one operation differs from the next.

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::geometry::Geometry;
use crate::draw::{Draws, Factor, Spread, lasting};
use crate::quantiles::Quantiles;

/// Relative standard deviations, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariationSpec {
    /// Of program and erase times between dies.
    pub die: u32,
    /// Between the blocks of a die.
    pub block: u32,
    /// Of program times between the word lines of a block.
    pub word_line: u32,
    /// Between one program and the next of the same page.
    pub program: u32,
    /// Between one erase and the next of the same block.
    pub erase: u32,
    /// Between one array read and the next.
    pub read: u32,
}

/// The flash of one specimen: what was drawn when it was made, and the stream that each operation draws from.
///
/// What a block draws follows from its number and the specimen's seed, so that it takes no memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variation {
    dies: Vec<Factor>,
    blocks: Seed,
    block: Spread,
    /// By position: what programs slowly there does so in every block.
    word_lines: Vec<Factor>,
    program: Quantiles,
    erase: Spread,
    read: Quantiles,
    draws: Draws,
    #[serde(skip)]
    known: KnownBlocks,
}

/// The factors of blocks that were asked for lately, with those of their dies: those that are written are asked for again and
/// again.
#[derive(Clone, Debug)]
struct KnownBlocks(Vec<(u32, Factor)>);

/// More than the blocks that are open in most drives.
const KNOWN_BLOCKS: usize = 1024;

impl Default for KnownBlocks {
    fn default() -> Self {
        Self(vec![(u32::MAX, Factor::ONE); KNOWN_BLOCKS])
    }
}

impl KnownBlocks {
    /// Where the factor of a block is, if it is known, and which block's is there now.
    #[inline(always)]
    fn of(&mut self, block: u32) -> &mut (u32, Factor) {
        &mut self.0[block as usize % KNOWN_BLOCKS]
    }
}

impl Variation {
    /// Flash of this layout, made by `seed`.
    pub fn new(spec: VariationSpec, geometry: &Geometry, seed: Seed) -> Self {
        let made = |part, count, deviation: u32| {
            let (mut draws, spread) = (Draws::new(seed.split(part)), Spread::new(u64::from(deviation)));
            (0..count).map(|_| spread.factor(draws.draw())).collect()
        };
        Self {
            dies: made("dies", geometry.dies(), spec.die),
            blocks: seed.split("blocks"),
            block: Spread::new(u64::from(spec.block)),
            word_lines: made("word lines", geometry.senses_per_block(), spec.word_line),
            program: Spread::new(u64::from(spec.program)).into(),
            erase: Spread::new(u64::from(spec.erase)),
            read: Spread::new(u64::from(spec.read)).into(),
            draws: Draws::new(seed.split("operations")),
            known: KnownBlocks::default(),
        }
    }

    /// Has what operations draw from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }

    /// What an array read of this mean time takes.
    #[inline]
    pub fn read(&mut self, time: Nanos) -> Nanos {
        self.read.vary(&mut self.draws, time)
    }

    /// What an operation of this mean time takes in a block of a die, programs and erases alike.
    #[inline]
    pub fn in_block(&mut self, die: u32, block: u32, time: Nanos) -> Nanos {
        let known = self.known.of(block);
        if known.0 == block { known.1.of(time) } else { self.learn(die, block).of(time) }
    }

    /// Draws the factor of a block of a die, and keeps it.
    #[cold]
    fn learn(&mut self, die: u32, block: u32) -> Factor {
        let drawn = self.block.factor(number(self.blocks, block, u32::MAX));
        let factor = drawn.times(self.dies[die as usize]);
        *self.known.of(block) = (block, factor);
        factor
    }

    /// What programming a page of `word_line` takes that takes so long [in its block](Self::in_block).
    #[inline]
    pub fn program(&mut self, word_line: u32, in_block: Nanos) -> Nanos {
        let lasting = self.word_lines[word_line as usize].of(in_block);
        self.program.factor(self.draws.draw()).of(lasting)
    }

    /// What erasing a block takes.
    pub fn erase(&mut self, die: u32, block: u32, time: Nanos) -> Nanos {
        let lasting = self.in_block(die, block, time);
        self.erase.factor(self.draws.draw()).of(lasting)
    }
}

/// The draw that belongs to a part of a block.
#[inline]
pub const fn number(seed: Seed, block: u32, part: u32) -> u32 {
    lasting(seed, (block as u64) << 32 | part as u64)
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    const GEOMETRY: Geometry = Geometry {
        channels: 8,
        dies_per_channel: 32,
        planes: 1,
        multi_plane: false,
        blocks_per_plane: 8,
        pages_per_block: 100_000,
        page: Bytes::from_kib(4),
        program_pages: 1,
        sense_pages: 1,
    };
    const TIME: Nanos = Nanos::from_micros(600);

    /// The mean and relative deviation of some times.
    fn shape(times: impl Iterator<Item = Nanos>) -> (f64, f64) {
        let times: Vec<f64> = times.map(|time| time.as_nanos() as f64 / TIME.as_nanos() as f64).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
        (mean, squares.sqrt() / mean)
    }

    #[test]
    fn each_level_varies_as_it_should_and_the_mean_stays() {
        let one = |field: fn(&mut VariationSpec) -> &mut u32| {
            let mut spec = VariationSpec::default();
            *field(&mut spec) = 80_000;
            Variation::new(spec, &GEOMETRY, Seed::new(1))
        };
        let near = |found: (f64, f64), slack: f64| {
            assert!((found.0 - 1.0).abs() < slack && (found.1 / 0.08 - 1.0).abs() < 10.0 * slack, "{found:?}");
        };
        let mut dies = one(|spec| &mut spec.die);
        near(shape((0..256).map(|die| dies.in_block(die, die, TIME))), 0.02);
        let mut blocks = one(|spec| &mut spec.block);
        near(shape((0..100_000).map(|block| blocks.erase(0, block, TIME))), 0.002);
        let mut lines = one(|spec| &mut spec.word_line);
        near(shape((0..GEOMETRY.pages_per_block).map(|line| lines.program(line, TIME))), 0.002);
        let mut each = one(|spec| &mut spec.program);
        near(shape((0..100_000).map(|_| each.program(3, TIME))), 0.002);
        let mut each = one(|spec| &mut spec.read);
        near(shape((0..100_000).map(|_| each.read(TIME))), 0.002);
        assert_eq!(each.program(5, TIME), TIME, "what has no deviation is as it was");
    }

    #[test]
    fn a_word_line_keeps_its_time_and_another_specimen_has_its_own() {
        let spec = VariationSpec { die: 50_000, block: 50_000, word_line: 50_000, ..VariationSpec::default() };
        let times = |seed| {
            let mut flash = Variation::new(spec, &GEOMETRY, Seed::new(seed));
            [(0, 1, 2), (0, 1, 3), (1, 9, 2), (0, 1, 2)].map(|(die, block, line)| {
                let in_block = flash.in_block(die, block, TIME);
                flash.program(line, in_block)
            })
        };
        let first = times(1);
        assert_eq!(first, times(1));
        assert_eq!(first[0], first[3]);
        assert!(first[0] != first[1] && first[0] != first[2]);
        assert!(times(2).iter().zip(first).all(|(&other, one)| other != one));
    }
}
