//! What is attached on this machine, for those that did not attach it.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use block::{Bytes, Nanos};
use rustix::fs::statvfs;
use rustix::process::{Uid, geteuid};
use serde::{Deserialize, Serialize};

use crate::pace::now;
use crate::process::Process;
use crate::{AttachError, Live};

/// Where root's entries are. They end with the machine's run, as what they are about does.
const FOLDER: &str = "/run/assay";
/// Where data is kept for which the registry's folder, which may be in memory, has no room.
const ROOMY: &str = "/var/tmp";
/// A server that says nothing for so long is stopped or hangs. One that waits for a busy machine is not silent that long.
const SILENCE: Duration = Duration::from_secs(5);
/// How many drives this process has attached.
static DRIVES: AtomicU32 = AtomicU32::new(0);

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
    #[serde(flatten)]
    pub process: Process,
    /// Whether that process uses it itself, and takes it away when it is done.
    pub held: bool,
    /// Its place among the entries, which its own files are named after; the file under a block device is mounted there.
    pub place: PathBuf,
    /// The file that holds the data.
    pub content: PathBuf,
    /// Whether that file goes with the drive.
    pub scratch: bool,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// What it is doing.
    pub live: Live,
}

impl Entry {
    /// Whether the process that answers is still there.
    pub fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// For how long nothing was heard of the server, although its process is there; none if that is not unusual. It tells
    /// twice a second that it is at work.
    pub fn silence(&self) -> Option<Duration> {
        let silence = now().since(self.live.told).to_std();
        (self.live.told > Nanos::ZERO && silence > SILENCE).then_some(silence)
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

    /// The place of another drive of this process.
    pub fn place(&self) -> PathBuf {
        let number = DRIVES.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("drive-{}-{number}", std::process::id()))
    }

    /// Where the data of the drive at `place` may be until it is detached: beside it, if there is room for all of it.
    pub fn scratch(&self, place: &Path, capacity: Bytes) -> PathBuf {
        let has_room = statvfs(&self.folder).is_ok_and(|found| found.f_bavail * found.f_frsize >= capacity.get());
        let [beside, elsewhere] = self.scratches(place);
        if has_room { beside } else { elsewhere }
    }

    /// Both places where the data of the drive at `place` may be.
    pub(crate) fn scratches(&self, place: &Path) -> [PathBuf; 2] {
        let name = place.file_name().expect("it is a file").to_string_lossy();
        [self.folder.join(format!("{name}.data")), Path::new(ROOMY).join(format!("assay-{name}.data"))]
    }

    /// The places of which a process has left anything: the drive's file, its door or its data.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub(crate) fn places(&self, process: Process) -> Result<BTreeSet<PathBuf>, AttachError> {
        let start = format!("drive-{}-", process.pid);
        let mut places = BTreeSet::new();
        for folder in [self.folder.as_path(), Path::new(ROOMY)] {
            let failed = |cause| AttachError::Content { path: folder.to_owned(), cause };
            for file in fs::read_dir(folder).map_err(failed)? {
                let name = file.map_err(failed)?.file_name().to_string_lossy().into_owned();
                let number = name.trim_start_matches("assay-").strip_prefix(&start);
                let number = number.and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
                places.extend(number.map(|number| self.folder.join(format!("{start}{number}"))));
            }
        }
        Ok(places)
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

    /// Every entry, by device or socket.
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

    /// Forgets an entry, unless its device is another drive's by now.
    pub fn forget(&self, entry: &Entry) {
        let path = self.path(&entry.device);
        if read(&path).is_none_or(|found| found.place == entry.place) {
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
            process: Process { pid: u32::MAX, started: 1 },
            held: false,
            place: "/run/assay/drive-1-0".into(),
            content: "/tmp/data".into(),
            scratch: false,
            speed: 1.0,
            live: Live::default(),
        };
        registry.enter(&entry).unwrap();
        std::fs::write(folder.path().join("run/other.json"), "no entry").unwrap();
        assert_eq!(registry.entries().unwrap(), std::slice::from_ref(&entry));
        assert!(!entry.is_alive(), "there is no such process");
        registry.forget(&Entry { place: "/run/assay/drive-2-0".into(), ..entry.clone() });
        assert_eq!(registry.entries().unwrap().len(), 1, "the device is another drive's");
        registry.forget(&entry);
        assert_eq!(registry.entries().unwrap(), []);
    }

    #[test]
    fn data_that_does_not_fit_beside_the_entries_is_kept_where_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let place = registry.place();
        assert_ne!(place, registry.place(), "each drive of a process has its own");
        let name = place.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(registry.scratch(&place, Bytes::new(512)), folder.path().join(format!("{name}.data")));
        let elsewhere = registry.scratch(&place, Bytes::new(u64::MAX));
        assert_eq!(elsewhere, Path::new(&format!("/var/tmp/assay-{name}.data")));
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
