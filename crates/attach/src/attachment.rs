//! A drive that is attached: its file, its loop device, and the thread that answers.

use std::fs;
use std::num::NonZeroU64;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use block::Bytes;
use drive::{Device, Drive};

use crate::content::Content;
use crate::fuse::{Channel, Mounted};
use crate::live::{Live, Shared};
use crate::loop_device::LoopDevice;
use crate::nbd::{Client, Export, Listening};
use crate::pace::{Floor, Paced, now};
use crate::port::Port;
use crate::power::{Power, Switch};
use crate::serve::Server;
use crate::{AttachError, floor, socket};

/// How a drive is attached.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The file that holds the data.
    pub content: PathBuf,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// Whether to look for requests instead of sleeping.
    pub busy: bool,
    /// Whether partitions of what is on it get devices of their own.
    pub partitions: bool,
    /// After how many answers the drive's power is cut; never by itself without.
    pub power_cut_after: Option<u64>,
}

/// A drive that is attached, until it is detached or dropped.
#[derive(Debug)]
pub struct Attachment {
    /// Freed before the file that it is over goes away; none where there is no block device.
    device: Option<LoopDevice>,
    /// Where programs find it.
    path: PathBuf,
    /// The file that is removed with it.
    mount: PathBuf,
    stop: Arc<AtomicBool>,
    switch: Option<Switch>,
    server: Option<JoinHandle<(Device, Result<(), AttachError>)>>,
    shared: Arc<Shared>,
    floor: Option<Floor>,
}

impl Attachment {
    /// Attaches `drive` as a block device by a file that is mounted at `mount`, where an empty one is made.
    ///
    /// # Errors
    /// If FUSE or loop devices are not to be had, or the data's file cannot be used.
    pub fn new(drive: Device, mount: &Path, terms: &Terms) -> Result<Self, AttachError> {
        let shape = drive.shape();
        let content = Content::open(&terms.content, shape.capacity)?;
        let failed = |cause| AttachError::Content { path: mount.to_owned(), cause };
        fs::File::create(mount).map_err(failed)?;
        let port = Mounted::new(Channel::mount(mount)?, shape.capacity);
        let mut waiting = Waiting::new(port, drive, content, terms);
        // A file that nobody answers for hangs whoever opens it: it is served before it has a device.
        let (device, floor) = waiting.while_it_echoes(|| {
            let device = LoopDevice::over(mount, shape.block.max(Bytes::new(512)), terms.partitions)?;
            let floor = floor::measure(device.path())?;
            Ok((device, floor))
        })?;
        let path = device.path().to_owned();
        waiting.begin(Some(device), path, mount, Some(floor), terms)
    }

    /// Attaches `drive`, of this name, by an NBD server on a socket at `socket`.
    ///
    /// # Errors
    /// If the socket cannot be made, or the data's file cannot be used.
    pub fn by_nbd(drive: Device, name: &str, socket: &Path, terms: &Terms) -> Result<Self, AttachError> {
        let content = Content::open(&terms.content, drive.shape().capacity)?;
        let listener = socket::bind(socket)?;
        let waiting = Waiting::new(Listening::new(Export::of(&drive, name)), drive, content, terms);
        Self::listening(waiting, listener, socket, terms).inspect_err(|_| {
            fs::remove_file(socket).ok();
        })
    }

    fn listening(
        mut waiting: Waiting<Listening>,
        listener: UnixListener,
        socket: &Path,
        terms: &Terms,
    ) -> Result<Self, AttachError> {
        let (client, end) = UnixStream::pair()?;
        waiting.server.port().admit(end)?;
        let floor = waiting.while_it_echoes(|| {
            let mut client = Client::new(client)?;
            Ok(floor::timed(|op, data| client.request(op, data))?)
        })?;
        waiting.server.port().open(listener)?;
        waiting.begin(None, socket.to_owned(), socket, Some(floor), terms)
    }

