//! What a worker does on a drive with zones.

use std::time::Duration;

use block::{Nanos, Op, Request, Tag};

use crate::content::ContentMark;
use crate::shortage::uring_error;
use crate::uring::UringCompletion;
use crate::waker::Waker;
use crate::zone_queue::{ZoneQueue, ZoneTurn, ZoneWorker};
use crate::{RealError, kernel};

use super::{IDLE, Worker};

/// A worker's part in the zones of a drive.
pub(super) struct WorkerZones<'r> {
    queue: &'r ZoneQueue,
    who: ZoneWorker,
    /// Those in flight that wait for their zones' turns, and are not at the device.
    waiting: Vec<Tag>,
    /// What was done to zones by calls that wait, and is not taken up yet.
    done: Vec<UringCompletion>,
}

impl<'r> WorkerZones<'r> {
    /// That of worker number `worker` of a job, which `waker` wakes.
    pub fn new(queue: &'r ZoneQueue, job: u32, worker: u32, waker: Option<Waker>) -> Self {
        let who = ZoneWorker { job, worker };
        waker.into_iter().for_each(|waker| queue.wakes(who, waker));
        Self { queue, who, waiting: Vec::new(), done: Vec::new() }
    }

    /// Has nobody wait for the requests of this worker, which has failed.
    pub fn close(&self) {
        self.queue.close();
    }
}

impl<'r> Worker<'r> {
    fn own_zones(&mut self) -> &mut WorkerZones<'r> {
        self.zones.as_mut().expect("only workers on a drive with zones come here")
    }

    /// As [`Worker::submit`], once its limits allow it: what the zones make of the request, or what must come before.
    #[cold]
    pub(super) fn submit_zoned(&mut self, tag: Tag, now: Nanos, since: Nanos) -> Result<bool, RealError> {
        let asked = self.peek();
        if !self.shared.take(asked.bytes()) {
            self.requests_left = 0;
            return Ok(false);
        }
        let zones = self.own_zones();
        let (turn, is_asked) = zones.queue.ask(zones.who, tag, asked);
        let (request, goes) = match turn {
            ZoneTurn::Now(request) => (request, true),
            ZoneTurn::Later(request) => (request, false),
            ZoneTurn::End => return self.no_zone(asked),
        };
        match is_asked {
            true => {
                self.peeked = None;
                self.count_in(tag, request, now);
            }
            false => self.shared.give_back(asked.bytes()),
        }
        self.in_flight += 1;
        self.flights[tag.0 as usize] = (since, request);
        match goes {
            true => self.go(tag)?,
            false => self.own_zones().waiting.push(tag),
        }
        Ok(true)
    }

    /// Ends the worker, which finds no zone; an error where it never found one.
    fn no_zone(&mut self, asked: Request) -> Result<bool, RealError> {
        self.requests_left = 0;
        if self.in_flight > 0 || self.measurement.requests() > 0 {
            return Ok(false);
        }
        let path = self.shared.target.path().to_owned();
        Err(if asked.op == Op::Read { RealError::ZonesEmpty { path } } else { RealError::ZonesClosed { path } })
    }

    /// Sends a request to the device whose zone's turn it is. Linux has no queue for what is done to a zone as a whole; it is
    /// a call that waits, but where the device takes commands.
    fn go(&mut self, tag: Tag) -> Result<(), RealError> {
        let (_, request) = self.flights[tag.0 as usize];
        let target = self.shared.target;
        match request.op {
            Op::Zone(action) if !target.takes_commands() => {
                let zones = self.own_zones();
                let fd = target.part_at(request.lba.offset()).fd();
                let result = kernel::manage_zones(fd, action, request.lba, zones.queue.size).map(|()| 0);
                zones.done.push(UringCompletion { tag, result });
                Ok(())
            }
            _ => self.queue.push(tag, request, ContentMark::None).map_err(uring_error),
        }
    }

    /// Sends those on their way whose turn has come.
    fn go_all(&mut self, due: Vec<Tag>) -> Result<(), RealError> {
        for tag in due {
            self.own_zones().waiting.retain(|waiting| *waiting != tag);
            self.go(tag)?;
        }
        Ok(())
    }

    /// Notes that a request was completed, and goes on with what waited for it.
    #[cold]
    pub(super) fn leave_zone(&mut self, request: &Request) -> Result<(), RealError> {
        let zones = self.own_zones();
        zones.queue.completed(zones.who, request);
        let due = zones.queue.due(zones.who);
        self.go_all(due)
    }

    /// Waits for the zones where nothing is at the device, and takes up what was done by calls; false where completions are
    /// to be waited for.
    #[cold]
    pub(super) fn waits_for_zones(
        &mut self,
        done: &mut Vec<UringCompletion>,
        patience: Duration,
    ) -> Result<bool, RealError> {
        let in_flight = self.in_flight as usize;
        // Another worker may have ended the last wait.
        if !self.own_zones().waiting.is_empty() {
            let zones = self.own_zones();
            let due = zones.queue.due(zones.who);
            self.go_all(due)?;
        }
        let zones = self.own_zones();
        if zones.done.is_empty() && !zones.waiting.is_empty() && zones.waiting.len() == in_flight {
            match zones.queue.wait(zones.who, patience) {
                Some(due) => self.go_all(due)?,
                None => self.drop_waiting(),
            }
            done.append(&mut self.own_zones().done);
            return Ok(true);
        }
        done.append(&mut zones.done);
        Ok(!done.is_empty())
    }

    /// Forgets what was never sent, after another worker has failed.
    fn drop_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.own_zones().waiting);
        self.in_flight -= waiting.len() as u32;
        self.requests_left = 0;
        waiting.iter().for_each(|tag| self.flights[tag.0 as usize].0 = IDLE);
    }
}
