//! The table of zones of a drive's file.

use block::Bytes;

use super::units::{self, given};
use super::{PresetError, require, table};
use crate::{ZoneRules, ZonesSpec};

table!(pub(crate) ZonesTable {
    /// From the start of a zone to the start of the next
    size: units::Bytes,
    /// How much of that can be written; flash only, all of it if left out
    zone_capacity: Option<units::Bytes>,
    /// Zones that may be open, at most `max_active`; no limit if left out
    max_open: Option<u32>,
    /// Zones that may be open or closed; no limit if left out
    max_active: Option<u32>,
    /// How many of the first zones are written in any order; disks only
    conventional: u32 = default,
});

impl ZonesTable {
    /// The zones of a drive that takes so much data.
    ///
    /// # Errors
    /// If they do not make up that.
    pub fn spec(&self, rules: ZoneRules, user: Bytes) -> Result<ZonesSpec, PresetError> {
        let Self { size, max_open, max_active, conventional, .. } = *self;
        let capacity = self.zone_capacity.unwrap_or(size);
        require(
            capacity > Bytes::ZERO && capacity <= size && size.is_multiple_of(Bytes::from_kib(4)),
            || format!("zones.size is {size}, zones.zone_capacity {capacity}"),
            "a zone is whole blocks of 4 KiB, and takes no more data than it is long",
        )?;
        require(
            user >= capacity && user.is_multiple_of(capacity) && user.div(capacity) <= 1 << 24,
            || format!("the drive takes {user}, each zone {capacity}"),
            "the capacity is a whole number of zones.zone_capacity, at most 16 million",
        )?;
        let count = user.div(capacity) as u32;
        require(
            max_open != Some(0) && max_active != Some(0) && conventional <= count,
            || {
                format!(
                    "{count} zones, zones.max_open is {}, max_active {}, conventional {conventional}",
                    given(max_open),
                    given(max_active)
                )
            },
            "leave max_open and max_active out where there is no limit; no more zones are conventional than there are",
        )?;
        // NVM Express Zoned Namespace Command Set Specification 1.1: MOR is at most MAR.
        require(
            max_open.zip(max_active).is_none_or(|(open, active)| open <= active),
            || format!("zones.max_open is {}, zones.max_active {}", given(max_open), given(max_active)),
            "every open zone is active: lower max_open to max_active at most, or raise max_active",
        )?;
        Ok(ZonesSpec { rules, count, size, capacity, conventional, max_open, max_active })
    }
}
