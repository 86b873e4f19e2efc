//! A workload on a simulated drive, in the drive's own time.

use block::{Nanos, Request, Seed, Tag};
use drive::Drive;
use thiserror::Error;
use workload::{Invalid, Stream, Workload};

use crate::{Clock, Measurement};

/// Why a workload gave no measurement on a simulated drive.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VirtualError {
    /// The workload makes no sense, or not on this drive.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The workload ended before any request did.
    #[error("no request was completed in {time} of the drive's time; give a longer runtime")]
    NothingCompleted {
        /// How long it ran.
        time: Nanos,
    },
}

/// How many requests of a worker are made ahead, so that the drive can have its tables at hand.
const AHEAD: usize = 32;

/// Runs `workload` on `drive` from the time it has reached, and leaves it with nothing in flight.
///
/// A closed loop: each worker keeps its queue depth in flight. A time limit ends the measurement with
/// the first completion at or after it, so that neither a slow stream is cut short nor a stall at the
/// end forgotten; what is still in flight then is waited for but not counted. The result is a function
/// of drive, workload and seed.
///
/// # Errors
/// If the workload does not fit the drive or completes nothing.
pub fn run_virtual<D: Drive>(drive: &mut D, workload: &Workload, seed: Seed) -> Result<Measurement, VirtualError> {
    let mut run = Run::new(drive, workload, seed)?;
    run.start(drive);
    while let Some(completion) = drive.complete(Nanos::MAX) {
        run.finish(drive, completion.at, completion.tag);
    }
    assert_eq!(run.issued, run.completed, "every request that was submitted must be completed");
    if run.measurement.requests() == 0 {
        return Err(VirtualError::NothingCompleted { time: drive.now().since(run.began) });
    }
    run.measurement.drive = Some(drive.counters() - run.before);
    Ok(run.measurement)
}

/// A run under way.
struct Run {
    workers: Vec<Worker>,
    /// What each tag is doing; tag `t` belongs to worker `t / queue_depth`.
    flights: Vec<(Nanos, Request)>,
    queue_depth: u32,
    began: Nanos,
    /// Completions before this are not counted.
    counted_from: Nanos,
    /// Nothing is submitted from here on, and the first completion from here on is the last to count.
    deadline: Nanos,
    /// Whether that one has been seen.
    ended: bool,
    requests_each: u64,
    blocks_left: u64,
    issued: u64,
    completed: u64,
    before: drive::Counters,
    measurement: Measurement,
}

struct Worker {
    stream: Stream,
    ahead: [Request; AHEAD],
    next: usize,
    issued: u64,
}

impl Run {
    fn new<D: Drive>(drive: &D, workload: &Workload, seed: Seed) -> Result<Self, VirtualError> {
        let capacity = drive.shape().capacity;
        let worker = |index| {
            let stream = Stream::new(workload, index, capacity, seed)?;
            Ok(Worker { stream, ahead: [Request::FLUSH; AHEAD], next: AHEAD, issued: 0 })
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
            requests_each: workload.stop.requests.unwrap_or(u64::MAX),
            blocks_left: workload.stop.bytes.map_or(u64::MAX, |bytes| bytes.div(workload.block)),
            issued: 0,
            completed: 0,
            before: drive.counters(),
            measurement: Measurement::new(workload.clone(), seed, Clock::Virtual),
        })
    }

    /// Fills every worker's queue, one request of each in turn.
    fn start<D: Drive>(&mut self, drive: &mut D) {
        for place in 0..self.queue_depth {
            for worker in 0..self.workers.len() as u32 {
                self.submit(drive, self.began, Tag(worker * self.queue_depth + place));
            }
        }
    }

    #[inline]
    fn submit<D: Drive>(&mut self, drive: &mut D, now: Nanos, tag: Tag) {
        let worker = &mut self.workers[(tag.0 / self.queue_depth) as usize];
        if now >= self.deadline || worker.issued == self.requests_each || self.blocks_left == 0 {
            return;
        }
        let request = worker.next_request(drive);
        worker.issued += 1;
        self.blocks_left -= 1;
        self.issued += 1;
        self.flights[tag.0 as usize] = (now, request);
        drive.submit(now, tag, request);
    }

    #[inline]
    fn finish<D: Drive>(&mut self, drive: &mut D, at: Nanos, tag: Tag) {
        let (submitted, request) = self.flights[tag.0 as usize];
        assert!(at >= submitted, "completed at {at}, before it was submitted at {submitted}");
        self.completed += 1;
        if at > self.counted_from && !self.ended {
            self.ended = at >= self.deadline;
            // The last completion belongs to the last interval of the series, not to one of its own.
            let within = at.min(self.deadline - Nanos::from_nanos(1));
            self.measurement.record(request.op, request.bytes(), within - self.counted_from, at - submitted);
            self.measurement.elapsed = at - self.counted_from;
        }
        self.submit(drive, at, tag);
    }
}

impl Worker {
    #[inline]
    fn next_request<D: Drive>(&mut self, drive: &D) -> Request {
        if self.next == AHEAD {
            self.ahead.fill_with(|| self.stream.next_request());
            drive.expect(&self.ahead);
            self.next = 0;
        }
        self.next += 1;
        self.ahead[self.next - 1]
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Completion};
    use drive::{Counters, Shape};
    use workload::{Pattern, Stop};

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
