//! The connections to a server, how many there may be, and how long each may take. Slow ones make room.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

/// How long an answer may be on its way before it is broken off for somebody else.
const SLOW: Duration = Duration::from_secs(5);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many are answered at a time. As many again are told to come back.
    pub most: usize,
    /// How long a request may take to arrive, from its first byte to its last.
    pub arrival: Duration,
    /// How long an answer may take to be taken.
    pub departure: Duration,
    /// Whether something may be sent.
    pub takes: bool,
}

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    /// In the order in which they came, and the number of the next.
    open: Mutex<(Vec<Open>, u64)>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    phase: Phase,
    /// When that began.
    since: Instant,
    /// What serves it; none for a moment.
    task: Option<AbortHandle>,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The client, for its request.
    Arriving,
    /// Us.
    Working,
    /// The client, to take its answer.
    Departing,
    /// The client, to ask and be told that there are too many.
    Refused,
}

impl Connections {
    /// None, with these limits.
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    /// Whether an answer is being made or sent.
    pub fn are_answered(&self) -> bool {
        self.open().0.iter().any(|open| matches!(open.phase, Phase::Working | Phase::Departing))
    }

    /// Room for one more, which a slow one may have to make; none if there is not even room to refuse it.
    pub fn admit(self: &Arc<Self>) -> Option<Place> {
        let mut guard = self.open();
        let (open, next) = &mut *guard;
        let (now, most) = (Instant::now(), self.limits.most);
        let mut phase = Phase::Arriving;
        if open.iter().filter(|open| open.phase != Phase::Refused).count() >= most {
            match dispensable(open.iter().map(|open| (open.phase, open.since)), now) {
                Some(slow) => open.remove(slow).task.iter().for_each(AbortHandle::abort),
                None if open.len() < 2 * most => phase = Phase::Refused,
                None => return None,
            }
        }
        let number = *next;
        *next += 1;
        open.push(Open { number, phase, since: now, task: None });
        Some(Place { connections: Arc::clone(self), number })
    }

    fn open(&self) -> MutexGuard<'_, (Vec<Open>, u64)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which of these, the first of which came first, makes room for another: the first whose request is not there yet, or else one
/// that has been taking its answer for long.
fn dispensable(open: impl Iterator<Item = (Phase, Instant)> + Clone, now: Instant) -> Option<usize> {
    let arriving = open.clone().position(|(phase, _)| phase == Phase::Arriving);
    let is_slow = |(phase, since)| phase == Phase::Departing && now.saturating_duration_since(since) > SLOW;
    arriving.or_else(|| open.clone().position(is_slow))
}

/// The place of one connection among those that are open, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
}

impl Place {
    /// Notes what serves it.
    pub fn served_by(&self, task: AbortHandle) {
        self.with(|open| open.task = Some(task));
    }

    /// Notes what is waited for from now on.
    pub fn is(&self, phase: Phase) {
        self.with(|open| (open.phase, open.since) = (phase, Instant::now()));
    }

    /// Whether something may be sent.
    pub fn takes(&self) -> bool {
        self.connections.limits.takes
    }

    /// Whether it is one too many.
    pub fn is_refused(&self) -> bool {
        self.with(|open| open.phase == Phase::Refused).unwrap_or_default()
    }

    /// Until when the client may take; none while it waits for us.
    pub fn deadline(&self) -> Option<Instant> {
        let Limits { arrival, departure, .. } = self.connections.limits;
        self.with(|open| match open.phase {
            Phase::Arriving | Phase::Refused => Some(open.since + arrival),
            Phase::Working => None,
            Phase::Departing => Some(open.since + departure),
        })?
    }

    /// Does something with the connection; one that had to make room is not there any more.
    fn with<T>(&self, work: impl FnOnce(&mut Open) -> T) -> Option<T> {
        self.connections.open().0.iter_mut().find(|open| open.number == self.number).map(work)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().0.retain(|open| open.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_without_a_request_makes_room_and_then_one_that_takes_its_answer_slowly() {
        let began = Instant::now();
        let now = began + 2 * SLOW;
        let (arriving, working) = ((Phase::Arriving, now), (Phase::Working, began));
        let (slow, quick) = ((Phase::Departing, began), (Phase::Departing, now));
        for (open, expected) in [
            (&[working, slow, arriving, arriving][..], Some(2)),
            (&[working, quick, slow, slow], Some(2)),
            (&[working, quick, quick], None),
            (&[], None),
        ] {
            assert_eq!(dispensable(open.iter().copied(), now), expected, "{open:?}");
        }
    }

    #[test]
    fn as_many_as_are_answered_are_told_to_come_back_and_no_more() {
        let limits =
            Limits { most: 2, arrival: Duration::from_secs(1), departure: Duration::from_secs(2), takes: false };
        let connections = Connections::new(limits);
        let working: Vec<Place> = (0..2).map(|_| connections.admit().unwrap()).collect();
        working.iter().for_each(|place| place.is(Phase::Working));
        let refused: Vec<Place> = (0..2).map(|_| connections.admit().unwrap()).collect();
        assert!(refused.iter().all(Place::is_refused) && connections.admit().is_none());
        assert!(working[0].deadline().is_none() && refused[0].deadline().is_some());
        drop(working);
        assert!(!connections.are_answered());
        let next = connections.admit().unwrap();
        assert!(!next.is_refused());
        let over = [connections.admit().unwrap(), connections.admit().unwrap()];
        assert!(over.iter().all(|place| !place.is_refused()), "the first that say nothing make room");
        assert!(next.deadline().is_none(), "its place is another's");
    }
}