    /// Attaches `drive` for virtual machines, whose monitor finds it at the socket `socket`. What that way costs is not known.
    ///
    /// # Errors
    /// If the socket cannot be made, or the data's file cannot be used.
    #[cfg(feature = "vhost-user")]
    pub fn by_vhost_user(drive: Device, socket: &Path, terms: &Terms) -> Result<Self, AttachError> {
        let shape = drive.shape();
        let content = Content::open(&terms.content, shape.capacity)?;
        let port = crate::vhost::Machine::new(socket::bind(socket)?, shape)?;
        Waiting::new(port, drive, content, terms).begin(None, socket.to_owned(), socket, None, terms)
    }

    /// The block device, or the socket.
    pub fn device(&self) -> &Path {
        &self.path
    }

    /// What the way to the drive costs; none where that could not be measured.
    pub fn floor(&self) -> Option<Floor> {
        self.floor
    }

    /// What the drive is doing.
    pub fn live(&self) -> Live {
        self.shared.read()
    }

    /// What cuts the drive's power; it is given away once, and is to be kept while the drive is attached.
    ///
    /// Requests in flight and all that come later are answered with `EIO`, and sectors that the drive loses have the data
    /// from before, until the drive is attached anew with the same file.
    pub fn switch(&mut self) -> Option<Switch> {
        self.switch.take()
    }

    /// Whether it is still served.
    pub fn is_served(&self) -> bool {
        self.server.as_ref().is_some_and(|server| !server.is_finished())
    }

    /// Takes the block device away and gives the drive back as it was left. What uses it must have let go of it.
    ///
    /// # Errors
    /// If the connection to the kernel had broken.
    pub fn detach(mut self) -> Result<Device, AttachError> {
        self.device = None;
        let (drive, served) = self.end().expect("it is served until it is detached");
        served.map(|()| drive)
    }

    /// Ends the server.
    fn end(&mut self) -> Option<(Device, Result<(), AttachError>)> {
        self.stop.store(true, Ordering::Relaxed);
        self.server.take()?.join().ok()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.device = None;
        // The file is unmounted with the server, and can be removed then.
        drop(self.end());
        fs::remove_file(&self.mount).ok();
    }
}

/// A server whose drive has not begun.
struct Waiting<P: Port> {
    server: Server<P>,
    shared: Arc<Shared>,
}

impl<P: Port<Name: Send> + Send + 'static> Waiting<P> {
    fn new(port: P, drive: Device, content: Content, terms: &Terms) -> Self {
        let shared = Arc::new(Shared::default());
        let paced = Paced::new(drive, terms.speed, Floor::default(), now());
        Self { server: Server::new(port, content, paced, terms.busy, Arc::clone(&shared)), shared }
    }

    /// Does something while every request is answered after the same time.
    fn while_it_echoes<T>(&mut self, task: impl FnOnce() -> Result<T, AttachError>) -> Result<T, AttachError> {
        let (server, stop) = (&mut self.server, AtomicBool::new(false));
        thread::scope(|scope| {
            let echo = scope.spawn(|| {
                wake_in_time();
                server.echo(&stop)
            });
            let done = task();
            stop.store(true, Ordering::Relaxed);
            let echoed = echo.join().expect("the server does not panic");
            done.and_then(|done| echoed.map(|()| done))
        })
    }

    /// Begins the drive's time, and answers as it would from now on.
    fn begin(
        self,
        device: Option<LoopDevice>,
        path: PathBuf,
        mount: &Path,
        floor: Option<Floor>,
        terms: &Terms,
    ) -> Result<Attachment, AttachError> {
        let Self { mut server, shared } = self;
        let (power, switch) = Power::new(terms.power_cut_after)?;
        server.begin(floor.unwrap_or_default(), terms.speed, power);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let serve = move || {
            wake_in_time();
            let served = server.serve(&told);
            (server.into_drive(), served)
        };
        let server = thread::Builder::new().name("assay-attach".to_owned()).spawn(serve);
        let (server, switch) = (Some(server.expect("a thread can be started")), Some(switch));
        Ok(Attachment { device, path, mount: mount.to_owned(), stop, switch, server, shared, floor })
    }
}

/// The kernel's own allowance for the end of a sleep is 50 µs; where it cannot be had, answers are later by that.
fn wake_in_time() {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
}
