//! Answering the kernel at the time at which the drive would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR};
use drive::{Device, Drive};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Call, Channel, Unique, attributes, init, opened, read, space, written};
use crate::AttachError;
use crate::content::Content;
use crate::faults::{Faults, Orders, Verdict};
use crate::floor::PAUSE;
use crate::live::{Count, Shared};
use crate::pace::{Floor, Paced, now};
use crate::power::{Cut, Power};
use crate::undo::Undo;

/// Sleeping is late by 15 to 25 µs, so that the last of a wait is spent looking.
const AWAKE: Nanos = Nanos::from_micros(50);
/// How often a server without requests looks whether it is to end.
const IDLE: Nanos = Nanos::from_millis(100);

/// What is to be done when a request is due.
#[derive(Debug)]
pub struct Asked {
    unique: Unique,
    offset: u64,
    length: u64,
    work: Work,
    /// What faults that were asked for do to it.
    verdict: Verdict,
}

/// A request's part of the data.
#[derive(Debug)]
enum Work {
    Read,
    /// Of a write that is not answered, nothing is there if the power is cut.
    Write(Vec<u8>),
    Trim,
    /// So many writes had been answered when it came.
    Flush {
        covers: u64,
    },
}

impl Asked {
    fn request(&self) -> Request {
        let op = match self.work {
            Work::Read => Op::Read,
            Work::Write(_) => Op::Write,
            Work::Trim => Op::Trim,
            Work::Flush { .. } => Op::Flush,
        };
        Request::new(op, Lba::new(self.offset / 512), (self.length / 512) as u32)
    }
}

/// Serves a drive as a file until it is unmounted or told to stop.
#[derive(Debug)]
pub struct Server {
    channel: Channel,
    content: Content,
    undo: Undo,
    paced: Paced<Asked>,
    power: Power,
    faults: Faults,
    orders: Arc<Orders>,
    /// Requests that a fault has answered later than the drive would, with the machine's time for that.
    late: Vec<(Nanos, Asked)>,
    /// Whether every request is answered after the same time, to learn what the way costs.
    echoes: bool,
    count: Count,
    shared: Arc<Shared>,
    /// Whether to look for requests instead of sleeping, which costs a processor.
    busy: bool,
    data: Vec<u8>,
}

impl Server {
    /// Will serve `paced` with its `content` on `channel`.
    pub fn new(channel: Channel, content: Content, paced: Paced<Asked>, busy: bool, shared: Arc<Shared>) -> Self {
        Self {
            channel,
            content,
            undo: Undo::default(),
            paced,
            power: Power::default(),
            faults: Faults::default(),
            orders: Arc::default(),
            late: Vec::new(),
            echoes: false,
            count: Count::new(now()),
            shared,
            busy,
            data: vec![0; 1 << 20],
        }
    }

    /// Begins the drive's time now, with what the way costs known, and puts it under this power. Faults come as `orders`.
    pub fn begin(&mut self, floor: Floor, speed: f64, power: Power, orders: Arc<Orders>) {
        self.paced.begin(floor, speed, now());
        (self.count, self.undo, self.power, self.orders) = (Count::new(now()), Undo::default(), power, orders);
    }

    /// The drive back.
    pub fn into_drive(self) -> Device {
        self.paced.into_drive()
    }

    /// Answers every request after [`PAUSE`], until the file is unmounted or `stop` is set.
    ///
    /// # Errors
    /// If the connection to the kernel breaks.
    pub fn echo(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        self.echoes = true;
        let done = self.serve(stop);
        self.echoes = false;
        done
    }

