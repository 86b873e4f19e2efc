//! What a workload asks of a drive with zones.

use serde::{Deserialize, Serialize};

/// What a workload asks of a drive with zones \[`zonemode` and what goes with it\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZonedAccess {
    /// Whether requests go where they would on any drive, and fail where zones forbid it \[`zonemode=none`\].
    pub raw: bool,
    /// How many zones all jobs write at once; zero for as many as the drive allows \[`max_open_zones`\].
    pub max_open: u32,
    /// The same of each job \[`job_max_open_zones`\].
    pub job_max_open: u32,
    /// The share of the writable capacity from which on zones are reset before they are full, in percent
    /// \[`zone_reset_threshold`\].
    pub reset_threshold: u8,
    /// How many of a hundred writes do that then \[`zone_reset_frequency`\].
    pub reset_frequency: u8,
    /// Whether reads also go to what was not written \[`read_beyond_wp`\].
    pub read_beyond: bool,
    /// Whether writes are appends: the drive says where they went.
    pub append: bool,
}

impl ZonedAccess {
    /// Whether a stored workload is as it was before there was a choice.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
