//! A workload among others.

use block::Seed;
use workload::Workload;

use crate::Observer;

/// One of several workloads that run side by side on one drive or target.
#[derive(Clone, Copy, Debug)]
pub struct Job<'w> {
    /// What errors call it; empty where there is no other.
    pub name: &'w str,
    /// What it asks for, with its own delay, ramp and end.
    pub workload: &'w Workload,
    /// The seed of its random choices. To split it by the job's name keeps one job's requests as they are when
    /// another is added.
    pub seed: Seed,
    /// Who hears of its requests, if anybody does.
    pub observer: Option<&'w dyn Observer>,
}
