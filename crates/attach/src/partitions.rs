//! The partitions of what is on a device.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use host::{BlockDevice, program};

use crate::AttachError;
use crate::loop_device::run;

/// How long the kernel has to look, and devices to get their names.
const PATIENCE: Duration = Duration::from_millis(500);

/// Sees to it that every partition on `device` has a device of its own. Where the kernel, which looked first, does not know
/// the kind of table, `partx` tells it.
///
/// # Errors
/// If `partx` finds partitions that the kernel does not take.
pub fn make(device: &Path) -> Result<(), AttachError> {
    // Without a table there is nothing to be found, which is no mistake: one may be written later.
    // Where it is not installed, what the kernel found is all that there is.
    let list = program::command("partx")
        .ok()
        .and_then(|mut partx| program::output(partx.args(["--show", "--noheadings", "--output=NR"]).arg(device)).ok());
    let wanted = list.map(|list| String::from_utf8_lossy(&list.stdout).lines().count()).unwrap_or_default();
    let all_are_there = || of(device).len() >= wanted;
    if !settled(all_are_there) {
        run(program::command("partx")?.arg("--update").arg(device))?;
        settled(all_are_there);
    }
    Ok(())
}

/// The devices of its partitions, by number.
pub fn of(device: &Path) -> Vec<PathBuf> {
    let known = device.metadata().ok().and_then(|found| BlockDevice::find(found.rdev()));
    let partitions = known.iter().flat_map(BlockDevice::partitions);
    partitions.map(|partition| device.with_file_name(partition.device.name)).filter(|path| path.exists()).collect()
}

/// Waits until something is so; whether it is.
fn settled(is_so: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !is_so() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}
