//! Answering the kernel at the time at which the drive would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, Nanos, Op, Request};
use drive::{Device, Drive};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Call, Channel, Unique, attributes, init, opened, read, space, written};
use crate::AttachError;
use crate::content::Content;
use crate::live::{Count, Shared};
use crate::pace::{Floor, Paced, now};

/// Sleeping is late by 15 to 25 µs, so that the last of a wait is spent looking.
const AWAKE: Nanos = Nanos::from_micros(50);
/// How often a server without requests looks whether it is to end.
const IDLE: Nanos = Nanos::from_millis(100);

/// What is to be done when a request is due.
#[derive(Debug)]
pub struct Asked {
    unique: Unique,
    op: Op,
    offset: u64,
    length: u64,
}

impl Asked {
    fn request(&self) -> Request {
        Request::new(self.op, Lba::new(self.offset / 512), (self.length / 512) as u32)
    }
}

/// Serves a drive as a file until it is unmounted or told to stop.
#[derive(Debug)]
pub struct Server {
    channel: Channel,
    content: Content,
    paced: Paced<Asked>,
    /// Whether requests are answered at once, to learn what the way costs.
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
        let count = Count::new(now());
        Self { channel, content, paced, echoes: false, count, shared, busy, data: vec![0; 1 << 20] }
    }

    /// Begins the drive's time now, with what the way costs known.
    pub fn begin(&mut self, floor: Floor, speed: f64) {
        self.paced.begin(floor, speed, now());
        self.count = Count::new(now());
    }

    /// The drive back.
    pub fn into_drive(self) -> Device {
        self.paced.into_drive()
    }

    /// Answers at once, until the file is unmounted or `stop` is set.
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
            while let Some(asked) = self.paced.due(now()) {
                self.finish(&asked)?;
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
        let Self { channel, content, paced, .. } = self;
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
        let asked = |op, offset, length| Asked { unique, op, offset, length };
        let taken = match call {
            Call::Read { offset, length } if within(offset, u64::from(length)) => {
                Ok(asked(Op::Read, offset, u64::from(length)))
            }
            // The data is there once the command was taken; whether it survives is another question.
            Call::Write { offset, data } if within(offset, data.len() as u64) => {
                content.write(offset, data).map(|()| asked(Op::Write, offset, data.len() as u64))
            }
            Call::Sync => Ok(asked(Op::Flush, 0, 0)),
            Call::Discard { offset, length } if within(offset, length) => {
                content.forget(offset, length).map(|()| asked(Op::Trim, offset, length))
            }
            other => {
                let answer = plain(other, size);
                return answer.map_or(Ok(Some(!matches!(other, Call::Destroy))), |answer| {
                    channel.answer(unique, answer.as_deref().map_err(|errno| *errno))?;
                    Ok(Some(true))
                });
            }
        };
        match taken {
            Ok(asked) if self.echoes => self.finish(&asked)?,
            Ok(asked) => self.paced.submit(came, asked.request(), asked),
            Err(error) => self.channel.answer(unique, Err(errno(&error)))?,
        }
        Ok(Some(true))
    }

    /// Tells every so often what the drive is doing.
    fn tell(&mut self) {
        let Self { count, paced, shared, .. } = self;
        if let Some(live) = count.told(now(), || paced.drive().counters()) {
            live.in_flight = paced.in_flight();
            [live.late_median, live.late_99] = [50.0, 99.0].map(|percent| paced.late().percentile(percent));
            shared.write(*live);
        }
    }

    /// Answers a request that is due.
    fn finish(&mut self, asked: &Asked) -> Result<(), AttachError> {
        let Self { channel, content, data, count, .. } = self;
        count.add(Bytes::new(asked.length));
        match asked.op {
            Op::Read => {
                let data = &mut data[..asked.length as usize];
                let answer = content.read(asked.offset, data).map_err(|error| errno(&error));
                channel.answer(asked.unique, answer.map(|()| &*data))?;
            }
            Op::Write => channel.answer(asked.unique, Ok(&written(asked.length as u32)))?,
            Op::Trim | Op::Flush => channel.answer(asked.unique, Ok(&[]))?,
        }
        Ok(())
    }

    /// Waits until a request comes or, short of the last moments, until one is due.
    fn wait(&self) -> Result<(), AttachError> {
        let left = match self.paced.next() {
            _ if self.busy => return Ok(()),
            Some(at) => at.since(now()).since(AWAKE),
            None => IDLE,
        };
        if left > Nanos::ZERO {
            let timeout =
                Timespec { tv_sec: left.as_secs_f64() as i64, tv_nsec: (left.as_nanos() % 1_000_000_000) as i64 };
            match poll(&mut [PollFd::new(&self.channel, PollFlags::IN)], Some(&timeout)) {
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
