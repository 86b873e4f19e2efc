//! What is under data that was not written yet.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use block::Bytes;

/// An image is taken over in blocks of this size.
const BLOCK: u64 = 4096;

/// An image that is read where nothing was written over it, and never written itself.
#[derive(Debug)]
pub struct OverlayImage {
    file: File,
    length: u64,
    /// A bit for each block that is in the file above it.
    taken: Vec<u64>,
}

impl OverlayImage {
    /// The image in a file of this length.
    pub fn new(file: File, length: Bytes) -> Self {
        let length = length.get();
        Self { file, length, taken: vec![0; length.div_ceil(64 * BLOCK) as usize] }
    }

    fn is_taken(&self, block: u64) -> bool {
        self.taken.get((block / 64) as usize).is_none_or(|bits| bits >> (block % 64) & 1 == 1)
    }

    /// Reads what is at `offset` into `data`, from the file `above` or from the image.
    ///
    /// # Errors
    /// If either cannot be read.
    pub fn read(&self, above: &File, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let length = (BLOCK - at % BLOCK).min(rest.len() as u64) as usize;
            let (piece, others) = rest.split_at_mut(length);
            if self.is_taken(at / BLOCK) { above.read_exact_at(piece, at) } else { self.read_own(at, piece) }?;
            (at, rest) = (at + length as u64, others);
        }
        Ok(())
    }

    /// Notes that all of this is going to be written to the file `above`, into which the rest of blocks is copied that are
    /// written in part.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn take(&mut self, above: &File, offset: u64, length: u64) -> io::Result<()> {
        let (first, end) = (offset / BLOCK, (offset + length).div_ceil(BLOCK));
        let mut block = vec![0; BLOCK as usize];
        for number in first..end {
            let from = number * BLOCK;
            let is_whole = offset <= from && from + BLOCK <= offset + length;
            if !is_whole && !self.is_taken(number) {
                let kept = &mut block[..BLOCK.min(self.length.saturating_sub(from)) as usize];
                self.read_own(from, kept)?;
                above.write_all_at(kept, from)?;
            }
            if let Some(bits) = self.taken.get_mut((number / 64) as usize) {
                *bits |= 1 << (number % 64);
            }
        }
        Ok(())
    }

    fn read_own(&self, at: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(data, at)
    }
}
