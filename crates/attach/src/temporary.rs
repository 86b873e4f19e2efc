//! A file that is there for a while.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::open::{self, FileIdentity};

/// A file that is removed when this is dropped, unless another has its name by then.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    identity: FileIdentity,
}

impl Temporary {
    /// An empty file at `path`, where nothing was.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let file = open::new_private(&path, 0o600)?;
        Ok(Self { identity: open::identity(&file)?, path })
    }

    /// What this process has just made at `path`.
    ///
    /// # Errors
    /// If it is gone again.
    pub fn of(path: PathBuf) -> io::Result<Self> {
        Ok(Self { identity: identity_at(&path)?, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if identity_at(&self.path).is_ok_and(|found| found == self.identity) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// That of whatever has this name, be it a link.
fn identity_at(path: &Path) -> io::Result<FileIdentity> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_in_its_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let temporary = Temporary::new(path.clone()).unwrap();
        assert!(Temporary::new(path.clone()).is_err(), "what is there is not taken");
        fs::write(folder.path().join("letter"), "somebody's").unwrap();
        fs::rename(folder.path().join("letter"), &path).unwrap();
        drop(temporary);
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
        fs::remove_file(&path).unwrap();
        drop(Temporary::new(path.clone()).unwrap());
        assert!(!path.exists());
    }
}
