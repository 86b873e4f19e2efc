//! Other programs, each run to its end within a time limit.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

/// How often a program is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The code it ended with; none where a signal ended it.
    pub code: Option<i32>,
}

/// Why a program did not come to its end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// It is not installed.
    #[error("`{program}` is not installed; `assay doctor` says how to get it")]
    Missing {
        /// Its name.
        program: String,
    },
    /// It could not be started.
    #[error("`{program}` could not be started: {reason}")]
    Start {
        /// Its name.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// It took too long and was ended.
    #[error("`{program}` did not end within {} s and was stopped", limit.as_secs())]
    Slow {
        /// Its name.
        program: String,
        /// How long it was waited for.
        limit: Duration,
    },
}

/// Runs a program that the search path has, or the folders of the system's administrator.
///
/// # Errors
/// If it is not there, does not start, or takes longer than `limit`.
pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S], limit: Duration) -> Result<Ended, ProgramError> {
    let path = find(program).ok_or_else(|| ProgramError::Missing { program: program.to_owned() })?;
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("LC_ALL", "C");
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => ProgramError::Missing { program: program.to_owned() },
        _ => ProgramError::Start { program: program.to_owned(), reason: error.to_string() },
    })?;
    // Both are read as they come, or a full pipe would stop the program.
    let stdout = gather(child.stdout.take());
    let stderr = gather(child.stderr.take());
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < limit => thread::sleep(PAUSE),
            _ => {
                // Whether or not it could still be ended, it is not waited for any longer.
                let _ = child.kill();
                let _ = child.wait();
                return Err(ProgramError::Slow { program: program.to_owned(), limit });
            }
        }
    };
    let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
    Ok(Ended { stdout: text(stdout), stderr: text(stderr), code: status.code() })
}

/// Where a program is, by the search path and then where administrators' programs are.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn gather(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_program_says_is_kept_even_if_it_is_much() {
        let ended = run("sh", &["-c", "yes | head -c 300000; echo no >&2; exit 3"], LONG).unwrap();
        assert_eq!((ended.stdout.len(), ended.stderr.as_str(), ended.code), (300_000, "no\n", Some(3)));
    }

    #[test]
    fn a_program_that_is_not_there_or_does_not_end_is_told() {
        let said = run::<&str>("no-such-program", &[], LONG).unwrap_err().to_string();
        assert!(said.contains("not installed") && said.contains("assay doctor"), "{said}");
        let said = run("sh", &["-c", "exec sleep 100"], Duration::from_millis(20)).unwrap_err().to_string();
        assert!(said.contains("did not end"), "{said}");
    }
}
