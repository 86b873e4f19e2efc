//! A drive whose time has not begun.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use drive::{Device, Drive, Shape};

use super::{Attachment, Terms};
use crate::AttachError;
use crate::content::Content;
use crate::faults::Orders;
use crate::listing::Listing;
use crate::live::{Live, Shared};
use crate::loop_device::LoopDevice;
use crate::pace::{Floor, Paced, now};
use crate::port::Port;
use crate::power::{Power, Switch};
use crate::process::Process;
use crate::registry::{Entry, Registry};
use crate::serve::Server;
use crate::temporary::Temporary;

/// A drive whose data is open, and of which all is known that will be told but where programs find it.
pub struct Opened<'t> {
    registry: &'t Registry,
    terms: &'t Terms,
    drive: Device,
    content: Content,
    scratch: Option<Temporary>,
    entry: Entry,
}

impl<'t> Opened<'t> {
    /// Opens the data of `drive`, which will be in `registry` by this name.
    ///
    /// # Errors
    /// If a file of data cannot be used.
    pub fn new(registry: &'t Registry, name: &str, drive: Device, terms: &'t Terms) -> Result<Self, AttachError> {
        let (place, capacity) = (registry.place(), drive.shape().capacity);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| AttachError::Content { path, cause }
        };
        let scratch = match terms.content {
            Some(_) => None,
            None => {
                let path = registry.scratch(&place, capacity);
                Some(Temporary::new(path.clone()).map_err(failed(&path))?)
            }
        };
        let data = terms.content.as_deref().or(scratch.as_ref().map(Temporary::path)).expect("it is one of them");
        let data = std::path::absolute(data).map_err(failed(data))?;
        let content = Content::open(&data, capacity)?;
        let content = match &terms.image {
            Some(image) => content.over(image)?,
            None => content,
        };
        let entry = Entry {
            device: PathBuf::new(),
            drive: name.to_owned(),
            capacity,
            process: Process::this(),
            held: terms.held,
            place,
            content: data,
            scratch: scratch.is_some(),
            speed: terms.speed,
            live: Live::default(),
        };
        Ok(Self { registry, terms, drive, content, scratch, entry })
    }

    /// Its place among the entries.
    pub fn place(&self) -> &Path {
        &self.entry.place
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        self.drive.shape()
    }

    /// Has requests come by `port`, to whose file `door` leads, which goes with the drive.
    ///
    /// # Errors
    /// If the kernel has no pipe for it.
    pub fn behind<P: Port>(self, port: P, door: Temporary) -> Result<Waiting<'t, P>, AttachError> {
        let Self { registry, terms, drive, content, scratch, entry } = self;
        let shared = Arc::new(Shared::default());
        let paced = Paced::new(drive, terms.speed, Floor::default(), now()).heard_by(shared.heard());
        let server = Server::new(port, content, paced, terms.busy, Arc::clone(&shared));
        let power = Power::new(terms.power_cut_after)?;
        Ok(Waiting { registry, terms, server, shared, power, entry, files: (door, scratch) })
    }
}

/// A server whose drive has not begun.
pub struct Waiting<'t, P: Port> {
    registry: &'t Registry,
    terms: &'t Terms,
    /// Ends before its files go.
    server: Server<P>,
    shared: Arc<Shared>,
    power: (Power, Switch),
    entry: Entry,
    files: (Temporary, Option<Temporary>),
}

impl<P: Port<Name: Send> + Send + 'static> Waiting<'_, P> {
    /// Where the requests come from.
    pub fn port(&mut self) -> &mut P {
        self.server.port()
    }

    /// Does something while every request is answered after the same time.
    ///
    /// # Errors
    /// Those of the task, or if the port breaks.
    pub fn while_it_echoes<T>(&mut self, task: impl FnOnce() -> Result<T, AttachError>) -> Result<T, AttachError> {
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

    /// Begins the drive's time, answers as it would from now on, and enters it: at `device`, or else where its door is.
    ///
    /// # Errors
    /// If it cannot be entered.
    pub fn begin(self, device: Option<LoopDevice>, floor: Option<Floor>) -> Result<Attachment, AttachError> {
        let Self { registry, terms, mut server, shared, power: (power, switch), entry, files } = self;
        let orders = Arc::new(Orders::default());
        terms.faults.iter().for_each(|fault| orders.give(Some(*fault)));
        server.begin(floor.unwrap_or_default(), terms.speed, power, Arc::clone(&orders));
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let serve = move || {
            wake_in_time();
            let served = server.serve(&told);
            (server.into_drive(), served)
        };
        let server = thread::Builder::new().name("assay-attach".to_owned()).spawn(serve);
        let server = Some(server.expect("a thread can be started"));
        let path = device.as_ref().map_or(files.0.path(), LoopDevice::path).to_owned();
        let entry = Entry { device: path.clone(), live: Live { told: now(), ..Live::default() }, ..entry };
        let switch = Some(switch);
        let mut this = Attachment { listing: None, device, path, stop, switch, server, shared, floor, _files: files };
        this.listing = Some(Listing::new(registry, entry, Arc::clone(&this.shared), orders)?);
        Ok(this)
    }
}

/// The kernel's own allowance for the end of a sleep is 50 µs; where it cannot be had, answers are later by that.
fn wake_in_time() {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
}
