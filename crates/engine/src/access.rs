//! How a file or block device is opened: looked up once, guarded, made where that was asked for, and locked.
//!
//! All that is asked of a target is asked of the descriptor that was opened first, and what is written goes through that
//! same file: a name that leads elsewhere a moment later changes nothing.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use block::{Bytes, Nanos};
use host::{BlockDevice, FileMark, Mount};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags, major, minor};
use rustix::io::Errno;

use crate::error::errno;
use crate::nvme::Namespace;
use crate::part::{CommandDevice, Part, PartKind, TargetChange};
use crate::{OnError, Submission, TargetError, kernel};

/// How long a run that is over waits without a completion, unless it is told otherwise: twice what Linux gives a drive for a
/// command before it resets it.
/// Source: Linux, `nvme_core.io_timeout` (drivers/nvme/host/core.c) and `SD_TIMEOUT` (drivers/scsi/sd.h), 30 s each.
pub const PATIENCE: Nanos = Nanos::from_secs(60);

/// How often a target that another holds is asked for, and how long to wait between: half a second in all.
const TRIES: u32 = 11;
const PAUSE: Duration = Duration::from_millis(50);

/// How a real target is to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// How much of it is used; none for a whole device or existing file.
    pub size: Option<Bytes>,
    /// Whether to pass the page cache by.
    pub direct: bool,
    /// Whether to leave in the page cache what it holds when a run begins; a run empties it otherwise.
    pub keep_cache: bool,
    /// How requests are handed to the kernel.
    pub submission: Submission,
    /// What a failed request means for a run.
    pub on_error: OnError,
    /// How long a run that is over waits without a completion for what is in flight; none for [`PATIENCE`].
    pub patience: Option<Nanos>,
    /// Whether anything will change data.
    pub writes: bool,
    /// Whether to create a file that does not exist although nothing asks to write: it can then be
    /// laid out before it is read. Creating needs a size.
    pub create: bool,
    /// Whether a file gets its length without space being promised for it: the file system then finds the space as it is
    /// written.
    pub sparse: bool,
    /// Whether the data of an existing file that assay did not create may be lost.
    pub overwrite: bool,
    /// Whether a run goes on that was killed while it wrote to the file.
    pub resume: bool,
    /// The device whose data may be lost; must name the target.
    pub destroy_data: Option<PathBuf>,
}

/// What [`Target::open`](crate::Target::open) promises, of one file or device.
pub(crate) fn opened(path: &Path, access: &Access) -> Result<Part, TargetError> {
    if access.size == Some(Bytes::ZERO) {
        return Err(TargetError::NoSize { path: path.to_owned() });
    }
    let handle = match host::open::handle(path) {
        Ok(handle) => handle,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return create(path, access),
        Err(error) => return Err(failed(path, "look at", &error)),
    };
    let found = handle.metadata().map_err(|error| failed(path, "look at", &error))?;
    if found.file_type().is_block_device() {
        let device = BlockDevice::find(found.st_rdev());
        open_device(path, handle, device, &|named| host::is_same(named, found.st_rdev()), access)
    } else if found.file_type().is_char_device()
        && let Some(device) = BlockDevice::beside_generic(found.st_rdev())
    {
        open_commands(path, &handle, (found.st_rdev(), device), access)
    } else if found.is_file() {
        open_file(path, handle, &found, access)
    } else {
        Err(TargetError::Kind { path: path.to_owned(), kind: kind(found.file_type()) })
    }
}

/// A character device of NVMe: guarded and held as the block device of its namespace is.
fn open_commands(
    path: &Path,
    handle: &File,
    (number, device): (u64, BlockDevice),
    access: &Access,
) -> Result<Part, TargetError> {
    let io = |doing| move |errno| TargetError::Io { path: path.to_owned(), doing, errno };
    let node = Path::new("/dev").join(&device.name);
    let block = host::open::handle(&node).map_err(|error| failed(&node, "look at", &error))?;
    let found = block.metadata().map_err(|error| failed(&node, "look at", &error))?.st_rdev();
    if (major(found), minor(found)) != device.number {
        return Err(io("find the block device of")(Errno::NODEV));
    }
    let file = host::open::again(handle, access.writes, OFlags::empty());
    let file = file.map_err(|error| failed(path, "open", &error))?;
    let (id, said) = kernel::identify(file.as_fd()).map_err(io("identify the namespace of"))?;
    let namespace = Namespace::parse(id, &said)
        .map_err(|why| TargetError::Namespace { path: path.to_owned(), why: why.to_string() })?;
    let is_named = |named: &Path| host::is_same_character(named, number);
    let access = Access { direct: true, ..access.clone() };
    let mut part = open_device(path, block, Some(device), &is_named, &access)?;
    part.block = part.block.max(namespace.block());
    part.commands = Some(CommandDevice { file, namespace });
    Ok(part)
}

