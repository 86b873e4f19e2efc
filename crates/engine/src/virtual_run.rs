//! Workloads on a simulated drive, in the drive's own time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use block::{Bytes, Completion, Nanos, Request, Seed, Status, Tag};
use drive::{Drive, Observed};
use workload::Workload;

use crate::ending::Ending;
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
/// They begin together and compete for the drive as they would for a real one; apart from that, each runs as by
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
            let nothing = VirtualError::of_nothing(rest.at.since(run.began), job.workload.ramp, is_empty);
            return Err(if is_cut_off { VirtualError::Interrupted } else { nothing.of(job) });
        }
        measured.push(Measurement { drive: Some(rest.counters - before), ..running.measurement });
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

struct VirtualRun<'r> {
    jobs: Vec<RunningJobs<'r>>,
    /// What each tag is doing.
    flights: Vec<InFlight>,
    began: Nanos,
    /// When a worker's next request is due.
    wakes: BinaryHeap<Reverse<(Nanos, TagOwner)>>,
    /// How many jobs have not ended.
    left: usize,
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
        let mut all = Vec::with_capacity(jobs.len());
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
            all.push(running);
        }
        let (left, wakes) = (all.len(), BinaryHeap::new());
        Ok(Self { left, jobs: all, flights, began, wakes, ending, traffic, failure: None })
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
            if let Some(completion) = drive.complete(wake) {
                self.follow(drive, completion);
            } else if let Some(Reverse((at, owner))) = self.wakes.pop() {
                self.worker(owner).queue.as_mut().expect("only who has a queue is woken").is_awaited = false;
                self.pull(drive, at, owner);
                self.settle(drive, at, owner);
            } else {
                break;
            }
        }
        self.jobs.iter_mut().for_each(RunningJobs::end);
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
            let queue = worker.queue.as_mut().expect("what has a free tag is a queue");
            let since = match queue.pace.due() {
                _ if queue.pace.follows(request) => now,
                Some(due) if due <= now => queue.pace.take(now, tag),
                Some(due) => {
                    if due < deadline {
                        queue.is_awaited = true;
                        self.wakes.push(Reverse((due, owner)));
                    }
                    return;
                }
                None => return,
            };
            if !self.submit(drive, now, since, tag) {
                return;
            }
            self.worker(owner).queue.as_mut().expect("its tag was taken").free.pop();
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
        self.left -= 1;
        if self.left > 0 {
            job.rest = Some(FinalState { at: drive.now(), counters: drive.counters() });
        }
    }
}

#[cfg(test)]
mod tests {
    use drive::{Counters, Shape};
    use workload::{Arrival, ArrivalProcess, Pattern, Stop};

    use super::*;

    /// A drive that serves `depth` requests at once, each in a tenth of a millisecond.
    #[derive(Clone)]
    struct Steady {
        now: Nanos,
        free: Vec<Nanos>,
        flying: Vec<Completion>,
        requests: u64,
    }

    impl Steady {
        fn new(depth: usize) -> Self {
            Self { now: Nanos::ZERO, free: vec![Nanos::ZERO; depth], flying: Vec::new(), requests: 0 }
        }
    }

    impl Drive for Steady {
        fn shape(&self) -> Shape {
            Shape { capacity: Bytes::from_mib(64), block: block::SECTOR, queue_depth: 32 }
        }
        fn submit(&mut self, now: Nanos, tag: Tag, _: Request) {
            let server = self.free.iter_mut().min().expect("a server");
            *server = now.max(*server) + Nanos::from_micros(100);
            self.flying.push(Completion::new(*server, tag));
            self.requests += 1;
        }
        fn next_event(&self) -> Option<Nanos> {
            self.flying.iter().map(|flying| flying.at).min()
        }
        fn complete(&mut self, until: Nanos) -> Option<Completion> {
            let (at, tag) = self.flying.iter().map(|flying| (flying.at, flying.tag)).min()?;
            if at > until {
                return None;
            }
            self.flying.retain(|flying| flying.tag != tag);
            self.now = at;
            Some(Completion::new(at, tag))
        }
        fn now(&self) -> Nanos {
            self.now
        }
        fn counters(&self) -> Counters {
            Counters { requests: [self.requests, 0, 0, 0], ..Counters::default() }
        }
        fn purge(&mut self) {}
    }

