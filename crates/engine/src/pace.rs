//! When a worker's next request is due.

use std::collections::BTreeMap;

use block::{Nanos, Op, Request, Seed, Tag};
use workload::{Arrivals, ReplayPace, Trace, TraceDone, TraceRequests, Traced, Workload, quicker};

/// The pace of one worker whose requests do not just follow one another.
///
/// With arrivals at a rate a request is due when it comes, and latency counts from then, however long it waits for
/// room in the queue: otherwise a stall would hide all requests that came meanwhile. With time to think a worker
/// submits a burst, waits until all of it is completed, and pauses. A replay does either as it was recorded.
pub(crate) struct Pace {
    began: Nanos,
    kind: PaceKind,
}

/// When a request can go.
pub(crate) enum Turn {
    /// At once; its latency counts from then.
    Now(Nanos),
    /// At this time.
    At(Nanos),
    /// When something has completed, or never.
    Awaited,
}

enum PaceKind {
    /// Requests come whatever became of those before.
    Open(Arrivals),
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
    Recorded { next: Option<Traced>, requests: TraceRequests, percent: u32 },
    /// Each request waits for those that had been done before it came, and then as long as was recorded.
    Thoughtful(Thoughtful),
}

/// A replay in which the time to think between requests is as recorded.
struct Thoughtful {
    requests: TraceRequests,
    /// Those that were done, after the one that is awaited.
    order: TraceDone,
    /// How quick the thinking is, in percent.
    percent: u32,
    /// The next request, and its number.
    next: Option<Traced>,
    place: u32,
    /// The one that was done next.
    awaited: Option<u32>,
    /// Requests in flight, by their tags.
    flights: BTreeMap<u32, u32>,
    /// Requests that are done while one is not that was done earlier when they were recorded, and when they were.
    early: BTreeMap<u32, Nanos>,
    /// How many are done of those that the next request waits for, and when the last of them was.
    done: (u32, Nanos),
}

impl Pace {
    /// The pace of worker number `worker` in a run that begins at `began`.
    pub fn new(workload: &Workload, worker: u32, seed: Seed, began: Nanos) -> Self {
        let (think, burst) = (workload.arrival.think, workload.arrival.burst);
        let recorded = workload.replay.as_ref().and_then(|replay| Some((replay.pace, replay.trace.clone()?)));
        let kind = match (recorded, Arrivals::new(workload, worker, seed)) {
            (Some((ReplayPace::Recorded { percent }, trace)), _) => {
                let mut requests = trace.requests();
                PaceKind::Recorded { next: requests.next(), requests, percent }
            }
            (Some((ReplayPace::Think, trace)), _) => PaceKind::Thoughtful(Thoughtful::new(&trace, 100, began)),
            (Some((ReplayPace::ThinkAt { percent }, trace)), _) => {
                PaceKind::Thoughtful(Thoughtful::new(&trace, percent, began))
            }
            (_, Some(arrivals)) => PaceKind::Open(arrivals),
            (_, None) => PaceKind::Think { next: began, think, burst, left: burst },
        };
        Self { began, kind }
    }

    /// Whether `request`, the next, can go now.
    pub fn turn(&self, request: Request, now: Nanos) -> Turn {
        match self.due() {
            _ if self.follows(request) => Turn::Now(now),
            Some(due) if due <= now => Turn::Now(self.since(due, now)),
            Some(due) => Turn::At(due),
            None => Turn::Awaited,
        }
    }

    /// When the next request is due; none where that is for a completion to bring about, or nothing is left of a trace.
    fn due(&self) -> Option<Nanos> {
        match &self.kind {
            PaceKind::Open(arrivals) => Some(self.began + arrivals.next()),
            PaceKind::Think { next, left, .. } => (*left > 0).then_some(*next),
            PaceKind::Recorded { next, percent, .. } => Some(self.began + quicker((*next)?.at, *percent)),
            PaceKind::Thoughtful(replay) => replay.due(),
        }
    }

