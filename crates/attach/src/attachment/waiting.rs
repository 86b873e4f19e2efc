//! A drive whose time has not begun.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drive::{Device, Drive, Shape};

use super::answering::Answering;
use super::{AttachOptions, AttachedAs, Attachment};
use crate::AttachError;
use crate::Process;
use crate::content::Content;
use crate::faults::FaultQueue;
use crate::listing::Listing;
use crate::live::{LiveStats, SharedStats};
use crate::pace::{Paced, PathOverhead, now};
use crate::port::Port;
use crate::power::{PowerCutTrigger, Switch};
use crate::registry::{AttachedEntry, Registry};
use crate::serve::Server;
use crate::temporary::Temporary;

/// A drive whose data is open, and of which all is known that will be told but where programs find it.
pub struct OpenedDrive<'t> {
    registry: &'t Registry,
    terms: &'t AttachOptions,
    drive: Device,
    content: Content,
    entry: AttachedEntry,
}

impl<'t> OpenedDrive<'t> {
    /// Opens the data of `drive`, which will be in `registry` by this name.
    ///
    /// # Errors
    /// [`AttachError::Zoned`] if the drive has zones, [`AttachError::Fault`] if a fault is beyond its end; if a file of data
    /// cannot be used.
    pub fn new(
        registry: &'t Registry,
        name: &str,
        drive: Device,
        terms: &'t AttachOptions,
    ) -> Result<Self, AttachError> {
        if drive.zone_limits().is_some() {
            return Err(AttachError::Zoned { name: name.to_owned() });
        }
        let (place, capacity) = (registry.place(), drive.shape().capacity);
        terms.faults.iter().try_for_each(|fault| fault.check(capacity))?;
        let content = match &terms.content {
            Some(data) => Content::kept(data, capacity)?,
            None => registry.scratch(capacity)?,
        };
        let content = match &terms.image {
            Some(image) => content.over(image)?,
            None => content,
        };
        let entry = AttachedEntry {
            device: PathBuf::new(),
            drive: name.to_owned(),
            capacity,
            process: Process::this(),
            held: terms.held,
            place,
            content: terms.content.as_ref().map(|data| data.path().to_owned()),
            speed: terms.speed,
            live: LiveStats::default(),
        };
        Ok(Self { registry, terms, drive, content, entry })
    }

    /// Its place among the entries.
    pub fn place(&self) -> &Path {
        &self.entry.place
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        self.drive.shape()
    }

    /// Has requests come by `port`, to which the file `door` leads, if there is one; it goes with the drive.
    ///
    /// # Errors
    /// If the kernel has no pipe for it.
    pub fn behind<P>(self, port: P, door: Option<Temporary>) -> Result<PendingServer<'t, P>, AttachError>
    where
        P: Port<Name: Send> + Send + 'static,
    {
        let Self { registry, terms, drive, content, entry } = self;
        let shared = Arc::new(SharedStats::default());
        let paced = Paced::new(drive, terms.speed, PathOverhead::default(), now()).recorded_by(shared.heard());
        let server = Server::new(port, content, paced, terms.busy, Arc::clone(&shared));
        let power = PowerCutTrigger::new(terms.power_cut_after)?;
        let (server, answering) = (Some(server), Answering::new());
        Ok(PendingServer { registry, terms, server, answering, shared, power, entry, door })
    }
}

/// Why there is a server to be told something.
const HERE: &str = "it is given back before anything else is done";

/// A server whose drive has not begun.
pub struct PendingServer<'t, P: Port> {
    registry: &'t Registry,
    terms: &'t AttachOptions,
    /// Ends before its door goes; none only while it is told something.
    server: Option<Server<P>>,
    answering: Answering<P>,
    shared: Arc<SharedStats>,
    power: (PowerCutTrigger, Switch),
    entry: AttachedEntry,
    door: Option<Temporary>,
}

impl<P: Port<Name: Send> + Send + 'static> PendingServer<'_, P> {
    /// Where the requests come from.
    pub fn port(&mut self) -> &mut P {
        self.server.as_mut().expect(HERE).port()
    }

    /// Does something while every request is answered after the same time.
    ///
    /// # Errors
    /// Those of the task, or if the port breaks.
    pub fn while_it_echoes<T>(&mut self, task: impl FnOnce() -> Result<T, AttachError>) -> Result<T, AttachError> {
        let stop = Arc::new(AtomicBool::new(false));
        let returned = self.answering.echo(self.server.take().expect(HERE), Arc::clone(&stop));
        let done = task();
        stop.store(true, Ordering::Relaxed);
        let (server, echoed) = returned.recv().expect("the server does not panic");
        self.server = Some(server);
        done.and_then(|done| echoed.map(|()| done))
    }

    /// Begins the drive's time, answers as it would from now on, and enters it: at `device`, or else where its door is.
    ///
    /// # Errors
    /// If it cannot be entered.
    pub fn begin(self, device: Option<AttachedAs>, floor: Option<PathOverhead>) -> Result<Attachment, AttachError> {
        let Self { registry, terms, server, answering, shared, power: (power, switch), entry, door } = self;
        let mut server = server.expect(HERE);
        let orders = Arc::new(FaultQueue::default());
        terms.faults.iter().for_each(|fault| orders.give(Some(*fault)));
        server.begin(floor.unwrap_or_default(), terms.speed, power, Arc::clone(&orders));
        let stop = Arc::new(AtomicBool::new(false));
        let server = Some(answering.serve(server, Arc::clone(&stop)));
        let way = door.as_ref().map(Temporary::path);
        let path = device.as_ref().map(AttachedAs::path).or(way).expect("there is a device or a socket").to_owned();
        let entry =
            AttachedEntry { device: path.clone(), live: LiveStats { told: now(), ..LiveStats::default() }, ..entry };
        let switch = Some(switch);
        let mut this = Attachment { listing: None, device, path, stop, switch, server, shared, floor, _door: door };
        this.listing = Some(Listing::new(registry, entry, Arc::clone(&this.shared), orders)?);
        Ok(this)
    }
}
