//! Workloads on a simulated drive, in the drive's own time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use block::{Bytes, Completion, Nanos, Request, Seed, Status, Tag};
use drive::{Counters, Drive, Observed};
use measurement::{Settling, TICK, TickSum};
use workload::{SteadyGroup, Workload};

use crate::ending::Ending;
use crate::pace::Turn;
use crate::running::{FinalState, InFlight, RunningJobs, TagOwner, VirtualWorker};
use crate::virtual_error::VirtualError;
use crate::zone_traffic::ZoneTraffic;
use crate::{Job, Measurement, OnError, Record};

/// Runs `workload` on `drive` from the time it has reached, and leaves it with nothing in flight.
///
/// In a closed loop each worker keeps its queue depth in flight. Where requests come at a rate, they wait for
/// room in the queue, and their latency counts from when they came. A time limit ends the measurement with
/// the first completion at or after it, so that neither a slow stream is cut short nor a stall at the
/// end forgotten; what is still in flight then is waited for but not counted. The result is a function
/// of drive, workload and seed.
///
/// # Errors
/// If the workload does not fit the drive or completes nothing, or the drive is too worn to take what is written.
pub fn run_virtual(drive: &mut dyn Drive, workload: &Workload, seed: Seed) -> Result<Measurement, VirtualError> {
    let jobs = [Job { name: "", workload, seed, observer: None }];
    let mut measured = run_virtual_together(drive, &jobs, OnError::Stop)?;
    Ok(measured.pop().expect("every job is measured"))
}

/// Runs `jobs` side by side on `drive` from the time it has reached; what each measured, in their order.
///
/// They begin together, or after their delays, and compete for the drive as they would for a real one; apart from that, each runs as by
/// [`run_virtual`], and ends by its own limits. What the drive does cannot be told apart by job: each is given all
/// that it did while the job ran. Requests that the drive ends with an error end the run, or are counted apart from all
/// figures.
///
/// # Errors
/// As those of [`run_virtual`], with the name of the job; if one fails, none is measured. A job that completes nothing is no
/// error beside another that does. Where somebody asks for the end, jobs are measured until then, and requests left in flight.
pub fn run_virtual_together(
    drive: &mut dyn Drive,
    jobs: &[Job],
    ending: impl Into<Ending>,
) -> Result<Vec<Measurement>, VirtualError> {
    let ending = ending.into();
    let on_error = ending.on_error;
    let before = drive.counters();
    let mut run = VirtualRun::new(drive, jobs, ending.clone())?;
    drive.bind(&run.workers());
    run.go(drive);
    let is_cut_off = ending.is_asked_for();
    let end = FinalState { at: drive.now(), counters: drive.counters() };
    if let Some((job, request, status)) = run.failure {
        let (op, offset, length) = (request.op, request.lba.offset(), request.bytes());
        return Err(match status {
            Status::WriteFault => VirtualError::WornOut { written: end.counters.host_taken() },
            _ => VirtualError::Failed { op, offset, length, status }.of(&jobs[job as usize]),
        });
    }
    let mut measured = Vec::with_capacity(jobs.len());
    let is_any_done = run.jobs.iter().any(|running| running.measurement.requests() > 0);
    for (number, (running, job)) in (0..).zip(run.jobs.into_iter().zip(jobs)) {
        assert!(is_cut_off || running.in_flight == 0, "every request that was submitted must be completed");
        let rest = running.rest.unwrap_or(end);
        let failures = &running.measurement.failures;
        if running.measurement.requests() == 0 && !failures.is_empty() {
            return Err(VirtualError::AllFailed { words: failures.words() }.of(job));
        }
        if !is_any_done {
            let is_empty = run.traffic.as_ref().is_some_and(|traffic| traffic.found_no_data(number));
            let time = rest.at.since(run.began + job.workload.delay);
            let nothing = VirtualError::of_nothing(time, job.workload.ramp, is_empty);
            return Err(if is_cut_off { VirtualError::Interrupted } else { nothing.of(job) });
        }
        let done = running.from.map_or_else(Counters::default, |from| rest.counters - from);
        measured.push(Measurement { drive: Some(done), ..running.measurement });
    }
    if on_error == OnError::Stop && end.counters.host_rejected > before.host_rejected {
        return Err(VirtualError::WornOut { written: end.counters.host_taken() });
    }
    Ok(measured)
}

