//! A virtual machine's rings as the port of a drive.

use std::io::{self, PipeReader};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use drive::Shape;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::host::Host;
use super::request::{Asked, Status, answer, name, read};
use super::rings::{Place, Rings};
use crate::AttachError;
use crate::port::{Port, Received, Wanted, wait_for};

/// The virtual machine that is connected, if one is.
pub struct Machine {
    rings: Arc<Rings>,
    /// Ends when nobody looks at the rings any more.
    _host: Host,
}

impl Machine {
    /// Whichever machine's monitor comes to `listener`, one after the other, to use a drive of this shape.
    ///
    /// # Errors
    /// If the kernel has no event or thread for it.
    pub fn new(listener: UnixListener, shape: Shape) -> io::Result<Self> {
        let rings = Arc::new(Rings::new()?);
        let host = Host::new(listener, Arc::clone(&rings), shape)?;
        Ok(Self { rings, _host: host })
    }
}

impl Port for Machine {
    type Name = Place;

    fn receive(&mut self) -> Result<Received<Place>, AttachError> {
        let Some(place) = self.rings.next() else { return Ok(Received::Nothing) };
        match read(&place.chain) {
            Asked::Drive(offset, length, work) => {
                return Ok(Received::Request(Wanted { name: place, offset, length, work }));
            }
            Asked::Name => self.rings.give_back(&place, |chain| answer(chain, &name(), Status::Done)),
            Asked::Ends(status) => self.rings.give_back(&place, |chain| answer(chain, &[], status)),
        }
        Ok(Received::Other)
    }

    fn answer(&mut self, place: Place, result: Result<&[u8], Errno>) -> io::Result<()> {
        let (data, status) = result.map_or((&[][..], Status::Failed), |data| (data, Status::Done));
        self.rings.give_back(&place, |chain| answer(chain, data, status));
        Ok(())
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        let mut sources = vec![PollFd::new(self.rings.bell(), PollFlags::IN)];
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)?;
        self.rings.heard();
        Ok(())
    }
}