fn open_device(
    path: &Path,
    handle: File,
    device: Option<BlockDevice>,
    is_named: &dyn Fn(&Path) -> bool,
    access: &Access,
) -> Result<Part, TargetError> {
    if access.writes && rustix::process::geteuid().is_root() && is_others_name(path) {
        return Err(TargetError::OthersName { path: path.to_owned() });
    }
    let unknown = TargetError::Io { path: path.to_owned(), doing: "find in /sys/dev/block", errno: Errno::NODEV };
    let device = device.ok_or(unknown)?;
    let whole = device.size().filter(|size| *size > Bytes::ZERO);
    let whole = whole.ok_or_else(|| TargetError::NoMedium { path: path.to_owned() })?;
    let capacity = access.size.unwrap_or(whole);
    if capacity > whole {
        return Err(TargetError::TooLarge { path: path.to_owned(), size: capacity, capacity: whole });
    }
    if access.writes {
        check_device(path, &device, is_named, access)?;
    }
    // For a block device O_EXCL means that the kernel lets nobody mount or claim it meanwhile.
    let flags = if access.writes { OFlags::EXCL } else { OFlags::empty() };
    let file = open(path, &handle, access, flags)?;
    if access.writes && access.destroy_data.is_none() {
        let found = host::contents(&device, &file, whole).map_err(|error| failed(path, "read", &error))?;
        if !found.is_empty() {
            return Err(TargetError::HasData { path: path.to_owned(), found });
        }
    }
    Part::new(path, (handle, file), PartKind::Device(device), capacity, access)
}

/// Whether another user can have this name lead to another device.
fn is_others_name(path: &Path) -> bool {
    let named = std::path::absolute(path).unwrap_or_default();
    !named.parent().is_some_and(host::open::is_out_of_reach)
}

/// All that speaks against writing to a device before it is opened.
fn check_device(
    path: &Path,
    device: &BlockDevice,
    is_named: &dyn Fn(&Path) -> bool,
    access: &Access,
) -> Result<(), TargetError> {
    if let Some(named) = access.destroy_data.as_ref().filter(|named| !is_named(named)) {
        return Err(TargetError::OtherDevice { path: path.to_owned(), named: named.clone() });
    }
    // A loop device that was detached stays while anybody, udev for one, has it open.
    let unused = || Some(host::uses(device)).filter(|by| !by.is_empty()).map_or(Ok(()), Err);
    patiently(unused, |_| true).map_err(|by| TargetError::InUse { path: path.to_owned(), by })?;
    if device.is_read_only() { Err(TargetError::ReadOnly { path: path.to_owned() }) } else { Ok(()) }
}

fn open_file(path: &Path, handle: File, found: &Metadata, access: &Access) -> Result<Part, TargetError> {
    no_device_named(path, access)?;
    let is_ours = match FileMark::of(&handle) {
        // What a run that was killed has left has no signature, unless that run made one; then it is asked for.
        FileMark::Writing => access.resume && host::holds(&handle).is_empty(),
        mark => mark == FileMark::Fits,
    };
    if access.writes && !access.overwrite && !is_ours {
        return Err(not_ours(path, &handle));
    }
    // A file that will be read is written only to lay it out, and only if it is ours to write.
    let writes = access.writes || (access.create && (access.overwrite || is_ours));
    let access = Access { writes, ..access.clone() };
    let length = Bytes::new(found.len());
    let capacity = access.size.unwrap_or(length);
    if capacity == Bytes::ZERO {
        return Err(TargetError::Empty { path: path.to_owned() });
    }
    if !writes && capacity > length {
        return Err(TargetError::TooLarge { path: path.to_owned(), size: capacity, capacity: length });
    }
    if writes {
        // What the file already occupies need not be found again.
        let occupied = Bytes::from_sectors(found.st_blocks());
        check_space(path, &handle, Bytes::new(capacity.get().saturating_sub(occupied.get())))?;
    }
    // Asked before it is opened here, and told after that: another run of assay is told from other users by its lock.
    let by = if writes { uses(&handle) } else { Vec::new() };
    let file = open(path, &handle, &access, OFlags::empty())?;
    if !by.is_empty() {
        return Err(TargetError::InUse { path: path.to_owned(), by });
    }
    let mut part = Part::new(path, (handle, file), PartKind::File, capacity, &access)?;
    if capacity > length {
        lengthen(&part.file, capacity, &access).map_err(|errno| {
            // What a failed reservation may have added is taken away again; the first failure is the one to tell.
            let _ = rustix::fs::ftruncate(&part.file, length.get());
            TargetError::Io { path: path.to_owned(), doing: "enlarge", errno }
        })?;
        part.change = TargetChange::Enlarged(length);
    }
    if writes && is_ours {
        part.own();
    }
    Ok(part)
}