    /// Whether `request` has no time of its own, because it is a flush that follows what it flushes.
    fn follows(&self, request: Request) -> bool {
        request.op == Op::Flush && matches!(self.kind, PaceKind::Open(_) | PaceKind::Think { .. })
    }

    /// The time from which the latency of the request counts that was due at `due` and is submitted at `now`.
    fn since(&self, due: Nanos, now: Nanos) -> Nanos {
        match self.kind {
            PaceKind::Open(_) | PaceKind::Recorded { .. } => due,
            PaceKind::Think { .. } | PaceKind::Thoughtful(_) => now,
        }
    }

    /// Notes that `request`, whose turn it was, was submitted under this tag.
    pub fn take(&mut self, request: Request, tag: Tag) {
        if self.follows(request) {
            return;
        }
        match &mut self.kind {
            PaceKind::Open(arrivals) => arrivals.pass(request.bytes()),
            // Without a pause there are no bursts.
            PaceKind::Think { left, think, .. } => *left -= u32::from(*think > Nanos::ZERO),
            PaceKind::Recorded { next, requests, .. } => *next = requests.next(),
            PaceKind::Thoughtful(replay) => replay.take(tag),
        }
    }

    /// The request under this tag is done; `rests` if nothing of the worker is in flight any more.
    pub fn done(&mut self, now: Nanos, tag: Tag, rests: bool) {
        match &mut self.kind {
            PaceKind::Think { next, think, burst, left } if rests && *left == 0 => {
                (*left, *next) = (*burst, now + *think)
            }
            PaceKind::Thoughtful(replay) => replay.done(now, tag),
            PaceKind::Think { .. } | PaceKind::Open(_) | PaceKind::Recorded { .. } => {}
        }
    }
}

impl Thoughtful {
    fn new(trace: &Trace, percent: u32, began: Nanos) -> Self {
        let (mut requests, mut order) = (trace.requests(), trace.done());
        Self {
            next: requests.next(),
            awaited: order.next(),
            requests,
            order,
            percent,
            place: 0,
            flights: BTreeMap::new(),
            early: BTreeMap::new(),
            done: (0, began),
        }
    }

    /// When the next request is due; none while one is in flight that it waits for, or if there is none.
    fn due(&self) -> Option<Nanos> {
        let next = self.next?;
        let (done, last) = self.done;
        (done == next.after).then(|| last + quicker(next.think, self.percent))
    }

    fn take(&mut self, tag: Tag) {
        self.flights.insert(tag.0, self.place);
        (self.place, self.next) = (self.place + 1, self.requests.next());
        self.settle();
    }

    fn done(&mut self, now: Nanos, tag: Tag) {
        // What follows a request of the trace under its tag is none itself.
        if let Some(place) = self.flights.remove(&tag.0) {
            self.early.insert(place, now);
            self.settle();
        }
    }

    /// Counts what is done of that which the next request waits for.
    fn settle(&mut self) {
        let Some(next) = self.next else { return };
        let (count, last) = &mut self.done;
        while *count < next.after {
            let Some(at) = self.awaited.and_then(|awaited| self.early.remove(&awaited)) else { return };
            (*count, *last) = (*count + 1, at.max(*last));
            self.awaited = self.order.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use workload::{Arrival, Replay, TraceReader};

    use super::*;

    const READ: Request = Request::new(Op::Read, block::Lba::new(0), 8);

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
            assert_eq!(pace.since(due, Nanos::from_secs(9)), due);
            pace.take(READ, Tag(0));
        }
    }

    #[test]
    fn after_a_burst_comes_a_pause_that_begins_with_its_last_completion() {
        let mut pace = pace(Arrival { think: Nanos::from_millis(5), burst: 2, ..Arrival::default() });
        let at = Nanos::from_secs(2);
        for _ in 0..2 {
            assert!(pace.due().is_some_and(|due| due <= at));
            assert_eq!(pace.since(Nanos::ZERO, at), at);
            pace.take(READ, Tag(0));
        }
        assert_eq!(pace.due(), None);
        pace.done(Nanos::from_secs(3), Tag(0), true);
        assert_eq!(pace.due(), Some(Nanos::from_millis(3005)));
    }

