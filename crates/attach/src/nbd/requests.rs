//! The requests of a client that are not answered yet.

use rustix::io::Errno;

use super::abi::{FUA, Header, LONGEST, NO_HOLE, NbdCommand, ONLY_FAST};
use super::handshake::Export;
use crate::port::{IoRequest, IoWork};

/// Zeroes that take room are written in pieces of so many bytes, as what they need in memory is not limited otherwise.
const PIECE: u64 = 1 << 20;
/// How many requests a client may have in flight; the rest of them stay in the socket.
const IN_FLIGHT_MAX: usize = 1024;

/// What a request, or a piece of one, is answered by.
#[derive(Debug)]
pub struct ReplyPart {
    slot: u32,
    /// What it holds in memory.
    bytes: u64,
}

#[cfg(test)]
impl ReplyPart {
    /// One that was never asked for.
    pub fn unknown() -> Self {
        Self { slot: u32::MAX, bytes: 0 }
    }
}

/// A request until all of its pieces are answered.
#[derive(Debug)]
struct Slot {
    cookie: u64,
    pieces: u64,
    error: Option<Errno>,
}

/// Zeroes that are still to be handed over.
#[derive(Debug)]
struct Zeroes {
    slot: u32,
    offset: u64,
    left: u64,
    durable: bool,
}

/// The requests of a client that are not answered yet.
#[derive(Debug, Default)]
pub struct Requests {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    held: u64,
    zeroes: Option<Zeroes>,
}

/// What is wrong with a request that the drive never sees; none if nothing is.
pub fn fault(header: &Header, export: &Export) -> Option<Errno> {
    let Header { command, flags, offset, length, .. } = *header;
    let end = offset.checked_add(u64::from(length));
    let (allowed, beyond) = match command {
        NbdCommand::Read if length > LONGEST => return Some(Errno::INVAL),
        NbdCommand::Write if length > LONGEST => return Some(Errno::INVAL),
        NbdCommand::Read | NbdCommand::Trim => (FUA, Errno::INVAL),
        NbdCommand::Write => (FUA, Errno::NOSPC),
        NbdCommand::WriteZeroes => (FUA | NO_HOLE | ONLY_FAST, Errno::NOSPC),
        // Source: the protocol, "NBD_CMD_FLUSH": offset and length are reserved and must be zero.
        NbdCommand::Flush => return (flags & !FUA != 0 || (offset, length) != (0, 0)).then_some(Errno::INVAL),
        NbdCommand::Disconnect | NbdCommand::Unknown(_) => return Some(Errno::INVAL),
    };
    let block = export.block.get();
    if flags & !allowed != 0 || length == 0 || !offset.is_multiple_of(block) || !u64::from(length).is_multiple_of(block)
    {
        Some(Errno::INVAL)
    } else if end.is_none_or(|end| end > export.size.get()) {
        Some(beyond)
    } else {
        // Zeroes that must take room are no quicker than data.
        (command == NbdCommand::WriteZeroes && flags & ONLY_FAST != 0 && flags & NO_HOLE != 0)
            .then_some(Errno::OPNOTSUPP)
    }
}

impl Requests {
    /// How many there are.
    pub fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many bytes they hold in memory, or will when they are answered.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Whether one more may be taken.
    pub fn has_room(&self) -> bool {
        self.zeroes.is_none() && self.in_flight() < IN_FLIGHT_MAX
    }

    /// Takes a request without a [`fault`], with its data if it is a write. None if it comes in pieces: see
    /// [`Self::piece`].
    pub fn take(&mut self, header: &Header, data: Vec<u8>) -> Option<IoRequest<ReplyPart>> {
        let Header { command, flags, cookie, offset, .. } = *header;
        let (durable, length) = (flags & FUA != 0, u64::from(header.length));
        let (length, bytes, work) = match command {
            NbdCommand::Read => (length, length, IoWork::Read),
            NbdCommand::Write => (length, length, IoWork::Write { data, durable }),
            NbdCommand::Trim => (length, 0, IoWork::Trim),
            NbdCommand::Flush => (0, 0, IoWork::Flush),
            NbdCommand::WriteZeroes if flags & NO_HOLE != 0 => {
                let slot = self.slot(cookie, length.div_ceil(PIECE));
                self.zeroes = Some(Zeroes { slot, offset, left: length, durable });
                return None;
            }
            // What was forgotten reads as zeroes.
            NbdCommand::WriteZeroes => (length, 0, IoWork::Trim),
            NbdCommand::Disconnect | NbdCommand::Unknown(_) => unreachable!("it has a fault"),
        };
        let slot = self.slot(cookie, 1);
        self.held += bytes;
        Some(IoRequest { name: ReplyPart { slot, bytes }, offset, length, work })
    }

    /// The next piece of zeroes that are to take room; none if there are none.
    pub fn piece(&mut self) -> Option<IoRequest<ReplyPart>> {
        let Zeroes { slot, offset, left, durable } = self.zeroes.take()?;
        let length = left.min(PIECE);
        if left > length {
            self.zeroes = Some(Zeroes { slot, offset: offset + length, left: left - length, durable });
        }
        self.held += length;
        let work = IoWork::Write { data: vec![0; length as usize], durable };
        Some(IoRequest { name: ReplyPart { slot, bytes: length }, offset, length, work })
    }

