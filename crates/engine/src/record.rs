//! What runs submit, kept so that it can be replayed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use block::{Nanos, Request};

/// The requests of runs by job, each with the time of its submission from the beginning of its run.
///
/// They stay in memory until they are taken, so that nothing is written while anything is measured.
#[derive(Debug, Default)]
pub struct Record(Mutex<Vec<JobRequests>>);

/// What one job of a run submitted, with the times of that.
pub type JobRequests = Vec<(Nanos, Request)>;

impl Record {
    /// A run of so many jobs begins; the number of the first of them.
    pub(crate) fn begin(&self, jobs: usize) -> usize {
        let mut kept = self.kept();
        let first = kept.len();
        kept.resize_with(first + jobs, JobRequests::default);
        first
    }

    /// Adds what a worker of job number `job` has submitted.
    pub(crate) fn add(&self, job: usize, submitted: JobRequests) {
        let mut kept = self.kept();
        let kept = &mut kept[job];
        if kept.is_empty() {
            *kept = submitted;
        } else {
            kept.extend(submitted);
        }
    }

    /// Takes all that was added, in the order of time.
    pub fn take(&self) -> JobRequests {
        let mut taken = std::mem::take(&mut *self.kept()).concat();
        taken.sort_by_key(|(at, _)| *at);
        taken
    }

    /// Takes all that was added, for each job of each run in turn in the order of time.
    pub fn take_by_job(&self) -> Vec<JobRequests> {
        let mut taken = std::mem::take(&mut *self.kept());
        taken.iter_mut().for_each(|requests| requests.sort_by_key(|(at, _)| *at));
        taken
    }

    fn kept(&self) -> MutexGuard<'_, Vec<JobRequests>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
