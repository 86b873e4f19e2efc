//! Why a real target cannot be used, and why a run on it fails.

use std::path::PathBuf;

use block::{Bytes, Nanos, Op};
use rustix::io::Errno;
use thiserror::Error;
use workload::{Damage, Invalid};

use crate::Job;
use crate::zone_plug::ZoneMisfit;

/// Why a file or block device cannot be used. Nothing was changed.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TargetError {
    #[error("{} does not exist; give an existing file or block device, or --size (such as --size=1G) to create a file", path.display())]
    Missing { path: PathBuf },
    #[error("{} does not exist, and no files are created under /dev; `lsblk` lists the block devices", path.display())]
    NoDevice { path: PathBuf },
    #[error("{} cannot be created: {} is not a directory; create it first", path.display(), parent.display())]
    NoParent { path: PathBuf, parent: PathBuf },
    #[error("{} is empty and no size is given; add --size, such as --size=1G", path.display())]
    Empty { path: PathBuf },
    #[error("{} has no capacity; insert its medium or attach its backing device", path.display())]
    NoMedium { path: PathBuf },
    #[error("size 0 of {}: give at least one block, such as --size=1G", path.display())]
    NoSize { path: PathBuf },
    #[error("{} is a {kind}; give a file or a block device", path.display())]
    Kind { path: PathBuf, kind: &'static str },
    #[error(
        "{size} is more than the capacity of {}: {capacity} ({} B); give a smaller --size",
        path.display(), capacity.get()
    )]
    TooLarge { path: PathBuf, size: Bytes, capacity: Bytes },
    #[error("{capacity} of {} is less than one block of {block}; give a larger --size or a larger file", path.display())]
    TooSmall { path: PathBuf, capacity: Bytes, block: Bytes },
    #[error("{} needs {needed} more, but its file system has {free} free; give a smaller --size or free some space", path.display())]
    NoSpace { path: PathBuf, needed: Bytes, free: Bytes },
    #[error(
        "{} exists, and is not as assay created it{}; its data would be lost. Choose another name, or add --overwrite",
        path.display(), holding(holds)
    )]
    Foreign { path: PathBuf, holds: Vec<String> },
    #[error(
        "{} was being written by a run that was killed, so its contents are undefined{}; resume that run, choose \
         another name, or add --overwrite",
        path.display(), holding(holds)
    )]
    Unfinished { path: PathBuf, holds: Vec<String> },
    #[error(
        "{} is a name of a device that other users can change, in a folder of theirs; name the device below /dev",
        path.display()
    )]
    OthersName { path: PathBuf },
    #[error(
        "{} exists, and its file system has no extended attributes, which mark assay's own files; its data would be \
         lost. Choose another name, or add --overwrite",
        path.display()
    )]
    Unmarked { path: PathBuf },
    #[error("{} is in use: {}; unmount or release it first; neither --destroy-data nor --overwrite helps here", path.display(), by.join(", "))]
    InUse { path: PathBuf, by: Vec<String> },
    #[error(
        "{} holds data that would be lost: {}; to destroy it, name the device again: --destroy-data {}",
        path.display(), found.join(", "), path.display()
    )]
    HasData { path: PathBuf, found: Vec<String> },
    #[error("--destroy-data names {}, which is not the target {}; name the same block device twice", named.display(), path.display())]
    OtherDevice { path: PathBuf, named: PathBuf },
    #[error("--destroy-data is for block devices, and {} is a file; use --overwrite to lose its data", path.display())]
    NotADevice { path: PathBuf },
    #[error("{} is read-only; choose a workload that only reads, or another target", path.display())]
    ReadOnly { path: PathBuf },
    #[error("{} is among the files and devices of this target twice; name each once", path.display())]
    Twice { path: PathBuf },
    #[error("{} is locked by another process, perhaps another run of assay; wait for it to end", path.display())]
    Locked { path: PathBuf },
    #[error("{} on {filesystem} does not support O_DIRECT; add --direct=0, or use another file system", path.display())]
    NoDirect { path: PathBuf, filesystem: String },
    #[error("permission to open {} is denied; run as root, or as a user who may", path.display())]
    Denied { path: PathBuf },
    #[error("{} takes no commands from assay: {why}", path.display())]
    Namespace { path: PathBuf, why: String },
    #[error("cannot {doing} {}: {errno}", path.display())]
    Io { path: PathBuf, doing: &'static str, errno: Errno },
}

