//! A simulated drive against the machine's clock.

use std::sync::Arc;

use block::{Lba, Nanos, Op, Request, Status, Tag};
use drive::{Device, Drive, PowerLoss};
use rustix::time::{ClockId, clock_gettime};
use stats::Histogram;

use crate::request_recorder::RequestRecorder;

/// The time on the machine's monotonic clock.
pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// What the way between a program and here costs, which the drive's own time must leave room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathOverhead {
    pub read: Nanos,
    pub write: Nanos,
}

impl PathOverhead {
    fn of(self, op: Op) -> Nanos {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
            // Nobody waits for a microsecond more of these.
            Op::Trim | Op::Flush | Op::Append | Op::Zone(_) => Nanos::ZERO,
        }
    }
}

/// A drive whose time runs with the machine's, or slower, and what is in flight there.
///
/// A request is dated back to when the program made it, and answered ahead of when the program is to see the answer:
/// the way between costs time, of which the drive's own latency must not become a victim.
#[derive(Debug)]
pub struct Paced<T> {
    drive: Device,
    /// The drive's time at `origin`.
    start: Nanos,
    /// The machine's time when it was attached.
    origin: Nanos,
    /// Seconds of the drive for each of the machine.
    speed: f64,
    floor: PathOverhead,
    /// Each with the drive's time at which it was made.
    flight: Vec<Option<(Nanos, Request, T)>>,
    free: Vec<u32>,
    heard: Arc<RequestRecorder>,
    /// The drive's time up to which it has been asked for completions.
    reached: Nanos,
    /// How much later than wanted requests were answered, on the machine's clock.
    late: Histogram,
    /// How long the drive itself took, on the machine's clock.
    own: Histogram,
}

impl<T> Paced<T> {
    /// The drive goes on from its own time at the machine's time `now`, so many of its seconds in each of the machine's.
    pub fn new(drive: Device, speed: f64, floor: PathOverhead, now: Nanos) -> Self {
        let start = drive.now();
        let (flight, free, heard) = (Vec::new(), Vec::new(), Arc::default());
        let (late, own) = (Histogram::new(), Histogram::new());
        Self { drive, start, origin: now, speed, floor, flight, free, heard, reached: start, late, own }
    }

    /// The same with its requests told to `heard`.
    pub fn recorded_by(self, heard: &Arc<RequestRecorder>) -> Self {
        Self { heard: Arc::clone(heard), ..self }
    }

    /// Begins again from the drive's own time at the machine's time `now`. Nothing may be in flight.
    pub fn begin(&mut self, floor: PathOverhead, speed: f64, now: Nanos) {
        (self.start, self.origin, self.reached) = (self.drive.now(), now, self.drive.now());
        (self.floor, self.speed) = (floor, speed);
        (self.late, self.own) = (Histogram::new(), Histogram::new());
    }

    pub fn drive(&self) -> &Device {
        &self.drive
    }

    /// The drive back, with what was in flight forgotten.
    pub fn into_drive(self) -> Device {
        self.drive
    }

    /// How much later than wanted requests were answered.
    pub fn late(&self) -> &Histogram {
        &self.late
    }

    /// How long the drive itself took for requests, on the machine's clock.
    pub fn own(&self) -> &Histogram {
        &self.own
    }

    /// How many requests are in flight.
    pub fn in_flight(&self) -> usize {
        self.flight.len() - self.free.len()
    }

    /// Hands over a request that came at the machine's time `now`; `asked` comes back when it is due.
    pub fn submit(&mut self, now: Nanos, request: Request, asked: T) {
        let made = self.to_drive(now).since(self.scaled(self.floor.of(request.op)));
        let tag = self.free.pop().unwrap_or_else(|| {
            self.flight.push(None);
            self.flight.len() as u32 - 1
        });
        // The drive may have been asked for what lies ahead of the machine's clock already.
        self.reached = made.max(self.reached).max(self.drive.now());
        self.flight[tag as usize] = Some((self.reached, request, asked));
        self.drive.submit(self.reached, Tag(tag), request);
    }

    /// A request that is to be answered at the machine's time `now`, and how the drive has ended it; none if there is none.
    pub fn due(&mut self, now: Nanos) -> Option<(T, Status)> {
        let until = self.to_drive(now);
        // What the drive was not asked for it has not reached: a request may be dated back to before it.
        if self.drive.next_event().is_none_or(|at| at > until) {
            return None;
        }
        let done = self.drive.complete(until);
        self.reached = self.reached.max(if done.is_some() { self.drive.now() } else { until });
        let done = done?;
        self.free.push(done.tag.0);
        let (made, request, asked) = self.flight[done.tag.0 as usize].take()?;
        self.heard.note((made, done.at, request));
        self.late.record(now.since(self.to_machine(done.at)));
        self.own.record(self.on_machine(done.at.since(made)));
        Some((asked, done.status))
    }

