//! What a disk loses when its power is cut, and how it comes back.

use block::{Lba, Nanos};

use super::actuator::Actuator;
use super::{DiskDrive, LINK_PIECE};
use crate::link::Link;
use crate::{PowerLoss, not_before, power_loss};

impl DiskDrive {
    /// What [`Drive::cut_power`](crate::Drive::cut_power) promises.
    pub(super) fn lose_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        self.advance(now);
        let sectors = self.volatile(now);
        let waiting: usize = self.actuators.iter().map(Actuator::waiting).sum();
        // What spans arms is one command, in so many parts that have not been done.
        let parts: u32 = self.spanning.iter().map(|(_, left, _)| left - 1).sum();
        let inside = self.arriving.len() + waiting + self.blocked.len();
        let unanswered = self.queue.clear() + (inside + self.unreported.len()) as u32 - parts;
        self.unreported.clear();
        self.arriving.clear();
        self.blocked.clear();
        self.spanning.clear();
        self.zones.iter_mut().for_each(crate::Zones::power_on);
        self.inside = 0;
        self.segments.clear();
        self.link = Link::new(self.spec.link, LINK_PIECE);
        self.counters.unsafe_shutdowns += 1;
        let turning = self.spindle.restart(now);
        for actuator in &mut self.actuators {
            actuator.forget_commands();
            actuator.cache.clear();
            (actuator.cache_next, actuator.batch) = (false, 0);
            actuator.arm.park(now, turning, &mut self.spindle);
        }
        (self.firmware_free, self.busy_at) = (turning, turning);
        PowerLoss { sectors, unanswered, ..PowerLoss::default() }
    }

    /// What [`Drive::unsaved`](crate::Drive::unsaved) promises.
    pub(super) fn at_risk(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        if self.is_clean() && self.inside == 0 {
            return Vec::new();
        }
        // What it writes from its cache up to then, it decides on the way.
        let mut then = self.clone();
        then.advance(now);
        then.volatile(now)
    }

    /// Does all that is due inside before `now`, and reaches it.
    pub(super) fn advance(&mut self, now: Nanos) {
        while let Some(at) = self.next_inside().filter(|at| *at < now) {
            self.step(at);
        }
        self.now = now;
    }

    /// What is in the cache alone at `now`. A stretch that is being written counts as not written yet: its sectors are
    /// whole, but which of them are new nobody knows.
    fn volatile(&mut self, now: Nanos) -> Vec<(Lba, Lba)> {
        for actuator in &mut self.actuators {
            if actuator.arm.free() <= now {
                actuator.release();
            }
        }
        let unsaved = self.actuators.iter().flat_map(|actuator| actuator.cache.unsaved());
        power_loss::joined(unsaved.map(|extent| (extent.first, extent.end)).collect())
    }
}
