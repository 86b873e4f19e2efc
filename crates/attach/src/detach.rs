//! Taking away a drive that another process attached.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};

use crate::AttachError;
use crate::listing::door;
use crate::loop_device;
use crate::registry::{Entry, Registry};

/// How long the process that answers has to save its state and go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes a drive away: nothing may use it any more.
///
/// The process that answers is asked to go, which flushes and saves. If it is gone already, what it left behind is
/// cleared up.
///
/// # Errors
/// [`AttachError::InUse`] if something uses it; that nothing is unmounted by force is the promise. [`AttachError::Held`] if
/// the process attached it for itself, [`AttachError::Hung`] if it does not answer. Or if it does not go.
pub fn detach(registry: &Registry, entry: &Entry) -> Result<(), AttachError> {
    let Entry { device, process, mount, .. } = entry;
    if entry.is_alive() {
        // Whether it is in use cannot be asked of a device that does not answer.
        if entry.silence().is_some() {
            return Err(AttachError::Hung { device: device.clone(), pid: process.pid });
        }
        if loop_device::in_use(device) {
            return Err(AttachError::in_use(device));
        }
        if entry.held {
            return Err(AttachError::Held { device: device.clone(), pid: process.pid });
        }
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        pid.and_then(|pid| kill_process(pid, Signal::TERM).ok());
        let began = Instant::now();
        while entry.is_alive() {
            if began.elapsed() > PATIENCE {
                return Err(AttachError::StillThere { pid: process.pid });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    clear(device, mount)?;
    registry.forget(entry);
    // Data that nobody asked to keep.
    if entry.scratch {
        fs::remove_file(&entry.content).ok();
    }
    Ok(())
}

/// Clears up what a process left that did not end by itself. Requests to a drive without one fail; they do not hang.
fn clear(device: &Path, mount: &Path) -> Result<(), AttachError> {
    if mount.symlink_metadata().is_ok() || is_mounted(mount) {
        if loop_device::backing(device).is_some_and(|file| file == mount) {
            if loop_device::in_use(device) {
                return Err(AttachError::in_use(device));
            }
            loop_device::detach(device)?;
        }
        while unmount(mount, UnmountFlags::DETACH).is_ok() {}
        fs::remove_file(mount).ok();
        fs::remove_file(door(mount)).ok();
    }
    Ok(())
}

fn is_mounted(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(1).is_some_and(|point| Path::new(point) == path))
}