/// What uses a file; who is just ending, as one that was killed, is waited for.
fn uses(handle: &File) -> Vec<String> {
    let used = || match host::file_uses(handle) {
        by if by.is_empty() => Ok(()),
        by => Err(by),
    };
    patiently(used, |_| true).err().unwrap_or_default()
}

/// Why a file that assay may not write to is not its own, with what it holds where that is known.
fn not_ours(path: &Path, handle: &File) -> TargetError {
    let path = path.to_owned();
    match FileMark::of(handle) {
        FileMark::Writing => TargetError::Unfinished { path, holds: host::holds(handle) },
        FileMark::Unknown => TargetError::Unmarked { path },
        FileMark::Fits | FileMark::Absent => TargetError::Foreign { path, holds: host::holds(handle) },
    }
}

/// Creates the file, marked as ours.
fn create(path: &Path, access: &Access) -> Result<Part, TargetError> {
    no_device_named(path, access)?;
    let size = access.size.filter(|_| access.writes || access.create);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let home = parent.canonicalize().ok().filter(|home| home.is_dir());
    if home.as_ref().is_some_and(|home| home.starts_with("/dev") && !home.starts_with("/dev/shm")) {
        return Err(TargetError::NoDevice { path: path.to_owned() });
    }
    let size = size.ok_or_else(|| TargetError::Missing { path: path.to_owned() })?;
    if home.is_none() {
        return Err(TargetError::NoParent { path: path.to_owned(), parent: parent.to_owned() });
    }
    let folder = host::open::handle(parent).map_err(|error| failed(path, "look at the folder of", &error))?;
    check_space(path, &folder, size)?;
    let created = host::open::new_file(path, 0o666).map_err(|error| failed(path, "create", &error))?;
    let access = Access { writes: true, ..access.clone() };
    let open = || {
        let file = open(path, &created, &access, OFlags::empty())?;
        let handle = created.try_clone().map_err(|error| failed(path, "open", &error))?;
        let mut part = Part::new(path, (handle, file), PartKind::File, size, &access)?;
        part.change = TargetChange::Created;
        let reserved = lengthen(&part.file, size, &access);
        reserved.map_err(|errno| TargetError::Io { path: path.to_owned(), doing: "reserve", errno })?;
        // Where there are no extended attributes the file is usable all the same, but only once without --overwrite.
        part.own();
        Ok(part)
    };
    open().inspect_err(|_| {
        // Nothing is to be left behind; that the target could not be had is the error to tell.
        let _ = remove_if_same(path, &created);
    })
}

/// Removes the file at `path` if it is still this one.
pub(crate) fn remove_if_same(path: &Path, file: &File) -> io::Result<()> {
    let named = host::open::handle_of_no_link(path)?;
    if host::open::identity(&named)? == host::open::identity(file)? { std::fs::remove_file(path) } else { Ok(()) }
}

/// A device named to be destroyed is a mistake where the target is a file.
fn no_device_named(path: &Path, access: &Access) -> Result<(), TargetError> {
    match access.destroy_data.as_ref().filter(|_| access.writes) {
        Some(named) if named == path => Err(TargetError::NotADevice { path: path.to_owned() }),
        Some(named) => Err(TargetError::OtherDevice { path: path.to_owned(), named: named.clone() }),
        None => Ok(()),
    }
}

