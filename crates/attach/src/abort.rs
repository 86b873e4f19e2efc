//! Ending a server that does not answer.

use std::thread;
use std::time::{Duration, Instant};

use host::fuse;
use rustix::process::Signal;

use crate::registry::{AttachedEntry, Registry};
use crate::{AttachError, Process};

/// How long a process that is told to go on and end has to save its state.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has the kernel answer all requests to a file of FUSE's with an error, now and from now on, and ends the process that served
/// it: by itself, if it can still save the drive's state, or else by force. Who is connected to a socket, or uses a disk of
/// the ublk driver's, notices when that process ends.
///
/// # Errors
/// If the kernel does not, or [`AttachError::Held`] where a server cannot be ended without what else it does.
pub fn abort(entry: &AttachedEntry) -> Result<(), AttachError> {
    let was_connected = fuse::abort([&entry.place]).map_err(AttachError::Abort)?;
    if entry.held {
        return if was_connected { Ok(()) } else { Err(AttachError::held(entry)) };
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
    fuse::abort(&registry.places(process)?).map(drop).map_err(AttachError::Abort)
}
