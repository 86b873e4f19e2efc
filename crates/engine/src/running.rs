//! A job under way on a simulated drive.

use block::{Bytes, Nanos, Op, Request, Status, Tag};
use drive::{Counters, Drive};
use measurement::{TICK, TickSum};
use workload::{Invalid, Stream, ZoneStep};

use crate::pace::Pace;
use crate::zone_traffic::ZoneTraffic;
use crate::{Clock, Completed, Job, Measurement, Observer};

/// How many requests of a worker are made ahead, so that the drive can have its tables at hand.
const AHEAD: usize = 32;

/// So many are made at a time: few, so that the processor goes on with other work while memory answers for these.
const STEP: usize = 8;

/// So many requests before its turn, the drive is told of one for the second time.
const NEXT: usize = AHEAD / 2;

/// Whose a tag is, all through a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TagOwner {
    pub job: u32,
    pub worker: u32,
}

/// What a tag is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub owner: TagOwner,
    /// The time that its latency counts from.
    pub since: Nanos,
    pub submitted: Nanos,
    pub request: Request,
}

impl InFlight {
    /// The same with [the request as the workload has it](Request::as_asked).
    pub fn as_asked(self) -> Self {
        Self { request: self.request.as_asked(), ..self }
    }
}

pub(crate) struct RunningJobs<'r> {
    pub workers: Vec<VirtualWorker>,
    /// Completions before this are not counted.
    pub counted_from: Nanos,
    /// Nothing is submitted from here on, and the first completion from here on is the last to count.
    pub deadline: Nanos,
    /// Whether that one has been seen.
    ended: bool,
    /// Whether requests come at a rate, so that some wait to be submitted.
    is_open: bool,
    pub bytes_left: u64,
    pub in_flight: u64,
    observer: Option<&'r dyn Observer>,
    pub measurement: Measurement,
    /// What is to be added to the measurement.
    unrecorded: Unrecorded,
    /// What the drive had done when counting began; none before that.
    pub from: Option<Counters>,
    /// Where the job ended; none before that.
    pub rest: Option<FinalState>,
}

impl<'r> RunningJobs<'r> {
    /// A job of a run that begins at `began`, which has no workers yet.
    pub fn new(job: &Job<'r>, began: Nanos) -> Self {
        let Job { workload, seed, observer, .. } = *job;
        let counted_from = began + workload.lead();
        Self {
            workers: Vec::with_capacity(workload.workers as usize),
            counted_from,
            deadline: workload.stop.time.map_or(Nanos::MAX, |time| counted_from + time),
            ended: false,
            is_open: workload.counts_from_arrival(),
            bytes_left: workload.stop.bytes.map_or(u64::MAX, |bytes| bytes.get()),
            in_flight: 0,
            observer,
            measurement: Measurement::new(workload.clone(), seed, Clock::Virtual),
            unrecorded: Unrecorded::default(),
            from: None,
            rest: None,
        }
    }

    /// Notes the drive at `at`: as it was when counting began or, where that is noted, when the job ended.
    #[cold]
    pub fn note(&mut self, drive: &dyn Drive, at: Nanos) {
        let counters = drive.counters_at(at);
        if self.from.is_some() {
            self.rest = Some(FinalState { at, counters });
        } else {
            self.from = Some(counters);
        }
    }

    /// Notes the drive where the job has come to its end at `now`; false where the end is yet to come, at its deadline.
    #[cold]
    pub fn note_end(&mut self, drive: &dyn Drive, now: Nanos) -> bool {
        if self.waits_for_deadline() && now < self.deadline {
            return false;
        }
        if self.from.is_none() {
            self.note(drive, now);
        }
        if self.rest.is_none() {
            self.note(drive, now);
        }
        true
    }

    /// Submits what follows a completion at `at` on a drive without zones, where it follows at once; false where a limit
    /// forbids it, or the worker has a queue.
    #[inline(always)]
    pub fn follow(&mut self, drive: &mut dyn Drive, at: Nanos, tag: Tag, flight: &mut InFlight) -> bool {
        self.workers[flight.owner.worker as usize].queue.is_none() && self.submit(drive, None, at, at, tag, flight)
    }

