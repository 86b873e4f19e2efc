//! A single file whose reads and writes are answered here: a file system in user space that is one file.

mod abi;
mod channel;
mod port;

use abi::{Call, Unique, attributes, init, opened, read, space, written};
pub use channel::FuseChannel;
pub use port::FuseMount;
