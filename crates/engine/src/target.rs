//! A file or block device, guarded, opened and locked.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, io};

use block::{Bytes, SECTOR};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags, SeekFrom, XattrFlags};
use rustix::io::Errno;

use crate::block_device::BlockDevice;
use crate::{Mount, OnError, Record, Submission, TargetError, guard, kernel};

/// The extended attribute of files that assay created.
const MARK: &str = "user.assay.created";

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
    /// The device whose data may be lost; must name the target.
    pub destroy_data: Option<PathBuf>,
}

/// A file or block device that may be used as [`Access`] asked: guarded, opened and locked.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    file: File,
    kind: Kind,
    capacity: Bytes,
    block: Bytes,
    direct: bool,
    keep_cache: bool,
    submission: Submission,
    on_error: OnError,
    writable: bool,
    /// Set from outside when runs are to end early.
    stop: Arc<AtomicBool>,
    /// Where runs note what they submit, if anyone wants to know.
    record: Option<Arc<Record>>,
    /// What opening it has changed.
    change: Change,
}

/// What opening a target has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    Created,
    /// It was so long before.
    Enlarged(Bytes),
}

#[derive(Debug)]
enum Kind {
    File,
    Device(BlockDevice),
}

/// What a [`purge`](Target::purge) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purged {
    /// The device was told that so much data need not be kept.
    Discarded(Bytes),
    /// So much of a file was given back to its file system and reserved anew.
    Reallocated(Bytes),
    /// Nothing: the target cannot.
    NotSupported,
}

impl fmt::Display for Purged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discarded(size) => write!(f, "discarded {size} of the device"),
            Self::Reallocated(size) => {
                write!(f, "freed {size} of the file and reserved it anew; its drive may not have been told")
            }
            Self::NotSupported => f.write_str("nothing was purged: the target does not support it"),
        }
    }
}

impl Target {
    /// Opens the file or block device at `path`; creates a file if `access` says so.
    ///
    /// # Errors
    /// If the target is not fit, not safe to use, in use, or too small. It is unchanged then.
    pub fn open(path: &Path, access: &Access) -> Result<Self, TargetError> {
        if access.size == Some(Bytes::ZERO) {
            return Err(TargetError::NoSize { path: path.to_owned() });
        }
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return create(path, access),
            Err(error) => return Err(failed(path, "look at", &error)),
        };
        if found.file_type().is_block_device() {
            open_device(path, found.st_rdev(), access)
        } else if found.is_file() {
            open_file(path, &found, access)
        } else {
            Err(TargetError::Kind { path: path.to_owned(), kind: kind(found.file_type()) })
        }
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much of it is used: the size that was asked for, or all of it.
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// The unit of offsets and lengths: what O_DIRECT needs, or a sector without it.
    pub fn block(&self) -> Bytes {
        self.block
    }

    /// Whether the page cache is passed by.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// Whether a run leaves in the page cache what it finds there.
    pub(crate) fn keeps_cache(&self) -> bool {
        self.keep_cache
    }

    /// Ends a run within half a second of `stop` being set, but for what is in flight, and gives what was measured.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// What is set when runs are to end early.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// From now on runs add to `record` what they submit; none for runs that keep nothing.
    pub fn record_to(&mut self, record: Option<Arc<Record>>) {
        self.record = record;
    }

