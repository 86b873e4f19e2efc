//! A file that is there for a while.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// An empty file at `path`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        fs::File::create(&path)?;
        Ok(Self(path))
    }

    /// What is at `path` already.
    pub fn of(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}
