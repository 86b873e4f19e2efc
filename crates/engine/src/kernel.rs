//! The calls to the kernel for which `rustix` has no safe wrapper.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use block::{Bytes, Lba, Nanos, Zone, ZoneAction};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

use crate::Cpu;
use crate::nvme::IDENTIFY_LENGTH;
use crate::zone_report::{BlockZone, zones};

/// `_IO(0x12, 119)`. Source: Linux, include/uapi/linux/fs.h.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// Tells a block device that a range of its data need not be kept.
pub(crate) fn discard(device: BorrowedFd<'_>, start: Bytes, length: Bytes) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads two 64-bit numbers, start and length in bytes, and writes nothing to memory.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([start.get(), length.get()])) }
}

/// `_IOW(0x12, n, struct blk_zone_range)`. Source: Linux, include/uapi/linux/blkzoned.h.
const fn zone_opcode(number: u8) -> Opcode {
    opcode::write::<[u64; 2]>(0x12, number)
}

/// Opens, closes, finishes or resets the zones of a block device that this range covers.
pub(crate) fn manage_zones(device: BorrowedFd<'_>, action: ZoneAction, start: Lba, length: Bytes) -> Result<(), Errno> {
    let range = [start.get(), length.sectors()];
    // SAFETY: all four read two 64-bit numbers, start and length in sectors, and write nothing to memory.
    unsafe {
        match action {
            ZoneAction::Reset => ioctl(device, Setter::<{ zone_opcode(131) }, _>::new(range)),
            ZoneAction::Open => ioctl(device, Setter::<{ zone_opcode(134) }, _>::new(range)),
            ZoneAction::Close => ioctl(device, Setter::<{ zone_opcode(135) }, _>::new(range)),
            ZoneAction::Finish => ioctl(device, Setter::<{ zone_opcode(136) }, _>::new(range)),
        }
    }
}

/// How many zones are asked for at a time.
const ZONES_EACH: usize = 4096;

/// `struct blk_zone_report` with room for so many zones. Source: Linux, include/uapi/linux/blkzoned.h.
#[repr(C)]
struct ZoneReport {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [BlockZone; ZONES_EACH],
}

/// `_IOWR(0x12, 130, struct blk_zone_report)`, whose size is that of its head.
const BLKREPORTZONE: libc::c_ulong = opcode::read_write::<[u64; 2]>(0x12, 130) as libc::c_ulong;

/// All zones of a block device, in order.
pub(crate) fn report_zones(device: BorrowedFd<'_>) -> Result<Vec<Zone>, Errno> {
    let mut report = Box::new(ZoneReport { sector: 0, count: 0, flags: 0, zones: [BlockZone::default(); ZONES_EACH] });
    let mut all: Vec<Zone> = Vec::new();
    loop {
        (report.count, report.flags) = (ZONES_EACH as u32, 0);
        // SAFETY: the kernel reads the head and writes it and at most `count` zones, for which there is room.
        let said = unsafe { libc::ioctl(device.as_raw_fd(), BLKREPORTZONE as _, &raw mut *report) };
        if said < 0 {
            return Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)));
        }
        let found = &report.zones[..(report.count as usize).min(ZONES_EACH)];
        all.extend(zones(found, report.flags));
        match all.last() {
            Some(last) if !found.is_empty() && last.end.get() > report.sector => report.sector = last.end.get(),
            _ => return Ok(all),
        }
    }
}

/// `struct nvme_passthru_cmd`. Source: Linux, include/uapi/linux/nvme_ioctl.h.
#[derive(Default)]
#[repr(C)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    length: u32,
    more: [u32; 6],
    timeout: u32,
    result: u32,
}

/// `NVME_IOCTL_ID` and `NVME_IOCTL_ADMIN_CMD`, there.
const NVME_ID: libc::c_ulong = opcode::none(b'N', 0x40) as libc::c_ulong;
const NVME_ADMIN: libc::c_ulong = opcode::read_write::<AdminCommand>(b'N', 0x41) as libc::c_ulong;

/// The number of the namespace that a character device of NVMe is, and what identify namespace says of it.
pub(crate) fn identify(device: BorrowedFd<'_>) -> Result<(u32, Box<[u8; IDENTIFY_LENGTH]>), Errno> {
    const IDENTIFY: u8 = 0x06;
    let failed = || Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
    // SAFETY: the call has no argument.
    let id = unsafe { libc::ioctl(device.as_raw_fd(), NVME_ID as _) };
    let id = u32::try_from(id).map_err(|_| failed())?;
    let mut said = Box::new([0; IDENTIFY_LENGTH]);
    let (address, length) = (said.as_mut_ptr() as u64, IDENTIFY_LENGTH as u32);
    let mut command = AdminCommand { opcode: IDENTIFY, namespace: id, address, length, ..AdminCommand::default() };
    // SAFETY: the kernel reads and writes one such structure, and writes at most `length` bytes at `address`, which are ours.
    match unsafe { libc::ioctl(device.as_raw_fd(), NVME_ADMIN as _, &raw mut command) } {
        0 => Ok((id, said)),
        ..0 => Err(failed()),
        // A status of the controller's.
        1.. => Err(Errno::IO),
    }
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