    #[test]
    fn a_drive_that_is_worn_out_is_an_error_that_says_what_it_took() {
        let tiny = "x25-m?capacity.user=64MiB&spare=150%&rated_erases=10&reserve=2%&spread_max=2";
        let mut drive = drive::preset::Preset::find(tiny).unwrap().build();
        let write = |mib| {
            let stop = Stop::after_bytes(Bytes::from_mib(mib));
            Workload { pattern: Pattern::RandWrite, queue_depth: 8, stop, ..Workload::default() }
        };
        assert!(run_virtual(&mut drive, &write(256), Seed::new(1)).is_ok(), "a tenth of what its flash takes");
        let error = run_virtual(&mut drive, &write(4096), Seed::new(2)).unwrap_err();
        let VirtualError::WornOut { written } = error else { panic!("{error}") };
        assert!((Bytes::from_mib(1000)..Bytes::from_mib(1760)).contains(&written), "{written} of 160 MiB, 11 times");
        assert!(error.to_string().contains("reached its end of life and is read-only after"), "{error}");
        let read = Workload { pattern: Pattern::RandRead, ..write(64) };
        assert!(run_virtual(&mut drive, &read, Seed::new(3)).is_ok(), "what was written can still be read");
    }

    /// Every seventh request cannot be read.
    #[derive(Clone)]
    struct Failing(Steady);