    /// Where runs note what they submit.
    pub(crate) fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }

    /// Whether runs are to end early.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How requests are handed to the kernel.
    pub(crate) fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Whether a run goes on when a request fails.
    pub(crate) fn counts_failures(&self) -> bool {
        self.on_error == OnError::Count
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Whether it is a block device, not a file.
    pub fn is_device(&self) -> bool {
        matches!(self.kind, Kind::Device(_))
    }

    /// What it is, for people: `file on ext4, 2 GiB`, `block device sda (Samsung SSD 870), 1 TiB`.
    pub fn identity(&self) -> String {
        let capacity = self.capacity;
        match &self.kind {
            Kind::File => format!("file on {}, {capacity}", filesystem(&self.path)),
            Kind::Device(device) => match device.model() {
                Some(model) => format!("block device {} ({model}), {capacity}", device.name),
                None => format!("block device {}, {capacity}", device.name),
            },
        }
    }

    /// Whether this span has parts that were never written, or not since they were purged: reading them asks
    /// nothing of the drive. False where the file system does not tell, and for devices, which never do.
    pub fn has_holes(&self, (start, length): (Bytes, Bytes)) -> bool {
        let hole = || rustix::fs::seek(&self.file, SeekFrom::Hole(start.get()));
        !self.is_device() && hole().is_ok_and(|place| place < (start + length).get())
    }

    /// Whether the caller should write all of it once before reading from it, and may. What is left at the end
    /// that is less than a block can neither be written nor read, so it does not count.
    pub fn needs_layout(&self) -> bool {
        self.writable && self.has_holes((Bytes::ZERO, self.capacity.round_down(self.block)))
    }

    /// Lets go of a device for as long as it is mounted or written to in another way, until [`Target::claim`].
    ///
    /// # Errors
    /// If it cannot be opened anew.
    pub fn lend(&mut self) -> Result<(), TargetError> {
        if self.is_device() {
            self.file = File::open(&self.path).map_err(|error| failed(&self.path, "open", &error))?;
        }
        Ok(())
    }

    /// Takes a device again that was lent.
    ///
    /// # Errors
    /// If somebody uses it.
    pub fn claim(&mut self) -> Result<(), TargetError> {
        if self.is_device() {
            let access = Access { direct: self.direct, writes: self.writable, ..Access::default() };
            self.file = open(&self.path, &access, if self.writable { libc::O_EXCL } else { 0 })?;
        }
        Ok(())
    }

    /// Whether all of the file or device is used.
    pub fn is_whole(&self) -> bool {
        let whole = match &self.kind {
            Kind::File => self.file.metadata().ok().map(|found| Bytes::new(found.len())),
            Kind::Device(device) => device.size(),
        };
        whole == Some(self.capacity)
    }

    /// Takes back what opening it has changed: a file that was created is removed, one that was enlarged gets its
    /// length back. For a caller who finds, before anything was run, that nothing can be.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn withdraw(&mut self) -> Result<(), TargetError> {
        let done = match std::mem::replace(&mut self.change, Change::Nothing) {
            Change::Nothing => Ok(()),
            Change::Created => fs::remove_file(&self.path),
            Change::Enlarged(before) => self.file.set_len(before.get()),
        };
        done.map_err(|error| failed(&self.path, "take back what was done to", &error))
    }

    /// Makes the target forget the data in the span in use, as far as it can.
    ///
    /// # Errors
    /// If it may not be written, or fails to do what it supports.
    pub fn purge(&mut self) -> Result<Purged, TargetError> {
        if !self.writable {
            return Err(TargetError::ReadOnly { path: self.path.clone() });
        }
        let length = self.capacity.get();
        let (result, purged) = match self.kind {
            Kind::Device(_) => {
                (kernel::discard(self.file.as_fd(), Bytes::ZERO, self.capacity), Purged::Discarded(self.capacity))
            }
            Kind::File => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let punched = rustix::fs::fallocate(&self.file, mode, 0, length);
                (punched.and_then(|()| reserve(&self.file, self.capacity)), Purged::Reallocated(self.capacity))
            }
        };
        match result {
            Ok(()) => Ok(purged),
            Err(Errno::OPNOTSUPP) => Ok(Purged::NotSupported),
            Err(errno) => Err(TargetError::Io { path: self.path.clone(), doing: "purge", errno }),
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Forgets what the page cache holds of it, so that reads come from the drive.
    pub(crate) fn drop_cache(&self) {
        // Neither changes what is measured if it cannot be done, as on a file system without a cache.
        let _ = rustix::fs::fdatasync(&self.file);
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
    }

    fn new(path: &Path, file: File, kind: Kind, capacity: Bytes, access: &Access) -> Result<Self, TargetError> {
        let block = match access.direct {
            true => direct_block(&file, &kind).ok_or_else(|| no_direct(path))?,
            false => SECTOR,
        };
        let path = path.to_owned();
        if capacity < block {
            return Err(TargetError::TooSmall { path, capacity, block });
        }
        let Access { direct, keep_cache, on_error, writes: writable, .. } = *access;
        let (submission, change) = (access.submission.clone(), Change::Nothing);
        let stop = Arc::default();
        Ok(Self {
            path,
            file,
            kind,
            capacity,
            block,
            direct,
            keep_cache,
            submission,
            on_error,
            writable,
            stop,
            record: None,
            change,
        })
    }
}

