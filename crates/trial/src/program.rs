//! Other programs, each run to its end within a time limit.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::memory::MemoryLimit;
use crate::{Aftermath, Stage, TrialError, Undo};

/// How often a program is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
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

impl Ended {
    /// The last line that says anything, of standard error if that has one.
    pub fn last_words(&self) -> String {
        let last = |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned());
        let code = || self.code.map_or("it was ended by a signal".to_owned(), |code| format!("exit code {code}"));
        last(&self.stderr).or_else(|| last(&self.stdout)).unwrap_or_else(code)
    }
}

/// Where programs are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools(Vec<PathBuf>);

impl Tools {
    /// By the search path, and then where administrators' programs are.
    pub fn of_system() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self(std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect())
    }

    /// In this folder alone.
    pub fn within(folder: &std::path::Path) -> Self {
        Self(vec![folder.to_owned()])
    }

    /// Whether a program is installed.
    pub fn has(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        self.0.iter().map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// If it is not there, does not start, or takes longer than `limit`.
    pub fn run<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S], limit: Duration) -> Result<Ended, ProgramError> {
        let mut command = self.command(program)?;
        Running::start(command.args(arguments), program, limit)?.end(limit, &|| false)
    }

    /// The same of a program that works on the stage, in limited memory if that is given: it is ended where the trial is
    /// stopped, also by force.
    ///
    /// # Errors
    /// As those of [`Tools::run`], and if the stage is stopped.
    pub(crate) fn run_on<S: AsRef<OsStr>>(
        &self,
        stage: &Stage,
        aftermath: &Aftermath,
        (program, arguments): (&str, &[S]),
        memory: Option<&MemoryLimit>,
        limit: Duration,
    ) -> Result<Ended, TrialError> {
        let mut command = self.command(program)?;
        // It leads a group, with which those that it starts are ended too.
        let running = Running::start(command.args(arguments).process_group(0), program, limit)?;
        let promise = aftermath.promise(Undo::End { pid: running.child.id(), command: program.to_owned() })?;
        memory.map_or(Ok(()), |memory| memory.bind(running.child.id()))?;
        let ended = running.end(limit, &|| stage.is_stopped());
        promise.keep()?;
        if stage.is_stopped() {
            return Err(TrialError::Interrupted);
        }
        Ok(ended?)
    }

    fn command(&self, program: &str) -> Result<Command, ProgramError> {
        let found = self.find(program).ok_or_else(|| ProgramError::Missing { program: program.to_owned() })?;
        let mut command = Command::new(found);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("LC_ALL", "C");
        Ok(command)
    }
}

/// A program that has been started.
struct Running {
    program: String,
    child: Child,
    begun: Instant,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl Running {
    fn start(command: &mut Command, program: &str, limit: Duration) -> Result<Self, ProgramError> {
        let (program, begun) = (program.to_owned(), Instant::now());
        let mut child = loop {
            match command.spawn() {
                Ok(child) => break child,
                // A program that is being replaced just now can be started in a moment.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && begun.elapsed() < limit => {
                    thread::sleep(PAUSE);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(ProgramError::Missing { program }),
                Err(error) => return Err(ProgramError::Start { program, reason: error.to_string() }),
            }
        };
        // Both are read as they come, or a full pipe would stop the program.
        let (stdout, stderr) = (gather(child.stdout.take()), gather(child.stderr.take()));
        Ok(Self { program, child, begun, stdout, stderr })
    }

    /// Waits for its end; it is killed if that does not come in time, or where it is to stop.
    fn end(mut self, limit: Duration, stop: &dyn Fn() -> bool) -> Result<Ended, ProgramError> {
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if self.begun.elapsed() < limit && !stop() => thread::sleep(PAUSE),
                _ => {
                    // Whether or not it could still be ended, it is not waited for any longer.
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(ProgramError::Slow { program: self.program, limit });
                }
            }
        };
        let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
        Ok(Ended { stdout: text(self.stdout), stderr: text(self.stderr), code: status.code() })
    }
}

/// Reads all that comes by a pipe, beside what the caller does.
pub(crate) fn gather(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
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
        let ended = Tools::of_system().run("sh", &["-c", "yes | head -c 300000; echo no >&2; exit 3"], LONG).unwrap();
        assert_eq!((ended.stdout.len(), ended.stderr.as_str(), ended.code), (300_000, "no\n", Some(3)));
    }

    #[test]
    fn a_program_that_is_not_there_or_does_not_end_is_told() {
        let said = Tools::of_system().run::<&str>("no-such-program", &[], LONG).unwrap_err().to_string();
        assert!(said.contains("not installed") && said.contains("assay doctor"), "{said}");
        let said =
            Tools::of_system().run("sh", &["-c", "exec sleep 100"], Duration::from_millis(20)).unwrap_err().to_string();
        assert!(said.contains("did not end"), "{said}");
    }
}
