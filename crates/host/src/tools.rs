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

/// Programs of tests in the place of others.
#[cfg(test)]
pub mod fakes {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// A program in `folder` that notes what it was asked and then does this.
    pub fn fake(folder: &Path, name: &str, script: &str) {
        let path = folder.join(name);
        let folder = folder.display();
        fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >> {folder}/asked\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the programs in `folder` were asked, in order.
    pub fn asked(folder: &Path) -> Vec<String> {
        fs::read_to_string(folder.join("asked")).unwrap_or_default().lines().map(str::to_owned).collect()
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
