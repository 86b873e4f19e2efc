//! What a boot is worked at with: the stage, what is to be undone, a folder for the while.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::programs;
use crate::task::Task;
use crate::{Aftermath, ProgramError, Promise, Stage, TrialError, Undo};

/// What a boot is worked at with.
#[derive(Debug)]
pub struct Work<'w> {
    /// Where it boots from.
    pub stage: &'w Stage,
    /// What is to be undone.
    pub aftermath: &'w Aftermath,
    folder: PathBuf,
    _promise: Promise,
}

impl<'w> Work<'w> {
    /// With a new folder for sockets and the like, which goes away with this.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(stage: &'w Stage, aftermath: &'w Aftermath) -> Result<Self, TrialError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // The path is short, because that of a socket must be.
        let folder = PathBuf::from(format!("/run/assay/boot-{}-{number}", std::process::id()));
        let promise = aftermath.promise(Undo::Remove(folder.clone()))?;
        fs::create_dir_all(&folder).map_err(TrialError::at(&folder))?;
        Ok(Self { stage, aftermath, folder, _promise: promise })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a program to its end, which must be a good one; what it wrote. `mark` is a part of its command line that no
    /// other program's has.
    ///
    /// # Errors
    /// If it is not installed, fails, takes longer than `limit`, or the stage is stopped.
    pub fn run(&self, command: &mut Command, mark: &str, limit: Duration) -> Result<String, TrialError> {
        Ok(Task::start(self.aftermath, command, mark)?.finish(self.stage, limit)?.stdout)
    }

    /// Says no when the stage is stopped.
    ///
    /// # Errors
    /// If it is.
    pub fn go_on(&self) -> Result<(), TrialError> {
        if self.stage.is_stopped() { Err(TrialError::Interrupted) } else { Ok(()) }
    }
}

/// The command that runs a program, wherever it is.
///
/// # Errors
/// If it is not installed.
pub fn command(program: &str) -> Result<Command, TrialError> {
    let missing = || ProgramError::Missing { program: program.to_owned() };
    Ok(Command::new(programs::find(program).ok_or_else(missing)?))
}
