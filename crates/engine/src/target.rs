//! What a run is on: a file or block device that is open, or several one behind another.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, Nanos, Op, Request};

use host::{BlockDevice, DiskCounters};

use crate::access;
use crate::nvme::Namespace;
use crate::part::{Files, Part};
use crate::{Access, OnError, RealError, Record, Submission, TargetError};

/// Where a part of a target may begin: at a multiple of this, so that it begins where any request may.
const PART_UNIT: Bytes = Bytes::from_mib(1);

/// A file or block device that may be used as [`Access`] asked: guarded, opened and locked. Or several of them in one
/// space of offsets, in which each begins at the next whole MiB after the one before.
#[derive(Debug)]
pub struct Target {
    /// At least one, in the order of their places.
    parts: Vec<Part>,
    /// Which of them were to be written before they are read when they were opened.
    blank: Vec<(Bytes, Bytes)>,
    block: Bytes,
    direct: bool,
    keep_cache: bool,
    submission: Submission,
    on_error: OnError,
    patience: Nanos,
    /// Set from outside when runs are to end early.
    stop: Arc<AtomicBool>,
    /// Where runs note what they submit, if anyone wants to know.
    record: Option<Arc<Record>>,
}

/// What a [`purge`](Target::purge) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purged {
    /// The device was told that so much data need not be kept.
    Discarded(Bytes),
    /// So much of a file was given back to its file system and reserved anew.
    Reallocated(Bytes),
    /// All zones of the device were reset, which hold so much.
    Reset(Bytes),
    /// Both, of a target that is files and devices.
    Both {
        /// So much of devices.
        discarded: Bytes,
        /// So much of files.
        reallocated: Bytes,
    },
    /// Nothing: the target, or a part of it, cannot.
    NotSupported,
}

