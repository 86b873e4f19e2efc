//! What a plan is carried out on.

use block::{Bytes, Nanos, Seed};
use engine::Measurement;
use workload::Workload;

use crate::LabError;

/// A cell of a step, to be measured so many times.
pub struct Job<'a> {
    /// The step's place in the plan.
    pub step: usize,
    /// The step and cell by name, for errors.
    pub place: (&'a str, String),
    /// What is run.
    pub workload: &'a Workload,
    /// The seed of each repeat that is still to be measured, with the repeat's number.
    pub repeats: Vec<(u32, Seed)>,
}

/// What takes the measurements of a job as it is finished, in whatever order jobs are, with a finding about the state
/// in which it was begun.
pub type Keep<'a> = dyn Fn(usize, Vec<(u32, Measurement)>, Option<&str>) -> Result<(), LabError> + Sync + 'a;

/// Hears what share of the work at hand has been done, from 0 to 1.
pub type Share<'a> = dyn Fn(f64) + Sync + 'a;

/// What a plan is carried out on: a simulated drive or a real target.
pub trait Subject {
    /// How much of it there is to use.
    fn capacity(&self) -> Bytes;

    /// The smallest request that it takes, of which all others are multiples.
    fn block(&self) -> Bytes;

    /// Whether a workload has its place here, as far as that can be said without running it.
    ///
    /// # Errors
    /// If its span, its alignment or the memory that it needs is not to be had.
    fn check(&self, workload: &Workload) -> Result<(), LabError>;

    /// Another, as new, with `changes` made to its parts: `drive.spare=12%&drive.gc.policy=fifo`.
    ///
    /// # Errors
    /// If it has no such parts, or the changes make no drive.
    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError>;

    /// Takes back what opening it has changed, because nothing will be run.
    ///
    /// # Errors
    /// If it fails.
    fn withdraw(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Forgets all data; a finding if that could only be done in part.
    ///
    /// # Errors
    /// If it fails.
    fn purge(&mut self) -> Result<Option<String>, LabError>;

    /// Leaves it alone for so long.
    fn idle(&mut self, time: Nanos);

    /// Runs a workload, leaving the state that this brings about.
    ///
    /// # Errors
    /// If it fails or completes nothing.
    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError>;

    /// Measures every job, handing over each as it is finished. Where a state can be cloned, every repeat
    /// starts from a clone of the state as it is, and that is left as it was.
    ///
    /// # Errors
    /// At the first failure; what was handed over before stays valid.
    fn measure(&mut self, jobs: &[Job], keep: &Keep) -> Result<(), LabError>;

    /// About how long a workload takes of the host's time, for the progress bar alone.
    fn cost(&self, workload: &Workload) -> Nanos;

    /// How many jobs are measured side by side.
    fn side_by_side(&self) -> u64;
}
