//! What stands between the host and its drives.

use block::{Bytes, Nanos, Rate, Seed};
use serde::{Deserialize, Serialize};

use crate::calendar::Calendar;
use crate::draw::{Draws, Spread};

/// The controllers of a rig, all alike, to which the drives are dealt in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerSpec {
    /// How many; none if the drives are on the host's own ports, which cost nothing beside the drive's link.
    pub count: u32,
    /// What a controller's processor takes for each command to a drive, one at a time: its reciprocal is the
    /// most commands it passes on in a second.
    pub command: Nanos,
    /// How that differs from one command to the next.
    pub jitter: Spread,
    /// Data that a controller moves in a second, both ways together, beside its processor; unbounded if none.
    pub bandwidth: Option<Rate>,
}

/// A controller: a processor that takes commands in turn, and a path for data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Controller {
    spec: ControllerSpec,
    draws: Draws,
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
    pub fn new(spec: ControllerSpec, seed: Seed) -> Self {
        Self {
            spec,
            draws: Draws::new(seed),
            free: Nanos::ZERO,
            path: Calendar::default(),
            commands_busy: Nanos::ZERO,
            data_busy: Nanos::ZERO,
        }
    }

    /// Has the draws from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }

    /// Forgets what was under way.
    pub fn restart(&mut self) {
        (self.free, self.path) = (Nanos::ZERO, Calendar::default());
    }

    /// Takes a command; when it is passed on.
    #[inline]
    pub fn command(&mut self, now: Nanos) -> Nanos {
        let time = self.spec.jitter.vary(&mut self.draws, self.spec.command);
        self.free = self.free.max(now) + time;
        self.commands_busy += time;
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

    fn controller(spec: ControllerSpec) -> Controller {
        Controller::new(spec, Seed::new(3))
    }

    fn of_5_us(jitter: Spread) -> ControllerSpec {
        ControllerSpec { count: 1, command: Nanos::from_micros(5), jitter, bandwidth: None }
    }

    #[test]
    fn commands_that_differ_take_as_long_on_average_and_the_processor_is_busy_with_them() {
        const COUNT: usize = 100_000;
        let mut controller = controller(of_5_us(Spread::new(800_000)));
        let mut last = Nanos::ZERO;
        let times: Vec<f64> = (0..COUNT)
            .map(|_| {
                let passed = controller.command(Nanos::ZERO);
                let time = passed - std::mem::replace(&mut last, passed);
                time.as_nanos() as f64 / 5_000.0
            })
            .collect();
        let mean = times.iter().sum::<f64>() / COUNT as f64;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / COUNT as f64;
        assert!((mean - 1.0).abs() < 0.01 && (variance.sqrt() - 0.8).abs() < 0.03, "{mean} and {}", variance.sqrt());
        assert_eq!(controller.commands_busy, last);
        controller.draw_from(Seed::new(9));
        assert_ne!(controller.clone().command(last), Controller::new(controller.spec, Seed::new(3)).command(last));
    }

    #[test]
    fn commands_take_turns_and_data_moves_beside_them() {
        let rate = Some(Rate::from_bytes_per_second(1_024_000_000));
        let mut controller = controller(ControllerSpec { bandwidth: rate, ..of_5_us(Spread::NONE) });
        let now = Nanos::ZERO;
        assert_eq!(controller.command(now), Nanos::from_micros(5));
        assert_eq!(controller.command(now), Nanos::from_micros(10));
        assert_eq!(controller.transfer(now, Nanos::from_micros(10), Bytes::from_kib(4)), Nanos::from_micros(14));
        assert_eq!(controller.transfer(now, now, Bytes::from_kib(8)), Nanos::from_micros(8), "in the gap before");
        assert_eq!((controller.commands_busy, controller.data_busy), (Nanos::from_micros(10), Nanos::from_micros(12)));
    }

    #[test]
    fn a_path_without_a_bound_takes_no_time() {
        let mut controller = controller(ControllerSpec { count: 1, ..ControllerSpec::default() });
        assert_eq!(controller.transfer(Nanos::ZERO, Nanos::from_micros(3), Bytes::from_mib(1)), Nanos::from_micros(3));
    }
}
