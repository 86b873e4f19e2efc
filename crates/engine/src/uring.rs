//! Requests in flight on a file or block device, by io_uring.
#![allow(unsafe_code)]

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use block::{Bytes, Nanos, Op, Request, Tag};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, types};
use rustix::io::Errno;
use workload::Damage;

use crate::buffers::Buffers;
use crate::content::{Content, ContentMark};
use crate::entries::{CommandEntries, Entries, EntryBuffer, FileEntries};
use crate::error::errno;
use crate::fresh::Fresh;
use crate::nvme::Namespace;
use crate::part::Files;
use crate::registration::{ENTER_REGISTERED_RING, register_ring, unregister_ring};
use crate::ring_setup::{Setup, SetupError, set_up};
use crate::waker::{WakeEvent, Waker};
use crate::{Batch, SubmissionTimes};

/// The largest request: one buffer that the kernel takes as registered.
/// Source: Linux, io_uring/rsrc.c, `io_buffer_validate`: "Arbitrary limit" of 1 GiB.
pub(crate) const BLOCK_MAX: Bytes = Bytes::from_gib(1);
/// The longest that a wait lasts in which nothing is completed, give or take a second.
pub(crate) const TICK: Duration = Duration::from_secs(1);
/// The same for the kernel, which reads it from here.
static TICK_TIME: types::Timespec = types::Timespec::new().sec(TICK.as_secs());
/// By what the completion of that is told from those of requests.
const TICK_DATA: u64 = u64::MAX;
/// The same of the event by which others wake the worker.
const WAKE_DATA: u64 = u64::MAX - 1;

/// What came of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UringCompletion {
    pub tag: Tag,
    /// Bytes moved; zero for a trim.
    pub result: Result<u32, Errno>,
}

/// One worker's queue: each tag has a buffer of one block and may have one request in flight.
pub(crate) struct Ring<'f, E: Entries = FileEntries> {
    ring: IoUring<E::Entry, E::Completion>,
    /// Its number among those that this thread has registered, which spares the kernel to look its descriptor up.
    registration: Option<u32>,
    buffers: Buffers,
    /// Whether the kernel let the buffers be registered.
    registered: bool,
    block: Bytes,
    depth: u32,
    /// Requests pushed and not yet completed.
    in_flight: u32,
    batch: Batch,
    /// Requests pushed and not yet submitted.
    fresh: Fresh,
    /// Whether a tick is to be asked for.
    needs_tick: bool,
    /// The event by which others wake the worker, if they may, and whether it is to be asked for.
    wake: Option<(WakeEvent, bool)>,
    /// Whether nobody waits any more for what is in flight.
    is_abandoned: bool,
    entries: E,
    files: PhantomData<BorrowedFd<'f>>,
}

impl<'f> Ring<'f> {
    /// A queue for `depth` requests of at most `block` bytes to `files`, to be used by this thread only. `content`
    /// is none if nothing will be written.
    pub fn new(
        files: impl Into<Files<'f>>,
        depth: u32,
        block: Bytes,
        content: Option<Content>,
        setup: Setup,
    ) -> Result<Self, SetupError> {
        let Files { fds, places } = files.into();
        let flush = if setup.data_flushes { types::FsyncFlags::DATASYNC } else { types::FsyncFlags::empty() };
        Self::of(&fds, FileEntries { places, flush }, (depth, block), content, setup)
    }
}

impl<'f> Ring<'f, CommandEntries> {
    /// The same of NVMe's character devices, whose namespaces these are, by commands to them.
    pub fn of_commands(
        files: Files<'f>,
        namespaces: Vec<Namespace>,
        (depth, block): (u32, Bytes),
        content: Option<Content>,
        setup: Setup,
    ) -> Result<Self, SetupError> {
        let Files { fds, places } = files;
        Self::of(&fds, CommandEntries { places, namespaces }, (depth, block), content, setup)
    }
}