fn open_device(path: &Path, number: u64, access: &Access) -> Result<Target, TargetError> {
    let unknown = TargetError::Io { path: path.to_owned(), doing: "find in /sys/dev/block", errno: Errno::NODEV };
    let device = BlockDevice::find(number).ok_or(unknown)?;
    let whole = device.size().filter(|size| *size > Bytes::ZERO);
    let whole = whole.ok_or_else(|| TargetError::NoMedium { path: path.to_owned() })?;
    let capacity = access.size.unwrap_or(whole);
    if capacity > whole {
        return Err(TargetError::TooLarge { path: path.to_owned(), size: capacity, capacity: whole });
    }
    if access.writes {
        check_device(path, &device, number, access)?;
    }
    // For a block device O_EXCL means that the kernel lets nobody mount or claim it meanwhile.
    let flags = if access.writes { libc::O_EXCL } else { 0 };
    let file = open(path, access, flags)?;
    if access.writes && access.destroy_data.is_none() {
        let found = guard::contents(&device, path, whole).map_err(|error| failed(path, "read", &error))?;
        if !found.is_empty() {
            return Err(TargetError::HasData { path: path.to_owned(), found });
        }
    }
    Target::new(path, file, Kind::Device(device), capacity, access)
}

/// All that speaks against writing to a device before it is opened.
fn check_device(path: &Path, device: &BlockDevice, number: u64, access: &Access) -> Result<(), TargetError> {
    if let Some(named) = access.destroy_data.as_ref().filter(|named| !guard::is_same(named, number)) {
        return Err(TargetError::OtherDevice { path: path.to_owned(), named: named.clone() });
    }
    let by = guard::uses(device);
    if !by.is_empty() {
        return Err(TargetError::InUse { path: path.to_owned(), by });
    }
    if device.is_read_only() { Err(TargetError::ReadOnly { path: path.to_owned() }) } else { Ok(()) }
}

fn open_file(path: &Path, found: &Metadata, access: &Access) -> Result<Target, TargetError> {
    no_device_named(path, access)?;
    let owner = Owner::of(path);
    if access.writes && !access.overwrite {
        owner.check(path)?;
    }
    // A file that will be read is written only to lay it out, and only if it is ours to write.
    let writes = access.writes || (access.create && (access.overwrite || owner == Owner::Assay));
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
        check_space(path, path, Bytes::new(capacity.get().saturating_sub(occupied.get())))?;
    }
    let file = open(path, &access, 0)?;
    let mut target = Target::new(path, file, Kind::File, capacity, &access)?;
    if capacity > length {
        lengthen(&target.file, capacity, &access).map_err(|errno| {
            // What a failed reservation may have added is taken away again; the first failure is the one to tell.
            let _ = rustix::fs::ftruncate(&target.file, length.get());
            TargetError::Io { path: path.to_owned(), doing: "enlarge", errno }
        })?;
        target.change = Change::Enlarged(length);
    }
    Ok(target)
}

