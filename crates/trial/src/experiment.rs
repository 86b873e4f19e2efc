//! Kinds of trials.

use std::path::PathBuf;

use block::Seed;
use host::{Machine, RUNTIME_FOLDER};
use plan::{Experiment, Experiments};

use crate::boot::Boot;
use crate::database::Database;
use crate::{Choices, Trial, TrialDevice, TrialError, cleanup, files};

/// Every kind of trial, in the order of the documentation.
pub const EXPERIMENTS: &[&dyn Procedure] =
    &[&files::Files, &files::Metadata, &files::Flood, &files::CrossCheck, &Database, &Boot];

/// The same, as far as a plan has to know them.
pub const KNOWN: Experiments = &{
    let mut known: [&dyn Experiment; EXPERIMENTS.len()] = [EXPERIMENTS[0]; EXPERIMENTS.len()];
    let mut at = 0;
    while at < known.len() {
        known[at] = EXPERIMENTS[at];
        at += 1;
    }
    known
};

/// How an experiment is done.
///
/// # Panics
/// If it is not among [`EXPERIMENTS`]: a plan was then read with others than are [`KNOWN`].
pub fn procedure(experiment: &dyn Experiment) -> &'static dyn Procedure {
    let name = experiment.name();
    let found = EXPERIMENTS.iter().copied().find(|procedure| procedure.name() == name);
    found.unwrap_or_else(|| panic!("plans ask for trials that are known here, and `{name}` is not"))
}

/// One go of a trial, besides where and what.
pub struct TrialContext<'g> {
    /// Random seed.
    pub seed: Seed,
    /// Hears what is being done now, in a few words for the progress line: `pgbench, 16 clients`.
    pub tell: &'g (dyn Fn(&str) + Sync),
}

/// A kind of trial with how it is done.
pub trait Procedure: Experiment {
    /// The folders that it writes to beside the stage and what is mounted from it: those of all trials, and its own.
    ///
    /// # Errors
    /// If one of assay's own is not there and cannot be made.
    fn folders(&self) -> Result<Vec<PathBuf>, TrialError> {
        cleanup::place()?;
        // In control groups memory is limited; they are the kernel's.
        Ok(vec![RUNTIME_FOLDER.into(), Machine::CONTROL_GROUPS.into()])
    }

    /// Does it once. What is on the stage is overwritten. However it ends, nothing is left behind: mounts, processes,
    /// settings of the kernel and files outside the stage are as they were.
    ///
    /// # Errors
    /// If something fails on the way, or [`TrialDevice::is_stopped`].
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError>;
}
