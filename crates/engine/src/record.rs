//! What a run submits, kept so that it can be replayed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use block::{Nanos, Request};

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
