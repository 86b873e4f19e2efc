//! A worker's queue: a ring, threads, or trims one after another.

use std::time::Duration;

use block::{Bytes, Nanos, Request, Tag};
use io_uring::{cqueue, squeue};
use rustix::io::Errno;
use workload::Damage;

use crate::content::{Content, ContentMark};
use crate::discard::Discards;
use crate::entries::CommandEntries;
use crate::handover::first_granted;
use crate::ring_setup::{Setup, SetupError, set_up};
use crate::threads::Threads;
use crate::uring::{Ring, UringCompletion};
use crate::waker::Waker;
use crate::{Handover, IoEngine, Job, Method, Observer, Submission, SubmissionTimes, Target};

/// One worker's way to the target.
pub(crate) enum SubmissionQueue<'r> {
    Ring(Box<Ring<'r>>),
    Commands(Box<Ring<'r, CommandEntries>>),
    Threads(Box<Threads>),
    Discards(Discards<'r>),
}

impl SubmissionQueue<'_> {
    /// Sends a request on its way: what is written carries the mark, what is read is to.
    pub fn push(&mut self, tag: Tag, request: Request, mark: ContentMark) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.push(tag, request, mark),
            Self::Commands(ring) => return ring.push(tag, request, mark),
            Self::Threads(threads) => threads.push(tag, request, mark),
            Self::Discards(discards) => discards.push(tag, request),
        }
        Ok(())
    }

    /// What is wrong with the data of a read that was pushed with this mark and is completed.
    pub fn damage(&mut self, tag: Tag, request: Request, mark: ContentMark) -> Option<Damage> {
        match self {
            Self::Ring(ring) => ring.damage(tag, request, mark),
            Self::Commands(ring) => ring.damage(tag, request, mark),
            Self::Threads(threads) => threads.damage(tag),
            Self::Discards(_) => None,
        }
    }

    /// Adds to `done` what has been completed; nothing where nothing is for about a second.
    pub fn wait_until_tick(&mut self, done: &mut Vec<UringCompletion>) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.wait_until_tick(done),
            Self::Commands(ring) => return ring.wait_until_tick(done),
            Self::Threads(threads) => threads.wait_until_tick(done),
            Self::Discards(discards) => discards.wait(done),
        }
        Ok(())
    }

    /// How long submissions took; none where a request is carried out by whoever submits it.
    pub fn submission(&self) -> Option<SubmissionTimes> {
        match self {
            Self::Ring(ring) => Some(ring.submission()),
            Self::Commands(ring) => Some(ring.submission()),
            Self::Threads(_) | Self::Discards(_) => None,
        }
    }

    /// How long the submission of this tag's request took; none where that was not timed.
    pub fn submitted_in(&self, tag: Tag) -> Option<Nanos> {
        match self {
            Self::Ring(ring) => ring.submitted_in(tag),
            Self::Commands(ring) => ring.submitted_in(tag),
            Self::Threads(_) | Self::Discards(_) => None,
        }
    }

    /// What ends a wait of this queue without a completion; none where nothing can.
    pub fn waker(&mut self) -> Option<Waker> {
        match self {
            Self::Ring(ring) => ring.waker(),
            Self::Commands(ring) => ring.waker(),
            Self::Threads(threads) => threads.waker(),
            Self::Discards(_) => None,
        }
    }

    /// Whether it makes requests in the calling thread, so that a wait may never end.
    pub fn is_blocking(&self) -> bool {
        match self {
            Self::Ring(_) | Self::Commands(_) => false,
            Self::Threads(threads) => threads.is_blocking(),
            Self::Discards(_) => true,
        }
    }

    /// Has nobody wait any more for what is in flight. A queue that waits for each request by itself has nothing in flight.
    pub fn abandon(&mut self) {
        match self {
            Self::Ring(ring) => ring.abandon(),
            Self::Commands(ring) => ring.abandon(),
            Self::Threads(threads) => threads.abandon(),
            Self::Discards(_) => {}
        }
    }

    /// The same within `patience`.
    pub fn wait_for(&mut self, done: &mut Vec<UringCompletion>, patience: Duration) -> Result<(), Errno> {
        match self {
            Self::Ring(ring) => return ring.wait_for(done, patience),
            Self::Commands(ring) => return ring.wait_for(done, patience),
            Self::Threads(threads) => threads.wait_for(done, patience),
            Self::Discards(discards) if discards.is_empty() => std::thread::sleep(patience),
            Self::Discards(discards) => discards.wait(done),
        }
        Ok(())
    }
}

