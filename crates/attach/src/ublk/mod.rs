//! A block device by the kernel's ublk driver, which hands requests to a program without a file or a loop device in between.

mod abi;
mod control;
mod device;
mod kernel;
mod port;

pub use device::{Added, UblkDisk, clear};
pub use port::UblkQueue;
