//! A drive that is attached: its file, its loop device, and the thread that answers.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use block::Bytes;
use drive::{Device, Drive};

use crate::content::Content;
use crate::faults::{Fault, Orders};
use crate::fuse::{Channel, Server};
use crate::heard::Heard;
use crate::listing::Listing;
use crate::live::{Live, Shared};
use crate::loop_device::LoopDevice;
use crate::pace::{Floor, Paced, now};
use crate::power::{Power, Switch};
use crate::process::Process;
use crate::registry::{Entry, Registry};
use crate::temporary::Temporary;
use crate::{AttachError, floor, partitions};

/// How a drive is attached.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The file that holds the data, which is kept; without it, one that goes with the drive.
    pub content: Option<PathBuf>,
    /// An image that is read where nothing was written, and stays as it is; none for an empty drive.
    pub image: Option<PathBuf>,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// Whether to look for requests instead of sleeping.
    pub busy: bool,
    /// Whether partitions of what is on it get devices of their own.
    pub partitions: bool,
    /// After how many answers the drive's power is cut; never by itself without.
    pub power_cut_after: Option<u64>,
    /// What it does wrong from the beginning.
    pub faults: Vec<Fault>,
    /// Whether this process uses it for what it does itself: then nobody else can have it detached while that goes on.
    pub held: bool,
}

impl Default for Terms {
    fn default() -> Self {
        let (busy, partitions, held) = (false, false, false);
        Self {
            content: None,
            image: None,
            speed: 1.0,
            busy,
            partitions,
            power_cut_after: None,
            faults: Vec::new(),
            held,
        }
    }
}

/// A drive that is attached, until it is detached or dropped.
///
/// It is entered in the machine's [`Registry`] meanwhile, so that `assay attached` shows it, and `assay detach` clears up
/// what a process leaves that does not come to end it.
#[derive(Debug)]
pub struct Attachment {
    /// Forgotten first: the device may be somebody else's as soon as it is free.
    listing: Option<Listing>,
    /// Freed before the file that it is over goes away.
    device: Option<LoopDevice>,
    stop: Arc<AtomicBool>,
    switch: Option<Switch>,
    server: Option<JoinHandle<(Server, Result<(), AttachError>)>>,
    shared: Arc<Shared>,
    floor: Floor,
    /// Where it is mounted, and data that nobody asked to keep; they go last.
    _files: (Temporary, Option<Temporary>),
}

impl Attachment {
    /// Attaches `drive` for a program that needs it for a while, `speed` of its seconds in each of the machine's. Its
    /// data goes with it. It is listed by this name.
    ///
    /// ```no_run
    /// # use drive::preset::Preset;
    /// let drive = Preset::find("x25-m")?.build();
    /// let attachment = assay_attach::Attachment::scratch("x25-m", drive, 1.0)?;
    /// println!("{} answers as the drive would", attachment.device().display());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If FUSE or loop devices are not to be had.
    pub fn scratch(name: &str, drive: Device, speed: f64) -> Result<Self, AttachError> {
        Self::new(&Registry::open()?, name, drive, &Terms { speed, held: true, ..Terms::default() })
    }

    /// Attaches `drive` and enters it in `registry` by this name.
    ///
    /// # Errors
    /// If FUSE or loop devices are not to be had, or the data's file cannot be used.
    pub fn new(registry: &Registry, name: &str, drive: Device, terms: &Terms) -> Result<Self, AttachError> {
        let shape = drive.shape();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| AttachError::Content { path, cause }
        };
        let mount = registry.mount_point();
        let scratch = match terms.content {
            Some(_) => None,
            None => {
                let path = registry.scratch(&mount, shape.capacity);
                Some(Temporary::new(path.clone()).map_err(failed(&path))?)
            }
        };
        let data = terms.content.as_deref().or(scratch.as_ref().map(Temporary::path)).expect("it is one of them");
        let data = std::path::absolute(data).map_err(failed(data))?;
        let content = Content::open(&data, shape.capacity)?;
        let content = match &terms.image {
            Some(image) => content.over(image)?,
            None => content,
        };
        let files = (Temporary::new(mount.clone()).map_err(failed(&mount))?, scratch);
        let channel = Channel::mount(&mount)?;
        let shared = Arc::new(Shared::default());
        let paced = Paced::new(drive, terms.speed, Floor::default(), now()).heard_by(shared.heard());
        let server = Server::new(channel, content, paced, terms.busy, Arc::clone(&shared));
        // A file that nobody answers for hangs whoever opens it: it is served before it has a device.
        let stop = Arc::new(AtomicBool::new(false));
        let echo = spawn(server, Arc::clone(&stop), true);
        let device = LoopDevice::over(&mount, shape.block.max(Bytes::new(512)), terms.partitions);
        let measured = device.as_ref().ok().map(|device| floor::measure(device.path()));
        stop.store(true, Ordering::Relaxed);
        let (mut server, echoed) = echo.join().expect("the server does not panic");
        let device = device?;
        echoed?;
        let floor = measured.transpose()?.unwrap_or_default();
        let (power, switch) = Power::new(terms.power_cut_after)?;
        let orders = Arc::new(Orders::default());
        terms.faults.iter().for_each(|fault| orders.give(Some(*fault)));
        server.begin(floor, terms.speed, power, Arc::clone(&orders));
        stop.store(false, Ordering::Relaxed);
        let entry = Entry {
            device: device.path().to_owned(),
            drive: name.to_owned(),
            capacity: shape.capacity,
            process: Process::this(),
            held: terms.held,
            mount,
            content: data,
            scratch: files.1.is_some(),
            speed: terms.speed,
            live: Live { told: now(), ..Live::default() },
        };
        let server = Some(spawn(server, Arc::clone(&stop), false));
        let device = Some(device);
        let mut this = Self { listing: None, device, stop, switch: Some(switch), server, shared, floor, _files: files };
        this.listing = Some(Listing::new(registry, entry, Arc::clone(&this.shared), orders)?);
        if terms.partitions {
            partitions::make(this.device())?;
        }
        Ok(this)
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        self.device.as_ref().expect("it is there until it is detached").path()
    }

    /// The devices of the partitions of what is on it, where [`Terms::partitions`] asked for them.
    pub fn partitions(&self) -> Vec<PathBuf> {
        partitions::of(self.device())
    }

    /// What the way to the drive costs.
    pub fn floor(&self) -> Floor {
        self.floor
    }

    /// What the drive is doing.
    pub fn live(&self) -> Live {
        self.shared.read()
    }

    /// What is asked of the drive, for whoever listens.
    pub fn heard(&self) -> &Heard {
        self.shared.heard()
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
        (self.listing, self.device) = (None, None);
        let (server, served) = self.end().expect("it is served until it is detached");
        served.map(|()| server.into_drive())
    }

    /// Ends the server.
    fn end(&mut self) -> Option<(Server, Result<(), AttachError>)> {
        self.stop.store(true, Ordering::Relaxed);
        self.server.take()?.join().ok()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        (self.listing, self.device) = (None, None);
        // The file is unmounted with the server, and can be removed then.
        drop(self.end());
    }
}

fn spawn(mut server: Server, stop: Arc<AtomicBool>, echo: bool) -> JoinHandle<(Server, Result<(), AttachError>)> {
    let serve = move || {
        // The kernel's own allowance for the end of a sleep is 50 µs; where it cannot be had, answers are later by that.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        let served = if echo { server.echo(&stop) } else { server.serve(&stop) };
        (server, served)
    };
    thread::Builder::new().name("assay-attach".to_owned()).spawn(serve).expect("a thread can be started")
}
