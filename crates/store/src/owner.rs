//! Who carries a run out: one process at a time.
//!
//! A lock of the kernel's ends with the process that has it, however that ends. So a run that was cut off is
//! free at once, and one that goes on is never taken over.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{RunId, StoreError};

/// A run of which this process is the owner, until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) run: RunId,
    path: PathBuf,
    _locked: File,
}

impl Owner {
    /// Becomes the owner of a run of the store in this file.
    pub(crate) fn of(run: RunId, store: &Path) -> Result<Self, StoreError> {
        let path = lock_path(run, store);
        match locked(&path) {
            Ok(Some(file)) => Ok(Self { run, path, _locked: file }),
            Ok(None) => Err(StoreError::Owned { run }),
            Err(error) => Err(StoreError::Lock { path, error }),
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The file is removed while it is locked; one that is left behind does no harm.
        fs::remove_file(&self.path).ok();
    }
}

/// The file that the owner of a run locks: beside the store, however that was named.
fn lock_path(run: RunId, store: &Path) -> PathBuf {
    let mut path = store.canonicalize().unwrap_or_else(|_| store.to_owned()).into_os_string();
    path.push(format!("-run-{run}.lock"));
    path.into()
}

/// The file at `path`, made and locked; none if another process has the lock.
fn locked(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems have no locks; then there is none.
            Err(TryLockError::Error(_)) => return Ok(Some(file)),
            Ok(()) => {}
        }
        // An owner that ended meanwhile has removed the file: a lock on what has no name keeps nobody out.
        let same = fs::metadata(path).is_ok_and(|named| file.metadata().is_ok_and(|ours| named.ino() == ours.ino()));
        if same {
            return Ok(Some(file));
        }
    }
}
