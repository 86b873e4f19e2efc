//! A simulated drive as a block device of Linux or behind a socket, answering in real time as the drive would.

mod attachment;
mod content;
mod detach;
mod error;
mod floor;
mod fuse;
mod live;
pub mod loop_device;
mod nbd;
mod pace;
mod port;
mod power;
pub mod registry;
mod serve;
mod socket;
mod undo;
#[cfg(feature = "vhost-user")]
mod vhost;

pub use attachment::{Attachment, Terms};
pub use detach::{detach, in_use};
pub use error::AttachError;
pub use live::Live;
pub use pace::Floor;
pub use power::{Cut, Switch};
