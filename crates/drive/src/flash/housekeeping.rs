//! What the firmware does for itself, while commands wait.

use block::{Bytes, Nanos, Op, Seed};
use serde::{Deserialize, Serialize};

use super::pacing::{BEHIND, Pacing};
use crate::draw::{Draws, Spread};
use crate::periodic::Periodic;

/// Work of the firmware that comes again and again: the journal of the map, its checkpoint, a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// How much the host writes from one to the next.
    pub written: Option<Bytes>,
    /// How much time passes from one to the next.
    pub every: Option<Nanos>,
    /// Flash pages that it writes.
    pub pages: u32,
    /// How long it takes, in the mean.
    pub length: Nanos,
    /// How much longer for each mebibyte that the host has written since the last one. Of each write 4 KiB count at most: it
    /// changes one place of the map, however long it is. What this comes to is done beside writes that are paced, which then
    /// do not wait for it.
    pub length_per_mib: Nanos,
    /// So much of that makes it no longer: it is written beside commands.
    pub length_from: Bytes,
    /// It takes no longer than this.
    pub length_max: Nanos,
    /// The standard deviation of that, in millionths of it.
    pub deviation: u32,
    /// For how much of it reads wait as well as writes, in millionths.
    pub reads_held: u32,
    /// If writes have waited for the pace of the flash for no longer than this lately, it is done beside them and holds nothing;
    /// nor does it where the flash limits them. None: it always holds them.
    pub beside: Option<Nanos>,
    /// If a command has come within this time before it begins, it is done beside commands and holds nothing. None: it
    /// always holds them.
    pub after_idle: Option<Nanos>,
    /// The flash goes on while it holds writes: behind it these are taken at so much of the time from one page to the next, in
    /// millionths, until the flash has caught up. It then holds writes also where the flash limits them. None: writes go on at the
    /// pace of the flash.
    pub catch_up: Option<u32>,
}

/// How much of one write changes the map in a place of its own.
const CHANGED_MAX: Bytes = Bytes::from_kib(4);

/// A write's share in what writes have waited lately, as a power of two: a single one that waits makes no drive busy.
const SHARE: u32 = 6;

/// Tasks that a drive may have.
pub const TASKS: usize = 3;

/// The tasks of a drive, and when the one under way is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Housekeeping {
    tasks: Vec<Task>,
    /// When the last command came.
    asked: Nanos,
    /// How long writes have waited for the pace of the flash lately: a moving average, in 2⁻⁶ ns.
    owed: u64,
    draws: Draws,
    /// When all that holds commands is over, and when the next task comes with time.
    #[serde(skip)]
    quiet: (Nanos, Nanos),
    /// What tasks that have begun write to flash and nobody has taken.
    #[serde(skip)]
    writes: Option<TaskWrites>,
}

/// What tasks write to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskWrites {
    /// When the last of them began.
    pub from: Nanos,
    pub flash_pages: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    spec: TaskSpec,
    length: Spread,
    /// What the host wrote since the last one began.
    written: Bytes,
    /// As much of that as changed the map in places of their own.
    changed: Bytes,
    /// When the next one begins, if that is a matter of time.
    timer: Periodic,
    /// When the last one that held commands began, or begins, since a write that has its turn later has met it already.
    from: Nanos,
    /// When that is over.
    until: Nanos,
    /// When it no longer holds reads.
    reads_until: Nanos,
}

impl Housekeeping {
    /// Nothing was done yet. Tasks that come with time begin anywhere in their period.
    pub fn new(specs: [Option<TaskSpec>; TASKS], seed: Seed) -> Self {
        let mut draws = Draws::new(seed);
        let tasks = specs.into_iter().flatten().map(|spec| Task {
            timer: Periodic::new(spec.every, draws.draw()),
            length: Spread::new(u64::from(spec.deviation)),
            written: Bytes::ZERO,
            changed: Bytes::ZERO,
            from: Nanos::ZERO,
            until: Nanos::ZERO,
            reads_until: Nanos::ZERO,
            spec,
        });
        let quiet = (Nanos::ZERO, Nanos::ZERO);
        Self { tasks: tasks.collect(), asked: Nanos::ZERO, owed: 0, draws, quiet, writes: None }
    }

    /// Takes what the tasks that began with the last command write.
    #[inline]
    pub const fn take_writes(&mut self) -> Option<TaskWrites> {
        // Nearly always there are none, and nothing need be stored.
        if self.writes.is_some() { self.writes.take() } else { None }
    }

    /// Has what tasks draw from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }

