//! What came of a run: the plan's steps with all that was measured.

use block::Bytes;
use engine::Measurement;
use serde::{Deserialize, Serialize};
use stats::Interval;
use store::Run;
use trial::Trial;
use workload::Workload;

use crate::health::HealthRecord;
use crate::plan::{Axis, Plan, Point};
use crate::{DriveRecord, Metric, Quantity};

/// A run with all that was measured, as a report needs it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run: target, seed, environment, state.
    pub run: Run,
    /// How much the target holds, as far as it was used; none where that is not known.
    pub capacity: Option<Bytes>,
    /// The simulated drive as it was when the run began; none of a real target, or where it is not known.
    pub drive: Option<DriveRecord>,
    /// The plan it followed.
    pub plan: Plan,
    /// The steps that measured something, in order, even where nothing was measured yet.
    pub steps: Vec<StepOutcome>,
    /// The drive's health before the run and after.
    pub health: HealthRecord,
    /// Doubts about the run as a whole.
    pub findings: Vec<Finding>,
}

/// A step with its cells.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// The step's place in [`Plan::steps`].
    pub index: usize,
    /// Its cells, in order.
    pub cells: Vec<CellOutcome>,
    /// What came of its trials, point by point, in order.
    pub trials: Vec<TrialOutcome>,
}

/// A point of a step that tries something above the drive, with its repeats.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// What was told.
    pub point: Point,
    /// What came of it, one for each repeat.
    pub repeats: Vec<Trial>,
}

impl TrialOutcome {
    /// A figure over the repeats; none where no repeat gives it.
    pub fn figure(&self, name: &str) -> Option<Interval> {
        let samples: Vec<f64> = self.repeats.iter().filter_map(|trial| trial.figure(name)).collect();
        Interval::of(&samples)
    }
}

/// A cell with its repeats.
#[derive(Clone, Debug)]
pub struct CellOutcome {
    /// What is swept, with its values as the plan writes them.
    pub point: Vec<(Axis, String)>,
    /// What was asked.
    pub workload: Workload,
    /// What was measured in rounds before those that count.
    pub before: Vec<Measurement>,
    /// What was measured, a repeat each; a conditioning has one, with a long series. Of rounds, those of the window.
    pub repeats: Vec<Measurement>,
}

impl CellOutcome {
    /// What is other in the drive that it was measured on; empty for the drive as it is.
    pub fn changes(&self) -> String {
        crate::plan::changes(&self.point)
    }

    /// What was measured in each round, where it was measured in rounds.
    pub fn rounds(&self) -> impl Iterator<Item = &Measurement> {
        self.before.iter().chain(&self.repeats)
    }

    /// The job that it is, where others ran beside it.
    pub fn job(&self) -> Option<&str> {
        crate::plan::job(&self.point)
    }

    /// A figure over the repeats; none where no repeat gives it.
    pub fn figure(&self, metric: Metric) -> Option<Interval> {
        let samples: Vec<f64> = self.repeats.iter().filter_map(|measurement| metric.of(measurement)).collect();
        Interval::of(&samples)
    }

    /// The same of any quantity.
    pub fn amount(&self, quantity: Quantity) -> Option<Interval> {
        let samples: Vec<f64> = self.repeats.iter().filter_map(|measurement| quantity.of(measurement)).collect();
        Interval::of(&samples)
    }
}

/// A doubt about a measurement or a run: kept, marked, shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The step it is about; none for the whole run.
    pub step: Option<String>,
    /// The cell's key; none for the whole step.
    pub cell: Option<String>,
    /// What was found and what it means for the reader, in a sentence or two.
    pub text: String,
}
