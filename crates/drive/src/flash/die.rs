//! A die: what it has been given to do, and how the host's reads go before that.

use std::collections::VecDeque;

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::geometry::Unit;
use crate::draw::{Draws, exponential};

/// How a die lets the host's reads go before what it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspendSpec {
    /// A program is suspended at the end of a step of this length: pulses and verifies that are not broken off.
    pub program_step: Nanos,
    /// Whether steps are of exponentially distributed length, and those their means; otherwise all are alike.
    pub exponential: bool,
    /// The same for an erase.
    pub erase_step: Nanos,
    /// From the end of a step until the array can read.
    pub latency: Nanos,
    /// What a suspended operation takes to resume.
    pub resume: Nanos,
    /// How often one operation is suspended; after that reads wait for its end.
    pub limit: u32,
}

impl SuspendSpec {
    /// Reads wait for the end of what is under way, and go before the rest.
    pub const NEVER: Self = Self {
        program_step: Nanos::ZERO,
        exponential: false,
        erase_step: Nanos::ZERO,
        latency: Nanos::ZERO,
        resume: Nanos::ZERO,
        limit: 0,
    };
}

/// How the dies of a drive are suspended, and how often they were.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suspension {
    spec: SuspendSpec,
    draws: Draws,
    pub counted: SuspensionCounts,
}

/// What was suspended, for the drive's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspensionCounts {
    pub programs: u64,
    pub erases: u64,
}

impl Suspension {
    /// Nothing was suspended yet; steps that are not alike are drawn by `seed`.
    pub fn new(spec: SuspendSpec, seed: Seed) -> Self {
        Self { spec, draws: Draws::new(seed), counted: SuspensionCounts::default() }
    }

    /// Whether nothing ever is.
    pub fn is_never(&self) -> bool {
        self.spec == SuspendSpec::NEVER
    }

    /// Has what is drawn from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }
}

/// A die of the drive, and up to when it is booked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Die {
    pub free: Nanos,
    /// When the last program began, and the register could take the next page.
    pub loaded: Nanos,
    pub channel: u32,
    /// Its number among the dies of the channel.
    pub lane: u32,
    /// The program that ends at `free`, which other planes may still join.
    pub joinable: Option<Joinable>,
    /// The block and array read whose page is in the register.
    pub holds: (u32, u32),
    /// When the last of the reads that went first is done: they wait for each other.
    pub reads_until: Nanos,
    /// What is under way and booked, where reads go before it.
    schedule: Option<Schedule>,
}

/// A program that other planes of its die may join.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Joinable {
    /// The plane that it was of last.
    pub unit: Unit,
    pub start: Nanos,
    /// From when on data for it can be brought.
    pub loads_from: Nanos,
}

/// In a register: nothing of use.
pub const NOTHING: (u32, u32) = (u32::MAX, u32::MAX);

/// The operations of a die that are not over, in order.
///
/// A read that goes first puts off all that is left: by how much is kept once for all of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Schedule {
    operations: VecDeque<Operation>,
    put_off: Nanos,
    /// Whether the reads that go first until `reads_until` have suspended the first operation.
    suspended: bool,
}

/// One operation, its times less what all are put off by.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Operation {
    start: Nanos,
    end: Nanos,
    kind: OperationKind,
    suspensions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationKind {
    Program,
    Erase,
    /// Reads one after the other, each of this length: another may go between two.
    Reads(Nanos),
}

/// When a read that goes first can begin, and what that does to what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub start: Nanos,
    /// From when on nothing else of the die goes on; none if nothing is left.
    stopped: Option<Nanos>,
    /// What the rest takes longer, beside.
    resume: Nanos,
}

impl Die {
    /// An idle die; `keeps` where reads go first, so that it keeps what it was given.
    pub fn new(channel: u32, lane: u32, keeps: bool) -> Self {
        Self {
            free: Nanos::ZERO,
            loaded: Nanos::ZERO,
            channel,
            lane,
            joinable: None,
            holds: NOTHING,
            reads_until: Nanos::ZERO,
            schedule: keeps.then(Schedule::default),
        }
    }

