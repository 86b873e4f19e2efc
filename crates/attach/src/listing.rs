//! The entry of a drive of this process, kept up to date.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::AttachError;
use crate::live::Shared;
use crate::registry::{Entry, Registry};

/// How often the figures of an attached drive are written anew.
const TELL: Duration = Duration::from_millis(500);

/// The entry of a drive of this process, kept up to date until this is dropped; then it is forgotten.
#[derive(Debug)]
pub struct Listing {
    registry: Registry,
    entry: Entry,
    /// Closed when it is to end.
    end: Option<Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Listing {
    /// Enters `entry`, with the figures that are in `shared` from now on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(registry: &Registry, entry: Entry, shared: Arc<Shared>) -> Result<Self, AttachError> {
        registry.enter(&entry)?;
        let (end, ended) = channel();
        let teller = thread::Builder::new().name("assay-listing".to_owned()).spawn({
            let (registry, entry) = (registry.clone(), entry.clone());
            move || keep(&registry, entry, &shared, &ended)
        });
        let teller = Some(teller.expect("a thread can be started"));
        Ok(Self { registry: registry.clone(), entry, end: Some(end), teller })
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.end = None;
        self.teller.take().map(JoinHandle::join);
        self.registry.forget(&self.entry);
    }
}

/// Writes the figures every so often. One that cannot be written is followed by the next.
fn keep(registry: &Registry, mut entry: Entry, shared: &Shared, ended: &Receiver<()>) {
    while ended.recv_timeout(TELL) == Err(RecvTimeoutError::Timeout) {
        entry.live = shared.read();
        registry.enter(&entry).ok();
    }
}
