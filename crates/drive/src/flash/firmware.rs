//! The controller's processors.

use block::{Nanos, Op};
use serde::{Deserialize, Serialize};

use crate::least::first_least;

/// The processors on which a drive's firmware runs, each with one command at a time.
///
/// A command that is held, while the map is written out say, occupies none of them until it can begin: those that are not
/// held go on meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Firmware {
    /// When each is free for the next command.
    free: Vec<Nanos>,
    /// Reads that are held, and other commands that are.
    held: [Held; 2],
}

/// Commands that all begin when what holds them is over.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Held {
    /// When that is; zero if none are held.
    until: Nanos,
    /// How long each processor is busy with them from then on.
    work: Vec<Nanos>,
}

/// A processor that has a command: its number, and those of all processors more for the first and for the second of those
/// that are [held](Firmware::held). One number is handed on in a register.
#[derive(Clone, Copy, Debug)]
pub struct Core(usize);

impl Firmware {
    /// So many idle processors.
    pub fn new(cores: u32) -> Self {
        let held = || Held { until: Nanos::ZERO, work: vec![Nanos::ZERO; cores as usize] };
        Self { free: vec![Nanos::ZERO; cores as usize], held: [held(), held()] }
    }

    /// Gives a command that is there at `now`, and held until `from`, to the processor that is free first; when that can
    /// begin.
    #[inline]
    pub fn begin(&mut self, now: Nanos, from: Nanos, op: Op) -> (Core, Nanos) {
        self.begin_among(self.free.len() as u32, now, from, op)
    }

    /// The same where it may have one of the first so many processors.
    #[inline(always)]
    pub fn begin_among(&mut self, cores: u32, now: Nanos, from: Nanos, op: Op) -> (Core, Nanos) {
        self.release(now);
        if from > now {
            return self.begin_held(cores, from, op);
        }
        let index = first_least(self.free[..cores as usize].iter().copied());
        (Core(index), self.free[index].max(now))
    }

    /// The same of one that is held.
    #[cold]
    fn begin_held(&mut self, cores: u32, from: Nanos, op: Op) -> (Core, Nanos) {
        let place = usize::from(op != Op::Read);
        let held = &mut self.held[place];
        held.until = held.until.max(from);
        let index = first_least(held.work[..cores as usize].iter().copied());
        (Core(index + (1 + place) * held.work.len()), held.until + held.work[index])
    }

    /// Has processors begin with what is no longer held.
    #[inline]
    pub fn release(&mut self, now: Nanos) {
        for held in &mut self.held {
            if held.until > Nanos::ZERO && held.until <= now {
                for (free, work) in self.free.iter_mut().zip(&mut held.work) {
                    if *work > Nanos::ZERO {
                        *free = (*free).max(held.until) + std::mem::take(work);
                    }
                }
                held.until = Nanos::ZERO;
            }
        }
    }

    /// Keeps a processor busy until then.
    #[inline]
    pub fn hold(&mut self, core: Core, until: Nanos) {
        match self.free.get_mut(core.0) {
            Some(free) => *free = (*free).max(until),
            None => self.hold_held(core, until),
        }
    }

    /// The same of one with commands that are held.
    #[cold]
    fn hold_held(&mut self, core: Core, until: Nanos) {
        let cores = self.free.len();
        let held = &mut self.held[core.0 / cores - 1];
        let work = &mut held.work[core.0 % cores];
        *work = (*work).max(until.since(held.until));
    }

    /// The number of a processor whose command is not held; none if it is.
    pub fn number(&self, core: Core) -> Option<usize> {
        (core.0 < self.free.len()).then_some(core.0)
    }

    /// When one of the first so many processors is free.
    pub fn free_at(&self, cores: u32) -> Nanos {
        self.free[first_least(self.free[..cores as usize].iter().copied())]
    }

    /// Has a processor do something for so long, `from` then on or when it is free.
    pub fn occupy(&mut self, core: usize, from: Nanos, length: Nanos) {
        self.free[core] = self.free[core].max(from) + length;
    }

    /// Stops everything, to go on at `from`.
    pub fn restart(&mut self, from: Nanos) {
        self.free.fill(from);
        for held in &mut self.held {
            held.until = Nanos::ZERO;
            held.work.fill(Nanos::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processors_take_two_commands_and_the_third_waits_for_the_first() {
        let mut firmware = Firmware::new(2);
        let mut command = |now: u64, length: u64| {
            let (core, start) = firmware.begin(Nanos::from_micros(now), Nanos::ZERO, Op::Write);
            firmware.hold(core, start + Nanos::from_micros(length));
            start.as_nanos() / 1000
        };
        assert_eq!([command(0, 10), command(1, 30), command(2, 5), command(20, 5)], [0, 1, 10, 20]);
    }

    #[test]
    fn what_is_held_occupies_no_processor_until_it_can_begin() {
        let us = Nanos::from_micros;
        let mut firmware = Firmware::new(2);
        let mut command = |now: u64, from: u64, op| {
            let (core, start) = firmware.begin(us(now), us(from), op);
            firmware.hold(core, start + us(10));
            start.as_nanos() / 1000
        };
        let writes = [0, 1, 2, 3].map(|now| command(now, 100, Op::Write));
        assert_eq!(writes, [100, 100, 110, 110], "both processors begin with them when they can");
        assert_eq!([4, 50].map(|now| command(now, now, Op::Read)), [4, 50], "reads that are not held go on");
        assert_eq!(command(101, 101, Op::Read), 120, "and then wait for what was held");
    }
}