impl<'f, E: Entries> Ring<'f, E> {
    fn of(
        fds: &[BorrowedFd<'f>],
        entries: E,
        (depth, block): (u32, Bytes),
        content: Option<Content>,
        setup: Setup,
    ) -> Result<Self, SetupError> {
        assert!(block <= BLOCK_MAX, "blocks of {block} are longer than the kernel takes");
        let buffers = Buffers::new(depth, block, content).ok_or(SetupError::Memory)?;
        // Two entries more than there are requests, for the tick and the event.
        let ring = set_up(depth.saturating_add(2), setup).map_err(|error| SetupError::Kernel(errno(&error)))?;
        let fds: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&fds).map_err(|error| SetupError::Kernel(errno(&error)))?;
        let slices = buffers.memory.slices(depth, block);
        // SAFETY: the buffers are plain memory that this struct owns and frees only after the last request.
        // Without the right to lock so much memory this fails, and requests name their buffer instead.
        let registered = unsafe { ring.submitter().register_buffers(&slices) }.is_ok();
        let batch = setup.batch;
        let registration = register_ring(&ring);
        Ok(Self {
            ring,
            registration,
            buffers,
            registered,
            block,
            depth,
            in_flight: 0,
            batch,
            fresh: Fresh::new(depth, batch.submit, setup.times_each),
            // A device that is polled has no timers; waiting for it ends by itself.
            needs_tick: !setup.hipri,
            wake: None,
            is_abandoned: false,
            entries,
            files: PhantomData,
        })
    }

    /// Whether the kernel knows the buffers beforehand.
    pub fn is_registered(&self) -> bool {
        self.registered
    }

    /// Makes a request ready: the next wait sends it on its way at the latest, in one call with others. What is written carries
    /// the `mark`.
    pub fn push(&mut self, tag: Tag, request: Request, mark: ContentMark) -> Result<(), Errno> {
        assert!(tag.0 < self.depth, "tag {} of a queue of {}", tag.0, self.depth);
        assert!(request.op == Op::Trim || request.bytes() <= self.block, "every buffer holds one block");
        if request.op == Op::Write {
            self.buffers.refresh(tag, request, mark);
        }
        if let Some(operand) = self.entries.operand(request) {
            self.buffers.put(tag, &operand);
        }
        let buffer =
            EntryBuffer { at: self.buffers.memory.at(tag), registered: self.registered.then_some(tag.0 as u16) };
        let entry = self.entries.entry(request, buffer, tag.0);
        // Only a queue deeper than the kernel's is ever full.
        while self.ring.submission().is_full() {
            self.make_room()?;
        }
        // SAFETY: the entry's buffer lives until `drop` has waited for everything in flight, is long enough by the
        // assertion above, and is lent, so that nothing touches it meanwhile; the ring holds its registered file open.
        unsafe { self.ring.submission().push(&entry) }.expect("there is room for one more");
        self.buffers.memory.lend(tag);
        self.in_flight += 1;
        if self.fresh.push(tag, request.op) {
            self.submit()?;
        }
        Ok(())
    }

    /// Has the kernel take what was pushed: at once, or where a thread of its own takes it, as soon as that has taken some.
    fn make_room(&mut self) -> Result<(), Errno> {
        self.enter(0)?;
        if !self.ring.params().is_setup_sqpoll() {
            return Ok(());
        }
        match self.ring.submitter().squeue_wait() {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(errno(&error)),
            _ => Ok(()),
        }
    }

    /// What is wrong with the data that this read, which is completed, has brought.
    pub fn damage(&mut self, tag: Tag, request: Request, mark: ContentMark) -> Option<Damage> {
        self.buffers.damage(tag, request, mark)
    }

    /// Adds to `done` what has been completed: at least one request.
    pub fn wait(&mut self, done: &mut Vec<UringCompletion>) -> Result<(), Errno> {
        let before = done.len();
        while done.len() == before {
            self.wait_until_tick(done)?;
        }
        Ok(())
    }

