//! A simulated drive as a block device of Linux or behind a socket, answering in real time as the drive would.

mod abort;
mod attachment;
mod content;
mod data;
mod detach;
mod error;
mod faults;
mod fuse;
mod listing;
mod live;
pub mod loop_device;
mod mark;
mod nbd;
mod overhead;
mod overlay;
mod pace;
mod partitions;
mod port;
mod power;
pub mod registry;
mod request_recorder;
mod serve;
mod socket;
mod state;
mod state_bytes;
mod temporary;
#[cfg(feature = "ublk")]
mod ublk;
mod undo;
#[cfg(feature = "vhost-user")]
mod vhost;

pub use abort::{abort, release};
pub use attachment::{AttachOptions, Attachment};
pub use data::{DataError, DataFile};
pub use detach::{clear_up, detach, in_use};
pub use error::AttachError;
pub use faults::{Fault, FaultError};
pub use host::Process;
pub use listing::order;
pub use live::{LiveStats, SmartData};
pub use mark::ProcessMark;
pub use pace::PathOverhead;
pub use power::{PowerCut, Switch};
pub use request_recorder::{RecordedRequest, RequestRecorder};
pub use state::{Resumed, StateError, StateFile};
pub use state_bytes::{StateBytesError, state_from_bytes, state_to_bytes};
