//! What writes in order leave behind on a disk, without their time.

use block::{Bytes, Lba};

use super::DiskDrive;
use crate::Drive;

impl DiskDrive {
    /// Whether [`fill_untimed`](Self::fill_untimed) does what writes in order would: they are of whole physical sectors that can
    /// be written in order, and nothing is in flight or in the write cache.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let is_whole = |at: Lba| at.get().is_multiple_of(self.spec.physical.into());
        let is_inside = first < end && end <= Lba::at(self.spec.capacity()) && is_whole(first) && is_whole(end);
        let mut shingles = self.actuators.iter().filter_map(|actuator| actuator.shingles.as_ref());
        is_inside
            && self.inside == 0
            && self.is_clean()
            && self.zones.as_ref().is_none_or(|zones| zones.can_fill(first, end))
            && shingles.all(|shingles| shingles.can_fill(first, end))
    }

    /// Brings the disk into the state in which writes of `block` each from `first` to `end`, one behind the other, would leave it
    /// once its write cache is empty. The clock does not go on, and no energy is used.
    ///
    /// # Panics
    /// If it [cannot](Self::can_fill).
    pub fn fill_untimed(&mut self, first: Lba, end: Lba, block: Bytes) {
        assert!(self.can_fill(first, end), "a disk is filled only where its sectors can be written in order");
        for index in 0..self.actuators.len() {
            self.stop_reading_ahead(self.now, index);
            let actuator = &mut self.actuators[index];
            if let Some((first, end)) = actuator.part(first, end) {
                actuator.scattered = None;
                actuator.arm.rest_behind(end);
                actuator.shingles.iter_mut().for_each(|shingles| shingles.fill(first, end));
            }
        }
        self.segments.forget(first, end);
        self.counters.count_fill(&self.zones(), first, end, block);
        self.zones.iter_mut().for_each(|zones| zones.fill(first, end));
    }
}