    /// Submits what was pushed and waits for the first completion, or as many as were asked for; adds to `done` all that
    /// are there then. Nothing may be within about a [`TICK`].
    pub fn wait_until_tick(&mut self, done: &mut Vec<UringCompletion>) -> Result<(), Errno> {
        assert!(self.in_flight > 0, "waiting for nothing would never end");
        if self.needs_tick && !self.ring.submission().is_full() {
            let tick = opcode::Timeout::new(&raw const TICK_TIME).build().user_data(TICK_DATA);
            // SAFETY: the time that the entry points to is a constant.
            unsafe { self.ring.submission().push(&tick.into()) }.expect("there is room for one more");
            self.needs_tick = false;
        }
        self.ask_for_event();
        if self.fresh.is_timed() && !self.fresh.is_empty() {
            self.submit()?;
        }
        self.enter(self.batch.complete_min.clamp(1, self.in_flight) as usize)?;
        self.reap(done);
        Ok(())
    }

    /// What ends a wait of this queue without a completion; none where the kernel cannot wait for anything but requests.
    pub fn waker(&mut self) -> Option<Waker> {
        if self.ring.params().is_setup_iopoll() {
            return None;
        }
        let event = WakeEvent::new().ok()?;
        let waker = event.waker();
        self.wake = Some((event, true));
        Some(waker)
    }

    fn ask_for_event(&mut self) {
        let is_full = self.ring.submission().is_full();
        let Some((event, is_wanted @ true)) = self.wake.as_mut().filter(|_| !is_full) else { return };
        let poll = opcode::PollAdd::new(types::Fd(event.raw()), libc::POLLIN as u32).build().user_data(WAKE_DATA);
        // SAFETY: the entry names a descriptor and no memory.
        unsafe { self.ring.submission().push(&poll.into()) }.expect("there is room for one more");
        *is_wanted = false;
    }

    /// Submits what was pushed by a call of its own.
    fn submit(&mut self) -> Result<(), Errno> {
        let completed = self.ring.completion().len();
        let began = self.fresh.is_timed().then(Instant::now);
        self.enter(0)?;
        let took = began.map(|began| Nanos::from_std(began.elapsed()));
        self.fresh.submitted(took, self.ring.completion().len() - completed);
        Ok(())
    }

    /// How long the submission of this tag's request took, where each is timed.
    pub fn submitted_in(&self, tag: Tag) -> Option<Nanos> {
        self.fresh.took(tag)
    }

    /// How long submissions took, of those that were timed.
    pub fn submission(&self) -> SubmissionTimes {
        self.fresh.times()
    }

    /// Adds to `done` what has been completed within `patience`, if anything; returns with the first of it.
    ///
    /// The last part of a wait is spent asking again and again, because to be woken takes the kernel longer.
    pub fn wait_for(&mut self, done: &mut Vec<UringCompletion>, patience: Duration) -> Result<(), Errno> {
        const ASK: Duration = Duration::from_micros(80);
        if self.fresh.times_each() && !self.fresh.is_empty() {
            self.submit()?;
        }
        self.ask_for_event();
        let sleep = patience.saturating_sub(ASK);
        if !self.ring.params().is_feature_ext_arg() {
            // Before Linux 5.11 the kernel waits for completions without a limit of time, or not at all.
            std::thread::sleep(sleep.min(ASK));
            self.enter(0)?;
        } else {
            let time = types::Timespec::new().sec(sleep.as_secs()).nsec(sleep.subsec_nanos());
            self.enter_until(1, &types::SubmitArgs::new().timespec(&time))?;
        }
        self.reap(done);
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<UringCompletion>) {
        let before = done.len();
        let most = self.batch.complete_max.map_or(usize::MAX, |most| most as usize);
        for entry in self.ring.completion().take(most) {
            let entry: cqueue::Entry = entry.into();
            if entry.user_data() == TICK_DATA {
                // A kernel without timers is not asked again.
                self.needs_tick = entry.result() == -libc::ETIME;
                continue;
            }
            if entry.user_data() == WAKE_DATA {
                if let Some((event, is_wanted)) = &mut self.wake {
                    event.lower();
                    // A kernel that cannot wait for it is not asked again.
                    *is_wanted = entry.result() > 0;
                }
                continue;
            }
            let result = E::outcome(entry.result(), entry.user_data());
            let tag = Tag(entry.user_data() as u32);
            self.buffers.memory.give_back(tag);
            done.push(UringCompletion { tag, result });
            self.in_flight -= 1;
        }
        self.fresh.waited((done.len() - before) as u32);
    }

