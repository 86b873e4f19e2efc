//! How warm a drive gets, and how it slows down so as not to get too hot.

use block::{Energy, Nanos, Temperature};
use serde::{Deserialize, Serialize};

/// How often temperature is worked out: often enough beside the minutes that a drive takes to warm up,
/// seldom enough to cost nothing beside its requests.
pub const STEP: Nanos = Nanos::from_millis(100);

/// A drive as one lump of material that heats evenly and loses heat to the air around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalSpec {
    /// The air around it.
    pub ambient: Temperature,
    /// How much warmer than the air it stays for each watt, in thousandths of a kelvin a watt.
    pub resistance: u64,
    /// The heat that warms it by a degree, in thousandths of a joule a kelvin.
    pub capacity: u64,
    /// The slower paces it falls into as it gets hotter, the lightest first.
    pub throttle: [Throttle; 2],
    /// How far it must cool below where a pace begins before it leaves it.
    pub hysteresis: Temperature,
}

/// A slower pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttle {
    /// The temperature at which it begins.
    pub at: Temperature,
    /// How long everything takes then, in percent of what it takes at full pace.
    pub pace: u32,
}

/// A pace that never begins.
impl Default for Throttle {
    fn default() -> Self {
        Self { at: Temperature::from_microdegrees(u64::MAX), pace: 100 }
    }
}

/// How warm a drive is.
///
/// In each `STEP` it gains the energy that was used, and loses heat in proportion to how much warmer than
/// the air it was: explicit Euler on `C dT/dt = P - T / R`. All in whole picokelvin, so rounding stays below
/// a millionth of a degree for ever and a constant power settles at exactly `P R`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Thermal {
    spec: ThermalSpec,
    /// How much warmer than the air it is, in picokelvin.
    above: u64,
    above_max: u64,
    /// All energy used up to the end of the last step.
    used: Energy,
    /// When the next step ends.
    next: Nanos,
    /// How many of the paces have begun.
    level: usize,
    throttled: Nanos,
}

impl Thermal {
    /// A drive as warm as the air around it.
    pub fn new(spec: ThermalSpec) -> Self {
        Self { spec, above: 0, above_max: 0, used: Energy::ZERO, next: STEP, level: 0, throttled: Nanos::ZERO }
    }

    /// Whether a step has ended by `now`.
    #[inline]
    pub fn is_due(&self, now: Nanos) -> bool {
        now >= self.next
    }

    /// Goes through the steps that have ended by `now`. `used` says how much energy was used up to any moment
    /// in them; from `level_from` on it grows evenly. Whether the pace has changed.
    pub fn advance(&mut self, now: Nanos, level_from: Nanos, used: impl Fn(Nanos) -> Energy) -> bool {
        let level = self.level;
        while self.next <= now {
            let (begin, before) = (self.next - STEP, self.above);
            let total = used(self.next);
            self.step(total - self.used);
            self.used = total;
            self.next += STEP;
            if begin >= level_from && self.above == before && self.level_for(before) == self.level {
                self.skip(now, &used);
            }
        }
        self.level != level
    }

    /// Leaves out of account energy that was used in no time.
    pub fn pass_over(&mut self, energy: Energy) {
        self.used = self.used + energy;
    }

    /// How long everything takes, in percent of what it takes at full pace.
    pub fn pace(&self) -> u32 {
        if self.level == 0 { 100 } else { self.spec.throttle[self.level - 1].pace }
    }

    /// How warm the drive is.
    pub fn temperature(&self) -> Temperature {
        self.reading(self.above)
    }

    /// How warm it was at most.
    pub fn temperature_max(&self) -> Temperature {
        self.reading(self.above_max)
    }

    /// For how long it went at a slower pace.
    pub fn throttled(&self) -> Nanos {
        self.throttled
    }

    fn step(&mut self, gained: Energy) {
        if self.level > 0 {
            self.throttled += STEP;
        }
        // Femtojoules a thousandth of a joule a kelvin are picokelvin; a thousandth of a kelvin a watt times a
        // thousandth of a joule a kelvin is a microsecond.
        let gain = gained.as_femtojoules() / u128::from(self.spec.capacity);
        let time_constant = u128::from(self.spec.resistance) * u128::from(self.spec.capacity);
        let step = u128::from(STEP.as_nanos() / 1_000);
        let loss = u128::from(self.above) * step / time_constant;
        self.above = (u128::from(self.above) + gain - loss) as u64;
        self.above_max = self.above_max.max(self.above);
        self.level = self.level_for(self.above);
    }

    /// The pace for a temperature: a pace begins where it says and ends only some way below that.
    fn level_for(&self, above: u64) -> usize {
        let warm = self.reading(above).as_microdegrees();
        let begun = self.spec.throttle.iter().take_while(|throttle| warm >= throttle.at.as_microdegrees()).count();
        let hysteresis = self.spec.hysteresis.as_microdegrees();
        let kept = |throttle: &&Throttle| warm.saturating_add(hysteresis) >= throttle.at.as_microdegrees();
        begun.max(self.spec.throttle[..self.level].iter().take_while(kept).count())
    }

