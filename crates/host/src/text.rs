//! Texts that people write: plans, drives, job files, settings.
//!
//! What a path leads to is looked at before it is opened: a device could do something when it is opened, and reading one
//! or a FIFO may never end. So a text comes from a regular file, or from a pipe that the command line names, and its length
//! is bounded.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use thiserror::Error;

use crate::open::{again, handle};

/// Why a path holds no text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// What the system says.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something that is not read to its end.
    #[error("it is a {0}, not a file")]
    Kind(&'static str),
    /// More than makes sense.
    #[error("it is longer than {} KiB", .0 >> 10)]
    Long(u64),
    /// A pipe that nobody writes to.
    #[error("the FIFO has no writer; start it first")]
    NoWriter,
    /// Bytes.
    #[error("it is not UTF-8 text")]
    NotText,
}

impl From<TextError> for io::Error {
    fn from(error: TextError) -> Self {
        match error {
            TextError::Io(error) => error,
            TextError::Kind(_) | TextError::NoWriter => Self::new(io::ErrorKind::InvalidInput, error.to_string()),
            TextError::Long(_) => Self::new(io::ErrorKind::FileTooLarge, error.to_string()),
            TextError::NotText => Self::new(io::ErrorKind::InvalidData, error.to_string()),
        }
    }
}

/// Opens a regular file to be read. Nothing else is opened, not even for a moment.
///
/// # Errors
/// If it is something else, or cannot be read.
pub fn regular(path: &Path) -> Result<File, TextError> {
    regular_of(&handle(path)?)
}

/// Opens what a handle refers to, if that is a regular file, to be read.
///
/// # Errors
/// As those of [`regular`].
pub fn regular_of(handle: &File) -> Result<File, TextError> {
    match kind(handle)? {
        None => Ok(again(handle, false, OFlags::NONBLOCK | OFlags::NOCTTY)?),
        Some(kind) => Err(TextError::Kind(kind)),
    }
}

/// Opens a regular file or a pipe to be read as it comes, of whatever length.
///
/// # Errors
/// If it is something else, or cannot be read.
pub fn stream(path: &Path) -> Result<File, TextError> {
    let handle = handle(path)?;
    match kind(&handle)? {
        None => Ok(again(&handle, false, OFlags::NOCTTY)?),
        Some(PIPE) => written(again(&handle, false, OFlags::NONBLOCK | OFlags::NOCTTY)?),
        Some(kind) => Err(TextError::Kind(kind)),
    }
}

/// Waits until somebody has written to a pipe, and has reads wait for the rest from then on.
fn written(pipe: File) -> Result<File, TextError> {
    let patience = Timespec::try_from(PATIENCE).expect("a few seconds are a time");
    if poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&patience)).map_err(io::Error::from)? == 0 {
        let words = "nothing was written to it; start its writer first";
        return Err(io::Error::new(io::ErrorKind::TimedOut, words).into());
    }
    fcntl_setfl(&pipe, OFlags::empty()).map_err(io::Error::from)?;
    Ok(pipe)
}

/// The bytes of a regular file or of a pipe, at most `limit` of them. A shell makes pipes of `<(command)`; one is
/// waited for, as its writer may need time.
///
/// # Errors
/// If it is something else, longer, or cannot be read.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, TextError> {
    let handle = handle(path)?;
    match kind(&handle)? {
        None | Some(PIPE) => bytes_of(again(&handle, false, OFlags::NONBLOCK | OFlags::NOCTTY)?, limit),
        Some(kind) => Err(TextError::Kind(kind)),
    }
}

/// The bytes of an open file, at most `limit` of them.
///
/// # Errors
/// If there are more, or they cannot be read.
pub(crate) fn bytes_of(mut file: File, limit: u64) -> Result<Vec<u8>, TextError> {
    let mut bytes = Vec::new();
    await_writer(&mut file, &mut bytes)?;
    file.take(limit.saturating_add(1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(TextError::Long(limit)) } else { Ok(bytes) }
}

/// The same of what must be text.
///
/// # Errors
/// As those of [`bytes`], and if it is no text.
pub fn text(path: &Path, limit: u64) -> Result<String, TextError> {
    String::from_utf8(bytes(path, limit)?).map_err(|_| TextError::NotText)
}

/// Waits until something of a pipe can be read, which of a regular file is at once; what was read goes into `bytes`.
fn await_writer(file: &mut File, bytes: &mut Vec<u8>) -> Result<(), TextError> {
    let mut first = [0];
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        match file.read(&mut first) {
            // Nobody writes yet, or the file is empty.
            Ok(0) if file.metadata()?.is_file() => return Ok(()),
            Ok(0) => thread::sleep(PAUSE),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error.into()),
            read => {
                bytes.extend(first.iter().take(read.unwrap_or_default()));
                // From now on the writer is waited for.
                return Ok(rustix::fs::fcntl_setfl(&*file, OFlags::empty()).map_err(io::Error::from)?);
            }
        }
    }
    Err(TextError::NoWriter)
}

/// How long a writer of a pipe is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);
const PIPE: &str = "FIFO";

/// What it is where it is no regular file.
fn kind(handle: &File) -> io::Result<Option<&'static str>> {
    Ok(match handle.metadata()?.file_type() {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("folder"),
        kind if kind.is_block_device() => Some("block device"),
        kind if kind.is_char_device() => Some("character device"),
        kind if kind.is_fifo() => Some(PIPE),
        _ => Some("socket"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_bounded_and_no_device_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "abcd").unwrap();
        assert_eq!(text(&path, 4).unwrap(), "abcd");
        assert!(matches!(text(&path, 3), Err(TextError::Long(3))));
        std::fs::write(&path, [0xff]).unwrap();
        assert!(matches!(text(&path, 3), Err(TextError::NotText)));
        assert!(matches!(text(Path::new("/dev/zero"), 9), Err(TextError::Kind("character device"))));
        assert!(matches!(text(folder.path(), 9), Err(TextError::Kind("folder"))));
        assert!(matches!(text(&folder.path().join("none"), 9), Err(TextError::Io(_))));
    }

    #[test]
    fn a_pipe_is_read_and_is_no_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, rustix::fs::Mode::RWXU, 0).unwrap();
        assert!(matches!(regular(&fifo), Err(TextError::Kind(PIPE))));
        let writer = {
            let fifo = fifo.clone();
            std::thread::spawn(move || std::fs::write(fifo, "told").unwrap())
        };
        assert_eq!(text(&fifo, 9).unwrap(), "told");
        writer.join().unwrap();
    }
}
