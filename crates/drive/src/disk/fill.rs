//! What writes leave behind on a disk, without their time.

use block::{Bytes, Lba, Seed};

use super::DiskDrive;
use crate::Drive;
use crate::draw::Draws;

impl DiskDrive {
    /// Whether nothing is in flight or in the write cache.
    fn is_at_rest(&self) -> bool {
        self.inside == 0 && self.is_clean()
    }

    /// Whether [`fill_untimed`](Self::fill_untimed) does what writes in order would: they are of whole physical sectors that can
    /// be written in order, and nothing is in flight or in the write cache.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let is_whole = |at: Lba| at.get().is_multiple_of(self.spec.physical.into());
        let is_inside = first < end && end <= Lba::at(self.spec.capacity()) && is_whole(first) && is_whole(end);
        let mut shingles = self.actuators.iter().filter_map(|actuator| actuator.shingles.as_ref());
        is_inside
            && self.is_at_rest()
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

    /// Whether [`write_at_random`](Self::write_at_random) does what writes of `block` each would: they are of whole physical sectors,
    /// and there are no zones.
    pub fn can_write_at_random(&self, block: Bytes) -> bool {
        let sectors = block.sectors();
        sectors > 0
            && sectors.is_multiple_of(self.spec.physical.into())
            && sectors <= self.spec.platters.sectors
            && self.is_at_rest()
            && self.zones.is_none()
    }

    /// Brings the disk into a state in which so many writes of `block` each, at random over all of it, would leave it once its write
    /// cache is empty: its arms are anywhere, what it had read is written over, and its media cache is as full as it becomes. The
    /// clock does not go on, and no energy is used.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_at_random).
    pub fn write_at_random(&mut self, writes: u64, block: Bytes, seed: Seed) {
        assert!(self.can_write_at_random(block), "a disk is written without time only where it is at rest");
        let (arms, sectors) = (self.actuators.len() as u64, block.sectors());
        for index in 0..self.actuators.len() {
            self.stop_reading_ahead(self.now, index);
            let actuator = &mut self.actuators[index];
            let (first, end) = actuator.arm.layout().sectors();
            let blocks = u128::from((end.get() - first.get()) / sectors);
            let mut draws = Draws::new(seed.number(index as u64));
            let mut place = || {
                let draw = u128::from(draws.draw()) << 32 | u128::from(draws.draw());
                Lba::new(first.get() + ((draw * blocks) >> 64) as u64 * sectors)
            };
            actuator.scattered = None;
            actuator.arm.rest_behind(Lba::new(place().get() + sectors));
            if let Some(shingles) = &mut actuator.shingles {
                shingles.write_at_random(writes / arms, sectors, &mut place);
            }
        }
        self.segments.forget(Lba::new(0), Lba::at(self.spec.capacity()));
        self.counters.count_writes(Lba::new(0), Lba::at(block.times(writes)), block);
    }
}
