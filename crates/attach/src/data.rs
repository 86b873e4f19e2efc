//! The file that a drive's data is kept in: opened once, and checked before anything of it is changed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use block::Bytes;
use host::{file_uses, mark, open};
use rustix::fs::{FlockOperation, OFlags, XattrFlags, fgetxattr, flock, fsetxattr};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The extended attribute that says that assay made a file to keep a drive's data in.
const MARK: &str = "user.assay.backing";
/// How long a server that was killed may take to let go of its file.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);

/// Why a file is no place for a drive's data.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// What the system says.
    #[error("{}: {cause}; name another file", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// A device, a folder, a socket.
    #[error("{} is not a regular file, which a drive's data needs; name a file", path.display())]
    Kind {
        /// What was named.
        path: PathBuf,
    },
    /// A link.
    #[error("{} is a symbolic link, which is not followed for writing; name its target", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Something uses it.
    #[error("{} is in use: {}; end that first", path.display(), uses.join(", "))]
    InUse {
        /// The file.
        path: PathBuf,
        /// By what.
        uses: Vec<String>,
    },
    /// Somebody's own.
    #[error(
        "{} exists, and assay did not create it for a drive's data; name a new file, or add --overwrite to write to \
         this one",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is shorter than the drive.
    #[error(
        "{} holds {found}, and the drive {wanted}; name the file that belongs to the drive, or add --overwrite to \
         resize this one",
        path.display()
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// How long it is.
        found: Bytes,
        /// How long it would have to be.
        wanted: Bytes,
    },
    /// It is longer than the drive.
    #[error("{} holds {found}, more than the drive's {wanted}; name another file, or attach a larger drive", path.display())]
    Long {
        /// The file.
        path: PathBuf,
        /// How long it is.
        found: Bytes,
        /// How long it would have to be.
        wanted: Bytes,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    pub length: Bytes,
    /// When it was written last, since 1970.
    pub written: Duration,
}

/// Where the file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataOrigin {
    /// It was not there before.
    New,
    /// It bears the mark of one that assay made, or a drive's state tells of it.
    Own,
    /// It is written to because the command line says so.
    Given,
    /// A disk image, which the drive is made as large as.
    Image,
    /// It may be anybody's.
    Unknown,
}

/// A file that a drive's data is kept in, or an image, open.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    file: File,
    origin: DataOrigin,
    before: FileStamp,
}

