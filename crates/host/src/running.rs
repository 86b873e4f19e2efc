//! A program that has been started, and what it writes.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use thiserror::Error;

use crate::program;

/// How often a program is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a program that is being replaced just now may take until it can be started.
const BUSY: Duration = Duration::from_secs(10);

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
    /// The system does not say whether it has ended.
    #[error("`{program}` was started, but its status is unknown: {reason}")]
    Lost {
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

/// A program that has been started; if it still runs when this is dropped, it is ended with all of its group.
#[derive(Debug)]
pub struct Running {
    program: String,
    child: Child,
    /// What it writes to standard output and standard error, where that goes to no file.
    output: Option<[JoinHandle<String>; 2]>,
}

impl Running {
    /// Starts a program that is called so, without input and in no language but its own. What it writes is kept.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(command: &mut Command, program: &str) -> Result<Self, ProgramError> {
        Self::piped(command, program, program::start)
    }

    /// The same of a program that may write to these devices and folders alone.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_on(command: &mut Command, program: &str, paths: &[&Path]) -> Result<Self, ProgramError> {
        Self::piped(command, program, |command| program::start_on(command, paths))
    }

    fn piped(
        command: &mut Command,
        program: &str,
        start: impl Fn(&mut Command) -> io::Result<Child>,
    ) -> Result<Self, ProgramError> {
        let mut running = Self::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()), program, start)?;
        // Both are read as they come, or a full pipe would stop the program.
        running.output = Some([gather(running.child.stdout.take()), gather(running.child.stderr.take())]);
        Ok(running)
    }

    /// The same with its output to a file.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_with_log(command: &mut Command, program: &str, log: &File) -> Result<Self, ProgramError> {
        let cannot = |error: io::Error| ProgramError::Start { program: program.to_owned(), reason: error.to_string() };
        let [stdout, stderr] = [log.try_clone().map_err(cannot)?, log.try_clone().map_err(cannot)?];
        Self::spawn(command.stdout(stdout).stderr(stderr), program, program::start)
    }

    fn spawn(
        command: &mut Command,
        program: &str,
        start: impl Fn(&mut Command) -> io::Result<Child>,
    ) -> Result<Self, ProgramError> {
        let (program, began) = (program.to_owned(), Instant::now());
        command.stdin(Stdio::null()).env("LC_ALL", "C");
        loop {
            match start(command) {
                Ok(child) => return Ok(Self { program, child, output: None }),
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && began.elapsed() < BUSY => {
                    thread::sleep(PAUSE);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(ProgramError::Missing { program }),
                Err(error) => return Err(ProgramError::Start { program, reason: error.to_string() }),
            }
        }
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal; one that has ended hears none.
    pub fn signal(&self, signal: Signal) {
        self.number().map(|number| kill_process(number, signal));
    }

    /// How it has ended; none while it runs.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, ProgramError> {
        let lost = |error: io::Error| ProgramError::Lost { program: self.program.clone(), reason: error.to_string() };
        self.child.try_wait().map_err(lost)
    }

    /// Waits until it has ended, for as long as `goes_on` has no objection.
    ///
    /// # Errors
    /// That objection, or if it takes longer than `limit`.
    pub fn wait<E>(&mut self, limit: Duration, goes_on: impl Fn() -> Result<(), E>) -> Result<ExitStatus, E>
    where
        E: From<ProgramError>,
    {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            goes_on()?;
            if began.elapsed() > limit {
                return Err(ProgramError::Slow { program: self.program.clone(), limit }.into());
            }
            thread::sleep(PAUSE);
        }
    }

    /// What it has written, once it has ended: to standard output, and to standard error.
    pub fn said(&mut self) -> [String; 2] {
        let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
        self.output.take().map(|output| output.map(text)).unwrap_or_default()
    }

    fn number(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Ok(None), Some(number)) = (self.child.try_wait(), self.number()) {
            // Where it leads a group, those that it has started are in it.
            kill_process_group(number, Signal::KILL).or_else(|_| kill_process(number, Signal::KILL)).ok();
        }
        self.child.wait().ok();
    }
}

/// Reads all that comes by a pipe, beside what the caller does.
fn gather(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
