//! The entry of a drive of this process, kept up to date, and the door for those that want something of it.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::AttachError;
use crate::faults::{Fault, FaultQueue};
use crate::live::SharedStats;
use crate::registry::{AttachedEntry, Registry};
use crate::socket;

/// How often the figures of an attached drive are written anew.
const TELL: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
/// How long a visitor has to say what it wants.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the server has to answer, which may be busy with the drive on a machine that is.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest line that is listened to.
const LINE_MAX: usize = 1024;
/// What is said for no fault any more.
const NONE: &str = "none";
/// What is answered when it was done.
const DONE: &str = "done";

/// The entry of a drive of this process, kept up to date until this is dropped; then it is forgotten.
#[derive(Debug)]
pub struct Listing {
    registry: Registry,
    entry: AttachedEntry,
    /// Closed when it is to end.
    end: Option<PipeWriter>,
    keeper: Option<JoinHandle<()>>,
}

/// What keeps an entry up to date.
struct Keeper {
    registry: Registry,
    entry: AttachedEntry,
    shared: Arc<SharedStats>,
    orders: Arc<FaultQueue>,
    door: UnixListener,
    ended: PipeReader,
}

impl Listing {
    /// Enters `entry`, with the figures that are in `shared` from now on. What others ask for goes to `orders`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(
        registry: &Registry,
        entry: AttachedEntry,
        shared: Arc<SharedStats>,
        orders: Arc<FaultQueue>,
    ) -> Result<Self, AttachError> {
        let path = door(&entry.place);
        let opened = socket::bind_privately(&path).and_then(|door| door.set_nonblocking(true).map(|()| door));
        let opened = opened.map_err(|cause| AttachError::Content { path, cause })?;
        registry.enter(&entry)?;
        let (ended, end) = io::pipe()?;
        let registry = registry.clone();
        let keeper = Keeper { registry: registry.clone(), entry: entry.clone(), shared, orders, door: opened, ended };
        let keeper = thread::Builder::new().name("assay-listing".to_owned()).spawn(move || keeper.keep());
        let keeper = Some(keeper.expect("a thread can be started"));
        Ok(Self { registry, entry, end: Some(end), keeper })
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.end = None;
        self.keeper.take().map(JoinHandle::join);
        fs::remove_file(door(&self.entry.place)).ok();
        self.registry.forget(&self.entry);
    }
}

impl Keeper {
    /// Writes the figures every so often, and lets those in that come. What cannot be written is followed by the next.
    fn keep(mut self) {
        loop {
            let mut ready = [PollFd::new(&self.ended, PollFlags::IN), PollFd::new(&self.door, PollFlags::IN)];
            let came = poll(&mut ready, Some(&TELL)).is_ok();
            let [ended, knocks] = ready.map(|ready| came && !ready.revents().is_empty());
            if ended {
                return;
            }
            if knocks && let Ok((visitor, _)) = self.door.accept() {
                self.receive(visitor).ok();
            }
            self.entry.live = self.shared.read();
            self.registry.enter(&self.entry).ok();
        }
    }

    /// Does what a visitor says, and answers.
    fn receive(&self, visitor: UnixStream) -> io::Result<()> {
        visitor.set_nonblocking(false)?;
        let said = line(&visitor, PATIENCE)?;
        let answer = match said.trim_end() {
            NONE => Ok(None),
            fault => fault.parse::<Fault>().and_then(|fault| fault.check(self.entry.capacity).map(|()| Some(fault))),
        };
        let answer =
            answer.map(|fault| self.orders.give(fault)).map_or_else(|error| error.to_string(), |()| DONE.into());
        writeln!(&visitor, "{answer}")
    }
}

/// What the other says, up to the end of the line, for which it has so long and so much room.
fn line(mut stream: &UnixStream, patience: Duration) -> io::Result<String> {
    let (until, mut said) = (Instant::now() + patience, Vec::new());
    let mut byte = [0];
    while said.len() < LINE_MAX {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", patience.as_secs())));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut byte) {
            Ok(0) => break,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) => said.extend(byte),
            // How the kernel says that the time is over; then it is found above.
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    String::from_utf8(said).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Where others ask the server of the drive at `place` for something.
pub fn door(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".sock");
    name.into()
}

/// Asks the process that serves a drive for a fault, or for none any more.
///
/// # Errors
/// [`AttachError::Gone`] if it does not answer; [`AttachError::Fault`] if the fault is beyond the drive's end.
pub fn order(entry: &AttachedEntry, fault: Option<Fault>) -> Result<(), AttachError> {
    fault.map_or(Ok(()), |fault| fault.check(entry.capacity))?;
    let ask = || -> io::Result<String> {
        let door = UnixStream::connect(door(&entry.place))?;
        writeln!(&door, "{}", fault.map_or(NONE.to_owned(), |fault| fault.to_string()))?;
        line(&door, ANSWER)
    };
    match ask() {
        Ok(answer) if answer.trim_end() == DONE => Ok(()),
        Ok(answer) => {
            let said = answer.trim_end().escape_debug();
            Err(AttachError::gone(entry, io::Error::other(format!("status `{said}`"))))
        }
        Err(cause) => Err(AttachError::gone(entry, cause)),
    }
}
