//! Requests as commands of NVMe, and what the controller says of a namespace.
//!
//! Source: NVM Express NVM Command Set Specification 1.0, §3 and §4.1.5 (identify namespace); Zoned Namespace Command Set
//! Specification 1.1, §3.4; Linux, include/uapi/linux/nvme_ioctl.h (`struct nvme_uring_cmd`).

use block::{Bytes, Op, Request, ZoneAction};
use rustix::io::Errno;
use thiserror::Error;

/// A namespace, as far as commands to it must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub id: u32,
    /// The length of a logical block, as a power of two.
    block_shift: u32,
}

/// Why no commands are sent to a namespace.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum NamespaceError {
    /// Each logical block has so many bytes of metadata, and the data is protected or not.
    #[error(
        "its logical blocks have {bytes} B of metadata each{}, which assay neither writes nor reads; use the block \
         device, or a format without (`nvme id-ns --human-readable` lists them)",
        if *is_protected { " with protection information" } else { "" }
    )]
    Metadata { bytes: u16, is_protected: bool },
    #[error("the controller describes no format of logical blocks of 512 B to 64 KiB for it")]
    Format,
}

/// The length of what a controller says of a namespace.
pub(crate) const IDENTIFY_LENGTH: usize = 4096;
/// The length of a command of Linux's, and of what of a ring's entry it is put into.
const COMMAND_LENGTH: usize = 72;
pub(crate) const ROOM: usize = 80;
/// The length of a range to be deallocated.
pub(crate) const RANGE_LENGTH: usize = 16;

impl Namespace {
    /// What identify namespace (CNS 00h) tells of it.
    pub fn parse(id: u32, said: &[u8; IDENTIFY_LENGTH]) -> Result<Self, NamespaceError> {
        // FLBAS: bits 3:0 are the lower, 6:5 the upper ones of the format's number, of which there are up to 64.
        let (flbas, dps) = (said[26], said[29]);
        let format = usize::from(flbas & 0xf | flbas >> 1 & 0x30);
        let at = 128 + 4 * format;
        let (metadata, shift) = (u16::from_le_bytes([said[at], said[at + 1]]), u32::from(said[at + 2]));
        // Before 2.0 there were 16 formats, and the bits above are reserved.
        if !(9..=16).contains(&shift) || format >= 64 {
            return Err(NamespaceError::Format);
        }
        match metadata {
            0 => Ok(Self { id, block_shift: shift }),
            bytes => Err(NamespaceError::Metadata { bytes, is_protected: dps & 0b111 != 0 }),
        }
    }

    /// The length of a logical block.
    pub fn block(self) -> Bytes {
        Bytes::new(1 << self.block_shift)
    }

    /// The command of a request at this offset, whose data is at `address`.
    pub fn command(self, request: Request, offset: u64, address: u64) -> [u8; ROOM] {
        let first = offset >> self.block_shift;
        let blocks = (request.bytes().get() >> self.block_shift) as u32;
        let mut command = [0; ROOM];
        let mut put = |at: usize, bytes: &[u8]| command[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &[opcode(request.op)]);
        put(4, &self.id.to_le_bytes());
        let length = match request.op {
            Op::Trim => RANGE_LENGTH as u32,
            Op::Flush | Op::Zone(_) => 0,
            Op::Read | Op::Write | Op::Append => request.bytes().get() as u32,
        };
        if length > 0 {
            put(24, &address.to_le_bytes());
            put(36, &length.to_le_bytes());
        }
        let mut word = |number: usize, value: u32| put(COMMAND_LENGTH - 32 + 4 * (number - 10), &value.to_le_bytes());
        match request.op {
            Op::Read | Op::Write | Op::Append => {
                word(10, first as u32);
                word(11, (first >> 32) as u32);
                // Bit 30 has a write be durable on completion.
                word(12, blocks.wrapping_sub(1) | u32::from(request.durable) << 30);
            }
            // One range, which bit 2 has be deallocated.
            Op::Trim => word(11, 1 << 2),
            Op::Zone(action) => {
                word(10, first as u32);
                word(11, (first >> 32) as u32);
                word(13, zone_action(action));
            }
            Op::Flush => {}
        }
        command
    }

    /// The range of a trim at this offset.
    pub fn range(self, request: Request, offset: u64) -> [u8; RANGE_LENGTH] {
        let mut range = [0; RANGE_LENGTH];
        range[4..8].copy_from_slice(&((request.bytes().get() >> self.block_shift) as u32).to_le_bytes());
        range[8..].copy_from_slice(&(offset >> self.block_shift).to_le_bytes());
        range
    }
}

const fn opcode(op: Op) -> u8 {
    match op {
        Op::Flush => 0x00,
        Op::Write => 0x01,
        Op::Read => 0x02,
        Op::Trim => 0x09,
        Op::Zone(_) => 0x79,
        Op::Append => 0x7d,
    }
}

const fn zone_action(action: ZoneAction) -> u32 {
    match action {
        ZoneAction::Close => 1,
        ZoneAction::Finish => 2,
        ZoneAction::Open => 3,
        ZoneAction::Reset => 4,
    }
}

