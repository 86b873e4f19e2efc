//! Taking away a drive that another process attached.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use host::mounting;
use rustix::process::Signal;

use crate::listing::door;
use crate::loop_device;
use crate::registry::{AttachedEntry, Registry};
use crate::socket;
use crate::{AttachError, Process, ProcessMark};

/// How long the process that answers has to save its state and go.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a client that has left may still seem to be there.
const MOMENT: Duration = Duration::from_millis(500);

/// Takes a drive away: nothing may use it any more.
///
/// The process that answers is asked to go, which flushes and saves. If it is gone already, what it left behind is
/// cleared up.
///
/// # Errors
/// [`AttachError::InUse`] if something uses it; that nothing is unmounted by force is the promise. [`AttachError::Held`] if
/// the process attached it for itself, [`AttachError::Hung`] if it does not answer. Or if it does not go.
pub fn detach(registry: &Registry, entry: &AttachedEntry) -> Result<(), AttachError> {
    let AttachedEntry { device, process, .. } = entry;
    if entry.is_alive() {
        // Whether it is in use cannot be asked of a device that does not answer.
        if entry.silence().is_some() {
            return Err(AttachError::Hung { device: device.clone(), pid: process.pid });
        }
        if stays_in_use(device, MOMENT) {
            return Err(AttachError::in_use(device));
        }
        if entry.held {
            return Err(AttachError::held(entry));
        }
        process.signal(Signal::TERM);
        let began = Instant::now();
        while entry.is_alive() {
            if began.elapsed() > PATIENCE {
                return Err(AttachError::StillThere { pid: process.pid });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    clear(entry)?;
    registry.forget(entry);
    Ok(())
}

/// Clears up what a process which is gone has left of its drives, those included that it was just attaching.
///
/// # Errors
/// [`AttachError::InUse`] if something uses one, [`AttachError::StillThere`] if the process is not gone, or the registry
/// cannot be read.
pub fn clear_up(registry: &Registry, process: Process) -> Result<(), AttachError> {
    // What makes a loop device for a process outlives it.
    ProcessMark::of(process).end();
    for entry in registry.entries()?.iter().filter(|entry| entry.process == process) {
        detach(registry, entry)?;
    }
    let places = registry.places(process)?;
    if !places.is_empty() && process.is_alive() && !process.is_ending() {
        return Err(AttachError::StillThere { pid: process.pid });
    }
    for place in places {
        clear_place(&place)?;
    }
    Ok(())
}

/// Whether anything uses the device or the socket of a drive.
pub fn in_use(device: &Path) -> bool {
    if socket::is_one(device) { socket::in_use(device) } else { loop_device::in_use(device) }
}

/// Whether it goes on being used: a server takes a moment to notice that a client has left, and whoever looks whether a device
/// is in use has it alone for that moment.
fn stays_in_use(device: &Path, moment: Duration) -> bool {
    let began = Instant::now();
    while in_use(device) {
        if began.elapsed() > moment {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Clears up what a process left that did not end by itself. Requests to a drive without one fail; they do not hang.
fn clear(entry: &AttachedEntry) -> Result<(), AttachError> {
    let AttachedEntry { device, place, .. } = entry;
    clear_place(place)?;
    #[cfg(feature = "ublk")]
    crate::ublk::clear(entry)?;
    // One that somebody listens at is another drive's by now.
    socket::remove_left_over(device).ok();
    Ok(())
}

/// Frees the loop devices over a drive's file, and takes that and the drive's door away.
fn clear_place(place: &Path) -> Result<(), AttachError> {
    for device in loop_device::all_over(place) {
        if loop_device::in_use(&device) {
            return Err(AttachError::in_use(&device));
        }
        loop_device::detach(&device)?;
    }
    while mounting::unmount(place, true).is_ok() {}
    fs::remove_file(place).ok();
    fs::remove_file(door(place)).ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use block::Bytes;
    use host::open;

    use super::*;
    use crate::loop_device::LoopDevice;

    #[test]
    fn who_looks_at_a_device_for_a_moment_does_not_use_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, vec![0; 1 << 20]).unwrap();
        let device = match LoopDevice::over(&file, Bytes::new(512), false) {
            Ok(device) => device,
            Err(error) => return println!("skipped: there is no loop device: {error}"),
        };
        let alone = open::unused_block_device(device.path()).unwrap();
        assert!(stays_in_use(device.path(), Duration::ZERO));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                drop(alone);
            });
            assert!(!stays_in_use(device.path(), Duration::from_secs(600)));
        });
    }

    #[test]
    fn the_drives_of_a_living_process_outlast_a_dead_one_of_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let (living, place) = (Process::this(), registry.place());
        let dead = Process { started: living.started + 1, ..living };
        let left = place.with_file_name(format!("drive-{}-{}-0", dead.pid, dead.started));
        for path in [&place, &door(&place), &left] {
            fs::write(path, "").unwrap();
        }
        clear_up(&registry, dead).unwrap();
        assert!(place.exists() && door(&place).exists(), "a drive of a living process is gone");
        assert!(!left.exists());
    }

    #[test]
    fn what_a_process_has_is_not_cleared_up_while_it_lives() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();
        let place = folder.path().join(format!("drive-{}-{}-0", process.pid, process.started));
        fs::write(&place, "").unwrap();
        let refused = clear_up(&registry, process);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(refused, Err(AttachError::StillThere { .. })) && place.exists());
        clear_up(&registry, process).unwrap();
        assert!(!place.exists());
    }
}