    /// When a command that is there at `now` can begin; `turn` is when a write has its turn by the pace of the flash, which `pacing`
    /// keeps.
    #[inline]
    pub fn begin(&mut self, now: Nanos, op: Op, bytes: Bytes, turn: Nanos, pacing: Option<&mut Pacing>) -> Nanos {
        let (over, due) = self.quiet;
        let is_quiet = now >= over && now.max(turn) < due;
        if !is_quiet || op == Op::Write && self.tasks.iter().any(|task| task.is_due_with(bytes)) {
            return self.begin_with_tasks(now, op, bytes, turn, pacing);
        }
        self.asked = now;
        if now.since(turn) > BEHIND {
            self.owed = 0;
        }
        if op == Op::Write {
            self.tasks.iter_mut().for_each(|task| task.count(bytes));
            self.owed = self.owed - (self.owed >> SHARE) + turn.since(now).as_nanos();
        }
        now
    }

    /// The same where a task may begin or hold the command.
    #[inline(never)]
    fn begin_with_tasks(
        &mut self,
        now: Nanos,
        op: Op,
        bytes: Bytes,
        turn: Nanos,
        mut pacing: Option<&mut Pacing>,
    ) -> Nanos {
        let mut start = now;
        // How long a write that has its turn then is held, and does not wait for the pace of the flash.
        let mut held = Nanos::ZERO;
        let asked = std::mem::replace(&mut self.asked, now);
        if now.since(turn) > BEHIND {
            // The flash has had nothing to do for a while.
            self.owed = 0;
        }
        let owed = Nanos::from_nanos(self.owed >> SHARE);
        let mut write = |task: &Task, from: Nanos, times: u64| {
            let before = self.writes.unwrap_or(TaskWrites { from, flash_pages: 0 });
            let flash_pages = before.flash_pages + u64::from(task.spec.pages) * times;
            self.writes = (flash_pages > 0).then_some(TaskWrites { from: before.from.max(from), flash_pages });
        };
        for task in &mut self.tasks {
            // A write that has its turn later meets what begins before that: its data goes to the flash meanwhile.
            let at = if op == Op::Write && task.spec.catch_up.is_some() { turn.max(now) } else { now };
            // Only the last of those that were due can hold a command.
            if let Some((began, _)) = task.timer.last(at) {
                task.hold(began, began.since(asked), owed, &mut self.draws, pacing.as_deref_mut());
                task.written = Bytes::ZERO;
                write(task, began, 1);
            }
            if op == Op::Write {
                task.count(bytes);
                if task.is_due_with(Bytes::ZERO) {
                    task.hold(at.max(task.until), now.since(asked), owed, &mut self.draws, pacing.as_deref_mut());
                    let times = task.take_turns();
                    write(task, at, times);
                }
            }
            if now >= task.from {
                start = start.max(if op == Op::Read { task.reads_until } else { task.until });
            }
            if op == Op::Write && at >= task.from {
                held = held.max(task.until.since(now.max(task.from)));
            }
        }
        if op == Op::Write {
            self.owed = self.owed - (self.owed >> SHARE) + turn.since(now + held).as_nanos();
        }
        let over = self.tasks.iter().map(|task| task.until.max(task.reads_until)).max();
        let due = self.tasks.iter().map(|task| task.timer.due()).min();
        self.quiet = (over.unwrap_or(Nanos::ZERO), due.unwrap_or(Nanos::MAX));
        start
    }

    /// Has the host write so much in no time; how many flash pages the tasks that begin meanwhile write.
    pub fn pass(&mut self, bytes: Bytes) -> u64 {
        let mut flash_pages = 0;
        for task in &mut self.tasks {
            task.written += bytes;
            flash_pages += u64::from(task.spec.pages) * task.take_turns();
        }
        flash_pages
    }

    /// Power was cut: what was under way is over.
    pub fn restart(&mut self) {
        self.owed = 0;
        self.tasks.iter_mut().for_each(|task| (task.until, task.reads_until) = (Nanos::ZERO, Nanos::ZERO));
    }
}

impl Task {
    /// Counts what the host writes.
    #[inline]
    fn count(&mut self, bytes: Bytes) {
        self.written += bytes;
        self.changed += bytes.min(CHANGED_MAX);
    }

    /// Whether it begins once the host has written so much more.
    #[inline]
    fn is_due_with(&self, bytes: Bytes) -> bool {
        self.spec.written.is_some_and(|each| self.written + bytes >= each)
    }

    /// How often it begins by what the host has written, which counts no more then.
    fn take_turns(&mut self) -> u64 {
        let Some(each) = self.spec.written else { return 0 };
        let times = self.written.div(each);
        self.written = self.written - each.times(times);
        times
    }

