//! The three calls to the kernel for which `rustix` has no safe wrapper.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use block::{Bytes, Nanos};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

use crate::Cpu;

/// `_IO(0x12, 119)`. Source: Linux, include/uapi/linux/fs.h.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// Tells a block device that a range of its data need not be kept.
pub(crate) fn discard(device: BorrowedFd<'_>, start: Bytes, length: Bytes) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads two 64-bit numbers, start and length in bytes, and writes nothing to memory.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([start.get(), length.get()])) }
}

/// What offsets and lengths must be multiples of for O_DIRECT on this file or device: zero where it is
/// not supported at all, none where the kernel (before 6.1) or the file system does not say.
pub(crate) fn direct_alignment(file: BorrowedFd<'_>) -> Option<Bytes> {
    let mut status = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is a C string, empty as AT_EMPTY_PATH asks, and `status` is a whole `struct statx` to write to.
    let result = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, status.as_mut_ptr())
    };
    // SAFETY: `struct statx` is plain numbers, for which the zeroes that it started with are valid.
    let status = unsafe { status.assume_init() };
    let known = result == 0 && status.stx_mask & libc::STATX_DIOALIGN != 0;
    known.then(|| Bytes::new(u64::from(status.stx_dio_offset_align)))
}

/// The processor time and context switches of all threads of this process so far, the kernel's own on its behalf included.
pub(crate) fn cpu_time() -> Cpu {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: RUSAGE_SELF is a valid request and `usage` a whole `struct rusage` to write to.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(result, 0, "getrusage fails only for arguments that are not valid");
    // SAFETY: `struct rusage` is plain numbers, for which the zeroes that it started with are valid.
    let usage = unsafe { usage.assume_init() };
    let nanos =
        |time: libc::timeval| Nanos::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000);
    Cpu {
        user: nanos(usage.ru_utime),
        system: nanos(usage.ru_stime),
        switches_voluntary: usage.ru_nvcsw as u64,
        switches_involuntary: usage.ru_nivcsw as u64,
        ..Cpu::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let before = cpu_time();
        let mut sum = 0u64;
        while cpu_time().user.since(before.user) < Nanos::from_millis(1) {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
        }
        assert!(cpu_time().user > before.user);
    }
}
