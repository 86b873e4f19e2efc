//! The zones of a real drive, which all workers of a run share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use block::{Bytes, Request, Tag, Zone, ZoneLimits};
use workload::{Workload, ZoneStep};

use crate::waker::Waker;
use crate::zone_plug::{ZoneMisfit, ZonePlugs};

/// A worker of a run: its job, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZoneWorker {
    pub job: u32,
    pub worker: u32,
}

/// Zones whose write pointers and turns are kept for all workers.
///
/// A request that waits for its zone goes when the one before is completed, by the thread of the worker that made it, which is
/// woken where it is another.
#[derive(Debug)]
pub(crate) struct ZoneQueue {
    state: Mutex<QueueState>,
    released: Condvar,
    /// From the start of a zone to the start of the next.
    pub size: Bytes,
}

#[derive(Debug)]
struct QueueState {
    plugs: ZonePlugs<(ZoneWorker, Tag)>,
    /// Whose turn has come and that have not gone yet.
    due: Vec<(ZoneWorker, Tag)>,
    /// What wakes a worker that waits for completions, where anything can.
    wakers: Vec<(ZoneWorker, Waker)>,
    jobs: u32,
    /// Whether a worker has failed, so that its requests are not completed.
    is_closed: bool,
}

/// What becomes of a worker's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZoneTurn {
    /// This goes to the device now.
    Now(Request),
    /// This goes when its zone's turn has come.
    Later(Request),
    /// There is nothing to read, or no zone to write.
    End,
}

impl ZoneQueue {
    /// The zones of a report, which has at least one.
    pub fn new(report: &[Zone], limits: ZoneLimits) -> Self {
        let size = report.first().map_or(Bytes::ZERO, |zone| zone.end.offset() - zone.start.offset());
        let state = QueueState {
            plugs: ZonePlugs::new(report, limits),
            due: Vec::new(),
            wakers: Vec::new(),
            jobs: 0,
            is_closed: false,
        };
        Self { state: Mutex::new(state), released: Condvar::new(), size }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job, as [`ZonePlugs::add`]; its number.
    pub fn add(&self, workload: &Workload, span: (Bytes, Bytes)) -> Result<(u32, Option<Bytes>), ZoneMisfit> {
        let mut state = self.state();
        let bytes = state.plugs.add(workload, span)?;
        state.jobs += 1;
        Ok((state.jobs - 1, bytes))
    }

    /// What becomes of a worker's next request; whether the request is what was asked for, and not what must come before.
    pub fn ask(&self, who: ZoneWorker, tag: Tag, request: Request) -> (ZoneTurn, bool) {
        let mut state = self.state();
        let (request, is_asked) = match state.plugs.step(who.job, who.worker, request) {
            ZoneStep::Go(request) => (request, true),
            ZoneStep::First(request) => (request, false),
            ZoneStep::End => return (ZoneTurn::End, false),
        };
        let turn = match state.plugs.enter((who, tag), request) {
            true => ZoneTurn::Now(request),
            false => ZoneTurn::Later(request),
        };
        (turn, is_asked)
    }

    /// Has `waker` wake this worker when the turn of one of its requests has come.
    pub fn wakes(&self, who: ZoneWorker, waker: Waker) {
        self.state().wakers.push((who, waker));
    }

    /// Notes that a worker's request was completed, and wakes the others whose turn has come.
    pub fn completed(&self, by: ZoneWorker, request: &Request) {
        let mut state = self.state();
        let released = state.plugs.leave(request);
        if released.is_empty() {
            return;
        }
        state.due.extend(released.into_iter().map(|(owner, _)| owner));
        let QueueState { due, wakers, .. } = &*state;
        let is_due = |who: ZoneWorker| who != by && due.iter().any(|(owner, _)| *owner == who);
        wakers.iter().filter(|(who, _)| is_due(*who)).for_each(|(_, waker)| waker.wake());
        drop(state);
        self.released.notify_all();
    }

    /// The requests of a worker whose turn has come, each told once.
    pub fn due(&self, who: ZoneWorker) -> Vec<Tag> {
        self.state().take(who)
    }

    /// The same for a worker that has nothing at the device: waits until there are any, or for this long. None once a worker
    /// has failed.
    pub fn wait(&self, who: ZoneWorker, patience: Duration) -> Option<Vec<Tag>> {
        let is_none = |state: &mut QueueState| !state.is_closed && state.due.iter().all(|(owner, _)| *owner != who);
        let waited = self.released.wait_timeout_while(self.state(), patience, is_none);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (!state.is_closed).then(|| state.take(who))
    }

    /// Has nobody wait any more: a worker has failed.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.released.notify_all();
    }
}