impl fmt::Display for Purged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discarded(size) => write!(f, "discarded {size} of the device"),
            Self::Reset(size) => write!(f, "reset all zones of the device's {size}"),
            Self::Reallocated(size) => {
                write!(
                    f,
                    "punched a hole of {size} and preallocated it again; the drive may not have received a \
                    discard"
                )
            }
            Self::Both { discarded, reallocated } => {
                write!(f, "{}; {}", Self::Discarded(*discarded), Self::Reallocated(*reallocated))
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
        Ok(Self::of(vec![access::opened(path, access)?], access))
    }

    /// Opens several files and block devices as one target, each as [`open`](Self::open) would. What holds for a run as a
    /// whole (O_DIRECT, the page cache, how requests are handed over, failures) is as the first access has it.
    ///
    /// # Errors
    /// If any of them is not fit, not safe to use, in use or too small, or is there twice. All are as they were then.
    ///
    /// # Panics
    /// If there are none.
    pub fn open_parts(parts: &[(&Path, Access)]) -> Result<Self, TargetError> {
        let (_, first) = parts.first().expect("a target has at least one part");
        let mut opened: Vec<Part> = Vec::with_capacity(parts.len());
        for (path, access) in parts {
            let access = Access { direct: first.direct, ..access.clone() };
            let next = match is_among(path, &opened) {
                true => Err(TargetError::Twice { path: path.to_path_buf() }),
                false => access::opened(path, &access),
            };
            let start = opened.last().map_or(Bytes::ZERO, Part::end).round_up(PART_UNIT);
            match next {
                Ok(mut part) => {
                    part.start = start;
                    opened.push(part);
                }
                Err(error) => {
                    // That it cannot be had is the error to tell.
                    opened.iter_mut().rev().for_each(|part| drop(part.withdraw()));
                    return Err(error);
                }
            }
        }
        Ok(Self::of(opened, first))
    }

    fn of(parts: Vec<Part>, access: &Access) -> Self {
        let Access { direct, keep_cache, on_error, .. } = *access;
        let blank = parts.iter().filter(|part| part.needs_layout()).map(|part| (part.start, part.length)).collect();
        // Commands pass the page cache by whatever is asked for.
        let direct = direct || parts.iter().any(|part| part.commands.is_some());
        Self {
            block: parts.iter().map(|part| part.block).max().expect("a target has at least one part"),
            parts,
            blank,
            direct,
            keep_cache,
            submission: access.submission.clone(),
            on_error,
            patience: access.patience.unwrap_or(access::PATIENCE),
            stop: Arc::default(),
            record: None,
        }
    }

    fn first(&self) -> &Part {
        &self.parts[0]
    }

    /// Those that a span lies on.
    pub(crate) fn parts_in(&self, span: (Bytes, Bytes)) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.overlap(span).is_some())
    }

    /// The part that a place lies in, or that lies before it.
    pub(crate) fn part_at(&self, offset: Bytes) -> &Part {
        &self.parts[self.parts.partition_point(|part| part.start <= offset) - 1]
    }

    /// The request to one of several files, within which it must lie. A flush goes to the one that was `written` last, as
    /// fio's does.
    pub(crate) fn within_part(&self, request: Request, written: &mut Lba) -> Result<Request, RealError> {
        let Request { op, lba, .. } = request;
        match op {
            Op::Flush => return Ok(Request { lba: *written, ..request }),
            Op::Write => *written = lba,
            Op::Read | Op::Trim | Op::Append | Op::Zone(_) => {}
        }
        let part = self.part_at(lba.offset());
        if request.end().offset() <= part.end() {
            return Ok(request);
        }
        let (offset, path) = (lba.offset() - part.start, part.path().to_owned());
        Err(RealError::Crosses { op, offset, length: request.bytes(), path, end: part.length })
    }

    /// How many files and devices it is.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The path by which it was opened; that of the first of several.
    pub fn path(&self) -> &Path {
        self.first().path()
    }

    /// Where it ends: of a single file or device, how much of it is used.
    pub fn capacity(&self) -> Bytes {
        self.parts.last().map_or(Bytes::ZERO, Part::end)
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

    /// Those that it is, in the order of their places.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How requests are handed to the kernel.
    pub(crate) fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Whether a run goes on when a request fails.
    pub(crate) fn counts_failures(&self) -> bool {
        self.on_error == OnError::Count
    }

    /// The whole devices that it is on, each once, as far as the kernel says.
    pub(crate) fn devices(&self) -> Vec<BlockDevice> {
        let mut devices: Vec<BlockDevice> = Vec::new();
        for device in self.parts.iter().filter_map(Part::device) {
            if devices.iter().all(|known| known.number != device.number) {
                devices.push(device);
            }
        }
        devices
    }

    /// How much the devices beneath have done, in units of no meaning; none where the kernel counts nothing of them.
    pub(crate) fn done_by_devices(&self) -> Option<u64> {
        let done = |device: &BlockDevice| device.counters().map(DiskCounters::done);
        self.devices().iter().filter_map(done).reduce(u64::wrapping_add)
    }

    /// How long a run waits without a completion for what is in flight.
    pub(crate) fn patience(&self) -> Nanos {
        self.patience
    }

    /// Whether all of it may be written.
    pub fn is_writable(&self) -> bool {
        self.parts.iter().all(|part| part.writable)
    }

    /// Whether it is a block device, not a file or several targets.
    pub fn is_device(&self) -> bool {
        self.parts.len() == 1 && self.first().is_device()
    }

    /// What it is, for people: `file on ext4, 2 GiB`, `block device sda (Samsung SSD 870), 1 TiB`, `4 files on ext4, 4 GiB`.
    pub fn identity(&self) -> String {
        let mut kinds: Vec<(String, u64)> = Vec::new();
        for part in &self.parts {
            let identity = part.identity();
            match kinds.iter_mut().find(|(known, _)| *known == identity) {
                Some((_, count)) => *count += 1,
                None => kinds.push((identity, 1)),
            }
        }
        let words = |(identity, count): &(String, u64)| match (count, identity.strip_prefix("file ")) {
            (2.., Some(place)) => format!("{count} files {place}"),
            _ => identity.clone(),
        };
        let used: Bytes = self.parts.iter().map(|part| part.length).sum();
        format!("{}, {used}", kinds.iter().map(words).collect::<Vec<_>>().join(", "))
    }

    /// Whether this span has parts that were never written, or not since they were purged: reading them asks
    /// nothing of the drive. False where the file system does not tell, and for devices, which never do.
    pub fn has_holes(&self, span: (Bytes, Bytes)) -> bool {
        self.parts.iter().any(|part| part.overlap(span).is_some_and(|own| part.has_holes(own)))
    }

    /// Whether the caller should write all of it once before reading from it, and may.
    pub fn needs_layout(&self) -> bool {
        self.parts.iter().any(Part::needs_layout)
    }

    /// Where a target of several files is written when it is filled: those that were not written when they were opened, or
    /// if there are none of these, all that may be written. None for a single file or device, all of which is.
    pub fn fill_spans(&self) -> Option<Vec<(Bytes, Bytes)>> {
        let writable =
            || self.parts.iter().filter(|part| part.writable).map(|part| (part.start, part.length)).collect();
        let spans = || if self.blank.is_empty() { writable() } else { self.blank.clone() };
        (self.parts.len() > 1).then(spans)
    }

    /// Lets a device go, or a file be changed, for as long as it is mounted or written to in another way, until
    /// [`Target::claim`].
    ///
    /// # Errors
    /// If it cannot be opened anew.
    pub fn lend(&mut self) -> Result<(), TargetError> {
        self.parts.iter_mut().try_for_each(Part::lend)
    }

    /// Takes a device again that was lent.
    ///
    /// # Errors
    /// If somebody uses it.
    pub fn claim(&mut self) -> Result<(), TargetError> {
        self.parts.iter_mut().try_for_each(Part::claim)
    }

    /// Whether all of each file or device is used.
    pub fn is_whole(&self) -> bool {
        self.parts.iter().all(Part::is_whole)
    }

    /// Takes back what opening it has changed: a file that was created is removed, one that was enlarged gets its
    /// length back. For a caller who finds, before anything was run, that nothing can be.
    ///
    /// # Errors
    /// If a file system refuses; the others have theirs back all the same.
    pub fn withdraw(&mut self) -> Result<(), TargetError> {
        self.parts.iter_mut().rev().map(Part::withdraw).fold(Ok(()), Result::and)
    }

    /// Makes the target forget the data in the span in use, as far as it can.
    ///
    /// # Errors
    /// If it may not be written, or fails to do what it supports.
    pub fn purge(&mut self) -> Result<Purged, TargetError> {
        let (mut discarded, mut reallocated) = (Bytes::ZERO, Bytes::ZERO);
        for part in &self.parts {
            if !part.purge()? {
                return Ok(Purged::NotSupported);
            }
            *(if part.is_device() { &mut discarded } else { &mut reallocated }) += part.length;
        }
        Ok(match (discarded, reallocated) {
            (reset, Bytes::ZERO) if self.zoned().is_some() => Purged::Reset(reset),
            (discarded, Bytes::ZERO) => Purged::Discarded(discarded),
            (Bytes::ZERO, reallocated) => Purged::Reallocated(reallocated),
            (discarded, reallocated) => Purged::Both { discarded, reallocated },
        })
    }

    /// Has the marks of the files that a span lies on say that they are being written, until this is dropped.
    pub(crate) fn begin_writing(&self, span: (Bytes, Bytes)) {
        self.parts_in(span).for_each(Part::begin_writing);
    }

    /// Has the mark say that nothing is being written any more, until something is.
    pub fn settle(&self) {
        self.parts.iter().for_each(Part::settle);
    }

    /// What the path led to when it was looked up, that of the first of several: it can be asked, and not be read or
    /// written.
    pub fn handle(&self) -> &File {
        self.first().handle()
    }

    /// A path of the target, of the first of several, that leads to the very file or device that is open, whatever its
    /// name leads to by now.
    pub fn node(&self) -> PathBuf {
        self.first().node()
    }

    /// The namespaces that its files take commands for; none if they take none.
    pub(crate) fn namespaces(&self) -> Option<Vec<Namespace>> {
        self.parts.iter().map(|part| part.commands.as_ref().map(|commands| commands.namespace)).collect()
    }

    /// Whether requests to it are commands of NVMe.
    pub(crate) fn takes_commands(&self) -> bool {
        self.first().commands.is_some()
    }

    /// Its device with zones, and the part of the target that it is; none if it has no zones.
    pub(crate) fn zoned(&self) -> Option<(&Part, &BlockDevice)> {
        self.parts.iter().find_map(|part| Some((part, part.zoned_device()?)))
    }

    /// What requests are made to.
    pub(crate) fn files(&self) -> Files<'_> {
        Files::of(&self.parts)
    }

    /// Forgets what the page cache holds of it, so that reads come from the drive.
    pub(crate) fn drop_cache(&self) {
        self.parts.iter().for_each(Part::drop_cache);
    }
}

