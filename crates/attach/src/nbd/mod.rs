//! A server of network block devices on a Unix socket, whose clients reach the drive without a kernel in between.

mod abi;
mod client;
mod connection;
mod handshake;
mod port;
mod requests;

pub use client::Client;
pub use handshake::Export;
pub use port::Listening;
