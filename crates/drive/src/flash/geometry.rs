//! How flash is laid out, and how its parts are numbered.

use block::Bytes;
use serde::{Deserialize, Serialize};

/// How flash is laid out.
///
/// A *unit* is what takes writes independently of the others: one plane of one die. Pages of
/// successive writes go to successive units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Buses between controller and flash.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Planes of each die.
    pub planes: u32,
    /// Whether the planes of a die program and erase together when asked one after the other.
    pub multi_plane: bool,
    pub blocks_per_plane: u32,
    /// Logical pages of each block, at least 1 and at most 16,384.
    pub pages_per_block: u32,
    /// Data of each logical page, the unit of the map.
    pub page: Bytes,
    /// Logical pages that are programmed together as one flash page.
    pub program_pages: u32,
    /// Logical pages that one read of the array brings into the register; they lie side by side in a flash page.
    pub sense_pages: u32,
}

/// A plane of a die, in the order in which pages are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit(pub u32);

/// A die, numbered so that neighbours are on different channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Die(pub u32);

#[cfg(test)]
impl Geometry {
    /// Two channels with two dies each of so many blocks, in which so many pages are programmed and read together.
    pub const fn four_dies(blocks_per_plane: u32, together: u32) -> Self {
        Self {
            channels: 2,
            dies_per_channel: 2,
            planes: 1,
            multi_plane: false,
            blocks_per_plane,
            pages_per_block: 128,
            page: Bytes::from_kib(4),
            program_pages: together,
            sense_pages: together,
        }
    }
}

impl Geometry {
    /// The smallest geometry of this shape that holds `user` and `spare` more, given in millionths of it. Of more
    /// blocks than can be numbered it has as many as can be, which are too many for a drive.
    pub fn with_spare(mut self, user: Bytes, spare_ppm: u64) -> Self {
        let raw = u128::from(user.get()).saturating_mul(1_000_000 + u128::from(spare_ppm)) / 1_000_000;
        let row = u128::from(self.block().get()) * u128::from(self.units());
        self.blocks_per_plane = u32::try_from(raw.div_ceil(row)).unwrap_or(u32::MAX);
        self
    }

    /// What all blocks hold beyond `user`, in millionths of it.
    pub fn spare_over(&self, user: Bytes) -> u64 {
        let raw = u128::from(self.block().get()) * u128::from(self.blocks());
        let beyond = raw.saturating_sub(u128::from(user.get())) * 1_000_000 / u128::from(user.get()).max(1);
        u64::try_from(beyond).unwrap_or(u64::MAX)
    }

    /// Pages of all blocks.
    pub const fn pages(&self) -> u64 {
        self.blocks() as u64 * self.pages_per_block as u64
    }

    /// Data of each block.
    pub const fn block(&self) -> Bytes {
        self.page.times(self.pages_per_block as u64)
    }

    pub const fn units(&self) -> u32 {
        self.dies() * self.planes
    }

    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Array reads that bring all of a block.
    pub const fn senses_per_block(&self) -> u32 {
        self.pages_per_block.div_ceil(self.sense_pages)
    }

    /// All blocks of all units.
    pub const fn blocks(&self) -> u32 {
        self.units() * self.blocks_per_plane
    }

    /// The die that `unit` is on. Planes that work together are given pages one after the other; those
    /// that do not are given pages as far apart as can be.
    pub const fn die_of(&self, unit: Unit) -> Die {
        Die(if self.multi_plane { unit.0 / self.planes } else { unit.0 % self.dies() })
    }

    /// The channel that `die` is on.
    pub const fn channel_of(&self, die: Die) -> u32 {
        die.0 % self.channels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Geometry = Geometry {
        channels: 10,
        dies_per_channel: 2,
        planes: 2,
        multi_plane: false,
        blocks_per_plane: 0,
        pages_per_block: 128,
        page: Bytes::from_kib(4),
        program_pages: 1,
        sense_pages: 1,
    };

    #[test]
    fn successive_units_are_on_different_channels() {
        let channels: Vec<u32> = (0..20).map(|unit| PLAIN.channel_of(PLAIN.die_of(Unit(unit)))).collect();
        assert!(channels.windows(2).all(|pair| pair[0] != pair[1]), "{channels:?}");
    }

    #[test]
    fn planes_that_work_together_are_neighbours() {
        let together = Geometry { multi_plane: true, ..PLAIN };
        assert_eq!(together.die_of(Unit(0)), together.die_of(Unit(1)));
        assert_ne!(together.die_of(Unit(1)), together.die_of(Unit(2)));
    }

    #[test]
    fn spare_is_a_share_of_what_the_user_sees() {
        let user = Bytes::new(80_026_361_856);
        let geometry = PLAIN.with_spare(user, 73_400);
        let raw = geometry.block().times(u64::from(geometry.blocks()));
        let spare = raw.get() as f64 / user.get() as f64 - 1.0;
        assert!((0.0734..0.0738).contains(&spare), "{spare}");
        assert_eq!(geometry.spare_over(user), (spare * 1e6) as u64, "told as it was made, in whole blocks");
        assert_eq!(geometry.spare_over(raw), 0);
    }
}
