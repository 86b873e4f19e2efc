//! What the kernel asks of a file system in user space that is a single file, and the bytes of the answers.
//!
//! Source: Linux, `include/uapi/linux/fuse.h`, version 7.31. All numbers are in the machine's own byte order.

use block::Bytes;

/// The version of the protocol that is spoken: the first whose `fuse_init_out` has `max_pages` and its alignment.
const VERSION: (u32, u32) = (7, 31);
/// The length of the header before each request.
pub const HEADER: usize = 40;
/// The longest read or write.
pub const LONGEST: usize = 1 << 20;
/// The kernel's own requests that may be in flight. The default of 12 would be the queue depth of the drive.
const BACKGROUND: u16 = 1024;

/// Flags of `fuse_init_out`.
const ASYNC_READ: u32 = 1 << 0;
const BIG_WRITES: u32 = 1 << 5;
const ASYNC_DIO: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;

/// Flags of `fuse_open_out`: no page cache in between, writes side by side.
const DIRECT_IO: u32 = 1 << 0;
const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

/// A regular file that its owner reads and writes.
const MODE: u32 = 0o100_600;

/// The number by which the kernel knows a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unique(pub u64);

/// What the kernel asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// Which version is spoken, and what is supported; the kernel's flags.
    Init {
        /// What the kernel supports.
        flags: u32,
    },
    /// How large the file is, and of what kind.
    Attributes,
    /// Open the file.
    Open,
    /// Read so many bytes from here.
    Read {
        /// Where it begins.
        offset: u64,
        /// How much.
        length: u32,
    },
    Write {
        /// Where it begins.
        offset: u64,
        /// What to write.
        data: &'a [u8],
    },
    /// Make all that was written survive a loss of power.
    Sync,
    /// Forget a part of the file.
    Discard {
        /// Where it begins.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// How full the file system is.
    Space,
    /// What needs no more than a yes: release, flush at close, access.
    Yes,
    /// What is not answered at all: forget, interrupt.
    Silent,
    /// The file system is being unmounted.
    Destroy,
    /// Anything else, by its number.
    Unknown(u32),
}

/// Reads a request; none if it is cut off.
pub fn read(message: &[u8]) -> Option<(Unique, Call<'_>)> {
    let opcode = u32_at(message, 4)?;
    let unique = Unique(u64_at(message, 8)?);
    let body = message.get(HEADER..)?;
    let call = match opcode {
        26 => Call::Init { flags: u32_at(body, 12)? },
        3 | 4 => Call::Attributes,
        14 => Call::Open,
        15 => Call::Read { offset: u64_at(body, 8)?, length: u32_at(body, 16)? },
        16 => {
            let length = u32_at(body, 16)? as usize;
            Call::Write { offset: u64_at(body, 8)?, data: body.get(40..40 + length)? }
        }
        20 | 50 => Call::Sync,
        43 => {
            // Punch a hole or write zeroes: after either the data is gone.
            Call::Discard { offset: u64_at(body, 8)?, length: u64_at(body, 16)? }
        }
        17 => Call::Space,
        18 | 25 | 34 => Call::Yes,
        2 | 36 | 42 => Call::Silent,
        38 => Call::Destroy,
        other => Call::Unknown(other),
    };
    Some((unique, call))
}

/// The answer to [`Call::Init`] of a kernel that supports `flags`.
pub fn init(flags: u32) -> Vec<u8> {
    let wanted = ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES;
    let mut out = Vec::with_capacity(64);
    for word in [VERSION.0, VERSION.1, LONGEST as u32, flags & wanted] {
        out.extend(word.to_ne_bytes());
    }
    out.extend(BACKGROUND.to_ne_bytes());
    out.extend((BACKGROUND / 4 * 3).to_ne_bytes());
    out.extend((LONGEST as u32).to_ne_bytes());
    out.extend(1_u32.to_ne_bytes());
    out.extend(((LONGEST / 4096) as u16).to_ne_bytes());
    out.resize(64, 0);
    out
}

/// The answer to [`Call::Attributes`]: a file of this size, for a day.
pub fn attributes(size: Bytes) -> Vec<u8> {
    let mut out = Vec::with_capacity(104);
    out.extend(86_400_u64.to_ne_bytes());
    out.extend([0; 8]);
    for word in [1, size.get(), size.get() / 512, 0, 0, 0] {
        out.extend(word.to_ne_bytes());
    }
    for word in [0, 0, 0, MODE, 1, 0, 0, 0, 4096, 0] {
        out.extend(word.to_ne_bytes());
    }
    out
}

/// The answer to [`Call::Open`].
pub fn opened() -> Vec<u8> {
    let mut out = vec![0; 8];
    out.extend((DIRECT_IO | PARALLEL_DIRECT_WRITES).to_ne_bytes());
    out.extend([0; 4]);
    out
}

/// The answer to [`Call::Write`]: all of it was written.
pub fn written(length: u32) -> [u8; 8] {
    u64::from(length).to_ne_bytes()
}

/// The answer to [`Call::Space`]: a full file system of this size.
pub fn space(size: Bytes) -> Vec<u8> {
    let mut out = Vec::with_capacity(80);
    for word in [size.get() / 4096, 0, 0, 1, 0] {
        out.extend(word.to_ne_bytes());
    }
    for word in [4096_u32, 255, 4096] {
        out.extend(word.to_ne_bytes());
    }
    out.resize(80, 0);
    out
}

/// The header of an answer with so many bytes behind it; `error` is an errno, 0 for none.
pub fn header(unique: Unique, error: i32, length: usize) -> [u8; 16] {
    let mut out = [0; 16];
    out[..4].copy_from_slice(&((16 + length) as u32).to_ne_bytes());
    out[4..8].copy_from_slice(&(-error).to_ne_bytes());
    out[8..].copy_from_slice(&unique.0.to_ne_bytes());
    out
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(place..place + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(place..place + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request as the kernel writes it.
    fn message(opcode: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        bytes.extend(opcode.to_ne_bytes());
        bytes.extend(77_u64.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn reads_and_writes_say_where_and_how_much() {
        let mut body = vec![0; 8];
        body.extend(8192_u64.to_ne_bytes());
        body.extend(3_u32.to_ne_bytes());
        body.resize(40, 0);
        assert_eq!(read(&message(15, &body)), Some((Unique(77), Call::Read { offset: 8192, length: 3 })));
        body.extend(b"abc");
        assert_eq!(read(&message(16, &body)), Some((Unique(77), Call::Write { offset: 8192, data: b"abc" })));
        body.pop();
        assert_eq!(read(&message(16, &body)), None, "data that is cut off");
    }

    #[test]
    fn what_is_not_known_is_told_by_its_number() {
        assert_eq!(read(&message(39, &[])), Some((Unique(77), Call::Unknown(39))));
        assert_eq!(read(&[0; 20]), None);
    }

    #[test]
    fn answers_are_as_long_as_the_protocol_says() {
        let lengths = [
            init(u32::MAX).len(),
            attributes(Bytes::from_mib(1)).len(),
            opened().len(),
            space(Bytes::from_mib(1)).len(),
        ];
        assert_eq!(lengths, [64, 104, 16, 80]);
        assert_eq!(header(Unique(5), 5, 8)[4..8], (-5_i32).to_ne_bytes());
    }

    #[test]
    fn only_what_the_kernel_supports_is_asked_for() {
        let flags = |kernel| u32_at(&init(kernel), 12).unwrap();
        assert_eq!(flags(0), 0);
        assert_eq!(flags(u32::MAX), ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES);
    }
}
