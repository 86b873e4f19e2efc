//! What the user named to be put to the proof.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use block::{Bytes, Endurance, Nanos, parse_bytes, parse_duration};
use clap::ValueEnum;
use drive::preset::{DriveName, Preset};
use engine::{Access, Batch, IoEngine, OnError, Submission, Target, TargetError};
use lab::forecast::{Pace, Place, RatedEndurance};
use lab::plan::Plan;
use lab::{Checked, DeviceInfo, Environment, Real, Simulated, Subject};
use trial::Cleanup;

use crate::failure::Failure;
use crate::interruption;
use crate::number;
use crate::terminal::notice;

/// The highest number of a processor that the kernel's sets hold.
const CPU_MAX: usize = 1023;

/// The target of a review where none is named.
pub const DEFAULT: &str = "sim:x25-m";

/// The options by which a real target may be used.
#[derive(Clone, Debug, clap::Args)]
pub struct RealOptions {
    /// Size of the file or device to use: 2GiB, 512m; required for a new file
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub size: Option<Bytes>,

    /// Bypass the page cache (1) or not (0) [default: 1, or what a job file says]
    #[arg(long, value_name = "0|1", value_parser = number::switch)]
    pub direct: Option<u8>,

    /// Drop the target's page cache before each run (1) or not (0); matters with --direct=0
    #[arg(long, value_name = "0|1", default_value_t = 1, value_parser = number::switch)]
    pub invalidate: u8,

    /// I/O engine: io_uring, NVMe commands to a character device such as /dev/ng0n1 (io_uring_cmd), or threads with pread
    /// and pwrite (psync)
    #[arg(long, value_name = "io_uring|io_uring_cmd|psync", default_value = "io_uring")]
    pub ioengine: IoEngine,

    /// Poll for completions instead of using interrupts; needs O_DIRECT and a device with poll queues
    #[arg(long, value_name = "0|1", num_args = 0..=1, default_missing_value = "1", default_value_t = 0, value_parser = number::switch)]
    pub hipri: u8,

    /// Submission queue polling by a kernel thread (SQPOLL); takes a whole core
    #[arg(long = "sqthread_poll", visible_alias = "sqthread-poll", value_name = "0|1", num_args = 0..=1, default_missing_value = "1", default_value_t = 0, value_parser = number::switch)]
    pub sqthread_poll: u8,

    /// Maximum number of requests per submission [default: 4, or all if they complete at once, as from the page cache]
    #[arg(long = "iodepth_batch", visible_aliases = ["iodepth-batch", "iodepth_batch_submit"], value_name = "N", value_parser = number::within::<u32>(1..=65_536))]
    pub iodepth_batch: Option<u32>,

    /// Minimum number of completions to wait for; more than 1 delays completions
    #[arg(long = "iodepth_batch_complete_min", visible_aliases = ["iodepth-batch-complete-min", "iodepth_batch_complete"], value_name = "N", default_value_t = 1, value_parser = number::within::<u32>(1..=65_536))]
    pub iodepth_batch_complete_min: u32,

    /// Maximum number of completions to reap at a time [default: all that are available]
    #[arg(long = "iodepth_batch_complete_max", visible_alias = "iodepth-batch-complete-max", value_name = "N", value_parser = number::within::<u32>(1..=65_536))]
    pub iodepth_batch_complete_max: Option<u32>,

    /// Timeout for requests in flight at the end of a run: after this long without a completion it ends without them
    #[arg(long = "io-timeout", value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub io_timeout: Nanos,

    /// CPUs that workers may use: 0-3,6
    #[arg(long = "cpus_allowed", visible_alias = "cpus-allowed", value_name = "LIST", value_parser = cpus)]
    pub cpus_allowed: Option<Cpus>,

    /// Whether workers share these CPUs or get one each, in turn
    #[arg(long = "cpus_allowed_policy", visible_alias = "cpus-allowed-policy", value_enum, default_value_t = CpuPolicy::Shared)]
    pub cpus_allowed_policy: CpuPolicy,

    /// Stop the run at the first failed request (stop), or count failures and continue (count)
    #[arg(long = "on-error", visible_alias = "on_error", value_name = "stop|count", default_value = "stop")]
    pub on_error: OnError,

    /// Use an existing file that assay did not create; its contents are lost
    #[arg(long)]
    pub overwrite: bool,

