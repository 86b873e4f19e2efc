//! The stage made ready: the scheduler set, the file system made and mounted.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use block::{Bytes, Nanos};
use host::Machine;

use super::choices::recipe;
use crate::mount::MountedFileSystem;
use crate::scheduler::Scheduler;
use crate::{Choices, Cleanup, TrialContext, TrialDevice, TrialError};

/// The least that a file system leaves for itself of what it says is free, in percent: what its own records of the data
/// take, and the journal's tail.
const SPARE: u64 = 5;

/// A stage that is ready for a trial. Dropped, it is as it was found, but for the data on it.
#[derive(Debug)]
pub(super) struct PreparedDevice<'s> {
    stage: &'s TrialDevice,
    mounted: Option<MountedFileSystem>,
    scheduler: Scheduler,
    /// How many processes ran or waited for a device in the minute before; none where the kernel does not say.
    load: Option<f64>,
    /// What is promised is written down here.
    pub aftermath: Cleanup,
}

impl<'s> PreparedDevice<'s> {
    /// Sets the scheduler, makes the file system and mounts it, as the choices say.
    ///
    /// # Errors
    /// If the kernel or `mkfs` refuses something.
    pub(super) fn prepare(choices: &Choices, stage: &'s TrialDevice, go: &TrialContext) -> Result<Self, TrialError> {
        let load = Machine::here().load();
        let aftermath = Cleanup::begin()?;
        let scheduler = Scheduler::set(stage, choices.text("scheduler"), &aftermath)?;
        let recipe = recipe(choices).transpose()?;
        let make = |recipe| {
            (go.tell)(&format!("mkfs.{}", choices.text("fs")));
            MountedFileSystem::make(stage, recipe, &aftermath)
        };
        let mounted = recipe.map(make).transpose()?;
        let place = Self { stage, mounted, scheduler, load, aftermath };
        stage.continues().map(|()| place)
    }

    pub(super) fn stage(&self) -> &'s TrialDevice {
        self.stage
    }

    /// The folder that it is mounted in; none for a raw device.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.mounted.as_ref().map(MountedFileSystem::folder)
    }

    /// The file, or on a raw device that, in which the data called `name` lies.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().map_or_else(|| self.stage.path().to_owned(), |folder| folder.join(name))
    }

    /// Whether so much data finds room.
    ///
    /// # Errors
    /// If not, with how much would.
    pub(super) fn check_room(&self, needed: Bytes) -> Result<(), TrialError> {
        let room = match &self.mounted {
            Some(mounted) => Bytes::new(mounted.free()?.get() / 100 * (100 - SPARE)),
            None => self.stage.capacity(),
        };
        if needed <= room {
            return Ok(());
        }
        Err(TrialError::Lacks(format!(
            "{needed} of data do not fit {}, which has room for {room}; choose a smaller size",
            self.stage.path().display()
        )))
    }

    /// Whether so many files find room, where the file system has made room for a number of them beforehand.
    ///
    /// # Errors
    /// If not, with how many would.
    pub(super) fn check_files(&self, needed: u64) -> Result<(), TrialError> {
        let Some(folder) = self.folder() else { return Ok(()) };
        let found = rustix::fs::statvfs(folder).map_err(|errno| TrialError::at(folder)(errno.into()))?;
        if needed <= found.f_favail || found.f_files == 0 {
            return Ok(());
        }
        Err(TrialError::Lacks(format!(
            "{needed} files do not fit the file system, which has inodes for {}; choose fewer, or give mkfs an option for \
             more (-N of ext4)",
            found.f_favail
        )))
    }

    /// Writes what is in memory to the device, and forgets it. A raw device's cache is emptied by whoever opens it.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn empty_cache(&self) -> Result<(), TrialError> {
        self.mounted.as_ref().map_or(Ok(()), MountedFileSystem::empty_cache)
    }

    /// Waits until all that was written is on the device; how long that took.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn flush(&self) -> Result<Nanos, TrialError> {
        let path = self.folder().unwrap_or(self.stage.path());
        let file = File::open(path).map_err(TrialError::at(path))?;
        let began = Instant::now();
        let flushed = if self.mounted.is_some() { rustix::fs::syncfs(&file) } else { rustix::fs::fsync(&file) };
        flushed.map_err(|errno| TrialError::at(path)(errno.into()))?;
        Ok(Nanos::from_std(began.elapsed()))
    }

    /// What it is like, as conditions of a trial.
    pub(super) fn conditions(&self) -> Vec<(String, String)> {
        let mut conditions = self.mounted.as_ref().map(MountedFileSystem::conditions).unwrap_or_default();
        let system = rustix::system::uname();
        let kernel = format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy());
        conditions.push(("scheduler".to_owned(), self.scheduler.words.clone()));
        conditions.push(("kernel".to_owned(), kernel));
        conditions.extend(self.load.map(|load| ("load before".to_owned(), format!("{load:.2}"))));
        if self.stage.live().is_some() {
            let words = "includes the simulated drive, which runs in the same process";
            conditions.push(("CPU time".to_owned(), words.to_owned()));
        }
        conditions
    }

    /// What the machine had to do besides, if that was more than its processors can.
    pub(super) fn others(&self) -> Option<String> {
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
        let load = self.load.filter(|load| *load > cores as f64)?;
        Some(format!("The load average was {load:.1} on {cores} CPUs before"))
    }

    /// Unmounts, and says if that fails; the rest is restored.
    ///
    /// # Errors
    /// If it cannot be unmounted.
    pub(super) fn end(self) -> Result<(), TrialError> {
        self.mounted.map_or(Ok(()), MountedFileSystem::unmount)
    }
}
