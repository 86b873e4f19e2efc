//! Other programs, each run to its end within a time limit.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::program;
use crate::running::{ProgramError, Running};

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

impl Ended {
    /// What was left by one that ended so, and had said this.
    pub fn of(status: ExitStatus, [stdout, stderr]: [String; 2]) -> Self {
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
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let within = |folder: &PathBuf| Some(folder.join(program)).filter(|path| path.is_file());
        self.0.as_ref().map_or_else(|| program::find(program), within)
    }

    /// The command that runs a program.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn command(&self, program: &str) -> Result<Command, ProgramError> {
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
}

#[cfg(test)]
pub(crate) mod tests;
