//! What was written to an attached drive.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use block::Bytes;
use rustix::fs::{FallocateFlags, fallocate};

use crate::data::{DataError, DataFile};
use crate::overlay::OverlayImage;

/// The data of a drive: a sparse file, in which what was never written takes no room.
#[derive(Debug)]
pub struct Content {
    file: File,
    /// What is read where nothing was written.
    image: Option<RefCell<OverlayImage>>,
}

impl Content {
    /// The data in this file, which is to be of this length.
    ///
    /// # Errors
    /// If the file may not be written, or has another length.
    pub fn kept(data: &DataFile, length: Bytes) -> Result<Self, DataError> {
        data.fit(length)?;
        let file = data.file().try_clone().map_err(|cause| DataError::File { path: data.path().to_owned(), cause })?;
        Ok(Self { file, image: None })
    }

    /// The data in a new file, which nobody else has and which ends with this.
    ///
    /// # Errors
    /// If it cannot be made so long.
    pub fn scratch(file: File, length: Bytes) -> io::Result<Self> {
        file.set_len(length.get())?;
        Ok(Self { file, image: None })
    }

    /// This data on top of an image, which stays as it is.
    ///
    /// # Errors
    /// If the image cannot be read.
    pub fn over(self, image: &DataFile) -> io::Result<Self> {
        let image = OverlayImage::new(image.file().try_clone()?, image.length());
        Ok(Self { image: Some(RefCell::new(image)), ..self })
    }

    /// Reads what is at `offset` into all of `data`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match &self.image {
            Some(image) => image.borrow().read(&self.file, offset, data),
            None => self.file.read_exact_at(data, offset),
        }
    }

    /// Writes all of `data` at `offset`.
    ///
    /// # Errors
    /// If the file cannot be written, for one because its disk is full.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.take(offset, data.len() as u64)?;
        self.file.write_all_at(data, offset)
    }

    /// Forgets `length` bytes from `offset` on: they read as zeroes and take no room.
    ///
    /// # Errors
    /// If the file system cannot.
    pub fn forget(&self, offset: u64, length: u64) -> io::Result<()> {
        self.take(offset, length)?;
        Ok(fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length)?)
    }

    /// Has it be this file's and no longer the image's.
    fn take(&self, offset: u64, length: u64) -> io::Result<()> {
        self.image.as_ref().map_or(Ok(()), |image| image.borrow_mut().take(&self.file, offset, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let open = || Content::kept(&DataFile::backing(&path, true).unwrap(), Bytes::from_mib(1)).unwrap();
        open().write(4096, b"kept").unwrap();
        let again = open();
        let mut data = [0; 4];
        again.read(4096, &mut data).unwrap();
        assert_eq!(&data, b"kept");
        again.forget(4096, 4096).unwrap();
        again.read(4096, &mut data).unwrap();
        assert_eq!(data, [0; 4]);
    }

    #[test]
    fn what_is_written_over_an_image_is_read_and_the_image_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (image, path) = (folder.path().join("image"), folder.path().join("data"));
        let mut expected: Vec<u8> = (0..40_960 + 512).map(|byte: u32| (byte % 251) as u8).collect();
        std::fs::write(&image, &expected).unwrap();
        let original = expected.clone();
        let content = Content::scratch(
            File::options().read(true).write(true).create_new(true).open(&path).unwrap(),
            Bytes::new(expected.len() as u64),
        )
        .unwrap();
        let content = content.over(&DataFile::image_to_read(&image).unwrap()).unwrap();
        let end = expected.len();
        for (from, until) in [(512, 1024), (4096, 12_288), (13_824, 21_504), (end - 512, end)] {
            expected[from..until].fill(7);
            content.write(from as u64, &expected[from..until]).unwrap();
        }
        expected[5120..24_576].fill(0);
        content.forget(5120, 24_576 - 5120).unwrap();
        for (from, until) in [(0, end), (512, 5632), (20_480, 25_088), (end - 512, end)] {
            let mut found = vec![1; until - from];
            content.read(from as u64, &mut found).unwrap();
            assert!(found == expected[from..until], "{from} to {until}");
        }
        assert!(std::fs::read(&image).unwrap() == original);
    }
}
