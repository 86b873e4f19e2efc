//! The state of a drive in a file: what it has written where, how worn it is, what it has counted.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use block::{Bytes, Request, Tag};
use drive::preset::Preset;
use drive::{Device, Drive};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a file of this kind begins.
const MAGIC: &[u8; 12] = b"assay drive\n";
/// The form of what follows: the fields of the drives' own types, in order. Any change to these makes another.
const FORMAT: u32 = 1;
/// Magic, format, checksum (CRC-32C) and length of what follows.
const HEAD: usize = MAGIC.len() + 4 + 4 + 8;

/// Why a drive cannot go on from a file, or its state cannot be saved.
#[derive(Debug, Error)]
pub enum StateError {
    /// The file cannot be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        cause: io::Error,
    },
    /// It is something else.
    #[error("{} is not the state of a drive; name a file that `assay attach --state` wrote, or one that is not there", path.display())]
    NoState {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the program wrote it.
    #[error(
        "{} is in format {found}, and this version of assay reads format {FORMAT}; detach with the version that wrote it, or \
         remove it and begin with a fresh drive",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// It is not as it was written.
    #[error("{} is damaged: {what}; remove it to begin with a fresh drive, whose data in --backing is kept", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// It is another drive's.
    #[error(
        "{} is the state of {found}{}, and {wanted} is to be attached; attach that one, or give another --state",
        path.display(),
        if found == wanted { " with other parameters, as another version of assay had them" } else { "" }
    )]
    OtherDrive {
        /// The file.
        path: PathBuf,
        /// Whose state it is.
        found: String,
        /// The drive that is asked for.
        wanted: String,
    },
    /// Its data is not what is there.
    #[error(
        "{} was saved with data of {expected}, and {} has {found}; it is not the same data: give the file that belongs to it, \
         or another --state",
        path.display(),
        backing.display()
    )]
    OtherData {
        /// The file.
        path: PathBuf,
        /// The data's.
        backing: PathBuf,
        /// How much data there was.
        expected: Bytes,
        /// How much there is.
        found: Bytes,
    },
}

/// Whose state it is, and of what data.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    /// The drive, by the name by which it was asked for.
    drive: String,
    data: Option<Data>,
}

/// A file of data as it was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Data {
    length: Bytes,
    /// When it was written last, since 1970.
    written: Duration,
}

impl Data {
    /// That of a file that is not there.
    const NONE: Self = Self { length: Bytes::ZERO, written: Duration::ZERO };

    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        let written = found.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH);
        Ok(Self { length: Bytes::new(found.len()), written: written.unwrap_or_default() })
    }
}

/// A drive that goes on from a file.
#[derive(Debug)]
pub struct Resumed {
    /// The drive.
    pub drive: Device,
    /// Whether its data was written after its state was saved, as when its server was killed: then the drive does not
    /// know of what was written since.
    pub is_behind: bool,
}