/// What came of a command that moves `length`: its status, or what the kernel has against it.
///
/// A status becomes the error that a block device gives for it. Source: Linux, drivers/nvme/host/core.c,
/// `nvme_error_status`, and block/blk-core.c, `blk_errors`.
pub(crate) fn outcome(result: i32, length: u32) -> Result<u32, Errno> {
    // Above the status type and code are what the controller would have done about it.
    const STATUS: i32 = 0x7ff;
    match result {
        ..0 => Err(Errno::from_raw_os_error(-result)),
        _ => match result & STATUS {
            0x000 => Ok(length),
            0x001 | 0x002 | 0x004 => Err(Errno::OPNOTSUPP),
            0x081 => Err(Errno::NOSPC),
            0x080 => Err(Errno::REMOTEIO),
            0x083 => Err(Errno::BADE),
            // Of the zoned command set, the limits have errors of their own.
            0x1bd => Err(Errno::OVERFLOW),
            0x1be => Err(Errno::TOOMANYREFS),
            0x280 | 0x281 | 0x285 | 0x286 | 0x287 => Err(Errno::NODATA),
            0x282..=0x284 => Err(Errno::ILSEQ),
            _ => Err(Errno::IO),
        },
    }
}

#[cfg(test)]
mod tests {
    use block::Lba;

    use super::*;

    fn said(flbas: u8, format: usize, metadata: u16, shift: u8, dps: u8) -> [u8; IDENTIFY_LENGTH] {
        let mut said = [0; IDENTIFY_LENGTH];
        (said[26], said[29]) = (flbas, dps);
        said[128 + 4 * format..][..2].copy_from_slice(&metadata.to_le_bytes());
        said[128 + 4 * format + 2] = shift;
        said
    }

    #[test]
    fn the_format_in_use_tells_the_block_and_metadata_is_refused() {
        let parse = |said| Namespace::parse(3, &said);
        assert_eq!(parse(said(0, 0, 0, 9, 0)).map(Namespace::block), Ok(Bytes::new(512)));
        assert_eq!(parse(said(4, 4, 0, 12, 0)).map(Namespace::block), Ok(Bytes::from_kib(4)));
        assert_eq!(parse(said(0x22, 18, 0, 12, 0)).map(Namespace::block), Ok(Bytes::from_kib(4)));
        let metadata = |bytes, is_protected| Err(NamespaceError::Metadata { bytes, is_protected });
        assert_eq!(parse(said(1, 1, 8, 9, 0)), metadata(8, false));
        assert_eq!(parse(said(1, 1, 8, 12, 1)), metadata(8, true));
        for shift in [0, 8, 17, 255] {
            assert_eq!(parse(said(0, 0, 0, shift, 0)), Err(NamespaceError::Format));
        }
    }

    /// The words of a command: operation, namespace, address, length, and words 10 to 13.
    fn words(request: Request, offset: u64) -> (u8, u32, u64, u32, [u32; 4]) {
        let namespace = Namespace { id: 7, block_shift: 12 };
        let command = namespace.command(request, offset, 0x1234_5678_9000);
        let word = |at: usize| u32::from_le_bytes(command[at..at + 4].try_into().unwrap());
        let address = u64::from_le_bytes(command[24..32].try_into().unwrap());
        assert!(command[COMMAND_LENGTH..].iter().all(|byte| *byte == 0));
        (command[0], word(4), address, word(36), [40, 44, 48, 52].map(word))
    }

    #[test]
    fn each_request_is_the_command_of_the_specification() {
        let (place, address) = (5 << 40, 0x1234_5678_9000);
        let ask = |op, sectors| Request::new(op, Lba::new(0), sectors);
        assert_eq!(words(ask(Op::Read, 64), place), (2, 7, address, 32_768, [5 << 28, 0, 7, 0]));
        let durable = Request { durable: true, ..ask(Op::Write, 8) };
        assert_eq!(words(durable, 5 << 44), (1, 7, address, 4_096, [0, 5, 1 << 30, 0]));
        assert_eq!(words(ask(Op::Append, 8), 4_096), (0x7d, 7, address, 4_096, [1, 0, 0, 0]));
        assert_eq!(words(Request::FLUSH, 0), (0, 7, 0, 0, [0; 4]));
        assert_eq!(words(ask(Op::Trim, 8), 0), (9, 7, address, 16, [0, 4, 0, 0]));
        let reset = Op::Zone(ZoneAction::Reset);
        assert_eq!(words(ask(reset, 0), 8_192), (0x79, 7, 0, 0, [2, 0, 0, 4]));
        let namespace = Namespace { id: 7, block_shift: 12 };
        let range = namespace.range(ask(Op::Trim, 80), 12_288);
        assert_eq!(range, [0, 0, 0, 0, 10, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_status_becomes_the_error_that_a_block_device_gives() {
        assert_eq!(outcome(0, 4_096), Ok(4_096));
        assert_eq!(outcome(-libc::EINVAL, 4_096), Err(Errno::INVAL));
        // Do not retry, more: no part of the code.
        assert_eq!(outcome(0x4281, 4_096), Err(Errno::NODATA));
        assert_eq!(outcome(0x41bd, 4_096), Err(Errno::OVERFLOW));
        assert_eq!(outcome(0x4001, 0), Err(Errno::OPNOTSUPP));
    }
}
