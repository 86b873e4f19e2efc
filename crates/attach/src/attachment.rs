//! A drive that is attached: the port by which requests come, the thread that answers, and what others are told of it.

mod answering;
mod waiting;

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use block::Bytes;
use drive::Device;

use self::answering::ServeResult;
use self::waiting::OpenedDrive;
use crate::data::DataFile;
use crate::faults::Fault;
use crate::fuse::{FuseChannel, FuseMount};
use crate::listing::Listing;
use crate::live::{LiveStats, SharedStats};
use crate::loop_device::{self, LoopDevice};
use crate::nbd::{Client, Export, Listening};
use crate::pace::PathOverhead;
use crate::power::Switch;
use crate::registry::Registry;
use crate::request_recorder::RequestRecorder;
use crate::temporary::Temporary;
use crate::{AttachError, detach, overhead, partitions, socket};

/// How a drive is attached.
#[derive(Debug)]
pub struct AttachOptions {
    /// The file that holds the data, which is kept; without it, one that goes with the drive.
    pub content: Option<DataFile>,
    /// An image that is read where nothing was written, and stays as it is; none for an empty drive.
    pub image: Option<DataFile>,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// Whether to look for requests instead of sleeping.
    pub busy: bool,
    /// Whether partitions of what is on it get devices of their own, as those of a block device can.
    pub partitions: bool,
    /// After how many answers the drive's power is cut; never by itself without.
    pub power_cut_after: Option<u64>,
    /// What it does wrong from the beginning.
    pub faults: Vec<Fault>,
    /// Whether this process uses it for what it does itself: then nobody else can have it detached while that goes on.
    pub held: bool,
}

impl Default for AttachOptions {
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
    /// Freed before what it is over goes away; none where there is no block device.
    device: Option<AttachedAs>,
    /// Where programs find it.
    path: PathBuf,
    stop: Arc<AtomicBool>,
    switch: Option<Switch>,
    server: Option<JoinHandle<Option<ServeResult>>>,
    shared: Arc<SharedStats>,
    floor: Option<PathOverhead>,
    /// Where it is mounted, or its socket; it goes last.
    _door: Option<Temporary>,
}

/// What programs find it as, where that is no socket.
#[derive(Debug)]
enum AttachedAs {
    /// A loop device over a file.
    Loop(LoopDevice),
    /// A disk of the ublk driver's.
    #[cfg(feature = "ublk")]
    Ublk(crate::ublk::UblkDisk),
}

impl AttachedAs {
    /// Where it is.
    fn path(&self) -> &Path {
        match self {
            Self::Loop(device) => device.path(),
            #[cfg(feature = "ublk")]
            Self::Ublk(disk) => disk.path(),
        }
    }
}

