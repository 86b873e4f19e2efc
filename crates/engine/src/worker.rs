//! One worker of a workload in real time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use workload::{Damage, Stream};

use crate::content::ContentMark;
use crate::crew::Deposit;
use crate::discard::Discards;
use crate::ledger::Ledger;
use crate::pace::{Pace, Turn};
use crate::part::Part;
use crate::queue::{SubmissionQueue, queue};
use crate::ring_setup::SetupError;
use crate::shortage::{memory_error, uring_error};
use crate::uring::UringCompletion;
use crate::{Clock, Completed, Cpu, Handover, Job, Measurement, RealError, TICK};

mod shared;
mod silence;
mod zones;

pub(crate) use self::shared::SharedRun;
pub(crate) use self::silence::{Left, Silence};
use self::zones::WorkerZones;

/// How long a failed request waits to see whether its device is being removed.
const REMOVAL: Duration = Duration::from_secs(1);
/// The longest that a worker sleeps before it looks whether the run has been given up.
const NAP: Duration = Duration::from_millis(250);

/// Since when a tag's request counts that has none.
const IDLE: Nanos = Nanos::MAX;

/// One worker with its own queue and its own part of the measurement.
pub(crate) struct Worker<'r> {
    shared: &'r SharedRun<'r>,
    index: u32,
    queue: SubmissionQueue<'r>,
    stream: Stream,
    /// The request that is made next, where it had to be looked at before it could be submitted.
    peeked: Option<Request>,
    pace: Pace,
    /// The time that each tag's latency counts from, which is [`IDLE`] for one that is not in flight, and what it does.
    flights: Vec<(Nanos, Request)>,
    /// When each tag was submitted, where its latency counts from another time; empty elsewhere.
    submitted: Vec<Nanos>,
    /// Where the last write went, on a target of several files; none on a single one.
    written: Option<Lba>,
    in_flight: u32,
    /// Its part in the zones of the target; none where that has none.
    zones: Option<Box<WorkerZones<'r>>>,
    /// For how long nothing has been completed.
    silence: Silence,
    /// Where others find what this leaves while it makes a request itself.
    deposit: Arc<Deposit<Box<Left>>>,
    /// What that is, empty; none where the queue never has it make a request itself.
    left: Option<Box<Left>>,
    requests_left: u64,
    /// From when on requests count for that.
    limited_from: Nanos,
    /// What every block should hold; none where nobody looks.
    ledger: Option<Box<Ledger>>,
    /// Whether no request has followed the last flush.
    is_flushed: bool,
    /// 1 where flushes count like other requests, as in a replay, else 0.
    counts_flushes: u64,
    /// How the queue hands requests over.
    handover: Option<Handover>,
    /// What was submitted, if that is to be kept.
    kept: Option<Vec<(Nanos, Request)>>,
    /// Of how many intervals, counting the one under way, the others have been told.
    told: usize,
    /// Of how many that are over whoever watches whether the job is steady was told.
    told_steady: usize,
    measurement: Box<Measurement>,
}

impl<'r> Worker<'r> {
    /// Worker number `index`, to be used by the thread that makes it.
    pub fn new(shared: &'r SharedRun<'r>, index: u32, deposit: Arc<Deposit<Box<Left>>>) -> Result<Self, RealError> {
        let SharedRun { target, workload, seed, .. } = *shared;
        let nothing = || Measurement::new(workload.clone(), seed, Clock::Real);
        let stream = Stream::new(workload, index, target.capacity(), seed)?;
        let depth = workload.queue_depth;
        if let Some(cpus) = target.submission().cpus_of(index) {
            pin(cpus)?;
        }
        let (start, length) = workload.span(target.capacity())?;
        let discards = workload.pattern.trims()
            && !target.takes_commands()
            && target.parts_in((start, length)).all(Part::is_device);
        let (mut queue, handover) =
            if discards { (SubmissionQueue::Discards(Discards::new(target)), None) } else { granted(shared, index)? };
        let left = queue.is_blocking().then(|| Left::new(nothing()));
        let zones = shared.zones.map(|(zones, job)| Box::new(WorkerZones::new(zones, job, index, queue.waker())));
        let requests_left = workload.requests_each();
        let mut ledger = Ledger::of(workload, index, target.capacity())?.map(Box::new);
        if let Some(ledger) = ledger.as_mut().filter(|_| workload.verify.only) {
            recall(ledger, stream.clone(), requests_left);
        }
        Ok(Self {
            shared,
            index,
            queue,
            stream,
            peeked: None,
            pace: Pace::new(workload, index, seed, Nanos::ZERO),
            flights: vec![(IDLE, Request::FLUSH); depth as usize],
            submitted: if workload.counts_from_arrival() { vec![Nanos::ZERO; depth as usize] } else { Vec::new() },
            written: (target.count() > 1).then(|| Lba::at(start)),
            in_flight: 0,
            zones,
            silence: Silence::default(),
            deposit,
            left,
            requests_left,
            limited_from: workload.limited_from(),
            is_flushed: true,
            counts_flushes: u64::from(workload.replay.is_some()),
            ledger,
            handover,
            kept: shared.recorded_as.map(|_| Vec::new()),
            told: 0,
            told_steady: 0,
            measurement: Box::new(nothing()),
        })
    }

