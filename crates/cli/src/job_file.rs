//! Files of fio, of Iometer and of simulators of drives, read with all that they ask of this machine.

use std::io::{IsTerminal, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use block::Bytes;
use host::Within;
use host::open::{TextError, again, handle, regular_of, text};
use lab::Environment;
use lab::import::figures::is_fio_output;
use lab::import::fio::{CommandLine, JobFile, World, import, import_line};
use lab::import::{DriveImport, Import, ImportSource, Notice, Severity, icf, mqsim, render};
use rustix::fs::OFlags;

use crate::color;
use crate::failure::Failure;
use crate::target;
use crate::terminal::{complain, notice};

/// The longest job file, of which far less makes sense; what it includes counts by itself.
const LENGTH_MAX: u64 = 1 << 20;

/// The longest output of fio's.
const OUTPUT_MAX: u64 = 64 << 20;

/// What refuses what is not honoured.
const STRICT: &str = "--strict";

/// How a job file is to be read.
#[derive(Clone, Debug, clap::Args)]
pub struct JobFileOptions {
    /// Use only this section and the global ones above it; may be given several times
    #[arg(long, value_name = "NAME")]
    pub section: Vec<String>,

    /// Refuse a job file with an unsupported option
    #[arg(long)]
    pub strict: bool,

    /// Define ${NAME} for the job file: NAME=VALUE, or NAME alone for the value in the environment; may be given
    /// several times
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub variable: Vec<String>,

    /// Allow the job file to use files in this folder as well as its own: includes, traces, targets; may be given
    /// several times
    #[arg(long, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,
}

impl JobFileOptions {
    /// Where the job file of this name may name others.
    pub fn within(&self, name: &str) -> Within {
        Within::folder_of(Path::new(name)).allowing(&self.allow_path)
    }

    /// What has differences refused, if anything does: `--strict`, or the same of fio's.
    fn strictness(&self, line: &CommandLine) -> Option<&'static str> {
        let fios = line.asks("warnings-fatal").then_some("--warnings-fatal");
        fios.or(self.strict.then_some(STRICT))
    }

    /// Whether anything is asked of a job file.
    pub fn is_asked(&self) -> bool {
        let Self { section, strict, variable, allow_path } = self;
        !section.is_empty() || *strict || !variable.is_empty() || !allow_path.is_empty()
    }

    /// A variable that the command line gives.
    fn variable(&self, name: &str) -> Option<String> {
        let given = |given: &String| match given.split_once('=') {
            Some((known, value)) => (known == name).then(|| value.to_owned()),
            None => {
                if given == name {
                    std::env::var(name).ok()
                } else {
                    None
                }
            }
        };
        self.variable.iter().find_map(given)
    }
}

/// Whether this names a job file of fio's rather than something to run on: by its name, or by what stands in it.
pub fn is_one(name: &str) -> bool {
    !name.starts_with("sim:") && (name.ends_with(".fio") || begins_a_section(Path::new(name)))
}

/// Whether a file's first line that says something is a name in brackets.
fn begins_a_section(path: &Path) -> bool {
    let is_short = |found: std::fs::Metadata| found.is_file() && found.len() <= LENGTH_MAX;
    if !std::fs::metadata(path).is_ok_and(is_short) {
        return false;
    }
    let Ok(text) = text(path, LENGTH_MAX) else { return false };
    let mut said = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    said.next().is_some_and(|line| line.starts_with('[') && line.contains(']'))
}

/// This machine, as a job file sees it.
struct JobFileHost<'r> {
    host: Environment,
    reading: &'r JobFileOptions,
    /// Where it may name files.
    within: Within,
    /// What the command line names as the target of all jobs, whatever they call it.
    target: Option<&'r str>,
    /// How long that is, where it is known.
    capacity: Option<Bytes>,
}

