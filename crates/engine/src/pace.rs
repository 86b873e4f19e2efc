//! When a worker's next request is due.

use std::sync::Arc;

use block::{Nanos, Op, Request, Seed};
use workload::{Arrivals, ReplayPace, Trace, Workload, quicker};

/// The pace of one worker whose requests do not just follow one another.
///
/// With arrivals at a rate a request is due when it comes, and latency counts from then, however long it waits for
/// room in the queue: otherwise a stall would hide all requests that came meanwhile. With time to think a worker
/// submits a burst, waits until all of it is completed, and pauses. A replay does either as it was recorded.
pub(crate) struct Pace {
    began: Nanos,
    kind: Kind,
}

enum Kind {
    /// Requests come whatever became of those before; the next at this time.
    Open { arrivals: Arrivals, next: Nanos },
    /// Pauses between bursts.
    Think {
        /// The next request is not due before this.
        next: Nanos,
        think: Nanos,
        burst: u32,
        /// Requests left of this burst.
        left: u32,
    },
    /// Requests come when they were recorded, at so many percent of the speed.
    Recorded { trace: Arc<Trace>, place: usize, percent: u32 },
    /// Pauses are as recorded.
    Paused {
        trace: Arc<Trace>,
        place: usize,
        /// Since when nothing has been in flight; none while something is.
        idle: Option<Nanos>,
    },
}

impl Pace {
    /// The pace of worker number `worker` in a run that begins at `began`.
    pub fn new(workload: &Workload, worker: u32, seed: Seed, began: Nanos) -> Self {
        let (think, burst) = (workload.arrival.think, workload.arrival.burst);
        let recorded = workload.replay.as_ref().and_then(|replay| Some((replay.pace, replay.trace.clone()?)));
        let kind = match (recorded, Arrivals::new(workload, worker, seed)) {
            (Some((ReplayPace::Recorded { percent }, trace)), _) => Kind::Recorded { trace, place: 0, percent },
            (Some((ReplayPace::Think, trace)), _) => Kind::Paused { trace, place: 0, idle: Some(began) },
            (_, Some(mut arrivals)) => Kind::Open { next: began + arrivals.next_arrival(), arrivals },
            (_, None) => Kind::Think { next: began, think, burst, left: burst },
        };
        Self { began, kind }
    }

    /// When the next request is due; none where that is for a completion to bring about, or nothing is left of a trace.
    pub fn due(&self) -> Option<Nanos> {
        match &self.kind {
            Kind::Open { next, .. } => Some(*next),
            Kind::Think { next, left, .. } => (*left > 0).then_some(*next),
            Kind::Recorded { trace, place, percent } => {
                let traced = trace.requests.get(*place)?;
                Some(self.began + quicker(traced.at, *percent))
            }
            Kind::Paused { trace, place, idle } => match trace.requests.get(*place)?.pause {
                None => Some(self.began),
                Some(pause) => idle.map(|since| since + pause),
            },
        }
    }

    /// Whether `request` has no time of its own, because it is a flush that follows what it flushes.
    pub fn follows(&self, request: Request) -> bool {
        request.op == Op::Flush && matches!(self.kind, Kind::Open { .. } | Kind::Think { .. })
    }

    /// Takes the request that is due; the time from which its latency counts.
    pub fn take(&mut self, now: Nanos) -> Nanos {
        match &mut self.kind {
            Kind::Open { arrivals, next } => std::mem::replace(next, self.began + arrivals.next_arrival()),
            Kind::Think { left, think, .. } => {
                // Without a pause there are no bursts.
                *left -= u32::from(*think > Nanos::ZERO);
                now
            }
            Kind::Recorded { trace, place, percent } => {
                let came = self.began + quicker(trace.requests[*place].at, *percent);
                *place += 1;
                came
            }
            Kind::Paused { place, idle, .. } => {
                (*place, *idle) = (*place + 1, None);
                now
            }
        }
    }

    /// Nothing of the worker is in flight any more.
    pub fn rest(&mut self, now: Nanos) {
        match &mut self.kind {
            Kind::Think { next, think, burst, left } if *left == 0 => (*left, *next) = (*burst, now + *think),
            Kind::Paused { idle, .. } => *idle = Some(now),
            Kind::Think { .. } | Kind::Open { .. } | Kind::Recorded { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::{Arrival, Replay, TraceFormat, TraceReader};

    use super::*;

    fn pace(arrival: Arrival) -> Pace {
        let workload = Workload { arrival, ..Workload::default() };
        Pace::new(&workload, 0, Seed::new(1), Nanos::from_secs(1))
    }

    #[test]
    fn what_comes_at_a_rate_is_due_when_it_comes_and_counts_from_then() {
        let mut pace = pace(Arrival { rate: 10, ..Arrival::default() });
        for tenth in 0..5 {
            let due = Nanos::from_millis(1000 + 100 * tenth);
            assert_eq!(pace.due(), Some(due));
            assert_eq!(pace.take(Nanos::from_secs(9)), due);
        }
    }

    #[test]
    fn after_a_burst_comes_a_pause_that_begins_with_its_last_completion() {
        let mut pace = pace(Arrival { think: Nanos::from_millis(5), burst: 2, ..Arrival::default() });
        let at = Nanos::from_secs(2);
        for _ in 0..2 {
            assert!(pace.due().is_some_and(|due| due <= at));
            assert_eq!(pace.take(at), at);
        }
        assert_eq!(pace.due(), None);
        pace.rest(Nanos::from_secs(3));
        assert_eq!(pace.due(), Some(Nanos::from_millis(3005)));
    }

    /// Two requests at once; 3 ms after the second was done, a flush.
    fn replay(pace: ReplayPace) -> Pace {
        let mut reader = TraceReader::new();
        for line in [
            "128166372003000000,h,0,Read,0,4096,10000",
            "128166372003000000,h,0,Read,8192,4096,20000",
            "128166372003050000,h,0,Write,0,4096,10",
        ] {
            reader.line(line).unwrap();
        }
        let trace = reader.finish().unwrap();
        let digest = trace.digest(TraceFormat::Msr);
        let workload = Workload { replay: Some(Replay { pace, ..Replay::of("t.csv") }), ..Workload::default() };
        Pace::new(&workload.replaying(Arc::new(trace), digest), 0, Seed::new(1), Nanos::from_secs(1))
    }

    #[test]
    fn a_replay_as_recorded_counts_from_the_recorded_times_and_ends_with_the_trace() {
        let mut pace = replay(ReplayPace::Recorded { percent: 50 });
        for millis in [1000, 1000, 1010] {
            assert_eq!(pace.due(), Some(Nanos::from_millis(millis)));
            assert_eq!(pace.take(Nanos::from_secs(9)), Nanos::from_millis(millis));
        }
        assert_eq!(pace.due(), None);
        assert!(!pace.follows(Request::FLUSH), "a recorded flush has a time of its own");
    }

    #[test]
    fn a_replay_with_think_time_waits_for_the_last_completion_and_pauses_as_long_as_was_recorded() {
        let mut pace = replay(ReplayPace::Think);
        for _ in 0..2 {
            assert_eq!(pace.due(), Some(Nanos::from_secs(1)));
            pace.take(Nanos::from_secs(1));
        }
        assert_eq!(pace.due(), None, "two are in flight");
        pace.rest(Nanos::from_secs(4));
        assert_eq!(pace.due(), Some(Nanos::from_millis(4003)), "3 ms after the second of the two was done");
    }
}
