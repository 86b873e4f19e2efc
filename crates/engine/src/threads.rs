//! Requests in flight where io_uring is not to be had: a thread for each.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use block::{Bytes, Op, Request, Tag};
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, ReadWriteFlags};
use workload::Damage;

use crate::Batch;
use crate::buffers::Buffers;
use crate::content::{Content, ContentMark};
use crate::error::errno;
use crate::part::{Files, Places};
use crate::ring_setup::SetupError;
use crate::uring::{TICK, UringCompletion};
use crate::waker::Waker;

/// The most threads of one worker. A queue that is deeper waits for them.
const THREADS_MAX: u32 = 256;

/// One worker's queue, emptied by threads that each have a buffer of their own and wait for one request at a time.
///
/// A queue of one needs no other thread: the worker makes the request itself.
pub(crate) struct Threads {
    own: Option<(Carrier, VecDeque<ThreadRequest>)>,
    waiting: Arc<ThreadQueue>,
    done: Receiver<Option<ThreadResult>>,
    sender: Sender<Option<ThreadResult>>,
    /// What is wrong with the data of reads that are completed and not yet asked about.
    damaged: Vec<(Tag, Damage)>,
    threads: Vec<JoinHandle<()>>,
    batch: Batch,
    /// Requests pushed and not yet completed.
    in_flight: u32,
    /// Whether nobody waits any more for what is in flight.
    is_abandoned: bool,
}

/// A request, and by what its data is known.
type ThreadRequest = (Tag, Request, ContentMark);
/// What came of it, and what is wrong with its data.
type ThreadResult = (UringCompletion, Option<Damage>);

/// What has been pushed and not yet been taken by a thread.
#[derive(Default)]
struct ThreadQueue {
    requests: Mutex<(VecDeque<ThreadRequest>, bool)>,
    changed: Condvar,
}

impl Threads {
    /// A queue for `depth` requests of at most `block` bytes to `files`. `data_flushes` leave out the metadata that
    /// data does not need.
    pub fn new<'f>(
        files: impl Into<Files<'f>>,
        depth: u32,
        block: Bytes,
        content: Option<Content>,
        data_flushes: bool,
        batch: Batch,
    ) -> Result<Self, SetupError> {
        let Files { fds, places } = files.into();
        let cloned: Result<Arc<[OwnedFd]>, _> = fds.iter().map(|file| file.try_clone_to_owned()).collect();
        let files = cloned.map_err(|error| SetupError::Kernel(errno(&error)))?;
        let carrier = |number: u32| -> Result<Carrier, SetupError> {
            let content = content.map(|content| Content { seed: content.seed.number(u64::from(number)), ..content });
            let buffer = Buffers::new(1, block, content).ok_or(SetupError::Memory)?;
            Ok(Carrier { files: Arc::clone(&files), places: places.clone(), buffer, data_flushes })
        };
        let waiting = Arc::new(ThreadQueue::default());
        let (sender, done) = channel();
        let mut queue = Self {
            own: None,
            waiting,
            done,
            sender: sender.clone(),
            damaged: Vec::new(),
            threads: Vec::new(),
            batch,
            in_flight: 0,
            is_abandoned: false,
        };
        if depth == 1 {
            queue.own = Some((carrier(0)?, VecDeque::new()));
            return Ok(queue);
        }
        for number in 0..depth.min(THREADS_MAX) {
            let (carrier, waiting, sender) = (carrier(number)?, Arc::clone(&queue.waiting), sender.clone());
            let thread = thread::Builder::new().name(format!("request {number}"));
            let started = thread.spawn(move || carrier.work(&waiting, &sender));
            queue.threads.push(started.map_err(|error| SetupError::Kernel(errno(&error)))?);
        }
        Ok(queue)
    }

    /// Sends a request on its way. What is written carries the mark, and what is read is to.
    pub fn push(&mut self, tag: Tag, request: Request, mark: ContentMark) {
        self.in_flight += 1;
        match &mut self.own {
            Some((_, requests)) => requests.push_back((tag, request, mark)),
            None => {
                self.waiting.lock().0.push_back((tag, request, mark));
                self.waiting.changed.notify_one();
            }
        }
    }

    /// Adds to `done` what has been completed: at least one request, or as many as were asked for, unless there is none for
    /// a [`TICK`]. The only request of a queue of one is waited for however long it takes.
    pub fn wait_until_tick(&mut self, done: &mut Vec<UringCompletion>) {
        if let Some((carrier, requests)) = &mut self.own {
            let work = requests.pop_front().expect("a worker waits only for what it has pushed");
            let carried = carrier.carry_and_check(work);
            return self.take(carried, done);
        }
        let least = self.batch.complete_min.clamp(1, self.in_flight);
        let before = done.len();
        while done.len() - before < least as usize {
            match self.done.recv_timeout(TICK) {
                Ok(Some(carried)) => self.take(carried, done),
                Ok(None) | Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => unreachable!("the threads end only with the queue"),
            }
        }
        self.take_rest(done, before);
    }

    /// What ends a wait of this queue without a completion; none where the worker makes each request itself.
    pub fn waker(&mut self) -> Option<Waker> {
        let sender = self.sender.clone();
        self.own.is_none().then(|| {
            Waker::new(move || {
                // Nobody waits behind the end of the queue.
                let _ = sender.send(None);
            })
        })
    }

    /// Whether the worker makes each request itself.
    pub fn is_blocking(&self) -> bool {
        self.own.is_some()
    }

    /// Has nobody wait any more for what is in flight, which the device does not answer.
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// What is wrong with the data of this read, which is completed.
    pub fn damage(&mut self, tag: Tag) -> Option<Damage> {
        let place = self.damaged.iter().position(|(other, _)| *other == tag)?;
        Some(self.damaged.swap_remove(place).1)
    }

    fn take(&mut self, (carried, damage): ThreadResult, done: &mut Vec<UringCompletion>) {
        self.in_flight -= 1;
        self.damaged.extend(damage.map(|damage| (carried.tag, damage)));
        done.push(carried);
    }

    /// Takes all that is there, as far as that may be taken at a time.
    fn take_rest(&mut self, done: &mut Vec<UringCompletion>, before: usize) {
        let most = self.batch.complete_max.map_or(usize::MAX, |most| most as usize);
        while done.len() - before < most
            && let Ok(carried) = self.done.try_recv()
        {
            carried.into_iter().for_each(|carried| self.take(carried, done));
        }
    }

    /// The same, but within `patience` if nothing is completed before.
    pub fn wait_for(&mut self, done: &mut Vec<UringCompletion>, patience: Duration) {
        match &self.own {
            Some((_, requests)) if requests.is_empty() => thread::sleep(patience),
            Some(_) => self.wait_until_tick(done),
            None => match self.done.recv_timeout(patience) {
                Ok(Some(first)) => {
                    let before = done.len();
                    self.take(first, done);
                    self.take_rest(done, before);
                }
                Ok(None) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            },
        }
    }
}

