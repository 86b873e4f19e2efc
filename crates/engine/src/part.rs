//! One file or block device of a target.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, SECTOR, ZoneAction};
use host::{BlockDevice, mark};
use rustix::fs::{FallocateFlags, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::access::{self, direct_block, failed, filesystem, no_direct, open, reserve};
use crate::nvme::Namespace;
use crate::{Access, TargetError, kernel};

/// A file or block device that is open, and where in the target it lies.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    /// What `path` led to when it was looked up; all else is opened by way of this.
    handle: File,
    pub file: File,
    /// Whether the file is assay's: its mark is to fit whenever nothing is being written.
    is_ours: bool,
    /// Whether the mark says that it is being written.
    is_being_written: AtomicBool,
    kind: PartKind,
    /// Where in the target it begins.
    pub start: Bytes,
    /// Where it takes commands of NVMe.
    pub commands: Option<CommandDevice>,
    /// How much of it is used: the size that was asked for, or all of it.
    pub length: Bytes,
    /// What O_DIRECT needs, or a sector without it.
    pub block: Bytes,
    direct: bool,
    pub writable: bool,
    /// What opening it has changed.
    pub change: TargetChange,
}

/// A character device of NVMe, to which commands go instead of to its block device.
#[derive(Debug)]
pub(crate) struct CommandDevice {
    pub file: File,
    pub namespace: Namespace,
}

/// What opening a part has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetChange {
    Nothing,
    Created,
    /// It was so long before.
    Enlarged(Bytes),
}

#[derive(Debug)]
pub(crate) enum PartKind {
    File,
    Device(BlockDevice),
}

impl Part {
    pub fn new(
        path: &Path,
        (handle, file): (File, File),
        kind: PartKind,
        length: Bytes,
        access: &Access,
    ) -> Result<Self, TargetError> {
        let block = match access.direct {
            true => direct_block(&file, &kind).ok_or_else(|| no_direct(path))?,
            false => SECTOR,
        };
        let path = path.to_owned();
        host::open::protect(&file);
        if length < block {
            return Err(TargetError::TooSmall { path, capacity: length, block });
        }
        Ok(Self {
            path,
            handle,
            file,
            is_ours: false,
            is_being_written: AtomicBool::new(false),
            kind,
            start: Bytes::ZERO,
            commands: None,
            length,
            block,
            direct: access.direct,
            writable: access.writes,
            change: TargetChange::Nothing,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// The file or block device.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// What requests are made to.
    pub fn requests_fd(&self) -> BorrowedFd<'_> {
        self.commands.as_ref().map_or(self.file.as_fd(), |commands| commands.file.as_fd())
    }

    /// The block device with zones that it is; none of anything else.
    pub fn zoned_device(&self) -> Option<&BlockDevice> {
        self.block_device().filter(|device| device.is_zoned())
    }

    /// The block device that it is, perhaps a partition.
    pub fn block_device(&self) -> Option<&BlockDevice> {
        match &self.kind {
            PartKind::Device(device) => Some(device),
            PartKind::File => None,
        }
    }

    /// Where in the target it ends.
    pub fn end(&self) -> Bytes {
        self.start + self.length
    }

    /// What of this span of the target lies in it, counted from its own beginning.
    pub fn overlap(&self, (start, length): (Bytes, Bytes)) -> Option<(Bytes, Bytes)> {
        let (from, until) = (start.max(self.start), (start + length).min(self.end()));
        (from < until).then(|| (from - self.start, until - from))
    }

    pub fn is_device(&self) -> bool {
        matches!(self.kind, PartKind::Device(_))
    }

    /// The whole device that it is on; none where the kernel does not say.
    pub fn device(&self) -> Option<BlockDevice> {
        let found = match &self.kind {
            PartKind::Device(device) => Some(device.clone()),
            PartKind::File => BlockDevice::find(self.file.metadata().ok()?.st_dev()),
        };
        found.map(|device| device.whole_device())
    }

    /// What it is, for people, without its size.
    pub fn identity(&self) -> String {
        match &self.kind {
            PartKind::File => format!("file on {}", filesystem(&self.path)),
            PartKind::Device(device) => {
                let kind = if self.commands.is_some() { "NVMe commands to" } else { "block device" };
                let model = device.model().map_or(String::new(), |model| format!(" ({model})"));
                format!("{kind} {}{model}", device.name)
            }
        }
    }

    pub fn node(&self) -> PathBuf {
        match &self.kind {
            PartKind::Device(device) => Path::new("/dev").join(&device.name),
            PartKind::File => self.path.clone(),
        }
    }

    /// Whether this span of it has parts that were never written.
    pub fn has_holes(&self, (start, length): (Bytes, Bytes)) -> bool {
        let hole = || rustix::fs::seek(&self.file, SeekFrom::Hole(start.get()));
        !self.is_device() && hole().is_ok_and(|place| place < (start + length).get())
    }

    /// Whether it has such parts, and they may be written. What is left at the end that is less than a block can neither
    /// be written nor read, so it does not count.
    pub fn needs_layout(&self) -> bool {
        self.writable && self.has_holes((Bytes::ZERO, self.length.round_down(self.block)))
    }

    pub fn lend(&mut self) -> Result<(), TargetError> {
        self.begin_writing();
        if self.is_device() {
            let opened = host::open::again(&self.handle, false, OFlags::empty());
            self.file = opened.map_err(|error| failed(&self.path, "open", &error))?;
        }
        Ok(())
    }

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
            PartKind::File => self.file.metadata().ok().map(|found| Bytes::new(found.len())),
            PartKind::Device(device) => device.size(),
        };
        whole == Some(self.length)
    }

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

