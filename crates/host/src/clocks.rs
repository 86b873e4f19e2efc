//! What the machine's clocks say happened to it while something was measured.

use std::fmt;
use std::sync::LazyLock;
use std::time::{Instant, SystemTime};

use block::Nanos;

use crate::Machine;

/// A wall clock that moves by less against the monotonic one was disciplined, not set.
const JUMP: Nanos = Nanos::from_millis(500);
/// A machine that sleeps sleeps longer than this; the kernel tells the time since it started in hundredths of a second.
const SLEEP: Nanos = Nanos::from_millis(100);

/// The machine's clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Stands still while the machine is suspended; measurements are taken by it.
    monotonic: Nanos,
    /// Goes on while the machine is suspended.
    boot: Nanos,
    /// The time of day, which people and daemons set.
    wall: Nanos,
}

/// What happened between two moments that a reader must know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The machine was suspended for so long.
    Suspended(Nanos),
    /// The time of day was set forward by so much.
    SetForward(Nanos),
    /// The time of day was set back by so much.
    SetBack(Nanos),
}

impl Clocks {
    /// The clocks now.
    pub fn now() -> Self {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let monotonic = Nanos::from_std(START.elapsed());
        let wall = Nanos::from_std(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        // Where the kernel does not say, nothing is known of sleep.
        let boot = Machine::here().uptime().unwrap_or(monotonic);
        Self { monotonic, boot, wall }
    }

    /// What happened from this moment to `later`.
    pub fn disturbances(&self, later: &Self) -> Vec<Disturbance> {
        let passed = |from: Nanos, to: Nanos| to.as_nanos() as i64 - from.as_nanos() as i64;
        let (measured, real) = (passed(self.monotonic, later.monotonic), passed(self.boot, later.boot));
        let slept = real - measured;
        let set = passed(self.wall, later.wall) - real;
        let nanos = |amount: i64| Nanos::from_nanos(amount.unsigned_abs());
        let suspended = (slept > SLEEP.as_nanos() as i64).then(|| Disturbance::Suspended(nanos(slept)));
        let jumped = (set.unsigned_abs() > JUMP.as_nanos())
            .then(|| if set > 0 { Disturbance::SetForward(nanos(set)) } else { Disturbance::SetBack(nanos(set)) });
        suspended.into_iter().chain(jumped).collect()
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KEPT: &str = "figures use the monotonic clock and are valid";
        match self {
            Self::Suspended(time) => write!(
                f,
                "The machine was suspended for {time} during this measurement. Figures exclude that time, but requests \
                 in flight and the drive's state were disturbed: measure again."
            ),
            Self::SetForward(time) => write!(f, "The system clock was set forward by {time} during the run; {KEPT}."),
            Self::SetBack(time) => write!(f, "The system clock was set back by {time} during the run; {KEPT}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clocks so many seconds after they were all at 1,000.
    fn at(monotonic: f64, boot: f64, wall: f64) -> Clocks {
        let after = |seconds: f64| Nanos::from_nanos(((1000.0 + seconds) * 1e9) as u64);
        Clocks { monotonic: after(monotonic), boot: after(boot), wall: after(wall) }
    }

    #[test]
    fn a_quiet_machine_says_nothing() {
        assert_eq!(at(0.0, 0.0, 0.0).disturbances(&at(60.0, 60.0, 60.02)), []);
        assert_eq!(at(0.0, 0.0, 0.0).disturbances(&at(3600.0, 3600.0, 3599.7)), [], "a clock that is disciplined");
        let before = Clocks::now();
        assert_eq!(before.disturbances(&Clocks::now()), [], "this machine");
    }

    #[test]
    fn sleep_is_told_from_a_clock_that_was_set() {
        let seconds = Nanos::from_secs;
        let before = at(0.0, 0.0, 0.0);
        assert_eq!(before.disturbances(&at(10.0, 40.0, 40.0)), [Disturbance::Suspended(seconds(30))]);
        assert_eq!(before.disturbances(&at(10.0, 10.0, 3610.0)), [Disturbance::SetForward(seconds(3600))]);
        assert_eq!(before.disturbances(&at(10.0, 10.0, -50.0)), [Disturbance::SetBack(seconds(60))]);
        let both = [Disturbance::Suspended(seconds(30)), Disturbance::SetBack(seconds(60))];
        assert_eq!(before.disturbances(&at(10.0, 40.0, -20.0)), both);
        assert!(both[0].to_string().contains("suspended for 30 s") && both[1].to_string().contains("back by 60 s"));
    }
}
