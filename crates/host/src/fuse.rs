//! Ending the kernel's connections to servers of files.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Mount, mounting, open};

/// Where the kernel has a folder for each FUSE connection.
///
/// Source: Linux, Documentation/filesystems/fuse/fuse.rst, "Control filesystem".
const CONTROL: &str = "/sys/fs/fuse/connections";

/// Has the kernel answer all requests to what is served at these mount points with an error, now and from now on. Whether
/// there was a connection at any.
///
/// # Errors
/// If the kernel does not.
pub fn abort<'p>(points: impl IntoIterator<Item = &'p PathBuf>) -> io::Result<bool> {
    let connections: Vec<String> = points.into_iter().filter_map(|point| connection(point)).collect();
    if connections.is_empty() {
        return Ok(false);
    }
    let control = Control::open()?;
    for number in connections {
        open::set(&control.folder.join(number).join("abort"), "1")?;
    }
    Ok(true)
}

/// The number of the connection that is mounted here: the minor number of its file system. Asking the file system itself
/// might hang.
fn connection(point: &Path) -> Option<String> {
    let mounts = Mount::all().ok()?;
    mounts.iter().find(|found| found.point == point).map(|found| found.device.1.to_string())
}

/// The kernel's control of its FUSE connections, mounted for as long as this is there if it was not before.
struct Control {
    folder: PathBuf,
    is_own: bool,
}

impl Control {
    fn open() -> io::Result<Self> {
        let folder = PathBuf::from(CONTROL);
        let is_own = !Mount::all()?.iter().any(|mount| mount.point == folder);
        if is_own {
            mounting::fuse_control(&folder)?;
        }
        Ok(Self { folder, is_own })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if self.is_own {
            mounting::unmount(&self.folder, true).ok();
        }
    }
}
