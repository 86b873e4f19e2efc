//! Why a drive cannot be attached.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a drive cannot be attached, or ceased to be.
#[derive(Debug, Error)]
pub enum AttachError {
    /// There is no FUSE.
    #[error("/dev/fuse cannot be opened: {0}; load the module with `modprobe fuse`, or run as root")]
    NoFuse(#[source] io::Error),
    /// Mounting is not allowed.
    #[error("{} cannot be mounted on: {cause}; attaching needs root", path.display())]
    Mount {
        /// Where the file was to be.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// A program that is needed failed.
    #[error("`{command}` failed: {said}")]
    Program {
        /// The command line.
        command: String,
        /// What it said, or why it could not be started.
        said: String,
    },
    /// The data's file cannot be used.
    #[error("{}: {cause}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// The connection to the kernel broke.
    #[error("the connection to the kernel broke: {0}; what was written before the last flush may be lost")]
    Broken(#[from] io::Error),
}