/// Why a workload gave no measurement on a real target.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum RealError {
    /// The workload makes no sense, or not on this target.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("block size {found} is not a multiple of the {unit} that O_DIRECT needs here; try {}, or --direct=0", nearest(*found, *unit))]
    UnalignedBlock { found: Bytes, unit: Bytes },
    #[error("block size {found} is not a multiple of the device's logical block of {unit}; try {}", nearest(*found, *unit))]
    NoWholeBlocks { found: Bytes, unit: Bytes },
    #[error("alignment {found} is not a multiple of the {unit} that O_DIRECT needs here; try {}, or --direct=0", nearest(*found, *unit))]
    UnalignedPlaces { found: Bytes, unit: Bytes },
    #[error("offset {found} is not a multiple of the {unit} that O_DIRECT needs here; try {}, or --direct=0", nearest(*found, *unit))]
    UnalignedOffset { found: Bytes, unit: Bytes },
    #[error(
        "{} takes no commands of NVMe: ioengine=io_uring_cmd is for character devices such as /dev/ng0n1; {}",
        path.display(), instead.as_ref().map_or("use ioengine=io_uring".to_owned(), |device| format!("name {}", device.display()))
    )]
    NoCommands { path: PathBuf, instead: Option<PathBuf> },
    #[error("{} takes commands of NVMe, which only io_uring sends; leave out ioengine=psync, or name its block device", path.display())]
    OnlyCommands { path: PathBuf },
    #[error("{} takes commands of NVMe and other parts of the target do not; run them apart", path.display())]
    CommandsBeside { path: PathBuf },
    #[error("block size {found} is more than the {max} that {} takes in one command; try {max}", path.display())]
    CommandTooLong { found: Bytes, max: Bytes, path: PathBuf },
    #[error(
        "{} has no poll queues, which --hipri needs; load its driver with some (nvme.poll_queues=N on the kernel's command \
         line, or `modprobe nvme poll_queues=N`), or leave --hipri out",
        path.display()
    )]
    NoPollQueues { path: PathBuf },
    /// Requests do not suit the zones.
    #[error(transparent)]
    Zones(#[from] ZoneMisfit),
    #[error("writes to {}, which has zones, would leave the page cache in any order; leave out --direct=0", path.display())]
    ZonesBuffered { path: PathBuf },
    #[error("{} has zones, where writes go to write pointers, and verify checks them where they were asked for; leave verify out", path.display())]
    ZonesVerified { path: PathBuf },
    #[error("{} has zones and is one of several targets; name it alone", path.display())]
    ZonesBeside { path: PathBuf },
    #[error("the zones of {} cannot be reported: {errno}", path.display())]
    ZoneReport { path: PathBuf, errno: Errno },
    #[error("nothing is written in the zones of this span of {}; write it first, or add --read_beyond_wp=1", path.display())]
    ZonesEmpty { path: PathBuf },
    #[error(
        "no zone in this span of {} can be written: all are read only or offline, or as many elsewhere are open as the \
         drive allows; finish or reset those (`blkzone report` lists them)",
        path.display()
    )]
    ZonesClosed { path: PathBuf },
    #[error("block size {found} is more than the {max} that one real request can hold; try 1m")]
    BlockTooLarge { found: Bytes, max: Bytes },
    #[error("{} was opened for reading only, but the workload changes data; open it for writing", path.display())]
    ReadOnly { path: PathBuf },
    #[error("the I/O buffers need {needed} of memory, and {available} is available; lower bs, iodepth or numjobs")]
    Memory { needed: Bytes, available: Bytes },
    #[error(
        "verify keeps a record of every block, which needs {needed} of memory, and {available} is available; give a \
         larger bs or a smaller size"
    )]
    LedgerMemory { needed: Bytes, available: Bytes },
    #[error("the system refuses to start {workers} threads: {errno}; lower numjobs")]
    Threads { workers: u32, errno: Errno },
    #[error(
        "{workers} workers exceed the {max} threads that this process can have; lower numjobs, or raise \
         vm.max_map_count"
    )]
    TooManyWorkers { workers: u32, max: u64 },
    #[error(
        "the workers cannot be kept to the processors {cpus:?}: {errno}; `lscpu --extended` lists those that there are"
    )]
    Pin { cpus: Vec<usize>, errno: Errno },
    #[error("io_uring cannot be used: {errno}; {}", uring_advice(*errno, *disabled))]
    Uring {
        errno: Errno,
        /// What /proc/sys/kernel/io_uring_disabled holds; none where there is no such file.
        disabled: Option<u32>,
    },
    #[error("{op} of {length} at offset {} of {} failed: {errno}; {}", offset.get(), path.display(), io_advice(*errno))]
    Io { op: Op, offset: Bytes, length: Bytes, path: PathBuf, errno: Errno },
    #[error(
        "{} is gone: the kernel removed the device during the run, and {op} of {length} at offset {} failed; attach it \
         again; `dmesg` tells why it went",
        path.display(), offset.get()
    )]
    Gone { op: Op, offset: Bytes, length: Bytes, path: PathBuf },
    #[error(
        "{op} of {length} at offset {} of {} moved only {} B; something shortened the target during the run",
        offset.get(), path.display(), moved.get()
    )]
    Short { op: Op, offset: Bytes, length: Bytes, path: PathBuf, moved: Bytes },
    #[error(
        "{op} of {length} at offset {} of {} would reach beyond its end at {} B, and a request lies within one file; choose \
         an offset, size and bs that keep to it",
        offset.get(), path.display(), end.get()
    )]
    Crosses { op: Op, offset: Bytes, length: Bytes, path: PathBuf, end: Bytes },
    #[error(
        "the span of {length} at offset {} is not all on files: {} ends at {}, and the next begins at a whole MiB; give \
         each file a job of its own, or files of whole MiB",
        offset.get(), path.display(), end.get()
    )]
    BesidesFiles { offset: Bytes, length: Bytes, path: PathBuf, end: Bytes },
    #[error(
        "one job trims the file {} and the block device {}, which are trimmed in different ways; give each a job of its \
         own",
        file.display(), device.display()
    )]
    TrimOfBoth { file: PathBuf, device: PathBuf },
    #[error("verification of {} failed (verify_fatal): {damage}", path.display())]
    Damaged { path: PathBuf, damage: Damage },
    #[error("all requests failed: {words}")]
    AllFailed { words: String },
    #[error("{} does not support trim; leave trims out, or use another drive or file system", path.display())]
    TrimUnsupported { path: PathBuf },
    #[error(
        "all requests completed in {time}, within the ramp time of {ramp}; give a shorter ramp_time, or a larger \
         number_ios or io_size"
    )]
    OverInRamp { time: Nanos, ramp: Nanos },
    #[error("no request completed in the measured {time}; give a longer runtime or a shorter ramp_time")]
    NothingCompleted { time: Nanos },
    /// One of several jobs gave none.
    #[error("job `{name}`: {error}")]
    OfJob { name: String, error: Box<Self> },
}

