//! One worker of a workload in real time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use block::{Bytes, Nanos, Op, Request, Seed, Tag};
use rustix::io::Errno;
use workload::{Pattern, Stream, Workload};

use crate::discard::Discards;
use crate::real::uring_error;
use crate::uring::{Done, Ring, SetupError};
use crate::{Clock, Measurement, RealError, Target};

/// What the workers of a run share.
pub(crate) struct Shared<'r> {
    pub target: &'r Target,
    pub workload: &'r Workload,
    pub seed: Seed,
    /// Completions up to here are not counted.
    pub counted_from: Nanos,
    /// Nothing is submitted from here on.
    pub deadline: Nanos,
    /// The first completion at or after the deadline, in nanoseconds: the last that counts.
    pub ended: AtomicU64,
    /// How many blocks may still be asked for; none without such a limit.
    pub blocks_left: Option<AtomicU64>,
    /// Set when a worker has failed: nothing more is submitted.
    pub failed: AtomicBool,
    /// Requests completed so far, counted or not.
    pub requests: AtomicU64,
}

impl<'r> Shared<'r> {
    pub fn new(target: &'r Target, workload: &'r Workload, seed: Seed) -> Self {
        let limit = workload.stop.bytes.map(|bytes| AtomicU64::new(bytes.div(workload.block)));
        Self {
            target,
            workload,
            seed,
            counted_from: workload.ramp,
            deadline: workload.stop.time.map_or(Nanos::MAX, |time| workload.ramp + time),
            ended: AtomicU64::new(u64::MAX),
            blocks_left: limit,
            failed: AtomicBool::new(false),
            requests: AtomicU64::new(0),
        }
    }

    /// Whether a completion at this time is one of those that count.
    fn counts(&self, at: Nanos) -> bool {
        at > self.counted_from
            && (at < self.deadline || at.as_nanos() <= self.ended.fetch_min(at.as_nanos(), Ordering::Relaxed))
    }

    fn take_block(&self) -> bool {
        let Some(left) = &self.blocks_left else { return true };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

enum Queue<'r> {
    Ring(Box<Ring<'r>>),
    Discards(Discards<'r>),
}

impl Queue<'_> {
    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => ring.submit(tag, request),
            Self::Discards(discards) => {
                discards.push(tag, request);
                Ok(())
            }
        }
    }

    fn wait(&mut self, done: &mut Vec<Done>) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => ring.wait(done),
            Self::Discards(discards) => {
                discards.wait(done);
                Ok(())
            }
        }
    }
}

/// One worker with its own queue and its own part of the measurement.
pub(crate) struct Worker<'r> {
    shared: &'r Shared<'r>,
    queue: Queue<'r>,
    stream: Stream,
    /// When each tag was submitted, and with what.
    flights: Vec<(Nanos, Request)>,
    in_flight: u32,
    requests_left: u64,
    measurement: Measurement,
}

impl<'r> Worker<'r> {
    /// Worker number `index`, to be used by the thread that makes it.
    pub fn new(shared: &'r Shared<'r>, index: u32) -> Result<Self, RealError> {
        let Shared { target, workload, seed, .. } = *shared;
        let stream = Stream::new(workload, index, target.capacity(), seed)?;
        let depth = workload.queue_depth;
        let queue = match workload.pattern {
            Pattern::Trim | Pattern::RandTrim if target.is_device() => Queue::Discards(Discards::new(target)),
            _ => Queue::Ring(Box::new(ring(shared, index)?)),
        };
        Ok(Self {
            shared,
            queue,
            stream,
            flights: vec![(Nanos::ZERO, Request::FLUSH); depth as usize],
            in_flight: 0,
            requests_left: workload.stop.requests.unwrap_or(u64::MAX),
            measurement: Measurement::new(workload.clone(), seed, Clock::Real),
        })
    }

    /// Keeps the queue full until the workload ends, then waits for the rest.
    ///
    /// The moment at which a completion is taken up is also that at which the next request is submitted in its
    /// place, so one reading of the clock serves both, and the latencies account for all of the time.
    pub fn run(mut self, began: Instant) -> Result<Measurement, RealError> {
        let now = || Nanos::from_std(began.elapsed());
        for tag in (0..self.flights.len() as u32).map(Tag) {
            self.submit(tag, now())?;
        }
        let mut done = Vec::with_capacity(self.flights.len());
        while self.in_flight > 0 {
            self.queue.wait(&mut done).map_err(uring_error)?;
            self.shared.requests.fetch_add(done.len() as u64, Ordering::Relaxed);
            for done in done.drain(..) {
                let now = now();
                self.finish(done, now)?;
                self.submit(done.tag, now)?;
            }
        }
        Ok(self.measurement)
    }

    /// Submits the next request, unless a limit has been reached: then none will follow in its place.
    fn submit(&mut self, tag: Tag, now: Nanos) -> Result<(), RealError> {
        let over = now >= self.shared.deadline || self.shared.failed.load(Ordering::Relaxed);
        if over || self.requests_left == 0 || !self.shared.take_block() {
            return Ok(());
        }
        let request = self.stream.next_request();
        self.requests_left -= 1;
        self.in_flight += 1;
        self.flights[tag.0 as usize] = (now, request);
        self.queue.submit(tag, request).map_err(uring_error)
    }

    fn finish(&mut self, done: Done, now: Nanos) -> Result<(), RealError> {
        let (submitted, request) = self.flights[done.tag.0 as usize];
        self.in_flight -= 1;
        let (op, offset, length) = (request.op, request.lba.offset(), request.bytes());
        let path = || self.shared.target.path().to_owned();
        match done.result {
            Ok(moved) if op == Op::Trim || Bytes::new(u64::from(moved)) == length => {}
            Ok(moved) => {
                return Err(RealError::Short { op, offset, length, path: path(), moved: Bytes::new(u64::from(moved)) });
            }
            Err(Errno::OPNOTSUPP) if op == Op::Trim => return Err(RealError::TrimUnsupported { path: path() }),
            Err(errno) => return Err(RealError::Io { op, offset, length, path: path(), errno }),
        }
        if self.shared.counts(now) {
            // What ends at or after the deadline belongs to the last interval of the series, not to one of its own.
            let within = now.min(self.shared.deadline - Nanos::from_nanos(1));
            let from = self.shared.counted_from;
            self.measurement.record(op, length, within.since(from), now.since(submitted));
            self.measurement.elapsed = now.since(from);
        }
        Ok(())
    }
}

/// The worker's ring. What is written follows from the run's seed; what only reads needs no content.
fn ring<'r>(shared: &Shared<'r>, index: u32) -> Result<Ring<'r>, RealError> {
    let Shared { target, workload, seed, .. } = *shared;
    let (depth, block) = (workload.queue_depth, workload.block);
    let trims = matches!(workload.pattern, Pattern::Trim | Pattern::RandTrim);
    // A trim moves no data: its buffers are as small as can be.
    let buffer = if trims { crate::uring::PAGE } else { block };
    let content = workload.pattern.changes_data().then(|| seed.split("content").number(u64::from(index)));
    Ring::new(target.fd(), depth, buffer, content).map_err(|error| match error {
        SetupError::Memory => crate::real::memory_error(workload),
        SetupError::Kernel(errno) => uring_error(errno),
    })
}
