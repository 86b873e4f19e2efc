//! A workload on a simulated drive, in the drive's own time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use block::{Bytes, Nanos, Op, Request, Seed, Tag};
use drive::Drive;
use thiserror::Error;
use workload::{Invalid, Stream, Workload};

use crate::pace::Pace;
use crate::{Clock, Measurement};

/// Why a workload gave no measurement on a simulated drive.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VirtualError {
    /// The workload makes no sense, or not on this drive.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The workload ended before any request did.
    #[error(
        "no request was completed in {time} of the drive's time that counts; give a shorter ramp_time, a longer \
         runtime or more in number_ios or io_size"
    )]
    NothingCompleted {
        /// How long it ran.
        time: Nanos,
    },
    /// The drive came to the end of its life.
    #[error("the drive is worn out and read-only after {written} written to it; start over with a fresh one")]
    WornOut {
        /// What it took from its host in all its life.
        written: Bytes,
    },
}

/// How many requests of a worker are made ahead, so that the drive can have its tables at hand.
const AHEAD: usize = 32;

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
pub fn run_virtual<D: Drive>(drive: &mut D, workload: &Workload, seed: Seed) -> Result<Measurement, VirtualError> {
    let mut run = Run::new(drive, workload, seed)?;
    if workload.arrival.is_closed() {
        run.closed(drive);
    } else {
        run.paced(drive, seed);
    }
    assert_eq!(run.issued, run.completed, "every request that was submitted must be completed");
    if run.measurement.requests() == 0 {
        return Err(VirtualError::NothingCompleted { time: drive.now().since(run.began) });
    }
    let after = drive.counters();
    if after.host_rejected > run.before.host_rejected {
        return Err(VirtualError::WornOut { written: after.host_taken() });
    }
    run.measurement.drive = Some(after - run.before);
    Ok(run.measurement)
}

/// A run under way.
struct Run {
    workers: Vec<Worker>,
    /// What each tag is doing, and the time that its latency counts from; tag `t` belongs to worker
    /// `t / queue_depth`.
    flights: Vec<(Nanos, Request)>,
    queue_depth: u32,
    began: Nanos,
    /// Completions before this are not counted.
    counted_from: Nanos,
    /// Nothing is submitted from here on, and the first completion from here on is the last to count.
    deadline: Nanos,
    /// Whether that one has been seen.
    ended: bool,
    bytes_left: u64,
    issued: u64,
    completed: u64,
    before: drive::Counters,
    measurement: Measurement,
}

struct Worker {
    stream: Stream,
    ahead: [Request; AHEAD],
    next: usize,
    /// How many more requests it makes, flushes aside.
    left: u64,
}

impl Run {
    fn new<D: Drive>(drive: &D, workload: &Workload, seed: Seed) -> Result<Self, VirtualError> {
        let capacity = drive.shape().capacity;
        let left = workload.stop.requests.unwrap_or(u64::MAX);
        let worker = |index| {
            let stream = Stream::new(workload, index, capacity, seed)?;
            Ok(Worker { stream, ahead: [Request::FLUSH; AHEAD], next: AHEAD, left })
        };
        let workers = (0..workload.workers).map(worker).collect::<Result<_, Invalid>>()?;
        let began = drive.now();
        let counted_from = began + workload.ramp;
        let idle = (began, Request::FLUSH);
        Ok(Self {
            workers,
            flights: vec![idle; (workload.workers * workload.queue_depth) as usize],
            queue_depth: workload.queue_depth,
            began,
            counted_from,
            deadline: workload.stop.time.map_or(Nanos::MAX, |time| counted_from + time),
            ended: false,
            bytes_left: workload.stop.bytes.map_or(u64::MAX, |bytes| bytes.get()),
            issued: 0,
            completed: 0,
            before: drive.counters(),
            measurement: Measurement::new(workload.clone(), seed, Clock::Virtual),
        })
    }

