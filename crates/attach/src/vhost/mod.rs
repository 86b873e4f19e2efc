//! A block device for virtual machines that share their memory: vhost-user-blk, without the host's kernel in between.

mod backend;
mod host;
mod port;
mod request;
mod rings;

pub use port::VhostMachine;
