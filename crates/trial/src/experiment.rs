//! Kinds of trials.

use std::path::PathBuf;

use block::{Nanos, Seed};
use host::Machine;

use crate::aftermath;
use crate::boot::Boot;
use crate::database::Database;
use crate::{Choice, Choices, ChoicesError, Stage, Trial, TrialError, files};

/// Every kind of trial, in the order of the documentation.
pub const EXPERIMENTS: &[&dyn Experiment] =
    &[&files::Files, &files::Metadata, &files::Flood, &files::CrossCheck, &Database, &Boot];

/// One go of a trial, besides where and what.
pub struct Go<'g> {
    /// Seed of all random choices.
    pub seed: Seed,
    /// Hears what is being done now, in a few words for the progress line: `pgbench, 16 clients`.
    pub tell: &'g (dyn Fn(&str) + Sync),
}

/// A kind of trial: what it can be told, what it needs, and how it is done.
pub trait Experiment: std::fmt::Debug + Sync {
    /// The word after `do` in a plan, and in results: `files`.
    fn name(&self) -> &'static str;

    /// What it measures, in a sentence for documentation and reports.
    fn about(&self) -> &'static str;

    /// What it can be told, in the order of the documentation. A plan can sweep each of these.
    fn choices(&self) -> &'static [Choice];

    /// Whether the choices make sense together, without a look at the machine.
    ///
    /// # Errors
    /// What was found, what would be right and what to do.
    fn check(&self, choices: &Choices) -> Result<(), ChoicesError>;

    /// The commands of other programs that one go starts for what it was told, as one would type them: `DEVICE` stands
    /// for
    /// the stage, `FOLDER` for where it is mounted. They are for `--dry-run`.
    fn commands(&self, choices: &Choices) -> Vec<String>;

    /// What this machine lacks for it, with what to do about it: a program, a right, a feature of the kernel. None if
    /// it
    /// can be done here.
    fn lacks(&self, choices: &Choices) -> Option<String>;

    /// The folders that it writes to beside the stage and what is mounted from it: those of all trials, and its own.
    ///
    /// # Errors
    /// If one of assay's own is not there and cannot be made.
    fn folders(&self) -> Result<Vec<PathBuf>, TrialError> {
        aftermath::place()?;
        // In control groups memory is limited; they are the kernel's.
        Ok(vec![aftermath::PLACE.into(), Machine::CONTROL_GROUPS.into()])
    }

    /// About how long one go takes, for the progress bar and `--dry-run`.
    fn cost(&self, choices: &Choices) -> Nanos;

    /// About how many bytes one go writes to the drive, for `--dry-run`.
    fn writes(&self, choices: &Choices) -> block::Bytes;

    /// Does it once. What is on the stage is overwritten. However it ends, nothing is left behind: mounts, processes,
    /// settings of the kernel and files outside the stage are as they were.
    ///
    /// # Errors
    /// If something fails on the way, or [`Stage::is_stopped`].
    fn run(&self, choices: &Choices, stage: &Stage, go: &Go) -> Result<Trial, TrialError>;
}