    /// Fills every worker's queue, one request of each in turn, and lets another follow each completion.
    fn closed<D: Drive>(&mut self, drive: &mut D) {
        for place in 0..self.queue_depth {
            for worker in 0..self.workers.len() as u32 {
                self.submit(drive, self.began, self.began, Tag(worker * self.queue_depth + place));
            }
        }
        while let Some(completion) = drive.complete(Nanos::MAX) {
            self.finish(completion.at, completion.tag);
            self.submit(drive, completion.at, completion.at, completion.tag);
        }
    }

    /// Submits the next request of the tag's worker, whose latency counts from `since`; false where a limit forbids.
    #[inline]
    fn submit<D: Drive>(&mut self, drive: &mut D, now: Nanos, since: Nanos, tag: Tag) -> bool {
        let worker = &mut self.workers[(tag.0 / self.queue_depth) as usize];
        if now >= self.deadline || worker.left == 0 {
            return false;
        }
        let request = worker.peek(drive);
        let bytes = request.bytes().get();
        if bytes > self.bytes_left {
            worker.left = 0;
            return false;
        }
        worker.next += 1;
        worker.left -= u64::from(request.op != Op::Flush);
        self.bytes_left -= bytes;
        self.issued += 1;
        self.flights[tag.0 as usize] = (since, request);
        drive.submit(now, tag, request);
        true
    }

    #[inline]
    fn finish(&mut self, at: Nanos, tag: Tag) {
        let (since, request) = self.flights[tag.0 as usize];
        assert!(at >= since, "completed at {at}, before it was submitted at {since}");
        self.completed += 1;
        if at > self.counted_from && !self.ended {
            self.ended = at >= self.deadline;
            // The last completion belongs to the last interval of the series, not to one of its own.
            let within = at.min(self.deadline - Nanos::from_nanos(1));
            self.measurement.record(request.op, request.bytes(), within - self.counted_from, at - since);
            self.measurement.elapsed = at - self.counted_from;
        }
    }

    /// Submits each worker's requests as they fall due.
    fn paced<D: Drive>(&mut self, drive: &mut D, seed: Seed) {
        let workers = 0..self.workers.len() as u32;
        let queue = |worker| Queue {
            pace: Pace::new(&self.measurement.workload, worker, seed, self.began),
            free: (0..self.queue_depth).rev().map(|place| Tag(worker * self.queue_depth + place)).collect(),
            is_awaited: false,
        };
        let mut queues: Vec<Queue> = workers.clone().map(queue).collect();
        let mut wakes = BinaryHeap::with_capacity(queues.len());
        workers.for_each(|worker| self.pull(drive, self.began, worker, &mut queues, &mut wakes));
        loop {
            let wake = wakes.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
            if let Some(completion) = drive.complete(wake) {
                let worker = completion.tag.0 / self.queue_depth;
                self.finish(completion.at, completion.tag);
                queues[worker as usize].give_back(completion.tag, completion.at, self.queue_depth);
                self.pull(drive, completion.at, worker, &mut queues, &mut wakes);
            } else if let Some(Reverse((at, worker))) = wakes.pop() {
                queues[worker as usize].is_awaited = false;
                self.pull(drive, at, worker, &mut queues, &mut wakes);
            } else {
                break;
            }
        }
        // The time in which nothing came, or nobody asked, is part of the measurement.
        if self.deadline < Nanos::MAX && self.bytes_left > 0 && self.workers.iter().any(|worker| worker.left > 0) {
            self.measurement.elapsed = self.measurement.elapsed.max(self.deadline - self.counted_from);
        }
    }

    /// Submits what is due of a worker, and has it woken for what will be.
    fn pull<D: Drive>(
        &mut self,
        drive: &mut D,
        now: Nanos,
        worker: u32,
        queues: &mut [Queue],
        wakes: &mut BinaryHeap<Reverse<(Nanos, u32)>>,
    ) {
        let queue = &mut queues[worker as usize];
        while !queue.is_awaited
            && let Some(&tag) = queue.free.last()
        {
            let is_flush = self.workers[worker as usize].peek(drive).op == Op::Flush;
            let since = match queue.pace.due() {
                _ if is_flush => now,
                Some(due) if due <= now => queue.pace.take(now),
                Some(due) => {
                    if due < self.deadline {
                        wakes.push(Reverse((due, worker)));
                        queue.is_awaited = true;
                    }
                    return;
                }
                None => return,
            };
            if !self.submit(drive, now, since, tag) {
                return;
            }
            queue.free.pop();
        }
    }
}

