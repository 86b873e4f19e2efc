//! Where a trial takes place: a block device that the kernel sees.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attach::loop_device::LoopDevice;
use attach::{Attachment, Process};
use block::Bytes;
use drive::Drive;
use host::BlockDevice;
use rustix::fs::OFlags;

use crate::{Cleanup, CleanupAction, CleanupGuard, TrialError};

/// A block device that the kernel sees, until it is dropped.
#[derive(Debug)]
pub struct TrialDevice {
    device: PathBuf,
    /// Its number; none if it is no block device, as in tests.
    number: Option<u64>,
    capacity: Bytes,
    stop: Arc<AtomicBool>,
    /// How many of its seconds pass in each of the machine's.
    speed: f64,
    /// What makes the device be there; gone before anybody else takes it away.
    under: Under,
    /// What is taken away should this process be killed.
    #[allow(dead_code, reason = "they are kept for as long as the stage is there")]
    promises: Vec<CleanupGuard>,
}

/// What is under a stage.
#[derive(Debug)]
enum Under {
    /// A device of its own.
    Itself,
    File(#[allow(dead_code, reason = "it is kept for as long as the stage is there")] LoopDevice),
    /// A simulated drive.
    Drive(Box<Attachment>),
}

impl TrialDevice {
    /// A block device as it is. A link to it is followed now and never again.
    pub fn device(device: &Path, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        let device = device.canonicalize().unwrap_or_else(|_| device.to_owned());
        let found = std::fs::symlink_metadata(&device).ok().filter(|found| found.file_type().is_block_device());
        let number = found.map(|found| found.rdev());
        Self { device, number, capacity, stop, speed: 1.0, under: Under::Itself, promises: Vec::new() }
    }

    pub fn file(device: LoopDevice, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        let stage = Self::device(device.path(), capacity, stop);
        Self { under: Under::File(device), ..stage }
    }

    /// A loop device over all of a file, which is freed with the stage.
    ///
    /// # Errors
    /// If no loop device can be had.
    pub fn over_file(file: &Path, capacity: Bytes, stop: Arc<AtomicBool>) -> Result<Self, TrialError> {
        // As the kernel names it.
        let file = file.canonicalize().map_err(TrialError::at(file))?;
        let aftermath = Cleanup::begin()?;
        let others = attach::loop_device::all_over(&file);
        let free = aftermath.promise(CleanupAction::FreeLoops { file: file.clone(), others })?;
        let clear_up = aftermath.promise(CleanupAction::ClearUp(Process::this()))?;
        let device = LoopDevice::over(&file, Bytes::new(512), false)?;
        Ok(Self { promises: vec![clear_up, free], ..Self::file(device, capacity, stop) })
    }

    /// A simulated drive, attached for as long as the stage is there: `speed` of its seconds pass in each of the
    /// machine's. It is listed by this name.
    ///
    /// # Errors
    /// If it cannot be attached.
    pub fn over_drive(drive: drive::Device, name: &str, speed: f64, stop: Arc<AtomicBool>) -> Result<Self, TrialError> {
        let capacity = drive.shape().capacity;
        let aftermath = Cleanup::begin()?;
        let promise = aftermath.promise(CleanupAction::ClearUp(Process::this()))?;
        let attachment = Attachment::scratch(name, drive, speed)?;
        let stage = Self::device(attachment.device(), capacity, stop);
        Ok(Self { speed, under: Under::Drive(Box::new(attachment)), promises: vec![promise], ..stage })
    }

    /// How many of the drive's seconds pass in each of the machine's: 1 but for a simulated drive that was slowed down.
    pub const fn speed(&self) -> f64 {
        self.speed
    }

    /// The block device.
    pub fn path(&self) -> &Path {
        &self.device
    }

    /// Opens it to be written.
    ///
    /// # Errors
    /// If it is not the device any more that was chosen, or cannot be opened.
    pub(crate) fn open(&self, flags: OFlags) -> Result<File, TrialError> {
        let number = self.number.unwrap_or_default();
        host::open::chosen_block_device(&self.device, number, flags).map_err(TrialError::at(&self.device))
    }

    /// How much it holds.
    pub const fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// The device, which may be a partition, as the kernel describes it; none where it knows none.
    pub(crate) fn described(&self) -> Option<BlockDevice> {
        BlockDevice::find(self.number?)
    }

    /// The kernel's settings of the device's queue, those of the whole device where it is a partition; none where the
    /// kernel does not say.
    pub fn queue(&self) -> Option<PathBuf> {
        self.described()?.queue()
    }

    /// How many requests the device takes from the kernel at once, in one of its queues: what is more waits where a
    /// scheduler can choose. None where the kernel does not say.
    pub fn tags(&self) -> Option<u32> {
        self.described()?.tags()
    }

    /// What is set when the user, or the system, asks for an end, for those that look at it themselves.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the user, or the system, asked for an end. Long waits look at it.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Objects when it is stopped.
    ///
    /// # Errors
    /// [`TrialError::Interrupted`] then.
    pub fn continues(&self) -> Result<(), TrialError> {
        if self.is_stopped() { Err(TrialError::Interrupted) } else { Ok(()) }
    }

    /// What is asked of the drive, for whoever listens, where it is a simulated one.
    pub fn heard(&self) -> Option<&attach::RequestRecorder> {
        if let Under::Drive(attachment) = &self.under { Some(attachment.heard()) } else { None }
    }

    /// What the drive is doing, where it is a simulated one.
    pub fn live(&self) -> Option<attach::LiveStats> {
        if let Under::Drive(attachment) = &self.under { Some(attachment.live()) } else { None }
    }
}
