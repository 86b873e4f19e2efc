//! Kinds of trials, as far as a plan has to know them.

use block::{Bytes, Nanos};

use crate::{Choice, Choices, ChoicesError};

/// The kinds of trials that a plan can ask for. Whoever reads a plan gives those that it can carry out.
pub type Experiments = &'static [&'static dyn Experiment];

/// A kind of trial: what it can be told, what it needs and what it costs. How it is done is told where it is done.
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
    /// for the stage, `FOLDER` for where it is mounted. They are for `--dry-run`.
    fn commands(&self, choices: &Choices) -> Vec<String>;

    /// What this machine lacks for it, with what to do about it: a program, a right, a feature of the kernel. None if
    /// it can be done here.
    fn unavailable(&self, choices: &Choices) -> Option<String>;

    /// About how long one go takes, for the progress bar and `--dry-run`.
    fn cost(&self, choices: &Choices) -> Nanos;

    /// About how many bytes one go writes to the drive, for `--dry-run`.
    fn writes(&self, choices: &Choices) -> Bytes;
}