/// A file that a drive's state is kept in.
#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// The file at `path`, which need not be there.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The one that belongs to the data in `backing`: beside it, with `.state` behind its name.
    pub fn beside(backing: &Path) -> Self {
        let mut name = backing.as_os_str().to_owned();
        name.push(".state");
        Self { path: name.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Sees to it that a state can be saved later.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn prepare(&self) -> Result<(), StateError> {
        let draft = self.draft();
        File::create(&draft).and_then(|_| fs::remove_file(&draft)).map_err(self.failed())
    }

    /// The drive of this preset as it was when it was saved, with its data in `backing`, where that is given.
    ///
    /// # Errors
    /// If it is another drive's or of other data, or is damaged.
    pub fn resume(&self, preset: &Preset, backing: Option<&Path>) -> Result<Resumed, StateError> {
        let path = || self.path.clone();
        let damaged = |what| StateError::Damaged { path: path(), what };
        let file = fs::read(&self.path).map_err(self.failed())?;
        let body = self.checked(&file)?;
        let (about, rest) = postcard::take_from_bytes::<About>(body).map_err(|_| damaged("its head makes no sense"))?;
        let other = || StateError::OtherDrive { path: path(), found: about.drive.clone(), wanted: preset.name.clone() };
        if about.drive != preset.name {
            return Err(other());
        }
        let drive: Device = postcard::from_bytes(rest).map_err(|_| damaged("it makes no drive"))?;
        if drive.spec() != preset.spec {
            return Err(other());
        }
        let is_behind = match (about.data, backing) {
            (Some(expected), Some(backing)) => {
                let found = if backing.exists() { Data::of(backing).map_err(self.failed())? } else { Data::NONE };
                if found.length != expected.length {
                    let (backing, expected, found) = (backing.to_owned(), expected.length, found.length);
                    return Err(StateError::OtherData { path: path(), backing, expected, found });
                }
                found.written != expected.written
            }
            _ => false,
        };
        Ok(Resumed { drive, is_behind })
    }

    /// Saves the state of the drive that is called `name`, whose data is in `backing`, where that is kept. What it holds in
    /// volatile memory is flushed first; nothing may be asked of it any more.
    ///
    /// # Errors
    /// If it cannot be written. What was there before is there still then.
    pub fn save(&self, name: &str, drive: &mut Device, backing: Option<&Path>) -> Result<(), StateError> {
        settle(drive);
        let data = backing.map(Data::of).transpose().map_err(self.failed())?;
        let about = About { drive: name.to_owned(), data };
        let write = || -> io::Result<()> {
            let body = postcard::to_extend(&about, vec![0; HEAD]);
            let mut file = body
                .and_then(|body| postcard::to_extend(&*drive, body))
                .map_err(|error| io::Error::other(format!("the drive cannot be written down: {error}")))?;
            let (sum, length) = (crc32c::crc32c(&file[HEAD..]), (file.len() - HEAD) as u64);
            let mut head = MAGIC.to_vec();
            head.extend(FORMAT.to_le_bytes());
            head.extend(sum.to_le_bytes());
            head.extend(length.to_le_bytes());
            file[..HEAD].copy_from_slice(&head);
            let mut draft = File::create(self.draft())?;
            draft.write_all(&file)?;
            draft.sync_all()?;
            fs::rename(self.draft(), &self.path)
        };
        write().map_err(self.failed())
    }

    /// What is behind the head of a file, if it is as it was written.
    fn checked<'f>(&self, file: &'f [u8]) -> Result<&'f [u8], StateError> {
        let path = self.path.clone();
        if !file.starts_with(MAGIC) {
            return Err(StateError::NoState { path });
        }
        let Some((head, body)) = file.split_at_checked(HEAD) else {
            return Err(StateError::Damaged { path, what: "it is cut off" });
        };
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("these are four bytes"));
        let [format, sum] = [MAGIC.len(), MAGIC.len() + 4].map(word);
        if format != FORMAT {
            return Err(StateError::Format { path, found: format });
        }
        let length = u64::from_le_bytes(head[HEAD - 8..].try_into().expect("these are eight bytes"));
        if length != body.len() as u64 {
            return Err(StateError::Damaged { path, what: "it is not as long as it says" });
        }
        if sum != crc32c::crc32c(body) {
            return Err(StateError::Damaged { path, what: "its checksum is wrong" });
        }
        Ok(body)
    }

    /// Where it is written before it takes the place of the one before.
    fn draft(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        name.into()
    }

    fn failed(&self) -> impl Fn(io::Error) -> StateError + use<> {
        let path = self.path.clone();
        move |cause| StateError::File { path: path.clone(), cause }
    }
}

/// Has a drive finish what it was asked for, and write what it holds to where it stays.
fn settle(drive: &mut Device) {
    while drive.next_event().is_some() {
        drive.complete(block::Nanos::MAX);
    }
    drive.submit(drive.now(), Tag(0), Request::FLUSH);
    while drive.next_event().is_some() {
        drive.complete(block::Nanos::MAX);
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
