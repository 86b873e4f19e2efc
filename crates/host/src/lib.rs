//! This machine as assay may touch it: what is opened for writing, which programs are started, and what must not be
//! written to.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod block_device;
mod caller;
pub mod confine;
mod folder;
mod guard;
mod kernel;
pub mod mark;
pub mod mounting;
mod mounts;
pub mod open;
mod output;
pub mod program;
mod reach;
pub mod scratch;
mod signature;
mod text;
mod within;

pub use block_device::{BlockDevice, Partition};
pub use confine::{Enforcement, Fence};
pub use guard::{contents, file_uses, holds, is_loop_over, is_same, uses};
pub use mark::Mark;
pub use mounts::Mount;
pub use output::{Output, OutputError};
pub use program::Missing;
pub use scratch::Scratch;
pub use within::{Within, WithinError};