impl World for JobFileHost<'_> {
    fn file(&self, path: &Path) -> Result<String, String> {
        self.within.text(path, LENGTH_MAX).map_err(|error| error.to_string())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.reading.variable(name)
    }

    fn page_size(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn memory_mib(&self) -> u64 {
        self.host.memory.map_or(0, |memory| memory.get() >> 20)
    }

    fn processors(&self) -> u64 {
        self.host.cores.map_or(1, u64::from)
    }

    fn capacity(&self, target: &str, is_typed: bool) -> Option<Bytes> {
        let own = || self.within.open(&self.within.path(Path::new(target))).ok()?.metadata().ok();
        let of_its_own = || match is_typed || target.starts_with("sim:") {
            true => capacity(target),
            false => own().map(|found| Bytes::new(found.len())),
        };
        self.capacity.or_else(of_its_own)
    }

    fn zone(&self, target: &str, is_typed: bool) -> Option<Bytes> {
        // A job file names no device.
        let named = self.target.or(Some(target).filter(|name| is_typed || name.starts_with("sim:")))?;
        match named.strip_prefix("sim:") {
            Some(drive) if target::is_of_file(drive) => None,
            Some(drive) => Some(target::preset(drive).ok()?.zones()?.size),
            None => {
                let kind = std::fs::metadata(host::block_path(Path::new(named))).ok()?;
                host::BlockDevice::find(kind.rdev()).filter(|_| kind.file_type().is_block_device())?.zone()
            }
        }
    }
}

/// How much a target holds that the command line names; none where that cannot be told.
pub fn capacity(target: &str) -> Option<Bytes> {
    match target.strip_prefix("sim:") {
        Some(drive) if target::is_of_file(drive) => None,
        Some(drive) => target::preset(drive).ok().map(|preset| preset.capacity()),
        None => length(Path::new(target)),
    }
}

/// How long a file or a block device is. Nothing else is opened: that could wait for ever, or change something.
pub fn length(path: &Path) -> Option<Bytes> {
    let handle = handle(&host::block_path(path)).ok()?;
    let kind = handle.metadata().ok()?.file_type();
    let mut device = match kind.is_block_device() {
        true => again(&handle, false, OFlags::NONBLOCK).ok()?,
        false => regular_of(&handle).ok()?,
    };
    device.seek(SeekFrom::End(0)).ok().map(Bytes::new)
}

/// The text of the file of this name.
///
/// # Errors
/// If it cannot be read, is longer than any that makes sense, or no text.
pub fn text_of(name: &str) -> Result<String, Failure> {
    text(Path::new(name), LENGTH_MAX).map_err(|error| unreadable(name, &error.to_string()))
}

/// The same of what may be fio's JSON output, which has a line for each latency that was seen with `json+`. It is read once, for
/// it may be a pipe.
///
/// # Errors
/// As those of [`text_of`].
pub fn text_or_output_of(name: &str) -> Result<String, Failure> {
    let text = text(Path::new(name), OUTPUT_MAX).map_err(|error| unreadable(name, &error.to_string()))?;
    match text.len() as u64 > LENGTH_MAX && !is_fio_output(&text) {
        true => Err(unreadable(name, &TextError::Long(LENGTH_MAX).to_string())),
        false => Ok(text),
    }
}

/// Reads the text of the job file of this name and tells on standard error what of it is not honoured; `capacity` is how long its
/// target is, whatever the file calls it.
///
/// # Errors
/// If it cannot be run; with `strict` also if any of it is not honoured.
pub fn read(name: &str, text: &str, reading: &JobFileOptions, capacity: Option<Bytes>) -> Result<Import, Failure> {
    let path = Path::new(name);
    let machine =
        JobFileHost { host: Environment::of_host(), reading, within: reading.within(name), target: None, capacity };
    let import = import(path, text, &reading.section, &machine);
    judge(name, reading.strict.then_some(STRICT), &import.notices, &import.sources, import.refused())?;
    Ok(import)
}

