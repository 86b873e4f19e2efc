//! The mark of a file that assay made to measure on, and what it is worth.
//!
//! The mark is bound to the file and to when assay last wrote to it. A copy has another inode; whoever writes to the file
//! moves its time of change. A mark that does not fit is no mark.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// The extended attribute.
const NAME: &str = "user.assay.created";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// It is as assay left it.
    Fits,
    /// A run was writing to it and did not end in order: what it holds now is not known.
    Writing,
    /// It is not assay's, or somebody changed it.
    Absent,
    /// Its file system keeps no extended attributes.
    Unknown,
}

impl FileMark {
    /// The mark of this file.
    pub fn of(file: &File) -> Self {
        let mut value = [0; 256];
        // By the path of the descriptor, for one that only refers to a file has no attributes of its own.
        let length = match rustix::fs::getxattr(crate::open::path_to(file), NAME, &mut value) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP) => return Self::Unknown,
            Err(_) => return Self::Absent,
        };
        let is = |expected: io::Result<String>| expected.is_ok_and(|text| text.as_bytes() == &value[..length]);
        match () {
            () if is(at_rest(file)) => Self::Fits,
            () if is(writing(file)) => Self::Writing,
            () => Self::Absent,
        }
    }
}

/// Marks a file as one that is being written. Where there are no extended attributes there is no mark.
pub fn begin(file: &File) {
    let _ = writing(file).and_then(|text| put(file, &text));
}

/// Marks a file as one that holds what assay left in it.
///
/// Where times are whole seconds, the one in which it was written is waited for to be over: whoever writes to it afterwards
/// then moves its time.
pub fn settle(file: &File) {
    let written = file.metadata().and_then(|found| found.modified());
    let is_coarse = file.metadata().is_ok_and(|found| found.mtime_nsec() == 0);
    if let (Ok(written), true) = (written, is_coarse) {
        let age = written.elapsed().unwrap_or_default();
        thread::sleep(Duration::from_secs(1).saturating_sub(age));
    }
    let _ = at_rest(file).and_then(|text| put(file, &text));
}

fn put(file: &File, text: &str) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(file, NAME, text.as_bytes(), XattrFlags::empty())?)
}

fn writing(file: &File) -> io::Result<String> {
    Ok(format!("{} writing", identity(file)?))
}

fn at_rest(file: &File) -> io::Result<String> {
    let found = file.metadata()?;
    let state = format!("{} {} {}", found.mtime(), found.mtime_nsec(), found.len());
    Ok(format!("{} {:016x}", identity(file)?, hash(&state)))
}

/// What tells a file from every other, also from a copy of it: file system, inode and time of birth, in so few characters
/// that a mark fits into an inode.
///
/// # Errors
/// If the kernel does not tell.
pub fn identity(file: &File) -> io::Result<String> {
    let system = rustix::fs::fstatfs(file)?.f_fsid;
    let found = file.metadata()?;
    let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let born = born.map_or(0, |born| born.as_nanos());
    Ok(format!("2 {:016x}", hash(&format!("{system:?} {} {born}", found.ino()))))
}

/// FNV-1a of 64 bits. Source: Fowler, Noll, Vo and Eastlake, RFC 9923, §2.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{open, program};
    use std::io::Write;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    fn made(path: &Path) -> File {
        let mut file = open::new_file(path, 0o600).unwrap();
        begin(&file);
        file.write_all(b"figures").unwrap();
        assert_eq!(FileMark::of(&file), FileMark::Writing);
        settle(&file);
        assert_eq!(FileMark::of(&open::handle(path).unwrap()), FileMark::Fits);
        file
    }

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR").to_owned() + "/../../target").unwrap()
    }

    #[test]
    fn a_mark_fits_until_somebody_else_writes() {
        let folder = scratch();
        let mut file = made(&folder.path().join("file"));
        // Clocks of file systems are coarse: what was written a moment later has another time.
        file.write_all(b"!").unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
        assert_eq!(FileMark::of(&file), FileMark::Absent);
        settle(&file);
        file.set_len(3).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(FileMark::of(&file), FileMark::Absent);
    }

    #[test]
    fn a_copy_and_a_file_with_a_mark_of_old_have_none() {
        let folder = scratch();
        let [from, copy] = ["from", "copy"].map(|name| folder.path().join(name));
        let file = made(&from);
        assert!(program::command("cp").unwrap().arg("-a").args([&from, &copy]).status().unwrap().success());
        assert_eq!(FileMark::of(&open::handle(&copy).unwrap()), FileMark::Absent);
        put(&file, "1").unwrap();
        assert_eq!(FileMark::of(&file), FileMark::Absent);
    }
}
