//! Where a trial takes place: a block device that the kernel sees.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attach::Attachment;
use attach::loop_device::LoopDevice;
use block::Bytes;

use crate::{Aftermath, Promise, TrialError, Undo};

/// A block device that the kernel sees, until it is dropped.
#[derive(Debug)]
pub struct Stage {
    device: PathBuf,
    capacity: Bytes,
    stop: Arc<AtomicBool>,
    /// What makes the device be there; gone before anybody else takes it away.
    under: Under,
    /// What is taken away should this process be killed.
    promises: Vec<Promise>,
}

/// What is under a stage.
#[derive(Debug)]
enum Under {
    /// A device of its own.
    Itself,
    /// A file.
    File(#[allow(dead_code, reason = "it is kept for as long as the stage is there")] LoopDevice),
    /// A simulated drive.
    Drive(Box<Attachment>),
}

impl Stage {
    /// A block device as it is.
    pub fn device(device: &Path, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        Self { device: device.to_owned(), capacity, stop, under: Under::Itself, promises: Vec::new() }
    }

    /// A loop device over a file.
    pub fn file(device: LoopDevice, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        Self { device: device.path().to_owned(), capacity, stop, under: Under::File(device), promises: Vec::new() }
    }

    /// A simulated drive that is attached.
    pub fn drive(attachment: Attachment, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        let device = attachment.device().to_owned();
        Self { device, capacity, stop, under: Under::Drive(Box::new(attachment)), promises: Vec::new() }
    }

    /// A loop device over all of a file, which is freed with the stage.
    ///
    /// # Errors
    /// If no loop device can be had.
    pub fn over_file(file: &Path, capacity: Bytes, stop: Arc<AtomicBool>) -> Result<Self, TrialError> {
        let file = std::path::absolute(file).map_err(TrialError::at(file))?;
        let device = LoopDevice::over(&file, Bytes::new(512), false)?;
        let free = Undo::FreeLoop { device: device.path().to_owned(), file };
        let promise = Aftermath::begin()?.promise(free)?;
        Ok(Self { promises: vec![promise], ..Self::file(device, capacity, stop) })
    }

    /// A simulated drive, attached for as long as the stage is there; it is given away.
    ///
    /// # Errors
    /// If it cannot be attached.
    pub fn over_drive(drive: drive::Device, name: &str, stop: Arc<AtomicBool>) -> Result<Self, TrialError> {
        let _ = name;
        let capacity = drive::Drive::shape(&drive).capacity;
        let mount = PathBuf::from(format!("/run/assay/stage-{}", std::process::id()));
        let terms = attach::Terms {
            content: mount.with_extension("data"),
            speed: 1.0,
            busy: false,
            partitions: false,
            power_cut_after: None,
        };
        let attachment = Attachment::new(drive, &mount, &terms)?;
        Ok(Self::drive(attachment, capacity, stop))
    }

    /// What is to be said of the figures that were taken here.
    pub fn doubts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The block device.
    pub fn path(&self) -> &Path {
        &self.device
    }

    /// How much it holds.
    pub const fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Whether the user, or the system, asked for an end. Long waits look at it.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What the drive is doing, where it is a simulated one.
    pub fn live(&self) -> Option<attach::Live> {
        if let Under::Drive(attachment) = &self.under { Some(attachment.live()) } else { None }
    }
}
