//! Requests as the entries of a ring: operations of the kernel on files, or commands of NVMe.

use block::{Op, Request};
use io_uring::{cqueue, opcode, squeue, types};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::nvme::{self, Namespace, RANGE_LENGTH};
use crate::part::Places;

/// The buffer of an entry, and its number where the kernel knows it beforehand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryBuffer {
    pub at: *mut u8,
    pub registered: Option<u16>,
}

/// How requests are put into a ring.
pub(crate) trait Entries {
    type Entry: squeue::EntryMarker;
    type Completion: cqueue::EntryMarker;

    /// The entry of a request. What it names besides its buffer is a registered file; `tag` comes back with its
    /// completion, in the lower half of its data.
    fn entry(&self, request: Request, buffer: EntryBuffer, tag: u32) -> Self::Entry;

    /// What the buffer of a request must hold that moves no data of a drive.
    fn operand(&self, _: Request) -> Option<[u8; RANGE_LENGTH]> {
        None
    }

    /// Bytes moved, or why none were, by an entry's result and its data.
    fn outcome(result: i32, data: u64) -> Result<u32, Errno>;
}

/// Operations on files and block devices.
#[derive(Debug)]
pub(crate) struct FileEntries {
    /// Which of the registered files a place is in.
    pub places: Places,
    /// What a flush asks for.
    pub flush: types::FsyncFlags,
}

impl Entries for FileEntries {
    type Entry = squeue::Entry;
    type Completion = cqueue::Entry;

    #[inline]
    fn entry(&self, request: Request, buffer: EntryBuffer, tag: u32) -> squeue::Entry {
        let (file, offset) = self.places.of(request.lba.offset().get());
        let (file, length) = (types::Fixed(file as u32), request.bytes().get() as u32);
        let flags = if request.durable { libc::RWF_DSYNC } else { 0 };
        let entry = match (request.op, buffer.registered) {
            (Op::Read, Some(index)) => opcode::ReadFixed::new(file, buffer.at, length, index).offset(offset).build(),
            (Op::Read, None) => opcode::Read::new(file, buffer.at, length).offset(offset).build(),
            (Op::Write, Some(index)) => {
                opcode::WriteFixed::new(file, buffer.at, length, index).offset(offset).rw_flags(flags).build()
            }
            (Op::Write, None) => opcode::Write::new(file, buffer.at, length).offset(offset).rw_flags(flags).build(),
            (Op::Trim, _) => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let length = request.bytes().get();
                opcode::Fallocate::new(file, length).offset(offset).mode(mode.bits() as i32).build()
            }
            (Op::Append | Op::Zone(_), _) => unreachable!("the kernel's interface to files has no such operation"),
            (Op::Flush, _) => opcode::Fsync::new(file).flags(self.flush).build(),
        };
        entry.user_data(u64::from(tag))
    }

    #[inline]
    fn outcome(result: i32, _: u64) -> Result<u32, Errno> {
        u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
    }
}

/// Commands to namespaces of NVMe, by their character devices.
#[derive(Debug)]
pub(crate) struct CommandEntries {
    /// Which of the registered files a place is in.
    pub places: Places,
    /// The namespaces of these files.
    pub namespaces: Vec<Namespace>,
}

/// `NVME_URING_CMD_IO`: `_IOWR('N', 0x80, struct nvme_uring_cmd)`. Source: Linux, include/uapi/linux/nvme_ioctl.h.
const URING_COMMAND: u32 = 3 << 30 | 72 << 16 | (b'N' as u32) << 8 | 0x80;

impl Entries for CommandEntries {
    type Entry = squeue::Entry128;
    type Completion = cqueue::Entry32;

    fn entry(&self, request: Request, buffer: EntryBuffer, tag: u32) -> squeue::Entry128 {
        let (file, offset) = self.places.of(request.lba.offset().get());
        let command = self.namespaces[file].command(request, offset, buffer.at as u64);
        // A command has a status and no count, so that its length comes back with it.
        let length = if request.op == Op::Trim { 0 } else { request.bytes().get() };
        // The kernel takes a registered buffer for what moves data alone.
        let registered = buffer.registered.filter(|_| !matches!(request.op, Op::Flush | Op::Zone(_)));
        opcode::UringCmd80::new(types::Fixed(file as u32), URING_COMMAND)
            .cmd(command)
            .buf_index(registered)
            .build()
            .user_data(length << 32 | u64::from(tag))
    }

    fn operand(&self, request: Request) -> Option<[u8; RANGE_LENGTH]> {
        let (file, offset) = self.places.of(request.lba.offset().get());
        (request.op == Op::Trim).then(|| self.namespaces[file].range(request, offset))
    }

    fn outcome(result: i32, data: u64) -> Result<u32, Errno> {
        nvme::outcome(result, (data >> 32) as u32)
    }
}
