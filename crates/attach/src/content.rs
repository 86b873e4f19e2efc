//! What was written to an attached drive.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use block::Bytes;
use rustix::fs::{FallocateFlags, fallocate};

use crate::AttachError;

/// The data of a drive: a sparse file, in which what was never written takes no room.
#[derive(Debug)]
pub struct Content {
    file: File,
}

impl Content {
    /// The data in the file at `path`, which is made if it is not there; of this length.
    ///
    /// # Errors
    /// If the file cannot be opened, made longer, or is longer than the drive.
    pub fn open(path: &Path, length: Bytes) -> Result<Self, AttachError> {
        let failed = |cause| AttachError::Content { path: path.to_owned(), cause };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if found > length.get() {
            let words = format!("holds {}, more than the drive's {length}", Bytes::new(found));
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, words)));
        }
        file.set_len(length.get()).map_err(failed)?;
        Ok(Self { file })
    }

    /// Reads what is at `offset` into all of `data`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(data, offset)
    }

    /// Writes all of `data` at `offset`.
    ///
    /// # Errors
    /// If the file cannot be written, for one because its disk is full.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    /// Forgets `length` bytes from `offset` on: they read as zeroes and take no room.
    ///
    /// # Errors
    /// If the file system cannot.
    pub fn forget(&self, offset: u64, length: u64) -> io::Result<()> {
        Ok(fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        Content::open(&path, Bytes::from_mib(1)).unwrap().write(4096, b"kept").unwrap();
        let again = Content::open(&path, Bytes::from_mib(2)).unwrap();
        let mut data = [0; 4];
        again.read(4096, &mut data).unwrap();
        assert_eq!(&data, b"kept");
        again.forget(4096, 4096).unwrap();
        again.read(4096, &mut data).unwrap();
        assert_eq!(data, [0; 4]);
        let said = Content::open(&path, Bytes::from_mib(1)).unwrap_err().to_string();
        assert!(said.contains("holds 2 MiB, more than the drive's 1 MiB"), "{said}");
    }
}
