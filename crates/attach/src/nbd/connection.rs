//! A client, from its first word to its last.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::PollFlags;
use rustix::io::Errno;

use super::abi::{self, Header, LONGEST, NbdCommand};
use super::handshake::{Export, Handshake, HandshakeStep};
use super::requests::{ReplyPart, Requests, fault};
use crate::port::Received;
use block::Nanos;

/// How much is read at once; it grows for a handshake that needs more.
const INPUT: usize = 64 << 10;
/// How much memory the requests and answers of a client may take before no more of it is read.
const MEMORY_MAX: u64 = 2 * LONGEST as u64;

/// A client.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    /// When it came, on the machine's clock.
    came: Nanos,
    phase: ReceivePhase,
    requests: Requests,
    /// What was read and not yet dealt with is between these two in it.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    /// What is to be said, of which so much was.
    out: Vec<u8>,
    said: usize,
    /// Whether there may be something to read.
    readable: bool,
    /// Whether the client is not there any more.
    gone: bool,
}

/// What is expected next.
#[derive(Debug)]
enum ReceivePhase {
    Options(Handshake),
    Requests,
    /// The data of a write, of which so much is there.
    Data {
        header: Header,
        data: Vec<u8>,
        filled: usize,
    },
    /// The data of a write with a fault, of which so much is not there yet.
    Refused {
        cookie: u64,
        fault: Errno,
        left: usize,
    },
    /// Nothing: it leaves when all is answered.
    Ends,
}

