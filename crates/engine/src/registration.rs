//! Rings as the kernel knows them by number, which spares it to look their descriptors up.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, RawFd};

use io_uring::{IoUring, cqueue, squeue};

/// A ring's place among those that a thread has registered. Source: Linux, include/uapi/linux/io_uring.h,
/// `struct io_uring_rsrc_update`.
#[derive(Default)]
#[repr(C)]
struct RingRegistration {
    number: u32,
    reserved: u32,
    descriptor: u64,
}

/// The same file's `IORING_REGISTER_RING_FDS`, its contrary, and `IORING_ENTER_REGISTERED_RING`.
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;
pub(crate) const ENTER_REGISTERED_RING: u32 = 1 << 4;

/// Registers the ring with the calling thread; none where the kernel (before 5.18) cannot, or a thread of the kernel's looks
/// into it, which hardly any call is made for.
pub(crate) fn register_ring<S: squeue::EntryMarker, C: cqueue::EntryMarker>(ring: &IoUring<S, C>) -> Option<u32> {
    let mut wanted = RingRegistration { number: u32::MAX, descriptor: ring.as_raw_fd() as u64, ..Default::default() };
    let registers = !ring.params().is_setup_sqpoll();
    (registers && change_registration(ring.as_raw_fd(), REGISTER_RING_FDS, &mut wanted)).then_some(wanted.number)
}

/// Undoes it; else the thread would keep the ring until it ends.
pub(crate) fn unregister_ring(ring: RawFd, number: u32) {
    change_registration(ring, UNREGISTER_RING_FDS, &mut RingRegistration { number, ..Default::default() });
}

/// Whether the kernel did it.
fn change_registration(ring: RawFd, what: u32, wanted: &mut RingRegistration) -> bool {
    // SAFETY: the kernel reads and writes one such structure.
    let done = unsafe { libc::syscall(libc::SYS_io_uring_register, ring, what, &raw mut *wanted, 1) };
    done == 1
}
