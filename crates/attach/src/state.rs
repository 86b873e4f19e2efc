//! The state of a drive in a file: what it has written where, how worn it is, what it has counted.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use block::{Bytes, Lba, Op, Request, SECTOR, Tag};
use drive::preset::Preset;
use drive::{Device, Drive};
use host::open;
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::data::{DataFile, FileStamp};
use crate::port::shielded;

/// How a file of this kind begins.
pub(crate) const MAGIC: &[u8; 12] = b"assay drive\n";
/// The form of what follows: the fields of the drives' own types, in order. Any change to these makes another.
const FORMAT: u32 = 31;
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
        "{} has format {found}, and this version of assay reads format {FORMAT}; use the version that wrote it, or \
         remove it to start with a new drive",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// It is not as it was written.
    #[error("{} is damaged: {what}; remove it to start with a new drive; the data in --backing is kept", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// It is another drive's.
    #[error(
        "{} is the state of {found}{}, not of {wanted}; attach the former, or give another --state",
        path.display(),
        if found == wanted { " with other parameters, as in another version of assay" } else { "" }
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
        "{} was saved with data of {expected}, and {} has {found}; this is other data: give the matching file, or \
         another --state",
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
pub(crate) struct About {
    pub(crate) drive: String,
    pub(crate) data: Option<FileStamp>,
}

/// A drive that goes on from a file.
#[derive(Debug)]
pub struct Resumed {
    pub drive: Device,
    /// Whether its data was written after its state was saved, as when its server was killed: then the drive does not
    /// know of what was written since.
    pub is_behind: bool,
    /// Whether its data is as it was when its state was saved: so assay wrote both.
    pub knows_data: bool,
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
    /// If no file can be made there, or something is there that is no state of a drive of this user's.
    pub fn prepare(&self) -> Result<(), StateError> {
        self.before()?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        access(folder, Access::WRITE_OK).map_err(|errno| self.failed()(errno.into()))
    }

    /// The state that is there, which is all that may be replaced; none if nothing is.
    fn before(&self) -> Result<Option<fs::File>, StateError> {
        let mut file = match open::own_file_to_read(&self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(self.failed())?,
        };
        let mut start = [0; MAGIC.len()];
        match file.read_exact(&mut start) {
            Ok(()) if start == *MAGIC => Ok(Some(file)),
            _ => Err(StateError::NoState { path: self.path.clone() }),
        }
    }

    /// The drive of this preset as it was when it was saved, with its data in `backing`, where that is given.
    ///
    /// # Errors
    /// If it is another drive's or of other data, or is damaged.
    pub fn resume(&self, preset: &Preset, backing: Option<&DataFile>) -> Result<Resumed, StateError> {
        let path = || self.path.clone();
        let damaged = |what| StateError::Damaged { path: path(), what };
        let body = self.body(preset.capacity())?;
        let (about, rest) = postcard::take_from_bytes::<About>(&body).map_err(|_| damaged("its header is invalid"))?;
        let other = || StateError::OtherDrive { path: path(), found: about.drive.clone(), wanted: preset.name.clone() };
        if about.drive != preset.name {
            return Err(other());
        }
        let drive: Device = postcard::from_bytes(rest).map_err(|_| damaged("it describes no drive"))?;
        if drive.spec() != preset.spec {
            return Err(other());
        }
        if shielded(|| works(&drive)) != Some(true) {
            return Err(damaged("it describes an inconsistent drive"));
        }
        let is_behind = match (about.data, backing) {
            (Some(expected), Some(backing)) => {
                let found = backing.before();
                if found.length != expected.length {
                    let (backing, expected, found) = (backing.path().to_owned(), expected.length, found.length);
                    return Err(StateError::OtherData { path: path(), backing, expected, found });
                }
                found.written != expected.written
            }
            _ => false,
        };
        let knows_data = about.data.is_some() && backing.is_some() && !is_behind;
        Ok(Resumed { drive, is_behind, knows_data })
    }

    /// Saves the state of the drive that is called `name`, whose data is in `backing`, where that is kept. What it holds in
    /// volatile memory is flushed first; nothing may be asked of it any more.
    ///
    /// # Errors
    /// If it cannot be written. What was there before is there still then.
    pub fn save(&self, name: &str, drive: &mut Device, backing: Option<&DataFile>) -> Result<(), StateError> {
        settle(drive);
        let data = backing.map(DataFile::now).transpose().map_err(self.failed())?;
        let file = self.text(&About { drive: name.to_owned(), data }, drive)?;
        // Something else may have come there since.
        self.before()?;
        open::replace_durably(&self.path, &file).map_err(self.failed())
    }

    /// The drive that was [kept](Self::keep) here under these words, and is made as `like` is; none if nothing is here.
    ///
    /// # Errors
    /// If something else is here, or it is damaged.
    pub fn kept(&self, made_by: &str, like: &Device) -> Result<Option<Device>, StateError> {
        if self.before()?.is_none() {
            return Ok(None);
        }
        let damaged = |what| StateError::Damaged { path: self.path.clone(), what };
        let body = self.body(like.shape().capacity)?;
        let (about, rest) = postcard::take_from_bytes::<About>(&body).map_err(|_| damaged("its header is invalid"))?;
        let drive: Device = postcard::from_bytes(rest).map_err(|_| damaged("it describes no drive"))?;
        if about.drive != made_by || drive.spec() != like.spec() || drive.specimen() != like.specimen() {
            let (found, wanted) = (about.drive, made_by.to_owned());
            return Err(StateError::OtherDrive { path: self.path.clone(), found, wanted });
        }
        match shielded(|| works(&drive)) {
            Some(true) => Ok(Some(drive)),
            _ => Err(damaged("it describes an inconsistent drive")),
        }
    }

