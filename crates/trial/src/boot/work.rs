//! What a boot is worked at with: the stage, what is to be undone, a folder for the while.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::folder::Folder;
use crate::task::Task;
use crate::{Aftermath, Stage, Tools, TrialError};

/// Where its folder is; a short path, because that of a socket must be.
const FOLDER: &str = "/run/assay";

/// What a boot is worked at with.
#[derive(Debug)]
pub struct Work<'w> {
    /// Where it boots from.
    pub stage: &'w Stage,
    /// What is to be undone.
    pub aftermath: &'w Aftermath,
    folder: Folder,
}

impl<'w> Work<'w> {
    /// With a new folder for sockets and the like, which goes away with this.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(stage: &'w Stage, aftermath: &'w Aftermath) -> Result<Self, TrialError> {
        Ok(Self { stage, aftermath, folder: Folder::new(FOLDER, "boot", aftermath)? })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program to its end, which must be a good one; what it wrote.
    ///
    /// # Errors
    /// If it is not installed, fails, takes longer than `limit`, or the stage is stopped.
    pub fn run(&self, command: &mut Command, limit: Duration) -> Result<String, TrialError> {
        Ok(Task::start(self.aftermath, command)?.finish(self.stage, limit)?.stdout)
    }
}

/// The command that runs a program, wherever it is.
///
/// # Errors
/// If it is not installed.
pub fn command(program: &str) -> Result<Command, TrialError> {
    Ok(Tools::of_system().command(program)?)
}
