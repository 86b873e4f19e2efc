//! The connections to a server of pages or figures: each is served by a thread of its own, and slow ones make room.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{Request, Response, Trouble};

/// How long an answer may be on its way before it is broken off for somebody else.
const SLOW: Duration = Duration::from_secs(5);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many there may be at a time.
    pub most: usize,
    /// How long a request may take to arrive, from its first byte to its last.
    pub arrival: Duration,
    /// How long an answer may take to be taken.
    pub departure: Duration,
}

/// The connections that are open.
#[derive(Debug)]
pub struct Connections {
    limits: Limits,
    /// In the order in which they came, and the number of the next.
    open: Mutex<(Vec<Open>, u64)>,
}

/// A connection that is open.
#[derive(Debug)]
struct Open {
    number: u64,
    phase: Phase,
    /// When that began.
    since: Instant,
    stream: TcpStream,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client, for its request.
    Arriving,
    /// Us.
    Working,
    /// The client, to take its answer.
    Departing,
}

impl Connections {
    /// None, with these limits.
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.open().0.len()
    }

    /// Has a thread serve a connection; where there are too many, it is told that by `busy`. One that breaks is nobody's loss:
    /// whoever made it has to try again anyway.
    pub fn serve(
        self: &Arc<Self>,
        mut stream: TcpStream,
        busy: impl FnOnce() -> Response,
        answer: impl FnOnce(Result<&Request, Trouble>) -> Response + Send + 'static,
    ) {
        let Some(place) = self.admit(&stream) else {
            // Without waiting: what does not fit into the kernel's buffer is lost, and nothing is held up.
            stream.set_nonblocking(true).ok();
            busy().send(&mut stream, false, self.limits.departure).ok();
            return;
        };
        let Limits { arrival, departure, .. } = self.limits;
        let converse = move || {
            stream.set_nonblocking(false).ok();
            // A browser opens some that it does not use.
            let Some(asked) = Request::take(&mut stream, arrival).transpose() else { return };
            place.is(Phase::Working);
            let head_only = asked.as_ref().is_ok_and(|request| request.head_only);
            let answer = answer(asked.as_ref().map_err(Clone::clone));
            place.is(Phase::Departing);
            answer.send(&mut stream, head_only, departure).ok();
        };
        thread::Builder::new().name("page".to_owned()).spawn(converse).ok();
    }

    /// Room for one more, which a slow one may have to make; none if there is none.
    fn admit(self: &Arc<Self>, stream: &TcpStream) -> Option<Place> {
        let stream = stream.try_clone().ok()?;
        let mut guard = self.open();
        let (open, next) = &mut *guard;
        let now = Instant::now();
        if open.len() >= self.limits.most {
            let slow = open.remove(dispensable(open.iter().map(|open| (open.phase, open.since)), now)?);
            // Its thread wakes with an error, and ends.
            slow.stream.shutdown(Shutdown::Both).ok();
        }
        let number = *next;
        *next += 1;
        open.push(Open { number, phase: Phase::Arriving, since: now, stream });
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
struct Place {
    connections: Arc<Connections>,
    number: u64,
}

impl Place {
    /// Notes what is waited for from now on.
    fn is(&self, phase: Phase) {
        // One that had to make room is not there any more.
        if let Some(open) = self.connections.open().0.iter_mut().find(|open| open.number == self.number) {
            (open.phase, open.since) = (phase, Instant::now());
        }
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
}
