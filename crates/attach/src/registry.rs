//! What is attached on this machine, for those that did not attach it.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use block::{Bytes, Nanos};
use host::{RUNTIME_FOLDER, open};
use rustix::fs::statvfs;
use rustix::process::{Uid, geteuid};
use serde::{Deserialize, Serialize};

use crate::Process;
use crate::content::Content;
use crate::pace::now;
use crate::{AttachError, LiveStats};

/// Where data is kept for which the registry's folder, which may be in memory, has no room.
const ROOMY: &str = "/var/tmp";
/// A server that says nothing for so long is stopped or hangs. One that waits for a busy machine is not silent that
/// long.
const SILENCE: Duration = Duration::from_secs(5);
/// How long a server has to tell of what was done until now; it tells twice a second.
const NEWS: Duration = Duration::from_secs(3);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(50);
/// How many drives this process has attached.
static DRIVES: AtomicU32 = AtomicU32::new(0);

/// A drive that is attached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttachedEntry {
    /// The block device, or the socket.
    pub device: PathBuf,
    pub drive: String,
    /// How much it holds.
    pub capacity: Bytes,
    /// The process that answers.
    #[serde(flatten)]
    pub process: Process,
    /// Whether that process uses it itself, and takes it away when it is done.
    pub held: bool,
    /// Its place among the entries, which its own files are named after; the file under a block device is mounted
    /// there.
    pub place: PathBuf,
    /// The file that holds the data; none where that goes with the drive.
    pub content: Option<PathBuf>,
    /// Seconds of the drive for each of the machine.
    pub speed: f64,
    /// What it is doing.
    pub live: LiveStats,
}