/// The same as [`run_virtual_together`], and adds all that is submitted to `record`, of runs that fail too.
///
/// # Errors
/// As there.
pub fn run_virtual_recorded(
    drive: &mut dyn Drive,
    jobs: &[Job],
    ending: impl Into<Ending>,
    record: &Record,
) -> Result<Vec<Measurement>, VirtualError> {
    let began = drive.now();
    // Tags are given out job by job.
    let tags = |job: &Job| u64::from(job.workload.workers) * u64::from(job.workload.queue_depth);
    let ends: Vec<u64> = jobs
        .iter()
        .scan(0, |end, job| {
            *end += tags(job);
            Some(*end)
        })
        .collect();
    let mut submitted = vec![Vec::new(); jobs.len()];
    let mut noted = Observed::new(drive, |now, tag: Tag, request| {
        let job = ends.partition_point(|end| *end <= u64::from(tag.0));
        submitted[job].push((now.since(began), request.as_asked()));
    });
    let measured = run_virtual_together(&mut noted, jobs, ending);
    let first = record.begin(jobs.len());
    (first..).zip(submitted).for_each(|(job, submitted)| record.add(job, submitted));
    measured
}

/// What is looked at while requests go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The drive is noted for this job.
    Note(u32),
    /// Whether these jobs are steady, in the last nanosecond of an interval.
    Judge(usize),
}

struct VirtualRun<'r> {
    jobs: Vec<RunningJobs<'r>>,
    /// What each tag is doing.
    flights: Vec<InFlight>,
    began: Nanos,
    /// When a worker's next request is due.
    wakes: BinaryHeap<Reverse<(Nanos, TagOwner)>>,
    /// What is to be looked at, and when.
    notes: BinaryHeap<Reverse<(Nanos, Due)>>,
    /// Jobs that end once what they do together is steady, and how far they are.
    steady: Vec<(SteadyGroup, Settling)>,
    ending: Ending,
    /// None where the drive has no zones.
    traffic: Option<ZoneTraffic>,
    /// The request that ended the run: its job, what it was and why.
    failure: Option<(u32, Request, Status)>,
}

