//! The bytes that an NBD client and server exchange. All numbers have their highest byte first.
//!
//! Source: "The NBD protocol", doc/proto.md of <https://github.com/NetworkBlockDevice/nbd>, the fixed newstyle handshake and
//! simple replies.

use block::Bytes;
use rustix::io::Errno;

/// What a server says first.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// What announces an option.
pub const OPTION: u64 = 0x4948_4156_454f_5054;
/// What announces the answer to an option.
pub const OPTION_ANSWER: u64 = 0x0003_e889_0455_65a9;
/// What announces a request.
pub const REQUEST: u32 = 0x2560_9513;
/// What announces an answer.
pub const ANSWER: u32 = 0x6744_6698;

/// Flags of the handshake, the same in both directions.
pub const FIXED_NEWSTYLE: u32 = 1 << 0;
/// That the answer to [`EXPORT_NAME`] ends without 124 zeroes.
pub const NO_ZEROES: u32 = 1 << 1;

/// Options: begin with this export, without a word if it is not there.
pub const EXPORT_NAME: u32 = 1;
/// Leave.
pub const ABORT: u32 = 2;
/// Name the exports.
pub const LIST: u32 = 3;
/// Tell of an export.
pub const INFO: u32 = 6;
/// Tell of an export and begin with it.
pub const GO: u32 = 7;

/// Answers to options: that was all.
pub const ACK: u32 = 1;
/// An export.
pub const SERVER: u32 = 2;
/// Something about an export.
pub const ABOUT: u32 = 3;
/// The option is not known.
pub const UNSUPPORTED: u32 = 1 << 31 | 1;
/// The option is not what it should be.
pub const INVALID: u32 = 1 << 31 | 3;
/// There is no such export.
pub const UNKNOWN: u32 = 1 << 31 | 6;

/// What there is to tell of an export: its size and flags.
pub const ABOUT_EXPORT: u16 = 0;
/// Its name.
pub const ABOUT_NAME: u16 = 1;
/// A line for people.
pub const ABOUT_DESCRIPTION: u16 = 2;
/// How large requests may be.
pub const ABOUT_BLOCK_SIZE: u16 = 3;

/// Flags of an export: there are flags, a flush, durable writes, a trim, and writing of zeroes.
pub const FLAGS: u16 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6;
/// That it is slow to go from place to place.
pub const ROTATIONAL: u16 = 1 << 4;
/// That a flush on one connection covers what was written on all.
pub const MULTI_CONN: u16 = 1 << 8;
/// That it can be asked for zeroes only if they are quick.
pub const FAST_ZERO: u16 = 1 << 11;

/// The longest request that carries data, which is also what clients take for granted who do not ask.
pub const LONGEST: u32 = 32 << 20;

/// Reads a number where there is one.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// Two bytes as a number.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at).map(u16::from_be_bytes)
}

/// Four bytes as a number.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_be_bytes)
}

/// Eight bytes as a number.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_be_bytes)
}

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    /// Bring data.
    Read,
    /// Take data, which follows.
    Write,
    /// Leave, once all is answered.
    Disconnect,
    /// Make all that was written survive a loss of power.
    Flush,
    /// Forget data.
    Trim,
    WriteZeroes,
    /// Anything else, by its number.
    Unknown(u16),
}

/// Flags of a request: it must survive a loss of power before it is answered.
pub const FUA: u16 = 1 << 0;
/// Zeroes must take room as data does.
pub const NO_HOLE: u16 = 1 << 1;
/// Zeroes only if they are quicker than data.
pub const ONLY_FAST: u16 = 1 << 4;

/// What comes before the data of a request, if it has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What is asked for.
    pub command: NbdCommand,
    /// How.
    pub flags: u16,
    /// The client's own name for it.
    pub cookie: u64,
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it is about.
    pub length: u32,
}

impl Header {
    /// How long it is.
    pub const LENGTH: usize = 28;

    /// Reads a header; none if it is not one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if u32_at(bytes, 0)? != REQUEST {
            return None;
        }
        let command = match u16_at(bytes, 6)? {
            0 => NbdCommand::Read,
            1 => NbdCommand::Write,
            2 => NbdCommand::Disconnect,
            3 => NbdCommand::Flush,
            4 => NbdCommand::Trim,
            6 => NbdCommand::WriteZeroes,
            other => NbdCommand::Unknown(other),
        };
        let (flags, length) = (u16_at(bytes, 4)?, u32_at(bytes, 24)?);
        Some(Self { command, flags, cookie: u64_at(bytes, 8)?, offset: u64_at(bytes, 16)?, length })
    }

    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let command = match self.command {
            NbdCommand::Read => 0,
            NbdCommand::Write => 1,
            NbdCommand::Disconnect => 2,
            NbdCommand::Flush => 3,
            NbdCommand::Trim => 4,
            NbdCommand::WriteZeroes => 6,
            NbdCommand::Unknown(other) => other,
        };
        let mut bytes = REQUEST.to_be_bytes().to_vec();
        bytes.extend([self.flags, command].map(u16::to_be_bytes).concat());
        bytes.extend([self.cookie, self.offset].map(u64::to_be_bytes).concat());
        bytes.extend(self.length.to_be_bytes());
        bytes
    }
}

/// What comes before the data of an answer, if it has any.
pub fn answer(cookie: u64, error: Option<Errno>) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&ANSWER.to_be_bytes());
    bytes[4..8].copy_from_slice(&error.map_or(0, code).to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

/// The protocol's own number of an error.
fn code(error: Errno) -> u32 {
    match error {
        Errno::PERM | Errno::ACCESS | Errno::ROFS => 1,
        Errno::NOMEM => 12,
        Errno::INVAL => 22,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => 28,
        Errno::OVERFLOW => 75,
        Errno::OPNOTSUPP => 95,
        Errno::SHUTDOWN => 108,
        _ => 5,
    }
}

pub fn option_answer(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_ANSWER.to_be_bytes().to_vec();
    bytes.extend([option, kind, data.len() as u32].map(u32::to_be_bytes).concat());
    bytes.extend(data);
    bytes
}

/// The size and the flags of an export.
pub fn size_and_flags(size: Bytes, flags: u16) -> Vec<u8> {
    [&size.get().to_be_bytes()[..], &flags.to_be_bytes()].concat()
}
