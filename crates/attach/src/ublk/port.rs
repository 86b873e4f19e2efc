//! A queue of the ublk driver's as the port of a drive.

use std::fs::File;
use std::io::{self, PipeReader};

use host::open;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::{Errno, pread, pwrite};

use super::abi::{Descriptor, UblkCommand, UblkRequest, command, data};
use super::device::Added;
use super::kernel::{Descriptors, UblkRing};
use crate::AttachError;
use crate::port::{IoRequest, IoWork, Port, Received, wait_for};

/// The only queue of a device. It belongs to the thread that receives from it first.
pub struct UblkQueue {
    ring: UblkRing,
    descriptors: Descriptors,
    /// Where the data of requests is.
    characters: File,
    /// Whether requests are waited for.
    is_open: bool,
    /// Goes last.
    device: Added,
}

/// A request of the kernel's.
#[derive(Debug)]
pub struct Name {
    tag: u16,
    /// What is said when it is done: how much data was moved.
    moved: i32,
}

impl UblkQueue {
    /// That of a device whose disk is not there yet.
    ///
    /// # Errors
    /// If the kernel has no ring for it, or the device cannot be opened.
    pub fn of(device: Added) -> Result<Self, AttachError> {
        let path = device.characters();
        let opened = open::character_device(&path, OFlags::empty());
        let characters = opened.map_err(|cause| AttachError::Content { path, cause })?;
        let (ring, descriptors) =
            (UblkRing::new(device.depth().into())?, Descriptors::of(&characters, device.depth())?);
        Ok(Self { ring, descriptors, characters, is_open: false, device })
    }

    /// Waits for a request of each tag.
    fn open(&mut self) -> io::Result<()> {
        for tag in 0..self.device.depth() {
            self.ring.push(&self.characters, UblkCommand::FETCH, tag, command(tag, 0))?;
        }
        self.is_open = true;
        Ok(())
    }

    /// Ends a request with so much data moved or an error, and waits for the next one of its tag.
    fn commit(&mut self, tag: u16, result: Result<i32, Errno>) -> io::Result<()> {
        let result = result.unwrap_or_else(|errno| -errno.raw_os_error());
        self.ring.push(&self.characters, UblkCommand::COMMIT, tag, command(tag, result))
    }

    /// What a request wants of the drive.
    fn wanted(&self, tag: u16) -> Result<IoRequest<Name>, Errno> {
        let Descriptor { op, offset, length } = Descriptor::read(&self.descriptors.get(tag));
        let (moved, work) = match op.ok_or(Errno::OPNOTSUPP)? {
            UblkRequest::Read => (length as i32, IoWork::Read),
            UblkRequest::Write { durable } => {
                let mut new = vec![0; length as usize];
                if pread(&self.characters, &mut new[..], data(tag))? < new.len() {
                    return Err(Errno::IO);
                }
                (length as i32, IoWork::Write { data: new, durable })
            }
            UblkRequest::Zeroes { durable } => (0, IoWork::Write { data: vec![0; length as usize], durable }),
            UblkRequest::Trim => (0, IoWork::Trim),
            UblkRequest::Flush => (0, IoWork::Flush),
        };
        Ok(IoRequest { name: Name { tag, moved }, offset, length, work })
    }
}

impl Port for UblkQueue {
    type Name = Name;

    fn receive(&mut self) -> Result<Received<Name>, AttachError> {
        if !self.is_open {
            self.open()?;
        }
        // Answers go together, and before anything else is taken.
        self.ring.submit()?;
        let Some((tag, result)) = self.ring.next() else { return Ok(Received::Nothing) };
        if result < 0 {
            // The disk goes only when all is answered; then nothing comes any more.
            return match Errno::from_raw_os_error(-result) {
                Errno::NODEV => Ok(Received::End),
                errno => Err(AttachError::Ublk { to: "wait for requests", cause: errno.into() }),
            };
        }
        match self.wanted(tag) {
            Ok(wanted) => Ok(Received::Request(wanted)),
            Err(errno) => {
                self.commit(tag, Err(errno))?;
                Ok(Received::Other)
            }
        }
    }

    fn answer(&mut self, Name { tag, moved }: Name, answer: Result<&[u8], Errno>) -> io::Result<()> {
        let copied = answer.and_then(|read| match read {
            [] => Ok(moved),
            read => pwrite(&self.characters, read, data(tag)).map(|count| count as i32),
        });
        self.commit(tag, copied)
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        let mut sources = vec![PollFd::new(&self.ring, PollFlags::IN)];
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)
    }
}
