//! Who carries a run out: one process at a time.
//!
//! A lock of the kernel's ends with the process that has it, however that ends. So a run that was cut off is
//! free at once, and one that goes on is never taken over. In the file that is locked the owner tells how far it has
//! come, for whoever watches from another process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use host::open;

use crate::{RunId, StoreError};

/// A run of which this process is the owner, until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) run: RunId,
    path: PathBuf,
    locked: File,
}

/// How many bytes are told at once: one write of so few is never seen in part.
const TOLD: usize = 4096;

/// By which the owner of a run tells others how far it has come.
#[derive(Debug)]
pub struct ProgressChannel(File);

impl ProgressChannel {
    /// Tells this in place of what was told before: one line of at most 4,095 bytes; a longer one is not told, which is said.
    ///
    /// That nobody can be told is no reason to end a run, so it is passed over.
    pub fn tell(&self, line: &str) -> bool {
        // By its bytes, for letters may take several.
        let blanks = TOLD - 1 - line.len().min(TOLD - 1);
        let fits = line.len() < TOLD;
        if fits {
            self.0.write_all_at(format!("{line}{:blanks$}\n", "").as_bytes(), 0).ok();
        }
        fits
    }
}

impl Owner {
    /// Becomes the owner of a run of the store in this file.
    pub(crate) fn of(run: RunId, store: &Path) -> Result<Self, StoreError> {
        let path = lock_path(run, store);
        match locked(&path) {
            Ok(Some(file)) => {
                // What an owner told that did not come to its end is no longer so.
                file.set_len(0).ok();
                Ok(Self { run, path, locked: file })
            }
            Ok(None) => Err(StoreError::Owned { run }),
            Err(error) => Err(StoreError::Lock { path, error }),
        }
    }

    /// By which it tells how far it has come.
    pub(crate) fn progress_channel(&self) -> Option<ProgressChannel> {
        self.locked.try_clone().ok().map(ProgressChannel)
    }
}

/// What the owner of a run told last; none if it has none.
pub(crate) fn told(run: RunId, store: &Path) -> Option<String> {
    let path = lock_path(run, store);
    let handle = open::handle_of_no_link(&path).ok()?;
    let file = open::regular_of(&handle).ok()?;
    // A lock that can be had, and be it shared, is nobody's. It is given back at once.
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut told = [0; TOLD];
    let length = file.read_at(&mut told, 0).unwrap_or_default();
    Some(String::from_utf8_lossy(&told[..length]).trim_end().to_owned())
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
    let mut tries = 0;
    loop {
        let file = match open::own_or_new_file(path, 0o600) {
            // Another process has made it since, or has removed it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        match file.try_lock() {
            // Whoever only looks whether there is an owner has the lock for a moment.
            Err(TryLockError::WouldBlock) if tries < 5 => {
                tries += 1;
                thread::sleep(Duration::from_millis(5));
                continue;
            }
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