impl<'r> VirtualRun<'r> {
    /// All jobs, before their first request.
    fn new(drive: &dyn Drive, jobs: &[Job<'r>], ending: Ending) -> Result<Self, VirtualError> {
        let (began, capacity) = (drive.now(), drive.shape().capacity);
        let mut flights = Vec::new();
        let mut traffic = ZoneTraffic::of(drive);
        let (mut all, mut notes) = (Vec::with_capacity(jobs.len()), BinaryHeap::new());
        for (number, job) in (0..).zip(jobs) {
            if job.workload.verify.stamps {
                return Err(VirtualError::HoldsNoData.of(job));
            }
            let mut running = RunningJobs::new(job, began);
            if let Some(traffic) = &mut traffic {
                let span = job.workload.span(capacity).map_err(|invalid| VirtualError::Invalid(invalid).of(job))?;
                let added = traffic.add(job.workload, span);
                let bytes = added.map_err(|misfit| VirtualError::Zones(misfit).of(job))?;
                running.bytes_left = bytes.map_or(u64::MAX, Bytes::get);
            }
            for worker in 0..job.workload.workers {
                let first = flights.len() as u32;
                let idle = InFlight {
                    owner: TagOwner { job: number, worker },
                    since: began,
                    submitted: began,
                    request: Request::FLUSH,
                };
                let of = |invalid| VirtualError::Invalid(invalid).of(job);
                running.workers.push(VirtualWorker::new(job, worker, first, capacity, began).map_err(of)?);
                flights.resize(flights.len() + job.workload.queue_depth as usize, idle);
            }
            match job.workload.lead() {
                Nanos::ZERO => running.note(drive, began),
                _ => notes.push(Reverse((running.counted_from, Due::Note(number)))),
            }
            all.push(running);
        }
        let mut steady = Vec::new();
        for group in SteadyGroup::all(jobs.iter().map(|job| job.workload)) {
            let Some(settling) = Settling::new(group.end) else { continue };
            // What is completed where an interval ends is in the next.
            let last = began + group.begin + TICK - Nanos::from_nanos(1);
            notes.push(Reverse((last, Due::Judge(steady.len()))));
            steady.push((group, settling));
        }
        let wakes = BinaryHeap::new();
        Ok(Self { jobs: all, flights, began, wakes, notes, steady, ending, traffic, failure: None })
    }

    /// The worker of each tag, numbered over all jobs.
    fn workers(&self) -> Vec<u32> {
        let firsts = self.jobs.iter().scan(0, |next, job| {
            let first = *next;
            *next += job.workers.len() as u32;
            Some(first)
        });
        let firsts: Vec<u32> = firsts.collect();
        self.flights.iter().map(|flight| firsts[flight.owner.job as usize] + flight.owner.worker).collect()
    }

    /// Lets requests follow completions and the clock until no job makes any more.
    fn go(&mut self, drive: &mut dyn Drive) {
        self.begin(drive);
        while !self.ending.is_asked_for() {
            let wake = self.wakes.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
            let note = self.notes.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
            if let Some(completion) = drive.complete(wake.min(note)) {
                self.follow(drive, completion);
            } else if note < wake {
                self.note(drive);
            } else if let Some(Reverse((at, owner))) = self.wakes.pop() {
                self.worker(owner).queue.as_mut().expect("only who has a queue is woken").is_awaited = false;
                self.pull(drive, at, owner);
                self.settle(drive, at, owner);
            } else {
                break;
            }
        }
        let until = if self.ending.is_asked_for() { drive.now() } else { Nanos::MAX };
        self.jobs.iter_mut().for_each(|job| job.end(until));
    }

    /// Looks at what is next to be looked at.
    #[cold]
    fn note(&mut self, drive: &dyn Drive) {
        let Reverse((at, due)) = self.notes.pop().expect("only what is due is noted");
        match due {
            Due::Note(job) if self.jobs[job as usize].rest.is_none() => self.jobs[job as usize].note(drive, at),
            Due::Note(_) => {}
            Due::Judge(group) => self.judge(group, at),
        }
    }

    /// Ends jobs whose interval up to here was the last of a steady state, and otherwise looks at them again an interval later.
    fn judge(&mut self, group: usize, last: Nanos) {
        let (group_of, settling) = &mut self.steady[group];
        let (interval, mut sum) = ((settling.seen().as_nanos() / TICK.as_nanos()) as usize, TickSum::default());
        for &place in &group_of.places {
            let job = &mut self.jobs[place];
            sum.add(job.completed_in(interval + group_of.skipped(&job.measurement.workload)));
        }
        if settling.push(sum) {
            for &place in &group_of.places {
                self.jobs[place].deadline = self.jobs[place].deadline.min(last + Nanos::from_nanos(1));
            }
        } else if group_of.places.iter().any(|&place| self.jobs[place].rest.is_none()) {
            self.notes.push(Reverse((last + TICK, Due::Judge(group))));
        }
    }

    /// The first requests: one of each worker of each job in turn until all queues are full.
    fn begin(&mut self, drive: &mut dyn Drive) {
        let mut tags: Vec<Tag> = (0..self.flights.len() as u32).map(Tag).collect();
        tags.sort_by_key(|tag| tag.0 - self.worker(self.flights[tag.0 as usize].owner).first);
        for tag in tags {
            let owner = self.flights[tag.0 as usize].owner;
            if self.worker(owner).queue.is_none() {
                self.worker(owner).idle += u32::from(!self.submit(drive, self.began, self.began, tag));
            } else if self.worker(owner).first == tag.0 {
                self.pull(drive, self.began, owner);
            }
        }
        (0..self.jobs.len() as u32).for_each(|job| self.settle(drive, self.began, TagOwner { job, worker: 0 }));
    }

    fn worker(&mut self, owner: TagOwner) -> &mut VirtualWorker {
        &mut self.jobs[owner.job as usize].workers[owner.worker as usize]
    }

    /// Counts a completion and submits what follows it.
    #[inline(always)]
    fn follow(&mut self, drive: &mut dyn Drive, completion: Completion) {
        let Completion { at, tag, status } = completion;
        if !status.is_success() || self.traffic.is_some() {
            return self.follow_otherwise(drive, completion);
        }
        let flight = &mut self.flights[tag.0 as usize];
        let job = &mut self.jobs[flight.owner.job as usize];
        job.finish(at, flight);
        job.note_last(drive, at);
        if !job.follow(drive, at, tag, flight) {
            self.go_on(drive, at, tag);
        }
    }

    /// The same of a request that failed, or on a drive with zones.
    #[cold]
    fn follow_otherwise(&mut self, drive: &mut dyn Drive, Completion { at, tag, status }: Completion) {
        let flight = self.flights[tag.0 as usize];
        match status.is_success() {
            true => self.jobs[flight.owner.job as usize].finish(at, &flight.as_asked()),
            false => self.fail(at, tag, status),
        }
        self.jobs[flight.owner.job as usize].note_last(drive, at);
        if let Some(traffic) = &mut self.traffic {
            traffic.completed(drive, at, &flight.request);
        }
        self.go_on(drive, at, tag);
    }

    /// Submits what follows the completion of a tag.
    #[inline(never)]
    fn go_on(&mut self, drive: &mut dyn Drive, at: Nanos, tag: Tag) {
        let flight = &mut self.flights[tag.0 as usize];
        let owner = flight.owner;
        let job = &mut self.jobs[owner.job as usize];
        if let Some(queue) = &mut job.workers[owner.worker as usize].queue {
            queue.give_back(tag, at);
            self.pull(drive, at, owner);
        } else if job.submit(drive, self.traffic.as_mut(), at, at, tag, flight) {
            return;
        } else {
            job.workers[owner.worker as usize].idle += 1;
        }
        self.settle(drive, at, owner);
    }

    /// Counts a request that failed, or lets the run end with it.
    #[cold]
    fn fail(&mut self, at: Nanos, tag: Tag, status: Status) {
        let InFlight { owner, request, .. } = self.flights[tag.0 as usize];
        self.jobs[owner.job as usize].fail(at, request, status);
        if self.ending.on_error == OnError::Stop && self.failure.is_none() {
            self.failure = Some((owner.job, request, status));
            self.jobs.iter_mut().flat_map(|job| &mut job.workers).for_each(|worker| worker.left = 0);
            self.wakes.clear();
        }
    }

    #[inline(never)]
    fn submit(&mut self, drive: &mut dyn Drive, now: Nanos, since: Nanos, tag: Tag) -> bool {
        let flight = &mut self.flights[tag.0 as usize];
        self.jobs[flight.owner.job as usize].submit(drive, self.traffic.as_mut(), now, since, tag, flight)
    }

    /// Submits what is due of a worker, and has it woken for what will be.
    fn pull(&mut self, drive: &mut dyn Drive, now: Nanos, owner: TagOwner) {
        let deadline = self.jobs[owner.job as usize].deadline;
        loop {
            let worker = self.worker(owner);
            let Some(tag) = worker.free_tag() else { return };
            let request = worker.peek(drive);
            let made = worker.next;
            let queue = worker.queue.as_mut().expect("what has a free tag is a queue");
            let since = match queue.pace.turn(request, now) {
                Turn::Now(since) => since,
                Turn::At(due) => {
                    if due < deadline {
                        queue.is_awaited = true;
                        self.wakes.push(Reverse((due, owner)));
                    }
                    return;
                }
                Turn::Awaited => return,
            };
            if !self.submit(drive, now, since, tag) {
                return;
            }
            let worker = self.worker(owner);
            // What its zone needs first is not what came.
            let is_asked = worker.next != made;
            let queue = worker.queue.as_mut().expect("its tag was taken");
            queue.free.pop();
            if is_asked {
                queue.pace.take(request, tag);
            }
        }
    }

    /// Flushes where a worker has come to its end, and notes the drive where a job has while others go on.
    #[cold]
    fn settle(&mut self, drive: &mut dyn Drive, at: Nanos, owner: TagOwner) {
        let job = &mut self.jobs[owner.job as usize];
        if self.failure.is_none() {
            job.flush_at_end(drive, self.traffic.as_mut(), at, owner.worker, &mut self.flights);
        }
        if job.in_flight > 0 || job.workers.iter().any(VirtualWorker::is_awaited) {
            return;
        }
        if !job.note_end(drive, drive.now()) {
            self.notes.push(Reverse((job.deadline, Due::Note(owner.job))));
        }
    }
}

#[cfg(test)]
#[path = "virtual_run_tests.rs"]
mod tests;