    /// Passes over the steps up to `now` in which nothing changes.
    fn skip(&mut self, now: Nanos, used: impl Fn(Nanos) -> Energy) {
        let steps = now.since(self.next).as_nanos() / STEP.as_nanos();
        if self.level > 0 {
            self.throttled += STEP.times(steps);
        }
        self.next += STEP.times(steps);
        self.used = used(self.next - STEP);
    }

    fn reading(&self, above: u64) -> Temperature {
        Temperature::from_microdegrees(self.spec.ambient.as_microdegrees() + above / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use block::Power;

    use super::*;

    /// 10 K/W and 20 J/K: it warms up in some 200 s.
    const SPEC: ThermalSpec = ThermalSpec {
        ambient: Temperature::from_celsius(30),
        resistance: 10_000,
        capacity: 20_000,
        throttle: [
            Throttle { at: Temperature::from_celsius(60), pace: 150 },
            Throttle { at: Temperature::from_celsius(70), pace: 400 },
        ],
        hysteresis: Temperature::from_celsius(3),
    };

    /// What a constant power has used up to any moment.
    fn constant(milliwatts: u64) -> impl Fn(Nanos) -> Energy {
        move |at| Power::from_milliwatts(milliwatts).over(at)
    }

    #[test]
    fn a_constant_power_settles_at_power_times_resistance() {
        let mut thermal = Thermal::new(SPEC);
        thermal.advance(Nanos::from_secs(200), Nanos::MAX, constant(2_000));
        let share = (thermal.temperature().as_microdegrees() - 30_000_000) as f64 / 20_000_000.0;
        let expected = 1.0 - (-1.0_f64).exp();
        assert!((share - expected).abs() < 0.001, "after one time constant {share}, not {expected}");
        thermal.advance(Nanos::from_secs(20_000), Nanos::MAX, constant(2_000));
        assert_eq!(thermal.temperature(), Temperature::from_celsius(50));
        assert_eq!(thermal.temperature_max(), Temperature::from_celsius(50));
        assert_eq!((thermal.pace(), thermal.throttled()), (100, Nanos::ZERO));
    }

    #[test]
    fn the_first_step_warms_by_energy_over_capacity() {
        let mut thermal = Thermal::new(SPEC);
        assert!(!thermal.is_due(STEP - Nanos::from_nanos(1)) && thermal.is_due(STEP));
        thermal.advance(STEP, Nanos::MAX, constant(2_000));
        // 2 W for 0.1 s into 20 J/K.
        assert_eq!(thermal.temperature(), Temperature::from_microdegrees(30_010_000));
        thermal.advance(STEP.times(2), Nanos::MAX, constant(2_000));
        // The same again, less 10 mK / 200 s for 0.1 s.
        assert_eq!(thermal.temperature(), Temperature::from_microdegrees(30_020_000 - 5));
    }

    #[test]
    fn paces_begin_where_they_say_and_end_below() {
        let mut thermal = Thermal::new(SPEC);
        let mut now = Nanos::ZERO;
        let mut used = Energy::ZERO;
        let mut seen = Vec::new();
        for milliwatts in [5_000, 0] {
            for _ in 0..6_000 {
                let before = thermal.temperature();
                now += STEP;
                used = used + Power::from_milliwatts(milliwatts).over(STEP);
                if thermal.advance(now, Nanos::MAX, |_| used) {
                    seen.push((thermal.pace(), before.as_celsius(), thermal.temperature().as_celsius()));
                }
            }
        }
        assert_eq!(seen, [(150, 59, 60), (400, 69, 70), (150, 67, 66), (100, 57, 56)]);
        assert!(thermal.throttled() > Nanos::from_secs(100), "{}", thermal.throttled());
    }

    #[test]
    fn it_does_not_matter_how_often_it_is_asked() {
        let run = |every: Nanos| {
            let mut thermal = Thermal::new(SPEC);
            let mut now = Nanos::ZERO;
            while now < Nanos::from_secs(4_000) {
                now += every;
                // Two hundred seconds at 4.5 W, the rest at 0.5 W.
                let busy = Nanos::from_secs(200);
                let used =
                    |at: Nanos| Power::from_milliwatts(500).over(at) + Power::from_milliwatts(4_000).over(at.min(busy));
                thermal.advance(now, busy, used);
            }
            (thermal.above, thermal.above_max, thermal.used, thermal.next, thermal.throttled)
        };
        let often = run(Nanos::from_millis(50));
        assert_eq!(often, run(Nanos::from_secs(8)));
        assert_eq!(often, run(Nanos::from_secs(4_000)));
    }

    #[test]
    fn a_long_rest_at_an_even_temperature_is_passed_over() {
        let mut thermal = Thermal::new(SPEC);
        let century = Nanos::from_secs(3_155_760_000);
        thermal.advance(century, Nanos::ZERO, constant(3_000));
        assert_eq!(thermal.temperature(), Temperature::from_celsius(60));
        assert!(thermal.is_due(century + STEP) && !thermal.is_due(century));
        assert_eq!(thermal.used, constant(3_000)(thermal.next - STEP));
    }
}