impl RealError {
    /// The error without the name of the job whose it is.
    pub fn itself(&self) -> &Self {
        if let Self::OfJob { error, .. } = self { error.itself() } else { self }
    }

    /// Whether the workload was carried out, and had no request that counts.
    pub fn counted_nothing(&self) -> bool {
        matches!(self.itself(), Self::NothingCompleted { .. } | Self::OverInRamp { .. } | Self::ZonesEmpty { .. })
    }

    /// The error, which is that of `job`.
    pub(crate) fn of(self, job: &Job) -> Self {
        match job.name {
            "" => self,
            name => Self::OfJob { name: name.to_owned(), error: Box::new(self) },
        }
    }
}

/// The system's number of an error; that of any failed request where it has none.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// What a file holds, as part of a sentence.
fn holding(holds: &[String]) -> String {
    if holds.is_empty() { String::new() } else { format!(" (it holds: {})", holds.join(", ")) }
}

/// The multiples of `unit` on either side of `found`.
fn nearest(found: Bytes, unit: Bytes) -> String {
    match (found.round_down(unit), found.round_up(unit)) {
        (Bytes::ZERO, above) => above.to_string(),
        (below, above) => format!("{below} or {above}"),
    }
}

fn uring_advice(errno: Errno, disabled: Option<u32>) -> String {
    match (errno, disabled) {
        (Errno::NOSYS, _) => "the kernel is older than 5.1 or was built without it; use one that has it".to_owned(),
        (Errno::NOMEM, _) => "the limit of locked memory is too low; raise it (`ulimit -l`)".to_owned(),
        (Errno::MFILE | Errno::NFILE, _) => "too many files are open; raise `ulimit -n` or lower numjobs".to_owned(),
        (_, Some(level @ 1..)) => {
            format!("kernel.io_uring_disabled is {level}; as root, `sysctl kernel.io_uring_disabled=0` allows it")
        }
        (Errno::PERM | Errno::ACCESS, _) => {
            "a security policy forbids it; in a container, its seccomp profile must allow io_uring_setup".to_owned()
        }
        _ => "`assay doctor` checks this machine".to_owned(),
    }
}

