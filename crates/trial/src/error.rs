//! Why a trial could not be done.

use std::io;
use std::path::PathBuf;

use attach::AttachError;
use thiserror::Error;

use crate::{ChoicesError, ProgramError};

/// Why a trial could not be done, or came to no end.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The machine lacks something.
    #[error("{0}")]
    Lacks(String),
    /// What was told makes no sense, or may not be told.
    #[error(transparent)]
    Choices(#[from] ChoicesError),
    /// A program is missing, did not start or did not end.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A program failed.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The command line.
        command: String,
        /// Its last words.
        said: String,
    },
    /// A program's output is not what it should be.
    #[error("unexpected output of `{program}`: {found}")]
    Unexpected {
        program: String,
        /// What it said, or what is missing there.
        found: String,
    },
    /// A file, a folder or a device cannot be used.
    #[error("{}: {cause}", path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// The drive cannot be attached, or a loop device cannot be had.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// What the engine was asked to do on a file failed.
    #[error(transparent)]
    Engine(#[from] engine::RealError),
    /// The file cannot be opened to be measured.
    #[error(transparent)]
    Target(#[from] engine::TargetError),
    /// The user, or the system, asked for an end.
    #[error("interrupted; finished measurements are stored")]
    Interrupted,
}

impl TrialError {
    /// That `path` cannot be used.
    pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Path { path, cause }
    }
}