/// Whether this leads to what one of the parts is.
fn is_among(path: &Path, parts: &[Part]) -> bool {
    let identity = |file: &File| host::open::identity(file).ok();
    let found = host::open::handle(path).ok().and_then(|handle| identity(&handle));
    found.is_some() && parts.iter().any(|part| identity(part.handle()) == found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_lies_in_one_file_and_a_flush_goes_to_the_one_that_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        let access = Access { size: Some(Bytes::from_kib(100)), writes: true, ..Access::default() };
        let parts: Vec<(&Path, Access)> = paths.iter().map(|path| (path.as_path(), access.clone())).collect();
        let target = Target::open_parts(&parts).unwrap();
        let at = |op, kib| Request::new(op, Lba::at(Bytes::from_kib(kib)), 8);
        let mut written = Lba::new(0);
        let mut place = |request| target.within_part(request, &mut written).map(|request| request.lba.offset());
        assert_eq!(place(Request::FLUSH).unwrap(), Bytes::ZERO);
        assert_eq!(place(at(Op::Write, 1024)).unwrap(), Bytes::from_kib(1024));
        assert_eq!(place(at(Op::Read, 96)).unwrap(), Bytes::from_kib(96));
        assert_eq!(place(Request::FLUSH).unwrap(), Bytes::from_kib(1024));
        for (kib, words) in [(98, "/a would reach beyond its end at 102400 B"), (1024 + 97, "offset 99328 of")] {
            let said = place(at(Op::Read, kib)).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
