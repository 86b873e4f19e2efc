//! What wear does to the map: blocks that are not used again, cold ones that must move, and the end of life.

use super::collection::START_MIN;
use super::geometry::{Geometry, Unit};
use super::mapping::{Mapping, UnitState};
use crate::wear::Wear;
use crate::{Specimen, WearSpec, WearSummary};

/// Free blocks of a unit at which a drive whose blocks wear out begins to collect: two may go bad one after
/// the other before the loss is made up for.
pub const WORN_START_MIN: u32 = START_MIN + 2;

/// Fresh flash of this layout; which specimen it is of decides how long each block lasts.
pub fn fresh(spec: WearSpec, geometry: &Geometry, specimen: Specimen) -> Wear {
    Wear::new(spec, geometry.units(), geometry.blocks_per_plane, specimen.seed_by_number().split("wear"))
}

/// How many valid pages each unit may hold, if it holds `share` where all are equal and `good` of its blocks can
/// be used: half of what it has beyond its share and the blocks that `start` keeps open.
pub fn valid_max(geometry: &Geometry, start: u32, share: u32, good: u32) -> u32 {
    let room = good.saturating_sub(start + 3) * geometry.pages_per_block;
    if room < share { room } else { share + (room - share) / 2 }
}

/// Whether so many pages fit in flash that has just been made.
pub fn has_room(wear: &Wear, geometry: &Geometry, start: u32, pages: u32) -> bool {
    let share = pages.div_ceil(geometry.units());
    let good = (0..geometry.units()).map(|unit| wear.good(unit));
    good.map(|good| u64::from(valid_max(geometry, start, share, good))).sum::<u64>() >= u64::from(pages)
}

impl Mapping {
    /// Whether the drive takes no more writes: too many of its blocks have gone bad.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// How worn the flash is, if account is kept of that.
    pub fn wear(&self) -> Option<WearSummary> {
        self.wear.as_ref().map(|wear| WearSummary { read_only: self.read_only, ..wear.summary() })
    }

    /// Takes a block that has gone bad out of its unit for ever, and decides whether that is the end.
    ///
    /// A unit goes on with three blocks' worth of erased pages: one to move a victim to, one for the host, and
    /// the one that is lost if that victim goes bad as well.
    #[cold]
    pub(super) fn retire(&mut self, unit: Unit) {
        let Some(wear) = &self.wear else { return };
        let (pages, share) = (self.slots.len() as u64 * u64::from(self.granules()), self.share());
        let good = wear.good(unit.0);
        let worn_out = wear.is_read_only() || self.erased_pages(unit) < (START_MIN + 1) * self.geometry.pages_per_block;
        self.units[unit.0 as usize].valid_max =
            valid_max(&self.geometry, self.collection.start, share, good) * self.granules();
        let room: u64 = self.units.iter().map(|state| u64::from(state.valid_max)).sum();
        self.read_only = worn_out || room < pages;
    }

    /// The block that must move for the sake of even wear, unless the unit has none to spare for that.
    pub(super) fn cold(&self, unit: Unit) -> Option<u32> {
        let wear = self.wear.as_ref().filter(|_| !self.is_short(unit))?;
        wear.cold(unit.0, |block| self.is_closed(block))
    }

    /// Whether a block that went bad has left the unit with fewer erased pages than collection keeps.
    pub(super) fn is_short(&self, unit: Unit) -> bool {
        self.wear.is_some() && self.erased_pages(unit) < (self.collection.start + 1) * self.geometry.pages_per_block
    }

    /// What an even share of all logical pages is.
    pub(super) fn share(&self) -> u32 {
        (self.slots.len() as u32).div_ceil(self.geometry.units())
    }

    /// Takes the free block of the unit that is written next: the least worn one if the drive goes by that.
    pub(super) fn take_least_worn(&mut self, unit: Unit) -> Option<u32> {
        let UnitState { free, erases_min, .. } = &mut self.units[unit.0 as usize];
        let Some(wear) = self.wear.as_ref().filter(|wear| wear.spec().least_worn_first) else {
            return free.pop_front();
        };
        // The first of those with the fewest erases; where it has no more than any can have, there is no need to go on.
        let mut least = (0, u32::MAX);
        for (index, &block) in free.iter().enumerate() {
            let erases = wear.erases(block);
            if erases < least.1 {
                least = (index, erases);
            }
            if erases <= *erases_min {
                break;
            }
        }
        *erases_min = least.1;
        free.remove(least.0)
    }
}