    /// Notes that a piece is answered; the request's cookie and error if that was its last.
    pub fn answered(&mut self, piece: &ReplyPart, error: Option<Errno>) -> Option<(u64, Option<Errno>)> {
        self.held -= piece.bytes;
        let place = &mut self.slots[piece.slot as usize];
        let slot = place.as_mut().expect("a piece is answered once");
        slot.pieces -= 1;
        slot.error = slot.error.or(error);
        if slot.pieces > 0 {
            return None;
        }
        self.free.push(piece.slot);
        place.take().map(|slot| (slot.cookie, slot.error))
    }

    fn slot(&mut self, cookie: u64, pieces: u64) -> u32 {
        let slot = Some(Slot { cookie, pieces, error: None });
        if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            free
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    fn header(command: NbdCommand, flags: u16, offset: u64, length: u32) -> Header {
        Header { command, flags, cookie: 7, offset, length }
    }

    #[test]
    fn faults_have_the_protocols_errors() {
        let size = Bytes::from_gib(1);
        let export = Export { name: String::new(), description: String::new(), size, block: Bytes::new(512), flags: 0 };
        let end = size.get();
        let table = [
            (header(NbdCommand::Read, 0, 0, 512), None),
            (header(NbdCommand::Read, FUA, end - 512, 512), None),
            (header(NbdCommand::Read, 0, end - 512, 1024), Some(Errno::INVAL)),
            (header(NbdCommand::Read, 0, 0, LONGEST + 512), Some(Errno::INVAL)),
            (header(NbdCommand::Read, 0, u64::MAX - 511, 512), Some(Errno::INVAL)),
            (header(NbdCommand::Read, 0, 0, 0), Some(Errno::INVAL)),
            (header(NbdCommand::Read, 1 << 2, 0, 512), Some(Errno::INVAL)),
            (header(NbdCommand::Write, FUA, 512, 512), None),
            (header(NbdCommand::Write, 0, 1, 512), Some(Errno::INVAL)),
            (header(NbdCommand::Write, 0, 512, 100), Some(Errno::INVAL)),
            (header(NbdCommand::Write, 0, end, 512), Some(Errno::NOSPC)),
            (header(NbdCommand::Trim, 0, 0, 1 << 30), None),
            (header(NbdCommand::Trim, 0, 512, 1 << 30), Some(Errno::INVAL)),
            (header(NbdCommand::WriteZeroes, NO_HOLE, 0, 1 << 30), None),
            (header(NbdCommand::WriteZeroes, ONLY_FAST, 512, 512), None),
            (header(NbdCommand::WriteZeroes, ONLY_FAST | NO_HOLE, 512, 512), Some(Errno::OPNOTSUPP)),
            (header(NbdCommand::WriteZeroes, 0, 512, 1 << 30), Some(Errno::NOSPC)),
            (header(NbdCommand::Flush, 0, 0, 0), None),
            (header(NbdCommand::Flush, FUA, 0, 0), None),
            (header(NbdCommand::Flush, NO_HOLE, 0, 0), Some(Errno::INVAL)),
            (header(NbdCommand::Flush, 0, 1 << 63, 0), Some(Errno::INVAL)),
            (header(NbdCommand::Flush, 0, 0, 512), Some(Errno::INVAL)),
            (header(NbdCommand::Unknown(5), 0, 0, 512), Some(Errno::INVAL)),
        ];
        for (header, expected) in table {
            assert_eq!(fault(&header, &export), expected, "{header:?}");
        }
    }

    #[test]
    fn zeroes_that_take_room_are_written_in_pieces_and_answered_once() {
        let mut requests = Requests::default();
        assert!(
            requests.take(&header(NbdCommand::WriteZeroes, NO_HOLE | FUA, 512, (5 << 20) - 512), Vec::new()).is_none()
        );
        let mut pieces = Vec::new();
        while let Some(piece) = requests.piece() {
            assert!(matches!(piece.work, IoWork::Write { durable: true, .. }));
            pieces.push((piece.offset, piece.length, piece.name));
        }
        assert_eq!(pieces.iter().map(|(_, length, _)| length).sum::<u64>(), (5 << 20) - 512);
        assert_eq!((pieces.len(), pieces[4].0, requests.held()), (5, (4 << 20) + 512, (5 << 20) - 512));
        let mut answers: Vec<_> = pieces.iter().map(|(_, _, name)| requests.answered(name, None)).collect();
        assert_eq!((answers.pop(), requests.in_flight(), requests.held()), (Some(Some((7, None))), 0, 0));
        assert!(answers.iter().all(Option::is_none));
    }

    #[test]
    fn one_piece_that_failed_fails_all_of_it() {
        let mut requests = Requests::default();
        requests.take(&header(NbdCommand::WriteZeroes, NO_HOLE, 0, 2 << 20), Vec::new());
        let (first, second) = (requests.piece().unwrap().name, requests.piece().unwrap().name);
        assert_eq!(requests.answered(&second, Some(Errno::IO)), None);
        assert_eq!(requests.answered(&first, None), Some((7, Some(Errno::IO))));
    }
}
