//! What a flash drive's file says of how its blocks wear.

use crate::WearSpec;
use crate::preset::units::{self, percent};
use crate::preset::{PresetError, require, table};

table!(pub(super) WearTable {
    /// Mean endurance of a block in P/E cycles
    rated_erases: u32,
    /// Relative standard deviation of that between blocks
    deviation: units::Share = default,
    /// Share of factory bad blocks; they are part of the over-provisioning
    factory_bad: units::Share = default,
    /// Early failures per 10⁹ erases
    early_failures: u32 = default,
    /// Share of blocks that may go bad in use before the drive becomes read-only
    reserve: units::Share,
    /// Static levelling: with more erases than this between the most and the least worn block of a unit, the least
    /// worn one that is full moves, whatever it holds; off if left out
    spread_max: Option<u32>,
    /// Dynamic levelling: whether the least worn free block is written next, not the one that is free the longest
    least_worn_first: bool = default,
});

impl WearTable {
    pub(super) fn spec(&self) -> Result<WearSpec, PresetError> {
        let shares = [self.deviation, self.factory_bad, self.reserve];
        require(
            shares.iter().all(|&ppm| ppm < 500_000) && (1..=1 << 24).contains(&self.rated_erases),
            || {
                let [deviation, factory_bad, reserve] = shares.map(percent);
                format!(
                    "wear.rated_erases is {}, deviation {deviation}, factory_bad {factory_bad}, reserve {reserve}",
                    self.rated_erases
                )
            },
            "a block is rated for 1 to 16 million erases; deviation, factory_bad and reserve are below 50%",
        )?;
        Ok(WearSpec {
            rated: self.rated_erases,
            deviation_ppm: self.deviation as u32,
            factory_bad_ppm: self.factory_bad as u32,
            failures_ppb: self.early_failures,
            reserve_ppm: self.reserve as u32,
            spread_max: self.spread_max,
            least_worn_first: self.least_worn_first,
        })
    }
}