impl Attachment {
    /// Attaches `drive` as a block device for a program that needs it for a while, `speed` of its seconds in each of the
    /// machine's. Its data goes with it. It is listed by this name.
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
        Self::new(&Registry::open()?, name, drive, &AttachOptions { speed, held: true, ..AttachOptions::default() })
    }

    /// Attaches `drive` as a block device and enters it in `registry` by this name.
    ///
    /// # Errors
    /// If FUSE or loop devices are not to be had, or the data's file cannot be used.
    pub fn new(registry: &Registry, name: &str, drive: Device, terms: &AttachOptions) -> Result<Self, AttachError> {
        let is_rotational = drive.is_rotational();
        let opened = OpenedDrive::new(registry, name, drive, terms)?;
        let (place, shape) = (opened.place().to_owned(), opened.shape());
        let failed = |cause| AttachError::Content { path: place.clone(), cause };
        let file = Temporary::new(place.clone()).map_err(failed)?;
        let mut waiting = opened.behind(FuseMount::new(FuseChannel::mount(&place)?, shape.capacity), Some(file))?;
        // A file that nobody answers for hangs whoever opens it: it is served before it has a device.
        let (device, floor) = waiting.while_it_echoes(|| {
            let device = LoopDevice::over(&place, shape.block.max(Bytes::new(512)), terms.partitions)?;
            if is_rotational {
                // Where this cannot be said, as with a /sys that is read-only, it looks like the file's own device.
                host::set_rotational(device.path()).ok();
            }
            let floor = overhead::measure(device.path(), |open| Ok(loop_device::is_over(open, &place)))?;
            Ok((device, floor))
        })?;
        waiting.begin(Some(AttachedAs::Loop(device)), Some(floor))?.with_partitions(terms)
    }

    /// Attaches `drive` as a block device by the kernel's ublk driver, and enters it in `registry` by this name.
    ///
    /// # Errors
    /// If the driver is not there, is older than Linux 6.5, or refuses; or if the data's file cannot be used.
    #[cfg(feature = "ublk")]
    pub fn by_ublk(registry: &Registry, name: &str, drive: Device, terms: &AttachOptions) -> Result<Self, AttachError> {
        let turns = drive.is_rotational();
        let opened = OpenedDrive::new(registry, name, drive, terms)?;
        let device = crate::ublk::Added::new(opened.shape(), turns)?;
        let number = device.number();
        let mut waiting = opened.behind(crate::ublk::UblkQueue::of(device)?, None)?;
        let (disk, floor) = waiting.while_it_echoes(|| {
            let disk = crate::ublk::UblkDisk::start(number)?;
            let floor = overhead::measure(disk.path(), |open| Ok(disk.is_open_as(open)))?;
            Ok((disk, floor))
        })?;
        waiting.begin(Some(AttachedAs::Ublk(disk)), Some(floor))?.with_partitions(terms)
    }

    /// The same with devices for the partitions of what is on it, where these are asked for.
    fn with_partitions(self, terms: &AttachOptions) -> Result<Self, AttachError> {
        if terms.partitions {
            partitions::make(self.device())?;
        }
        Ok(self)
    }

    /// Attaches `drive` by an NBD server on a socket at `socket`, and enters it in `registry` by this name.
    ///
    /// # Errors
    /// If the socket cannot be made, or the data's file cannot be used. [`AttachError::NoPartitions`] if these are asked for.
    pub fn by_nbd(
        registry: &Registry,
        name: &str,
        drive: Device,
        terms: &AttachOptions,
        socket: &Path,
    ) -> Result<Self, AttachError> {
        let (listener, socket) = listen(registry, terms, socket)?;
        let port = Listening::new(Export::of(&drive, name));
        let mut waiting = OpenedDrive::new(registry, name, drive, terms)?.behind(port, Some(socket))?;
        let (client, end) = UnixStream::pair()?;
        waiting.port().admit(end)?;
        let floor = waiting.while_it_echoes(|| {
            let mut client = Client::new(client)?;
            Ok(overhead::timed(|op, data| client.request(op, data))?)
        })?;
        waiting.port().open(listener)?;
        waiting.begin(None, Some(floor))
    }

    /// Attaches `drive` for virtual machines, whose monitor finds it at the socket `socket`, and enters it in `registry` by
    /// this name. What that way costs is not known.
    ///
    /// # Errors
    /// If the socket cannot be made, or the data's file cannot be used. [`AttachError::NoPartitions`] if these are asked for.
    #[cfg(feature = "vhost-user")]
    pub fn by_vhost_user(
        registry: &Registry,
        name: &str,
        drive: Device,
        terms: &AttachOptions,
        socket: &Path,
    ) -> Result<Self, AttachError> {
        let (listener, socket) = listen(registry, terms, socket)?;
        let opened = OpenedDrive::new(registry, name, drive, terms)?;
        let port = crate::vhost::VhostMachine::new(listener, opened.shape())?;
        opened.behind(port, Some(socket))?.begin(None, None)
    }

    /// The block device, or the socket.
    pub fn device(&self) -> &Path {
        &self.path
    }

    /// The devices of the partitions of what is on it, where [`AttachOptions::partitions`] asked for them.
    pub fn partitions(&self) -> Vec<PathBuf> {
        self.device.as_ref().map_or_else(Vec::new, |device| partitions::of(device.path()))
    }

    /// What the way to the drive costs; none where that could not be measured.
    pub fn floor(&self) -> Option<PathOverhead> {
        self.floor
    }

    /// What the drive is doing.
    pub fn live(&self) -> LiveStats {
        self.shared.read()
    }

    /// What is asked of the drive, for whoever listens.
    pub fn heard(&self) -> &RequestRecorder {
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

    /// Takes the block device or the socket away and gives the drive back as it was left. What uses it must have let go of it.
    ///
    /// # Errors
    /// If the port by which requests come had broken.
    pub fn detach(mut self) -> Result<Device, AttachError> {
        (self.listing, self.device) = (None, None);
        let (drive, served) = self.end().expect("it is served until it is detached");
        served.map(|()| drive)
    }

    /// Ends the server.
    fn end(&mut self) -> Option<ServeResult> {
        self.stop.store(true, Ordering::Relaxed);
        self.server.take()?.join().ok()?
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        (self.listing, self.device) = (None, None);
        // The file is unmounted with the server, and can be removed then.
        drop(self.end());
    }
}

/// Listens at `socket`, by its whole path, for as long as the file is there.
fn listen(registry: &Registry, terms: &AttachOptions, socket: &Path) -> Result<(UnixListener, Temporary), AttachError> {
    let failed = |cause| AttachError::Socket { path: socket.to_owned(), cause };
    let path = std::path::absolute(socket).map_err(failed)?;
    if terms.partitions {
        return Err(AttachError::NoPartitions { socket: path });
    }
    // What a server that is gone left there goes with its other files, which nobody would find any more.
    let entries = registry.entries().map_err(failed)?;
    let left = entries.iter().find(|entry| entry.device == path && !entry.is_alive());
    left.map_or(Ok(()), |entry| detach(registry, entry))?;
    let listener = socket::bind(&path)?;
    let door = Temporary::of(path).map_err(failed)?;
    Ok((listener, door))
}
