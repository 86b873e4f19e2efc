//! What the kernel takes a block device for: a rotational disk or none. File systems and schedulers go by that.

use std::io;
use std::path::Path;

use crate::open;

/// Has the kernel take a device for a rotational disk.
///
/// # Errors
/// If it is no block device's, or the kernel does not take it.
pub fn set_rotational(device: &Path) -> io::Result<()> {
    let name = device.file_name().unwrap_or_default();
    open::set(&Path::new("/sys/block").join(name).join("queue/rotational"), "1")
}
