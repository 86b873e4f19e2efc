//! The health of a real drive, as smartctl reads it.

use std::time::Duration;

use super::HealthReading;
use super::parse::of_smartctl;
use crate::{Environment, Tools};

/// A drive that sleeps takes some seconds to answer; one that takes this long does not.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at the drive beneath a target: with `smartctl --json -x`, which only reads.
pub fn of_device(environment: &Environment) -> HealthReading {
    let Some(device) = &environment.device else {
        return HealthReading::Missing(
            "no underlying block device of the target is known, so no health can be read".to_owned(),
        );
    };
    if device.transport.as_deref() == Some("virtual") {
        let made_of = device.made_of.as_ref().map_or_else(String::new, |made_of| format!(" (built on {made_of})"));
        return HealthReading::Missing(format!(
            "{} is a virtual device of the kernel{made_of} and has no health of its own; read that of its underlying \
             drives with `smartctl -x`",
            device.name
        ));
    }
    let path = format!("/dev/{}", device.name);
    match Tools::of_system().run("smartctl", &["--json", "-x", &path], PATIENCE) {
        Ok(ended) => of_smartctl(&ended.stdout, &path),
        Err(error) => HealthReading::Missing(format!("the health of {path} was not read: {error}")),
    }
}