    /// Use a block device that holds data, which is lost; name the device again by its path, serial number or world-wide
    /// name, several joined by commas or a line each in @FILE
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    pub destroy_data: Vec<PathBuf>,

    /// Whether a run goes on that may have been killed while it wrote.
    #[arg(skip)]
    pub resume: bool,

    /// What ends a run when it is set, where a program that has assay within itself sees to Ctrl-C.
    #[arg(skip)]
    pub stop: Option<Arc<AtomicBool>>,
}

/// The numbers of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(Vec<usize>);

impl Cpus {
    /// These.
    pub fn of(cpus: &[u32]) -> Self {
        Self(cpus.iter().map(|cpu| *cpu as usize).collect())
    }

    /// Whether it is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&(cpu as usize))
    }
}

/// How workers use the processors that they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CpuPolicy {
    /// Every worker may use all of them
    Shared,
    /// Each worker uses one
    Split,
}

/// The processors of a list as fio and the kernel write it: single ones and ranges.
pub fn cpus(text: &str) -> Result<Cpus, String> {
    let wrong = || format!("give processors from 0 to {CPU_MAX}, such as 0-3,6; `lscpu --extended` lists them");
    let number = |text: &str| text.trim().parse().ok().filter(|cpu| *cpu <= CPU_MAX).ok_or_else(wrong);
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (number(first)?, number(last)?);
        cpus.extend(first..=last);
        if last < first {
            return Err(wrong());
        }
    }
    Ok(Cpus(cpus))
}

impl RealOptions {
    /// Whether the page cache is passed by.
    pub fn is_direct(&self) -> bool {
        self.direct != Some(0)
    }

    /// The names of the devices whose data may be lost: as given, those of a file one by one.
    ///
    /// # Errors
    /// If a file of them cannot be read.
    pub fn consents(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut names = Vec::new();
        for name in &self.destroy_data {
            let Some(file) = name.to_str().and_then(|name| name.strip_prefix('@')) else {
                names.push(name.clone());
                continue;
            };
            let text = host::open::text(Path::new(file), DRIVE_MAX).map_err(|error| {
                Failure::usage(format!("the devices in {file}, which --destroy-data names, cannot be read: {error}"))
            })?;
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            names.extend(lines.filter(|line| !line.is_empty()).map(PathBuf::from));
        }
        Ok(names)
    }

    /// The same options with consent to lose this device's data alone, or none.
    pub fn consenting(&self, to: Option<PathBuf>) -> Self {
        Self { destroy_data: to.into_iter().collect(), ..self.clone() }
    }

    /// The processors that workers may use; none for all.
    pub const fn processors(&self) -> Option<&Cpus> {
        self.cpus_allowed.as_ref()
    }

    /// Has each worker use one of these processors, in turn.
    pub fn use_processors(&mut self, cpus: Cpus) {
        self.cpus_allowed = Some(cpus);
        self.cpus_allowed_policy = CpuPolicy::Split;
    }

    /// Whether requests to this target are calls that end only when its device answers, or is removed. Trims are.
    pub fn waits_in_calls(&self, name: &str, trims: bool) -> bool {
        !name.starts_with("sim:") && (trims || self.submission().waits_in_calls())
    }

    /// The same where Ctrl-C, and a polite request to end, end what is run, also on a simulated drive, with the figures
    /// until then.
    ///
    /// # Errors
    /// If no handler can be installed.
    pub fn stoppable(mut self) -> Result<Self, Failure> {
        if self.stop.is_none() {
            self.stop = Some(interruption::stop()?);
        }
        Ok(self)
    }

    /// How requests are to be handed to the kernel.
    fn submission(&self) -> Submission {
        Submission {
            engine: self.ioengine,
            hipri: self.hipri == 1,
            sqthread_poll: self.sqthread_poll == 1,
            batch: Batch {
                submit: self.iodepth_batch,
                complete_min: self.iodepth_batch_complete_min,
                // As in fio, no less than the wait was for.
                complete_max: self.iodepth_batch_complete_max.map(|most| most.max(self.iodepth_batch_complete_min)),
            },
            cpus: self.cpus_allowed.clone().map_or(Vec::new(), |cpus| cpus.0),
            split: self.cpus_allowed_policy == CpuPolicy::Split,
        }
    }
}

