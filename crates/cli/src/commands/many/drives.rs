//! The drives of a review, each looked at before the first is touched.

use std::path::Path;

use host::{DeviceInfo, DeviceTopology, HostPart};
use lab::plan::Plan;

use super::super::review::Arguments;
use super::consent::{self, Consenting};
use crate::failure::Failure;
use crate::target;

/// A drive of a review.
#[derive(Clone, Debug)]
pub struct ManyDrive {
    pub target: String,
    /// What it is called for short: its serial number, else the end of its name.
    pub label: String,
    pub is_real: bool,
    /// Whether its data may be lost.
    pub consent: bool,
    pub topology: DeviceTopology,
    /// The run that is continued.
    pub resume: Option<store::RunId>,
    /// The run that it is reviewed like.
    pub like: Option<store::RunId>,
}

impl ManyDrive {
    fn of(target: &str, device: Option<&DeviceInfo>) -> Self {
        let is_real = !target.starts_with("sim:");
        let topology = if is_real { DeviceTopology::of(Path::new(target)) } else { DeviceTopology::default() };
        let short = if is_real { target.rsplit('/').next().unwrap_or(target) } else { target };
        let label = device.and_then(|device| device.serial.clone()).unwrap_or_else(|| short.to_owned());
        Self { target: target.to_owned(), label, is_real, consent: false, topology, resume: None, like: None }
    }

    /// The nearest part of the host that both lie behind; simulated drives share none.
    pub fn shared<'d>(&'d self, other: &Self) -> Option<&'d HostPart> {
        self.topology.shared(&other.topology).filter(|_| self.is_real && other.is_real)
    }
}

/// The drives, none of which is another's and all of which have what was asked for them.
///
/// # Errors
/// Where two are one drive, or consent is not as it must be.
pub fn named(targets: &[String], arguments: &Arguments) -> Result<Vec<ManyDrive>, Failure> {
    let device = |target: &String| {
        let is_real = !target.starts_with("sim:");
        let found = is_real.then(|| lab::Environment::with_target(Path::new(target)));
        found.filter(|found| found.file_system.is_none()).and_then(|found| found.device)
    };
    let devices: Vec<Option<DeviceInfo>> = targets.iter().map(device).collect();
    let mut drives: Vec<ManyDrive> =
        targets.iter().zip(&devices).map(|(target, device)| ManyDrive::of(target, device.as_ref())).collect();
    check_distinct(&drives, &devices)?;
    let real: Vec<usize> = (0..drives.len()).filter(|at| drives[*at].is_real).collect();
    let consenting: Vec<Consenting> =
        real.iter().map(|at| Consenting { target: &targets[*at], device: devices[*at].as_ref() }).collect();
    let consents = consent::given(&consenting, &arguments.real.consents()?)?;
    real.into_iter().zip(consents).for_each(|(at, consent)| drives[at].consent = consent);
    Ok(drives)
}

/// The same, each of which was opened and let go again, with a plan that fits it.
///
/// # Errors
/// Of every drive that cannot be reviewed, why not; none was changed.
pub fn checked(targets: &[String], arguments: &Arguments, plan: &Plan) -> Result<Vec<ManyDrive>, Failure> {
    let drives = named(targets, arguments)?;
    let (mut wrong, mut unconsented) = (Vec::new(), Vec::new());
    for drive in &drives {
        if let Err(failure) = try_out(drive, arguments, plan) {
            if failure.asks_consent() {
                unconsented.push(drive.target.clone());
            }
            wrong.push(format!("{}: {}", drive.target, failure.words(false)));
        }
    }
    if wrong.is_empty() {
        return Ok(drives);
    }
    let told = wrong.join("\n       ");
    if unconsented.is_empty() {
        return Err(Failure::usage(format!("{told}\nNothing was begun.")));
    }
    let environments: Vec<Option<DeviceInfo>> =
        unconsented.iter().map(|target| lab::Environment::with_target(Path::new(target)).device).collect();
    let asked: Vec<Consenting> = unconsented
        .iter()
        .zip(&environments)
        .map(|(target, device)| Consenting { target, device: device.as_ref() })
        .collect();
    Err(Failure::usage(format!(
        "{told}\nNothing was begun. To lose the data of these drives add:\n  {}",
        consent::line(&asked)
    )))
}

/// Opens the drive as its review will, checks that the plan fits, and leaves it as it was.
fn try_out(drive: &ManyDrive, arguments: &Arguments, plan: &Plan) -> Result<(), Failure> {
    let real = arguments.real.consenting(drive.consent.then(|| drive.target.clone().into()));
    let mut opened = target::open(&drive.target, &real, plan.changes_data(), true)?;
    opened.check(plan)?;
    opened.subject.withdraw().map_err(Failure::failed)
}

/// Refuses two names of one drive: two paths to it, or a drive and a part of it.
fn check_distinct(drives: &[ManyDrive], devices: &[Option<DeviceInfo>]) -> Result<(), Failure> {
    for (at, one) in drives.iter().enumerate().filter(|(_, drive)| drive.is_real) {
        for (other_at, other) in drives.iter().enumerate().take(at).filter(|(_, drive)| drive.is_real) {
            let (path, other_path) = (Path::new(&one.target), Path::new(&other.target));
            let is_same = target::leads_to_same(path, other_path) || is_same_file(path, other_path);
            let why = match (&devices[at], &devices[other_at]) {
                _ if is_same => "are one and the same",
                (Some(device), Some(known))
                    if device.wwid.is_some() && device.wwid == known.wwid && device.partition == known.partition =>
                {
                    "have one world-wide name: they are two paths to one drive"
                }
                (Some(device), Some(known))
                    if device.name == known.name && (device.partition.is_none() || known.partition.is_none()) =>
                {
                    "are a drive and a part of it"
                }
                _ => continue,
            };
            return Err(Failure::usage(format!("{} and {} {why}; name one of them", other.target, one.target)));
        }
    }
    Ok(())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
