//! What came of a run: the plan's steps with all that was measured.

use block::Bytes;
use drive::preset::ListPrice;
use host::health::HealthRecord;
use measurement::{Figure, Measurement, Run, RunId, Trial};
use stats::Interval;
use workload::Workload;

use crate::{Axis, Choices, DriveRecord, Finding, Metric, Plan, TrialPoint};

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
    /// The other runs of the same whose repeats it has: see [`compare::pooled`](crate::compare::pooled).
    pub pooled: Vec<RunId>,
}

impl Outcome {
    /// How much data the target takes, as far as it was used: less than its capacity where zones cannot be written to their end.
    pub fn writable(&self) -> Option<Bytes> {
        let capacity = self.capacity?;
        Some(self.drive.as_ref().map_or(capacity, |drive| drive.writable(capacity)))
    }

    /// What the drive costs: as it was given for the run, or else as its file has it.
    pub fn price(&self) -> Option<ListPrice> {
        let given = self.run.annotations.price.map(ListPrice::given);
        given.or_else(|| self.drive.as_ref()?.price())
    }
}

/// A step with its points.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// The step's place in [`Plan::steps`].
    pub index: usize,
    /// Its points, in order: cells of a sweep, or points at which something above the drive was tried.
    pub points: Vec<PointOutcome>,
}

/// A point of a step with its repeats.
#[derive(Clone, Debug)]
pub struct PointOutcome {
    /// What is swept, with its values as the plan writes them.
    pub point: Vec<(Axis, String)>,
    /// What was asked.
    pub asked: Asked,
    /// What was measured in rounds before those that count.
    pub before: Vec<Repeat>,
    /// What was measured, a repeat each; a conditioning has one, with a long series. Of rounds, those of the window.
    pub repeats: Vec<Repeat>,
    /// How many of them are of each run, where several are pooled.
    pub runs: Vec<usize>,
}

/// What was asked at a point.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all points are of workloads, and points are not moved about")]
pub enum Asked {
    /// Requests to the drive.
    Workload(Workload),
    /// To try what stands above the drive.
    Trial {
        /// The kind.
        experiment: &'static str,
        /// All that it was told.
        choices: Choices,
    },
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Workload(one), Self::Workload(other)) => one == other,
            (Self::Trial { experiment, choices }, Self::Trial { experiment: other, choices: told }) => {
                experiment == other && choices.all().eq(told.all())
            }
            _ => false,
        }
    }
}

/// What one repeat gave: figures, and what else there is of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Repeat {
    /// Of requests: with histograms and a series.
    Measured(Box<Measurement>),
    /// Of a trial: with its courses, conditions and papers.
    Tried(Trial),
}

impl From<Measurement> for Repeat {
    fn from(measurement: Measurement) -> Self {
        Self::Measured(Box::new(measurement))
    }
}

impl Repeat {
    /// The figures that it gives, the most important first.
    pub fn figures(&self) -> Vec<Figure> {
        match self {
            Self::Measured(measurement) => Metric::tabled().filter_map(|one| one.figure(measurement)).collect(),
            Self::Tried(trial) => trial.figures.clone(),
        }
    }

    /// The figure of this name; none where the repeat does not give it.
    pub fn figure(&self, name: &str) -> Option<f64> {
        match self {
            Self::Measured(measurement) => Metric::titled(name)?.of(measurement),
            Self::Tried(trial) => trial.figure(name),
        }
    }

    /// What was measured of requests, where that was asked.
    pub fn measurement(&self) -> Option<&Measurement> {
        if let Self::Measured(measurement) = self { Some(measurement) } else { None }
    }

    /// The same, to be changed.
    pub fn measurement_mut(&mut self) -> Option<&mut Measurement> {
        if let Self::Measured(measurement) = self { Some(measurement) } else { None }
    }

    /// What came of a trial, where that was asked.
    pub fn trial(&self) -> Option<&Trial> {
        if let Self::Tried(trial) = self { Some(trial) } else { None }
    }
}

impl PointOutcome {
    pub fn measured(point: Vec<(Axis, String)>, workload: Workload, repeats: Vec<Measurement>) -> Self {
        let repeats = repeats.into_iter().map(Repeat::from).collect();
        Self { point, asked: Asked::Workload(workload), before: Vec::new(), repeats, runs: Vec::new() }
    }

    /// A point at which this kind of trial was made, with what came of it.
    pub fn tried(experiment: &'static str, point: &TrialPoint, repeats: Vec<Trial>) -> Self {
        Self {
            point: point.values.iter().map(|(choice, value)| (Axis::Choice(choice), value.clone())).collect(),
            asked: Asked::Trial { experiment, choices: point.choices.clone() },
            before: Vec::new(),
            repeats: repeats.into_iter().map(Repeat::Tried).collect(),
            runs: Vec::new(),
        }
    }

    /// The point's name in the store: `bs=4k iodepth=32`, empty where nothing is swept.
    pub fn key(&self) -> String {
        crate::join(&self.point, " ")
    }

    /// What is other in the drive that it was measured on; empty for the drive as it is.
    pub fn changes(&self) -> String {
        crate::changes(&self.point)
    }

    /// The job that it is, where others ran beside it.
    pub fn job(&self) -> Option<&str> {
        crate::job(&self.point)
    }

    /// What was asked of the drive; none where something above it was tried.
    pub fn workload(&self) -> Option<&Workload> {
        if let Asked::Workload(workload) = &self.asked { Some(workload) } else { None }
    }

    /// What the repeats that count measured of requests.
    pub fn measurements(&self) -> impl DoubleEndedIterator<Item = &Measurement> + Clone {
        self.repeats.iter().filter_map(Repeat::measurement)
    }

    /// What was measured in each round, where it was measured in rounds.
    pub fn rounds(&self) -> impl Iterator<Item = &Measurement> {
        self.before.iter().chain(&self.repeats).filter_map(Repeat::measurement)
    }

    /// Whether any repeat gave anything.
    pub fn is_measured(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.measurement().is_none_or(|measured| measured.requests() > 0))
    }

    /// A figure of each repeat that gives it.
    pub fn samples(&self, name: &str) -> Vec<f64> {
        self.repeats.iter().filter_map(|repeat| repeat.figure(name)).collect()
    }

    /// A figure of requests over the repeats; none where no repeat gives it.
    pub fn figure(&self, metric: Metric) -> Option<Interval> {
        let samples: Vec<f64> = self.measurements().filter_map(|measurement| metric.of(measurement)).collect();
        self.interval(metric.title(), &samples)
    }
}
