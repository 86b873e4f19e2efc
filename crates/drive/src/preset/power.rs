//! The tables of a drive's file that say what it consumes and how warm it gets.

use block::{Nanos, Power};

use super::error::{PresetError, require};
use super::fields::table;
use super::units::{self, percent};
use crate::energy::{LowPower, PowerSpec};
use crate::thermal::{STEP, ThermalSpec, Throttle};

table!(pub(crate) PowerTable {
    /// Awake and waiting
    idle: units::Power = default,
    /// Beside that, while any command is in flight
    active: units::Power = default,
    /// For each page that is read from flash, those of collection too
    page_read: units::Energy = default,
    /// For each page that is programmed
    page_program: units::Energy = default,
    /// For each block that is erased
    block_erase: units::Energy = default,
    /// For each byte on the link
    byte_sent: units::Energy = default,
    /// Asleep (SATA slumber, NVMe PS3); with `light_after` and `light_exit`
    light: Option<units::Power>,
    /// Time without a command until that begins
    light_after: Option<units::Duration>,
    /// Time to wake
    light_exit: Option<units::Duration>,
    /// Asleep deeply (DevSleep, NVMe PS4); with `deep_after` and `deep_exit`
    deep: Option<units::Power>,
    /// Time without a command until that begins, more than `light_after`
    deep_after: Option<units::Duration>,
    /// Time to wake
    deep_exit: Option<units::Duration>,
    /// Power-loss protection: whether what is in the write buffer reaches flash when power is cut
    capacitor: bool = default,
    /// Time from power to the first command; 0 if left out
    boot: Option<units::Duration>,
});

table!(pub(crate) ThermalTable {
    /// The air around it
    ambient: units::Temperature,
    /// From the drive to the air
    resistance: units::ThermalResistance,
    /// The drive's. Its product with `resistance`, the time to warm up, is at least a second
    heat_capacity: units::HeatCapacity,
    /// Where it slows down
    warm: units::Temperature,
    /// How long everything takes then, 100% to 10000%
    warm_pace: units::Share,
    /// Where it slows down more
    hot: units::Temperature,
    /// How long everything takes then
    hot_pace: units::Share,
    /// How far it must cool below before it speeds up again
    hysteresis: units::Temperature,
});

impl PowerTable {
    /// What it says.
    ///
    /// # Errors
    /// If a state of sleep lacks a part or the deeper one begins first.
    pub fn spec(&self) -> Result<PowerSpec, PresetError> {
        let light = sleep("light", self.light, self.light_after, self.light_exit)?;
        let deep = sleep("deep", self.deep, self.deep_after, self.deep_exit)?;
        require(
            self.light.is_none() || self.deep.is_none() || light.after < deep.after,
            || format!("power.light_after is {}, power.deep_after {}", light.after, deep.after),
            "the lighter sleep state must begin first",
        )?;
        // From the lightest on, each that there is.
        let powers = [Some(self.idle), self.light, self.deep];
        require(
            powers.iter().flatten().rev().is_sorted(),
            || format!("power.idle is {}, and a state of sleep takes more than it, or the deeper one more", self.idle),
            "idle ≥ light ≥ deep",
        )?;
        Ok(PowerSpec {
            idle: self.idle,
            active: self.active,
            read: self.page_read,
            program: self.page_program,
            erase: self.block_erase,
            byte: self.byte_sent,
            sleep: [light, deep],
            capacitor: self.capacitor,
            boot: self.boot.unwrap_or_default(),
        })
    }
}

/// A state of sleep, or one that never begins if the table has none of it.
fn sleep(name: &str, power: Option<Power>, after: Option<Nanos>, exit: Option<Nanos>) -> Result<LowPower, PresetError> {
    match (power, after, exit) {
        (Some(power), Some(after), Some(exit)) => Ok(LowPower { after, power, exit }),
        (None, None, None) => Ok(LowPower::default()),
        _ => Err(PresetError::Numbers {
            found: format!("power has only some of {name}, {name}_after and {name}_exit"),
            right: "a sleep state needs its power, its idle time and its exit latency",
        }),
    }
}

impl ThermalTable {
    /// What it says.
    ///
    /// # Errors
    /// If it warms up too fast to be followed, or its paces are not in order.
    pub fn spec(&self) -> Result<ThermalSpec, PresetError> {
        let product = u128::from(self.resistance) * u128::from(self.heat_capacity);
        let steps = product / u128::from(STEP.as_nanos() / 1_000);
        require(
            (10..=u128::from(u32::MAX)).contains(&steps),
            || format!("thermal.resistance times thermal.heat_capacity is {} s", steps as f64 / 10.0),
            "it is the thermal time constant, from a second to some years",
        )?;
        require(
            self.ambient < self.warm && self.warm <= self.hot,
            || format!("thermal has ambient {}, warm {} and hot {}", self.ambient, self.warm, self.hot),
            "ambient < warm ≤ hot",
        )?;
        let whole_percent = |pace: u64| pace.is_multiple_of(10_000) && (100..=10_000).contains(&(pace / 10_000));
        require(
            whole_percent(self.warm_pace) && whole_percent(self.hot_pace) && self.warm_pace <= self.hot_pace,
            || format!("thermal.warm_pace is {}, hot_pace {}", percent(self.warm_pace), percent(self.hot_pace)),
            "100% ≤ warm_pace ≤ hot_pace ≤ 10000%, in whole percent of the time that everything takes when cool",
        )?;
        let throttle = |at, pace: u64| Throttle { at, pace: (pace / 10_000) as u32 };
        Ok(ThermalSpec {
            ambient: self.ambient,
            resistance: self.resistance,
            capacity: self.heat_capacity,
            throttle: [throttle(self.warm, self.warm_pace), throttle(self.hot, self.hot_pace)],
            hysteresis: self.hysteresis,
        })
    }
}
