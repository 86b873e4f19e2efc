//! Traces, read from their files for the replays that ask for them.

mod packed;
mod unnamed;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{Within, WithinError};
use thiserror::Error;
use workload::{Replay, Trace, TraceDigest, TraceError, TraceFormat, TraceReader, VOLUMES_APART, Workload};

use crate::plan::Plan;

/// What begins the name of a trace that is built in, and no file's.
pub const BUILTIN: &str = "builtin:";

/// The traces that are built in: a name and a text each.
const TRACES: [(&str, &str); 1] = [("boot", include_str!("../../../plans/traces/boot.txt"))];

/// The most processors of which blktrace has a file each.
const PROCESSORS_MAX: u32 = 4096;

/// Why the trace of a replay cannot be had.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum TraceFileError {
    /// The file is not there, or may not be read.
    #[error(
        "the trace {} cannot be read: {error}; read_iolog names a file, from the folder of the plan or, on the command \
         line and where a review is resumed, from the current one", path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The file is not one that a plan may name.
    #[error("the trace {} was not read: {error}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: WithinError,
    },
    /// No trace of this name is built in.
    #[error("there is no built-in trace `{BUILTIN}{name}`; there is {BUILTIN}{}", names())]
    Unknown {
        /// The name, without what begins it.
        name: String,
    },
    /// The text is no trace.
    #[error("the trace {}: {error}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// Where it is none, and why.
        #[source]
        error: TraceError,
    },
}

type TraceKey = (PathBuf, u32, Option<String>, Option<String>);

/// The traces that were read, each once however many cells replay it.
#[derive(Debug)]
pub struct Traces {
    /// Where they may lie; none where the command line names them.
    within: Option<Within>,
    /// By file and by how it is read: what its offsets are divided by, its format and its volume.
    read: BTreeMap<TraceKey, (Arc<Trace>, TraceDigest)>,
}

impl Traces {
    /// None yet; the command line names them, so that they may lie anywhere and come through pipes.
    pub fn anywhere() -> Self {
        Self { within: None, read: BTreeMap::new() }
    }

    /// None yet; a file names them, which has them beside it.
    pub fn within(within: Within) -> Self {
        Self { within: Some(within), read: BTreeMap::new() }
    }

    /// Gives every replay of `plan` its requests.
    ///
    /// # Errors
    /// If a file cannot be read or holds no trace.
    pub fn give(&mut self, plan: &mut Plan) -> Result<(), TraceFileError> {
        let mut workloads = plan.steps.iter_mut().flat_map(|step| step.action.kind_mut().workloads_mut());
        workloads.try_for_each(|workload| self.give_to(workload))
    }

    /// Gives every replay of `plan` its requests that is of a built-in trace, and reads no file.
    ///
    /// # Errors
    /// If there is no such built-in trace.
    pub(crate) fn give_builtin(plan: &mut Plan) -> Result<(), TraceFileError> {
        let mut traces = Self::anywhere();
        let workloads = plan.steps.iter_mut().flat_map(|step| step.action.kind_mut().workloads_mut());
        let is_builtin =
            |workload: &Workload| workload.replay.as_ref().is_some_and(|it| it.source.starts_with(BUILTIN));
        workloads.filter(|workload| is_builtin(workload)).try_for_each(|workload| traces.give_to(workload))
    }

    /// Gives `workload` its requests, if it is a replay.
    ///
    /// # Errors
    /// As those of [`Self::give`].
    pub fn give_to(&mut self, workload: &mut Workload) -> Result<(), TraceFileError> {
        let Some(replay) = &workload.replay else { return Ok(()) };
        let builtin = replay.source.strip_prefix(BUILTIN);
        // A name that begins like this is none of a file in any folder.
        let source = Path::new(&replay.source);
        let path = match &self.within {
            Some(within) if builtin.is_none() => within.path(source),
            _ => source.to_owned(),
        };
        let key = (path, replay.scale, replay.format.clone(), replay.volume.clone());
        let (trace, digest) = match self.read.get(&key) {
            Some(read) => read.clone(),
            None => {
                let read = match builtin {
                    Some(name) => read_builtin(name, replay)?,
                    None => read(&key.0, replay, self.within.as_ref())?,
                };
                self.read.entry(key).or_insert(read).clone()
            }
        };
        *workload = workload.replaying(trace, digest);
        Ok(())
    }
}

/// The names of the traces that are built in.
fn names() -> String {
    TRACES.map(|(name, _)| name).join(", ")
}

/// The trace that is built in by this name.
fn read_builtin(name: &str, replay: &Replay) -> Result<(Arc<Trace>, TraceDigest), TraceFileError> {
    let wrong = |error| TraceFileError::Trace { path: format!("{BUILTIN}{name}").into(), error };
    let found = TRACES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| TraceFileError::Unknown { name: name.to_owned() })?;
    reader(replay).text(text).map(|read| placed(read, replay)).map_err(wrong)
}

/// The trace in the file at `path`.
fn read(path: &Path, replay: &Replay, within: Option<&Within>) -> Result<(Arc<Trace>, TraceDigest), TraceFileError> {
    let wrong = |error| TraceFileError::Trace { path: path.to_owned(), error };
    let files = files(path, within)?;
    reader(replay).read(files).map(|read| placed(read, replay)).map_err(wrong)
}

/// How the trace of a replay is read.
fn reader(replay: &Replay) -> TraceReader<'_> {
    let volume = replay.volume.as_deref().filter(|volume| *volume != VOLUMES_APART);
    TraceReader { format: replay.format.as_deref(), volume, new_file: Some(unnamed::new_file) }
}