    /// Two requests at once; 3 ms after the second was done, a flush.
    fn replay(pace: ReplayPace) -> Pace {
        let lines = [
            "128166372003000000,h,0,Read,0,4096,10000",
            "128166372003000000,h,0,Read,8192,4096,20000",
            "128166372003050000,h,0,Write,0,4096,10",
        ];
        let (trace, format) = TraceReader::default().text(&lines.join("\n")).unwrap();
        let digest = trace.digest(format);
        let workload = Workload { replay: Some(Replay { pace, ..Replay::of("t.csv") }), ..Workload::default() };
        Pace::new(&workload.replaying(Arc::new(trace), digest), 0, Seed::new(1), Nanos::from_secs(1))
    }

    #[test]
    fn a_replay_as_recorded_counts_from_the_recorded_times_and_ends_with_the_trace() {
        let mut pace = replay(ReplayPace::Recorded { percent: 50 });
        for millis in [1000, 1000, 1010] {
            let due = Nanos::from_millis(millis);
            assert_eq!((pace.due(), pace.since(due, Nanos::from_secs(9))), (Some(due), due));
            pace.take(READ, Tag(0));
        }
        assert_eq!(pace.due(), None);
        assert!(!pace.follows(Request::FLUSH), "a recorded flush has a time of its own");
    }

    #[test]
    fn a_replay_with_think_time_waits_for_the_last_completion_and_pauses_as_long_as_was_recorded() {
        let mut pace = replay(ReplayPace::Think);
        for tag in [7, 8] {
            assert_eq!(pace.due(), Some(Nanos::from_secs(1)));
            pace.take(READ, Tag(tag));
        }
        assert_eq!(pace.due(), None, "two are in flight");
        pace.done(Nanos::from_secs(3), Tag(8), false);
        assert_eq!(pace.due(), None, "one is in flight");
        pace.done(Nanos::from_secs(4), Tag(7), true);
        assert_eq!(pace.due(), Some(Nanos::from_millis(4003)), "3 ms after the second of the two was done");
    }

    #[test]
    fn what_came_while_another_was_in_flight_waits_for_what_was_done_by_then_alone() {
        // A long write, and meanwhile two reads, the second of which came 100 µs after the first was done.
        let text = ["assay trace 1", "0 5000 write 0 8", "10 90 read 64 8", "200 90 read 128 8", "5300 90 read 0 8"];
        let (trace, format) = TraceReader::default().text(&text.join("\n")).unwrap();
        let digest = trace.digest(format);
        let replay = Some(Replay { pace: ReplayPace::Think, ..Replay::of("t.log") });
        let workload = Workload { replay, ..Workload::default() }.replaying(Arc::new(trace), digest);
        let began = Nanos::from_secs(1);
        let mut pace = Pace::new(&workload, 0, Seed::new(1), began);
        assert_eq!(pace.since(began, began), began);
        pace.take(READ, Tag(0));
        assert_eq!(pace.due(), Some(began + Nanos::from_micros(10)));
        let mut quicker = Pace::new(
            &Workload {
                replay: workload.replay.clone().map(|replay| Replay { pace: replay.pace.at(200), ..replay }),
                ..workload.clone()
            },
            0,
            Seed::new(1),
            began,
        );
        quicker.take(READ, Tag(0));
        assert_eq!(quicker.due(), Some(began + Nanos::from_micros(5)), "who thinks is twice as fast");
        pace.take(READ, Tag(1));
        assert_eq!(pace.due(), None, "the first read is in flight");
        pace.done(began + Nanos::from_millis(8), Tag(1), false);
        assert_eq!(pace.due(), Some(began + Nanos::from_micros(8100)), "the write is not waited for");
        pace.take(READ, Tag(1));
        pace.done(began + Nanos::from_millis(20), Tag(0), false);
        assert_eq!(pace.due(), None, "the second read is in flight");
        pace.done(began + Nanos::from_millis(30), Tag(1), true);
        assert_eq!(pace.due(), Some(began + Nanos::from_micros(30_300)));
    }
}