    impl Drive for Failing {
        fn shape(&self) -> Shape {
            self.0.shape()
        }
        fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
            self.0.submit(now, tag, request);
        }
        fn next_event(&self) -> Option<Nanos> {
            self.0.next_event()
        }
        fn complete(&mut self, until: Nanos) -> Option<Completion> {
            let done = self.0.complete(until)?;
            let is_bad = (done.at.as_nanos() / 100_000).is_multiple_of(7);
            Some(Completion { status: if is_bad { Status::UnrecoveredRead } else { Status::Success }, ..done })
        }
        fn now(&self) -> Nanos {
            self.0.now()
        }
        fn counters(&self) -> Counters {
            self.0.counters()
        }
        fn purge(&mut self) {}
    }

    #[test]
    fn a_request_that_fails_ends_the_run_or_is_counted_apart() {
        let stop = Stop::after_requests(700);
        let workload = Workload { pattern: Pattern::RandRead, stop, ..Workload::default() };
        let jobs = [Job { name: "reader", workload: &workload, seed: Seed::new(1), observer: None }];
        let mut drive = Failing(Steady::new(1));
        let error = run_virtual_together(&mut drive, &jobs, OnError::Stop).unwrap_err();
        assert_eq!(drive.counters().requests[0], 7, "nothing follows the one that failed");
        let said = error.to_string();
        assert!(said.starts_with("job `reader`: read of 4 KiB at offset "), "{said}");
        assert!(said.contains("failed: unrecovered read error; --on-error=count"), "{said}");
        let mut drive = Failing(Steady::new(1));
        let measured = run_virtual_together(&mut drive, &jobs, OnError::Count).unwrap().remove(0);
        assert_eq!((measured.requests(), measured.read.latency.count(), measured.failures.total()), (600, 600, 100));
        assert_eq!(measured.elapsed, Nanos::from_millis(70), "the time of what failed passes all the same");
        assert_eq!(measured.failures.words(), "100 reads: unrecovered read error");
        assert!(measured.is_impaired(), "it is a finding");
    }

    fn measure(workload: Workload, servers: usize) -> Measurement {
        let workload = Workload { pattern: Pattern::RandRead, ..workload };
        run_virtual(&mut Steady::new(servers), &workload, Seed::new(1)).unwrap()
    }

    #[test]
    fn depth_gives_throughput_until_the_drive_is_busy_and_then_latency() {
        for (depth, iops, latency) in [(1, 10_000.0, 100.0), (4, 40_000.0, 100.0), (16, 40_000.0, 400.0)] {
            let workload =
                Workload { queue_depth: depth, stop: Stop::after(Nanos::from_secs(1)), ..Workload::default() };
            let measurement = measure(workload, 4);
            assert_eq!(measurement.service(), None, "a closed loop has one latency");
            assert!((measurement.iops() / iops - 1.0).abs() < 0.001, "depth {depth}: {} IOPS", measurement.iops());
            let mean = measurement.read.latency.mean() / 1e3;
            assert!((mean / latency - 1.0).abs() < 0.01, "depth {depth}: {mean} µs");
        }
    }

    #[test]
    fn requests_of_each_worker_and_bytes_of_all_are_exact() {
        let each = Workload { workers: 3, queue_depth: 4, stop: Stop::after_requests(1000), ..Workload::default() };
        assert_eq!(measure(each, 2).requests(), 3000);
        let bytes = Workload { workers: 3, stop: Stop::after_bytes(Bytes::from_mib(1)), ..Workload::default() };
        assert_eq!(measure(bytes, 2).bytes(), Bytes::from_mib(1));
    }

    #[test]
    fn the_series_has_as_many_intervals_as_seconds_and_the_ramp_is_not_counted() {
        let stop = Stop::after(Nanos::from_secs(3));
        let workload = Workload { ramp: Nanos::from_secs(2), stop, ..Workload::default() };
        let measurement = measure(workload, 1);
        assert_eq!(measurement.series.len(), 3);
        assert_eq!(measurement.elapsed, Nanos::from_secs(3));
        assert_eq!(measurement.requests(), 30_000);
    }

    #[test]
    fn one_seed_gives_one_series_bit_for_bit() {
        let arrival = Arrival { rate: 9_000, process: ArrivalProcess::Poisson, ..Arrival::default() };
        let workload = Workload { arrival, stop: Stop::after(Nanos::from_secs(3)), ..Workload::default() };
        let run = |seed| {
            let workload = Workload { pattern: Pattern::RandRead, ..workload.clone() };
            run_virtual(&mut Steady::new(1), &workload, Seed::new(seed)).unwrap()
        };
        let bits = |measured: &Measurement| -> Vec<Vec<u8>> {
            measured.series.iter().map(|tick| tick.latencies.to_bytes().into_owned()).collect()
        };
        for seed in 0..4 {
            let (one, two) = (run(seed), run(seed));
            assert_eq!((&one.series, bits(&one)), (&two.series, bits(&two)), "seed {seed} gave two different series");
            assert!(one.series.iter().all(|tick| tick.percentile(99.0) > tick.percentile(50.0)), "seed {seed}");
        }
        assert_ne!(bits(&run(0)), bits(&run(1)));
    }

    #[test]
    fn a_time_limit_shorter_than_a_request_still_counts_it_and_its_whole_time() {
        let measurement = measure(Workload { stop: Stop::after(Nanos::from_micros(10)), ..Workload::default() }, 1);
        assert_eq!((measurement.requests(), measurement.elapsed), (1, Nanos::from_micros(100)));
    }

    fn at_rate(rate: u32, process: ArrivalProcess, requests: u64) -> Workload {
        let arrival = Arrival { rate, process, ..Arrival::default() };
        Workload { arrival, queue_depth: 4, stop: Stop::after_requests(requests), ..Workload::default() }
    }

    #[test]
    fn requests_at_a_rate_that_the_drive_serves_take_its_time_alone() {
        let workload = Workload { workers: 3, ..at_rate(1000, ArrivalProcess::Linear, 1000) };
        let measurement = measure(workload, 1);
        assert_eq!(measurement.requests(), 3000);
        assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100));
        // The last of 3,000 a third of a millisecond apart comes after 2,999 of them.
        assert_eq!(measurement.elapsed, Nanos::from_nanos(2999 * 1_000_000 / 3 + 100_000));
    }

    /// One comes every 50 µs and takes 100: number k is completed at 100 × (k + 1) and came at 50 × k.
    #[test]
    fn requests_at_a_rate_beyond_the_drive_count_all_that_they_wait() {
        let measurement = measure(at_rate(20_000, ArrivalProcess::Linear, 1000), 1);
        assert_eq!(measurement.elapsed, Nanos::from_millis(100));
        assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100 * 1000 - 50 * 999));
        let mean = measurement.read.latency.mean() / 1e3;
        assert!((mean - (100.0 + 50.0 * 999.0 / 2.0)).abs() < 1.0, "{mean} µs");
        // From submission it is the time of the four in flight, but for the first of them.
        let service = measurement.service().unwrap();
        assert_eq!((service.count(), service.max()), (1000, Nanos::from_micros(400)));
        assert!((service.percentile(50.0).as_micros_f64() / 400.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_drive_without_data_cannot_be_asked_to_check_it() {
        let verify = workload::Verify { stamps: true, ..workload::Verify::default() };
        let workload =
            Workload { pattern: Pattern::RandWrite, verify, stop: Stop::after_requests(1), ..Workload::default() };
        let error = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap_err();
        assert_eq!(error, VirtualError::HoldsNoData);
        assert!(error.to_string().contains("a simulated drive stores no data"), "{error}");
    }

    /// A queue of random arrivals, half busy, waits half a service time: Pollaczek and Khinchine, ρ ÷ 2(1 − ρ).
    #[test]
    fn random_arrivals_wait_as_queueing_theory_says() {
        let measurement = measure(at_rate(5_000, ArrivalProcess::Poisson, 500_000), 1);
        let mean = measurement.read.latency.mean() / 1e3;
        assert!((mean / 150.0 - 1.0).abs() < 0.02, "{mean} µs");
        assert!((measurement.iops() / 5_000.0 - 1.0).abs() < 0.01, "{} IOPS", measurement.iops());
    }

    #[test]
    fn the_time_in_which_nothing_comes_counts() {
        let workload = Workload { stop: Stop::after(Nanos::from_secs(1)), ..at_rate(10, ArrivalProcess::Linear, 0) };
        let measurement = measure(workload, 1);
        assert_eq!((measurement.requests(), measurement.elapsed), (10, Nanos::from_secs(1)));
    }

    /// Four requests of 100 µs, one after another, then a millisecond of thought, a hundred times.
    #[test]
    fn a_burst_is_completed_before_the_pause_begins() {
        let arrival = Arrival { think: Nanos::from_millis(1), burst: 4, ..Arrival::default() };
        let workload = Workload { arrival, queue_depth: 32, stop: Stop::after_requests(400), ..Workload::default() };
        let measurement = measure(workload, 1);
        assert_eq!(measurement.elapsed, Nanos::from_micros(100 * 1_400 - 1_000));
        assert_eq!(measurement.read.latency.max(), Nanos::from_micros(400));
    }

    #[test]
    fn flushes_take_time_but_are_counted_apart() {
        for arrival in [Arrival::default(), Arrival { rate: 1_000, ..Arrival::default() }] {
            let stop = Stop::after_requests(100);
            let workload = Workload { pattern: Pattern::Write, fdatasync: 4, arrival, stop, ..Workload::default() };
            let measured = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap();
            assert_eq!((measured.requests(), measured.write.latency.count()), (100, 100));
            assert_eq!((measured.flush.requests, measured.flush.bytes), (24, Bytes::ZERO), "none follows the last");
            assert_eq!(measured.flush.latency.max(), Nanos::from_micros(100));
            let expected = if arrival.is_open() { 99_100 } else { 12_400 };
            assert_eq!(measured.elapsed, Nanos::from_micros(expected));
        }
    }

    #[test]
    fn requests_of_several_sizes_stop_short_of_the_bytes_that_may_be_moved() {
        let stop = Stop::after_bytes(Bytes::from_mib(10));
        let workload = Workload { sizes: Some("4k/50:64k/50".parse().unwrap()), stop, ..Workload::default() };
        let moved = measure(workload, 1).bytes();
        assert!(moved <= Bytes::from_mib(10) && moved > Bytes::from_mib(10) - Bytes::from_kib(64), "{moved}");
    }

    #[test]
    fn nothing_counted_is_an_error() {
        let workload = Workload {
            pattern: Pattern::RandRead,
            ramp: Nanos::from_secs(1),
            stop: Stop::after_bytes(Bytes::from_kib(20)),
            ..Workload::default()
        };
        let error = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap_err();
        assert!(matches!(error, VirtualError::OverInRamp { .. }), "{error}");
    }
}
