//! The health of a real drive, as smartctl reads it.

use std::time::Duration;

use super::HealthReading;
use super::parse::{of_nvme_cli, of_smartctl};
use crate::{DeviceInfo, Environment, ProgramError, RUNTIME_FOLDER, Tools};

/// A drive that sleeps takes some seconds to answer; one that takes this long does not.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at the drive beneath a target: with `smartctl --json -x`, which only reads; an NVMe drive where there is no smartctl
/// with `nvme smart-log`.
pub fn of_device(environment: &Environment) -> HealthReading {
    match drive(environment) {
        Ok(device) => read(device, &Tools::of_system()),
        Err(why) => HealthReading::Missing(why),
    }
}

/// The drive that has a health of its own; otherwise why there is none.
pub(super) fn drive(environment: &Environment) -> Result<&DeviceInfo, String> {
    let Some(device) = &environment.device else {
        return Err("no underlying block device of the target is known, so no health can be read".to_owned());
    };
    if device.transport.as_deref() == Some("virtual") {
        return Err(of_virtual(device));
    }
    Ok(device)
}

/// Why a virtual device has no health, and whose health there is instead.
fn of_virtual(device: &DeviceInfo) -> String {
    let name = &device.name;
    let instead = match device.made_of.as_deref() {
        // The file that `assay attach` mounts under a loop device, which takes root.
        Some(file) if file.strip_prefix(RUNTIME_FOLDER).is_some_and(|file| file.starts_with("/drive-")) => {
            return format!("{name} is an attached simulated drive, whose health root can read: run it as root");
        }
        Some(made_of) => {
            format!(
                " (built on {made_of}) and has no health of its own; read that of its underlying drives with `smartctl -x`"
            )
        }
        None => " and has no health of its own; of a simulated drive behind a socket, name the socket: `assay health \
                 SOCKET` (`assay attached` lists them)"
            .to_owned(),
    };
    format!("{name} is a virtual device of the kernel{instead}")
}

/// Reads the health of a drive with these programs.
pub(super) fn read(device: &DeviceInfo, tools: &Tools) -> HealthReading {
    let path = format!("/dev/{}", device.name);
    let is_nvme = device.transport.as_deref() == Some("NVMe");
    match tools.run("smartctl", &["--json", "-x", &path], PATIENCE) {
        Ok(ended) => of_smartctl(&ended.stdout, &path),
        Err(ProgramError::Missing { .. }) if is_nvme && tools.has("nvme") => {
            match tools.run("nvme", &["smart-log", &path, "--output-format=json"], PATIENCE) {
                Ok(ended) if ended.code == Some(0) => of_nvme_cli(&ended.stdout, &path),
                Ok(ended) => HealthReading::Missing(format!("`nvme smart-log {path}` said: {}", ended.last_words())),
                Err(error) => HealthReading::Missing(format!("the health of {path} was not read: {error}")),
            }
        }
        Err(error) => HealthReading::Missing(format!("the health of {path} was not read: {error}")),
    }
}