    /// Makes it forget the data in use; false if it cannot.
    pub fn purge(&self) -> Result<bool, TargetError> {
        if !self.writable {
            return Err(TargetError::ReadOnly { path: self.path.clone() });
        }
        self.begin_writing();
        let result = match self.kind {
            PartKind::Device(ref device) if device.is_zoned() => {
                kernel::manage_zones(self.file.as_fd(), ZoneAction::Reset, Lba::new(0), self.length)
            }
            PartKind::Device(_) => kernel::discard(self.file.as_fd(), Bytes::ZERO, self.length),
            PartKind::File => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let punched = rustix::fs::fallocate(&self.file, mode, 0, self.length.get());
                punched.and_then(|()| reserve(&self.file, self.length))
            }
        };
        match result {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP) => Ok(false),
            Err(errno) => Err(TargetError::Io { path: self.path.clone(), doing: "purge", errno }),
        }
    }

    /// Takes note that the file is assay's, as it is now.
    pub fn own(&mut self) {
        self.is_ours = true;
        mark::settle(&self.file);
    }

    /// Has the mark say that the file is being written, from the first write until this is dropped.
    pub fn begin_writing(&self) {
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

    /// Forgets what the page cache holds of it, so that reads come from the drive.
    pub fn drop_cache(&self) {
        // Neither changes what is measured if it cannot be done, as on a file system without a cache.
        let _ = rustix::fs::fdatasync(&self.file);
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.settle();
    }
}

/// The open files of a target, for those who make requests: which of them a place in the target lies in.
#[derive(Clone, Debug)]
pub(crate) struct Files<'f> {
    pub fds: Vec<BorrowedFd<'f>>,
    pub places: Places,
}

/// Where the files of a target begin: the first at zero.
#[derive(Clone, Debug)]
pub(crate) struct Places(Vec<u64>);

impl Places {
    /// The number of the file that `offset` lies in, and where there.
    #[inline]
    pub fn of(&self, offset: u64) -> (usize, u64) {
        if self.0.len() == 1 {
            return (0, offset);
        }
        let file = self.0.partition_point(|start| *start <= offset) - 1;
        (file, offset - self.0[file])
    }
}

impl<'f> Files<'f> {
    /// Files that begin at these offsets: the first at zero, the others in order.
    pub fn new(fds: &[BorrowedFd<'f>], starts: &[u64]) -> Self {
        assert!(fds.len() == starts.len() && starts.is_sorted() && starts.first() == Some(&0), "{starts:?}");
        Self { fds: fds.to_vec(), places: Places(starts.to_vec()) }
    }

    pub fn of(parts: &'f [Part]) -> Self {
        let (fds, starts): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.requests_fd(), part.start.get())).unzip();
        Self::new(&fds, &starts)
    }
}

impl<'f> From<BorrowedFd<'f>> for Files<'f> {
    fn from(file: BorrowedFd<'f>) -> Self {
        Self::new(&[file], &[0])
    }
}