/// Creates the file, marked as ours.
fn create(path: &Path, access: &Access) -> Result<Target, TargetError> {
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
    check_space(path, parent, size)?;
    let created = File::create_new(path).map_err(|error| failed(path, "create", &error))?;
    // Where there are no extended attributes the file is usable all the same, but only once without --overwrite.
    let _ = rustix::fs::fsetxattr(&created, MARK, b"1", XattrFlags::empty());
    let access = Access { writes: true, ..access.clone() };
    let open = || {
        let mut target = Target::new(path, open(path, &access, 0)?, Kind::File, size, &access)?;
        target.change = Change::Created;
        let reserved = lengthen(&target.file, size, &access);
        reserved.map_err(|errno| TargetError::Io { path: path.to_owned(), doing: "reserve", errno })?;
        Ok(target)
    };
    open().inspect_err(|_| {
        // Nothing is to be left behind; that the target could not be had is the error to tell.
        let _ = fs::remove_file(path);
    })
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
fn open(path: &Path, access: &Access, flags: i32) -> Result<File, TargetError> {
    let flags = flags | if access.direct { libc::O_DIRECT } else { 0 };
    let open = || OpenOptions::new().read(true).write(access.writes).custom_flags(flags).open(path);
    let opened = patiently(open, |error| error.raw_os_error() == Some(libc::EBUSY));
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) if access.direct => no_direct(path),
        Some(libc::EBUSY) => {
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

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Assay,
    Other,
    Unknown,
}

impl Owner {
    fn of(path: &Path) -> Self {
        let mut value = [0; 8];
        match rustix::fs::getxattr(path, MARK, &mut value) {
            Ok(_) | Err(Errno::RANGE) => Self::Assay,
            Err(Errno::OPNOTSUPP) => Self::Unknown,
            Err(_) => Self::Other,
        }
    }

    fn check(self, path: &Path) -> Result<(), TargetError> {
        match self {
            Self::Assay => Ok(()),
            Self::Other => Err(TargetError::Foreign { path: path.to_owned() }),
            Self::Unknown => Err(TargetError::Unmarked { path: path.to_owned() }),
        }
    }
}

/// Gives the file its length, and space as `access` asks.
fn lengthen(file: &File, size: Bytes, access: &Access) -> Result<(), Errno> {
    if access.sparse { rustix::fs::ftruncate(file, size.get()) } else { reserve(file, size) }
}

/// Gives the file its length, and space for it where the file system can promise any.
fn reserve(file: &File, size: Bytes) -> Result<(), Errno> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.get()) {
        Err(Errno::OPNOTSUPP) if rustix::fs::fstat(file)?.st_size.cast_unsigned() < size.get() => {
            rustix::fs::ftruncate(file, size.get())
        }
        Err(Errno::OPNOTSUPP) => Ok(()),
        result => result,
    }
}

fn check_space(path: &Path, inside: &Path, needed: Bytes) -> Result<(), TargetError> {
    let found = rustix::fs::statvfs(inside);
    let found =
        found.map_err(|errno| TargetError::Io { path: path.to_owned(), doing: "see the free space of", errno })?;
    let free = Bytes::new(found.f_bavail.saturating_mul(found.f_frsize));
    // A file system that reports no size at all, such as ramfs, sets no limit that could be checked.
    let full = needed > free && found.f_blocks > 0;
    if full { Err(TargetError::NoSpace { path: path.to_owned(), needed, free }) } else { Ok(()) }
}

/// What O_DIRECT needs offsets and lengths to be multiples of; none where it does not work.
fn direct_block(file: &File, kind: &Kind) -> Option<Bytes> {
    if let Some(unit) = kernel::direct_alignment(file.as_fd()) {
        return Some(unit).filter(|unit| *unit > Bytes::ZERO);
    }
    let device = match kind {
        Kind::Device(device) => Some(device.clone()),
        Kind::File => BlockDevice::find(file.metadata().ok()?.st_dev()),
    };
    // A file system without a device of its own is asked for its block size, of which a page is always enough.
    let of_filesystem = || rustix::fs::fstatvfs(file).map_or(4096, |found| found.f_bsize.clamp(512, 4096));
    device.and_then(|device| device.logical_block()).or_else(|| Some(Bytes::new(of_filesystem())))
}

fn filesystem(path: &Path) -> String {
    let mounts = Mount::all().unwrap_or_default();
    let known = path.canonicalize().ok().and_then(|path| Mount::holding(&mounts, &path));
    known.map_or("an unknown file system".to_owned(), |mount| mount.filesystem.clone())
}

fn no_direct(path: &Path) -> TargetError {
    let inside = path.parent().filter(|parent| !path.exists() && !parent.as_os_str().is_empty());
    TargetError::NoDirect { path: path.to_owned(), filesystem: filesystem(inside.unwrap_or(path)) }
}

fn failed(path: &Path, doing: &'static str, error: &io::Error) -> TargetError {
    let path = path.to_owned();
    match Errno::from_io_error(error).unwrap_or(Errno::IO) {
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