    /// Whether what it does is noted.
    #[inline]
    pub const fn is_scheduled(&self) -> bool {
        self.schedule.is_some()
    }

    /// Notes what it does from `start` to `end`, after all it was given before; `joined` where another plane joins the
    /// program that it was given last. What is over at `now` is forgotten.
    #[inline]
    pub fn note(&mut self, now: Nanos, kind: OperationKind, start: Nanos, end: Nanos, joined: bool) {
        if let Some(schedule) = &mut self.schedule {
            if joined { schedule.extend(end) } else { schedule.add(now, kind, start, end) }
        }
    }

    /// Has it do something by itself from `start` to `end`, after all it was given before. It keeps nothing in its register.
    #[inline]
    pub fn occupy(&mut self, now: Nanos, kind: OperationKind, start: Nanos, end: Nanos) {
        self.note(now, kind, start, end, false);
        (self.free, self.loaded) = (end, end);
        (self.joinable, self.holds) = (None, NOTHING);
    }

    /// Finds when a read that is there from `ready` on has its turn, on a die where reads go first.
    pub fn turn(&mut self, suspension: &mut Suspension, ready: Nanos) -> Turn {
        let at = ready.max(self.reads_until);
        let follows = ready <= self.reads_until;
        match &mut self.schedule {
            Some(schedule) => schedule.turn(suspension, at, follows),
            None => Turn { start: at, stopped: None, resume: Nanos::ZERO },
        }
    }

    /// Notes that the read that had this turn was done at `done`: the rest goes on then.
    pub fn resume(&mut self, turn: Turn, done: Nanos) {
        if let Some(stopped) = turn.stopped {
            let longer = done.since(stopped) + turn.resume;
            self.schedule.iter_mut().for_each(|schedule| schedule.put_off += longer);
            self.free += longer;
            self.loaded += longer;
        }
        self.free = self.free.max(done);
        self.reads_until = done;
        self.joinable = None;
    }
}

impl Schedule {
    #[inline(never)]
    fn add(&mut self, now: Nanos, kind: OperationKind, start: Nanos, end: Nanos) {
        self.forget(now);
        let (start, end) = (start - self.put_off, end - self.put_off);
        self.operations.push_back(Operation { start, end, kind, suspensions: 0 });
    }

    /// The last operation takes until `end`, for another plane has joined it.
    fn extend(&mut self, end: Nanos) {
        if let Some(last) = self.operations.back_mut() {
            last.end = last.end.max(end - self.put_off);
        }
    }

    #[inline]
    fn forget(&mut self, now: Nanos) {
        while self.operations.front().is_some_and(|first| first.end + self.put_off <= now) {
            self.operations.pop_front();
            self.suspended = false;
        }
    }

    fn turn(&mut self, suspension: &mut Suspension, at: Nanos, follows: bool) -> Turn {
        let Suspension { spec: suspend, draws, counted } = suspension;
        self.forget(at);
        let suspended = follows && self.suspended;
        self.suspended = false;
        let put_off = self.put_off;
        let free = Turn { start: at, stopped: None, resume: Nanos::ZERO };
        let Some(first) = self.operations.front_mut() else { return free };
        let (begins, ends) = (first.start + put_off, first.end + put_off);
        if suspended {
            self.suspended = true;
            return Turn { stopped: Some(at), ..free };
        }
        // What resumes has begun, though what it has done may be less than what that takes.
        if begins >= at && first.suspensions == 0 {
            return Turn { stopped: Some(begins), ..free };
        }
        let step = match first.kind {
            OperationKind::Reads(step) => step,
            OperationKind::Program => suspend.program_step,
            OperationKind::Erase => suspend.erase_step,
        };
        let stops = match first.kind {
            OperationKind::Program | OperationKind::Erase if suspend.exponential => {
                // What is left of such a step is distributed as all of it.
                at + exponential(draws.draw()).of(step)
            }
            _ => at + left_of(step, at.since(begins)),
        };
        match first.kind {
            OperationKind::Reads(_) if stops < ends => return Turn { start: stops, stopped: Some(stops), ..free },
            OperationKind::Program | OperationKind::Erase
                if stops + suspend.latency < ends && first.suspensions < suspend.limit =>
            {
                first.suspensions += 1;
                match first.kind {
                    OperationKind::Erase => counted.erases += 1,
                    _ => counted.programs += 1,
                }
                self.suspended = true;
                return Turn { start: stops + suspend.latency, stopped: Some(stops), resume: suspend.resume };
            }
            _ => {}
        }
        // It waits for the end of what is under way, and goes before the rest.
        self.operations.pop_front();
        let next = self.operations.front().map(|next| next.start + put_off);
        Turn { start: ends, stopped: next, resume: Nanos::ZERO }
    }
}