impl DataFile {
    /// The file at `path` to keep data in, which is made if it is not there. `overwrite` takes one that assay did not
    /// make.
    ///
    /// # Errors
    /// If it is a link or no regular file, if something uses it, or it cannot be opened.
    pub fn backing(path: &Path, overwrite: bool) -> Result<Self, DataError> {
        match open_to_write(path) {
            Err(DataError::File { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {
                let file = open::new_file(path, 0o600).map_err(failed(path))?;
                let new = Self::of(path, file, DataOrigin::New)?;
                new.mark();
                Ok(new)
            }
            Err(error) => Err(error),
            Ok(file) => {
                let is_own = is_marked(&file).unwrap_or(false);
                let other = if overwrite { DataOrigin::Given } else { DataOrigin::Unknown };
                Self::of(path, file, if is_own && !overwrite { DataOrigin::Own } else { other })
            }
        }
    }

    /// The disk image at `path`, to be written to.
    ///
    /// # Errors
    /// If it is a link or no regular file, if something uses it, or it cannot be opened.
    pub fn image(path: &Path) -> Result<Self, DataError> {
        Self::of(path, open_to_write(path)?, DataOrigin::Image)
    }

    /// The disk image at `path`, of which nothing is ever written.
    ///
    /// # Errors
    /// If it is no regular file, or cannot be opened.
    pub fn image_to_read(path: &Path) -> Result<Self, DataError> {
        let handle = open::handle(path).map_err(failed(path))?;
        if !handle.metadata().map_err(failed(path))?.is_file() {
            return Err(DataError::Kind { path: path.to_owned() });
        }
        let file = open::again(&handle, false, OFlags::empty()).map_err(failed(path))?;
        Self::of(path, file, DataOrigin::Image)
    }

    fn of(path: &Path, file: File, origin: DataOrigin) -> Result<Self, DataError> {
        let path = std::path::absolute(path).map_err(failed(path))?;
        let before = moment(&file).map_err(failed(&path))?;
        Ok(Self { path, file, origin, before })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much it held when it was opened.
    pub fn length(&self) -> Bytes {
        self.before.length
    }

    /// It as it can be read and written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// It as it was when it was opened.
    pub(crate) fn before(&self) -> FileStamp {
        self.before
    }

    /// It as it is now.
    pub(crate) fn now(&self) -> io::Result<FileStamp> {
        moment(&self.file)
    }

    /// Notes that a drive's state tells of it as it is: so assay wrote it last.
    pub fn is_vouched_for(&mut self) {
        if self.origin == DataOrigin::Unknown {
            self.origin = DataOrigin::Own;
            self.mark();
        }
    }

    /// Makes a new file as long as the drive, and makes sure that another is what it should be.
    ///
    /// # Errors
    /// [`DataError::Foreign`] if assay did not make it, and that it need not have was not said; or if it has another
    /// length.
    pub fn fit(&self, wanted: Bytes) -> Result<(), DataError> {
        let (path, found) = (self.path.clone(), self.before.length);
        match self.origin {
            DataOrigin::Unknown => return Err(DataError::Foreign { path }),
            _ if found > wanted => return Err(DataError::Long { path, found, wanted }),
            // One that was made, and its maker killed before it was made as long as the drive, holds nothing.
            DataOrigin::Own if found < wanted && found > Bytes::ZERO => {
                return Err(DataError::Short { path, found, wanted });
            }
            DataOrigin::Image if found < wanted => return Err(DataError::Short { path, found, wanted }),
            DataOrigin::Given => self.mark(),
            _ => {}
        }
        if found < wanted { self.file.set_len(wanted.get()).map_err(failed(&self.path)) } else { Ok(()) }
    }

    /// Where there are no extended attributes, the state of its drive tells of it.
    fn mark(&self) {
        let binding = mark::identity(&self.file).map(|binding| format!("1 {binding}"));
        let _ = binding.and_then(|mark| Ok(fsetxattr(&self.file, MARK, mark.as_bytes(), XattrFlags::empty())?));
    }
}

impl Drop for DataFile {
    /// A file that was made for a drive which was then refused goes again.
    fn drop(&mut self) {
        let is_empty = || self.now().is_ok_and(|now| now.length == Bytes::ZERO);
        let is_it = || open::handle_of_no_link(&self.path).and_then(|found| open::identity(&found)).ok();
        if self.origin == DataOrigin::New && is_empty() && is_it() == open::identity(&self.file).ok() {
            std::fs::remove_file(&self.path).ok();
        }
    }
}

/// Opens a regular file that nothing uses, to be read and written.
fn open_to_write(path: &Path) -> Result<File, DataError> {
    let handle = match open::handle_of_no_link(path) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(DataError::Link { path: path.to_owned() });
        }
        other => other.map_err(failed(path))?,
    };
    if !handle.metadata().map_err(failed(path))?.is_file() {
        return Err(DataError::Kind { path: path.to_owned() });
    }
    let in_use = |uses| DataError::InUse { path: path.to_owned(), uses };
    let began = Instant::now();
    loop {
        match file_uses(&handle) {
            uses if uses.is_empty() => break,
            uses if began.elapsed() > PATIENCE => return Err(in_use(uses)),
            _ => thread::sleep(PAUSE),
        }
    }
    let file = open::again(&handle, true, OFlags::empty()).map_err(failed(path))?;
    // Of two that looked at the same time one is the first.
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(in_use(vec!["another process has locked it".to_owned()])),
        // Where there are no locks, what was looked for is all that can be known.
        _ => Ok(file),
    }
}

/// Whether a file of this user's bears the mark of one that assay made, and is that very file.
fn is_marked(file: &File) -> io::Result<bool> {
    let mut mark = [0; 256];
    let length = fgetxattr(file, MARK, &mut mark)?;
    Ok(open::is_own(file)? && mark[..length] == *format!("1 {}", mark::identity(file)?).as_bytes())
}

fn moment(file: &File) -> io::Result<FileStamp> {
    let found = file.metadata()?;
    let written = found.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH);
    Ok(FileStamp { length: Bytes::new(found.len()), written: written.unwrap_or_default() })
}

