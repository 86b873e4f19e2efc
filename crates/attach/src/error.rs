//! Why a drive cannot be attached.

use std::io;
use std::path::{Path, PathBuf};

use block::Bytes;
use host::Mount;
use thiserror::Error;

use crate::data::DataError;
use crate::faults::FaultError;
use crate::registry::AttachedEntry;
use crate::socket;

/// Why a drive cannot be attached, or ceased to be.
#[derive(Debug, Error)]
pub enum AttachError {
    /// There is no FUSE.
    #[error("/dev/fuse cannot be opened: {0}; load the module with `modprobe fuse`, or run as root")]
    NoFuse(#[source] io::Error),
    /// Mounting is not allowed.
    #[error("{} cannot be mounted on: {cause}; attaching needs root", path.display())]
    Mount {
        /// Where the file was to be.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// A program that is needed failed.
    #[error("`{command}` failed: {said}")]
    Program {
        /// The command line.
        command: String,
        /// What it said, or why it could not be started.
        said: String,
    },
    /// The file of the data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A program that is needed is not installed.
    #[error(transparent)]
    Missing(#[from] host::Missing),
    /// A file cannot be used: that of the data, or one by which others learn of the drive.
    #[error("{}: {cause}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// The data of the drive can be in no file of that file system.
    #[error(
        "the file system of {} has no files of {capacity}, which the drive's data needs (ext4: 16 TiB at most); give --backing FILE \
         on one that has, as XFS or btrfs, or attach a smaller drive",
        folder.display()
    )]
    Large {
        /// Where files without a name are made.
        folder: PathBuf,
        /// What the drive holds.
        capacity: Bytes,
    },
    /// Something uses the device.
    #[error("{} is in use{}; stop that first: nothing is unmounted by force", device.display(), told(by))]
    InUse {
        device: PathBuf,
        /// Where it is mounted.
        by: Vec<String>,
    },
    /// The process that answers needs it for what it does.
    #[error(
        "process {pid} attached {} for its own use, and detaches it when it is done; stop that process first",
        device.display()
    )]
    Held {
        /// The device or the socket.
        device: PathBuf,
        /// The number of the process.
        pid: u32,
    },
    /// There cannot be a socket.
    #[error("the socket {} cannot be created: {cause}; give an unused name in a writable folder", path.display())]
    Socket {
        /// Where it was to be.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// Partitions are to have devices, and there is none for the whole.
    #[error(
        "the socket {} has no block device and so no partition devices: leave out --partitions and let the socket's \
         client scan for them, or attach the drive without a socket",
        socket.display()
    )]
    NoPartitions {
        /// Where the clients come to.
        socket: PathBuf,
    },
    /// The drive has zones, and no way to a drive says so to the kernel.
    #[error(
        "{name} is a drive with zones, which no device that assay can make has: attach a drive without zones, or run \
         workloads on sim:{name} itself (`assay run`)"
    )]
    Zoned {
        /// What it is called.
        name: String,
    },
    /// A fault makes no sense on the drive.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// There is no ublk driver.
    #[cfg(feature = "ublk")]
    #[error("/dev/ublk-control cannot be opened: {0}; load the driver with `modprobe ublk_drv`, and run as root")]
    NoUblk(#[source] io::Error),
    /// The driver cannot do what is needed.
    #[cfg(feature = "ublk")]
    #[error("this kernel's ublk driver lacks UBLK_F_USER_COPY; run Linux 6.5 or newer, or leave out --ublk")]
    OldUblk,
    /// The driver has no disks for such a drive.
    #[cfg(feature = "ublk")]
    #[error("the drive's blocks of {block} are larger than the ublk driver's largest, 4 KiB; serve it with --nbd")]
    UblkBlock {
        /// The drive's block.
        block: Bytes,
    },
    /// The driver refuses.
    #[cfg(feature = "ublk")]
    #[error("the ublk driver does not {to}: {cause}; see `dmesg`")]
    Ublk {
        /// What it was to do.
        to: &'static str,
        /// What it said.
        #[source]
        cause: io::Error,
    },
    /// Somebody uses the socket.
    #[error("{} is in use: a client is connected; end that first", socket.display())]
    Connected {
        /// Where the clients come to.
        socket: PathBuf,
    },
    /// The process that answers does not go.
    #[error(
        "process {pid}, which serves the drive, does not end; `kill -9 {pid}` and detach again: flushed data is safe"
    )]
    StillThere {
        /// Its number.
        pid: u32,
    },
    /// The process that answers does not do what it is told.
    #[error("process {pid}, which serves {}, refused: {cause}; `assay attached` shows its state", device.display())]
    Gone {
        /// The device or the socket.
        device: PathBuf,
        /// The number of the process.
        pid: u32,
        /// What it said, or the kernel.
        #[source]
        cause: io::Error,
    },
    /// The process that answers does not, and so cannot be asked to go.
    #[error(
        "process {pid}, which serves {device}, does not answer; `assay detach --abort {device}` kills it; pending \
         requests then get an I/O error",
        device = device.display()
    )]
    Hung {
        /// The device or the socket.
        device: PathBuf,
        /// The number of the process.
        pid: u32,
    },
    /// The kernel does not end the connection.
    #[error("the connection cannot be ended through the kernel's control of FUSE connections: {0}")]
    Abort(#[source] io::Error),
    /// There is a mistake in this program.
    #[error(
        "a bug in assay stopped the drive, whose requests failed from then on; its state is not saved, and the \
         previous state is kept. The server's output shows the bug"
    )]
    Mistake,
    /// The port by which requests come broke.
    #[error("the drive can no longer be served: {0}; writes since the last flush may be lost")]
    Broken(#[from] io::Error),
}