    /// Makes requests until the workload ends, then waits for the rest; what was measured.
    ///
    /// The worker is left to be dropped apart, which takes processor time of its own.
    pub fn run(&mut self, began: Instant) -> Result<Measurement, RealError> {
        let now = || Nanos::from_std(began.elapsed());
        let ended = match (self.shared.workload.verify.only, self.shared.workload.is_closed() && self.ledger.is_none())
        {
            (true, _) => self.read_back(now),
            (false, true) => self.closed(now),
            (false, false) => self.paced(now),
        };
        let ended = ended.and_then(|()| self.flush_at_end(now));
        self.shared.keep(self.kept.take());
        if let Some(part) = self.shared.steady {
            part.leave(self.index, &self.measurement.series, now().since(self.shared.counted_from));
        }
        if let (Err(_), Some(zones)) = (&ended, &self.zones) {
            zones.close();
        }
        ended?;
        self.measurement.cpu =
            Some(Cpu { handover: self.handover, submission: self.queue.submission(), ..Cpu::default() });
        Ok(self.take_measurement())
    }

    /// Flushes once more where the workload asks for it and something was written since the last flush. This is part of what is
    /// measured, also where the time is over.
    fn flush_at_end(&mut self, now: impl Fn() -> Nanos) -> Result<(), RealError> {
        let wanted = self.shared.workload.flushes_at_end() && !self.is_flushed && self.in_flight == 0;
        if !wanted || self.shared.over.load(Ordering::Relaxed) || !self.measurement.failures.is_empty() {
            return Ok(());
        }
        let (mut done, began) = (Vec::new(), now());
        if let Some(kept) = &mut self.kept {
            kept.push((began, Request::FLUSH));
        }
        self.launch(Tag(0), Request::FLUSH, began)?;
        while self.in_flight > 0 && self.wait(&mut done, &now)? {
            let (now, from) = (now(), self.shared.counted_from);
            for done in done.drain(..) {
                self.flights[done.tag.0 as usize].0 = IDLE;
                self.in_flight -= 1;
                if done.result.is_err() {
                    self.fail(Request::FLUSH, done.result)?;
                } else if now > from {
                    let within = now.min(self.shared.deadline() - Nanos::from_nanos(1));
                    self.measurement.record(Op::Flush, Bytes::ZERO, within.since(from), now.since(began));
                    self.measurement.elapsed = now.since(from);
                }
            }
        }
        Ok(())
    }

    /// What has been measured since this was last asked.
    fn take_measurement(&mut self) -> Measurement {
        let nothing = Measurement::new(self.shared.workload.clone(), self.shared.seed, Clock::Real);
        std::mem::replace(&mut *self.measurement, nothing)
    }

    /// Reads back all that was written, if it is to be checked and was not read just now; what was found, whose figures
    /// are no part of the measurement.
    pub fn verify(&mut self, began: Instant) -> Option<Result<Measurement, RealError>> {
        let wanted = self.shared.workload.verify;
        self.ledger.as_ref().filter(|_| wanted.read_back && !wanted.only)?;
        let done = self.read_back(|| Nanos::from_std(began.elapsed()));
        Some(done.map(|()| self.take_measurement()))
    }

