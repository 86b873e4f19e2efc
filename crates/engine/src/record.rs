//! What a run submits, kept so that it can be replayed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use block::{Completion, Lba, Nanos, Request, Tag};
use drive::{Counters, Drive, Health, Lost, Shape};

/// The requests of runs, each with the time of its submission from the beginning of its run.
///
/// They stay in memory until they are taken, so that nothing is written while anything is measured.
#[derive(Debug, Default)]
pub struct Record(Mutex<Vec<(Nanos, Request)>>);

impl Record {
    /// Adds what a worker or a run has submitted.
    pub fn add(&self, submitted: Vec<(Nanos, Request)>) {
        let mut kept = self.kept();
        if kept.is_empty() {
            *kept = submitted;
        } else {
            kept.extend(submitted);
        }
    }

    /// Takes all that was added, in the order of time.
    pub fn take(&self) -> Vec<(Nanos, Request)> {
        let mut taken = std::mem::take(&mut *self.kept());
        taken.sort_by_key(|(at, _)| *at);
        taken
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Nanos, Request)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A simulated drive of which every request is noted.
pub(crate) struct Recording<'d, D> {
    drive: &'d mut D,
    began: Nanos,
    submitted: Vec<(Nanos, Request)>,
}

impl<'d, D: Drive> Recording<'d, D> {
    pub fn new(drive: &'d mut D) -> Self {
        Self { began: drive.now(), drive, submitted: Vec::new() }
    }

    pub fn into_submitted(self) -> Vec<(Nanos, Request)> {
        self.submitted
    }
}

impl<D: Drive> Drive for Recording<'_, D> {
    fn shape(&self) -> Shape {
        self.drive.shape()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.submitted.push((now.since(self.began), request));
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

    fn counters(&self) -> Counters {
        self.drive.counters()
    }

    fn health(&self) -> Health {
        self.drive.health()
    }

    fn purge(&mut self) {
        self.drive.purge();
    }

    fn cut_power(&mut self, now: Nanos) -> Lost {
        self.drive.cut_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.drive.unsaved(now)
    }

    fn expect(&self, soon: &[Request]) {
        self.drive.expect(soon);
    }
}