    /// Cuts the drive's power at the machine's time `now`: what it loses, and what will never be due.
    pub fn cut_power(&mut self, now: Nanos) -> (PowerLoss, Vec<T>) {
        self.reached = self.moment(now);
        let lost = self.drive.cut_power(self.reached);
        self.free.clear();
        (lost, std::mem::take(&mut self.flight).into_iter().flatten().map(|(.., asked)| asked).collect())
    }

    /// Gives up all that is in flight. The drive goes on with it, and nobody hears of that.
    pub fn give_up(&mut self) -> Vec<T> {
        self.flight.iter_mut().filter_map(Option::take).map(|(.., asked)| asked).collect()
    }

    /// The sectors that would be lost if the power were cut at the machine's time `now`.
    pub fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.drive.unsaved(self.moment(now))
    }

    /// When something may be due, on the machine's clock, if nothing more is submitted; none if nothing is in flight.
    pub fn next(&self) -> Option<Nanos> {
        if self.in_flight() == 0 {
            return None;
        }
        self.drive.next_event().map(|at| self.to_machine(at))
    }

    /// The drive's time at the machine's time `now`, or what it has reached.
    fn moment(&self, now: Nanos) -> Nanos {
        self.to_drive(now).max(self.reached).max(self.drive.now())
    }

    /// The drive's time at the machine's time `now`.
    fn to_drive(&self, now: Nanos) -> Nanos {
        self.start + self.scaled(now.since(self.origin))
    }

    fn to_machine(&self, at: Nanos) -> Nanos {
        self.origin + self.on_machine(at.since(self.start))
    }

    /// How long on the machine's clock what takes the drive so long.
    pub fn on_machine(&self, time: Nanos) -> Nanos {
        if self.speed == 1.0 { time } else { Nanos::from_nanos((time.as_nanos() as f64 / self.speed) as u64) }
    }

    fn scaled(&self, time: Nanos) -> Nanos {
        if self.speed == 1.0 { time } else { Nanos::from_nanos((time.as_nanos() as f64 * self.speed) as u64) }
    }
}

#[cfg(test)]
mod tests {
    use block::Lba;
    use drive::preset::Preset;

    use super::*;

    const BEGAN: Nanos = Nanos::from_secs(100);

    /// A drive that was attached at [`BEGAN`], at this speed and behind a way that costs so much.
    fn paced(speed: f64, way: Nanos) -> Paced<&'static str> {
        let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
        Paced::new(drive, speed, PathOverhead { read: way, write: way }, BEGAN)
    }

    /// How long after it came a write of a page is due, to a server that looks all the time.
    fn due_after(paced: &mut Paced<&'static str>) -> Nanos {
        let came = BEGAN + Nanos::from_millis(10);
        assert_eq!(paced.due(came), None);
        paced.submit(came, Request::new(Op::Write, Lba::new(0), 8), "write");
        let due = paced.next().unwrap();
        let early = paced.due(due - Nanos::from_nanos(1));
        assert_eq!((early, paced.due(due)), (None, Some(("write", Status::Success))));
        due - came
    }

    #[test]
    fn a_request_is_dated_back_by_what_the_way_costs() {
        let way = Nanos::from_micros(40);
        let alone = due_after(&mut paced(1.0, Nanos::ZERO));
        assert!(alone > way);
        assert_eq!(due_after(&mut paced(1.0, way)), alone - way);
    }

    #[test]
    fn a_slow_drive_takes_longer_by_just_that() {
        let alone = due_after(&mut paced(1.0, Nanos::ZERO));
        assert_eq!(due_after(&mut paced(0.25, Nanos::ZERO)), alone.times(4));
    }

    #[test]
    fn after_a_power_cut_nothing_is_due_and_all_in_flight_is_given_back() {
        let mut paced = paced(1.0, Nanos::ZERO);
        for _ in 0..40 {
            paced.submit(BEGAN, Request::new(Op::Write, Lba::new(0), 8), "write");
        }
        let (_, unanswered) = paced.cut_power(BEGAN + Nanos::from_micros(1));
        assert_eq!((unanswered.len(), paced.in_flight(), paced.next()), (40, 0, None));
    }
}
