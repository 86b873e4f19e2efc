//! Files that a command line asks for: reports, exports, plans, drives, metrics, traces, logs.
//!
//! An output is a stream (`-`, a FIFO, `/dev/null`), a file that is not there yet, or a regular file that assay wrote and
//! nobody has changed since; anything else only by force, and a device, a link, a target or a store not even then. A file
//! is written beside its place and then put there, so that it is the old one or the new one and never half of either. Its
//! folder is looked up once: what takes the folder's name later is not written to.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, AtFlags, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::{confine, mark, open};

/// The extended attribute that binds a file to what assay wrote to it.
const MARK: &str = "user.assay.output";

/// How the files end that SQLite keeps beside a database.
const BESIDE_STORES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How long a reader of a FIFO is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Output {
    place: PendingOutput,
    stream: Option<File>,
}

/// A file that is written beside its place and then put there.
#[derive(Clone, Debug)]
struct PendingOutput {
    path: PathBuf,
    /// The folder as it was when the output was checked, whatever its name leads to by now.
    folder: Arc<File>,
    /// The file's name in it.
    name: PathBuf,
    force: bool,
    /// The file that this wrote last, for file systems that keep no marks.
    written: Option<open::FileIdentity>,
}

/// Why something is no output.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file of somebody's.
    #[error("{path} exists, and is not as assay wrote it; name another file, or add --force to overwrite it")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A device, a folder, a socket.
    #[error("{path} is a {kind}, which assay does not write {to}; name a file")]
    Kind {
        /// What was named.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
        /// What would be written.
        to: &'static str,
    },
    /// A link.
    #[error("{path} is a symbolic link, which assay does not follow for writing; name its target: {target}")]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A target or a store.
    #[error("{path} is the target or the store; name another file")]
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// A FIFO that nobody reads.
    #[error("the FIFO {path} has no reader; start it first")]
    NoReader {
        /// The FIFO.
        path: PathBuf,
    },
    /// What the system says.
    #[error("{path} cannot be written: {error}; name another file")]
    Io {
        /// What was named.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Output {
    /// Makes sure that an output can go to `path`, and opens it if it is a stream. Nothing is changed yet. `force`
    /// gives up
    /// a regular file that assay did not write.
    ///
    /// # Errors
    /// If it cannot, or must not.
    pub fn at(path: &Path, force: bool) -> Result<Self, OutputError> {
        Self::of(PendingOutput::looked_up(path, force)?)
    }

    /// The same for a name in a folder that is open; `path` is where people find it.
    ///
    /// # Errors
    /// As those of [`at`](Self::at).
    pub fn within(folder: &Arc<File>, name: &str, path: PathBuf, force: bool) -> Result<Self, OutputError> {
        Self::of(PendingOutput { path, folder: Arc::clone(folder), name: name.into(), force, written: None })
    }

    fn of(place: PendingOutput) -> Result<Self, OutputError> {
        let stream = place.find_stream()?;
        if stream.is_none() {
            place.existing()?;
            let writable = rustix::fs::accessat(&place.folder, ".", Access::WRITE_OK, AtFlags::empty());
            writable.map_err(|errno| place.failed(errno.into()))?;
        }
        Ok(Self { place, stream })
    }

    /// The path that was named.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Whether it is a stream, of which nothing is replaced.
    pub fn is_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Has `bytes` be all that the file holds; a stream is given them after what it was given before.
    ///
    /// # Errors
    /// If that is no longer possible, with the file as it was.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        if let Some(stream) = &mut self.stream {
            return stream.write_all(bytes).map_err(|error| self.place.failed(error));
        }
        let (place, bytes) = (self.place.clone(), bytes.to_vec());
        self.place.written = Some(confine::outside(move || place.write(&bytes))?);
        Ok(())
    }
}