/// Reads a command line and the job files that it names, which may name other files where each may; all jobs are on `target`
/// where the command line has one. Else as [`read`].
///
/// # Errors
/// As those of [`read`].
pub fn read_line(line: &CommandLine, reading: &JobFileOptions, target: Option<&str>) -> Result<Import, Failure> {
    let open = |name: &String| Ok(JobFile { path: name.into(), text: text_of(name)? });
    let files = line.files.iter().map(open).collect::<Result<Vec<_>, Failure>>()?;
    let within = within(line, reading);
    let sections: Vec<String> =
        line.program.iter().filter(|option| option.name == "section").map(|option| option.value.clone()).collect();
    // What the command line names may be a drive's own file, and a mistake in its name is told before all else.
    let capacity = match target.map(|name| name.strip_prefix("sim:").ok_or(name)) {
        Some(Ok(drive)) => Some(target::preset(drive)?.capacity()),
        Some(Err(path)) => length(Path::new(path)),
        None => None,
    };
    let machine = JobFileHost { host: Environment::of_host(), reading, within, target, capacity };
    let import = import_line(line, &files, &sections, &machine);
    judge(&line.name(), reading.strictness(line), &import.notices, &import.sources, import.refused())?;
    Ok(import)
}

/// Where the job files of a command line may name others: in the folders of all of them.
pub fn within(line: &CommandLine, reading: &JobFileOptions) -> Within {
    let folder = |name: &String| Path::new(name).parent().unwrap_or(Path::new("")).to_owned();
    let mut folders = line.files.iter().map(folder);
    let first = folders.next().unwrap_or_default();
    Within::folder(&first).allowing(&folders.collect::<Vec<_>>()).allowing(&reading.allow_path)
}

/// The same of a configuration file of Iometer's.
///
/// # Errors
/// As those of [`read`].
pub fn read_icf(name: &str, strict: bool) -> Result<icf::Import, Failure> {
    let import = icf::import(Path::new(name), &text_of(name)?);
    judge(name, strict.then_some(STRICT), &import.notices, &import.sources, import.is_refused())?;
    Ok(import)
}

/// The same of the text of a configuration or scenarios of MQSim's. `size` is how much the target of the scenarios holds, if that
/// is known.
///
/// # Errors
/// As those of [`read`].
pub fn read_mqsim(name: &str, text: &str, strict: bool, size: Option<Bytes>) -> Result<mqsim::Import, Failure> {
    let import = mqsim::import(Path::new(name), text, size);
    judge(name, strict.then_some(STRICT), &import.notices, &import.sources, import.is_refused())?;
    Ok(import)
}

/// The drive that a simulator's file describes, which is read already.
///
/// # Errors
/// As those of [`read`].
pub fn read_drive(name: &str, strict: bool, import: DriveImport) -> Result<String, Failure> {
    judge(name, strict.then_some(STRICT), &import.notices, &import.sources, import.is_refused())?;
    Ok(import.drive.unwrap_or_default())
}

fn unreadable(name: &str, error: &str) -> Failure {
    Failure::usage(format!("the job file {name} cannot be read: {error}"))
}

/// Tells what is not as the file has it; refuses the file where it must be, or if there is anything and `strict` names the
/// option that then refuses it.
fn judge(
    name: &str,
    strict: Option<&str>,
    notices: &[Notice],
    sources: &[ImportSource],
    refused: bool,
) -> Result<(), Failure> {
    let differs = notices.iter().any(|notice| notice.severity > Severity::Note);
    let option = strict.filter(|_| differs);
    if !notices.is_empty() {
        let reasons = render(notices, sources, color(std::io::stderr().is_terminal()));
        // Why it is refused is told however little else is.
        if refused || option.is_some() {
            complain(format_args!("{reasons}\n"))
        } else {
            notice(format_args!("{reasons}\n"))
        }
    }
    let refuse = |sentence| Err(Failure::file(render(notices, sources, false), sentence));
    match option {
        _ if refused => refuse(format!("{name} cannot be run, for the reasons above")),
        Some(option) => refuse(format!("{name} is refused by {option} because of the differences above")),
        None => Ok(()),
    }
}
