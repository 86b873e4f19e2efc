//! When a worker's next request is due.

use block::{Nanos, Seed};
use workload::{Arrivals, Workload};

/// The pace of one worker whose requests do not just follow one another.
///
/// With arrivals at a rate a request is due when it comes, and latency counts from then, however long it waits for
/// room in the queue: otherwise a stall would hide all requests that came meanwhile. With time to think a worker
/// submits a burst, waits until all of it is completed, and pauses.
pub(crate) struct Pace {
    arrivals: Option<Arrivals>,
    began: Nanos,
    /// The next request is not due before this.
    next: Nanos,
    think: Nanos,
    burst: u32,
    /// Requests left of this burst.
    left: u32,
}

impl Pace {
    /// The pace of worker number `worker` in a run that begins at `began`.
    pub fn new(workload: &Workload, worker: u32, seed: Seed, began: Nanos) -> Self {
        let mut arrivals = Arrivals::new(workload, worker, seed);
        let first = arrivals.as_mut().map_or(Nanos::ZERO, Arrivals::next_arrival);
        let (think, burst) = (workload.arrival.think, workload.arrival.burst);
        Self { arrivals, began, next: began + first, think, burst, left: burst }
    }

    /// When the next request is due; none while a burst is still to be completed.
    pub fn due(&self) -> Option<Nanos> {
        (self.arrivals.is_some() || self.left > 0).then_some(self.next)
    }

    /// Takes the request that is due; the time from which its latency counts.
    pub fn take(&mut self, now: Nanos) -> Nanos {
        match &mut self.arrivals {
            Some(arrivals) => std::mem::replace(&mut self.next, self.began + arrivals.next_arrival()),
            None => {
                // Without a pause there are no bursts.
                self.left -= u32::from(self.think > Nanos::ZERO);
                now
            }
        }
    }

    /// Nothing of the worker is in flight any more.
    pub fn rest(&mut self, now: Nanos) {
        if self.arrivals.is_none() && self.left == 0 {
            (self.left, self.next) = (self.burst, now + self.think);
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::Arrival;

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
}
