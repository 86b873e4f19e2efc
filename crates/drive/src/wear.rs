//! How flash wears out: erase counts, bad blocks, the reserve, and the evening out of wear.

use block::Seed;
use serde::{Deserialize, Serialize};

/// How long flash lasts, and what a drive does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WearSpec {
    /// Erases that a block is rated for.
    pub rated: u32,
    /// The standard deviation of what blocks really stand, in millionths of `rated`.
    pub deviation_ppm: u32,
    /// Blocks that are bad from the factory, in millionths of all.
    pub factory_bad_ppm: u32,
    /// Blocks that fail before their time, in erases that went wrong of 1,000 million.
    pub failures_ppb: u32,
    /// Blocks that may go bad in use, in millionths of all, before the drive takes no more writes.
    pub reserve_ppm: u32,
    /// How many more erases than the least worn block of its unit another may have before the least worn
    /// one is collected, whatever it holds; none if wear is evened out by allocation alone.
    pub spread_max: Option<u32>,
    /// Whether the least worn of the free blocks is written next, rather than the one that is free the longest.
    pub least_worn_first: bool,
}

/// What is to be done with a block that was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseVerdict {
    /// It can be written again.
    Good,
    /// It has gone bad and must never be used again.
    Retired,
}

/// The wear of a drive's flash.
///
/// It decides and counts; it neither moves data nor takes time. The translation layer asks which blocks were bad
/// from the start ([`is_bad`](Self::is_bad)), tells it of every erase ([`erased`](Self::erased)), and asks
/// before each collection whether a cold block must go first ([`cold`](Self::cold)). What each block stands
/// follows from the seed and its number, so a block costs four bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wear {
    spec: WearSpec,
    endurance: Seed,
    factory: Seed,
    failures: Seed,
    /// Erases of each block, with [`BAD`] set once it is bad; blocks unit by unit.
    erases: Vec<u32>,
    blocks_per_unit: u32,
    units: Vec<UnitWear>,
    total: u64,
    factory_bad: u32,
    retired: u32,
    reserve: u32,
}

/// What is known of the good blocks of a unit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct UnitWear {
    /// The fewest erases of any, and how many have no more.
    min: u32,
    at_min: u32,
    /// The most erases of any.
    max: u32,
}

/// How worn a drive is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WearSummary {
    /// Erases that a block is rated for.
    pub rated: u32,
    /// The fewest and the most erases of any good block, and the mean over all blocks, rounded down.
    pub erases_min: u32,
    /// See `erases_min`.
    pub erases_max: u32,
    /// See `erases_min`.
    pub erases_mean: u32,
    /// Blocks that were bad from the factory.
    pub factory_bad: u32,
    /// Blocks that went bad in use.
    pub retired: u32,
    /// Blocks that may go bad in use.
    pub reserve: u32,
    /// Whether the drive takes no more writes.
    pub read_only: bool,
}

impl WearSummary {
    /// That of two drives together: blocks are added up, and the mean is the higher one.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            rated: self.rated.min(other.rated),
            erases_min: self.erases_min.min(other.erases_min),
            erases_max: self.erases_max.max(other.erases_max),
            erases_mean: self.erases_mean.max(other.erases_mean),
            factory_bad: self.factory_bad + other.factory_bad,
            retired: self.retired + other.retired,
            reserve: self.reserve + other.reserve,
            read_only: self.read_only || other.read_only,
        }
    }

    /// The same where a copy of the flash was worn from one state to another in its place.
    pub(crate) fn gone(self, from: &Self, to: &Self) -> Self {
        let more = |of: fn(&Self) -> u32| of(&self) + of(to).saturating_sub(of(from));
        Self {
            erases_min: more(|wear| wear.erases_min),
            erases_max: more(|wear| wear.erases_max),
            erases_mean: more(|wear| wear.erases_mean),
            retired: more(|wear| wear.retired),
            read_only: self.read_only || to.read_only,
            ..self
        }
    }
}

/// In a block's erases: it is bad.
const BAD: u32 = 1 << 31;

impl Wear {
    /// Fresh flash of so many units; `seed` decides which blocks are good for how long.
    pub fn new(spec: WearSpec, units: u32, blocks_per_unit: u32, seed: Seed) -> Self {
        let blocks = units * blocks_per_unit;
        let mut wear = Self {
            spec,
            endurance: seed.split("endurance"),
            factory: seed.split("factory"),
            failures: seed.split("failures"),
            erases: vec![0; blocks as usize],
            blocks_per_unit,
            units: vec![UnitWear::default(); units as usize],
            total: 0,
            factory_bad: 0,
            retired: 0,
            reserve: share(blocks, spec.reserve_ppm),
        };
        for block in 0..blocks {
            if wear.factory.number(u64::from(block)).get() % 1_000_000 < u64::from(spec.factory_bad_ppm) {
                wear.erases[block as usize] = BAD;
                wear.factory_bad += 1;
            }
        }
        (0..units).for_each(|unit| wear.survey(unit));
        wear
    }

    /// Whether a block must not be used.
    #[inline]
    pub fn is_bad(&self, block: u32) -> bool {
        self.erases[block as usize] & BAD != 0
    }