    /// Has nobody wait any more for what is in flight, which the device does not answer.
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Submits what was pushed and waits for so many completions, by one call.
    fn enter(&mut self, completions: usize) -> Result<(), Errno> {
        loop {
            let entered = match self.registration {
                Some(ring) => self.enter_registered(ring, completions),
                None => self.ring.submit_and_wait(completions).map(drop),
            };
            match entered {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|error| errno(&error)),
            }
        }
    }

    /// The same for a ring that is registered, and that no thread of the kernel looks into.
    fn enter_registered(&mut self, ring: u32, completions: usize) -> io::Result<()> {
        let submission = self.ring.submission();
        let (count, overflows) = (submission.len(), submission.cq_overflow());
        drop(submission);
        let mut flags = ENTER_REGISTERED_RING;
        if completions > 0 || overflows || self.ring.params().is_setup_iopoll() {
            flags |= EnterFlags::GETEVENTS.bits();
        }
        let none = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the call takes the ring's number and no memory; what the entries name is as it was promised when they were
        // pushed.
        let entered =
            unsafe { libc::syscall(libc::SYS_io_uring_enter, ring, count as u32, completions as u32, flags, none, 0) };
        if entered < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Submits what was pushed and waits for so many completions, or until the time is over.
    fn enter_until(&self, completions: usize, limits: &types::SubmitArgs) -> Result<(), Errno> {
        match self.ring.submitter().submit_with_args(completions, limits) {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => Err(errno(&error)),
            _ => Ok(()),
        }
    }
}

/// Waits for all that is in flight: the kernel must not read or write memory that is no longer ours. Then hands the
/// file back, which the kernel would otherwise keep until it comes to take the ring down, after the program's end.
impl<E: Entries> Drop for Ring<'_, E> {
    fn drop(&mut self) {
        self.finish();
        if let Some(number) = self.registration.take() {
            unregister_ring(self.ring.as_raw_fd(), number);
        }
    }
}

