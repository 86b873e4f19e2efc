//! Whether the platters turn, and what the disk consumes.

use block::{Nanos, Power};
use serde::{Deserialize, Serialize};

/// What the disk consumes in each state, and how it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpindleSpec {
    /// Turning, with nothing else to do; waiting for a sector to come round is this too.
    pub idle: Power,
    /// While the arm moves.
    pub seek: Power,
    /// While data comes off the platters.
    pub read: Power,
    /// While data goes onto the platters.
    pub write: Power,
    /// Standing still.
    pub standby: Power,
    /// Being brought up to speed.
    pub spin_up: Power,
    /// How long that takes.
    pub spin_up_time: Nanos,
    /// After how long without a command the platters are stopped; if ever.
    pub standby_after: Option<Nanos>,
}

/// What the disk does besides turning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpindleActivity {
    Seek,
    Read,
    Write,
}

/// The spindle: turning, stopped, or on its way up. It counts how long each state lasted, so that energy is
/// worked out only when someone asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spindle {
    spec: SpindleSpec,
    /// When the disk was last in use.
    used: Nanos,
    /// Since when it has stood still.
    stopped: Option<Nanos>,
    worked: [Nanos; 3],
    stood: Nanos,
    spinning_up: Nanos,
}

impl Spindle {
    /// A disk that turns.
    pub fn new(spec: SpindleSpec) -> Self {
        Self {
            spec,
            used: Nanos::ZERO,
            stopped: None,
            worked: [Nanos::ZERO; 3],
            stood: Nanos::ZERO,
            spinning_up: Nanos::ZERO,
        }
    }

    /// Notes that the disk is in use at that time, whether or not the platters are needed.
    #[inline]
    pub fn touch(&mut self, at: Nanos) {
        if self.stopped.is_none() {
            self.stopped = self.stops_before(at, Nanos::ZERO);
        }
        self.used = self.used.max(at);
    }

    /// The time at which the platters turn if they are needed at `at`.
    #[inline]
    pub fn turning(&mut self, at: Nanos) -> Nanos {
        self.touch(at);
        let Some(since) = self.stopped.take() else { return at };
        self.stood += at.since(since);
        self.spinning_up += self.spec.spin_up_time;
        let up = at + self.spec.spin_up_time;
        self.used = up;
        up
    }

    /// Notes that power was cut at `at`, which brings the platters to a stop, and is there again: when they turn.
    pub fn restart(&mut self, at: Nanos) -> Nanos {
        self.touch(at);
        self.stopped.get_or_insert(at);
        self.turning(at)
    }

    /// Notes work that takes `time` and ends at `end`.
    #[inline]
    pub fn work(&mut self, work: SpindleActivity, time: Nanos, end: Nanos) {
        self.worked[work as usize] += time;
        self.used = self.used.max(end);
    }

    /// When the platters stop, if that is before `at` and nothing happens from `used` on.
    fn stops_before(&self, at: Nanos, used: Nanos) -> Option<Nanos> {
        let stops = self.used.max(used) + self.spec.standby_after?;
        (stops < at).then_some(stops)
    }

    /// What has been consumed up to `until`, in nanojoules. Work that has begun counts to its end. Reading ahead,
    /// which nobody has asked to stop yet, has taken `reading` of that time and ends at `reading_until`.
    pub fn energy(&self, until: Nanos, reading: Nanos, reading_until: Nanos) -> u64 {
        let until = until.max(self.used);
        let stopped = self.stopped.or_else(|| self.stops_before(until, reading_until));
        let stood = self.stood + stopped.map_or(Nanos::ZERO, |since| until.since(since));
        let [seek, read, write] = self.worked;
        let spec = &self.spec;
        // Arms that work side by side share what turning takes.
        let above_idle = |power: Power, time: Nanos| {
            i128::from(power.over(time).as_nanojoules()) - i128::from(spec.idle.over(time).as_nanojoules())
        };
        let work = above_idle(spec.seek, seek) + above_idle(spec.read, read + reading) + above_idle(spec.write, write);
        let turning = spec.idle.over(until.since(stood + self.spinning_up));
        let energy = turning + spec.standby.over(stood) + spec.spin_up.over(self.spinning_up);
        (i128::from(energy.as_nanojoules()) + work).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: SpindleSpec = SpindleSpec {
        idle: Power::from_milliwatts(1_000),
        seek: Power::from_milliwatts(2_000),
        read: Power::from_milliwatts(1_500),
        write: Power::from_milliwatts(1_700),
        standby: Power::from_milliwatts(200),
        spin_up: Power::from_milliwatts(5_000),
        spin_up_time: Nanos::from_secs(4),
        standby_after: Some(Nanos::from_secs(60)),
    };

    fn millijoules(spindle: &Spindle, until: u64) -> u64 {
        spindle.energy(Nanos::from_secs(until), Nanos::ZERO, Nanos::ZERO) / 1_000_000
    }

    #[test]
    fn each_state_costs_its_power() {
        let mut spindle = Spindle::new(SPEC);
        spindle.work(SpindleActivity::Seek, Nanos::from_secs(1), Nanos::from_secs(2));
        spindle.work(SpindleActivity::Read, Nanos::from_secs(2), Nanos::from_secs(4));
        spindle.work(SpindleActivity::Write, Nanos::from_secs(3), Nanos::from_secs(8));
        assert_eq!(millijoules(&spindle, 10), 4_000 + 2_000 + 3_000 + 5_100, "four seconds of ten are idle");
        let ahead = spindle.energy(Nanos::from_secs(10), Nanos::from_secs(1), Nanos::from_secs(9));
        assert_eq!(ahead / 1_000_000, 14_600, "a second of the idle ones was spent on reading ahead");
    }

    #[test]
    fn two_arms_at_work_share_what_turning_takes() {
        let mut spindle = Spindle::new(SPEC);
        for _ in 0..2 {
            spindle.work(SpindleActivity::Write, Nanos::from_secs(10), Nanos::from_secs(10));
        }
        assert_eq!(millijoules(&spindle, 10), 10_000 + 2 * 7_000);
    }

    #[test]
    fn a_disk_left_alone_stops_and_takes_its_time_to_come_back() {
        let mut spindle = Spindle::new(SPEC);
        assert_eq!(spindle.turning(Nanos::from_secs(60)), Nanos::from_secs(60), "just in time");
        assert_eq!(millijoules(&spindle, 220), 120_000 + 20_000, "two minutes idle, 100 s at rest");
        spindle.touch(Nanos::from_secs(200));
        assert_eq!(millijoules(&spindle, 220), 120_000 + 20_000, "a command alone does not wake it");
        assert_eq!(spindle.turning(Nanos::from_secs(220)), Nanos::from_secs(224));
        assert_eq!(millijoules(&spindle, 224), 120_000 + 20_000 + 20_000);
        assert_eq!(spindle.turning(Nanos::from_secs(230)), Nanos::from_secs(230), "it turns again");
    }

    #[test]
    fn a_disk_without_a_standby_time_never_stops() {
        let mut spindle = Spindle::new(SpindleSpec { standby_after: None, ..SPEC });
        assert_eq!(spindle.turning(Nanos::from_secs(1_000_000)), Nanos::from_secs(1_000_000));
    }
}