impl QueueState {
    fn take(&mut self, who: ZoneWorker) -> Vec<Tag> {
        self.due.extract_if(.., |(owner, _)| *owner == who).map(|(_, tag)| tag).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use block::{Lba, Op, ZoneState};
    use workload::{Pattern, Stop};

    use super::*;

    fn zones(count: u64) -> Vec<Zone> {
        let lba = Lba::new;
        let zone = |start| Zone {
            start: lba(start),
            writable: lba(start + 48),
            end: lba(start + 64),
            state: ZoneState::Empty,
            pointer: lba(start),
        };
        (0..count).map(|index| zone(index * 64)).collect()
    }

    const ONE: ZoneWorker = ZoneWorker { job: 0, worker: 0 };
    const OTHER: ZoneWorker = ZoneWorker { job: 0, worker: 1 };

    #[test]
    fn one_write_a_zone_is_under_way_and_the_next_in_order_goes_by_its_own_worker() {
        let queue = ZoneQueue::new(&zones(4), ZoneLimits { open: None, active: None, append: false });
        let workload =
            Workload { pattern: Pattern::RandWrite, workers: 2, stop: Stop::after_requests(9), ..Workload::default() };
        let span = Bytes::from_sectors(256);
        assert_eq!(queue.add(&workload, (Bytes::ZERO, span)), Ok((0, None)));
        let ask = |who, tag, lba| queue.ask(who, Tag(tag), Request::new(Op::Write, Lba::new(lba), 8));
        let write = |lba| Request::new(Op::Write, Lba::new(lba), 8);
        assert_eq!(ask(ONE, 0, 0), (ZoneTurn::Now(write(0)), true));
        assert_eq!(ask(OTHER, 0, 16), (ZoneTurn::Later(write(8)), true));
        assert_eq!(ask(ONE, 1, 24), (ZoneTurn::Later(write(16)), true));
        assert_eq!(ask(ONE, 2, 64), (ZoneTurn::Now(write(64)), true), "another zone");
        assert_eq!(queue.wait(ONE, Duration::from_millis(1)), Some(vec![]));
        let woken = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        for (place, who) in [ONE, OTHER].into_iter().enumerate() {
            let woken = Arc::clone(&woken);
            queue.wakes(who, Waker::new(move || _ = woken[place].fetch_add(1, Ordering::Relaxed)));
        }
        let woken = || woken.each_ref().map(|count| count.load(Ordering::Relaxed));
        queue.completed(ONE, &write(0));
        assert_eq!(woken(), [0, 1], "the one whose turn it is, at once");
        assert!(queue.due(ONE).is_empty());
        assert_eq!((queue.due(OTHER), queue.due(OTHER)), (vec![Tag(0)], vec![]));
        queue.completed(OTHER, &write(8));
        assert_eq!(woken(), [1, 1]);
        assert_eq!(queue.wait(ONE, Duration::from_secs(60)), Some(vec![Tag(1)]));
        queue.completed(ONE, &write(16));
        assert_eq!(woken(), [1, 1], "nobody waits");
        queue.close();
        assert_eq!(queue.wait(ONE, Duration::from_secs(60)), None);
    }
}