    /// Has commands wait for one that begins at `from`, when no command has come for as long as `quiet` and writes have waited
    /// for `owed` lately, unless it is done beside them.
    fn hold(&mut self, from: Nanos, quiet: Nanos, owed: Nanos, draws: &mut Draws, pacing: Option<&mut Pacing>) {
        let changed = std::mem::take(&mut self.changed).get();
        let is_paced = owed > BEHIND;
        if self.spec.beside.is_some_and(|most| owed <= most || is_paced && self.spec.catch_up.is_none())
            || self.spec.after_idle.is_some_and(|after_idle| quiet < after_idle)
        {
            return;
        }
        let changed = if is_paced { 0 } else { changed.saturating_sub(self.spec.length_from.get()) };
        let longer = Nanos::from_nanos((self.spec.length_per_mib.as_nanos() * (changed >> 12)) >> 8);
        let length = self.length.factor(draws.draw()).of(self.spec.length + longer).min(self.spec.length_max);
        (self.from, self.until) = (from, from + length);
        self.reads_until = from + Nanos::from_nanos(length.as_nanos() * u64::from(self.spec.reads_held) / 1_000_000);
        if let (Some(pacing), Some(share)) = (pacing, self.spec.catch_up) {
            pacing.hold(from, length, share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: TaskSpec = TaskSpec {
        written: None,
        every: None,
        pages: 0,
        length: Nanos::from_millis(2),
        length_per_mib: Nanos::ZERO,
        length_from: Bytes::ZERO,
        length_max: Nanos::MAX,
        deviation: 0,
        reads_held: 0,
        beside: None,
        after_idle: None,
        catch_up: None,
    };

    fn drive(specs: &[TaskSpec]) -> Housekeeping {
        Housekeeping::new(std::array::from_fn(|index| specs.get(index).copied()), Seed::new(1))
    }

    #[test]
    fn every_so_much_data_a_write_waits_and_those_behind_it() {
        let mut drive = drive(&[TaskSpec { written: Some(Bytes::from_mib(1)), ..TASK }]);
        let mut waits = 0;
        for index in 0..2_560 {
            let now = Nanos::from_millis(index * 10);
            let start = drive.begin(now, Op::Write, Bytes::from_kib(4), Nanos::ZERO, None);
            if start > now {
                waits += 1;
                assert_eq!(start, now + TASK.length);
                let soon = now + Nanos::from_millis(1);
                assert_eq!(drive.begin(soon, Op::Read, Bytes::from_kib(4), Nanos::ZERO, None), soon, "reads go on");
                assert_eq!(drive.begin(soon, Op::Flush, Bytes::ZERO, Nanos::ZERO, None), start);
            }
        }
        assert_eq!(waits, 10, "of ten mebibytes");
    }

    #[test]
    fn with_time_a_share_of_commands_waits_as_long_as_the_task_is() {
        let every = Nanos::from_millis(50);
        let mut drive = drive(&[TaskSpec { every: Some(every), reads_held: 1_000_000, deviation: 300_000, ..TASK }]);
        let (mut waiting, mut longest) = (0, Nanos::ZERO);
        for index in 0..200_000 {
            let now = Nanos::from_micros(index * 100);
            let wait = drive.begin(now, Op::Read, Bytes::from_kib(4), Nanos::ZERO, None) - now;
            waiting += u32::from(wait > Nanos::ZERO);
            longest = longest.max(wait);
        }
        // Two of fifty milliseconds, four of a hundred commands.
        assert!((7_600..8_400).contains(&waiting), "{waiting} of 200,000");
        assert!(longest > TASK.length && longest < TASK.length.times(4), "{longest}");
    }

    #[test]
    fn after_a_long_rest_one_task_at_most_holds_commands() {
        let every = Nanos::from_millis(50);
        let mut drive = drive(&[TaskSpec { every: Some(every), reads_held: 1_000_000, ..TASK }]);
        for hour in 1..100 {
            let now = Nanos::from_secs(3_600 * hour);
            assert!(drive.begin(now, Op::Read, Bytes::from_kib(4), Nanos::ZERO, None) <= now + TASK.length);
        }
    }

    /// A millisecond for each MiB: 64 MiB between two hold writes for 66 ms and reads for half of that, unless writes are paced.
    #[test]
    fn the_more_was_written_the_longer_it_takes_unless_writes_are_paced() {
        for (owed, length) in [(Nanos::ZERO, 66), (BEHIND.times(2), 2)] {
            let each = Some(Bytes::from_mib(64));
            let spec = TaskSpec { written: each, length_per_mib: Nanos::from_millis(1), reads_held: 500_000, ..TASK };
            let mut drive = drive(&[spec]);
            let write =
                |drive: &mut Housekeeping, now| drive.begin(now, Op::Write, Bytes::from_kib(4), now + owed, None);
            assert!((1..64 * 256).all(|_| write(&mut drive, Nanos::ZERO) == Nanos::ZERO));
            assert_eq!(write(&mut drive, Nanos::ZERO), Nanos::from_millis(length));
            let read = drive.begin(Nanos::ZERO, Op::Read, Bytes::from_kib(4), Nanos::ZERO, None);
            assert_eq!(read, Nanos::from_millis(length / 2));
            assert_eq!(write(&mut drive, Nanos::from_millis(100)), Nanos::from_millis(100), "it begins anew");
            let late = Nanos::from_secs(1);
            let long = (0..64).map(|_| drive.begin(late, Op::Write, Bytes::from_mib(1), late + owed, None));
            let held = long.last().expect("there are some") - late;
            assert!(held < Nanos::from_millis(3), "a long write changes one place of the map: {held}");
        }
    }

    /// A millisecond for each MiB beyond the first 16, and 40 ms at most.
    #[test]
    fn a_part_of_what_was_written_makes_it_no_longer_and_the_rest_only_up_to_a_limit() {
        for (mib, held) in [(8, 2), (16, 2), (20, 6), (64, 40), (600, 40)] {
            let limits = TaskSpec {
                length_from: Bytes::from_mib(16),
                length_max: Nanos::from_millis(40),
                length_per_mib: Nanos::from_millis(1),
                ..TASK
            };
            let mut drive = drive(&[TaskSpec { written: Some(Bytes::from_mib(mib)), ..limits }]);
            let waits =
                (0..mib * 256).map(|_| drive.begin(Nanos::ZERO, Op::Write, Bytes::from_kib(4), Nanos::ZERO, None));
            assert_eq!(waits.last(), Some(Nanos::from_millis(held)), "{mib} MiB");
        }
    }

    /// One every 10 ms that is done beside commands unless writes wait, and one unless nothing came for a while.
    #[test]
    fn what_is_done_beside_commands_holds_them_only_near_saturation_and_what_comes_after_idle_time_only_then() {
        let us = Nanos::from_micros;
        let every = Some(Nanos::from_millis(10));
        let (beside, after_idle) = (Some(us(50)), Some(us(40)));
        let held = |spec: TaskSpec, gap: Nanos, owed: Nanos| {
            let mut drive = drive(&[TaskSpec { every, ..spec }]);
            let mut now = Nanos::from_secs(1);
            let held = |_: &u64| {
                now += gap;
                drive.begin(now, Op::Write, Bytes::from_kib(4), now + owed, None) > now
            };
            (0..2_000).filter(held).count() > 0
        };
        let [near, idle] = [TaskSpec { beside, ..TASK }, TaskSpec { after_idle, ..TASK }];
        assert_eq!([0, 50, 60, 2_000].map(|owed| held(near, us(30), us(owed))), [false, false, true, false]);
        assert_eq!([30, 40, 100].map(|gap| held(idle, us(gap), Nanos::ZERO)), [false, false, true]);
    }

    /// A task every 10 ms that holds writes that wait. What comes after them is not held.
    #[test]
    fn once_writes_have_ended_nothing_is_in_the_way_any_more() {
        let us = Nanos::from_micros;
        let mut drive = drive(&[TaskSpec { every: Some(us(10_000)), beside: Some(us(50)), ..TASK }]);
        let mut held = |index: u64, op: Op, turn: Nanos| {
            drive.begin(us(index * 100), op, Bytes::from_kib(4), turn, None) > us(index * 100)
        };
        assert!((0..1_000).filter(|&index| held(index, Op::Write, us(index * 100 + 200))).count() > 100);
        assert!((1_100..2_000).all(|index| !held(index, Op::Flush, us(100_100))));
    }

    /// A task every millisecond: one write in a hundred waits long for its turn, 9 µs in the mean.
    #[test]
    fn a_write_that_waits_long_among_others_that_do_not_makes_no_drive_busy() {
        let spec = TaskSpec { every: Some(Nanos::from_millis(1)), beside: Some(Nanos::from_micros(50)), ..TASK };
        let mut drive = drive(&[spec]);
        let waits = (0..20_000).filter(|index| {
            let now = Nanos::from_micros(index * 20);
            let owed = Nanos::from_micros(if index % 100 == 0 { 900 } else { 0 });
            drive.begin(now, Op::Write, Bytes::from_kib(4), now + owed, None) > now
        });
        assert_eq!(waits.count(), 0);
    }
}
