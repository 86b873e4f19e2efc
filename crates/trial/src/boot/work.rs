//! What a boot is worked at with: the stage, what is to be undone, a folder for the while.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use host::RUNTIME_FOLDER;

use crate::folder::PrivateFolder;
use crate::task::HelperProcess;
use crate::{Cleanup, Tools, TrialDevice, TrialError};

/// What a boot is worked at with.
#[derive(Debug)]
pub struct BootTools<'w> {
    /// Where it boots from.
    pub stage: &'w TrialDevice,
    /// What is to be undone.
    pub aftermath: &'w Cleanup,
    folder: PrivateFolder,
}

impl<'w> BootTools<'w> {
    /// With a new folder for sockets and the like, which goes away with this.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(stage: &'w TrialDevice, aftermath: &'w Cleanup) -> Result<Self, TrialError> {
        // A short path, because that of a socket must be.
        Ok(Self { stage, aftermath, folder: PrivateFolder::new(RUNTIME_FOLDER, "boot", aftermath)? })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program to its end, which must be a good one; what it wrote.
    ///
    /// # Errors
    /// If it is not installed, fails, takes longer than `limit`, or the stage is stopped.
    pub fn run(&self, command: &mut Command, limit: Duration) -> Result<String, TrialError> {
        // What it keeps for a moment, as apt does of its lists, is kept where this run may write.
        command.env("TMPDIR", self.folder());
        Ok(HelperProcess::start(self.aftermath, command)?.finish(self.stage, limit)?.stdout)
    }
}

/// The command that runs a program, wherever it is.
///
/// # Errors
/// If it is not installed.
pub fn command(program: &str) -> Result<Command, TrialError> {
    Ok(Tools::of_system().command(program)?)
}
