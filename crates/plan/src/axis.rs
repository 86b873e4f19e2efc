//! What a step sweeps: fields of the workload, parts of the simulated drive, jobs side by side, or what a trial is told.

use super::{Choice, Field};

/// The name of the load in a sweep.
pub(crate) const LOAD: &str = "load";

/// What is varied from cell to cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// A field of the workload.
    Field(Field),
    /// A parameter of the simulated drive or of the rig around it, by its name in their files: `drive.nand.read`,
    /// `rig.host.cpus`. Each value makes a drive of its own, on which all that the plan did before is done too.
    Part(String),
    /// The jobs of a step, which run at the same time; by their names.
    Job,
    /// How many requests come in a second, as a share of the most IOPS that another step reached: `50%`.
    Load,
    /// How long the drive was idle before.
    Idle,
    /// What a trial is told.
    Choice(&'static Choice),
}

impl Axis {
    /// The name in plans and in the store.
    pub fn name(&self) -> &str {
        match self {
            Self::Field(field) => field.name(),
            Self::Part(path) => path,
            Self::Job => "job",
            Self::Load => LOAD,
            Self::Idle => "idle",
            Self::Choice(choice) => choice.name,
        }
    }

    /// The words for people, as on an axis of a chart.
    pub fn title(&self) -> &str {
        match self {
            Self::Field(field) => field.title(),
            Self::Part(path) => path,
            Self::Job => "Job",
            Self::Load => "Load (% of maximum IOPS)",
            Self::Idle => "Idle time",
            Self::Choice(choice) => choice.title,
        }
    }

    /// The field of the workload, if it is one.
    pub const fn field(&self) -> Option<Field> {
        match self {
            Self::Field(field) => Some(*field),
            Self::Part(_) | Self::Job | Self::Load | Self::Idle | Self::Choice(_) => None,
        }
    }
}
