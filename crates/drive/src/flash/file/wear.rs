//! What a flash drive's file says of how its blocks wear.

use crate::WearSpec;
use crate::preset::units::{self, percent};
use crate::preset::{PresetError, require, table};

table!(pub(super) WearTable {
    rated_erases: u32,
    #[serde(default)]
    deviation: units::Share,
    #[serde(default)]
    factory_bad: units::Share,
    #[serde(default)]
    early_failures: u32,
    reserve: units::Share,
    spread_max: Option<u32>,
    #[serde(default)]
    least_worn_first: bool,
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
