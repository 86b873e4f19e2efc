//! What a ring is to be like, and how the kernel is asked for it.

use std::io;

use io_uring::{IoUring, cqueue, squeue};
use rustix::io::Errno;

use crate::Batch;

/// After so many milliseconds without a request the kernel's thread sleeps until it is called.
const SQTHREAD_IDLE_MS: u32 = 1_000;

/// Why a ring cannot be had.
#[derive(Debug)]
pub(crate) enum SetupError {
    /// There is not enough memory for the buffers.
    Memory,
    /// The kernel refused.
    Kernel(Errno),
}

/// What a ring is to be like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setup {
    /// Completions are handled by the thread that waits for them, all at once; since Linux 6.1.
    pub deferred: bool,
    /// The worker asks the device for completions.
    pub hipri: bool,
    /// A thread of the kernel looks for requests.
    pub sqthread_poll: bool,
    /// Flushes leave out the metadata that data does not need.
    pub data_flushes: bool,
    /// Each submission is timed, by a call of its own.
    pub times_each: bool,
    /// How many requests and completions a call is for.
    pub batch: Batch,
}

/// A ring for so many requests.
pub(crate) fn set_up<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    setup: Setup,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    builder.setup_clamp();
    if setup.deferred {
        builder.setup_single_issuer().setup_defer_taskrun().setup_coop_taskrun();
    }
    if setup.hipri {
        builder.setup_iopoll();
    }
    if setup.sqthread_poll {
        builder.setup_sqpoll(SQTHREAD_IDLE_MS);
    }
    builder.build(depth)
}
