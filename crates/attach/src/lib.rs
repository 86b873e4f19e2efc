//! A simulated drive as a block device of Linux, answering in real time as the drive would.

mod content;
mod error;
pub mod fuse;
mod pace;

pub use content::Content;
pub use error::AttachError;
pub use pace::{Due, Floor, Paced, now};