    /// Serves until the file is unmounted or `stop` is set.
    ///
    /// # Errors
    /// If the connection to the kernel breaks.
    pub fn serve(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        while !stop.load(Ordering::Relaxed) {
            self.orders.take(&mut self.faults);
            if self.faults.has_vanished() {
                let unanswered = self.paced.give_up();
                self.refuse(unanswered)?;
            }
            while let Some(asked) = self.due(now()) {
                self.finish(asked)?;
                if self.power.is_to_be_cut(self.count.requests()) {
                    break;
                }
            }
            if !self.echoes && self.power.is_to_be_cut(self.count.requests()) {
                self.cut_power()?;
            }
            self.tell();
            if let Some(goes_on) = self.take()? {
                if !goes_on {
                    return Ok(());
                }
                continue;
            }
            self.wait()?;
        }
        Ok(())
    }

    /// Takes a request, if one is there; false once the file is unmounted.
    fn take(&mut self) -> Result<Option<bool>, AttachError> {
        let Self { channel, paced, undo, .. } = self;
        let size = paced.drive().shape().capacity;
        let Some(message) = channel.receive()? else { return Ok(None) };
        if message.is_empty() {
            return Ok(Some(false));
        }
        let came = now();
        let Some((unique, call)) = read(message) else {
            return Err(std::io::Error::from(std::io::ErrorKind::InvalidData).into());
        };
        let within = |offset: u64, length: u64| {
            let aligned = offset.is_multiple_of(512) && length.is_multiple_of(512) && length > 0;
            aligned && offset.checked_add(length).is_some_and(|end| end <= size.get())
        };
        let asked = |work, offset, length| Asked { unique, offset, length, work, verdict: Verdict::default() };
        let mut asked = match call {
            Call::Read { offset, length } if within(offset, u64::from(length)) => {
                asked(Work::Read, offset, u64::from(length))
            }
            Call::Write { offset, data } if within(offset, data.len() as u64) => {
                if undo.should_compare(offset, data.len() as u64) {
                    undo.keep(&paced.unsaved(came));
                }
                asked(Work::Write(data.to_vec()), offset, data.len() as u64)
            }
            Call::Sync => asked(Work::Flush { covers: undo.writes() }, 0, 0),
            Call::Discard { offset, length } if within(offset, length) => asked(Work::Trim, offset, length),
            other => {
                let answer = plain(other, size);
                return answer.map_or(Ok(Some(!matches!(other, Call::Destroy))), |answer| {
                    channel.answer(unique, answer.as_deref().map_err(|errno| *errno))?;
                    Ok(Some(true))
                });
            }
        };
        if self.echoes {
            while now().since(came) < PAUSE {
                std::hint::spin_loop();
            }
            self.finish(asked)?;
            return Ok(Some(true));
        }
        let request = asked.request();
        asked.verdict = self.faults.judge(&request);
        if self.power.cut().is_some() || self.faults.has_vanished() {
            self.refuse([asked].into())?;
        } else {
            self.paced.submit(came, request, asked);
        }
        Ok(Some(true))
    }

    /// A request that is to be answered at the machine's time `now`; none if there is none.
    fn due(&mut self, now: Nanos) -> Option<Asked> {
        if let Some(index) = self.late.iter().position(|(at, _)| *at <= now) {
            return Some(self.late.swap_remove(index).1);
        }
        loop {
            let asked = self.paced.due(now)?;
            if asked.verdict.delay == Nanos::ZERO {
                return Some(asked);
            }
            self.late.push((now + self.paced.on_machine(asked.verdict.delay), asked));
        }
    }

    /// Answers requests, and those that are late, with an error.
    fn refuse(&mut self, unanswered: Vec<Asked>) -> Result<(), AttachError> {
        for asked in unanswered.into_iter().chain(self.late.drain(..).map(|(_, asked)| asked)) {
            self.count.fail();
            self.channel.answer(asked.unique, Err(Errno::IO))?;
        }
        Ok(())
    }

