//! A client that asks for one thing at a time, to learn what the way to the server costs. It waits as libnbd and QEMU do: for
//! the socket to be readable, and then for what comes before the data and the data one after the other.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use block::Op;
use rustix::event::{PollFd, PollFlags, poll};

use super::abi::{
    ACK, FIXED_NEWSTYLE, GO, Header, NO_ZEROES, NbdCommand, OPTION, answer, option_answer, u32_at, u64_at,
};

/// A client of an NBD server, past the handshake.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    requests: u64,
}

impl Client {
    /// Settles with the server at the other end of `stream` what there is to settle.
    ///
    /// # Errors
    /// If it does not speak as a server does.
    pub fn new(mut stream: UnixStream) -> io::Result<Self> {
        stream.read_exact(&mut [0; 18])?;
        // The export without a name, and no questions about it.
        let go = [&OPTION.to_be_bytes()[..], &[GO, 6, 0].map(u32::to_be_bytes).concat(), &[0, 0]].concat();
        stream.write_all(&[&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes()[..], &go].concat())?;
        loop {
            let mut head = [0; 20];
            stream.read_exact(&mut head)?;
            if head[..] == option_answer(GO, ACK, &[]) {
                return Ok(Self { stream, requests: 0 });
            }
            let length = u32_at(&head, 16).unwrap_or_default();
            stream.read_exact(&mut vec![0; length as usize])?;
        }
    }

    /// Reads or writes all of `data` at the drive's start.
    ///
    /// # Errors
    /// If the connection breaks, or the server answers with an error.
    pub fn request(&mut self, op: Op, data: &mut [u8]) -> io::Result<()> {
        let command = if op == Op::Read { NbdCommand::Read } else { NbdCommand::Write };
        self.requests += 1;
        let cookie = self.requests;
        let mut message = Header { command, flags: 0, cookie, offset: 0, length: data.len() as u32 }.bytes();
        if op == Op::Write {
            message.extend_from_slice(data);
        }
        self.stream.write_all(&message)?;
        let mut answered = [0; 16];
        poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], None)?;
        self.stream.read_exact(&mut answered)?;
        if answered != answer(cookie, None) {
            let words = format!("request {cookie} was answered as {:?}: {answered:?}", u64_at(&answered, 8));
            return Err(io::Error::new(ErrorKind::InvalidData, words));
        }
        if op == Op::Read {
            self.stream.read_exact(data)?;
        }
        Ok(())
    }
}
