//! Receiving one virtual machine monitor after the other.

use std::io;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use drive::Shape;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vhost::vhost_user::Listener;
use vhost_user_backend::{ShutdownHandle, VhostUserDaemon};
use vm_memory::{GuestMemoryAtomic, GuestMemoryMmap};

use super::backend::Backend;
use super::rings::Rings;

/// How often a host without a machine looks whether it is to end, in nanoseconds.
const LOOK: i64 = 100_000_000;
/// How long it leaves a monitor alone with which it could not agree.
const PAUSE: Duration = Duration::from_millis(50);

/// A thread that receives monitors, until it is dropped.
pub struct MonitorThread {
    stop: Arc<AtomicBool>,
    /// Ends the connection to the monitor that is there.
    current: Arc<Mutex<Option<ShutdownHandle>>>,
    thread: Option<JoinHandle<()>>,
}

impl MonitorThread {
    /// Receives monitors at `listener`, each of which gets `rings` for as long as it is there.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(listener: UnixListener, rings: Arc<Rings>, shape: Shape) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let current = Arc::new(Mutex::new(None));
        let (told, place) = (Arc::clone(&stop), Arc::clone(&current));
        let receive = move || {
            while !told.load(Ordering::Relaxed) {
                if !is_called(&listener) {
                    continue;
                }
                if serve(&listener, &rings, shape, &place).is_err() {
                    thread::sleep(PAUSE);
                }
                rings.renew();
            }
        };
        let thread = thread::Builder::new().name("assay-vhost".to_owned()).spawn(receive)?;
        Ok(Self { stop, current, thread: Some(thread) })
    }
}

impl Drop for MonitorThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(handle) = self.current.lock().expect("nothing panics while it holds this").as_ref() {
            handle.shutdown();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Whether somebody waits at `listener`.
fn is_called(listener: &UnixListener) -> bool {
    let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK };
    poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timeout)).is_ok_and(|count| count > 0)
}

/// Serves the monitor that waits at `listener`, until it leaves.
fn serve(
    listener: &UnixListener,
    rings: &Arc<Rings>,
    shape: Shape,
    current: &Mutex<Option<ShutdownHandle>>,
) -> Result<(), vhost_user_backend::Error> {
    let memory = GuestMemoryAtomic::new(GuestMemoryMmap::new());
    let backend = Arc::new(Backend::new(Arc::clone(rings), shape));
    let mut daemon = VhostUserDaemon::new("assay-vhost".to_owned(), backend, memory)?;
    let called = listener.try_clone().map_err(vhost_user_backend::Error::StartDaemon)?;
    daemon.start(&mut Listener::from(called))?;
    let put = |handle| *current.lock().expect("nothing panics while it holds this") = handle;
    put(daemon.shutdown_handle());
    // How it left does not matter to the drive.
    let left = daemon.wait();
    put(None);
    left
}
