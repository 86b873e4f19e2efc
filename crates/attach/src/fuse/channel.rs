//! The connection to the kernel of a mounted file.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use host::{mounting, open};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::abi::{HEADER, LONGEST, Unique, header};
use crate::AttachError;

/// A file that is mounted over another, whose reads and writes come through here.
#[derive(Debug)]
pub struct FuseChannel {
    device: File,
    path: PathBuf,
    buffer: Vec<u8>,
}

impl FuseChannel {
    /// Mounts a file over the one at `path`, which must exist.
    ///
    /// # Errors
    /// If FUSE is not to be had, or mounting is not allowed.
    pub fn mount(path: &Path) -> Result<Self, AttachError> {
        let device = open::character_device(Path::new("/dev/fuse"), OFlags::NONBLOCK).map_err(AttachError::NoFuse)?;
        mounting::fuse(path, &device)
            .map_err(|errno| AttachError::Mount { path: path.to_owned(), cause: errno.into() })?;
        Ok(Self { device, path: path.to_owned(), buffer: vec![0; HEADER + 4096 + LONGEST] })
    }

    /// The next request; none if there is none yet. Empty once the file is unmounted.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            match rustix::io::read(&self.device, &mut self.buffer) {
                Ok(length) => return Ok(Some(&self.buffer[..length])),
                Err(Errno::AGAIN) => return Ok(None),
                // The request was taken back before it could be read.
                Err(Errno::INTR | Errno::NOENT) => {}
                Err(Errno::NODEV) => return Ok(Some(&[])),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Answers a request with this, or with an errno.
    ///
    /// # Errors
    /// If the connection breaks. That the asker is gone is no error.
    pub fn answer(&self, unique: Unique, answer: Result<&[u8], Errno>) -> io::Result<()> {
        let (error, body) = match answer {
            Ok(body) => (0, body),
            Err(errno) => (errno.raw_os_error(), &[][..]),
        };
        let header = header(unique, error, body.len());
        match rustix::io::writev(&self.device, &[IoSlice::new(&header), IoSlice::new(body)]) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for FuseChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Drop for FuseChannel {
    fn drop(&mut self) {
        // Whoever still has it open gets an error from now on, and no hang.
        mounting::unmount(&self.path, true).ok();
    }
}
