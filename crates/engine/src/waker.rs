//! Waking a worker that waits for completions, for what another worker has done.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Ends the wait of one worker, from any thread.
pub(crate) struct Waker(Box<dyn Fn() + Send + Sync>);

impl Waker {
    /// One that does this.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(wake))
    }

    /// Ends the wait that is under way, or else the next.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

/// What a ring can wait for beside its requests.
#[derive(Clone)]
pub(crate) struct WakeEvent(Arc<OwnedFd>);

impl WakeEvent {
    /// One that has not been raised.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// The descriptor that is ready to be read once it has been raised.
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Raises it. A counter at its end is raised already.
    fn raise(&self) {
        let _ = rustix::io::write(self.0.as_fd(), &1_u64.to_ne_bytes());
    }

    /// Lowers it. One that is not raised stays as it is.
    pub fn lower(&self) {
        let _ = rustix::io::read(self.0.as_fd(), &mut [0; 8]);
    }

    /// What raises it.
    pub fn waker(&self) -> Waker {
        let event = self.clone();
        Waker::new(move || event.raise())
    }
}