    /// Submits the next request of the tag's worker, whose latency counts from `since`; false where a limit forbids.
    #[inline(always)]
    pub fn submit(
        &mut self,
        drive: &mut dyn Drive,
        traffic: Option<&mut ZoneTraffic>,
        now: Nanos,
        since: Nanos,
        tag: Tag,
        flight: &mut InFlight,
    ) -> bool {
        let worker = &mut self.workers[flight.owner.worker as usize];
        if now >= self.deadline || worker.left == 0 {
            return false;
        }
        let request = worker.peek(drive);
        if let Some(traffic) = traffic {
            return self.submit_zoned(drive, traffic, (now, since, tag), flight, request);
        }
        if !self.count_in(now, request, flight) {
            return false;
        }
        (flight.since, flight.submitted, flight.request) = (since, now, request);
        drive.submit(now, tag, request);
        true
    }

    /// The same on a drive with zones, where something else may come first.
    #[cold]
    fn submit_zoned(
        &mut self,
        drive: &mut dyn Drive,
        traffic: &mut ZoneTraffic,
        (now, since, tag): (Nanos, Nanos, Tag),
        flight: &mut InFlight,
        request: Request,
    ) -> bool {
        let TagOwner { job, worker } = flight.owner;
        // What would not be made must not have a zone reset for it.
        if request.bytes().get() > self.bytes_left {
            self.workers[worker as usize].left = 0;
            return false;
        }
        let request = match traffic.step(job, worker, request) {
            ZoneStep::Go(there) if !self.count_in(now, there, flight) => return false,
            ZoneStep::Go(there) => there,
            ZoneStep::First(there) => {
                self.in_flight += 1;
                there
            }
            ZoneStep::End => {
                self.workers[worker as usize].left = 0;
                return false;
            }
        };
        (flight.since, flight.submitted, flight.request) = (since, now, request);
        traffic.submit(drive, now, tag, request);
        true
    }

    /// Counts the worker's next request as in flight; false where a limit forbids it.
    #[inline(always)]
    fn count_in(&mut self, now: Nanos, request: Request, flight: &InFlight) -> bool {
        let worker = &mut self.workers[flight.owner.worker as usize];
        let bytes = request.bytes().get();
        // Behind the last of the data comes no flush either.
        if bytes > self.bytes_left || self.bytes_left == 0 {
            worker.left = 0;
            return false;
        }
        worker.next += 1;
        worker.is_flushed = request.op == Op::Flush;
        if now >= worker.limited_from {
            worker.left -= u64::from(request.op != Op::Flush) | worker.counts_flushes;
        }
        self.bytes_left -= bytes;
        self.in_flight += 1;
        true
    }

    /// Flushes once more for a worker that has come to its end, if it is to; `flights` are those of all tags.
    #[cold]
    pub fn flush_at_end(
        &mut self,
        drive: &mut dyn Drive,
        traffic: Option<&mut ZoneTraffic>,
        now: Nanos,
        worker: u32,
        flights: &mut [InFlight],
    ) {
        let Some(tag) = self.workers[worker as usize].tag_to_flush() else { return };
        let flight = &mut flights[tag.0 as usize];
        (flight.since, flight.submitted, flight.request) = (now, now, Request::FLUSH);
        self.in_flight += 1;
        match traffic {
            Some(traffic) => traffic.submit(drive, now, tag, Request::FLUSH),
            None => drive.submit(now, tag, Request::FLUSH),
        }
    }

    /// Counts what was completed at `at`.
    #[inline(always)]
    pub fn finish(&mut self, at: Nanos, flight: &InFlight) {
        let InFlight { since, request, .. } = *flight;
        assert!(at >= since, "completed at {at}, before it was submitted at {since}");
        self.in_flight -= 1;
        if at <= self.counted_from || self.ended {
            return self.finish_uncounted(at, flight);
        }
        self.ended = at >= self.deadline;
        // The last completion belongs to the last interval of the series, not to one of its own.
        let within = at.min(self.deadline - Nanos::from_nanos(1));
        self.record(request.op, request.bytes(), within - self.counted_from, at - since);
        self.measurement.elapsed = at - self.counted_from;
        if self.is_open || self.observer.is_some() {
            self.tell(at, flight);
        }
    }

    /// Notes the drive at `at` where the last completion to count has just been seen: what the drive does from here on for requests in
    /// flight is no part of what is measured. A flush at the end is, once it is done.
    #[inline(always)]
    pub fn note_last(&mut self, drive: &dyn Drive, at: Nanos) {
        let end = self.counted_from + self.measurement.elapsed;
        if self.ended && self.rest.is_none_or(|rest| rest.at < end) {
            self.note(drive, at);
        }
    }