/// The trace that was read, with its requests where the replay has them.
fn placed((mut trace, format): (Trace, TraceFormat), replay: &Replay) -> (Arc<Trace>, TraceDigest) {
    if replay.volume.as_deref() == Some(VOLUMES_APART) {
        trace = trace.apart();
    }
    if replay.scale > 1 {
        let unit = trace.digest(format).unit;
        trace = trace.scaled(replay.scale, unit);
    }
    let digest = trace.digest(format);
    (Arc::new(trace), digest)
}

/// The files that are the trace at `path`, unpacked: one, or of blktrace's one for each processor. As with blkparse, the
/// name of a recording stands for its files.
fn files(path: &Path, within: Option<&Within>) -> Result<Vec<Box<dyn Read>>, TraceFileError> {
    let unpacked = |file: File| {
        packed::unpacked(Box::new(file)).map_err(|error| TraceFileError::Unreadable { path: path.to_owned(), error })
    };
    let Some((before, behind)) = processors(path) else {
        let first = open(path, within);
        let recording = PathBuf::from(format!("{}.blktrace.0", path.display()));
        return match first {
            Err(missing @ TraceFileError::Unreadable { .. }) if is_missing(&missing) && recording.exists() => {
                files(&recording, within)
            }
            first => Ok(vec![unpacked(first?)?]),
        };
    };
    let mut all = vec![];
    for processor in 0..PROCESSORS_MAX {
        match open(Path::new(&format!("{before}{processor}{behind}")), within) {
            Err(error) if is_missing(&error) && !all.is_empty() => break,
            // One processor's alone.
            Err(error) if is_missing(&error) => return Ok(vec![unpacked(open(path, within)?)?]),
            file => all.push(unpacked(file?)?),
        }
    }
    Ok(all)
}

fn is_missing(error: &TraceFileError) -> bool {
    matches!(error, TraceFileError::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound)
}

/// What stands before and behind the number of a processor in the name of a file of blktrace's.
fn processors(path: &Path) -> Option<(&str, &str)> {
    const MARK: &str = ".blktrace.";
    let path = path.to_str()?;
    let at = path.rfind(MARK)? + MARK.len();
    let digits = path[at..].bytes().take_while(u8::is_ascii_digit).count();
    let behind = &path[at + digits..];
    (digits > 0 && matches!(behind, "" | ".gz" | ".zst")).then(|| (&path[..at], behind))
}

/// Opens the file at `path`, if it may be read.
fn open(path: &Path, within: Option<&Within>) -> Result<File, TraceFileError> {
    let unreadable = |error| TraceFileError::Unreadable { path: path.to_owned(), error };
    match within {
        None if path == Path::new("-") => {
            host::open::stream(Path::new("/dev/stdin")).map_err(|error| unreadable(error.into()))
        }
        None => host::open::stream(path).map_err(|error| unreadable(error.into())),
        Some(within) => within.open(path).map_err(|error| match error {
            WithinError::Text(error) => unreadable(error.into()),
            error => TraceFileError::Refused { path: path.to_owned(), error },
        }),
    }
}

#[cfg(test)]
mod tests {
    use workload::{Pattern, Replay, TraceFormat};

    use super::*;

    fn given(name: &str, text: &[u8]) -> Result<Workload, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.log"), text).unwrap();
        let mut workload = Workload { replay: Some(Replay::of(name)), ..Workload::default() };
        let mut traces = Traces::within(Within::folder(folder.path()));
        traces.give_to(&mut workload).map_err(|error| error.to_string())?;
        let again = &mut Workload { replay: Some(Replay::of(name)), ..Workload::default() };
        std::fs::remove_file(folder.path().join("t.log")).unwrap();
        traces.give_to(again).expect("what was read once is not read again");
        assert_eq!(*again, workload);
        Ok(workload)
    }

    #[test]
    fn a_replay_is_given_the_requests_of_its_file() {
        let workload = given("t.log", b"fio version 2 iolog\nf read 0 8192\nf write 4096 4096").unwrap();
        assert_eq!((workload.pattern, workload.read_percent), (Pattern::RandRw, 50));
        let digest = workload.replay.unwrap().digest.unwrap();
        assert_eq!((digest.requests, digest.format), (2, TraceFormat::Iolog2));
        assert_eq!(digest.unit.get(), 4096);
    }

    #[test]
    fn a_boot_is_built_in() {
        let workload = given("builtin:boot", b"").unwrap();
        let digest = workload.replay.unwrap().digest.unwrap();
        assert_eq!(digest.format, TraceFormat::Timed);
        assert!(digest.requests > 500 && digest.flushes > 0 && digest.bytes.get() > 20 << 20, "{digest:?}");
        assert!(digest.end.get() <= 1 << 30, "it fits a drive of 1 GiB");
    }

    #[test]
    fn what_is_no_trace_is_told_with_its_file_and_line() {
        for (name, text, words) in [
            ("gone.log", &b""[..], "gone.log cannot be read: No such file"),
            ("", b"", "cannot be read: it is a folder"),
            ("t.log", b"hello\n", "t.log: `hello` is not the start of a known trace format"),
            ("t.log", b"fio version 2 iolog\nf read 0\n", "t.log: line 2"),
            ("t.log", b"fio version 2 iolog\nf read 0 \xff\n", "line 2"),
            ("t.log", b"\x07taea\0\0\0", "t.log: record 1: the file ends within it"),
            ("t.log", b"\0\x01\x02", "t.log: `000102` is not the start of a known trace format"),
            ("t.log", &[b'x'; 70_000], "line 1 is longer than 64 KiB"),
            ("t.log", b"", "no request"),
            ("builtin:soup", b"", "no built-in trace `builtin:soup`; there is builtin:boot"),
        ] {
            let said = given(name, text).expect_err(words);
            assert!(said.contains(words), "{said}");
        }
    }
}