    /// Reads every block whose content is known, in order.
    fn read_back(&mut self, now: impl Fn() -> Nanos) -> Result<(), RealError> {
        let mut free: Vec<Tag> = (0..self.flights.len() as u32).rev().map(Tag).collect();
        let mut done = Vec::with_capacity(self.flights.len());
        let mut next = 0;
        loop {
            let stopped = self.shared.over.load(Ordering::Relaxed) || self.shared.target.is_stopped();
            while let Some(&tag) = free.last().filter(|_| !stopped)
                && let Some((after, read)) = self.ledger.as_ref().and_then(|ledger| ledger.next_known(next))
            {
                (next, _) = (after, free.pop());
                self.launch(tag, read, now())?;
            }
            if self.in_flight == 0 || !self.wait(&mut done, &now)? {
                break;
            }
            let now = now();
            self.count(&done);
            for done in done.drain(..) {
                self.finish(done, now)?;
                free.push(done.tag);
            }
        }
        let ledger = self.ledger.as_ref().expect("only what was entered is read back");
        let unread = std::iter::successors(ledger.next_known(next), |(next, _)| ledger.next_known(*next)).count();
        self.measurement.verified.get_or_insert_default().unread += unread as u64;
        Ok(())
    }

    /// Keeps the queue full. Completions are taken up and the next requests submitted in their place at one moment, so
    /// that one reading of the clock serves them all, and the latencies account for all of the time.
    fn closed(&mut self, now: impl Fn() -> Nanos) -> Result<(), RealError> {
        let first = now();
        for tag in (0..self.flights.len() as u32).map(Tag) {
            // The first is made even if the kernel lets the worker begin when the time is over.
            let by = if tag.0 == 0 { first.min(self.shared.deadline() - Nanos::from_nanos(1)) } else { first };
            self.submit(tag, by, first)?;
        }
        let mut done = Vec::with_capacity(self.flights.len());
        while self.in_flight > 0 && self.wait(&mut done, &now)? {
            let now = now();
            self.count(&done);
            for done in done.drain(..) {
                self.finish(done, now)?;
                self.submit(done.tag, now, now)?;
            }
            self.tell_steady(now);
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
                    match self.zones.is_some() && self.waits_for_zones(&mut done, patience)? {
                        true => {}
                        false => self.wait_by(|queue| queue.wait_for(&mut done, patience))?,
                    }
                }
                None if self.in_flight > 0 && self.wait(&mut done, &now)? => {}
                None => break,
            }
            let now = now();
            self.count(&done);
            for done in done.drain(..) {
                self.finish(done, now)?;
                free.push(done.tag);
                self.pace.done(now, done.tag, self.in_flight == 0);
            }
            self.tell_steady(now);
        }
        if self.requests_left > 0 && !self.shared.over.load(Ordering::Relaxed) {
            self.shared.count_to_deadline(&mut self.measurement);
        }
        Ok(())
    }

    /// Submits what is due; when more will be, if that is not for a completion to bring about. Where data is checked,
    /// no block has two requests in flight: the second of them, and what comes after it, waits for the first.
    fn pull(&mut self, free: &mut Vec<Tag>, now: &impl Fn() -> Nanos) -> Result<Option<Nanos>, RealError> {
        while let Some(&tag) = free.last() {
            let (request, now) = (self.peek(), now());
            if self.ledger.as_mut().is_some_and(|ledger| ledger.is_busy(request)) {
                return Ok(None);
            }
            let over = now >= self.shared.deadline() || self.shared.over.load(Ordering::Relaxed);
            let since = match self.pace.turn(request, now) {
                Turn::Now(since) => since,
                Turn::At(due) if !over && self.requests_left > 0 => return Ok(Some(due.min(self.shared.deadline()))),
                _ => return Ok(None),
            };
            if !self.submit(tag, now, since)? {
                return Ok(None);
            }
            free.pop();
            // What its zone needs first is not what came.
            if self.peeked.is_none() {
                self.pace.take(request, tag);
            }
        }
        Ok(None)
    }

    /// Waits for completions; false where the device has not answered for as long as it is given. What is missing then has
    /// failed.
    fn wait(&mut self, done: &mut Vec<UringCompletion>, now: &impl Fn() -> Nanos) -> Result<bool, RealError> {
        loop {
            let waited = self.zones.is_some() && self.waits_for_zones(done, NAP)?;
            if !waited {
                self.wait_by(|queue| queue.wait_until_tick(done))?;
            }
            if self.in_flight == 0 {
                return Ok(false);
            }
            if !done.is_empty() {
                self.silence = Silence::default();
                return Ok(true);
            }
            self.tell_steady(now());
            if self.gives_up(now()) {
                return Ok(false);
            }
        }
    }

    /// The request that is made next.
    fn peek(&mut self) -> Request {
        *self.peeked.get_or_insert_with(|| self.stream.next_request())
    }

    fn count(&self, done: &[UringCompletion]) {
        let bytes: Bytes = done.iter().map(|done| self.flights[done.tag.0 as usize].1.bytes()).sum();
        self.shared.requests.fetch_add(done.len() as u64, Ordering::Relaxed);
        self.shared.bytes.fetch_add(bytes.get(), Ordering::Relaxed);
    }

    /// Submits the next request, whose latency counts from `since`, unless a limit has been reached: then none will
    /// follow in its place, and the answer is no.
    fn submit(&mut self, tag: Tag, now: Nanos, since: Nanos) -> Result<bool, RealError> {
        let over = now >= self.shared.deadline() || self.shared.over.load(Ordering::Relaxed);
        if over || self.requests_left == 0 {
            return Ok(false);
        }
        if self.zones.is_some() {
            return self.submit_zoned(tag, now, since);
        }
        let request = self.peeked.take().unwrap_or_else(|| self.stream.next_request());
        if !self.shared.take(request.bytes()) {
            self.requests_left = 0;
            return Ok(false);
        }
        self.count_in(tag, request, now);
        self.launch(tag, request, since)?;
        Ok(true)
    }

    /// Notes that the request that was asked for is submitted.
    fn count_in(&mut self, tag: Tag, request: Request, now: Nanos) {
        if now >= self.limited_from {
            self.requests_left -= u64::from(request.op != Op::Flush) | self.counts_flushes;
        }
        if let Some(submitted) = self.submitted.get_mut(tag.0 as usize) {
            *submitted = now;
        }
        if let Some(kept) = &mut self.kept {
            kept.push((now, request.as_asked()));
        }
    }

    fn launch(&mut self, tag: Tag, request: Request, since: Nanos) -> Result<(), RealError> {
        self.is_flushed = request.op == Op::Flush;
        let target = self.shared.target;
        let request = self.written.as_mut().map_or(Ok(request), |written| target.within_part(request, written))?;
        let mark = self.ledger.as_mut().map_or(ContentMark::None, |ledger| ledger.begin(request));
        self.in_flight += 1;
        self.flights[tag.0 as usize] = (since, request);
        self.queue.push(tag, request, mark).map_err(uring_error)
    }

    fn finish(&mut self, done: UringCompletion, now: Nanos) -> Result<(), RealError> {
        let (since, request) = std::mem::replace(&mut self.flights[done.tag.0 as usize], (IDLE, Request::FLUSH));
        self.in_flight -= 1;
        if self.zones.is_some() {
            self.leave_zone(&request)?;
        }
        let request = request.as_asked();
        let (op, length) = (request.op, request.bytes());
        match done.result {
            Ok(moved) if op == Op::Trim || Bytes::new(u64::from(moved)) == length => {}
            result => return self.fail(request, result),
        }
        if self.ledger.is_some() {
            self.check(done.tag, request)?;
        }
        if self.shared.counts(now) {
            // What ends at or after the deadline belongs to the last interval of the series, not to one of its own.
            let within = now.min(self.shared.deadline() - Nanos::from_nanos(1));
            let from = self.shared.counted_from;
            self.measurement.record(op, length, within.since(from), now.since(since));
            if self.measurement.series.len() > self.told {
                self.tell();
            }
            self.measurement.elapsed = now.since(from);
            let submitted = self.submitted.get(done.tag.0 as usize).copied();
            if let Some(submitted) = submitted {
                self.measurement.record_service(op, now.since(submitted));
            }
            if let Some(observer) = self.shared.observer.filter(|_| !matches!(op, Op::Zone(_))) {
                let (latency, service) = (now.since(since), now.since(submitted.unwrap_or(since)));
                let offset = request.lba.offset();
                // Its place in its file, where the target is several.
                let lba = Lba::at(offset - self.shared.target.part_at(offset).start);
                let request = Request { lba, ..request };
                let submission = self.queue.submitted_in(done.tag);
                let at = now.since(from);
                observer.completed(self.index, &Completed { at, request, latency, service, submission });
            }
        }
        Ok(())
    }

    /// Tells of the interval that has just ended, if any has.
    #[cold]
    fn tell(&mut self) {
        let series = &self.measurement.series;
        if let [.., last, _] = &series[..] {
            self.shared.live.tell(series.len() - 2, &last.latencies);
        }
        self.told = series.len();
    }

    /// Tells whoever watches whether the job is steady of the intervals that are over now.
    fn tell_steady(&mut self, now: Nanos) {
        let Some(part) = self.shared.steady else { return };
        let now = now.since(self.shared.counted_from);
        let whole = (now.as_nanos() / TICK.as_nanos()) as usize;
        if whole > self.told_steady {
            part.tell(self.index, &self.measurement.series, whole, now);
            self.told_steady = whole;
        }
    }

    /// Ends the run with the reason for which a request failed, or counts it.
    #[cold]
    fn fail(&mut self, request: Request, result: Result<u32, Errno>) -> Result<(), RealError> {
        let part = self.shared.target.part_at(request.lba.offset());
        let (op, offset, length) = (request.op, request.lba.offset() - part.start, request.bytes());
        let path = || part.path().to_owned();
        if result == Err(Errno::OPNOTSUPP) && op == Op::Trim {
            return Err(RealError::TrimUnsupported { path: path() });
        }
        let counts = self.shared.target.counts_failures();
        if may_be_gone(&result) && is_gone(part, if counts { Duration::ZERO } else { REMOVAL }) {
            return Err(RealError::Gone { op, offset, length, path: path() });
        }
        if counts {
            if let Some(ledger) = &mut self.ledger {
                ledger.end(request, op == Op::Write);
            }
            self.measurement.failures.record(op, result.err().map(Errno::raw_os_error));
            return Ok(());
        }
        let moved = |moved: u32| Bytes::new(u64::from(moved));
        Err(match result {
            Ok(bytes) => RealError::Short { op, offset, length, path: path(), moved: moved(bytes) },
            Err(errno) => RealError::Io { op, offset, length, path: path(), errno },
        })
    }

    /// Looks at what a read has brought, and lets the next request have the block.
    fn check(&mut self, tag: Tag, request: Request) -> Result<(), RealError> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let mark = if request.op == Op::Read { ledger.mark(request) } else { ContentMark::None };
        let damage = if mark == ContentMark::None { None } else { self.queue.damage(tag, request, mark) };
        ledger.end(request, damage.is_some());
        if mark != ContentMark::None {
            self.measurement.verified.get_or_insert_default().record(damage);
        }
        match damage.filter(|_| self.shared.workload.verify.fatal) {
            Some(damage) => {
                let part = self.shared.target.part_at(damage.at);
                let damage = Damage { at: damage.at - part.start, ..damage };
                Err(RealError::Damaged { path: part.path().to_owned(), damage })
            }
            None => Ok(()),
        }
    }
}

