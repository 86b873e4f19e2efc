//! A drive of a fleet: who it is, and what its run gave.

use drive::preset::{DriveName, original_title};
use host::Environment;
use measurement::Run;

use crate::compare::{Compared, ContrastSide, KeyPlace, places};
use crate::gate::{Gate, GateQuestion};
use crate::{Finding, Outcome};

/// What a run gave of a drive, as far as a fleet needs it.
#[derive(Clone, Debug)]
pub struct FleetDrive {
    pub run: Run,
    pub identity: DriveIdentity,
    /// Its key figures, in the order of the summary.
    pub readings: Vec<FleetReading>,
    /// What came of the limits that it was held to; none where there were none.
    pub gate: Option<Gate>,
    /// Doubts about the run.
    pub findings: Vec<Finding>,
}

/// A key figure of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetReading {
    /// What people call it.
    pub title: String,
    pub unit: String,
    pub more_is_better: bool,
    /// What the repeats gave.
    pub side: ContrastSide,
}

/// Which drive it is. Its name in /dev is not part of that: it changes with the order in which drives are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveIdentity {
    /// The world-wide name; none where the kernel knows none, and of simulated drives.
    pub wwid: Option<String>,
    pub serial: Option<String>,
    /// Where it is plugged in.
    pub slot: Option<String>,
    pub firmware: Option<String>,
    /// Model and capacity.
    pub model: String,
    /// What it ran on, as it was asked for.
    pub target: String,
    pub host: Option<String>,
}

impl FleetDrive {
    /// Of a run with its key figures. It is held to what the `questions` ask, unless they are none.
    pub fn of(outcome: &Outcome, key: &[KeyPlace], questions: Option<Vec<GateQuestion>>) -> Self {
        let reading = |key: &KeyPlace| {
            let Compared { unit, more_is_better, .. } = Compared::by(key.metric);
            Some(FleetReading { title: key.title.clone(), unit, more_is_better, side: Self::side(outcome, key)? })
        };
        Self {
            identity: DriveIdentity::of(outcome),
            readings: key.iter().filter_map(reading).collect(),
            gate: questions.map(|questions| Gate::of(questions, Vec::new())),
            findings: outcome.findings.clone(),
            run: outcome.run.clone(),
        }
    }

    /// What the repeats of a key figure gave; none where it was not measured.
    pub fn side(outcome: &Outcome, key: &KeyPlace) -> Option<ContrastSide> {
        let mut found = places(outcome).filter(|place| place.name == key.step && place.measured.key() == key.cell);
        found.next().and_then(|place| Compared::by(key.metric).side(place.measured))
    }
}

impl DriveIdentity {
    /// Of the drive that a run was on: a device's own, a simulated drive's own, or the name of a file.
    pub fn of(outcome: &Outcome) -> Self {
        let run = &outcome.run;
        let place: Environment = serde_json::from_str(&run.environment).unwrap_or_default();
        // A file is no drive: what holds it holds others too.
        let device = place.device.filter(|_| place.file_system.is_none() && !run.target.starts_with("sim:"));
        let named = Self { target: run.target.clone(), host: place.hostname, ..Self::default() };
        match (device, &outcome.drive) {
            (Some(device), _) => {
                let capacity = device.capacity.map(|capacity| capacity.to_string());
                let model: Vec<String> = device.model.into_iter().chain(capacity).chain(device.partition).collect();
                Self {
                    wwid: device.wwid,
                    serial: device.serial,
                    slot: device.slot,
                    firmware: device.firmware,
                    model: if model.is_empty() { run.target_identity.clone() } else { model.join(", ") },
                    ..named
                }
            }
            (None, Some(drive)) => Self {
                serial: Some(drive.serial.clone()),
                firmware: Some(drive.firmware.clone()),
                // A drive of other parts is still held against those that it was to be like.
                model: original_title(&run.target_identity).to_owned(),
                ..named
            },
            (None, None) => Self { model: run.target_identity.clone(), ..named },
        }
    }

    /// What it is called for short: its serial number, else its name.
    pub fn label(&self) -> &str {
        self.serial.as_deref().unwrap_or(&self.target)
    }

    /// Whether both are one drive: of one world-wide name, of one serial number and model, or where neither is known of one
    /// name on one host.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.wwid, &other.wwid, &self.serial, &other.serial) {
            (Some(one), Some(two), ..) => one == two && self.model == other.model,
            (_, _, Some(one), Some(two)) => one == two && self.model == other.model,
            (_, _, None, None) => self.target == other.target && self.host == other.host,
            _ => false,
        }
    }

    /// By what drives are listed: host, slot, name; numbers in them by their size.
    pub(super) fn order(&self) -> Vec<(String, u64)> {
        // The first specimen has no number in its name.
        let named = |name: DriveName| format!("{}#{}?{}", name.base, name.specimen, name.changes);
        let simulated = self.target.strip_prefix("sim:").and_then(|name| DriveName::read(name).ok()).map(named);
        let words = [&self.host, &self.slot, &Some(simulated.unwrap_or_else(|| self.target.clone()))];
        words.into_iter().flat_map(|word| natural(word.as_deref().unwrap_or_default())).collect()
    }
}

/// A text as words and the numbers behind them, so that slot 10 comes after slot 9.
fn natural(text: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (word, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        parts.push((word.to_owned(), number[..end].parse().unwrap_or(u64::MAX)));
        rest = &number[end..];
    }
    parts.push((rest.to_owned(), 0));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_in_the_order_of_their_numbers() {
        let mut slots = ["bay 10", "bay 9", "bay 9b", "", "bay 2"].map(natural);
        slots.sort();
        assert_eq!(slots, ["", "bay 2", "bay 9", "bay 9b", "bay 10"].map(natural));
        assert_eq!(natural("99999999999999999999"), [(String::new(), u64::MAX), (String::new(), 0)]);
    }

    #[test]
    fn specimens_are_in_the_order_of_their_numbers() {
        let order = |target: &str| DriveIdentity { target: target.to_owned(), ..DriveIdentity::default() }.order();
        let mut targets = ["sim:a#10?x=1", "sim:a#2?x=1", "sim:a?x=1", "/dev/sdb"];
        targets.sort_by_key(|target| order(target));
        assert_eq!(targets, ["/dev/sdb", "sim:a?x=1", "sim:a#2?x=1", "sim:a#10?x=1"]);
    }

    #[test]
    fn a_drive_is_itself_under_another_name_and_no_other_under_its_own() {
        let some = |text: &str| Some(text.to_owned());
        let drive = DriveIdentity {
            wwid: some("eui.1"),
            serial: some("S1"),
            model: "M".to_owned(),
            target: "/dev/nvme0n1".to_owned(),
            host: some("a"),
            ..DriveIdentity::default()
        };
        let moved = DriveIdentity { target: "/dev/nvme7n1".to_owned(), host: some("b"), ..drive.clone() };
        assert!(drive.is_same(&moved));
        assert!(!drive.is_same(&DriveIdentity { wwid: some("eui.2"), ..drive.clone() }), "another namespace");
        assert!(!drive.is_same(&DriveIdentity { model: "M, partition 1".to_owned(), ..drive.clone() }));
        let nameless = DriveIdentity { wwid: None, serial: None, ..drive.clone() };
        assert!(nameless.is_same(&nameless.clone()) && !nameless.is_same(&drive));
        assert!(!nameless.is_same(&DriveIdentity { target: "/dev/vdb".to_owned(), ..nameless.clone() }));
    }
}
