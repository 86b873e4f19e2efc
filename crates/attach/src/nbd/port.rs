//! A socket with its clients as the port of a drive.

use std::io::{self, PipeReader};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::connection::Connection;
use super::handshake::Export;
use super::requests::Piece;
use crate::AttachError;
use crate::port::{Port, Received, Wanted, wait_for};

/// How many clients there may be; more wait to be let in.
const CLIENTS_MAX: usize = 64;

/// A socket and the clients that came to it.
#[derive(Debug)]
pub struct Listening {
    listener: Option<UnixListener>,
    /// Whether somebody may be waiting to be let in.
    called: bool,
    /// Each with its number.
    clients: Vec<(u64, Connection)>,
    next: u64,
    /// Whose turn it is.
    turn: usize,
    export: Export,
}

/// A request of a client's.
#[derive(Debug)]
pub struct Name {
    client: u64,
    piece: Piece,
}

impl Listening {
    /// Nobody is let in yet who wants to use `export`.
    pub fn new(export: Export) -> Self {
        Self { listener: None, called: false, clients: Vec::new(), next: 0, turn: 0, export }
    }

    /// Adds a client that has come already.
    ///
    /// # Errors
    /// If it cannot be read without waiting.
    pub fn admit(&mut self, stream: UnixStream) -> io::Result<()> {
        self.clients.push((self.next, Connection::new(stream)?));
        self.next += 1;
        Ok(())
    }

    /// Lets in whoever comes to `listener` from now on.
    ///
    /// # Errors
    /// If it cannot be asked without waiting.
    pub fn open(&mut self, listener: UnixListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        (self.listener, self.called) = (Some(listener), true);
        Ok(())
    }

    /// Lets in one who waits, and lets go of those that left.
    fn admit_waiting(&mut self) -> bool {
        self.clients.retain(|(_, client)| !client.is_over());
        let waits = self.listener.as_ref().filter(|_| self.called && self.clients.len() < CLIENTS_MAX);
        match waits.map(UnixListener::accept) {
            // One that cannot be spoken with is gone again.
            Some(Ok((stream, _))) => {
                self.admit(stream).ok();
                true
            }
            Some(Err(_)) => {
                self.called = false;
                false
            }
            None => false,
        }
    }

    /// Waits until a client has something to say, or can be told something.
    fn look(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<bool> {
        let mut sources: Vec<_> = self.clients.iter().map(|(_, client)| PollFd::new(client, client.awaits())).collect();
        let listener = self.listener.as_ref().filter(|_| self.clients.len() < CLIENTS_MAX);
        sources.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)?;
        let happened: Vec<_> = sources.iter().map(PollFd::revents).collect();
        self.called = listener.is_some() && !happened[self.clients.len()].is_empty();
        for ((_, client), flags) in self.clients.iter_mut().zip(&happened) {
            client.happened(*flags);
        }
        Ok(happened.iter().any(|flags| !flags.is_empty()))
    }
}

impl Port for Listening {
    type Name = Name;

    fn receive(&mut self) -> Result<Received<Name>, AttachError> {
        for _ in 0..self.clients.len() {
            self.turn = (self.turn + 1) % self.clients.len();
            let (number, client) = &mut self.clients[self.turn];
            match client.receive(&self.export) {
                Received::Nothing | Received::End => {}
                Received::Other => return Ok(Received::Other),
                Received::Request(Wanted { name: piece, offset, length, work }) => {
                    let name = Name { client: *number, piece };
                    return Ok(Received::Request(Wanted { name, offset, length, work }));
                }
            }
        }
        let came = self.admit_waiting() || self.look(None, &Timespec::default())?;
        Ok(if came { Received::Other } else { Received::Nothing })
    }

    fn answer(&mut self, Name { client, piece }: Name, answer: Result<&[u8], Errno>) -> io::Result<()> {
        if let Some((_, client)) = self.clients.iter_mut().find(|(number, _)| *number == client) {
            client.answer(&piece, answer);
        }
        Ok(())
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        self.look(woken, timeout).map(drop)
    }
}