fn failed(path: &Path) -> impl Fn(io::Error) -> DataError + use<> {
    let path = path.to_owned();
    move |cause| DataError::File { path: path.clone(), cause }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    const SIZE: Bytes = Bytes::from_mib(1);

    struct DataFolder(tempfile::TempDir);

    impl DataFolder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// What is said of a file that is to hold a mebibyte.
        fn backing(&self, name: &str, overwrite: bool) -> Result<(), String> {
            let data = DataFile::backing(&self.path(name), overwrite);
            data.and_then(|data| data.fit(SIZE)).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn a_file_that_assay_made_is_taken_again_and_neither_a_copy_nor_another() {
        let folder = DataFolder::new();
        folder.backing("data", false).unwrap();
        let found = fs::metadata(folder.path("data")).unwrap();
        assert_eq!((found.len(), found.permissions().mode() & 0o777), (SIZE.get(), 0o600));
        if is_marked(&File::open(folder.path("data")).unwrap()).is_err() {
            return println!("skipped: there are no extended attributes here");
        }
        folder.backing("data", false).unwrap();
        let (from, to) = (folder.path("data"), folder.path("copy"));
        assert!(Command::new("cp").arg("-a").args([&from, &to]).status().unwrap().success());
        assert!(folder.backing("copy", false).unwrap_err().contains("assay did not create it"));
        fs::write(folder.path("letter"), "somebody's").unwrap();
        assert!(folder.backing("letter", false).unwrap_err().contains("--overwrite"));
        assert_eq!(fs::read_to_string(folder.path("letter")).unwrap(), "somebody's");
    }

    #[test]
    fn a_file_for_a_drive_that_is_refused_goes_again() {
        let folder = DataFolder::new();
        drop(DataFile::backing(&folder.path("data"), false).unwrap());
        assert!(!folder.path("data").exists());
        folder.backing("data", false).unwrap();
        assert!(folder.path("data").exists());
    }

    #[test]
    fn a_file_of_another_length_is_changed_only_where_that_is_said() {
        let folder = DataFolder::new();
        fs::write(folder.path("letter"), "somebody's").unwrap();
        folder.backing("letter", true).unwrap();
        assert_eq!(fs::metadata(folder.path("letter")).unwrap().len(), SIZE.get());
        folder.backing("letter", false).unwrap();
        File::options().write(true).open(folder.path("letter")).unwrap().set_len(4096).unwrap();
        let said = folder.backing("letter", false).unwrap_err();
        assert!(said.contains("holds 4 KiB, and the drive 1 MiB"), "{said}");
        File::options().write(true).open(folder.path("letter")).unwrap().set_len(2 << 20).unwrap();
        for overwrite in [false, true] {
            let said = folder.backing("letter", overwrite).unwrap_err();
            assert!(said.contains("holds 2 MiB, more than the drive's 1 MiB"), "{said}");
        }
    }

    #[test]
    fn a_name_that_changes_its_meaning_all_the_time_never_leads_to_what_was_not_checked() {
        let folder = DataFolder::new();
        folder.backing("data", false).unwrap();
        let ours = open::identity(&File::open(folder.path("data")).unwrap()).unwrap();
        fs::write(folder.path("letter"), "somebody's").unwrap();
        symlink(folder.path("letter"), folder.path("link")).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    for other in ["link", "letter"] {
                        let (one, other) = (folder.path("data"), folder.path(other));
                        let (here, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
                        rustix::fs::renameat_with(here, &one, here, &other, flags).unwrap();
                    }
                }
            });
            for _ in 0..2000 {
                let Ok(data) = DataFile::backing(&folder.path("data"), false) else { continue };
                if data.fit(SIZE).is_ok() {
                    assert_eq!(open::identity(data.file()).unwrap(), ours);
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        // The link may have come to lead to itself.
        let texts = ["data", "link", "letter"].map(|name| fs::read(folder.path(name)).unwrap_or_default());
        assert!(texts.contains(&b"somebody's".to_vec()), "nothing was written to it");
    }

    #[test]
    fn links_folders_devices_and_files_in_use_hold_no_data_even_where_that_is_said() {
        let folder = DataFolder::new();
        fs::write(folder.path("file"), vec![7; 1 << 20]).unwrap();
        symlink(folder.path("file"), folder.path("link")).unwrap();
        symlink(folder.path("nowhere"), folder.path("dangling")).unwrap();
        let writer = File::options().write(true).open(folder.path("file")).unwrap();
        for (name, word) in [
            ("link", "is a symbolic link"),
            ("dangling", "is a symbolic link"),
            (".", "not a regular file"),
            ("/dev/null", "not a regular file"),
            ("file", "another process has it open for writing"),
        ] {
            let said = folder.backing(name, true).unwrap_err();
            assert!(said.contains(word), "{name}: {said}");
            let said = DataFile::image(&folder.path(name)).unwrap_err().to_string();
            assert!(said.contains(word), "{name}: {said}");
        }
        drop(writer);
        assert!(!folder.path("nowhere").exists());
        assert!(fs::read(folder.path("file")).unwrap() == vec![7; 1 << 20]);
        let held = DataFile::image(&folder.path("file")).unwrap();
        let said = DataFile::backing(&folder.path("file"), true).unwrap_err().to_string();
        assert!(said.contains("another process has it open for writing"), "{said}");
        drop(held);
    }
}