impl PendingOutput {
    /// Looks the folder up, once.
    fn looked_up(path: &Path, force: bool) -> Result<Self, OutputError> {
        // What ends with a stroke or with dots is a folder itself, and is told so.
        let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
        let (folder, name) = match path.file_name().filter(|_| !is_folder) {
            Some(name) => (path.parent().unwrap_or(path), Path::new(name)),
            None => (path, Path::new(".")),
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let path = path.to_owned();
        match open::handle_of_folder(folder) {
            Ok(folder) => Ok(Self { path, folder: Arc::new(folder), name: name.to_owned(), force, written: None }),
            Err(error) => Err(OutputError::Io { path, error }),
        }
    }

    /// Writes the file; which it is now.
    fn write(&self, bytes: &[u8]) -> Result<open::FileIdentity, OutputError> {
        let before = self.existing()?;
        let draft = open::random_name("output");
        let placed = self.place(before.as_ref(), &draft, bytes);
        placed.inspect_err(|_| {
            // The error to tell is the one before.
            let _ = self.remove(&draft);
        })
    }

    /// Writes the draft and puts it in its place.
    fn place(&self, before: Option<&Metadata>, draft: &Path, bytes: &[u8]) -> Result<open::FileIdentity, OutputError> {
        let failed = |error: io::Error| self.failed(error);
        let mut file = open::new_file_in(&self.folder, draft, 0o666).map_err(failed)?;
        if let Some(before) = before {
            file.set_permissions(fs::Permissions::from_mode(before.mode() & 0o777)).map_err(failed)?;
        }
        file.write_all(bytes).map_err(failed)?;
        // Where there are no extended attributes the file is written all the same, and replaced only by force.
        let _ = stamp(&file, bytes)
            .and_then(|stamp| Ok(rustix::fs::fsetxattr(&file, MARK, stamp.as_bytes(), XattrFlags::empty())?));
        match before {
            None => open::name_new_in(&self.folder, draft, &self.name).map_err(failed)?,
            Some(before) => self.exchange(draft, before)?,
        }
        open::identity(&file).map_err(failed)
    }

    /// Puts the draft in the place of the file that was checked, and of no other that came there meanwhile.
    fn exchange(&self, draft: &Path, before: &Metadata) -> Result<(), OutputError> {
        let failed = |errno: Errno| self.failed(errno.into());
        let (folder, name) = (&self.folder, &self.name);
        let exchange = || rustix::fs::renameat_with(folder, draft, folder, name, RenameFlags::EXCHANGE);
        match exchange() {
            Err(Errno::INVAL) => return rustix::fs::renameat(folder, draft, folder, name).map_err(failed),
            other => other.map_err(failed)?,
        }
        let found = rustix::fs::statat(folder, draft, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        if (found.st_dev, found.st_ino) != (before.dev(), before.ino()) {
            exchange().map_err(failed)?;
            return Err(OutputError::Foreign { path: self.path.clone() });
        }
        self.remove(draft).map_err(failed)
    }

    /// Removes a file of the folder.
    fn remove(&self, name: &Path) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())
    }

    /// The regular file that may be replaced; none if there is nothing.
    fn existing(&self) -> Result<Option<Metadata>, OutputError> {
        let path = || self.path.clone();
        let handle = match open::handle_in(&self.folder, &self.name) {
            Ok(handle) => handle,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                let target = rustix::fs::readlinkat(&self.folder, &self.name, Vec::new()).unwrap_or_default();
                let target = OsStr::from_bytes(target.to_bytes()).into();
                return Err(OutputError::Link { path: path(), target });
            }
            Err(error) => return Err(self.failed(error)),
        };
        let found = handle.metadata().map_err(|error| self.failed(error))?;
        if !found.is_file() {
            return Err(OutputError::Kind { path: path(), kind: kind(&found), to: "outputs to" });
        }
        let identity = (found.dev(), found.ino());
        let is_protected = open::is_protected_file(&handle).map_err(|error| self.failed(error))?;
        if is_protected || self.is_of_a_store(&handle) {
            return Err(OutputError::Protected { path: path() });
        }
        let ours = self.force || self.written == Some(identity) || is_as_written(&handle);
        if ours { Ok(Some(found)) } else { Err(OutputError::Foreign { path: path() }) }
    }

    /// Whether it is a store of results, or one of the files that SQLite keeps beside it.
    fn is_of_a_store(&self, handle: &File) -> bool {
        let name = self.name.to_string_lossy();
        let store = BESIDE_STORES.iter().find_map(|ending| name.strip_suffix(ending));
        let beside = store.and_then(|store| open::handle_in(&self.folder, Path::new(store)).ok());
        is_store(handle) || beside.is_some_and(|handle| is_store(&handle))
    }

    /// What the path means where it is a stream.
    fn find_stream(&self) -> Result<Option<File>, OutputError> {
        let own =
            |fd: io::Result<std::os::fd::OwnedFd>| fd.map(|fd| Some(fd.into())).map_err(|error| self.failed(error));
        match self.path.to_str() {
            Some("-" | "/dev/stdout") => return own(rustix::io::dup(io::stdout()).map_err(Into::into)),
            Some("/dev/stderr") => return own(rustix::io::dup(io::stderr()).map_err(Into::into)),
            _ => {}
        }
        let Ok(handle) = open::handle_in(&self.folder, &self.name) else { return Ok(None) };
        let found = handle.metadata().map_err(|error| self.failed(error))?;
        let device = (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        // /dev/null and /dev/full. Source: Linux, Documentation/admin-guide/devices.txt.
        if found.file_type().is_char_device() && matches!(device, (1, 3 | 7)) {
            return open::again(&handle, true, OFlags::empty()).map(Some).map_err(|error| self.failed(error));
        }
        if found.file_type().is_fifo() { self.fifo(&handle).map(Some) } else { Ok(None) }
    }

    /// Opens a FIFO once somebody reads it.
    fn fifo(&self, handle: &File) -> Result<File, OutputError> {
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            match open::pipe(handle) {
                Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => thread::sleep(PAUSE),
                other => return other.map_err(|error| self.failed(error)),
            }
        }
        Err(OutputError::NoReader { path: self.path.clone() })
    }

    fn failed(&self, error: io::Error) -> OutputError {
        OutputError::Io { path: self.path.clone(), error }
    }
}

