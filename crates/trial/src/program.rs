//! Other programs, each run to its end within a time limit.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use host::program;
use thiserror::Error;

use crate::memory::MemoryLimit;
use crate::running::Running;
use crate::task::Task;
use crate::{Aftermath, Stage, TrialError};

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

impl Ended {
    /// What was left by one that ended so, and had said this.
    pub(crate) fn of(status: ExitStatus, [stdout, stderr]: [String; 2]) -> Self {
        Self { stdout, stderr, code: status.code() }
    }

    /// The last line that says anything, of standard error if that has one.
    pub fn last_words(&self) -> String {
        let last = |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned());
        let code = || self.code.map_or("it was ended by a signal".to_owned(), |code| format!("exit code {code}"));
        last(&self.stderr).or_else(|| last(&self.stdout)).unwrap_or_else(code)
    }
}

/// Where programs are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools(Option<PathBuf>);

impl Tools {
    /// By the search path, and then where administrators' programs are.
    pub const fn of_system() -> Self {
        Self(None)
    }

    /// In this folder alone.
    pub fn within(folder: &Path) -> Self {
        Self(Some(folder.to_owned()))
    }

    /// Whether a program is installed.
    pub fn has(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    /// Where a program is; none if it is not installed.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let within = |folder: &PathBuf| Some(folder.join(program)).filter(|path| path.is_file());
        self.0.as_ref().map_or_else(|| program::find(program), within)
    }

    /// The command that runs a program.
    ///
    /// # Errors
    /// If it is not installed.
    pub(crate) fn command(&self, program: &str) -> Result<Command, ProgramError> {
        let missing = || ProgramError::Missing { program: program.to_owned() };
        self.find(program).map(|path| program::at(&path)).ok_or_else(missing)
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// If it is not there, does not start, or takes longer than `limit`.
    pub fn run<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S], limit: Duration) -> Result<Ended, ProgramError> {
        let mut running = Running::start(self.command(program)?.args(arguments), program)?;
        let status = running.wait::<ProgramError>(limit, || Ok(()))?;
        Ok(Ended::of(status, running.said()))
    }

    /// The same of a program that works on the stage, in limited memory if that is given: it is ended where the trial
    /// is
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
        command.args(arguments);
        if let Some(memory) = memory {
            command = memory.around(&command);
        }
        Task::start(aftermath, &mut command)?.end(stage, limit)
    }
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
