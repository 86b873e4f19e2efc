//! What a drive loses when its power is cut.

use block::Lba;

/// What a drive loses when its power is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Sectors that commands wrote which the drive had taken, answered or not, but that were not yet where
    /// they keep without power: for each run of them the first, and the one after the last; ascending, apart
    /// from each other. What was there before is there again.
    pub sectors: Vec<(Lba, Lba)>,
    /// Pages of flash that were being programmed.
    pub torn: u32,
    /// Commands that will never be answered.
    pub unanswered: u32,
}
