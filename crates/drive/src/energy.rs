//! What a drive consumes, and how it saves when nothing is asked of it.

use block::{Bytes, Energy, Nanos, Power};
use serde::{Deserialize, Serialize};

/// What a drive consumes. The default consumes nothing and never sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerSpec {
    /// While it waits for commands, wide awake.
    pub idle: Power,
    /// Beside that, while any command is in flight.
    pub active: Power,
    /// For each flash page read, beside all the rest.
    pub read: Energy,
    /// For each flash page programmed.
    pub program: Energy,
    /// For each flash block erased.
    pub erase: Energy,
    /// For each byte that crosses the link.
    pub byte: Energy,
    /// The states it sinks into when nothing is asked of it, the lightest first.
    pub sleep: [LowPower; 2],
    /// Whether it can write out its buffer after power was cut.
    pub capacitor: bool,
    /// How long it takes to start after that.
    pub boot: Nanos,
}

/// A state in which a drive consumes less and from which it must wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowPower {
    /// How long no command has been in flight when it begins.
    pub after: Nanos,
    /// What is consumed in it.
    pub power: Power,
    /// What waking takes: the first command waits for it.
    pub exit: Nanos,
}

/// A state that never begins.
impl Default for LowPower {
    fn default() -> Self {
        Self { after: Nanos::MAX, power: Power::ZERO, exit: Nanos::ZERO }
    }
}

/// Work that costs by the piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEnergy {
    /// Flash pages read.
    pub pages_read: u64,
    /// Flash pages programmed.
    pub pages_programmed: u64,
    /// Flash blocks erased.
    pub blocks_erased: u64,
    /// Data that crossed the link.
    pub bytes: Bytes,
}

/// Keeps account of how long a drive was busy, idle and asleep.
///
/// It counts time only. Energy is worked out when it is asked for, from those times and from the work that
/// the drive counts anyway, so that a command costs no more than a comparison.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EnergyMeter {
    spec: PowerSpec,
    /// Time with commands in flight before `from`.
    active: Nanos,
    /// Time without any before `from`: awake, and in each state of sleep.
    resting: [Nanos; 3],
    /// When the commands in flight began to be so, without a pause since.
    from: Nanos,
    /// When the last of them will be done.
    until: Nanos,
}

impl EnergyMeter {
    /// A drive that has just been switched on.
    pub fn new(spec: PowerSpec) -> Self {
        Self { spec, active: Nanos::ZERO, resting: [Nanos::ZERO; 3], from: Nanos::ZERO, until: Nanos::ZERO }
    }

    /// Notes a command that the drive takes at `now`, which is never before the last one. How long the
    /// drive takes to wake for it.
    #[inline]
    pub fn begin(&mut self, now: Nanos) -> Nanos {
        if now <= self.until { Nanos::ZERO } else { self.wake(now) }
    }

    /// Notes that the command just taken is in flight until then.
    #[inline]
    pub fn end(&mut self, at: Nanos) {
        self.until = self.until.max(at);
    }

    /// Notes that power was cut at `now`: no command is in flight any more, and the drive starts for so long.
    pub fn restart(&mut self, now: Nanos, boot: Nanos) {
        self.until = self.until.min(now);
        if now > self.until {
            self.wake(now);
        }
        self.end(now + boot);
    }

    /// All energy used up to `at`, which is not before the last command was taken, if the drive has done
    /// this `work` and nothing more is asked of it.
    pub fn energy(&self, at: Nanos, work: WorkEnergy) -> Energy {
        let active = self.busy(at);
        let now = self.split(at.since(self.until));
        let [awake, light, deep] = std::array::from_fn(|state| self.resting[state] + now[state]);
        let spec = &self.spec;
        spec.idle.over(active + awake)
            + spec.active.over(active)
            + spec.sleep[0].power.over(light)
            + spec.sleep[1].power.over(deep)
            + spec.read.times(work.pages_read)
            + spec.program.times(work.pages_programmed)
            + spec.erase.times(work.blocks_erased)
            + spec.byte.times(work.bytes.get())
    }

    /// How long commands were in flight up to `at`, which is not before the last of them was taken.
    pub fn busy(&self, at: Nanos) -> Nanos {
        self.active + at.min(self.until).since(self.from)
    }

    /// When consumption will be level: nothing in flight and no deeper sleep to come.
    pub fn level_from(&self) -> Nanos {
        let deepest = self.spec.sleep.iter().map(|state| state.after).filter(|&after| after < Nanos::MAX).max();
        self.until + deepest.unwrap_or(Nanos::ZERO)
    }

    /// Ends a pause in which nothing was in flight.
    #[cold]
    fn wake(&mut self, now: Nanos) -> Nanos {
        let pause = now - self.until;
        let parts = self.split(pause);
        self.active += self.until - self.from;
        self.resting = std::array::from_fn(|state| self.resting[state] + parts[state]);
        (self.from, self.until) = (now, now);
        let deepest = self.spec.sleep.iter().rev().find(|state| pause >= state.after);
        deepest.map_or(Nanos::ZERO, |state| state.exit)
    }

