//! One worker of a workload in real time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use block::{Bytes, Nanos, Op, Request, Seed, Tag};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use workload::{Pattern, Stream, Workload};

use crate::discard::Discards;
use crate::handover::{Method, first_granted};
use crate::pace::Pace;
use crate::real::uring_error;
use crate::threads::Threads;
use crate::uring::{Content, Done, Ring, Setup, SetupError};
use crate::{Clock, Cpu, Handover, Measurement, RealError, Target};

/// The longest that a worker sleeps before it looks whether the run has been given up.
const NAP: Duration = Duration::from_millis(250);

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
    /// How much data may still be asked for; none without such a limit.
    pub bytes_left: Option<AtomicU64>,
    /// Set when a worker has failed or the run is to end early: nothing more is submitted.
    pub over: AtomicBool,
    /// Requests completed so far, counted or not.
    pub requests: AtomicU64,
    /// The data that they moved.
    pub bytes: AtomicU64,
}

impl<'r> Shared<'r> {
    pub fn new(target: &'r Target, workload: &'r Workload, seed: Seed) -> Self {
        Self {
            target,
            workload,
            seed,
            counted_from: workload.ramp,
            deadline: workload.stop.time.map_or(Nanos::MAX, |time| workload.ramp + time),
            ended: AtomicU64::new(u64::MAX),
            bytes_left: workload.stop.bytes.map(|bytes| AtomicU64::new(bytes.get())),
            over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Whether a completion at this time is one of those that count.
    fn counts(&self, at: Nanos) -> bool {
        at > self.counted_from
            && (at < self.deadline || at.as_nanos() <= self.ended.fetch_min(at.as_nanos(), Ordering::Relaxed))
    }

    fn take(&self, bytes: Bytes) -> bool {
        let Some(left) = &self.bytes_left else { return true };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes.get())).is_ok()
    }
}

enum Queue<'r> {
    Ring(Box<Ring<'r>>),
    Threads(Threads),
    Discards(Discards<'r>),
}

impl Queue<'_> {
    fn push(&mut self, tag: Tag, request: Request) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.push(tag, request),
            Self::Threads(threads) => threads.push(tag, request),
            Self::Discards(discards) => discards.push(tag, request),
        }
        Ok(())
    }

    fn wait(&mut self, done: &mut Vec<Done>) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.wait(done),
            Self::Threads(threads) => threads.wait(done),
            Self::Discards(discards) => discards.wait(done),
        }
        Ok(())
    }

    /// The same, but within `patience` if nothing is completed before.
    fn wait_for(&mut self, done: &mut Vec<Done>, patience: Duration) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.wait_for(done, patience),
            Self::Threads(threads) => threads.wait_for(done, patience),
            Self::Discards(discards) if discards.is_empty() => std::thread::sleep(patience),
            Self::Discards(discards) => discards.wait(done),
        }
        Ok(())
    }
}

/// One worker with its own queue and its own part of the measurement.
pub(crate) struct Worker<'r> {
    shared: &'r Shared<'r>,
    queue: Queue<'r>,
    stream: Stream,
    /// The request that is made next, where it had to be looked at before it could be submitted.
    peeked: Option<Request>,
    pace: Pace,
    /// The time that each tag's latency counts from, and what it does.
    flights: Vec<(Nanos, Request)>,
    in_flight: u32,
    requests_left: u64,
    /// 1 where flushes count like other requests, as in a replay, else 0.
    counts_flushes: u64,
    /// How the queue hands requests over.
    handover: Option<Handover>,
    /// What was submitted, if that is to be kept.
    submitted: Option<Vec<(Nanos, Request)>>,
    measurement: Measurement,
}