    /// Keeps the state of a drive at rest under words that say what made it, if it is no longer than `most`.
    ///
    /// # Errors
    /// If it cannot be written, or is longer.
    pub fn keep(&self, made_by: &str, drive: &Device, most: Bytes) -> Result<(), StateError> {
        let file = self.text(&About { drive: made_by.to_owned(), data: None }, drive)?;
        if file.len() as u64 > most.get() {
            return Err(self.failed()(io::ErrorKind::FileTooLarge.into()));
        }
        open::replace(&self.path, &file).map_err(self.failed())
    }

    /// What a file says of this drive.
    fn text(&self, about: &About, drive: &Device) -> Result<Vec<u8>, StateError> {
        let unwritable = |error| io::Error::other(format!("the drive's state cannot be saved: {error}"));
        packed(about, drive).map_err(unwritable).map_err(self.failed())
    }

    /// What is behind the head of the file, of a drive that holds so much, if it is as it was written.
    fn body(&self, capacity: Bytes) -> Result<Vec<u8>, StateError> {
        let absent = || self.failed()(io::ErrorKind::NotFound.into());
        let file = self.before()?.ok_or_else(absent)?;
        let found = file.metadata().map_err(self.failed())?.len();
        unpacked(file, found, capacity).map_err(|flaw| match flaw {
            Flaw::Format(found) => StateError::Format { path: self.path.clone(), found },
            Flaw::Damaged(what) => StateError::Damaged { path: self.path.clone(), what },
            Flaw::Io(cause) => self.failed()(cause),
        })
    }

    fn failed(&self) -> impl Fn(io::Error) -> StateError + use<> {
        let path = self.path.clone();
        move |cause| StateError::File { path: path.clone(), cause }
    }
}

/// What is wrong with a state.
pub(crate) enum Flaw {
    /// Another version of the program wrote it.
    Format(u32),
    /// It is not as it was written.
    Damaged(&'static str),
    Io(io::Error),
}

/// The state of a drive with what it is of, behind the head by which it is known.
pub(crate) fn packed(about: &About, drive: &Device) -> postcard::Result<Vec<u8>> {
    let body = postcard::to_extend(about, vec![0; HEAD]).and_then(|body| postcard::to_extend(drive, body));
    let mut all = body?;
    let (sum, length) = (crc32c::crc32c(&all[HEAD..]), (all.len() - HEAD) as u64);
    let mut head = MAGIC.to_vec();
    head.extend(FORMAT.to_le_bytes());
    head.extend(sum.to_le_bytes());
    head.extend(length.to_le_bytes());
    all[..HEAD].copy_from_slice(&head);
    Ok(all)
}

/// What is behind the head, if it is as it was written: `rest` is all behind the magic, and `found` the length of the whole.
pub(crate) fn unpacked(mut rest: impl Read, found: u64, capacity: Bytes) -> Result<Vec<u8>, Flaw> {
    let mut head = [0; HEAD - MAGIC.len()];
    rest.read_exact(&mut head).map_err(|_| Flaw::Damaged("it is truncated"))?;
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("these are four bytes"));
    let [format, sum] = [0, 4].map(word);
    if format != FORMAT {
        return Err(Flaw::Format(format));
    }
    let length = u64::from_le_bytes(head[8..].try_into().expect("these are eight bytes"));
    if length.checked_add(HEAD as u64) != Some(found) {
        return Err(Flaw::Damaged("its length does not match its header"));
    }
    if length > most_for(capacity) {
        return Err(Flaw::Damaged("it is longer than the state of such a drive can be"));
    }
    let mut body = Vec::new();
    rest.take(length).read_to_end(&mut body).map_err(Flaw::Io)?;
    if sum != crc32c::crc32c(&body) {
        return Err(Flaw::Damaged("its checksum is wrong"));
    }
    Ok(body)
}

/// The longest state of a drive that holds so much: four times what a full drive takes with as much spare flash as it has,
/// and something for all that does not grow with it.
fn most_for(capacity: Bytes) -> u64 {
    (64 << 20) + capacity.get() / 64
}

/// Whether a drive that was read does what drives do. Its checksum says that it is as it was written, not by whom.
pub(crate) fn works(drive: &Device) -> bool {
    let (mut copy, shape) = (drive.clone(), drive.shape());
    let block = shape.block.max(Bytes::from_kib(4));
    let sectors = block.get() / SECTOR.get();
    let step = shape.capacity.get() / block.get() / 64 * sectors;
    settle(&mut copy);
    for place in 0..64 {
        for op in [Op::Read, Op::Write] {
            copy.submit(copy.now(), Tag(0), Request::new(op, Lba::new(place * step), sectors as u32));
            settle(&mut copy);
        }
    }
    copy.next_event().is_none()
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
