//! What jobs of fio's have done so far, told at intervals while they run.

use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Clock, Completed, Measurement, Observer};
use lab::import::Import;

/// The jobs of a run, each with what it has done.
#[derive(Debug)]
pub struct FioStatus {
    every: Duration,
    jobs: Vec<JobStatus>,
    is_over: Mutex<bool>,
    changed: Condvar,
}

/// One measurement for each worker, so that none waits for another.
#[derive(Debug)]
struct JobStatus {
    workers: Vec<Mutex<Measurement>>,
    is_open: bool,
    /// When the first request was completed.
    began: OnceLock<Instant>,
}

impl FioStatus {
    pub fn of(import: &Import, every: Duration) -> Self {
        let job = |job: &lab::import::fio::ImportedJob| {
            let nothing = || Mutex::new(Measurement::new(job.workload.clone(), block::Seed::new(0), Clock::Real));
            JobStatus {
                workers: (0..job.workload.workers).map(|_| nothing()).collect(),
                is_open: job.workload.counts_from_arrival(),
                began: OnceLock::new(),
            }
        };
        Self { every, jobs: import.jobs().map(job).collect(), is_over: Mutex::default(), changed: Condvar::new() }
    }

    /// Who hears of the requests of each job.
    pub fn observers(&self) -> impl Iterator<Item = &dyn Observer> {
        self.jobs.iter().map(|job| job as &dyn Observer)
    }

    /// Does the work, and meanwhile has `print` tell what the jobs have done: those that have begun.
    pub fn around<R>(&self, print: &(dyn Fn(&[Measurement]) + Sync), work: impl FnOnce() -> R) -> R {
        thread::scope(|scope| {
            scope.spawn(|| self.tell(print));
            let _over = Over(self);
            work()
        })
    }

    fn tell(&self, print: &(dyn Fn(&[Measurement]) + Sync)) {
        let mut told = 0;
        loop {
            let began = self.jobs.first().and_then(|job| job.began.get());
            // Before the first request, files are laid out, which is no part of the time.
            let wait = began.map_or(self.every.min(Duration::from_millis(20)), |began| {
                (*began + self.every * (told + 1)).saturating_duration_since(Instant::now())
            });
            let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.changed.wait_timeout_while(is_over, wait, |is_over| !*is_over);
            let (is_over, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                return;
            }
            drop(is_over);
            if began.is_some() {
                told += 1;
                print(&self.measured());
            }
        }
    }

    fn measured(&self) -> Vec<Measurement> {
        let begun = self.jobs.iter().take_while(|job| job.began.get().is_some());
        let so_far = begun.filter_map(|job| {
            let workers =
                job.workers.iter().map(|worker| worker.lock().unwrap_or_else(PoisonError::into_inner).clone());
            workers.reduce(|mut all, worker| {
                all.merge(&worker);
                all
            })
        });
        so_far.collect()
    }
}

/// Ends the telling with the work, however that ends.
struct Over<'s>(&'s FioStatus);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        *self.0.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

impl Observer for JobStatus {
    fn completed(&self, worker: u32, completed: &Completed) {
        self.began.get_or_init(Instant::now);
        let Completed { at, request, latency, service, .. } = *completed;
        let mut measurement = self.workers[worker as usize].lock().unwrap_or_else(PoisonError::into_inner);
        measurement.record(request.op, request.bytes(), at, latency);
        measurement.elapsed = at;
        if self.is_open {
            measurement.record_service(request.op, service);
        }
    }
}