impl<'r> Worker<'r> {
    /// Worker number `index`, to be used by the thread that makes it.
    pub fn new(shared: &'r Shared<'r>, index: u32) -> Result<Self, RealError> {
        let Shared { target, workload, seed, .. } = *shared;
        let stream = Stream::new(workload, index, target.capacity(), seed)?;
        let depth = workload.queue_depth;
        if let Some(cpus) = target.submission().cpus_of(index) {
            pin(cpus)?;
        }
        let (queue, handover) = match workload.pattern {
            Pattern::Trim | Pattern::RandTrim if target.is_device() => (Queue::Discards(Discards::new(target)), None),
            _ => queue(shared, index)?,
        };
        Ok(Self {
            shared,
            queue,
            stream,
            peeked: None,
            pace: Pace::new(workload, index, seed, Nanos::ZERO),
            flights: vec![(Nanos::ZERO, Request::FLUSH); depth as usize],
            in_flight: 0,
            requests_left: workload.requests_each(),
            counts_flushes: u64::from(workload.replay.is_some()),
            handover,
            submitted: target.record().map(|_| Vec::new()),
            measurement: Measurement::new(workload.clone(), seed, Clock::Real),
        })
    }

    /// Makes requests until the workload ends, then waits for the rest; what was measured.
    ///
    /// The worker is left to be dropped apart, which takes processor time of its own.
    pub fn run(&mut self, began: Instant) -> Result<Measurement, RealError> {
        let now = || Nanos::from_std(began.elapsed());
        let ended = if self.shared.workload.is_closed() { self.closed(now) } else { self.paced(now) };
        if let (Some(record), Some(submitted)) = (self.shared.target.record(), self.submitted.take()) {
            record.add(submitted);
        }
        ended?;
        self.measurement.cpu = Some(Cpu { handover: self.handover, ..Cpu::default() });
        let nothing = Measurement::new(self.shared.workload.clone(), self.shared.seed, Clock::Real);
        Ok(std::mem::replace(&mut self.measurement, nothing))
    }

    /// Keeps the queue full.
    ///
    /// The moment at which completions are taken up is also that at which the next requests are submitted in their
    /// place, so one reading of the clock serves them all, and the latencies account for all of the time.
    fn closed(&mut self, now: impl Fn() -> Nanos) -> Result<(), RealError> {
        let first = now();
        for tag in (0..self.flights.len() as u32).map(Tag) {
            self.submit(tag, first, first)?;
        }
        let mut done = Vec::with_capacity(self.flights.len());
        while self.in_flight > 0 {
            self.queue.wait(&mut done).map_err(uring_error)?;
            let now = now();
            self.count(&done);
            for done in done.drain(..) {
                self.finish(done, now)?;
                self.submit(done.tag, now, now)?;
            }
        }
        Ok(())
    }

    /// Submits requests as they fall due.
    fn paced(&mut self, now: impl Fn() -> Nanos) -> Result<(), RealError> {
        let mut free: Vec<Tag> = (0..self.flights.len() as u32).rev().map(Tag).collect();
        let mut done = Vec::with_capacity(self.flights.len());
        loop {
            match self.pull(&mut free, &now)? {
                Some(wake) => {
                    let patience = wake.since(now()).to_std().min(NAP);
                    self.queue.wait_for(&mut done, patience).map_err(uring_error)?;
                }
                None if self.in_flight > 0 => self.queue.wait(&mut done).map_err(uring_error)?,
                None => break,
            }
            let now = now();
            self.count(&done);
            for done in done.drain(..) {
                self.finish(done, now)?;
                free.push(done.tag);
                if self.in_flight == 0 {
                    self.pace.rest(now);
                }
            }
        }
        // The time in which nothing came, or nobody asked, is part of the measurement.
        let whole = self.requests_left > 0 && !self.shared.over.load(Ordering::Relaxed);
        if whole && self.shared.deadline < Nanos::MAX {
            let whole = self.shared.deadline.since(self.shared.counted_from);
            self.measurement.elapsed = self.measurement.elapsed.max(whole);
        }
        Ok(())
    }

    /// Submits what is due; when more will be, if that is not for a completion to bring about.
    fn pull(&mut self, free: &mut Vec<Tag>, now: &impl Fn() -> Nanos) -> Result<Option<Nanos>, RealError> {
        while let Some(&tag) = free.last() {
            let (next, now) = (self.peek(), now());
            let over = now >= self.shared.deadline || self.shared.over.load(Ordering::Relaxed);
            let since = match self.pace.due() {
                _ if over || self.requests_left == 0 => return Ok(None),
                _ if self.pace.follows(next) => now,
                Some(due) if due <= now => self.pace.take(now),
                Some(due) => return Ok(Some(due.min(self.shared.deadline))),
                None => return Ok(None),
            };
            if !self.submit(tag, now, since)? {
                return Ok(None);
            }
            free.pop();
        }
        Ok(None)
    }