    /// Notes when what was counted was submitted, and has it seen.
    #[inline(never)]
    fn tell(&mut self, at: Nanos, flight: &InFlight) {
        let InFlight { since, submitted, request, owner } = *flight;
        if self.is_open {
            self.measurement.record_service(request.op, at - submitted);
        }
        if let Some(observer) = self.observer {
            let (latency, service) = (at - since, at - submitted);
            let at = at - self.counted_from;
            // To hand a request over takes no time here.
            let submission = Some(Nanos::ZERO);
            observer.completed(owner.worker, &Completed { at, request, latency, service, submission });
        }
    }

    /// Takes what came before counting began or after it ended: of that, the flush at the end is part of what is measured.
    #[cold]
    fn finish_uncounted(&mut self, at: Nanos, flight: &InFlight) {
        let InFlight { since, request, owner, .. } = *flight;
        if self.ended && self.workers[owner.worker as usize].has_flushed() {
            let within = self.deadline - Nanos::from_nanos(1);
            self.record(request.op, request.bytes(), within - self.counted_from, at - since);
            self.measurement.elapsed = at - self.counted_from;
        }
    }

    /// Adds a completion to the measurement, soon or now.
    #[inline(always)]
    fn record(&mut self, op: Op, bytes: Bytes, at: Nanos, latency: Nanos) {
        if !self.unrecorded.takes(op, bytes, at) {
            self.record_all();
            self.unrecorded.begin(op, bytes, at);
        }
        self.unrecorded.push(at, latency);
    }

    /// Adds to the measurement what is to be added still.
    #[inline(never)]
    fn record_all(&mut self) {
        let Unrecorded { op, bytes, last, count, latencies, .. } = &mut self.unrecorded;
        let count = std::mem::take(count);
        if count > 0 {
            self.measurement.record_all(*op, *bytes, *last, &latencies[..count]);
        }
    }

    /// Counts what the drive ended with an error at `at`, which is in no other figure.
    #[cold]
    pub fn fail(&mut self, at: Nanos, request: Request, status: Status) {
        self.in_flight -= 1;
        self.measurement.failures.record_status(request.op, status);
        if at > self.counted_from && !self.ended {
            self.ended = at >= self.deadline;
            self.measurement.elapsed = at - self.counted_from;
        }
    }

    /// What was completed in an interval of the series that is over.
    #[cold]
    pub fn completed_in(&mut self, interval: usize) -> TickSum {
        self.record_all();
        self.measurement.series.get(interval).map(TickSum::from).unwrap_or_default()
    }

    /// Whether more would come if there were more time: then the job lasts until its deadline.
    fn waits_for_deadline(&self) -> bool {
        let more = |worker: &VirtualWorker| worker.queue.is_some() && worker.left > 0;
        self.deadline < Nanos::MAX && self.bytes_left > 0 && self.workers.iter().any(more)
    }

    /// Makes the time in which nothing came, or nobody asked, part of the measurement, where the run goes on `until` then at most.
    pub fn end(&mut self, until: Nanos) {
        self.record_all();
        if self.waits_for_deadline() {
            let time = self.deadline.min(until).since(self.counted_from);
            self.measurement.elapsed = self.measurement.elapsed.max(time);
        }
    }
}

/// Completions of one kind and size within one interval of the series, which are added to a measurement together: what has
/// to be looked for is looked for once.
struct Unrecorded {
    op: Op,
    bytes: Bytes,
    /// Where the interval ends.
    until: Nanos,
    /// When the last of them completed.
    last: Nanos,
    count: usize,
    latencies: [Nanos; TOGETHER],
}

/// So many at most.
const TOGETHER: usize = 32;

impl Default for Unrecorded {
    fn default() -> Self {
        let none = Nanos::ZERO;
        Self { op: Op::Read, bytes: Bytes::ZERO, until: none, last: none, count: 0, latencies: [none; TOGETHER] }
    }
}

impl Unrecorded {
    #[inline(always)]
    fn takes(&self, op: Op, bytes: Bytes, at: Nanos) -> bool {
        self.count < TOGETHER && op == self.op && bytes == self.bytes && at < self.until
    }

    #[inline(always)]
    fn begin(&mut self, op: Op, bytes: Bytes, at: Nanos) {
        let until = at + (TICK - Nanos::from_nanos(at.as_nanos() % TICK.as_nanos()));
        (self.op, self.bytes, self.until, self.count) = (op, bytes, until, 0);
    }

    #[inline(always)]
    fn push(&mut self, at: Nanos, latency: Nanos) {
        self.latencies[self.count] = latency;
        (self.last, self.count) = (at, self.count + 1);
    }
}

/// The drive when a job ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinalState {
    pub at: Nanos,
    pub counters: Counters,
}

