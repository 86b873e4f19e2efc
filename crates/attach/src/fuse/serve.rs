//! Answering the kernel at the time at which the drive would.

use std::sync::atomic::{AtomicBool, Ordering};

use block::{Lba, Nanos, Op, Request};
use drive::Drive;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Call, Channel, Unique, attributes, init, opened, read, space, written};
use crate::AttachError;
use crate::content::Content;
use crate::pace::{Paced, now};

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
    length: u32,
}

/// Serves a drive as a file until it is unmounted or told to stop.
#[derive(Debug)]
pub struct Server {
    channel: Channel,
    content: Content,
    /// The drive, against the machine's clock.
    pub paced: Paced<Asked>,
    /// Whether to look for requests instead of sleeping, which costs a processor.
    busy: bool,
    data: Vec<u8>,
}

impl Server {
    /// Will serve `paced` with its `content` on `channel`.
    pub fn new(channel: Channel, content: Content, paced: Paced<Asked>, busy: bool) -> Self {
        Self { channel, content, paced, busy, data: vec![0; 1 << 20] }
    }

    /// Serves until the file is unmounted or `stop` is set.
    ///
    /// # Errors
    /// If the connection to the kernel breaks.
    pub fn serve(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        while !stop.load(Ordering::Relaxed) {
            while let Some(due) = self.paced.due(now()) {
                self.finish(&due.asked)?;
            }
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
        let request = |op, offset: u64, length: u64| Request::new(op, Lba::new(offset / 512), (length / 512) as u32);
        let answer: Result<Vec<u8>, Errno> = match call {
            Call::Read { offset, length } if within(offset, u64::from(length)) => {
                let asked = Asked { unique, op: Op::Read, offset, length };
                paced.submit(came, request(Op::Read, offset, u64::from(length)), asked);
                return Ok(Some(true));
            }
            Call::Write { offset, data } if within(offset, data.len() as u64) => {
                // The data is there once the command was taken; whether it survives is another question.
                match content.write(offset, data) {
                    Ok(()) => {
                        let length = data.len() as u32;
                        let asked = Asked { unique, op: Op::Write, offset, length };
                        paced.submit(came, request(Op::Write, offset, u64::from(length)), asked);
                        return Ok(Some(true));
                    }
                    Err(error) => Err(errno(&error)),
                }
            }
            Call::Sync => {
                let asked = Asked { unique, op: Op::Flush, offset: 0, length: 0 };
                paced.submit(came, Request::FLUSH, asked);
                return Ok(Some(true));
            }
            Call::Discard { offset, length } if within(offset, length) => match content.forget(offset, length) {
                Ok(()) => {
                    let asked = Asked { unique, op: Op::Trim, offset, length: 0 };
                    paced.submit(came, request(Op::Trim, offset, length), asked);
                    return Ok(Some(true));
                }
                Err(error) => Err(errno(&error)),
            },
            Call::Read { .. } | Call::Write { .. } | Call::Discard { .. } => Err(Errno::INVAL),
            Call::Init { flags } => Ok(init(flags)),
            Call::Attributes => Ok(attributes(size)),
            Call::Open => Ok(opened()),
            Call::Space => Ok(space(size)),
            Call::Yes => Ok(Vec::new()),
            Call::Unknown(_) => Err(Errno::NOSYS),
            Call::Silent => return Ok(Some(true)),
            Call::Destroy => return Ok(Some(false)),
        };
        channel.answer(unique, answer.as_deref().map_err(|errno| *errno))?;
        Ok(Some(true))
    }

    /// Answers a request that is due.
    fn finish(&mut self, asked: &Asked) -> Result<(), AttachError> {
        let Self { channel, content, data, .. } = self;
        match asked.op {
            Op::Read => {
                let data = &mut data[..asked.length as usize];
                let answer = content.read(asked.offset, data).map_err(|error| errno(&error));
                channel.answer(asked.unique, answer.map(|()| &*data))?;
            }
            Op::Write => channel.answer(asked.unique, Ok(&written(asked.length)))?,
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
            let timeout = Timespec { tv_sec: left.as_secs_f64() as i64, tv_nsec: (left.as_nanos() % 1_000_000_000) as i64 };
            match poll(&mut [PollFd::new(&self.channel, PollFlags::IN)], Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(std::io::Error::from(errno).into()),
            }
        }
        Ok(())
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