    /// How much of a pause was spent awake and in each state of sleep.
    fn split(&self, pause: Nanos) -> [Nanos; 3] {
        let [light, deep] = self.spec.sleep;
        let (light, deep) = (light.after.min(deep.after).min(pause), deep.after.min(pause));
        [light, deep - light, pause - deep]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: PowerSpec = PowerSpec {
        idle: Power::from_milliwatts(600),
        active: Power::from_milliwatts(400),
        read: Energy::from_nanojoules(4_000),
        program: Energy::from_nanojoules(74_000),
        erase: Energy::from_nanojoules(165_000),
        byte: Energy::from_picojoules(500),
        sleep: [
            LowPower {
                after: Nanos::from_millis(10),
                power: Power::from_milliwatts(60),
                exit: Nanos::from_micros(100),
            },
            LowPower { after: Nanos::from_secs(2), power: Power::from_milliwatts(5), exit: Nanos::from_millis(20) },
        ],
        capacitor: false,
        boot: Nanos::ZERO,
    };

    fn at(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Energy at `ms` in nanojoules, without work.
    fn used(meter: &EnergyMeter, ms: u64) -> u64 {
        meter.energy(at(ms), WorkEnergy::default()).as_nanojoules()
    }

    #[test]
    fn a_drive_without_a_power_table_consumes_nothing_and_never_sleeps() {
        let mut meter = EnergyMeter::new(PowerSpec::default());
        assert_eq!(meter.begin(Nanos::from_secs(1_000_000)), Nanos::ZERO);
        meter.end(Nanos::from_secs(2_000_000));
        let work = WorkEnergy { pages_read: 1, pages_programmed: 1, blocks_erased: 1, bytes: Bytes::from_gib(1) };
        assert_eq!(meter.energy(Nanos::from_secs(3_000_000), work), Energy::ZERO);
    }

    #[test]
    fn commands_that_overlap_are_counted_once_and_a_pause_not_at_all() {
        let mut meter = EnergyMeter::new(SPEC);
        for (begin, end) in [(0, 4), (1, 3), (2, 5), (5, 6), (8, 9)] {
            assert_eq!(meter.begin(at(begin)), Nanos::ZERO);
            meter.end(at(end));
        }
        // Awake all 10 ms, active in 0..6 and 8..9: a milliwatt for a millisecond is 1,000 nJ.
        assert_eq!(used(&meter, 10), (600 * 10 + 400 * 7) * 1_000);
        assert_eq!((meter.busy(at(8)), meter.busy(at(10))), (at(6), at(7)));
        assert_eq!(used(&meter, 8), (600 * 8 + 400 * 6) * 1_000, "what is yet to come does not count");
    }

    #[test]
    fn a_pause_sinks_from_idle_to_light_to_deep_sleep() {
        let meter = EnergyMeter::new(SPEC);
        assert_eq!(used(&meter, 10), 600 * 10 * 1_000);
        assert_eq!(used(&meter, 2_000), (600 * 10 + 60 * 1_990) * 1_000);
        assert_eq!(used(&meter, 5_000), (600 * 10 + 60 * 1_990 + 5 * 3_000) * 1_000);
        assert_eq!(meter.level_from(), at(2_000));
    }

    #[test]
    fn the_first_command_after_a_pause_waits_for_the_drive_to_wake() {
        for (pause, exit) in [(9, 0), (10, 100), (1_999, 100), (2_000, 20_000), (90_000, 20_000)] {
            let mut meter = EnergyMeter::new(SPEC);
            meter.end(at(1));
            assert_eq!(meter.begin(at(1 + pause)), Nanos::from_micros(exit), "after {pause} ms");
            meter.end(at(2 + pause));
            assert_eq!(meter.begin(at(2 + pause)), Nanos::ZERO, "the second finds it awake");
        }
    }

    #[test]
    fn a_closed_pause_costs_what_it_cost_while_it_lasted() {
        let mut meter = EnergyMeter::new(SPEC);
        for begin in [3_000, 3_005, 3_500, 60_000] {
            let before = used(&meter, begin);
            meter.begin(at(begin));
            assert_eq!(used(&meter, begin), before);
            meter.end(at(begin + 1));
        }
    }

    #[test]
    fn a_power_cut_ends_what_was_in_flight_and_starting_is_work() {
        let mut meter = EnergyMeter::new(SPEC);
        meter.end(at(10));
        meter.restart(at(4), at(3));
        assert_eq!((meter.busy(at(4)), meter.busy(at(20))), (at(4), at(7)));
        meter.restart(at(9), at(1));
        assert_eq!(meter.busy(at(20)), at(8));
        assert_eq!(used(&meter, 20), (600 * 20 + 400 * 8) * 1_000);
    }

    #[test]
    fn work_costs_by_the_piece_whenever_it_is_done() {
        let work = WorkEnergy { pages_read: 3, pages_programmed: 5, blocks_erased: 7, bytes: Bytes::from_kib(4) };
        let cost = EnergyMeter::new(SPEC).energy(Nanos::ZERO, work);
        assert_eq!(cost, Energy::from_nanojoules(3 * 4_000 + 5 * 74_000 + 7 * 165_000 + 4_096 / 2));
    }

    #[test]
    fn a_deep_state_alone_is_reached_from_idle() {
        let sleep = [LowPower::default(), SPEC.sleep[1]];
        let mut meter = EnergyMeter::new(PowerSpec { sleep, ..SPEC });
        assert_eq!(used(&meter, 3_000), (600 * 2_000 + 5 * 1_000) * 1_000);
        assert_eq!(meter.begin(at(3_000)), Nanos::from_millis(20));
    }
}
