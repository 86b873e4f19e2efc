//! This process split in two: one that works, and one that waits for it and can leave it behind.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, set_parent_process_death_signal, waitpid};

use crate::{Process, kernel};

/// How long a process may take from the end of its first thread to that of its last.
const GRACE: Duration = Duration::from_secs(1);

/// The half that works, as the one sees it that waits.
#[derive(Debug)]
pub struct WorkingHalf {
    pid: Pid,
    handle: OwnedFd,
    process: Process,
    /// Since when its first thread has ended, and others have not.
    ending: Option<Instant>,
}

/// How the working half has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfEnd {
    /// Its exit code; none where a signal has ended it.
    pub code: Option<u8>,
    /// The signal.
    pub signal: Option<i32>,
    /// Its number where it is still there, for threads of it are in calls that the kernel does not end.
    pub left: Option<u32>,
}

/// Splits this process: the working half is told nothing, the other has that.
///
/// # Errors
/// If there are several threads, of which only one would go on, or the system refuses.
pub fn split() -> io::Result<Option<WorkingHalf>> {
    let this = Process::this();
    if this.threads() != Some(1) {
        return Err(io::Error::other("a process of several threads cannot be split"));
    }
    let Some(pid) = kernel::fork()? else {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before that was asked for.
        if !this.is_alive() {
            std::process::exit(1);
        }
        return Ok(None);
    };
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let process = Process::of(pid.as_raw_nonzero().get().unsigned_abs()).ok_or(Errno::SRCH)?;
    Ok(Some(WorkingHalf { pid, handle, process, ending: None }))
}

impl WorkingHalf {
    /// How it has ended, if it does within this time. A signal to this process ends the wait.
    pub fn wait(&mut self, patience: Duration) -> Option<HalfEnd> {
        let patience = Timespec::try_from(patience).ok();
        // What cannot be waited for is looked at.
        let _ = poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], patience.as_ref());
        if let Ok(Some((_, status))) = waitpid(Some(self.pid), WaitOptions::NOHANG) {
            return Some(HalfEnd {
                code: status.exit_status().map(|code| code as u8),
                signal: status.terminating_signal(),
                left: None,
            });
        }
        let status = self.process.first_ended()?;
        let ending = *self.ending.get_or_insert_with(Instant::now);
        // Source: wait(2) of Linux: the code is the second byte of the status, a signal the lower seven bits.
        let signal = Some(status & 0x7f).filter(|signal| *signal != 0);
        let code = signal.is_none().then_some((status >> 8) as u8);
        (ending.elapsed() >= GRACE).then_some(HalfEnd { code, signal, left: Some(self.process.pid) })
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }
}

/// Lets go of standard input and output, whose other ends must not wait for threads that never end.
///
/// # Errors
/// If the system refuses.
pub fn let_go_of_output() -> io::Result<()> {
    let (nothing, nobody) = io::pipe()?;
    rustix::stdio::dup2_stdin(nothing)?;
    rustix::stdio::dup2_stdout(&nobody)?;
    rustix::stdio::dup2_stderr(&nobody)?;
    Ok(())
}