/// Source of what block devices mean by an error: Linux, block/blk-core.c, `blk_errors`.
fn io_advice(errno: Errno) -> &'static str {
    match errno {
        Errno::NODATA => "the drive cannot read or write its medium there: `assay health` and `dmesg` say more",
        Errno::TIMEDOUT => "the drive did not answer in the kernel's time: see `dmesg`",
        Errno::NOLINK => "the link to the drive failed: see `dmesg`",
        Errno::ILSEQ => "the data did not pass the drive's check of protection information: see `dmesg`",
        Errno::BADE => "another host has reserved the drive: release its reservation",
        Errno::REMOTEIO => "the drive refused the command: see `dmesg`",
        Errno::NOSPC | Errno::DQUOT => "the disk is full: free some space or give a smaller --size",
        Errno::INVAL => "the target does not accept this block size or offset: try another block size or --direct=0",
        Errno::OPNOTSUPP => {
            "the target does not support this: --hipri needs a device with poll queues; see `dmesg` for other reasons"
        }
        Errno::NODEV | Errno::NXIO => "the device is gone: see `dmesg`",
        Errno::ROFS | Errno::PERM => "the target has become read-only: see `dmesg` for the reason",
        _ => "the drive or its link failed: see `dmesg` for the details",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_on_either_side_are_named_unless_one_is_nothing() {
        let unit = Bytes::from_kib(4);
        assert_eq!(nearest(Bytes::new(512), unit), "4 KiB");
        assert_eq!(nearest(Bytes::new(6144), unit), "4 KiB or 8 KiB");
    }

    #[test]
    fn a_refused_ring_names_what_refuses_it() {
        let said = |errno, disabled| RealError::Uring { errno, disabled }.to_string();
        assert!(said(Errno::PERM, Some(2)).contains("sysctl kernel.io_uring_disabled=0"));
        assert!(said(Errno::PERM, Some(0)).contains("seccomp"));
        assert!(said(Errno::NOSYS, None).contains("5.1"));
        assert!(said(Errno::NOMEM, Some(0)).contains("ulimit -l"));
    }

    #[test]
    fn a_full_disk_is_told_from_a_broken_one() {
        let said = |errno| {
            let (offset, length) = (Bytes::from_mib(1), Bytes::from_kib(4));
            RealError::Io { op: Op::Write, offset, length, path: "/mnt/scratch".into(), errno }.to_string()
        };
        let full = said(Errno::NOSPC);
        assert!(full.starts_with("write of 4 KiB at offset 1048576 of /mnt/scratch failed: No space left"), "{full}");
        assert!(full.contains("free some space"), "{full}");
        assert!(said(Errno::IO).contains("dmesg"));
        assert!(said(Errno::NODATA).contains("medium"));
        assert!(said(Errno::TIMEDOUT).contains("did not answer"));
    }
}
