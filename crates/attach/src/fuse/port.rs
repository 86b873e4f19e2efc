//! A mounted file as the port of a drive.

use std::io::{self, PipeReader};

use block::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::{Call, FuseChannel, Unique, attributes, init, opened, read, space, written};
use crate::AttachError;
use crate::port::{IoRequest, IoWork, Port, Received, wait_for};

/// A mounted file of a size, through which a drive is read and written.
#[derive(Debug)]
pub struct FuseMount {
    channel: FuseChannel,
    size: Bytes,
}

/// A request of the kernel's that is to be answered.
#[derive(Debug)]
pub struct Name {
    unique: Unique,
    /// What a write is answered with: how much was written.
    written: Option<u32>,
}

impl FuseMount {
    /// The file that is mounted by `channel`, which shows so many bytes.
    pub fn new(channel: FuseChannel, size: Bytes) -> Self {
        Self { channel, size }
    }
}

impl Port for FuseMount {
    type Name = Name;

    fn receive(&mut self) -> Result<Received<Name>, AttachError> {
        let Self { channel, size } = self;
        let Some(message) = channel.receive()? else { return Ok(Received::Nothing) };
        if message.is_empty() {
            return Ok(Received::End);
        }
        let Some((unique, call)) = read(message) else {
            return Err(io::Error::from(io::ErrorKind::InvalidData).into());
        };
        let wanted = |offset, length, work| {
            let long = matches!(work, IoWork::Write { .. }).then_some(length as u32);
            Ok(Received::Request(IoRequest { name: Name { unique, written: long }, offset, length, work }))
        };
        match call {
            Call::Read { offset, length } => wanted(offset, u64::from(length), IoWork::Read),
            Call::Write { offset, data } => {
                wanted(offset, data.len() as u64, IoWork::Write { data: data.to_vec(), durable: false })
            }
            Call::Discard { offset, length } => wanted(offset, length, IoWork::Trim),
            Call::Sync => wanted(0, 0, IoWork::Flush),
            Call::Destroy => Ok(Received::End),
            other => {
                if let Some(answer) = plain(other, *size) {
                    channel.answer(unique, answer.as_deref().map_err(|errno| *errno))?;
                }
                Ok(Received::Other)
            }
        }
    }

    fn answer(&mut self, name: Name, answer: Result<&[u8], Errno>) -> io::Result<()> {
        let long = name.written.map(written);
        let answer = answer.map(|data| long.as_ref().map_or(data, |long| &long[..]));
        self.channel.answer(name.unique, answer)
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        let mut sources = vec![PollFd::new(&self.channel, PollFlags::IN)];
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)
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
        // The drive answers these.
        Call::Read { .. } | Call::Write { .. } | Call::Discard { .. } | Call::Sync => return None,
    })
}
