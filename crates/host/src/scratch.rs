//! A folder of our own that nobody else can have made or look into.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::open;

/// A new folder with a name that nobody can foresee, removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

/// Where folders are made while a run is fenced: the one folder of [`PLACE`] that it may write to.
static GATHERED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Where folders are made that may be large, and that programs of other users reach.
pub const PLACE: &str = "/var/tmp";

impl Scratch {
    /// A folder in [`PLACE`] in which from now on all others are made that are asked for there, until this is dropped: so
    /// that a fence can name it before any of them is there. Others may pass through it and not look into it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn gather() -> io::Result<Self> {
        let gathered = Self::new(Path::new(PLACE), "assay")?;
        fs::set_permissions(&gathered.path, fs::Permissions::from_mode(0o711))?;
        *GATHERED.lock().expect("nothing panics while it holds the path") = Some(gathered.path.clone());
        Ok(gathered)
    }

    /// The folder in which all others are made; none where none gathers them.
    pub fn gathered() -> Option<PathBuf> {
        GATHERED.lock().expect("nothing panics while it holds the path").clone()
    }

    /// The name that the next folder in `place` will have: to promise its removal before it is made.
    pub fn name(place: &Path, start: &str) -> PathBuf {
        let gathered = Self::gathered().filter(|_| place == Path::new(PLACE));
        gathered.as_deref().unwrap_or(place).join(format!("{start}-{:016x}", open::random()))
    }

    /// Makes a folder of this name, open to this user alone.
    ///
    /// # Errors
    /// If anything has that name, or it cannot be made.
    pub fn make(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(path)
    }

    /// Makes a folder in `place`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(place: &Path, start: &str) -> io::Result<Self> {
        let path = Self::name(place, start);
        Self::make(&path)?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut gathered = GATHERED.lock().expect("nothing panics while it holds the path");
        if gathered.as_ref() == Some(&self.path) {
            *gathered = None;
        }
        fs::remove_dir_all(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_new_and_closed_to_others_and_one_that_is_there_is_not_taken() {
        let home = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(home.path(), "trial").unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(Scratch::make(scratch.path()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }
}