/// The speed of an attached drive.
pub fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "give a number, such as 0.25".to_owned())?;
    // At the least of it a read takes minutes. Slower still, programs would wait for it as if for ever.
    if (1e-6..=1.0).contains(&speed) { Ok(speed) } else { Err("give at least 0.000001 and at most 1".to_owned()) }
}

/// A target that was opened.
pub struct OpenedTarget {
    /// What a plan is carried out on.
    pub subject: Box<dyn Subject>,
    /// How it names itself.
    pub identity: String,
    /// How it was asked for, in full.
    pub name: String,
    /// The host and the target.
    pub environment: Environment,
    /// For how long its power at rest is metered before all else.
    pub rest: Option<Nanos>,
    /// Whether what a run does to it outlives the program.
    pub real: bool,
    /// Whether reads would find nothing written.
    pub needs_layout: bool,
    /// Doubts about measuring it as asked.
    pub findings: Vec<String>,
}

impl OpenedTarget {
    /// What the cost of a plan depends on; what the user says of the drive's life goes before what is known of it.
    pub fn place(&self, given: Option<Endurance>) -> Place {
        let place = self.subject.place();
        Place { endurance: given.map(RatedEndurance::given).or(place.endurance), ..place }
    }

    /// Makes the machine ready for a plan with trials: Ctrl-C ends it in good order, and what an earlier one left is cleared
    /// up.
    pub fn ready(&mut self, plan: &Plan, speed: Option<f64>) -> Result<(), Failure> {
        if speed.is_some() && (self.real || !plan.has_trials()) {
            return Err(Failure::usage(
                "--speed is for plans that attach a simulated drive, such as `file-systems`; this one runs in simulated time",
            ));
        }
        if !plan.has_trials() {
            return Ok(());
        }
        let settled = Cleanup::undo_all().map_err(Failure::failed)?;
        settled.causes.iter().for_each(|cause| notice(format_args!("An earlier run was killed: {cause}")));
        if settled.promises > 0 {
            notice(format_args!("cleaned up {} leftovers of an earlier run that was killed", settled.promises));
        }
        if !self.real {
            self.subject.stage_with(interruption::stop()?, speed.unwrap_or(1.0));
        }
        Ok(())
    }

    /// Refuses a plan that cannot be carried out to its end, and then leaves everything as it was found.
    pub fn check(&mut self, plan: &Plan) -> Result<Checked, Failure> {
        Checked::new(plan, self.subject.as_ref()).map_err(|error| self.refused(error.into()))
    }

    /// Refuses what was to be done, and leaves everything as it was found.
    pub fn refused(&mut self, why: Failure) -> Failure {
        match self.subject.withdraw() {
            Ok(()) => why,
            Err(left) => Failure::failed(format!("{}\n{left}", why.words(false))),
        }
    }
}

/// Opens `name`: `sim:DRIVE`, a file or a block device. `writes` says whether data will change.
pub fn open(name: &str, options: &RealOptions, writes: bool, create: bool) -> Result<OpenedTarget, Failure> {
    match name.strip_prefix("sim:") {
        Some(preset) => simulated(preset, options),
        None if name.trim().is_empty() => {
            Err(Failure::usage("the target's name is empty; give sim:DRIVE, a file or a block device"))
        }
        None => open_parts(&[(name, options.size)], options, writes, create),
    }
}

/// Opens files and block devices, each with how much of it is used, as one target in which each begins at the next whole
/// MiB after the one before.
pub fn open_parts(
    parts: &[(&str, Option<Bytes>)],
    options: &RealOptions,
    writes: bool,
    create: bool,
) -> Result<OpenedTarget, Failure> {
    if let Some((name, _)) = parts.iter().find(|(name, _)| name.starts_with("sim:")) {
        return Err(Failure::usage(format!(
            "{name} is a simulated drive, which cannot be combined with other targets; \
            name it alone"
        )));
    }
    let named = options.consents()?;
    if writes && named.iter().any(|name| is_bare(name)) {
        let name = parts[0].0;
        let consent =
            if Path::new(name).is_file() { "--overwrite".to_owned() } else { format!("--destroy-data {name}") };
        return Err(Failure::usage(format!(
            "--destroy-data names no device; to lose the data of {name} type: {consent}"
        )));
    }
    let access = |(name, size): &(&str, Option<Bytes>)| Access {
        submission: options.submission(),
        on_error: options.on_error,
        patience: Some(options.io_timeout),
        size: *size,
        direct: options.is_direct(),
        keep_cache: options.invalidate == 0,
        writes,
        overwrite: options.overwrite,
        destroy_data: destroyed(Path::new(name), parts.len() == 1, &named),
        create,
        resume: options.resume,
        sparse: false,
    };
    let parts: Vec<(&Path, Access)> = parts.iter().map(|part| (Path::new(part.0), access(part))).collect();
    let of_none = |named: &&PathBuf| !parts.iter().any(|(path, _)| is_meant(named, path));
    if let Some(named) = named.iter().find(of_none).filter(|_| writes) {
        return Err(TargetError::OtherDevice { path: parts[0].0.to_owned(), named: named.clone() }.into());
    }
    let stop = options.stop.clone().map_or_else(interruption::stop, Ok)?;
    real(Target::open_parts(&parts).map_err(missing)?, &parts, stop)
}