    #[inline]
    pub fn erases(&self, block: u32) -> u32 {
        self.erases[block as usize] & !BAD
    }

    /// Notes that `block` was erased; whether it can be used again. Its last erase is the one that it does
    /// not stand, or one that goes wrong before.
    pub fn erased(&mut self, block: u32) -> EraseVerdict {
        let before = self.erases[block as usize];
        assert!(before & BAD == 0, "block {block} was erased after it had gone bad");
        let erases = before + 1;
        let unit = block / self.blocks_per_unit;
        self.total += 1;
        let stands = erases <= self.endurance_of(block) && !self.fails(block, erases);
        self.erases[block as usize] = if stands { erases } else { erases | BAD };
        if !stands {
            self.retired += 1;
            self.survey(unit);
            return EraseVerdict::Retired;
        }
        let state = &mut self.units[unit as usize];
        state.max = state.max.max(erases);
        if before == state.min {
            state.at_min -= 1;
            if state.at_min == 0 {
                self.survey(unit);
            }
        }
        EraseVerdict::Good
    }

    /// The block of `unit` that must be collected for the sake of even wear: the least worn of those that
    /// `can_go`, if the most worn block has been erased that much more often.
    pub fn cold(&self, unit: u32, can_go: impl Fn(u32) -> bool) -> Option<u32> {
        let spread_max = self.spec.spread_max?;
        let state = &self.units[unit as usize];
        if state.max - state.min <= spread_max {
            return None;
        }
        let limit = state.max - spread_max;
        let blocks = self.blocks_of(unit).filter(|&block| self.erases[block as usize] < limit && can_go(block));
        blocks.min_by_key(|&block| self.erases[block as usize])
    }

    /// How many blocks of `unit` can be used.
    pub fn good(&self, unit: u32) -> u32 {
        self.blocks_of(unit).filter(|&block| !self.is_bad(block)).count() as u32
    }

    /// How long the flash lasts.
    pub fn spec(&self) -> &WearSpec {
        &self.spec
    }

    /// Whether so many blocks have gone bad that the drive takes no more writes: the end of its life.
    pub fn is_read_only(&self) -> bool {
        self.retired > self.reserve
    }

    /// How worn the drive is.
    pub fn summary(&self) -> WearSummary {
        let living = || self.units.iter().filter(|unit| unit.at_min > 0);
        WearSummary {
            rated: self.spec.rated,
            erases_min: living().map(|unit| unit.min).min().unwrap_or(0),
            erases_max: living().map(|unit| unit.max).max().unwrap_or(0),
            erases_mean: (self.total / (self.erases.len() as u64).max(1)) as u32,
            factory_bad: self.factory_bad,
            retired: self.retired,
            reserve: self.reserve,
            read_only: self.is_read_only(),
        }
    }

    /// Erases that `block` stands: about normal around what it is rated for, at least one.
    ///
    /// The sum of four even draws of 16 bits has a mean of 131,070 and a standard deviation of 37,837, and
    /// reaches 3.46 of those at most.
    fn endurance_of(&self, block: u32) -> u32 {
        let draw = self.endurance.number(u64::from(block)).get();
        let sum: u64 = (0..4).map(|part| draw >> (16 * part) & 0xffff).sum();
        let (rated, off) = (i64::from(self.spec.rated), sum as i64 - 131_070);
        let deviation = i128::from(rated) * i128::from(self.spec.deviation_ppm) * i128::from(off);
        (i128::from(rated) + deviation / (1_000_000 * 37_837)).clamp(1, i128::from(BAD - 1)) as u32
    }

    /// Whether this erase of `block` goes wrong before its time.
    fn fails(&self, block: u32, erases: u32) -> bool {
        let draw = self.failures.number(u64::from(block) << 32 | u64::from(erases));
        draw.get() % 1_000_000_000 < u64::from(self.spec.failures_ppb)
    }

    fn blocks_of(&self, unit: u32) -> std::ops::Range<u32> {
        unit * self.blocks_per_unit..(unit + 1) * self.blocks_per_unit
    }

    /// Looks through a unit's good blocks. It is done when the last of the least worn ones has been erased or
    /// one has gone bad, so at most once for each erase that a block stands and once for each block.
    fn survey(&mut self, unit: u32) {
        let mut found = UnitWear { min: u32::MAX, at_min: 0, max: 0 };
        for block in self.blocks_of(unit) {
            let erases = self.erases[block as usize];
            if erases & BAD != 0 {
                continue;
            }
            if erases < found.min {
                (found.min, found.at_min) = (erases, 0);
            }
            found.at_min += u32::from(erases == found.min);
            found.max = found.max.max(erases);
        }
        if found.at_min == 0 {
            found.min = 0;
        }
        self.units[unit as usize] = found;
    }
}

/// So many millionths of `blocks`, rounded down.
fn share(blocks: u32, ppm: u32) -> u32 {
    (u64::from(blocks) * u64::from(ppm) / 1_000_000) as u32
}

#[cfg(test)]
#[path = "wear_tests.rs"]
mod tests;
