//! Job files of fio and of Iometer, read with all that they ask of this machine.

use std::io::{IsTerminal, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use block::Bytes;
use lab::Environment;
use lab::import::fio::{World, import};
use lab::import::{Import, Notice, Source, icf, render};

use crate::color;
use crate::failure::Failure;
use crate::terminal::notice;

/// The longest job file, of which far less makes sense; what it includes counts by itself.
const LENGTH_MAX: u64 = 1 << 20;

/// How a job file is to be read.
#[derive(Clone, Debug, clap::Args)]
pub struct Reading {
    /// Take over this section alone, with the global ones above it; may be given several times
    #[arg(long, value_name = "NAME")]
    pub section: Vec<String>,

    /// Refuse a job file of which an option cannot be honoured
    #[arg(long)]
    pub strict: bool,
}

/// Whether this names a job file of fio's rather than something to run on.
pub fn is_one(name: &str) -> bool {
    !name.starts_with("sim:") && name.ends_with(".fio")
}

/// This machine, as a job file sees it.
struct Machine {
    host: Environment,
    /// How long the target is, where that is known whatever it is called.
    capacity: Option<Bytes>,
}

impl World for Machine {
    fn file(&self, path: &Path) -> Result<String, String> {
        text(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
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

    fn capacity(&self, target: &str) -> Option<Bytes> {
        self.capacity.or_else(|| length(Path::new(target)))
    }
}

/// The text of a file that is not too long to be a job file.
fn text(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    if metadata.len() > LENGTH_MAX {
        return Err(format!("it is longer than {}", Bytes::new(LENGTH_MAX)));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())
}

/// How long a file or a block device is. Nothing else is opened: that could wait for ever, or change something.
pub fn length(path: &Path) -> Option<Bytes> {
    let metadata = std::fs::metadata(path).ok()?;
    if metadata.is_file() {
        return Some(Bytes::new(metadata.len()));
    }
    let mut device = metadata.file_type().is_block_device().then(|| std::fs::File::open(path))?.ok()?;
    device.seek(SeekFrom::End(0)).ok().map(Bytes::new)
}

/// Reads a job file and tells on standard error what of it is not honoured; `capacity` is how long its target is,
/// whatever the file calls it.
///
/// # Errors
/// If it cannot be read or run; with `strict` also if any of it is not honoured.
pub fn read(name: &str, reading: &Reading, capacity: Option<Bytes>) -> Result<Import, Failure> {
    let path = Path::new(name);
    let text = text(path).map_err(|error| unreadable(name, &error))?;
    let machine = Machine { host: Environment::of_host(), capacity };
    let import = import(path, &text, &reading.section, &machine);
    judge(name, reading.strict, &import.notices, &import.sources, import.refused())?;
    Ok(import)
}

/// The same of a configuration file of Iometer's.
///
/// # Errors
/// As those of [`read`].
pub fn read_icf(name: &str, strict: bool) -> Result<icf::Import, Failure> {
    let path = Path::new(name);
    let text = text(path).map_err(|error| unreadable(name, &error))?;
    let import = icf::import(path, &text);
    judge(name, strict, &import.notices, &import.sources, import.is_refused())?;
    Ok(import)
}

fn unreadable(name: &str, error: &str) -> Failure {
    Failure::usage(format!("the job file {name} cannot be read: {error}"))
}

/// Tells what is not as the file has it; refuses the file where it must be, or with `strict` if there is anything.
fn judge(name: &str, strict: bool, notices: &[Notice], sources: &[Source], refused: bool) -> Result<(), Failure> {
    if !notices.is_empty() {
        notice(format_args!("{}\n", render(notices, sources, color(std::io::stderr().is_terminal()))));
    }
    if refused {
        return Err(Failure::usage(format!("{name} cannot be run, for the reasons above")));
    }
    if strict && !notices.is_empty() {
        return Err(Failure::usage(format!(
            "{name} is not taken over with --strict, because what is told above is not as the file has it"
        )));
    }
    Ok(())
}