/// What no thread has begun is dropped; what one has begun is waited for, unless nobody does any more.
impl Drop for Threads {
    fn drop(&mut self) {
        {
            let mut requests = self.waiting.lock();
            *requests = (VecDeque::new(), true);
        }
        self.waiting.changed.notify_all();
        if self.is_abandoned {
            return;
        }
        for thread in self.threads.drain(..) {
            // One that panicked has told so already.
            let _ = thread.join();
        }
    }
}

impl ThreadQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, (VecDeque<ThreadRequest>, bool)> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request, as soon as there is one; none when there will be no more.
    fn take(&self) -> Option<ThreadRequest> {
        let idle = |(requests, over): &mut (VecDeque<_>, bool)| requests.is_empty() && !*over;
        let requests = self.changed.wait_while(self.lock(), idle);
        requests.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }
}

/// What carries out one request at a time.
struct Carrier {
    files: Arc<[OwnedFd]>,
    places: Places,
    buffer: Buffers,
    data_flushes: bool,
}

impl Carrier {
    fn work(mut self, waiting: &ThreadQueue, done: &Sender<Option<ThreadResult>>) {
        while let Some(work) = waiting.take() {
            if done.send(Some(self.carry_and_check(work))).is_err() {
                return;
            }
        }
    }

    fn carry_and_check(&mut self, (tag, request, mark): ThreadRequest) -> ThreadResult {
        let result = self.carry(request, mark);
        let whole = result.is_ok_and(|moved| Bytes::new(u64::from(moved)) == request.bytes());
        let checks = whole && request.op == Op::Read && mark != ContentMark::None;
        let damage = if checks { self.buffer.damage(Tag(0), request, mark) } else { None };
        (UringCompletion { tag, result }, damage)
    }

    /// Carries out a request; the bytes that it moved.
    fn carry(&mut self, request: Request, mark: ContentMark) -> Result<u32, Errno> {
        let (file, offset) = self.places.of(request.lba.offset().get());
        let file = self.files[file].as_fd();
        match request.op {
            Op::Read => {
                let buffer = self.buffer.bytes(request.bytes());
                retried(|| rustix::io::preadv2(file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::empty()))
            }
            Op::Write => {
                self.buffer.refresh(Tag(0), request, mark);
                let flags = if request.durable { ReadWriteFlags::DSYNC } else { ReadWriteFlags::empty() };
                let buffer = self.buffer.bytes(request.bytes());
                retried(|| rustix::io::pwritev2(file, &[IoSlice::new(buffer)], offset, flags))
            }
            Op::Trim => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                retried(|| rustix::fs::fallocate(file, mode, offset, request.bytes().get()).map(|()| 0))
            }
            Op::Append | Op::Zone(_) => unreachable!("only simulated drives have zones"),
            Op::Flush if self.data_flushes => retried(|| rustix::fs::fdatasync(file).map(|()| 0)),
            Op::Flush => retried(|| rustix::fs::fsync(file).map(|()| 0)),
        }
    }
}