/// One worker of a job.
pub(crate) struct VirtualWorker {
    stream: Stream,
    /// A ring of the requests that it makes next, the first of them at `next`, by the number of those that it has made.
    ahead: [Request; AHEAD],
    pub next: usize,
    /// At which number it makes more.
    ahead_from: usize,
    /// How many more requests it makes, flushes aside unless they count.
    pub left: u64,
    /// 1 where flushes count like other requests, as in a replay, else 0.
    counts_flushes: u64,
    /// From when on requests count for what is left.
    limited_from: Nanos,
    /// Whether no request has followed the last flush.
    is_flushed: bool,
    /// Whether it flushes at its end; none once it has.
    flushes_at_end: Option<bool>,
    /// How many tags it has, and to how many of them nothing more comes where it has no queue.
    depth: u32,
    pub idle: u32,
    /// The first of its tags.
    pub first: u32,
    /// What it has where requests do not just follow one another.
    pub queue: Option<JobQueue>,
}

impl VirtualWorker {
    pub fn new(job: &Job, index: u32, first: u32, capacity: Bytes, began: Nanos) -> Result<Self, Invalid> {
        let Job { workload, seed, .. } = *job;
        let began = began + workload.delay;
        let queue = || JobQueue {
            pace: Pace::new(workload, index, seed, began),
            depth: workload.queue_depth,
            free: (first..first + workload.queue_depth).rev().map(Tag).collect(),
            is_awaited: false,
        };
        Ok(Self {
            stream: Stream::new(workload, index, capacity, seed)?,
            ahead: [Request::FLUSH; AHEAD],
            next: 0,
            ahead_from: 0,
            left: workload.requests_each(),
            counts_flushes: u64::from(workload.replay.is_some()),
            limited_from: began + workload.limited_from(),
            is_flushed: true,
            flushes_at_end: Some(workload.flushes_at_end()),
            depth: workload.queue_depth,
            idle: 0,
            first,
            queue: (!workload.is_closed() || workload.delay > Nanos::ZERO).then(queue),
        })
    }

    /// The request that it makes next.
    #[inline(always)]
    pub fn peek(&mut self, drive: &dyn Drive) -> Request {
        if self.next == self.ahead_from {
            self.look_ahead(drive);
        }
        self.ahead[self.next % AHEAD]
    }

    /// Makes more requests in place of those that are over, and tells the drive of them, and again of some whose turn is near.
    #[inline(never)]
    fn look_ahead(&mut self, drive: &dyn Drive) {
        if self.next == 0 {
            self.stream.fill(&mut self.ahead);
            drive.expect(&self.ahead);
            drive.expect_next(&self.ahead[..NEXT]);
        } else {
            let over = (self.next - STEP) % AHEAD;
            let made = &mut self.ahead[over..over + STEP];
            self.stream.fill(made);
            drive.expect(made);
            let near = (over + NEXT) % AHEAD;
            drive.expect_next(&self.ahead[near..near + STEP]);
        }
        self.ahead_from += STEP;
    }

    /// Whether the flush at its end has been submitted.
    fn has_flushed(&self) -> bool {
        self.flushes_at_end.is_none()
    }

    /// A tag for the flush at its end; none where nothing was written since the last, something is in flight or more is to come.
    fn tag_to_flush(&mut self) -> Option<Tag> {
        let is_at_end = match &self.queue {
            Some(queue) => !queue.is_awaited && queue.free.len() == self.depth as usize,
            None => self.idle == self.depth,
        };
        if self.flushes_at_end != Some(true) || self.is_flushed || !is_at_end {
            return None;
        }
        self.flushes_at_end = None;
        match &mut self.queue {
            Some(queue) => queue.free.pop(),
            None => {
                self.idle -= 1;
                Some(Tag(self.first))
            }
        }
    }

    /// A tag for its next request, unless there is none, it is to be woken when that is due, or its queue is full.
    pub fn free_tag(&self) -> Option<Tag> {
        if self.left == 0 {
            return None;
        }
        self.queue.as_ref().filter(|queue| !queue.is_awaited)?.free.last().copied()
    }

    /// Whether it will be woken when its next request is due.
    pub fn is_awaited(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.is_awaited)
    }
}

/// One worker's queue where requests do not just follow one another.
pub(crate) struct JobQueue {
    pub pace: Pace,
    depth: u32,
    /// Tags with nothing in flight.
    pub free: Vec<Tag>,
    /// Whether it will be woken when its next request is due.
    pub is_awaited: bool,
}

impl JobQueue {
    pub fn give_back(&mut self, tag: Tag, at: Nanos) {
        self.free.push(tag);
        self.pace.done(at, tag, self.free.len() == self.depth as usize);
    }
}
