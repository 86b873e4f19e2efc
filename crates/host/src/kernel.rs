//! The calls to the kernel for which `rustix` has no safe wrapper.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};
use rustix::process::Pid;

/// Source: Linux, include/uapi/linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4c05;
/// Source: Linux, include/uapi/asm-generic/fcntl.h.
const F_SETSIG: i32 = 10;
/// `struct loop_info64` in words of 64 bits: device and inode of the file come first.
const LOOP_INFO64: usize = 232 / 8;

/// What a loop device is over: device and inode of the file, and its number where that is a block device itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub file: (u64, u64),
    pub device: u64,
}

/// What a loop device is over; none where the kernel does not tell.
pub(crate) fn loop_backing(device: BorrowedFd<'_>) -> Option<Backing> {
    // SAFETY: LOOP_GET_STATUS64 writes a whole `struct loop_info64`, plain numbers of 232 bytes, and reads nothing.
    let told = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, [u64; LOOP_INFO64]>::new()) };
    told.ok().map(|info| Backing { file: (info[0], info[1]), device: info[2] })
}

/// Starts a process that goes on here as this one does; its number, and none in that process itself. This process must have
/// one thread alone.
pub(crate) fn fork() -> std::io::Result<Option<Pid>> {
    // SAFETY: what another thread held when it was cut off would stay so for ever; the caller has no other thread.
    let forked = unsafe { libc::fork() };
    if forked < 0 { Err(std::io::Error::last_os_error()) } else { Ok(Pid::from_raw(forked)) }
}

/// Whether anybody has a file open for writing; `file` itself must be open for reading alone. None where the file system
/// has no leases, or the file is another user's.
///
/// A read lease is granted only while nobody can write. It is given back at once.
/// Source: fcntl(2), "Leases".
pub(crate) fn is_open_for_writing(file: BorrowedFd<'_>) -> Option<bool> {
    let call = |command, value: i32| {
        // SAFETY: these commands take a number, and nothing of this process's memory.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
        if result < 0 {
            Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
        } else {
            Ok(())
        }
    };
    // Who opens the file in between makes the kernel send a signal. This one is ignored, unlike the usual SIGIO.
    call(F_SETSIG, libc::SIGURG).ok()?;
    match call(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            call(libc::F_SETLEASE, libc::F_UNLCK).ok();
            Some(false)
        }
        Err(Errno::AGAIN) => Some(true),
        Err(_) => None,
    }
}
