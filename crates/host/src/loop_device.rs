//! Loop devices, and what each is over.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::kernel;

/// Where the kernel has a folder for each block device that is no partition.
const DEVICES: &str = "/sys/block";

/// All loop devices that are over something.
pub fn all() -> impl Iterator<Item = PathBuf> {
    let names = fs::read_dir(DEVICES).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.map(|name| Path::new("/dev").join(name)).filter(|device| shown(device).is_some())
}

/// The file that a loop device is over, which may have been deleted; none if it is over none.
pub fn backing_file(device: &Path) -> Option<PathBuf> {
    Some(PathBuf::from(shown(device)?.trim_end_matches(" (deleted)")))
}

/// What the kernel shows as the file of a loop device: its path, and whether it was deleted.
pub(crate) fn shown(device: &Path) -> Option<String> {
    let shown = Path::new(DEVICES).join(device.file_name()?).join("loop/backing_file");
    Some(fs::read_to_string(shown).ok()?.trim_end().to_owned())
}

/// What a loop device itself says that it is over; none where this user may not ask it.
pub(crate) fn backing(device: &Path) -> Option<kernel::Backing> {
    File::open(device).ok().and_then(|device| kernel::loop_backing(device.as_fd()))
}
