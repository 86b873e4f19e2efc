//! Where the requests to an attached drive come from, whatever they come by.

use std::io::{self, PipeReader};
use std::panic::{AssertUnwindSafe, catch_unwind};

use block::{Lba, Op, Request, SECTOR};
use drive::Shape;
use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;

use crate::AttachError;

/// Where requests come from and answers go to, in whatever order.
pub trait Port {
    /// What tells a request from others until it is answered.
    type Name;

    /// What has come; nothing if that is all for now.
    ///
    /// # Errors
    /// If the port breaks, so that no request can be answered any more.
    fn receive(&mut self) -> Result<Received<Self::Name>, AttachError>;

    /// Answers a request: with what was read, with nothing for what is no read, or with an error.
    ///
    /// # Errors
    /// If the port breaks. That the asker is gone is no error.
    fn answer(&mut self, name: Self::Name, answer: Result<&[u8], Errno>) -> io::Result<()>;

    /// Waits until something may have come, `woken` can be read, or the time is over.
    ///
    /// # Errors
    /// If it cannot be waited for.
    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()>;
}

/// What has come.
#[derive(Debug)]
pub enum Received<N> {
    Nothing,
    /// Something that was no request to the drive and is dealt with; there may be more.
    Other,
    /// A request to the drive.
    Request(IoRequest<N>),
    /// Nothing will come any more.
    End,
}

/// A request to the drive.
#[derive(Debug)]
pub struct IoRequest<N> {
    /// What it is answered by.
    pub name: N,
    /// Where it begins, in bytes; of no meaning for a flush.
    pub offset: u64,
    /// How many bytes it is about; none for a flush.
    pub length: u64,
    /// What is to be done.
    pub work: IoWork,
}

/// What a request does to the data.
#[derive(Debug)]
pub enum IoWork {
    /// Brings it.
    Read,
    /// Replaces it once it is answered: of a write that is not answered, nothing is there if the power is cut.
    Write {
        /// What is to be there.
        data: Vec<u8>,
        /// Whether it must survive a loss of power before it is answered.
        durable: bool,
    },
    /// Forgets it.
    Trim,
    /// Makes all that was written survive a loss of power.
    Flush,
}

impl<N> IoRequest<N> {
    /// It as the drive is asked for it. A flush is about everything, whatever place and length came with it.
    pub fn request(&self) -> Request {
        let (op, durable) = match self.work {
            IoWork::Read => (Op::Read, false),
            IoWork::Write { durable, .. } => (Op::Write, durable),
            IoWork::Trim => (Op::Trim, false),
            IoWork::Flush => return Request::FLUSH,
        };
        let (first, sectors) = (self.offset / SECTOR.get(), self.length / SECTOR.get());
        Request { durable, ..Request::new(op, Lba::new(first), sectors as u32) }
    }

    /// Whether it is about whole blocks within a drive of this shape.
    pub fn is_within(&self, shape: Shape) -> bool {
        let Self { offset, length, .. } = *self;
        if matches!(self.work, IoWork::Flush) {
            return true;
        }
        let block = shape.block.max(SECTOR).get();
        let aligned = offset.is_multiple_of(block) && length.is_multiple_of(block) && length > 0;
        let is_counted = u32::try_from(length / SECTOR.get()).is_ok();
        aligned && is_counted && offset.checked_add(length).is_some_and(|end| end <= shape.capacity.get())
    }
}

/// Has something done for one who asked, so that a mistake of ours in it stays with that one; none if there was one.
pub fn shielded<T>(act: impl FnOnce() -> T) -> Option<T> {
    // What it leaves half done is not used again: callers let go of it.
    catch_unwind(AssertUnwindSafe(act)).ok()
}

/// Waits for any of these, or for `woken`, no longer than this; a signal ends it too.
///
/// # Errors
/// If the kernel has no memory for it.
pub fn wait_for(sources: &mut [PollFd<'_>], timeout: &Timespec) -> io::Result<()> {
    match poll(sources, Some(timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    #[test]
    fn a_flush_is_about_no_place_and_a_request_is_as_long_as_drives_can_be_asked_for() {
        let wanted = |offset, length, work| IoRequest { name: (), offset, length, work };
        assert_eq!(wanted(1 << 63, 512, IoWork::Flush).request(), Request::FLUSH);
        let shape = Shape { capacity: Bytes::new(16 << 40), block: Bytes::new(512), queue_depth: 1 };
        let longest = u64::from(u32::MAX) * 512;
        assert!(wanted(0, longest, IoWork::Trim).is_within(shape));
        assert!(!wanted(0, longest + 512, IoWork::Trim).is_within(shape), "it would be one of no sectors");
        assert!(!wanted(u64::MAX - 511, 512, IoWork::Read).is_within(shape));
    }
}