/// The device among those named whose data may be lost that is this one. A single target is told of what it is not.
fn destroyed(path: &Path, is_single: bool, named: &[PathBuf]) -> Option<PathBuf> {
    let same = named.iter().any(|named| is_meant(named, path)).then(|| path.to_owned());
    same.or_else(|| named.first().filter(|_| is_single).cloned())
}

/// What stands for `--destroy-data` without a name.
pub const BARE: &str = ".";

/// Whether a name of what may be lost is none.
pub fn is_bare(name: &Path) -> bool {
    name == Path::new(BARE)
}

/// Whether a device at this path is meant by a name: its path, or its serial number or world-wide name.
fn is_meant(named: &Path, path: &Path) -> bool {
    leads_to_same(named, path)
        || Environment::with_target(path)
            .device
            .filter(|_| {
                std::fs::metadata(host::block_path(path)).is_ok_and(|found| found.file_type().is_block_device())
            })
            .is_some_and(|device| is_called(&device, named))
}

/// Whether a device has this serial number or world-wide name; `lsblk` has the latter of SCSI as `0x5000…`, the kernel as
/// `naa.5000…`.
pub fn is_called(device: &DeviceInfo, name: &Path) -> bool {
    let Some(name) = name.to_str().map(str::trim).filter(|name| !name.is_empty()) else { return false };
    let is_own = |own: &str| {
        own.trim() == name || own.strip_prefix("naa.").is_some_and(|naa| name.strip_prefix("0x") == Some(naa))
    };
    [&device.serial, &device.wwid].into_iter().flatten().any(|own| is_own(own))
}

/// Whether two names are one, or lead to one device.
pub fn leads_to_same(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        let kind = found.file_type();
        (kind.is_block_device() || kind.is_char_device()).then(|| (kind.is_block_device(), found.rdev()))
    };
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}

/// A target that was looked at and not touched.
pub struct SurveyedTarget {
    /// How it names itself.
    pub identity: String,
    /// What the cost of a plan depends on.
    pub place: Place,
    /// What a plan would be carried out on; none for a file that is yet to be made or enlarged.
    pub subject: Option<Box<dyn Subject>>,
}

/// Looks at `name` without changing anything: a real target is opened to be read, and a file that is not there, or not
/// so long yet, is taken to be as long as it would be made.
pub fn survey(name: &str, options: &RealOptions, given: Option<Endurance>) -> Result<SurveyedTarget, Failure> {
    let path = Path::new(name);
    let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|found| Bytes::new(found.len()));
    let would_be_made = !name.starts_with("sim:") && (length.is_some() || !path.exists());
    if let Some(size) = options.size.filter(|size| would_be_made && length.is_none_or(|length| length < *size)) {
        let pace = Pace::of(&Environment::with_target(path));
        let place = Place { endurance: given.map(RatedEndurance::given), ..Place::real(size, size, pace) };
        return Ok(SurveyedTarget {
            identity: format!("{name}, a file to be created or extended"),
            place,
            subject: None,
        });
    }
    let opened = open(name, options, false, false)?;
    let place = opened.place(given);
    Ok(SurveyedTarget { identity: opened.identity, place, subject: Some(opened.subject) })
}

/// The longest file of a drive.
const DRIVE_MAX: u64 = 1 << 20;

/// The simulated drive of that name, as a target or by itself.
pub fn named(name: &str) -> Result<Preset, Failure> {
    preset(name.strip_prefix("sim:").unwrap_or(name))
}

