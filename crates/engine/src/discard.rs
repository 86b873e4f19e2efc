//! Trims of a block device.

use std::collections::VecDeque;

use block::{Request, Tag};
use rustix::io::Errno;

use crate::uring::UringCompletion;
use crate::{Target, kernel};

/// One worker's queue of trims on a block device, which takes them one at a time.
///
/// Discards through io_uring came with Linux 6.12; the call that every kernel has returns only when the device
/// is done. So a worker has one trim at the device, whatever its queue depth; the others wait here, and their
/// latency includes the wait, as it would in any queue. More workers give more at once.
pub(crate) struct Discards<'t> {
    target: &'t Target,
    waiting: VecDeque<(Tag, Request)>,
}

impl<'t> Discards<'t> {
    /// An empty queue.
    pub fn new(target: &'t Target) -> Self {
        Self { target, waiting: VecDeque::new() }
    }

    /// Adds a trim at the end.
    pub fn push(&mut self, tag: Tag, request: Request) {
        self.waiting.push_back((tag, request));
    }

    /// Whether nothing has been pushed that is still to be done.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Does the first trim and adds it to `done`.
    pub fn wait(&mut self, done: &mut Vec<UringCompletion>) {
        let (tag, request) = self.waiting.pop_front().expect("a worker waits only for what it has pushed");
        let (part, offset) = (self.target.part_at(request.lba.offset()), request.lba.offset());
        let result: Result<(), Errno> = kernel::discard(part.fd(), offset - part.start, request.bytes());
        done.push(UringCompletion { tag, result: result.map(|()| 0) });
    }
}
