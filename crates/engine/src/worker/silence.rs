//! Devices that do not answer: how long a worker waits for them, and what becomes of it then.

use block::{Nanos, Op, Request};
use rustix::io::Errno;

use super::{IDLE, SharedRun, Worker};
use crate::queue::SubmissionQueue;
use crate::shortage::uring_error;
use crate::{Measurement, Missing, RealError};

/// For how long nothing has been completed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    /// When that was first seen to count; none where something has been completed since.
    from: Option<Nanos>,
    /// What the devices had done by then.
    done: Option<u64>,
}

impl Silence {
    /// Whether this has lasted for as long as the device is given, with these requests in flight.
    ///
    /// Within a time limit it never has: a stall may yet end, and is part of what is measured. Without one, a flush and a trim
    /// take as long as the devices are seen to work.
    pub fn is_over(&mut self, run: &SharedRun, now: Nanos, mut in_flight: impl Iterator<Item = Op>) -> bool {
        if !run.is_over(now) {
            if run.deadline() < Nanos::MAX {
                return false;
            }
            if in_flight.any(|op| !matches!(op, Op::Read | Op::Write | Op::Append)) {
                let done = run.target.done_by_devices();
                if done.is_none() || done != self.done {
                    *self = Self { from: None, done };
                    return false;
                }
            }
        }
        now.since(*self.from.get_or_insert(now)) >= run.target.patience()
    }
}

/// What a worker leaves to others while it makes a request itself.
#[derive(Debug)]
pub(crate) struct Left {
    measurement: Box<Measurement>,
    flights: Vec<(Nanos, Request)>,
    submitted: Vec<Nanos>,
    kept: Option<Vec<(Nanos, Request)>>,
}

impl Left {
    /// One that holds nothing yet.
    pub fn new(measurement: Measurement) -> Box<Self> {
        Box::new(Self { measurement: Box::new(measurement), flights: Vec::new(), submitted: Vec::new(), kept: None })
    }

    /// What is in flight.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        self.flights.iter().filter(|(since, _)| *since != IDLE).map(|(_, request)| request.op)
    }

    /// What the worker had measured by `now`; what is in flight has failed.
    pub fn measured(mut self, run: &SharedRun, now: Nanos) -> Box<Measurement> {
        run.keep(self.kept.take());
        run.count_missing(&mut self.measurement, &self.flights, &self.submitted, now);
        self.measurement
    }
}

impl SharedRun<'_> {
    /// Whether nothing more is submitted.
    fn is_over(&self, now: Nanos) -> bool {
        self.over.load(std::sync::atomic::Ordering::Relaxed) || self.target.is_stopped() || now >= self.deadline()
    }

    /// Enters what a worker has submitted in the target's record, if there is one.
    pub(super) fn keep(&self, kept: Option<Vec<(Nanos, Request)>>) {
        if let (Some(record), Some(job), Some(mut kept)) = (self.target.record(), self.recorded_as, kept) {
            // Its times are the job's.
            kept.iter_mut().for_each(|(at, _)| *at += self.workload.delay);
            record.add(job, kept);
        }
    }

    /// Counts what is in flight as failed, and the silence as part of the time; how many those are.
    #[cold]
    fn count_missing(
        &self,
        measurement: &mut Measurement,
        flights: &[(Nanos, Request)],
        submitted: &[Nanos],
        now: Nanos,
    ) -> u32 {
        let missing = flights.iter().enumerate().filter(|(_, (since, _))| *since != IDLE);
        let mut count = 0;
        for (tag, (since, request)) in missing {
            let since = *submitted.get(tag).unwrap_or(since);
            let part = self.target.part_at(request.lba.offset());
            measurement.failures.record_missing(Missing {
                op: request.op,
                offset: request.lba.offset() - part.start,
                length: request.bytes(),
                waited: now.since(since),
            });
            count += 1;
        }
        self.count_to_deadline(measurement);
        count
    }

    /// Makes the time in which nothing came, nobody asked, or nothing was answered part of the measurement.
    pub(super) fn count_to_deadline(&self, measurement: &mut Measurement) {
        if self.deadline() < Nanos::MAX {
            measurement.elapsed = measurement.elapsed.max(self.deadline().since(self.counted_from));
        }
    }
}

impl<'r> Worker<'r> {
    /// Has the queue wait. Where that makes the request itself, others can go on without this worker meanwhile.
    pub(super) fn wait_by(
        &mut self,
        wait: impl FnOnce(&mut SubmissionQueue<'r>) -> Result<(), Errno>,
    ) -> Result<(), RealError> {
        let Some(mut left) = self.left.take() else { return wait(&mut self.queue).map_err(uring_error) };
        self.swap(&mut left);
        let (mut left, waited) = self.deposit.during(left, || wait(&mut self.queue));
        self.swap(&mut left);
        self.left = Some(left);
        waited.map_err(uring_error)
    }

    fn swap(&mut self, left: &mut Left) {
        std::mem::swap(&mut self.measurement, &mut left.measurement);
        std::mem::swap(&mut self.flights, &mut left.flights);
        std::mem::swap(&mut self.submitted, &mut left.submitted);
        std::mem::swap(&mut self.kept, &mut left.kept);
    }

    /// Whether the device has not answered for as long as it is given: then what is in flight has failed, and is waited for no
    /// longer.
    #[cold]
    pub(super) fn gives_up(&mut self, now: Nanos) -> bool {
        let in_flight = self.flights.iter().filter(|(since, _)| *since != IDLE).map(|(_, request)| request.op);
        if !self.silence.is_over(self.shared, now, in_flight) {
            return false;
        }
        self.queue.abandon();
        let missing = self.shared.count_missing(&mut self.measurement, &self.flights, &self.submitted, now);
        assert_eq!(self.in_flight, missing, "what is in flight has a tag");
        self.in_flight = 0;
        true
    }
}
