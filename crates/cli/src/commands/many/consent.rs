//! Whose data may be lost: of each drive only by its own name, path or serial number.

use std::path::{Path, PathBuf};

use host::DeviceInfo;

use crate::failure::Failure;
use crate::target;

/// A real drive, as far as consent goes by it.
#[derive(Clone, Debug)]
pub struct Consenting<'d> {
    /// What it was asked for as.
    pub target: &'d str,
    /// None of files.
    pub device: Option<&'d DeviceInfo>,
}

/// Whether the data of each drive may be lost, by what was named.
///
/// # Errors
/// If a name is none of them or of several, or nothing was named at all.
pub fn given(drives: &[Consenting], named: &[PathBuf]) -> Result<Vec<bool>, Failure> {
    let mut consents = vec![false; drives.len()];
    for name in named {
        if target::is_bare(name) {
            return Err(Failure::usage(format!(
                "--destroy-data names no drive; each is named by its serial number or its path. To lose the data of all {} type:\n  {}",
                drives.iter().filter(|drive| drive.device.is_some()).count(),
                line(drives)
            )));
        }
        let is_meant = |drive: &Consenting| is_named(drive, name);
        let meant: Vec<usize> = (0..drives.len()).filter(|at| is_meant(&drives[*at])).collect();
        match meant[..] {
            [one] => consents[one] = true,
            [] => {
                return Err(Failure::usage(format!(
                    "--destroy-data names {}, which is none of the targets; they are {}",
                    name.display(),
                    drives.iter().map(told).collect::<Vec<_>>().join(", ")
                )));
            }
            _ => {
                let all: Vec<&str> = meant.iter().map(|at| drives[*at].target).collect();
                return Err(Failure::usage(format!(
                    "--destroy-data names {}, which is the serial number of several targets: {}; name each by its path",
                    name.display(),
                    all.join(", ")
                )));
            }
        }
    }
    Ok(consents)
}

/// The option by which the data of these drives may be lost.
pub fn line(drives: &[Consenting]) -> String {
    let devices: Vec<&Consenting> = drives.iter().filter(|drive| drive.device.is_some()).collect();
    let serial = |drive: &Consenting| drive.device.and_then(|device| device.serial.clone());
    let is_plain = |serial: &String| serial.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let name = |drive: &&Consenting| {
        let own = serial(drive).filter(is_plain);
        let is_shared = devices.iter().filter(|other| serial(other) == own).count() > 1;
        own.filter(|_| !is_shared).unwrap_or_else(|| drive.target.to_owned())
    };
    format!("--destroy-data={}", devices.iter().map(name).collect::<Vec<_>>().join(","))
}

fn is_named(drive: &Consenting, name: &Path) -> bool {
    target::leads_to_same(name, Path::new(drive.target))
        || drive.device.is_some_and(|device| target::is_called(device, name))
}

/// `/dev/nvme0n1 (S/N S1)`.
fn told(drive: &Consenting) -> String {
    match drive.device.and_then(|device| device.serial.as_ref()) {
        Some(serial) => format!("{} (S/N {serial})", drive.target),
        None => drive.target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(serial: &str, wwid: &str) -> DeviceInfo {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        DeviceInfo { serial: some(serial), wwid: some(wwid), ..DeviceInfo::default() }
    }

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn each_drive_is_consented_to_by_its_own_name() {
        let infos =
            [device("S1", "eui.1"), device("S2", "eui.2"), device("S2", "eui.3"), device("", "naa.5000c500a1b2c3d4")];
        let targets = ["/dev/nowhere0", "/dev/nowhere1", "/dev/nowhere2", "/dev/nowhere3"];
        let mut drives: Vec<Consenting> =
            targets.iter().zip(&infos).map(|(target, device)| Consenting { target, device: Some(device) }).collect();
        drives.push(Consenting { target: "./file", device: None });
        let consents = |names: &[&str]| given(&drives, &paths(names)).map_err(|failure| failure.words(false));
        assert_eq!(consents(&[]).unwrap(), [false; 5]);
        assert_eq!(consents(&["S1", "/dev/nowhere3"]).unwrap(), [true, false, false, true, false]);
        assert_eq!(consents(&["0x5000c500a1b2c3d4"]).unwrap(), [false, false, false, true, false], "as lsblk has it");
        assert_eq!(consents(&["eui.2"]).unwrap(), [false, true, false, false, false]);
        let none = consents(&["S1", "S9"]).unwrap_err();
        assert!(
            none.contains("names S9, which is none of the targets") && none.contains("/dev/nowhere0 (S/N S1)"),
            "{none}"
        );
        assert!(consents(&["S2"]).unwrap_err().contains("of several targets: /dev/nowhere1, /dev/nowhere2"));
        let bare = consents(&["."]).unwrap_err();
        assert!(bare.ends_with("\n  --destroy-data=S1,/dev/nowhere1,/dev/nowhere2,/dev/nowhere3"), "{bare}");
    }
}
