//! A folder of our own that is not on the drive.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Aftermath, Promise, TrialError, Undo};

/// A folder of our own, which is removed with all that is in it when this is dropped, but for what is mounted there.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _remove: Promise,
}

impl Folder {
    /// A new folder in `place`, which is made if it is not there; its name begins so, and has the number of this process.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new(place: &str, start: &str, aftermath: &Aftermath) -> Result<Self, TrialError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(place).join(format!("{start}-{}-{number}", std::process::id()));
        let remove = aftermath.promise(Undo::Remove(path.clone()))?;
        fs::create_dir_all(&path).map_err(TrialError::at(&path))?;
        Ok(Self { path, _remove: remove })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