/// Calls until no signal interrupts the call.
fn retried(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<u32, Errno> {
    rustix::io::retry_on_intr(&mut call).map(|moved| moved as u32)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use block::{Lba, Seed};

    use super::*;

    const CONTENT: Content = Content { seed: Seed::new(7), compressible: 0, duplicates: 0, stamp: None };

    #[test]
    fn what_threads_write_they_read_and_no_two_pages_are_alike() {
        for depth in [1, 4] {
            let file = tempfile::tempfile().unwrap();
            let mut queue =
                Threads::new(file.as_fd(), depth, Bytes::from_kib(8), Some(CONTENT), false, Batch::DEFAULT).unwrap();
            let mut done = Vec::new();
            for op in [Op::Write, Op::Read] {
                for place in 0..8 {
                    queue.push(
                        Tag(place % depth),
                        Request::new(op, Lba::new(u64::from(place) * 16), 16),
                        ContentMark::None,
                    );
                }
                while done.len() % 8 != 0 || done.is_empty() {
                    queue.wait_until_tick(&mut done);
                }
            }
            assert_eq!(done.len(), 8, "reads were begun only after the writes");
            while done.len() < 16 {
                queue.wait_until_tick(&mut done);
            }
            assert!(done.iter().all(|done| done.result == Ok(8192)), "{done:?}");
            let mut bytes = vec![0; 65_536];
            file.read_exact_at(&mut bytes, 0).unwrap();
            let mut pages: Vec<&[u8]> = bytes.chunks(4096).collect();
            pages.sort();
            pages.dedup();
            assert_eq!(pages.len(), 16);
        }
    }

    #[test]
    fn flushes_and_trims_move_nothing_and_failures_have_their_reason() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let mut queue = Threads::new(file.as_fd(), 1, Bytes::from_kib(4), Some(CONTENT), true, Batch::DEFAULT).unwrap();
        let mut done = Vec::new();
        let trim = Request::new(Op::Trim, Lba::new(0), 8);
        let beyond = Request::new(Op::Read, Lba::new(1 << 40), 8);
        for request in [Request::FLUSH, trim, beyond] {
            queue.push(Tag(0), request, ContentMark::None);
            queue.wait_until_tick(&mut done);
        }
        let moved: Vec<_> = done.iter().map(|done| done.result).collect();
        assert_eq!(moved, [Ok(0), Ok(0), Ok(0)]);
        let directory = std::fs::File::open("/").unwrap();
        let mut queue = Threads::new(directory.as_fd(), 1, Bytes::from_kib(4), None, false, Batch::DEFAULT).unwrap();
        queue.push(Tag(0), Request::new(Op::Read, Lba::new(0), 8), ContentMark::None);
        queue.wait_until_tick(&mut done);
        assert_eq!(done[3].result, Err(Errno::ISDIR));
    }

    #[test]
    fn each_request_goes_to_the_file_that_its_place_is_in() {
        let files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
        let (pipe, _end) = std::io::pipe().unwrap();
        let places = Files::new(&[files[0].as_fd(), files[1].as_fd(), pipe.as_fd()], &[0, 8 << 10, 1 << 20]);
        let mut queue = Threads::new(places, 1, Bytes::from_kib(4), Some(CONTENT), false, Batch::DEFAULT).unwrap();
        let mut done = Vec::new();
        let (write, flush) =
            (|at| Request::new(Op::Write, Lba::new(at), 8), |at| Request { lba: Lba::new(at), ..Request::FLUSH });
        for request in [write(8), write(32), flush(0), flush(2048)] {
            queue.push(Tag(0), request, ContentMark::None);
            queue.wait_until_tick(&mut done);
        }
        let results: Vec<_> = done.iter().map(|done| done.result).collect();
        assert_eq!(results, [Ok(4096), Ok(4096), Ok(0), Err(Errno::INVAL)], "a pipe cannot be flushed");
        assert_eq!(files.map(|file| file.metadata().unwrap().len()), [8 << 10, 12 << 10]);
    }

    #[test]
    fn a_queue_is_woken_without_a_completion() {
        let (pipe, _end) = std::io::pipe().unwrap();
        let mut queue = Threads::new(pipe.as_fd(), 2, Bytes::from_kib(4), None, false, Batch::DEFAULT).unwrap();
        let waker = queue.waker().unwrap();
        (0..2).for_each(|_| waker.wake());
        let mut done = Vec::new();
        assert_eq!(queue.done.try_iter().map(|woken| woken.is_none()).collect::<Vec<_>>(), [true, true]);
        waker.wake();
        queue.wait_for(&mut done, Duration::MAX);
        assert!(done.is_empty(), "the wait would last for ever else");
    }

    #[test]
    fn waiting_for_a_while_ends_without_a_completion() {
        let file = tempfile::tempfile().unwrap();
        for depth in [1, 2] {
            let mut queue = Threads::new(file.as_fd(), depth, Bytes::from_kib(4), None, false, Batch::DEFAULT).unwrap();
            let mut done = Vec::new();
            queue.wait_for(&mut done, Duration::from_micros(300));
            assert!(done.is_empty());
        }
    }
}
