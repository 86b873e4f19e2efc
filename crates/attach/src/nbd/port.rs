//! A socket with its clients as the port of a drive.

use std::io::{self, PipeReader};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::connection::Connection;
use super::handshake::Export;
use super::requests::ReplyPart;
use crate::AttachError;
use crate::pace::now;
use crate::port::{IoRequest, Port, Received, shielded, wait_for};
use block::Nanos;

/// How many clients there may be. More wait to be let in, unless one of these has not begun yet: the first of such goes.
const CLIENTS_MAX: usize = 64;
/// How long a client may take until its first request may come. One that is past that may be idle for days, as a disk may.
const HANDSHAKE_MAX: Nanos = Nanos::from_secs(10);

/// A socket and the clients that came to it.
#[derive(Debug)]
pub struct Listening {
    listener: Option<UnixListener>,
    /// Whether somebody may be waiting to be let in.
    called: bool,
    /// Each with its number.
    clients: Vec<(u64, Connection)>,
    next: u64,
    turn: usize,
    export: Export,
}

/// A request of a client's.
#[derive(Debug)]
pub struct Name {
    client: u64,
    piece: ReplyPart,
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
        self.clients.push((self.next, Connection::new(stream, now())?));
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

    /// Lets in one who waits, and lets go of those that left or do not begin.
    fn admit_waiting(&mut self) -> bool {
        let now = now();
        let dawdles =
            |client: &Connection| client.negotiates_since().is_some_and(|came| now.since(came) > HANDSHAKE_MAX);
        self.clients.retain(|(_, client)| !client.is_over() && !dawdles(client));
        match self.open_listener().filter(|_| self.called).map(UnixListener::accept) {
            // One that cannot be spoken with is gone again.
            Some(Ok((stream, _))) => {
                if self.clients.len() >= CLIENTS_MAX {
                    self.first_without_a_beginning().map(|index| self.clients.remove(index));
                }
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

    /// The listener, while there is room for one more or can be made.
    fn open_listener(&self) -> Option<&UnixListener> {
        let has_room = self.clients.len() < CLIENTS_MAX || self.first_without_a_beginning().is_some();
        self.listener.as_ref().filter(|_| has_room)
    }

    /// Which of the clients that have not begun came first.
    fn first_without_a_beginning(&self) -> Option<usize> {
        // They are in the order in which they came.
        self.clients.iter().position(|(_, client)| client.negotiates_since().is_some())
    }

    /// Waits until a client has something to say, or can be told something.
    fn look(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<bool> {
        let mut sources: Vec<_> = self.clients.iter().map(|(_, client)| PollFd::new(client, client.awaits())).collect();
        let listener = self.open_listener();
        sources.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)?;
        let happened: Vec<_> = sources.iter().map(PollFd::revents).collect();
        self.called = listener.is_some() && !happened[self.clients.len()].is_empty();
        for ((_, client), flags) in self.clients.iter_mut().zip(&happened) {
            with(client, |client| client.happened(*flags));
        }
        Ok(happened.iter().any(|flags| !flags.is_empty()))
    }
}

/// Does something with a client. A mistake of ours in that costs this client its connection, and nobody else anything.
fn with<T>(client: &mut Connection, act: impl FnOnce(&mut Connection) -> T) -> Option<T> {
    let done = shielded(|| act(client));
    if done.is_none() {
        client.let_go();
    }
    done
}

impl Port for Listening {
    type Name = Name;

    fn receive(&mut self) -> Result<Received<Name>, AttachError> {
        for _ in 0..self.clients.len() {
            self.turn = (self.turn + 1) % self.clients.len();
            let (number, client) = &mut self.clients[self.turn];
            match with(client, |client| client.receive(&self.export)) {
                Some(Received::Nothing | Received::End) | None => {}
                Some(Received::Other) => return Ok(Received::Other),
                Some(Received::Request(IoRequest { name: piece, offset, length, work })) => {
                    let name = Name { client: *number, piece };
                    return Ok(Received::Request(IoRequest { name, offset, length, work }));
                }
            }
        }
        let came = self.admit_waiting() || self.look(None, &Timespec::default())?;
        Ok(if came { Received::Other } else { Received::Nothing })
    }

    fn answer(&mut self, Name { client, piece }: Name, answer: Result<&[u8], Errno>) -> io::Result<()> {
        if let Some((_, client)) = self.clients.iter_mut().find(|(number, _)| *number == client) {
            with(client, |client| client.answer(&piece, answer));
        }
        Ok(())
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        self.look(woken, timeout).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use block::Bytes;

    use super::*;
    use crate::nbd::Client;

    /// A listening port, and where clients come to.
    fn listening(folder: &tempfile::TempDir) -> (Listening, std::path::PathBuf) {
        let [name, description] = ["x25-m", "a drive"].map(str::to_owned);
        let export = Export { name, description, size: Bytes::from_gib(1), block: Bytes::new(512), flags: 0x16d };
        let (mut port, path) = (Listening::new(export), folder.path().join("socket"));
        port.open(UnixListener::bind(&path).unwrap()).unwrap();
        (port, path)
    }

    /// Lets the port do what there is to do until a client has got through.
    fn got_through(port: &mut Listening, path: &std::path::Path) -> Client {
        let stream = UnixStream::connect(path).unwrap();
        let client = std::thread::spawn(|| Client::new(stream).unwrap());
        while !client.is_finished() {
            port.receive().unwrap();
        }
        client.join().unwrap()
    }

    fn has_hung_up(stream: &mut UnixStream) -> bool {
        stream.set_nonblocking(true).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).is_ok()
    }

    #[test]
    fn clients_that_never_begin_make_room_for_the_next_and_those_that_have_begun_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (mut port, path) = listening(&folder);
        let begun = got_through(&mut port, &path);
        let mut idle: Vec<UnixStream> = (0..CLIENTS_MAX).map(|_| UnixStream::connect(&path).unwrap()).collect();
        let next = got_through(&mut port, &path);
        assert_eq!(port.clients.len(), CLIENTS_MAX);
        let over: Vec<bool> = idle.iter_mut().map(has_hung_up).collect();
        assert_eq!(over.iter().filter(|over| **over).count(), 2, "{over:?}");
        assert!(over[0] && over[1], "the first to come are the first to go: {over:?}");
        let negotiating = port.clients.iter().filter(|(_, client)| client.negotiates_since().is_some()).count();
        assert_eq!(negotiating, CLIENTS_MAX - 2, "neither of those that began has gone");
        drop((begun, next));
    }

    #[test]
    fn a_mistake_of_ours_costs_one_client_its_connection_and_the_next_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let (mut port, path) = listening(&folder);
        let first = got_through(&mut port, &path);
        let client = port.clients[0].0;
        port.answer(Name { client, piece: ReplyPart::unknown() }, Ok(&[])).unwrap();
        port.receive().unwrap();
        assert!(port.clients.is_empty());
        drop((first, got_through(&mut port, &path)));
    }
}
