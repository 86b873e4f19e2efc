//! A loop device over the served file.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use block::Bytes;
pub use host::loop_device::backing_file as backing;
use host::{BlockDevice, open, program};

use crate::{AttachError, Process, ProcessMark};

/// How long to wait for those that only look at a device.
const PATIENCE: Duration = Duration::from_secs(5);

/// A loop device, until it is dropped.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// The first free loop device, over `file`, with this logical block, past the page cache of the file.
    ///
    /// # Errors
    /// If `losetup` fails.
    pub fn over(file: &Path, block: Bytes, partitions: bool) -> Result<Self, AttachError> {
        let mut command = program::command("losetup")?;
        command.args(["--find", "--show", "--direct-io=on"]).arg(format!("--sector-size={}", block.get()));
        if partitions {
            command.arg("--partscan");
        }
        let path = PathBuf::from(run(command.arg(file))?);
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        detach(&self.path).ok();
    }
}

/// Frees a loop device that nothing uses any more.
///
/// Who only looks at it, as programs do that name new devices, keeps it for that moment; it is waited for.
///
/// # Errors
/// If `losetup` fails.
pub fn detach(device: &Path) -> Result<(), AttachError> {
    let file = backing(device);
    let freed = run(program::command("losetup")?.arg("--detach").arg(device));
    let began = Instant::now();
    let is_held = || file.is_none() || backing(device) == file;
    while file.is_some() && is_held() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(5));
    }
    // Somebody else may have been faster, as the kernel is with a device that was freed while it was mounted.
    if is_held() { freed.map(drop) } else { Ok(()) }
}

/// Whether anything holds the device: a mount, another device, a program that wants it alone.
pub fn in_use(device: &Path) -> bool {
    open::unused_block_device(device).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
}

/// Whether what is open is a loop device over this file.
pub(crate) fn is_over(device: &File, file: &Path) -> bool {
    let known = device.metadata().ok().and_then(|found| BlockDevice::find(found.rdev()));
    known.is_some_and(|known| backing(Path::new(&known.name)).is_some_and(|found| found == file))
}

/// The loop devices over a file.
pub fn all_over(file: &Path) -> Vec<PathBuf> {
    host::loop_device::all().filter(|device| backing(device).is_some_and(|found| found == file)).collect()
}

/// Runs a program that must succeed; what it said, without the end of the line. It bears the mark of this process, for it
/// outlives this one if that is killed.
pub(crate) fn run(command: &mut Command) -> Result<String, AttachError> {
    let line = format!("{command:?}").replace('"', "");
    let failed = |said: String| AttachError::Program { command: line.clone(), said };
    let output = host::program::output(ProcessMark::of(Process::this()).put_on(command))
        .map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(failed(text(&output.stderr))) }
}
