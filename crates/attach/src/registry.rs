//! What is attached on this machine, for those that did not attach it.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use block::Bytes;
use rustix::process::{Uid, geteuid};
use serde::{Deserialize, Serialize};

use crate::{AttachError, Live};

/// Where root's entries are. They end with the machine's run, as what they are about does.
const FOLDER: &str = "/run/assay";

/// A drive that is attached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The block device, or the socket.
    pub device: PathBuf,
    /// The drive as it was asked for.
    pub drive: String,
    /// How much it holds.
    pub capacity: Bytes,
    /// The process that answers.
    pub pid: u32,
    /// Where its file is mounted; of a socket, the socket itself.
    pub mount: PathBuf,
    /// The file that holds the data.
    pub content: PathBuf,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// What it is doing.
    pub live: Live,
}

impl Entry {
    /// Whether the process that answers is still there.
    pub fn is_alive(&self) -> bool {
        let command = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let words = String::from_utf8_lossy(&command);
        words.split('\0').any(|word| word == "attach")
    }
}

/// The entries of this machine.
#[derive(Clone, Debug)]
pub struct Registry {
    folder: PathBuf,
}

impl Registry {
    /// The machine's own, or for others than root the user's own; made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made, or was made by somebody else.
    pub fn open() -> Result<Self, AttachError> {
        let user = geteuid();
        if user.is_root() {
            return Self::within(Path::new(FOLDER));
        }
        match env::var_os("XDG_RUNTIME_DIR") {
            Some(folder) => Self::within(&Path::new(&folder).join("assay")),
            None => Self::of(user, &env::temp_dir().join(format!("assay-{}", user.as_raw()))),
        }
    }

    /// The entries in a folder of the user's own, where others may write beside it.
    fn of(user: Uid, folder: &Path) -> Result<Self, AttachError> {
        let failed = |cause| AttachError::Content { path: folder.to_owned(), cause };
        let made = fs::DirBuilder::new().mode(0o700).create(folder);
        let found = folder.symlink_metadata().map_err(|error| failed(made.err().unwrap_or(error)))?;
        if !found.is_dir() || found.uid() != user.as_raw() {
            let words = "is somebody else's; set XDG_RUNTIME_DIR to a folder of your own";
            return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, words)));
        }
        Self::within(folder)
    }

    /// The entries in `folder`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn within(folder: &Path) -> Result<Self, AttachError> {
        fs::create_dir_all(folder).map_err(|cause| AttachError::Content { path: folder.to_owned(), cause })?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where the file of a drive of this process may be mounted.
    pub fn mount_point(&self) -> PathBuf {
        self.folder.join(format!("drive-{}", std::process::id()))
    }

    /// Whether a file is in the registry's own folder.
    pub fn owns(&self, file: &Path) -> bool {
        file.starts_with(&self.folder)
    }

    /// Enters `entry`, or what is new of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn enter(&self, entry: &Entry) -> Result<(), AttachError> {
        let path = self.path(&entry.device);
        let text = serde_json::to_string_pretty(entry).expect("numbers and names always serialise");
        let draft = path.with_extension("new");
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path));
        written.map_err(|cause| AttachError::Content { path, cause })
    }

    /// Every entry, by device.
    ///
    /// # Errors
    /// If the folder cannot be read. What is no entry is passed over.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                entries.extend(read(&path));
            }
        }
        entries.sort_by(|one, other| one.device.cmp(&other.device));
        Ok(entries)
    }

    /// Forgets an entry, unless its device serves another process by now.
    pub fn forget(&self, entry: &Entry) {
        let path = self.path(&entry.device);
        if read(&path).is_none_or(|found| found.pid == entry.pid) {
            fs::remove_file(path).ok();
        }
    }

    fn path(&self, device: &Path) -> PathBuf {
        // Sockets of the same name may be in several folders.
        let name = device.strip_prefix("/dev").unwrap_or(device).to_string_lossy();
        self.folder.join(format!("{}.json", name.trim_matches('/').replace('/', "-")))
    }
}

/// The entry in a file; none if it holds none.
fn read(path: &Path) -> Option<Entry> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_entered_is_found_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(&folder.path().join("run")).unwrap();
        let entry = Entry {
            device: "/dev/loop7".into(),
            drive: "x25-m".into(),
            capacity: Bytes::from_gib(80),
            pid: u32::MAX,
            mount: "/run/assay/drive-1".into(),
            content: "/tmp/data".into(),
            speed: 1.0,
            live: Live::default(),
        };
        registry.enter(&entry).unwrap();
        std::fs::write(folder.path().join("run/other.json"), "no entry").unwrap();
        assert_eq!(registry.entries().unwrap(), std::slice::from_ref(&entry));
        assert!(!entry.is_alive(), "there is no such process");
        registry.forget(&entry);
        assert_eq!(registry.entries().unwrap(), []);
    }

    #[test]
    fn sockets_of_one_name_in_two_folders_have_an_entry_each() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let paths = ["/dev/loop7", "/one/disk.sock", "/other/disk.sock"].map(|path| registry.path(Path::new(path)));
        let names = ["loop7.json", "one-disk.sock.json", "other-disk.sock.json"];
        assert_eq!(paths, names.map(|name| folder.path().join(name)));
    }

    #[test]
    fn a_folder_that_somebody_else_made_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("assay-1");
        let mine = Registry::of(geteuid(), &path);
        assert!(mine.is_ok() && path.metadata().unwrap().mode() & 0o077 == 0);
        let other = Uid::from_raw(geteuid().as_raw() + 1);
        let said = Registry::of(other, &path).unwrap_err().to_string();
        assert!(said.contains("somebody else's") && said.contains("XDG_RUNTIME_DIR"), "{said}");
        let link = folder.path().join("assay-2");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Registry::of(geteuid(), &link).is_err(), "it may lead anywhere");
    }
}
