//! What stands between the host and its drives.

use block::{Bytes, Nanos, Rate};
use serde::{Deserialize, Serialize};

use crate::calendar::Calendar;

/// The controllers of a rig, all alike, to which the drives are dealt in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerSpec {
    /// How many; none if the drives are on the host's own ports, which cost nothing beside the drive's link.
    pub count: u32,
    /// What a controller's processor takes for each command to a drive, one at a time: its reciprocal is the
    /// most commands it passes on in a second.
    pub command: Nanos,
    /// Data that a controller moves in a second, both ways together, beside its processor; unbounded if none.
    pub bandwidth: Option<Rate>,
}

/// A controller: a processor that takes commands in turn, and a path for data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Controller {
    spec: ControllerSpec,
    /// When the processor is free.
    free: Nanos,
    path: Calendar,
    /// How long the processor has worked.
    pub commands_busy: Nanos,
    /// How long the path has moved data.
    pub data_busy: Nanos,
}

impl Controller {
    /// An idle controller.
    pub fn new(spec: ControllerSpec) -> Self {
        Self { spec, free: Nanos::ZERO, path: Calendar::default(), commands_busy: Nanos::ZERO, data_busy: Nanos::ZERO }
    }

    /// Forgets what was under way.
    pub fn restart(&mut self) {
        (self.free, self.path) = (Nanos::ZERO, Calendar::default());
    }

    /// Takes a command; when it is passed on.
    #[inline]
    pub fn command(&mut self, now: Nanos) -> Nanos {
        self.free = self.free.max(now) + self.spec.command;
        self.commands_busy += self.spec.command;
        self.free
    }

    /// Moves data that is ready at `ready`; when it is through.
    #[inline]
    pub fn transfer(&mut self, now: Nanos, ready: Nanos, bytes: Bytes) -> Nanos {
        let Some(rate) = self.spec.bandwidth.filter(|_| bytes > Bytes::ZERO) else { return ready };
        let time = rate.time_for(bytes);
        self.data_busy += time;
        self.path.reserve(now, ready, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_take_turns_and_data_moves_beside_them() {
        let rate = Some(Rate::from_bytes_per_second(1_024_000_000));
        let mut controller =
            Controller::new(ControllerSpec { count: 1, command: Nanos::from_micros(5), bandwidth: rate });
        let now = Nanos::ZERO;
        assert_eq!(controller.command(now), Nanos::from_micros(5));
        assert_eq!(controller.command(now), Nanos::from_micros(10));
        assert_eq!(controller.transfer(now, Nanos::from_micros(10), Bytes::from_kib(4)), Nanos::from_micros(14));
        assert_eq!(controller.transfer(now, now, Bytes::from_kib(8)), Nanos::from_micros(8), "in the gap before");
        assert_eq!((controller.commands_busy, controller.data_busy), (Nanos::from_micros(10), Nanos::from_micros(12)));
    }

    #[test]
    fn a_path_without_a_bound_takes_no_time() {
        let mut controller = Controller::new(ControllerSpec { count: 1, ..ControllerSpec::default() });
        assert_eq!(controller.transfer(Nanos::ZERO, Nanos::from_micros(3), Bytes::from_mib(1)), Nanos::from_micros(3));
    }
}