/// One worker's queue where requests do not just follow one another.
struct Queue {
    pace: Pace,
    /// Tags with nothing in flight.
    free: Vec<Tag>,
    /// Whether it will be woken when its next request is due.
    is_awaited: bool,
}

impl Queue {
    fn give_back(&mut self, tag: Tag, at: Nanos, depth: u32) {
        self.free.push(tag);
        if self.free.len() == depth as usize {
            self.pace.rest(at);
        }
    }
}

impl Worker {
    #[inline]
    /// The request that it makes next.
    fn peek<D: Drive>(&mut self, drive: &D) -> Request {
        if self.next == AHEAD {
            self.ahead.fill_with(|| self.stream.next_request());
            drive.expect(&self.ahead);
            self.next = 0;
        }
        self.ahead[self.next]
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Completion};
    use drive::{Counters, Shape};
    use workload::{Arrival, Pattern, Process, Stop};

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
            self.flying.push(Completion { at: *server, tag });
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
            Some(Completion { at, tag })
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
        assert!(error.to_string().contains("worn out and read-only after"), "{error}");
        let read = Workload { pattern: Pattern::RandRead, ..write(64) };
        assert!(run_virtual(&mut drive, &read, Seed::new(3)).is_ok(), "what was written can still be read");
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
    fn a_time_limit_shorter_than_a_request_still_counts_it_and_its_whole_time() {
        let measurement = measure(Workload { stop: Stop::after(Nanos::from_micros(10)), ..Workload::default() }, 1);
        assert_eq!((measurement.requests(), measurement.elapsed), (1, Nanos::from_micros(100)));
    }

    fn at_rate(rate: u32, process: Process, requests: u64) -> Workload {
        let arrival = Arrival { rate, process, ..Arrival::default() };
        Workload { arrival, queue_depth: 4, stop: Stop::after_requests(requests), ..Workload::default() }
    }

    #[test]
    fn requests_at_a_rate_that_the_drive_serves_take_its_time_alone() {
        let workload = Workload { workers: 3, ..at_rate(1000, Process::Linear, 1000) };
        let measurement = measure(workload, 1);
        assert_eq!(measurement.requests(), 3000);
        assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100));
        // The last of 3,000 a third of a millisecond apart comes after 2,999 of them.
        assert_eq!(measurement.elapsed, Nanos::from_nanos(2999 * 1_000_000 / 3 + 100_000));
    }

    /// One comes every 50 µs and takes 100: number k is completed at 100 × (k + 1) and came at 50 × k.
    #[test]
    fn requests_at_a_rate_beyond_the_drive_count_all_that_they_wait() {
        let measurement = measure(at_rate(20_000, Process::Linear, 1000), 1);
        assert_eq!(measurement.elapsed, Nanos::from_millis(100));
        assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100 * 1000 - 50 * 999));
        let mean = measurement.read.latency.mean() / 1e3;
        assert!((mean - (100.0 + 50.0 * 999.0 / 2.0)).abs() < 1.0, "{mean} µs");
    }

    /// A queue of random arrivals, half busy, waits half a service time: Pollaczek and Khinchine, ρ ÷ 2(1 − ρ).
    #[test]
    fn random_arrivals_wait_as_queueing_theory_says() {
        let measurement = measure(at_rate(5_000, Process::Poisson, 500_000), 1);
        let mean = measurement.read.latency.mean() / 1e3;
        assert!((mean / 150.0 - 1.0).abs() < 0.02, "{mean} µs");
        assert!((measurement.iops() / 5_000.0 - 1.0).abs() < 0.01, "{} IOPS", measurement.iops());
    }

    #[test]
    fn the_time_in_which_nothing_comes_counts() {
        let workload = Workload { stop: Stop::after(Nanos::from_secs(1)), ..at_rate(10, Process::Linear, 0) };
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
            stop: Stop::after_requests(5),
            ..Workload::default()
        };
        let error = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap_err();
        assert!(matches!(error, VirtualError::NothingCompleted { .. }), "{error}");
    }
}
