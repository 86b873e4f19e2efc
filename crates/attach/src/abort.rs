//! Ending a server that does not answer.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use host::{Mount, mounting, open};
use rustix::process::Signal;

use crate::registry::{Entry, Registry};
use crate::{AttachError, Process};

/// Where the kernel has a folder for each FUSE connection.
///
/// Source: Linux, Documentation/filesystems/fuse/fuse.rst, "Control filesystem".
const CONTROL: &str = "/sys/fs/fuse/connections";
/// How long a process that is told to go on and end has to save its state.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has the kernel answer all requests to a file of FUSE's with an error, now and from now on, and ends the process that served
/// it: by itself, if it can still save the drive's state, or else by force. Who is connected to a socket, or uses a disk of
/// the ublk driver's, notices when that process ends.
///
/// # Errors
/// If the kernel does not, or [`AttachError::Held`] where a server cannot be ended without what else it does.
pub fn abort(entry: &Entry) -> Result<(), AttachError> {
    let connection = connection(&entry.place);
    if let Some(number) = &connection {
        let control = Control::open().map_err(AttachError::Abort)?;
        open::set(&control.folder.join(number).join("abort"), "1").map_err(AttachError::Abort)?;
    }
    if entry.held {
        return if connection.is_none() { Err(AttachError::held(entry)) } else { Ok(()) };
    }
    for (signals, patience) in [(&[Signal::TERM, Signal::CONT][..], PATIENCE), (&[Signal::KILL], PATIENCE)] {
        let began = Instant::now();
        while entry.is_alive() && began.elapsed() < patience {
            // Again and again: it refuses to end while somebody uses the device, who is about to learn of this.
            signals.iter().for_each(|signal| entry.process.signal(*signal));
            thread::sleep(Duration::from_millis(100));
        }
    }
    if entry.is_alive() { Err(AttachError::StillThere { pid: entry.process.pid }) } else { Ok(()) }
}

/// Has the kernel answer all requests to the drives of a process that is ending with an error: nobody else does any more.
///
/// One of its own threads may wait for such an answer. It cannot be ended until it has it, and the process keeps all that
/// it has until then, the drive's file among it.
///
/// # Errors
/// If the kernel does not.
pub fn release(registry: &Registry, process: Process) -> Result<(), AttachError> {
    let connections: Vec<String> = registry.places(process)?.iter().filter_map(|place| connection(place)).collect();
    if connections.is_empty() {
        return Ok(());
    }
    let control = Control::open().map_err(AttachError::Abort)?;
    for number in connections {
        open::set(&control.folder.join(number).join("abort"), "1").map_err(AttachError::Abort)?;
    }
    Ok(())
}

/// The number of the connection that is mounted at `mount`: the minor number of its file system. Asking the file system
/// itself might hang.
fn connection(mount: &Path) -> Option<String> {
    let mounts = Mount::all().ok()?;
    mounts.iter().find(|found| found.point == mount).map(|found| found.device.1.to_string())
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