    /// Cuts the drive's power: what it loses is what was there before, and nothing is answered any more but with an error.
    fn cut_power(&mut self) -> Result<(), AttachError> {
        let (lost, unanswered) = self.paced.cut_power(now());
        let restored = self.undo.restore(&lost.sectors, &self.content);
        let bytes = |lba: Lba| lba.get() * SECTOR.get();
        let mut gone = lost.gone.iter().map(|&(from, until)| (bytes(from), bytes(until) - bytes(from)));
        let restored = restored.and_then(|()| gone.try_for_each(|(from, length)| self.content.forget(from, length)));
        self.power.note(Cut::new(self.count.requests(), &lost, unanswered.len() + self.late.len()));
        self.refuse(unanswered)?;
        Ok(restored?)
    }

    /// Tells every so often what the drive is doing.
    fn tell(&mut self) {
        let Self { count, paced, power, shared, faults, late, .. } = self;
        if let Some(live) = count.told(now(), || paced.drive().counters()) {
            live.in_flight = paced.in_flight() + late.len();
            live.own_median = paced.own().percentile(50.0);
            live.has_vanished = faults.has_vanished();
            [live.late_median, live.late_99] = [50.0, 99.0].map(|percent| paced.late().percentile(percent));
            live.cut = power.cut();
            shared.write(*live);
        }
    }

    /// Answers a request that is due.
    fn finish(&mut self, asked: Asked) -> Result<(), AttachError> {
        let Self { channel, content, undo, data, count, .. } = self;
        let Asked { unique, offset, length, work, verdict } = asked;
        if verdict.fails {
            count.fail();
            return Ok(channel.answer(unique, Err(Errno::IO))?);
        }
        count.add(Bytes::new(length));
        let long = written(length as u32);
        let done: std::io::Result<&[u8]> = match work {
            Work::Read => {
                let data = &mut data[..length as usize];
                content.read(offset, data).map(|()| &*data)
            }
            Work::Write(new) => {
                let mut before = vec![0; new.len()];
                content.read(offset, &mut before).and_then(|()| content.write(offset, &new)).map(|()| {
                    undo.note(offset, before);
                    &long[..]
                })
            }
            Work::Trim => content.forget(offset, length).map(|()| &[][..]),
            Work::Flush { covers } => {
                undo.settle(covers);
                Ok(&[])
            }
        };
        Ok(channel.answer(unique, done.map_err(|error| errno(&error)))?)
    }

    /// Waits until a request comes or, short of the last moments, until one is due.
    fn wait(&self) -> Result<(), AttachError> {
        let late = self.late.iter().map(|(at, _)| *at).min();
        let left = match self.paced.next().into_iter().chain(late).min() {
            _ if self.busy => return Ok(()),
            Some(at) => at.since(now()).since(AWAKE).min(IDLE),
            None => IDLE,
        };
        if left > Nanos::ZERO {
            let timeout =
                Timespec { tv_sec: left.as_secs_f64() as i64, tv_nsec: (left.as_nanos() % 1_000_000_000) as i64 };
            let channel = PollFd::new(&self.channel, PollFlags::IN);
            let polled = match self.power.woken() {
                Some(woken) => poll(&mut [channel, PollFd::new(woken, PollFlags::IN)], Some(&timeout)),
                None => poll(&mut [channel], Some(&timeout)),
            };
            match polled {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(std::io::Error::from(errno).into()),
            }
        }
        Ok(())
    }
}

/// The answer to what is no request to the drive; none where no answer is expected.
fn plain(call: Call, size: Bytes) -> Option<Result<Vec<u8>, Errno>> {
    Some(match call {
        Call::Init { flags } => Ok(init(flags)),
        Call::Attributes => Ok(attributes(size)),
        Call::Open => Ok(opened()),
        Call::Space => Ok(space(size)),
        Call::Yes => Ok(Vec::new()),
        Call::Unknown(_) => Err(Errno::NOSYS),
        Call::Silent | Call::Destroy => return None,
        // Not whole sectors within the drive.
        Call::Read { .. } | Call::Write { .. } | Call::Discard { .. } | Call::Sync => Err(Errno::INVAL),
    })
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