impl AttachedEntry {
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
            return Self::within(Path::new(RUNTIME_FOLDER));
        }
        let folder = match env::var_os("XDG_RUNTIME_DIR") {
            Some(folder) => Path::new(&folder).join("assay"),
            None => env::temp_dir().join(format!("assay-{}", user.as_raw())),
        };
        Self::within(&folder)
    }

    /// The entries in `folder`, which is made if it is not there.
    ///
    /// What is in it says which processes are ended, what is unmounted and which files are removed, so that it must be this
    /// user's and nobody else may write to it.
    ///
    /// # Errors
    /// If it cannot be made, or is somebody else's.
    pub fn within(folder: &Path) -> Result<Self, AttachError> {
        Self::of(geteuid(), folder)
    }

    /// The same for this user.
    fn of(user: Uid, folder: &Path) -> Result<Self, AttachError> {
        let failed = |cause| AttachError::Content { path: folder.to_owned(), cause };
        let refused = |words| failed(io::Error::new(io::ErrorKind::PermissionDenied, words));
        // Root's mounts are there too, which programs of other users find their way through.
        let mode = if user.is_root() { 0o755 } else { 0o700 };
        let made = fs::DirBuilder::new().mode(mode).recursive(true).create(folder);
        let handle = open::handle_of_no_link(folder).map_err(|error| failed(made.err().unwrap_or(error)))?;
        let found = handle.metadata().map_err(failed)?;
        if !found.is_dir() || found.uid() != user.as_raw() {
            return Err(refused("belongs to another user; set XDG_RUNTIME_DIR to a folder of your own"));
        }
        if found.mode() & 0o022 != 0 {
            return Err(refused("is writable by others; `chmod go-w` it if all files in it are yours, or remove it"));
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// The place of another drive of this process, where nothing is.
    pub fn place(&self) -> PathBuf {
        let start = beginning(Process::this());
        loop {
            let number = DRIVES.fetch_add(1, Ordering::Relaxed);
            let place = self.folder.join(format!("{start}{number}"));
            // The kernel's clock is coarse, and starts anew with the machine.
            let is_free = place.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            if is_free {
                return place;
            }
        }
    }

    /// A file without a name for the data of a drive that holds so much: it ends with the process. It is here, which may be
    /// in memory, if there is room for all of it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn scratch(&self, capacity: Bytes) -> Result<Content, AttachError> {
        let folder = self.folder_for(capacity);
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::FileTooLarge => AttachError::Large { folder: folder.to_owned(), capacity },
            _ => AttachError::Content { path: folder.to_owned(), cause },
        };
        open::nameless(folder).and_then(|file| Content::scratch(file, capacity)).map_err(failed)
    }

    fn folder_for(&self, capacity: Bytes) -> &Path {
        let has_room = statvfs(&self.folder).is_ok_and(|found| found.f_bavail * found.f_frsize >= capacity.get());
        if has_room { &self.folder } else { Path::new(ROOMY) }
    }

    /// The places of which a process has left anything: the drive's file or its door. Those of another process of the same
    /// number are not among them.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(crate) fn places(&self, process: Process) -> Result<BTreeSet<PathBuf>, AttachError> {
        let start = beginning(process);
        let failed = |cause| AttachError::Content { path: self.folder.clone(), cause };
        let mut places = BTreeSet::new();
        for file in fs::read_dir(&self.folder).map_err(failed)? {
            let name = file.map_err(failed)?.file_name().to_string_lossy().into_owned();
            let number = name.strip_prefix(&start).and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
            places.extend(number.map(|number| self.folder.join(format!("{start}{number}"))));
        }
        Ok(places)
    }

    /// Enters `entry`, or what is new of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn enter(&self, entry: &AttachedEntry) -> Result<(), AttachError> {
        let path = self.path(&entry.device);
        let text = serde_json::to_string_pretty(entry).expect("numbers and names always serialise");
        open::replace_private(&path, text.as_bytes()).map_err(|cause| AttachError::Content { path, cause })
    }

    /// Every entry, by device or socket.
    ///
    /// # Errors
    /// If the folder cannot be read. What is no entry is passed over.
    pub fn entries(&self) -> io::Result<Vec<AttachedEntry>> {
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

    /// The entry of a device or a socket; none if nothing is attached there.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn entry_of(&self, device: &Path) -> io::Result<Option<AttachedEntry>> {
        let path = std::path::absolute(device).unwrap_or_else(|_| device.to_owned());
        Ok(self.entries()?.into_iter().find(|entry| entry.device == path))
    }

    /// `entry` as soon as its server has told of all that was done until now; as it was told last by one that does not answer.
    pub fn up_to_date(&self, entry: AttachedEntry) -> AttachedEntry {
        let (asked, began, path) = (now(), Instant::now(), self.path(&entry.device));
        let mut found = entry;
        while found.live.told < asked && found.is_alive() && began.elapsed() < NEWS {
            thread::sleep(LOOK);
            found = read(&path).filter(|new| new.place == found.place).unwrap_or(found);
        }
        found
    }

    /// Forgets an entry, unless its device is another drive's by now.
    pub fn forget(&self, entry: &AttachedEntry) {
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

/// How the names of a process's places begin. A later process has other ones, also where it has the same number.
fn beginning(process: Process) -> String {
    format!("drive-{}-{}-", process.pid, process.started)
}

/// The entry in a file; none if it holds none.
fn read(path: &Path) -> Option<AttachedEntry> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_entered_is_found_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(&folder.path().join("run")).unwrap();
        let entry = AttachedEntry {
            device: "/dev/loop7".into(),
            drive: "x25-m".into(),
            capacity: Bytes::from_gib(80),
            process: Process { pid: u32::MAX, started: 1 },
            held: false,
            place: "/run/assay/drive-1-0".into(),
            content: Some("/tmp/data".into()),
            speed: 1.0,
            live: LiveStats::default(),
        };
        registry.enter(&entry).unwrap();
        std::fs::write(folder.path().join("run/other.json"), "no entry").unwrap();
        assert_eq!(registry.entries().unwrap(), std::slice::from_ref(&entry));
        assert!(!entry.is_alive(), "there is no such process");
        registry.forget(&AttachedEntry { place: "/run/assay/drive-2-0".into(), ..entry.clone() });
        assert_eq!(registry.entries().unwrap().len(), 1, "the device is another drive's");
        registry.forget(&entry);
        assert_eq!(registry.entries().unwrap(), []);
    }

    #[test]
    fn data_that_does_not_fit_beside_the_entries_is_kept_where_there_is_room_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        assert_eq!(registry.folder_for(Bytes::new(512)), folder.path());
        assert_eq!(registry.folder_for(Bytes::new(u64::MAX)), Path::new("/var/tmp"));
        registry.scratch(Bytes::new(512)).unwrap().write(0, b"kept").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_drive_whose_data_no_file_can_hold_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let said = registry.scratch(Bytes::new(i64::MAX as u64)).unwrap_err().to_string();
        assert!(said.contains("/var/tmp has no files of") && said.contains("--backing FILE"), "{said}");
    }

    #[test]
    fn each_drive_has_a_place_where_nothing_is() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::within(folder.path()).unwrap();
        let [first, second] = [registry.place(), registry.place()];
        assert_ne!(first, second);
        let next = DRIVES.load(Ordering::Relaxed);
        for number in next..next + 20 {
            let left = folder.path().join(format!("{}{number}", beginning(Process::this())));
            std::os::unix::fs::symlink("/nowhere", left).unwrap();
        }
        assert!(registry.place().symlink_metadata().is_err());
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
        assert!(mine.is_ok() && path.metadata().unwrap().mode() & 0o022 == 0);
        let other = Uid::from_raw(geteuid().as_raw() + 1);
        let said = Registry::of(other, &path).unwrap_err().to_string();
        assert!(said.contains("belongs to another user") && said.contains("XDG_RUNTIME_DIR"), "{said}");
        let link = folder.path().join("assay-2");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Registry::of(geteuid(), &link).is_err(), "it may lead anywhere");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let said = Registry::within(&path).unwrap_err().to_string();
        assert!(said.contains("is writable by others"), "{said}");
    }
}
