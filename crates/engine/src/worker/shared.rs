//! What the workers of a job in real time share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use block::{Bytes, Nanos, Seed};
use workload::Workload;

use crate::live::LiveMeter;
use crate::steady::SteadyPart;
use crate::zone_queue::ZoneQueue;
use crate::{Job, Observer, RealError, Target};

/// What the workers of a run share.
pub(crate) struct SharedRun<'r> {
    pub target: &'r Target,
    /// Its number in the target's record, if that keeps one.
    pub recorded_as: Option<usize>,
    pub workload: &'r Workload,
    pub seed: Seed,
    pub observer: Option<&'r dyn Observer>,
    /// Completions up to here are not counted.
    pub counted_from: Nanos,
    /// Where its time is over.
    time_over: Nanos,
    /// Its part in what ends once it is steady; none if no steady state ends it.
    pub steady: Option<SteadyPart<'r>>,
    /// The first completion at or after the deadline, in nanoseconds: the last that counts.
    pub ended: AtomicU64,
    /// The zones of the target, and the job's number among those who use them.
    pub zones: Option<(&'r ZoneQueue, u32)>,
    /// How much data may still be asked for; none without such a limit.
    pub bytes_left: Option<AtomicU64>,
    /// Set when a worker has failed or the run is to end early: nothing more is submitted.
    pub over: AtomicBool,
    /// Requests completed so far, counted or not.
    pub requests: AtomicU64,
    /// The data that they moved.
    pub bytes: AtomicU64,
    /// How long they took lately.
    pub live: LiveMeter,
}

impl<'r> SharedRun<'r> {
    /// What the workers of this job share, on a target with these zones.
    pub fn new(
        target: &'r Target,
        job: &Job<'r>,
        zones: Option<&'r ZoneQueue>,
        steady: Option<SteadyPart<'r>>,
    ) -> Result<Self, RealError> {
        let Job { workload, seed, observer, .. } = *job;
        let (zones, bytes) = match zones {
            None => (None, workload.stop.bytes),
            Some(zones) => {
                let (number, bytes) = zones.add(workload, workload.span(target.capacity())?)?;
                (Some((zones, number)), bytes)
            }
        };
        Ok(Self {
            target,
            recorded_as: target.record().map(|record| record.begin(1)),
            workload,
            seed,
            observer,
            counted_from: workload.ramp,
            time_over: workload.stop.time.map_or(Nanos::MAX, |time| workload.ramp + time),
            steady,
            ended: AtomicU64::new(u64::MAX),
            zones,
            bytes_left: bytes.map(|bytes| AtomicU64::new(bytes.get())),
            over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            live: LiveMeter::default(),
        })
    }

    /// Nothing is submitted from here on.
    pub fn deadline(&self) -> Nanos {
        self.steady.map_or(self.time_over, |part| {
            let end = part.end().as_nanos().saturating_add(self.counted_from.as_nanos());
            self.time_over.min(Nanos::from_nanos(end))
        })
    }

    /// Whether a completion at this time is one of those that count.
    pub fn counts(&self, at: Nanos) -> bool {
        at > self.counted_from
            && (at < self.deadline() || at.as_nanos() <= self.ended.fetch_min(at.as_nanos(), Ordering::Relaxed))
    }

    pub fn take(&self, bytes: Bytes) -> bool {
        let Some(left) = &self.bytes_left else { return true };
        // Behind the last of the data comes no flush either.
        let taken = |left: u64| left.checked_sub(bytes.get()).filter(|_| left > 0);
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }

    /// Takes back what was taken.
    pub fn give_back(&self, bytes: Bytes) {
        if let Some(left) = &self.bytes_left {
            left.fetch_add(bytes.get(), Ordering::Relaxed);
        }
    }
}
