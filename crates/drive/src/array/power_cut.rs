//! What an array loses when its power is cut, and how it comes back.

use block::{Lba, Nanos};

use super::{Array, Controller};
use crate::{Drive, PowerLoss, not_before, power_loss};

impl Array {
    /// What [`Drive::cut_power`] promises: what each member loses, and all that was under way.
    ///
    /// Of members that are alike, the first is copied to the others when they start again, and parity is worked out anew,
    /// as Linux md does it; that this takes time is not simulated.
    pub(super) fn lose_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        while self.advance(now) {}
        self.now = now;
        let mut unanswered = self.flights.in_use() + self.done.count();
        let is_one_drive = self.is_one_drive();
        let (mut sectors, mut gone, mut torn) = (Vec::new(), Vec::new(), 0);
        for (number, member) in (0..).zip(&mut self.members) {
            let lost = member.cut_power(now.max(member.now()));
            sectors.extend(lost.sectors.iter().flat_map(|run| self.layout.backwards(number, *run)));
            gone.extend(lost.gone.iter().flat_map(|run| self.layout.backwards(number, *run)));
            torn += lost.torn;
            unanswered += if is_one_drive { lost.unanswered } else { 0 };
        }
        self.due.fill(Nanos::MAX);
        self.first = (0, Nanos::MAX);
        self.in_flight.fill(0);
        self.controllers.iter_mut().for_each(Controller::restart);
        (self.agenda, self.flights, self.commands, self.repairs, self.done) = Default::default();
        PowerLoss { sectors: power_loss::joined(sectors), gone: power_loss::joined(gone), torn, unanswered }
    }

    /// What [`Drive::unsaved`] promises.
    pub(super) fn at_risk(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        let runs = (0..).zip(&self.members).flat_map(|(number, member)| {
            let runs = member.unsaved(now.max(member.now()));
            runs.into_iter().flat_map(move |run| self.layout.backwards(number, run))
        });
        power_loss::joined(runs.collect())
    }
}