impl<E: Entries> Ring<'_, E> {
    fn finish(&mut self) {
        let mut done = Vec::new();
        while self.in_flight > 0 {
            if self.is_abandoned || self.wait(&mut done).is_err() {
                // Lost requests may still use the buffers: better to leak them than to reuse them. The kernel takes the
                // ring down by itself once the last of them has ended.
                self.buffers.memory.leak();
                return;
            }
            done.clear();
        }
        // If it cannot be handed back now, it will be then.
        let _ = self.ring.submitter().unregister_files();
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use block::{Lba, Seed};

    use super::*;

    const CONTENT: Content = Content { seed: Seed::new(7), compressible: 0, duplicates: 0, stamp: None };
    const SETUP: Setup = Setup {
        deferred: true,
        hipri: false,
        sqthread_poll: false,
        data_flushes: false,
        times_each: false,
        batch: Batch::DEFAULT,
    };

    fn write(at: u64, sectors: u32) -> Request {
        Request::new(Op::Write, Lba::new(at), sectors)
    }

    #[test]
    fn every_page_written_differs_and_does_not_repeat_itself() {
        let file = tempfile::tempfile().unwrap();
        let mut ring = Ring::new(file.as_fd(), 2, Bytes::from_kib(8), Some(CONTENT), SETUP).unwrap();
        let mut done = Vec::new();
        for place in 0..8 {
            ring.push(Tag(place % 2), write(u64::from(place) * 16, 16), ContentMark::None).unwrap();
            ring.wait(&mut done).unwrap();
        }
        assert!(done.iter().all(|done| done.result == Ok(8192)), "{done:?}");
        let mut pages = vec![[0; 4096]; 16];
        for (page, index) in pages.iter_mut().zip(0..) {
            file.read_exact_at(page, index * 4096).unwrap();
        }
        pages.sort();
        pages.dedup();
        assert_eq!(pages.len(), 16, "two pages of 16 are the same");
        let mut words: Vec<&[u8]> = pages[0].chunks(8).collect();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), 512, "a page repeats itself");
    }

    #[test]
    fn what_compresses_shares_nothing_with_what_was_written_before() {
        let file = tempfile::tempfile().unwrap();
        let content = Content { compressible: 50, ..CONTENT };
        let mut ring = Ring::new(file.as_fd(), 1, Bytes::from_kib(8), Some(content), SETUP).unwrap();
        let mut done = Vec::new();
        for place in 0..8 {
            ring.push(Tag(0), write(place * 16, 16), ContentMark::None).unwrap();
            ring.wait(&mut done).unwrap();
        }
        let mut bytes = vec![0; 65_536];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let mut words: Vec<&[u8]> = bytes.chunks(8).filter(|word| word.iter().any(|byte| *byte != 0)).collect();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), 65_536 / 8 / 2);
    }

    #[test]
    fn requests_of_several_sizes_share_a_queue_and_flushes_need_no_buffer() {
        let file = tempfile::tempfile().unwrap();
        let content = Content { compressible: 100, ..CONTENT };
        let mut ring =
            Ring::new(file.as_fd(), 1, Bytes::from_kib(64), Some(content), Setup { data_flushes: true, ..SETUP })
                .unwrap();
        let mut done = Vec::new();
        for request in [write(0, 128), Request { durable: true, ..write(128, 1) }, Request::FLUSH] {
            ring.push(Tag(0), request, ContentMark::None).unwrap();
            ring.wait(&mut done).unwrap();
        }
        let moved: Vec<_> = done.iter().map(|done| done.result).collect();
        assert_eq!(moved, [Ok(65_536), Ok(512), Ok(0)]);
        let mut bytes = vec![1; 66_048];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0), "zeroes are zeroes, with nothing fresh");
    }

    /// More requests than the kernel has entries for, which its thread takes in its own time.
    #[test]
    fn a_queue_deeper_than_the_kernels_works_by_a_thread_of_the_kernels() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let setup = Setup { deferred: false, sqthread_poll: true, ..SETUP };
        let mut ring = Ring::new(file.as_fd(), 65_536, Bytes::new(512), None, setup).unwrap();
        (0..65_536)
            .for_each(|tag| ring.push(Tag(tag), Request::new(Op::Read, Lba::new(0), 1), ContentMark::None).unwrap());
        let mut done = Vec::new();
        while done.len() < 65_536 {
            ring.wait(&mut done).unwrap();
        }
        assert!(done.iter().all(|done| done.result == Ok(512)));
    }

    #[test]
    #[should_panic(expected = "the buffer of tag 0 is in flight")]
    fn a_buffer_in_flight_cannot_be_touched() {
        let file = tempfile::tempfile().unwrap();
        let mut ring = Ring::new(file.as_fd(), 1, Bytes::from_kib(4), Some(CONTENT), SETUP).unwrap();
        ring.push(Tag(0), write(0, 8), ContentMark::None).unwrap();
        let _ = ring.push(Tag(0), write(0, 8), ContentMark::None);
    }

    #[test]
    fn waiting_for_a_while_ends_without_a_completion() {
        let file = tempfile::tempfile().unwrap();
        let mut ring = Ring::new(file.as_fd(), 1, Bytes::from_kib(4), None, SETUP).unwrap();
        let mut done = Vec::new();
        ring.wait_for(&mut done, Duration::from_micros(300)).unwrap();
        assert!(done.is_empty());
    }

    #[test]
    fn a_queue_is_woken_without_a_completion_as_often_as_it_is_asked_for() {
        let (pipe, _end) = std::io::pipe().unwrap();
        let mut ring = Ring::new(pipe.as_fd(), 1, Bytes::from_kib(4), None, SETUP).unwrap();
        let waker = ring.waker().unwrap();
        ring.push(Tag(0), Request::new(Op::Read, Lba::new(0), 8), ContentMark::None).unwrap();
        let mut done = Vec::new();
        for _ in 0..3 {
            waker.wake();
            // The event is there before the wait begins, and the end of a wait asks for the next.
            while !ring.wake.as_ref().unwrap().1 {
                ring.wait_until_tick(&mut done).unwrap();
            }
            ring.wait_until_tick(&mut done).unwrap();
            assert!(done.is_empty() && ring.wake.as_ref().unwrap().1, "the wait ended with the event");
        }
        ring.abandon();
    }

    #[test]
    fn each_submission_is_timed_where_that_is_asked_for() {
        let file = tempfile::tempfile().unwrap();
        for times_each in [true, false] {
            let setup = Setup { times_each, ..SETUP };
            let mut ring = Ring::new(file.as_fd(), 4, Bytes::from_kib(4), Some(CONTENT), setup).unwrap();
            (0..4).for_each(|tag| ring.push(Tag(tag), write(u64::from(tag) * 8, 8), ContentMark::None).unwrap());
            let mut done = Vec::new();
            ring.wait(&mut done).unwrap();
            let timed = (0..4).filter_map(|tag| ring.submitted_in(Tag(tag))).filter(|took| *took > Nanos::ZERO);
            assert_eq!(timed.count(), if times_each { 4 } else { 0 });
        }
    }

    #[test]
    fn a_dropped_queue_has_finished_what_it_began() {
        let file = tempfile::tempfile().unwrap();
        let mut ring = Ring::new(file.as_fd(), 4, Bytes::from_kib(4), Some(CONTENT), SETUP).unwrap();
        (0..4).for_each(|tag| ring.push(Tag(tag), write(u64::from(tag) * 8, 8), ContentMark::None).unwrap());
        drop(ring);
        assert_eq!(file.metadata().unwrap().len(), 16_384);
    }

    #[test]
    fn each_request_goes_to_the_file_that_its_place_is_in() {
        let files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
        let (pipe, _end) = std::io::pipe().unwrap();
        let fds = [files[0].as_fd(), files[1].as_fd(), pipe.as_fd()];
        let files_of = || Files::new(&fds, &[0, 8 << 10, 1 << 20]);
        let mut ring = Ring::new(files_of(), 1, Bytes::from_kib(4), Some(CONTENT), SETUP).unwrap();
        let mut done = Vec::new();
        let flush = |at| Request { lba: Lba::new(at), ..Request::FLUSH };
        for request in [write(8, 8), write(32, 8), flush(0), flush(2048)] {
            ring.push(Tag(0), request, ContentMark::None).unwrap();
            ring.wait(&mut done).unwrap();
        }
        let results: Vec<_> = done.iter().map(|done| done.result).collect();
        assert_eq!(results, [Ok(4096), Ok(4096), Ok(0), Err(Errno::INVAL)], "a pipe cannot be flushed");
        assert_eq!(files.each_ref().map(|file| file.metadata().unwrap().len()), [8 << 10, 12 << 10]);
    }

    #[test]
    fn a_failed_request_gives_the_kernels_reason() {
        let directory = std::fs::File::open("/").unwrap();
        let mut ring = Ring::new(directory.as_fd(), 1, Bytes::from_kib(4), None, SETUP).unwrap();
        ring.push(Tag(0), Request::new(Op::Read, Lba::new(0), 8), ContentMark::None).unwrap();
        let mut done = Vec::new();
        ring.wait(&mut done).unwrap();
        assert_eq!(done[0].result, Err(Errno::ISDIR));
    }
}
