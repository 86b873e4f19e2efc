//! A drive at whose door somebody stands.

use block::{Completion, Lba, Nanos, Request, Seed, Tag, Zone, ZoneLimits};

use crate::{Counters, Drive, Health, PowerLoss, Shape};

/// A drive that does all that another does, while somebody sees every request with the time of its submission.
pub struct Observed<'d, F> {
    drive: &'d mut dyn Drive,
    see: F,
}

impl<'d, F: FnMut(Nanos, Tag, Request)> Observed<'d, F> {
    /// Lets `see` have every request that `drive` is about to get.
    pub const fn new(drive: &'d mut dyn Drive, see: F) -> Self {
        Self { drive, see }
    }
}

impl<F: FnMut(Nanos, Tag, Request)> Drive for Observed<'_, F> {
    fn shape(&self) -> Shape {
        self.drive.shape()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        (self.see)(now, tag, request);
        self.drive.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        self.drive.complete(until)
    }

    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        self.drive.counters_at(at)
    }

    fn health(&self) -> Health {
        self.drive.health()
    }

    fn purge(&mut self) {
        self.drive.purge();
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        self.drive.cut_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.drive.unsaved(now)
    }

    fn bind(&mut self, workers: &[u32]) {
        self.drive.bind(workers);
    }

    fn draw_from(&mut self, seed: Seed) {
        self.drive.draw_from(seed);
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        self.drive.zone_limits()
    }

    fn zones(&self) -> Vec<Zone> {
        self.drive.zones()
    }

    fn expect(&self, soon: &[Request]) {
        self.drive.expect(soon);
    }

    fn expect_next(&self, next: &[Request]) {
        self.drive.expect_next(next);
    }
}