/// Opens and locks.
///
/// The kernel may hold a device for a moment after the program that claimed it has ended, until it has taken down
/// that program's queues, and udev holds a shared lock on a device for a moment after anyone has written to it. So
/// there are a few tries of either.
/// Source: systemd, "Locking Block Device Access", <https://systemd.io/BLOCK_DEVICE_LOCKING>.
pub(crate) fn open(path: &Path, handle: &File, access: &Access, flags: OFlags) -> Result<File, TargetError> {
    let flags = flags | if access.direct { OFlags::DIRECT } else { OFlags::empty() };
    let open = || host::open::again(handle, access.writes, flags);
    let opened = patiently(open, |error| errno(error) == Errno::BUSY);
    let file = opened.map_err(|error| match errno(&error) {
        Errno::INVAL if access.direct => no_direct(path),
        Errno::BUSY => {
            TargetError::InUse { path: path.to_owned(), by: vec!["another program has claimed it".to_owned()] }
        }
        _ => failed(path, "open", &error),
    })?;
    // Reads then leave the time of the last access alone, which costs each of them a little. Only the owner may ask.
    let _ = rustix::fs::fcntl_getfl(&file).and_then(|flags| rustix::fs::fcntl_setfl(&file, flags | OFlags::NOATIME));
    let lock = || rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    match patiently(lock, |errno| *errno == Errno::WOULDBLOCK) {
        Err(Errno::WOULDBLOCK) => Err(TargetError::Locked { path: path.to_owned() }),
        // Some network file systems have no locks; then there is none.
        _ => Ok(file),
    }
}

/// Tries until it is no longer `busy` that stands in the way, a few times.
fn patiently<T, E>(attempt: impl Fn() -> Result<T, E>, busy: impl Fn(&E) -> bool) -> Result<T, E> {
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if busy(&error) => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
    attempt()
}

/// Gives the file its length, and space as `access` asks.
fn lengthen(file: &File, size: Bytes, access: &Access) -> Result<(), Errno> {
    if access.sparse { rustix::fs::ftruncate(file, size.get()) } else { reserve(file, size) }
}

/// Gives the file its length, and space for it where the file system can promise any.
pub(crate) fn reserve(file: &File, size: Bytes) -> Result<(), Errno> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.get()) {
        Err(Errno::OPNOTSUPP) if rustix::fs::fstat(file)?.st_size.cast_unsigned() < size.get() => {
            rustix::fs::ftruncate(file, size.get())
        }
        Err(Errno::OPNOTSUPP) => Ok(()),
        result => result,
    }
}

fn check_space(path: &Path, inside: &File, needed: Bytes) -> Result<(), TargetError> {
    let found = rustix::fs::fstatvfs(inside);
    let found =
        found.map_err(|errno| TargetError::Io { path: path.to_owned(), doing: "see the free space of", errno })?;
    let free = Bytes::new(found.f_bavail.saturating_mul(found.f_frsize));
    // A file system that reports no size at all, such as ramfs, sets no limit that could be checked.
    let full = needed > free && found.f_blocks > 0;
    if full { Err(TargetError::NoSpace { path: path.to_owned(), needed, free }) } else { Ok(()) }
}

/// What O_DIRECT needs offsets and lengths to be multiples of; none where it does not work.
pub(crate) fn direct_block(file: &File, kind: &PartKind) -> Option<Bytes> {
    if let Some(unit) = kernel::direct_alignment(file.as_fd()) {
        return Some(unit).filter(|unit| *unit > Bytes::ZERO);
    }
    let device = match kind {
        PartKind::Device(device) => Some(device.clone()),
        PartKind::File => BlockDevice::find(file.metadata().ok()?.st_dev()),
    };
    // A file system without a device of its own is asked for its block size, of which a page is always enough.
    let of_filesystem = || rustix::fs::fstatvfs(file).map_or(4096, |found| found.f_bsize.clamp(512, 4096));
    device.and_then(|device| device.logical_block()).or_else(|| Some(Bytes::new(of_filesystem())))
}

pub(crate) fn filesystem(path: &Path) -> String {
    let mounts = Mount::all().unwrap_or_default();
    let known = path.canonicalize().ok().and_then(|path| Mount::holding(&mounts, &path));
    known.map_or("an unknown file system".to_owned(), |mount| mount.filesystem.clone())
}

pub(crate) fn no_direct(path: &Path) -> TargetError {
    let inside = path.parent().filter(|parent| !path.exists() && !parent.as_os_str().is_empty());
    TargetError::NoDirect { path: path.to_owned(), filesystem: filesystem(inside.unwrap_or(path)) }
}

pub(crate) fn failed(path: &Path, doing: &'static str, error: &io::Error) -> TargetError {
    let path = path.to_owned();
    match errno(error) {
        Errno::ACCESS | Errno::PERM => TargetError::Denied { path },
        Errno::ROFS => TargetError::ReadOnly { path },
        errno => TargetError::Io { path, doing, errno },
    }
}

fn kind(found: FileType) -> &'static str {
    match found {
        _ if found.is_dir() => "directory",
        _ if found.is_char_device() => "character device",
        _ if found.is_fifo() => "pipe",
        _ => "socket",
    }
}
