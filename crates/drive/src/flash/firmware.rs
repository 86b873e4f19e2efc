//! The controller's processors.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// The processors on which a drive's firmware runs, each with one command at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Firmware {
    /// When each is free for the next command.
    free: Vec<Nanos>,
}

/// A processor that has a command.
#[derive(Clone, Copy, Debug)]
pub struct Core(usize);

impl Firmware {
    /// So many idle processors.
    pub fn new(cores: u32) -> Self {
        Self { free: vec![Nanos::ZERO; cores as usize] }
    }

    /// Gives a command that is there at `now` to the processor that is free first; when that can begin.
    #[inline]
    pub fn begin(&mut self, now: Nanos) -> (Core, Nanos) {
        let mut first = 0;
        for core in 1..self.free.len() {
            if self.free[core] < self.free[first] {
                first = core;
            }
        }
        (Core(first), self.free[first].max(now))
    }

    /// Keeps a processor busy until then.
    #[inline]
    pub fn hold(&mut self, core: Core, until: Nanos) {
        self.free[core.0] = self.free[core.0].max(until);
    }

    /// Stops everything, to go on at `from`.
    pub fn restart(&mut self, from: Nanos) {
        self.free.fill(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processors_take_two_commands_and_the_third_waits_for_the_first() {
        let mut firmware = Firmware::new(2);
        let mut command = |now: u64, length: u64| {
            let (core, start) = firmware.begin(Nanos::from_micros(now));
            firmware.hold(core, start + Nanos::from_micros(length));
            start.as_nanos() / 1000
        };
        assert_eq!([command(0, 10), command(1, 30), command(2, 5), command(20, 5)], [0, 1, 10, 20]);
    }
}
