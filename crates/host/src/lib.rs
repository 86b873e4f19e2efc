//! This machine as assay may see and touch it: what the kernel and meters tell, what is opened for writing, which programs
//! are started, and what must not be written to.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod apart;
mod block_device;
mod caller;
mod clocks;
pub mod confine;
mod cores;
mod disk_counters;
mod environment;
mod erase;
mod folder;
pub mod fuse;
mod guard;
pub mod health;
mod kernel;
pub mod loop_device;
mod machine;
pub mod mark;
mod memory_group;
pub mod mounting;
mod mounts;
pub mod open;
mod output;
pub mod power;
pub mod process;
pub mod program;
mod reach;
mod rotational;
mod running;
pub mod scratch;
mod signature;
mod text;
mod thermometer;
mod tools;
mod topology;
mod within;

pub use block_device::{BlockDevice, Partition, block_path};
pub use clocks::{Clocks, Disturbance};
pub use confine::{Enforcement, Fence};
pub use cores::{Core, CorePool};
pub use disk_counters::DiskCounters;
pub use environment::{DeviceInfo, Environment, FileSystem, SideBySide};
pub use erase::{EraseError, Eraser, PurgeMethod};
pub use guard::{contents, file_uses, holds, is_loop_over, is_same, is_same_character, uses};
pub use machine::{Machine, ProcessorTicks};
pub use mark::FileMark;
pub use memory_group::{GroupVersion, MemoryGroup};
pub use mounts::Mount;
pub use output::{Output, OutputError};
pub use process::Process;
pub use program::Missing;
pub use rotational::set_rotational;
pub use running::{ProgramError, Running};
pub use scratch::Scratch;
pub use thermometer::{Thermometer, Warmth};
pub use tools::{Ended, Tools};
pub use topology::{DeviceTopology, HostPart, HostPartKind};
pub use within::{Within, WithinError};

/// Where root's processes keep what ends with the machine's run.
pub const RUNTIME_FOLDER: &str = "/run/assay";