/// What is left of the step under way, of steps that are alike, after so long.
fn left_of(step: Nanos, after: Nanos) -> Nanos {
    let into = after.as_nanos() % step.as_nanos().max(1);
    Nanos::from_nanos(if into == 0 { 0 } else { step.as_nanos() - into })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUSPEND: SuspendSpec = SuspendSpec {
        program_step: Nanos::from_micros(50),
        exponential: false,
        erase_step: Nanos::from_micros(500),
        latency: Nanos::from_micros(20),
        resume: Nanos::from_micros(10),
        limit: 2,
    };

    fn us(us: u64) -> Nanos {
        Nanos::from_micros(us)
    }

    /// A die that programs for 600 µs, erases for 3 ms and reads ten pages of 50 µs.
    fn busy() -> Die {
        let mut die = Die::new(0, 0, true);
        for (kind, length) in
            [(OperationKind::Program, 600), (OperationKind::Erase, 3000), (OperationKind::Reads(us(50)), 500)]
        {
            let start = die.free;
            die.free += us(length);
            die.note(Nanos::ZERO, kind, start, die.free, false);
        }
        die
    }

    /// When a read of 60 µs that is there from `ready` on begins.
    fn read(die: &mut Die, ready: u64) -> u64 {
        let turn = die.turn(&mut Suspension::new(SUSPEND, Seed::new(1)), us(ready));
        die.resume(turn, turn.start + us(60));
        turn.start.as_nanos() / 1000
    }

    #[test]
    fn a_program_is_suspended_goes_on_later_and_is_not_suspended_for_ever() {
        let mut die = busy();
        assert_eq!(read(&mut die, 60), 100 + 20, "at the end of its step");
        assert_eq!(die.free, us(4100 + 80 + 10), "suspending, the read, and resuming");
        assert_eq!(read(&mut die, 110), 180, "the next read finds it suspended");
        assert_eq!(die.free, us(4190 + 60));
        // It goes on at 250, with 100 of its 600 µs done.
        assert_eq!(read(&mut die, 390), 400 + 20, "the second suspension");
        let ends = 600 + 90 + 60 + 90;
        assert_eq!(read(&mut die, 700), ends, "then reads wait for its end");
        assert_eq!(die.free, us(4100 + 90 + 60 + 90 + 60), "and the erase for the read");
    }

    #[test]
    fn an_erase_is_suspended_and_between_reads_there_is_room() {
        let mut die = busy();
        assert_eq!(read(&mut die, 1000), 1100 + 20);
        assert_eq!(die.free, us(4100 + 80 + 10));
        let first = 3600 + 90;
        assert_eq!(read(&mut die, first + 70), first + 100, "after the second of the ten");
        assert_eq!(read(&mut die, first + 100 + 60 + 50), first + 100 + 60 + 50, "exactly between two");
        assert_eq!(die.free, us(first + 500 + 120));
    }

    #[test]
    fn an_idle_die_reads_at_once_and_what_has_not_begun_waits_only_if_it_is_in_the_way() {
        let mut die = Die::new(0, 0, true);
        die.note(Nanos::ZERO, OperationKind::Program, us(500), us(1100), false);
        die.free = us(1100);
        assert_eq!(read(&mut die, 100), 100);
        assert_eq!(die.free, us(1100), "it is over before the program begins");
        assert_eq!(read(&mut die, 480), 480);
        assert_eq!(die.free, us(1140));
        assert_eq!(read(&mut die, 5000), 5000);
    }

    /// A program that has done 5 µs is suspended, and takes 30 µs to resume: a read that comes meanwhile suspends it again.
    #[test]
    fn what_resumes_is_suspended_again_and_has_to_resume_again() {
        let spec = SuspendSpec { program_step: us(5), resume: us(30), ..SUSPEND };
        let mut suspension = Suspension::new(spec, Seed::new(1));
        let mut die = Die::new(0, 0, true);
        die.note(Nanos::ZERO, OperationKind::Program, Nanos::ZERO, us(600), false);
        die.free = us(600);
        let starts = [5, 90].map(|ready| {
            let turn = die.turn(&mut suspension, us(ready));
            die.resume(turn, turn.start + us(60));
            turn.start
        });
        assert_eq!((starts, suspension.counted.programs), ([us(25), us(110)], 2));
        assert_eq!(die.free, us(600 + 2 * (20 + 60 + 30)));
    }

    /// Reads of a program that has long to go: half wait for less than the mean times ln 2, one in a hundred for more than
    /// the mean times ln 100.
    #[test]
    fn exponential_steps_are_waited_for_as_long_wherever_the_program_is() {
        let spec = SuspendSpec { exponential: true, ..SUSPEND };
        let mut suspension = Suspension::new(spec, Seed::new(5));
        let mut waits: Vec<u64> = (0..10_000)
            .map(|number| {
                let mut die = Die::new(0, 0, true);
                die.note(Nanos::ZERO, OperationKind::Program, Nanos::ZERO, us(100_000), false);
                let ready = us(number + 1);
                (die.turn(&mut suspension, ready).start - ready).as_nanos() - 20_000
            })
            .collect();
        waits.sort_unstable();
        for (share, wanted) in [(0.5, 50_000.0 * 2.0_f64.ln()), (0.99, 50_000.0 * 100.0_f64.ln())] {
            let found = waits[(waits.len() as f64 * share) as usize] as f64;
            assert!((found / wanted - 1.0).abs() < 0.06, "{share}: {found} ns, {wanted} wanted");
        }
    }

    #[test]
    fn what_is_nearly_over_is_not_suspended() {
        let mut die = busy();
        assert_eq!(read(&mut die, 590), 600);
        assert_eq!(die.free, us(4160));
    }

    /// Whatever comes when: no read begins before it is there or within another, and what was booked takes as much longer as
    /// it stood still.
    #[test]
    fn reads_never_overlap_and_no_work_is_lost() {
        let mut random = testkit::Random::new(3);
        for _ in 0..200 {
            let (mut die, mut now, mut last, mut work) = (Die::new(0, 0, true), 0, 0, 0);
            for _ in 0..200 {
                now += random.below(300);
                if random.below(3) == 0 {
                    let (kind, length) = match random.below(3) {
                        0 => (OperationKind::Program, 600),
                        1 => (OperationKind::Erase, 3000),
                        _ => (OperationKind::Reads(us(50)), 50 * (1 + random.below(9))),
                    };
                    let start = die.free.max(us(now));
                    die.free = start + us(length);
                    die.note(us(now), kind, start, die.free, false);
                    work += length;
                } else {
                    let start = read(&mut die, now);
                    assert!(start >= now.max(last), "{start} after {last}, there at {now}");
                    last = start + 60;
                    work += 60;
                }
                let schedule = die.schedule.as_ref().unwrap();
                let left: u64 = schedule.operations.iter().map(|op| (op.end - op.start).as_nanos() / 1000).sum();
                assert!(die.free >= us(last) && left <= work, "{left} of {work}");
                let ends = schedule.operations.back().map_or(Nanos::ZERO, |op| op.end + schedule.put_off);
                assert!(ends <= die.free, "what is left ends at {ends:?}, the die is free at {:?}", die.free);
            }
        }
    }
}