/// Whether a request ends so on a device that is no more: reads of NVMe then find the end of the device, writes no space, and
/// a namespace that was detached is not supported.
fn may_be_gone(result: &Result<u32, Errno>) -> bool {
    !matches!(result, Err(Errno::INVAL | Errno::NODATA))
}

/// Whether the kernel removes the device within this time, which it tells after the first requests have failed.
fn is_gone(part: &Part, patience: Duration) -> bool {
    let began = Instant::now();
    loop {
        match part.block_device() {
            None => return false,
            Some(device) if device.is_gone() => return true,
            Some(_) if began.elapsed() >= patience => return false,
            Some(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Enters what an earlier run of the same requests has written.
fn recall(ledger: &mut Ledger, mut stream: Stream, requests: u64) {
    let mut left = requests;
    while left > 0 {
        let request = stream.next_request();
        left -= u64::from(request.op != Op::Flush);
        ledger.recall(request);
    }
}

/// Keeps the calling thread, and those that it starts, to these processors.
fn pin(cpus: &[usize]) -> Result<(), RealError> {
    let mut set = CpuSet::new();
    let mut known = cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU);
    known.by_ref().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).map_err(|errno| RealError::Pin { cpus: cpus.to_vec(), errno })
}

/// The worker's queue, and how it hands requests over.
fn granted<'r>(shared: &SharedRun<'r>, index: u32) -> Result<(SubmissionQueue<'r>, Option<Handover>), RealError> {
    let SharedRun { target, workload, seed, observer, .. } = *shared;
    queue(target, &Job { name: "", workload, seed, observer }, index).map_err(|error| match error {
        SetupError::Kernel(errno) => uring_error(errno),
        SetupError::Memory => memory_error(workload),
    })
}