    /// The request that is made next.
    fn peek(&mut self) -> Request {
        *self.peeked.get_or_insert_with(|| self.stream.next_request())
    }

    fn count(&self, done: &[Done]) {
        let bytes: Bytes = done.iter().map(|done| self.flights[done.tag.0 as usize].1.bytes()).sum();
        self.shared.requests.fetch_add(done.len() as u64, Ordering::Relaxed);
        self.shared.bytes.fetch_add(bytes.get(), Ordering::Relaxed);
    }

    /// Submits the next request, whose latency counts from `since`, unless a limit has been reached: then none will
    /// follow in its place, and the answer is no.
    fn submit(&mut self, tag: Tag, now: Nanos, since: Nanos) -> Result<bool, RealError> {
        let over = now >= self.shared.deadline || self.shared.over.load(Ordering::Relaxed);
        if over || self.requests_left == 0 {
            return Ok(false);
        }
        let request = self.peeked.take().unwrap_or_else(|| self.stream.next_request());
        if !self.shared.take(request.bytes()) {
            self.requests_left = 0;
            return Ok(false);
        }
        self.requests_left -= u64::from(request.op != Op::Flush) | self.counts_flushes;
        self.in_flight += 1;
        self.flights[tag.0 as usize] = (since, request);
        if let Some(submitted) = &mut self.submitted {
            submitted.push((now, request));
        }
        self.queue.push(tag, request).map_err(uring_error)?;
        Ok(true)
    }

    fn finish(&mut self, done: Done, now: Nanos) -> Result<(), RealError> {
        let (since, request) = self.flights[done.tag.0 as usize];
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
            self.measurement.record(op, length, within.since(from), now.since(since));
            self.measurement.elapsed = now.since(from);
        }
        Ok(())
    }
}

/// Keeps the calling thread, and those that it starts, to these processors.
fn pin(cpus: &[usize]) -> Result<(), RealError> {
    let mut set = CpuSet::new();
    let mut known = cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU);
    known.by_ref().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).map_err(|errno| RealError::Pin { cpus: cpus.to_vec(), errno })
}

/// The worker's queue, by the best way that the kernel grants. What is written follows from the run's seed; what only
/// reads needs no content.
fn queue<'r>(shared: &Shared<'r>, index: u32) -> Result<(Queue<'r>, Option<Handover>), RealError> {
    let Shared { target, workload, seed, .. } = *shared;
    let trims = matches!(workload.pattern, Pattern::Trim | Pattern::RandTrim);
    // A trim moves no data: its buffers are as small as can be.
    let buffer = if trims { crate::uring::PAGE } else { workload.block_max() };
    let seed = seed.split("content").number(u64::from(index));
    let content = workload.pattern.changes_data().then_some(Content { seed, compressible: workload.compressible });
    let (file, depth, data_flushes) = (target.fd(), workload.queue_depth, workload.fdatasync > 0);
    let submission = target.submission();
    let attempt = |method| {
        let deferred = method == Method::Deferred;
        let setup = Setup { deferred, hipri: submission.hipri, sqthread_poll: submission.sqthread_poll, data_flushes };
        let made = match method {
            Method::Threads => Threads::new(file, depth, buffer, content, data_flushes).map(Queue::Threads),
            _ => Ring::new(file, depth, buffer, content, setup).map(|ring| Queue::Ring(Box::new(ring))),
        };
        match made {
            Err(SetupError::Kernel(errno)) => Err(errno),
            Err(SetupError::Memory) => Ok(None),
            Ok(queue) => Ok(Some(queue)),
        }
    };
    let (queue, method, refusal) = first_granted(submission.methods(), attempt).map_err(uring_error)?;
    let queue = queue.ok_or_else(|| crate::real::memory_error(workload))?;
    let registered = matches!(&queue, Queue::Ring(ring) if ring.is_registered());
    Ok((queue, Some(Handover { method, registered, refusal: refusal.map(Errno::raw_os_error) })))
}
