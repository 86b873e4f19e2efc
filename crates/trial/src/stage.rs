//! Where a trial takes place: a block device that the kernel sees.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attach::Attachment;
use attach::loop_device::LoopDevice;
use block::Bytes;

/// A block device that the kernel sees, until it is dropped.
#[derive(Debug)]
pub struct Stage {
    device: PathBuf,
    capacity: Bytes,
    stop: Arc<AtomicBool>,
    /// What makes the device be there.
    under: Under,
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
        Self { device: device.to_owned(), capacity, stop, under: Under::Itself }
    }

    /// A loop device over a file.
    pub fn file(device: LoopDevice, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        Self { device: device.path().to_owned(), capacity, stop, under: Under::File(device) }
    }

    /// A simulated drive that is attached.
    pub fn drive(attachment: Attachment, capacity: Bytes, stop: Arc<AtomicBool>) -> Self {
        let device = attachment.device().to_owned();
        Self { device, capacity, stop, under: Under::Drive(Box::new(attachment)) }
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

    /// What is asked of the drive, for whoever listens, where it is a simulated one.
    pub fn heard(&self) -> Option<&attach::Heard> {
        if let Under::Drive(attachment) = &self.under { Some(attachment.heard()) } else { None }
    }

    /// What the drive is doing, where it is a simulated one.
    pub fn live(&self) -> Option<attach::Live> {
        if let Under::Drive(attachment) = &self.under { Some(attachment.live()) } else { None }
    }
}