impl Connection {
    /// A client that came at the machine's time `came`.
    ///
    /// # Errors
    /// If it cannot be read without waiting.
    pub fn new(stream: UnixStream, came: Nanos) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let phase = ReceivePhase::Options(Handshake::default());
        let (requests, input, out) = (Requests::default(), vec![0; INPUT], Vec::new());
        let readable = true;
        let (taken, filled, said, gone) = (0, 0, 0, false);
        let mut new = Self { stream, came, phase, requests, input, taken, filled, out, said, readable, gone };
        new.say(&Handshake::greeting(), &[]);
        Ok(new)
    }

    /// What came, a step at a time so that nobody waits for a client that has much to say.
    pub fn receive(&mut self, export: &Export) -> Received<ReplyPart> {
        if self.gone || self.requests.held() + self.out.len() as u64 > MEMORY_MAX {
            return Received::Nothing;
        }
        if let Some(wanted) = self.requests.piece() {
            return Received::Request(wanted);
        }
        if !self.requests.has_room() {
            return Received::Nothing;
        }
        match self.step(export) {
            Received::Nothing if self.readable => self.read(),
            done => done,
        }
    }

    /// Answers a request or a piece of one.
    pub fn answer(&mut self, piece: &ReplyPart, answer: Result<&[u8], Errno>) {
        if let Some((cookie, error)) = self.requests.answered(piece, answer.err()) {
            self.say(&abi::answer(cookie, error), answer.unwrap_or_default());
        }
    }

    /// What it is waited for.
    pub fn awaits(&self) -> PollFlags {
        let reads = !matches!(self.phase, ReceivePhase::Ends)
            && self.requests.has_room()
            && self.requests.held() + self.out.len() as u64 <= MEMORY_MAX;
        let mut flags = if reads { PollFlags::IN } else { PollFlags::empty() };
        flags.set(PollFlags::OUT, !self.out.is_empty());
        flags
    }

    /// What of that has come.
    pub fn happened(&mut self, flags: PollFlags) {
        let ends = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        if self.awaits().contains(PollFlags::IN) {
            // The end is read, after what came before it.
            self.readable |= flags.intersects(PollFlags::IN | ends);
        } else {
            self.gone |= flags.intersects(ends);
        }
        if flags.contains(PollFlags::OUT) {
            self.say(&[], &[]);
        }
    }

    /// Since when it has been settling what there is to settle before the first request; none once it is past that.
    pub fn negotiates_since(&self) -> Option<Nanos> {
        matches!(self.phase, ReceivePhase::Options(_)).then_some(self.came)
    }

    /// Has nothing more to do with it.
    pub fn let_go(&mut self) {
        self.gone = true;
    }

    /// Whether nothing is to be expected of it or for it any more.
    pub fn is_over(&self) -> bool {
        let left = matches!(self.phase, ReceivePhase::Ends) && self.requests.in_flight() == 0 && self.out.is_empty();
        self.gone || left
    }

    /// Deals with what stands first in what was read; nothing if more has to be read for that.
    fn step(&mut self, export: &Export) -> Received<ReplyPart> {
        let input = &self.input[self.taken..self.filled];
        match &mut self.phase {
            ReceivePhase::Options(handshake) => {
                let mut words = Vec::new();
                let step = handshake.take(input, export, &mut words);
                match step {
                    HandshakeStep::More => return Received::Nothing,
                    HandshakeStep::Took(length) => self.taken += length,
                    HandshakeStep::Begins(length) => {
                        (self.phase, self.taken) = (ReceivePhase::Requests, self.taken + length)
                    }
                    HandshakeStep::Ends => self.phase = ReceivePhase::Ends,
                }
                self.say(&words, &[]);
            }
            ReceivePhase::Requests => {
                let Some(start) = input.get(..Header::LENGTH) else { return Received::Nothing };
                self.taken += Header::LENGTH;
                match Header::read(start) {
                    Some(header) => return self.begin(header, export),
                    None => self.phase = ReceivePhase::Ends,
                }
            }
            ReceivePhase::Data { data, filled, .. } => {
                let more = input.len().min(data.len() - *filled);
                data[*filled..][..more].copy_from_slice(&input[..more]);
                (self.taken, *filled) = (self.taken + more, *filled + more);
                if *filled < data.len() {
                    return Received::Nothing;
                }
                let ReceivePhase::Data { header, data, .. } =
                    std::mem::replace(&mut self.phase, ReceivePhase::Requests)
                else {
                    unreachable!("that is what it is")
                };
                return self.requests.take(&header, data).map_or(Received::Other, Received::Request);
            }
            ReceivePhase::Refused { cookie, fault, left } => {
                let more = input.len().min(*left);
                (self.taken, *left) = (self.taken + more, *left - more);
                if *left > 0 {
                    return Received::Nothing;
                }
                let answer = abi::answer(*cookie, Some(*fault));
                self.phase = ReceivePhase::Requests;
                self.say(&answer, &[]);
            }
            ReceivePhase::Ends => return Received::Nothing,
        }
        Received::Other
    }

    /// Begins with a request whose data, if it has any, is not there yet.
    fn begin(&mut self, header: Header, export: &Export) -> Received<ReplyPart> {
        let Header { command, cookie, length, .. } = header;
        let carried = if command == NbdCommand::Write { length as usize } else { 0 };
        match (command, fault(&header, export)) {
            (NbdCommand::Disconnect, _) => self.phase = ReceivePhase::Ends,
            (_, Some(fault)) => self.phase = ReceivePhase::Refused { cookie, fault, left: carried },
            (NbdCommand::Write, None) => self.phase = ReceivePhase::Data { header, data: vec![0; carried], filled: 0 },
            (_, None) => return self.requests.take(&header, Vec::new()).map_or(Received::Other, Received::Request),
        }
        Received::Other
    }

    /// Reads what is there, data to where it is wanted.
    fn read(&mut self) -> Received<ReplyPart> {
        let space = match &mut self.phase {
            ReceivePhase::Data { data, filled, .. } => &mut data[*filled..],
            _ => {
                self.input.copy_within(self.taken..self.filled, 0);
                (self.taken, self.filled) = (0, self.filled - self.taken);
                if self.filled == self.input.len() {
                    self.input.resize(2 * self.filled, 0);
                }
                &mut self.input[self.filled..]
            }
        };
        match self.stream.read(space) {
            Ok(0) => self.gone = true,
            Ok(length) => {
                // A socket that had more would have filled it.
                self.readable = length == space.len();
                match &mut self.phase {
                    ReceivePhase::Data { filled, .. } => *filled += length,
                    _ => self.filled += length,
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                return Received::Nothing;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.gone = true,
        }
        Received::Other
    }

    /// Says what was left to say and this, as far as the client takes it now.
    fn say(&mut self, start: &[u8], rest: &[u8]) {
        let mut parts = [IoSlice::new(&self.out[self.said..]), IoSlice::new(start), IoSlice::new(rest)];
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut parts = &mut parts[..];
        let (mut said, mut gone) = (0, self.gone);
        while said < length && !gone {
            match (&self.stream).write_vectored(parts) {
                Ok(more) => {
                    IoSlice::advance_slices(&mut parts, more);
                    said += more;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => gone = true,
            }
        }
        self.gone = gone;
        let left: usize = parts.iter().map(|part| part.len()).sum();
        if left == 0 {
            (self.said, self.out) = (0, Vec::new());
            return;
        }
        let new = left.min(start.len() + rest.len());
        self.said = self.out.len() - (left - new);
        let from_rest = new.min(rest.len());
        self.out.extend(&start[start.len() - (new - from_rest)..]);
        self.out.extend(&rest[rest.len() - from_rest..]);
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