/// What binds a file to its content: what tells it from all others, its length and a checksum.
fn stamp(file: &File, content: &[u8]) -> io::Result<String> {
    Ok(format!("{} {} {:08x}", mark::identity(file)?, content.len(), crc32c::crc32c(content)))
}

/// Whether a file is a store of results: a database of SQLite's with assay's application id.
///
/// Source: SQLite's documentation, "Database File Format", §1.3: magic string at 0, application id at 68.
fn is_store(handle: &File) -> bool {
    use std::os::unix::fs::FileExt;
    let mut header = [0; 72];
    let read = open::again(handle, false, OFlags::empty()).and_then(|file| file.read_exact_at(&mut header, 0));
    read.is_ok() && header.starts_with(b"SQLite format 3\0") && header[68..72] == *b"assa"
}

/// Whether a file holds what assay wrote to it, by its mark.
fn is_as_written(handle: &File) -> bool {
    let read = || -> io::Result<bool> {
        let mut file = open::again(handle, false, OFlags::empty())?;
        let mut mark = [0; 256];
        let length = rustix::fs::fgetxattr(&file, MARK, &mut mark)?;
        let mark = String::from_utf8_lossy(&mark[..length]).into_owned();
        // A file of another length need not be read to its end.
        let written = mark.split(' ').rev().nth(1).and_then(|length| length.parse::<u64>().ok());
        if written != Some(file.metadata()?.len()) {
            return Ok(false);
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        Ok(stamp(&file, &content)? == mark)
    };
    read().unwrap_or(false)
}

fn kind(found: &Metadata) -> &'static str {
    match found.file_type() {
        kind if kind.is_dir() => "folder",
        kind if kind.is_block_device() => "block device",
        kind if kind.is_char_device() => "character device",
        _ => "socket",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn written(path: &Path, force: bool, text: &str) -> Result<(), String> {
        let told = |error: OutputError| error.to_string();
        Output::at(path, force).map_err(told)?.write(text.as_bytes()).map_err(told)
    }

    #[test]
    fn an_output_is_new_or_what_was_written_and_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        written(&path, false, "one").unwrap();
        written(&path, false, "two, longer").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two, longer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        fs::write(&path, "two, shorter").unwrap();
        assert!(written(&path, false, "three").unwrap_err().contains("--force"));
        fs::write(&path, "TWO, longer").unwrap();
        assert!(written(&path, false, "three").unwrap_err().contains("--force"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "TWO, longer");
        written(&path, true, "three").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    }

    #[test]
    fn an_output_stays_in_its_folder_when_a_link_takes_the_folders_name() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::create_dir(path("own")).unwrap();
        fs::create_dir(path("foreign")).unwrap();
        let mut output = Output::at(&path("own/assay.prom"), false).unwrap();
        output.write(b"one").unwrap();
        fs::rename(path("own"), path("moved")).unwrap();
        symlink(path("foreign"), path("own")).unwrap();
        output.write(b"two").unwrap();
        assert_eq!(fs::read_to_string(path("moved/assay.prom")).unwrap(), "two");
        assert_eq!(fs::read_dir(path("foreign")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(path("moved")).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn what_ends_with_a_stroke_or_dots_is_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "kept").unwrap();
        for (named, word) in [("..", "folder"), ("/", "folder"), ("new/", "No such file"), ("file/", "Not a directory")]
        {
            let said = written(&path(named), true, "lost").unwrap_err();
            assert!(said.contains(word), "{named}: {said}");
        }
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "kept");
    }

    #[test]
    fn a_copy_with_its_attributes_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let [from, copy] = ["from", "copy"].map(|name| folder.path().join(name));
        written(&from, false, "text").unwrap();
        let status = crate::program::command("cp").unwrap().arg("-a").args([&from, &copy]).status().unwrap();
        assert!(status.success());
        assert!(written(&copy, false, "lost").is_err());
        assert_eq!(fs::read_to_string(&copy).unwrap(), "text");
    }

    #[test]
    fn links_folders_devices_and_what_is_measured_are_no_outputs_even_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("target"), "kept").unwrap();
        open::protect(&File::open(path("target")).unwrap());
        symlink(path("elsewhere"), path("link")).unwrap();
        for (named, word) in
            [("target", "the target or the store"), ("link", "link"), (".", "folder"), ("none/file", "No such file")]
        {
            let said = written(&path(named), true, "lost").unwrap_err();
            assert!(said.contains(word), "{named}: {said}");
        }
        assert!(written(Path::new("/dev/zero"), true, "lost").unwrap_err().contains("character device"));
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "kept");
        assert!(!path("elsewhere").exists());
    }

    #[test]
    fn streams_are_written_as_they_come() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        let reader = {
            let fifo = fifo.clone();
            thread::spawn(move || fs::read_to_string(fifo).unwrap())
        };
        written(&fifo, false, "told").unwrap();
        assert_eq!(reader.join().unwrap(), "told");
        written(Path::new("/dev/null"), false, "gone").unwrap();
        assert!(written(Path::new("/dev/full"), false, "gone").unwrap_err().contains("No space"));
    }
}
