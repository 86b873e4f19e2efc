//! What the file of a flash drive in zones must have, and must not.

use super::super::zoned::rows;
use super::super::{FlashSpec, Geometry};
use super::FlashFile;
use crate::ZonesSpec;
use crate::preset::{PresetError, require};

impl FlashFile {
    /// Gives each unit as many blocks as all zones take, and the spare ones.
    pub(super) fn lay_zones(&self, zones: &ZonesSpec, geometry: &mut Geometry) -> Result<(), PresetError> {
        let rows = u64::from(rows(zones, geometry)) * u64::from(zones.count);
        let blocks = rows + rows * self.capacity.spare / 1_000_000;
        let all = blocks * u64::from(geometry.units());
        require(
            all <= u64::from(u32::MAX >> 4),
            || format!("{all} flash blocks"),
            "at most 268 million blocks can be numbered",
        )?;
        let pages = zones.space().get().div_ceil(geometry.page.get());
        require(
            pages < u64::from(u32::MAX),
            || format!("zones.size times their number is {}, {pages} pages", zones.space()),
            "at most 4.29 billion pages can be numbered, gaps behind zones.capacity included; use larger pages, or smaller zones",
        )?;
        geometry.blocks_per_plane = blocks as u32;
        Ok(())
    }

    /// What flash in zones needs, and what it has no use for.
    pub(super) fn check_zones(&self, spec: &FlashSpec) -> Result<(), PresetError> {
        let Some(zones) = &spec.zones else { return Ok(()) };
        let page = spec.geometry.page;
        require(
            zones.capacity.is_multiple_of(page) && zones.size.is_multiple_of(page) && zones.conventional == 0,
            || format!("zones of {} with {}, {} of them conventional", zones.size, zones.capacity, zones.conventional),
            "zones of flash are whole pages (geometry.page), and none is conventional",
        )?;
        let idle = [
            ("gc", self.gc.is_some()),
            ("slc", self.slc.is_some()),
            ("map", self.map.is_some()),
            ("wear", self.wear.is_some()),
            ("patrol", self.patrol.is_some()),
            ("controller.read_ahead", spec.read_ahead.pages > 0),
            ("controller.compression_floor", spec.compression.is_some()),
            ("buffer.write_through", spec.write_through),
        ];
        let found = idle.iter().find(|(_, there)| *there).map(|(name, _)| *name);
        require(
            found.is_none() && spec.power.capacitor,
            || match found {
                Some(name) => format!("a drive with zones and {name}"),
                None => "a drive with zones and no capacitor".to_owned(),
            },
            "zones have no garbage collection, one-bit mode, map, wear, patrol reads, read-ahead, compression or writing through, and power.capacitor = true",
        )?;
        let open = u64::from(zones.max_active.unwrap_or(zones.count)) * u64::from(spec.geometry.program_pages);
        require(
            open + u64::from(spec.geometry.program_pages) <= u64::from(spec.buffer_pages),
            || format!("buffer.size is {} pages, and the zones that may be active wait for {open}", spec.buffer_pages),
            "the buffer holds a flash page for each active zone and one more: raise buffer.size or lower zones.max_active",
        )
    }
}
