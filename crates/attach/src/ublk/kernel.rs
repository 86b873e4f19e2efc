//! What of talking with the ublk driver the compiler cannot check: rings of commands, and memory that it writes to.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use io_uring::squeue::Entry128;
use io_uring::{IoUring, cqueue, opcode, types};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use super::abi::{COMMAND, CONTROL, DESCRIPTOR, UblkCommand, control};

/// A ring of commands to the driver.
pub struct UblkRing(IoUring<Entry128, cqueue::Entry>);

impl UblkRing {
    /// One for so many commands in flight.
    ///
    /// # Errors
    /// If the kernel has none.
    pub fn new(entries: u32) -> io::Result<Self> {
        Ok(Self(IoUring::builder().build(entries)?))
    }

    /// Has the driver carry out a command for a device, with a word and with memory that it may read or write, and waits.
    ///
    /// # Errors
    /// What the driver says.
    pub fn control(driver: &File, op: UblkCommand, device: u32, word: u64, mut memory: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut ring = Self::new(1)?;
        let address = if memory.is_empty() { 0 } else { memory.as_mut_ptr() as u64 };
        let mut bytes = [0; 80];
        bytes[..CONTROL].copy_from_slice(&control(device, address, memory.len() as u16, word));
        let entry = opcode::UringCmd80::new(types::Fd(driver.as_raw_fd()), op.0).cmd(bytes).build();
        // SAFETY: the memory is not touched before the command is completed, and leaked if that cannot be waited for.
        unsafe { ring.0.submission().push(&entry) }.expect("a new ring is empty");
        loop {
            match ring.0.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    std::mem::forget(memory);
                    return Err(error);
                }
                Ok(_) => {
                    if let Some((_, result)) = ring.next() {
                        return if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(memory) };
                    }
                }
            }
        }
    }

    /// Makes a command for a tag ready: the next [`Self::submit`] sends it on its way.
    ///
    /// # Errors
    /// If there is no room, and none can be made.
    pub fn push(&mut self, device: &File, op: UblkCommand, tag: u16, command: [u8; COMMAND]) -> io::Result<()> {
        if self.0.submission().is_full() {
            self.submit()?;
        }
        let mut bytes = [0; 80];
        bytes[..COMMAND].copy_from_slice(&command);
        let entry = opcode::UringCmd80::new(types::Fd(device.as_raw_fd()), op.0).cmd(bytes).build();
        // SAFETY: the command names no memory; the file is this process's, and the kernel holds it while it needs it.
        unsafe { self.0.submission().push(&entry.user_data(tag.into())) }.map_err(io::Error::other)
    }

    /// Sends what is ready on its way.
    ///
    /// # Errors
    /// If the kernel does not take it.
    pub fn submit(&mut self) -> io::Result<()> {
        if !self.0.submission().is_empty() {
            self.0.submit()?;
        }
        Ok(())
    }

    /// The next command that is completed, by its tag, with what the driver says; none if there is none.
    pub fn next(&mut self) -> Option<(u16, i32)> {
        let entry = self.0.completion().next()?;
        Some((entry.user_data() as u16, entry.result()))
    }
}

impl AsFd for UblkRing {
    /// What can be read from when a command is completed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring holds it open for as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }
}

/// The memory in which the driver describes requests, by tag.
pub struct Descriptors {
    first: *const [u8; DESCRIPTOR],
    depth: u16,
    bytes: usize,
}

// SAFETY: it is mapped for the whole process, and only read.
unsafe impl Send for Descriptors {}

impl Descriptors {
    /// Those of the only queue of `device`, which has so many tags.
    ///
    /// # Errors
    /// If they cannot be mapped.
    pub fn of(device: &File, depth: u16) -> io::Result<Self> {
        let bytes = (usize::from(depth) * DESCRIPTOR).next_multiple_of(page_size());
        // SAFETY: it is mapped where nothing is yet.
        let first = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, device, 0) }?;
        Ok(Self { first: first.cast(), depth, bytes })
    }

    /// That of a request which was handed over, and not answered yet.
    pub fn get(&self, tag: u16) -> [u8; DESCRIPTOR] {
        assert!(tag < self.depth, "tag {tag} of a queue of {}", self.depth);
        // SAFETY: it is within what is mapped, by the assertion; any bytes are numbers, and a byte has no alignment.
        unsafe { self.first.add(tag.into()).read_volatile() }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing borrows from it. That it cannot be unmapped loses a page.
        unsafe { munmap(self.first.cast_mut().cast(), self.bytes) }.ok();
    }
}