impl Submission {
    /// Whether requests are, or for want of io_uring have to be, made by threads that each wait in a call.
    pub fn waits_in_calls(&self) -> bool {
        let is_refused = || set_up::<squeue::Entry, cqueue::Entry>(1, Setup::default()).is_err();
        match self.engine {
            IoEngine::Psync => true,
            IoEngine::UringCommands => false,
            IoEngine::IoUring => is_refused(),
        }
    }
}

/// The worker's queue, by the best way that the kernel grants. What is written follows from the run's seed; what only
/// reads needs no content.
///
/// # Errors
/// If the kernel grants none, or there is no memory for the buffers.
pub(crate) fn queue<'r>(
    target: &'r Target,
    job: &Job,
    index: u32,
) -> Result<(SubmissionQueue<'r>, Option<Handover>), SetupError> {
    let Job { workload, seed, observer, .. } = *job;
    // A trim moves no data: its buffers are as small as can be.
    let buffer = if workload.pattern.trims() { crate::buffers::PAGE } else { workload.block_max() };
    let content = Content::of(workload, seed, index);
    let (depth, data_flushes) = (workload.queue_depth, workload.fdatasync > 0);
    let submission = target.submission();
    let methods = if target.takes_commands() { &[Method::Commands] } else { submission.methods() };
    let attempt = |method| {
        let deferred = method == Method::Deferred;
        let setup = Setup {
            deferred,
            hipri: submission.hipri,
            sqthread_poll: submission.sqthread_poll,
            data_flushes,
            times_each: observer.is_some_and(Observer::times_submissions),
            batch: submission.batch,
        };
        let made = match method {
            Method::Threads => Threads::new(target.files(), depth, buffer, content, data_flushes, submission.batch)
                .map(|threads| SubmissionQueue::Threads(Box::new(threads))),
            Method::Commands => {
                commands(target, (depth, buffer), content, setup).map(|ring| SubmissionQueue::Commands(Box::new(ring)))
            }
            _ => Ring::new(target.files(), depth, buffer, content, setup)
                .map(|ring| SubmissionQueue::Ring(Box::new(ring))),
        };
        match made {
            Err(SetupError::Kernel(errno)) => Err(errno),
            Err(SetupError::Memory) => Ok(None),
            Ok(queue) => Ok(Some(queue)),
        }
    };
    let (queue, method, refusal) = first_granted(methods, attempt).map_err(SetupError::Kernel)?;
    let queue = queue.ok_or(SetupError::Memory)?;
    let registered = match &queue {
        SubmissionQueue::Ring(ring) => ring.is_registered(),
        SubmissionQueue::Commands(ring) => ring.is_registered(),
        SubmissionQueue::Threads(_) | SubmissionQueue::Discards(_) => false,
    };
    Ok((queue, Some(Handover { method, registered, refusal: refusal.map(Errno::raw_os_error) })))
}

/// A ring of commands, whose completions are deferred where the kernel can (since 6.1).
fn commands<'r>(
    target: &'r Target,
    size: (u32, Bytes),
    content: Option<Content>,
    setup: Setup,
) -> Result<Ring<'r, CommandEntries>, SetupError> {
    let namespaces = target.namespaces().unwrap_or_default();
    let ring =
        |deferred| Ring::of_commands(target.files(), namespaces.clone(), size, content, Setup { deferred, ..setup });
    match ring(!setup.sqthread_poll) {
        Err(SetupError::Kernel(Errno::INVAL)) => ring(false),
        made => made,
    }
}
