//! A drive that is attached: its file, its loop device, and the thread that answers.

use std::fs;
use std::num::NonZeroU64;
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
use crate::pace::{Floor, Paced, now};
use crate::port::Port;
use crate::power::{Power, Switch};
use crate::serve::Server;
use crate::{AttachError, floor};

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

/// A thread that answers, which gives the server back.
type Serving<P> = JoinHandle<(Server<P>, Result<(), AttachError>)>;

/// A drive that is attached, until it is detached or dropped.
#[derive(Debug)]
pub struct Attachment {
    /// Freed before the file that it is over goes away.
    device: Option<LoopDevice>,
    mount: PathBuf,
    stop: Arc<AtomicBool>,
    switch: Option<Switch>,
    server: Option<Serving<Mounted>>,
    shared: Arc<Shared>,
    floor: Floor,
}

impl Attachment {
    /// Attaches `drive` by a file that is mounted at `mount`, where an empty one is made.
    ///
    /// # Errors
    /// If FUSE or loop devices are not to be had, or the data's file cannot be used.
    pub fn new(drive: Device, mount: &Path, terms: &Terms) -> Result<Self, AttachError> {
        let shape = drive.shape();
        let content = Content::open(&terms.content, shape.capacity)?;
        let failed = |cause| AttachError::Content { path: mount.to_owned(), cause };
        fs::File::create(mount).map_err(failed)?;
        let channel = Channel::mount(mount)?;
        let shared = Arc::new(Shared::default());
        let paced = Paced::new(drive, terms.speed, Floor::default(), now());
        let port = Mounted::new(channel, shape.capacity);
        let server = Server::new(port, content, paced, terms.busy, Arc::clone(&shared));
        // A file that nobody answers for hangs whoever opens it: it is served before it has a device.
        let stop = Arc::new(AtomicBool::new(false));
        let echo = spawn(server, Arc::clone(&stop), true);
        let device = LoopDevice::over(mount, shape.block.max(Bytes::new(512)), terms.partitions);
        let measured = device.as_ref().ok().map(|device| floor::measure(device.path()));
        stop.store(true, Ordering::Relaxed);
        let (mut server, echoed) = echo.join().expect("the server does not panic");
        let device = device?;
        echoed?;
        let floor = measured.transpose()?.unwrap_or_default();
        let (power, switch) = Power::new(terms.power_cut_after)?;
        server.begin(floor, terms.speed, power);
        stop.store(false, Ordering::Relaxed);
        let server = Some(spawn(server, Arc::clone(&stop), false));
        Ok(Self { device: Some(device), mount: mount.to_owned(), stop, switch: Some(switch), server, shared, floor })
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        self.device.as_ref().expect("it is there until it is detached").path()
    }

    /// What the way to the drive costs.
    pub fn floor(&self) -> Floor {
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
        let (server, served) = self.end().expect("it is served until it is detached");
        served.map(|()| server.into_drive())
    }

    /// Ends the server.
    fn end(&mut self) -> Option<(Server<Mounted>, Result<(), AttachError>)> {
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

fn spawn<P>(mut server: Server<P>, stop: Arc<AtomicBool>, echo: bool) -> Serving<P>
where
    P: Port<Name: Send> + Send + 'static,
{
    let serve = move || {
        // The kernel's own allowance for the end of a sleep is 50 µs; where it cannot be had, answers are later by that.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        let served = if echo { server.echo(&stop) } else { server.serve(&stop) };
        (server, served)
    };
    thread::Builder::new().name("assay-attach".to_owned()).spawn(serve).expect("a thread can be started")
}
