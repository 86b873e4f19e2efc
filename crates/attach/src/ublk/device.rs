//! A device of the driver's, from its beginning to its end.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use drive::Shape;
use host::BlockDevice;

use super::abi::{BLOCK_MAX, Info, USER_COPY};
use super::control::UblkDriver;
use crate::AttachError;
use crate::registry::AttachedEntry;

/// How long devices have to get their names.
const PATIENCE: Duration = Duration::from_secs(5);

/// A device, without a disk at first, until this is dropped.
pub struct Added {
    driver: UblkDriver,
    number: u32,
    depth: u16,
}

impl Added {
    /// One for a drive of this shape, which turns or does not.
    ///
    /// # Errors
    /// [`AttachError::NoUblk`] or [`AttachError::OldUblk`] without a driver that can serve it,
    /// [`AttachError::UblkBlock`] if its blocks are too large, or if the driver refuses.
    pub fn new(shape: Shape, turns: bool) -> Result<Self, AttachError> {
        if shape.block > BLOCK_MAX {
            return Err(AttachError::UblkBlock { block: shape.block });
        }
        let driver = UblkDriver::open().map_err(AttachError::NoUblk)?;
        let refused = |to| move |cause| AttachError::Ublk { to, cause };
        let Info { number, depth, flags, .. } = driver.add(shape).map_err(refused("make a device"))?;
        let this = Self { driver, number, depth };
        if flags & USER_COPY == 0 {
            return Err(AttachError::OldUblk);
        }
        this.driver.set(number, shape, turns).map_err(refused("make a disk of this size and block"))?;
        Ok(this)
    }

    /// Its number, in `/dev/ublkbN`.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many requests there may be at once.
    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Where its requests come from, once that has its name.
    pub fn characters(&self) -> PathBuf {
        named(&format!("/dev/ublkc{}", self.number))
    }
}

impl Drop for Added {
    fn drop(&mut self) {
        self.driver.delete(self.number).ok();
    }
}

/// The disk of a device, until it is dropped: then what is asked of it is answered, and it goes.
#[derive(Debug)]
pub struct UblkDisk {
    number: u32,
    path: PathBuf,
}

impl UblkDisk {
    /// That of the device of this number, whose server must be at work: the kernel looks for partitions on it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn start(number: u32) -> Result<Self, AttachError> {
        let driver = UblkDriver::open().map_err(AttachError::NoUblk)?;
        driver.start(number).map_err(|cause| AttachError::Ublk { to: "make a disk", cause })?;
        Ok(Self { number, path: named(&format!("/dev/ublkb{number}")) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_open_as(&self, device: &File) -> bool {
        let known = device.metadata().ok().and_then(|found| BlockDevice::find(found.rdev()));
        known.is_some_and(|known| known.name == format!("ublkb{}", self.number))
    }
}

impl Drop for UblkDisk {
    fn drop(&mut self) {
        UblkDriver::open().and_then(|driver| driver.stop(self.number)).ok();
    }
}

/// Takes away the device that a process left which is gone; there may be none.
///
/// # Errors
/// [`AttachError::InUse`] if it is still mounted, or if the driver refuses.
pub fn clear(entry: &AttachedEntry) -> Result<(), AttachError> {
    let Some(number) = number(&entry.device) else { return Ok(()) };
    // Without the driver there are no devices either.
    let Ok(driver) = UblkDriver::open() else { return Ok(()) };
    let Ok(info) = driver.info(number) else { return Ok(()) };
    if !info.is_dead && u32::try_from(info.pid) != Ok(entry.process.pid) {
        return Ok(());
    }
    let found = AttachError::in_use(&entry.device);
    if matches!(&found, AttachError::InUse { by, .. } if !by.is_empty()) {
        return Err(found);
    }
    match driver.delete(number) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(AttachError::Ublk { to: "take the device away", cause: error })
        }
        _ => Ok(()),
    }
}

/// The number in the name of a disk of the driver's.
fn number(device: &Path) -> Option<u32> {
    device.to_str()?.strip_prefix("/dev/ublkb")?.parse().ok()
}

/// A path that the system is about to give to a new device.
fn named(path: &str) -> PathBuf {
    let (path, began) = (PathBuf::from(path), Instant::now());
    while !path.exists() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(5));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_known_by_its_name() {
        let found = ["/dev/ublkb0", "/dev/ublkb17", "/dev/ublkb0p1", "/dev/loop0", "/tmp/ublkb0"]
            .map(|path| number(Path::new(path)));
        assert_eq!(found, [Some(0), Some(17), None, None, None]);
    }
}