impl AttachError {
    /// That the process which serves `entry` does not do what it is told.
    pub(crate) fn gone(entry: &AttachedEntry, cause: io::Error) -> Self {
        Self::Gone { device: entry.device.clone(), pid: entry.process.pid, cause }
    }

    /// That this process attached the drive for itself.
    pub(crate) fn held(entry: &AttachedEntry) -> Self {
        Self::Held { device: entry.device.clone(), pid: entry.process.pid }
    }

    /// That this device or socket is in use, with the places where it or its partitions are mounted.
    pub(crate) fn in_use(device: &Path) -> Self {
        if socket::is_one(device) {
            return Self::Connected { socket: device.to_owned() };
        }
        let mounts = Mount::all().unwrap_or_default();
        let mounts = mounts.iter().filter(|mount| is_of(&mount.source, &device.to_string_lossy()));
        let by = mounts.map(|mount| mount.point.display().to_string()).collect();
        Self::InUse { device: device.to_owned(), by }
    }
}

/// Whether a block device is this one or a partition of it: `/dev/loop1p2` is one of `/dev/loop1`, `/dev/loop12` is
/// not.
fn is_of(source: &str, device: &str) -> bool {
    let part = |rest: &str| rest.strip_prefix('p').is_some_and(|number| number.parse::<u32>().is_ok());
    source.strip_prefix(device).is_some_and(|rest| rest.is_empty() || part(rest))
}

fn told(mounts: &[String]) -> String {
    if mounts.is_empty() { String::new() } else { format!(": mounted at {}", mounts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_not_taken_for_another_whose_name_goes_on() {
        let found = ["/dev/loop1", "/dev/loop1p2", "/dev/loop12", "/dev/loop1p", "/dev/sda"]
            .map(|one| is_of(one, "/dev/loop1"));
        assert_eq!(found, [true, true, false, false, false]);
    }

    #[test]
    fn no_message_has_a_gap() {
        let error = AttachError::NoPartitions { socket: "/run/disk.sock".into() };
        assert!(!error.to_string().contains("  "), "{error}");
    }
}
