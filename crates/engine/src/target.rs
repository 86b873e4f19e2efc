//! A file or block device that is open.

use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, SECTOR};
use host::{BlockDevice, mark};
use rustix::fs::{FallocateFlags, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::access::{self, direct_block, failed, filesystem, no_direct, open, reserve};
use crate::{Access, OnError, Record, Submission, TargetError, kernel};

/// A file or block device that may be used as [`Access`] asked: guarded, opened and locked.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    /// What `path` led to when it was looked up; all else is opened by way of this.
    handle: File,
    pub(crate) file: File,
    /// Whether the file is assay's: its mark is to fit whenever nothing is being written.
    is_ours: bool,
    /// Whether the mark says that it is being written.
    is_being_written: AtomicBool,
    kind: TargetKind,
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
    pub(crate) change: TargetChange,
}

/// What opening a target has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetChange {
    Nothing,
    Created,
    /// It was so long before.
    Enlarged(Bytes),
}

#[derive(Debug)]
pub(crate) enum TargetKind {
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
                write!(
                    f,
                    "punched a hole of {size} and preallocated it again; the drive may not have received a \
                    discard"
                )
            }
            Self::NotSupported => f.write_str("no purge: the target does not support discard"),
        }
    }
}

impl Target {
    /// Opens the file or block device at `path`; creates a file if `access` says so.
    ///
    /// # Errors
    /// If the target is not fit, not safe to use, in use, or too small. It is unchanged then.
    pub fn open(path: &Path, access: &Access) -> Result<Self, TargetError> {
        access::opened(path, access)
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
        matches!(self.kind, TargetKind::Device(_))
    }

    /// What it is, for people: `file on ext4, 2 GiB`, `block device sda (Samsung SSD 870), 1 TiB`.
    pub fn identity(&self) -> String {
        let capacity = self.capacity;
        match &self.kind {
            TargetKind::File => format!("file on {}, {capacity}", filesystem(&self.path)),
            TargetKind::Device(device) => match device.model() {
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

    /// Lets a device go, or a file be changed, for as long as it is mounted or written to in another way, until
    /// [`Target::claim`].
    ///
    /// # Errors
    /// If it cannot be opened anew.
    pub fn lend(&mut self) -> Result<(), TargetError> {
        self.begin_writing();
        if self.is_device() {
            let opened = host::open::again(&self.handle, false, OFlags::empty());
            self.file = opened.map_err(|error| failed(&self.path, "open", &error))?;
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
            let flags = if self.writable { OFlags::EXCL } else { OFlags::empty() };
            self.file = open(&self.path, &self.handle, &access, flags)?;
        }
        Ok(())
    }

    /// Whether all of the file or device is used.
    pub fn is_whole(&self) -> bool {
        let whole = match &self.kind {
            TargetKind::File => self.file.metadata().ok().map(|found| Bytes::new(found.len())),
            TargetKind::Device(device) => device.size(),
        };
        whole == Some(self.capacity)
    }

    /// Takes back what opening it has changed: a file that was created is removed, one that was enlarged gets its
    /// length back. For a caller who finds, before anything was run, that nothing can be.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn withdraw(&mut self) -> Result<(), TargetError> {
        let done = match std::mem::replace(&mut self.change, TargetChange::Nothing) {
            TargetChange::Nothing => Ok(()),
            TargetChange::Created => access::remove_if_same(&self.path, &self.file),
            TargetChange::Enlarged(before) => self.file.set_len(before.get()),
        };
        if self.is_ours {
            mark::settle(&self.file);
        }
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
        self.begin_writing();
        let length = self.capacity.get();
        let (result, purged) = match self.kind {
            TargetKind::Device(_) => {
                (kernel::discard(self.file.as_fd(), Bytes::ZERO, self.capacity), Purged::Discarded(self.capacity))
            }
            TargetKind::File => {
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

    /// Takes note that the file is assay's, as it is now.
    pub(crate) fn own(&mut self) {
        self.is_ours = true;
        mark::settle(&self.file);
    }

    /// Has the mark say that the file is being written, from the first write until this is dropped.
    pub(crate) fn begin_writing(&self) {
        if self.is_ours && !self.is_being_written.swap(true, Ordering::Relaxed) {
            mark::begin(&self.file);
        }
    }

    /// Has the mark say that nothing is being written any more, until something is.
    pub fn settle(&self) {
        if self.is_being_written.swap(false, Ordering::Relaxed) {
            mark::settle(&self.file);
        }
    }

    /// What the path led to when it was looked up: it can be asked, and not be read or written.
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// A path of the target that leads to the very file or device that is open, whatever its name leads to by now.
    pub fn node(&self) -> PathBuf {
        match &self.kind {
            TargetKind::Device(device) => Path::new("/dev").join(&device.name),
            TargetKind::File => self.path.clone(),
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

    pub(crate) fn new(
        path: &Path,
        (handle, file): (File, File),
        kind: TargetKind,
        capacity: Bytes,
        access: &Access,
    ) -> Result<Self, TargetError> {
        let block = match access.direct {
            true => direct_block(&file, &kind).ok_or_else(|| no_direct(path))?,
            false => SECTOR,
        };
        let path = path.to_owned();
        host::open::protect(&file);
        if capacity < block {
            return Err(TargetError::TooSmall { path, capacity, block });
        }
        let Access { direct, keep_cache, on_error, writes: writable, .. } = *access;
        let (submission, change) = (access.submission.clone(), TargetChange::Nothing);
        let stop = Arc::default();
        Ok(Self {
            path,
            handle,
            file,
            is_ours: false,
            is_being_written: AtomicBool::new(false),
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

impl Drop for Target {
    fn drop(&mut self) {
        self.settle();
    }
}
