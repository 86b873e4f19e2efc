//! What a flash drive consumes, and how it slows down when that makes it too warm.

use block::{Nanos, Rate};

use super::{FlashDrive, NandTimes};
use crate::energy::WorkEnergy;
use crate::thermal::Thermal;

impl FlashDrive {
    /// The work that costs energy by the piece, done or booked so far.
    pub(super) fn work(&self) -> WorkEnergy {
        WorkEnergy {
            pages_read: self.nand.pages_read,
            pages_programmed: self.nand.pages_programmed,
            blocks_erased: self.nand.blocks_erased,
            bytes: self.counters.host_read + self.counters.host_written,
        }
    }

    /// Brings the temperature up to `now`, before the drive takes a command, and keeps the pace it demands.
    #[inline]
    pub(super) fn warm_up(&mut self, now: Nanos) {
        if self.thermal.as_ref().is_some_and(|thermal| thermal.is_due(now)) {
            self.keep_pace(now);
        }
    }

    /// How warm the drive is now, whether or not it was touched lately.
    pub(super) fn thermal_at_now(&self) -> Option<Thermal> {
        let (meter, work) = (&self.meter, self.work());
        self.thermal.map(|mut thermal| {
            thermal.advance(self.now, meter.level_from(), |at| meter.energy(at, work));
            thermal
        })
    }

    /// What a time of the controller's becomes at the drive's pace.
    #[inline]
    pub(super) fn paced(&self, time: Nanos) -> Nanos {
        if self.pace == 100 { time } else { slow(time, self.pace) }
    }

    #[cold]
    fn keep_pace(&mut self, now: Nanos) {
        let (meter, work) = (&self.meter, self.work());
        let Some(thermal) = &mut self.thermal else { return };
        if thermal.advance(now, meter.level_from(), |at| meter.energy(at, work)) {
            self.pace = thermal.pace();
            self.nand.set_times(self.spec.nand.at_pace(self.pace));
        }
    }
}

impl NandTimes {
    /// The same flash when everything takes so many percent of its time.
    fn at_pace(&self, percent: u32) -> Self {
        let channel = u128::from(self.channel.get()) * 100 / u128::from(percent);
        Self {
            read: slow(self.read, percent),
            program: slow(self.program, percent),
            erase: slow(self.erase, percent),
            channel: Rate::from_bytes_per_second(channel.max(1) as u64),
            ..*self
        }
    }
}

fn slow(time: Nanos, percent: u32) -> Nanos {
    Nanos::from_nanos(time.as_nanos() * u64::from(percent) / 100)
}