/// The simulated drive of this name, or of the file at this path, with changes after a `?`.
pub fn preset(name: &str) -> Result<Preset, Failure> {
    let asked = DriveName::read(name)?;
    if !asked.is_of_file() {
        return Ok(Preset::find(name)?);
    }
    let path = asked.base;
    let text = host::open::text(Path::new(path), DRIVE_MAX)
        .map_err(|error| Failure::usage(format!("the drive's file {path} cannot be read: {error}")))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!(
            "the drive's file {path} is empty; `assay drives show --toml x25-m` prints one to begin with"
        )));
    }
    let own = Preset { name: path.to_owned(), ..Preset::parse(&text)? };
    Ok(own.numbered(asked.specimen)?.changed(asked.changes)?)
}

/// Whether a simulated drive's name is the path of its file.
pub fn is_of_file(name: &str) -> bool {
    DriveName::read(name).is_ok_and(|name| name.is_of_file())
}

/// Whether a target must be named by who starts the program each time, and not by a store: the file of a simulated drive,
/// and what is there and no regular file.
pub fn is_named_each_time(name: &str) -> bool {
    match name.strip_prefix("sim:") {
        Some(preset) => is_of_file(preset),
        None => std::fs::metadata(name).is_ok_and(|found| !found.is_file()),
    }
}

fn simulated(name: &str, options: &RealOptions) -> Result<OpenedTarget, Failure> {
    if options.overwrite || !options.destroy_data.is_empty() {
        return Err(Failure::usage(
            "--overwrite and --destroy-data are for files and devices; a simulated drive holds no data",
        ));
    }
    if options.submission() != Submission::default() {
        return Err(Failure::usage(
            "--ioengine, --hipri, --sqthread_poll, --iodepth_batch... and --cpus_allowed are for files and devices; requests to a \
             simulated drive bypass the kernel",
        ));
    }
    let preset = preset(name)?;
    if let Some(size) = options.size.filter(|&size| size > preset.capacity()) {
        let capacity = preset.capacity();
        return Err(Failure::usage(format!("{size} is more than the drive's {capacity}; give a smaller --size")));
    }
    let (identity, name) = (preset.title.clone(), format!("sim:{}", preset.name));
    let subject = Simulated::new(preset).on_error(options.on_error);
    let subject = options.stop.iter().cloned().fold(subject, Simulated::stop_when);
    Ok(OpenedTarget {
        identity,
        name,
        subject: Box::new(subject),
        environment: Environment::of_host(),
        rest: None,
        real: false,
        needs_layout: true,
        findings: Vec::new(),
    })
}

/// What is known of a target that was opened in this way.
fn real(mut target: Target, parts: &[(&Path, Access)], stop: Arc<AtomicBool>) -> Result<OpenedTarget, Failure> {
    target.stop_when(stop);
    let environment = Environment::with_handle(target.handle());
    let mut findings = Vec::new();
    if let Some(memory) = environment.memory.filter(|memory| target.capacity() < memory.times(2)) {
        findings.push(format!(
            "The active range of {} is less than twice the host's memory of {memory}: caches may have served requests. Use a larger --size.",
            target.capacity()
        ));
    }
    if !target.direct() {
        findings.push("The page cache was in use (--direct=0): figures include the host's memory.".into());
    }
    Ok(OpenedTarget {
        identity: target.identity(),
        name: parts.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(":"),
        environment,
        rest: None,
        real: true,
        needs_layout: target.needs_layout(),
        subject: Box::new(Real::new(target)),
        findings,
    })
}

/// Why there is no target; where its name is a simulated drive's, with how that is written.
fn missing(error: TargetError) -> Failure {
    match error {
        TargetError::Missing { ref path } if Preset::find(&path.display().to_string()).is_ok() => {
            let name = path.display();
            Failure::usage(format!("{error}. For the simulated drive of this name give sim:{name}"))
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_given_singly_and_in_ranges() {
        assert_eq!(cpus("0-3,6"), Ok(Cpus(vec![0, 1, 2, 3, 6])));
        assert_eq!(cpus("2"), Ok(Cpus(vec![2])));
        for wrong in ["", "a", "3-1", "0-99999999999", "1024", "1,,2"] {
            assert!(cpus(wrong).is_err_and(|error| error.contains("lscpu")), "{wrong}");
        }
    }
}
