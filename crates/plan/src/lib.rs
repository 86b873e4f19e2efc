//! What a review does, an ordered list of steps with sweeps and repeats; what that costs; and what came of it.
//!
//! Nothing here carries a plan out, and nothing links an engine or a store: that is above.

#![allow(clippy::result_large_err, reason = "a mistake is told once to a person: its size costs nothing")]

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod axis;
mod body;
mod build;
pub mod catalog;
mod choice;
pub mod compare;
mod condition;
mod construct;
pub mod cost;
mod diagnostic;
mod draft;
mod drive_record;
mod experiment;
mod few_requests;
mod fields;
mod fill;
mod finding;
pub mod fleet;
pub mod forecast;
pub mod gate;
mod idle;
pub mod import;
mod jobs;
mod kind;
mod limit;
mod measure;
mod method;
mod metric;
mod outcome;
mod parse;
mod precondition;
mod purge;
mod repetition;
pub mod replicate;
mod rounds;
mod saturate;
mod shell;
mod sweep;
mod text;
mod trials;
mod value;
mod wear;
mod work;

use block::{Bytes, Nanos};
use host::PurgeMethod;
use workload::Workload;

pub use axis::Axis;
pub use choice::{Choice, ChoiceError, ChoiceKind, Choices, ChoicesError, Refused};
pub use condition::Condition;
pub use construct::Construction;
pub use diagnostic::{Diagnostic, render};
pub(crate) use diagnostic::{Mistakes, printable};
pub use drive_record::DriveRecord;
pub use experiment::{Experiment, Experiments};
pub use few_requests::few_requests;
pub use fill::{Fill, FilledRange, leaves_filled};
pub use finding::{CellFinding, Finding};
pub use idle::Idle;
pub use kind::{Action, Phrases, StepKind};
pub use measure::Measure;
pub use method::{Method, MethodPart, Total, Yield, parse_method};
pub use metric::{Aspect, Group, Metric};
pub use outcome::{Asked, Outcome, PointOutcome, Repeat, StepOutcome};
pub use parse::{PlanLength, parse};
pub use precondition::Precondition;
pub use purge::{CANNOT_PURGE, PURGE_LEFT_OUT, Purge, leaves_as_found};
pub use repetition::Repetition;
pub use rounds::{Rounds, Watched};
pub use saturate::Saturate;
pub use shell::quoted;
pub(crate) use sweep::CELLS_MAX;
pub use text::{PlanText, StepText};
pub use trials::{TrialPoint, Trials};
pub use wear::{Wear, wears};
pub use work::{Count, Passes, Phase, Site, Work};
pub use workload::{Field, FieldError, profile};

/// An ordered list of steps, as a reviewer wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The word by which it is asked for.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// What it is for, in a paragraph.
    pub about: String,
    /// How often each figure is measured, unless its step says otherwise.
    pub repeats: Repetition,
    /// Whether durations and repeats were shortened by `--quick`.
    pub quick: bool,
    /// Whether lengths that the plan gives for simulated drives were taken.
    pub simulated: bool,
    /// Whether the plan gives lengths for simulated drives.
    pub has_simulated_lengths: bool,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// The text it was read from, kept with the results.
    pub text: String,
}

impl Plan {
    /// Measures every cell of every step so many times, whatever the plan says.
    pub fn repeat(&mut self, repeats: u32) {
        let repeats = Repetition::times(repeats);
        self.repeats = repeats;
        self.steps.iter_mut().for_each(|step| step.action.kind_mut().repeat(repeats));
    }

    /// Purges by this method in every step that purges, whatever the plan says.
    pub fn purge_by(&mut self, by: PurgeMethod) {
        self.steps.iter_mut().for_each(|step| step.action.kind_mut().purge_by(by));
    }

    /// The plan on a target of this capacity: what is a share of the target is so much of it.
    pub fn on(&self, capacity: Bytes) -> Self {
        let mut plan = self.clone();
        let actions = plan.steps.iter_mut().map(|step| step.action.kind_mut());
        for workload in actions.flat_map(|kind| kind.workloads_mut()) {
            *workload = workload.on(capacity);
        }
        plan
    }

    /// The drives with other parts that it sweeps over, in order, each with the number of steps up to the last that
    /// measures on it.
    pub fn swept_drives(&self) -> Vec<(String, usize)> {
        let mut swept: Vec<(String, usize)> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            for changes in step.sampled().iter().map(Cell::changes).filter(|changes| !changes.is_empty()) {
                match swept.iter_mut().find(|(known, _)| *known == changes) {
                    Some((_, last)) => *last = index,
                    None => swept.push((changes, index)),
                }
            }
        }
        swept
    }

    /// Whether it tries anything above the drive.
    pub fn has_trials(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Trial(_)))
    }

    /// Whether anything on the target may change.
    pub fn changes_data(&self) -> bool {
        self.steps.iter().any(|step| step.work(&Site::ANY).changes_data())
    }
}

/// One thing that a plan does.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The word that names it in results; unique in its plan.
    pub name: String,
    /// What it is, for the report.
    pub title: String,
    /// Why it is done and how to read it, for the report.
    pub about: Option<String>,
    /// What it does.
    pub action: Action,
}

impl Step {
    /// What it does on such a target.
    pub fn work(&self, site: &Site) -> Work<'_> {
        let kind = self.action.kind();
        Work { phases: kind.phases(site), passes: kind.passes() }
    }

    /// The cells that it measures on clones.
    pub fn sampled(&self) -> &[Cell] {
        match self.action.kind().passes() {
            Passes::Sampled(measure) => &measure.cells,
            _ => &[],
        }
    }
}

impl Action {
    /// What is swept, if it measures.
    pub const fn measure(&self) -> Option<&Measure> {
        match self {
            Self::Measure(measure) | Self::Rounds(Rounds { measure, .. }) => Some(measure),
            _ => None,
        }
    }
}

/// One point of a sweep, or one of the jobs that run there.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What is swept, with its values as written in the plan.
    pub point: Vec<(Axis, String)>,
    /// What is run.
    pub workload: Workload,
}

impl Cell {
    /// The cell's name in the store: `bs=4k iodepth=32`, empty where nothing is swept.
    pub fn key(&self) -> String {
        join(&self.point, " ")
    }

    /// The job that it is, where several run side by side.
    pub fn job(&self) -> Option<&str> {
        job(&self.point)
    }

    /// Its load, as a share of what another step reached; none where that is not swept.
    pub fn load(&self) -> Option<f64> {
        let (_, text) = self.point.iter().find(|(axis, _)| *axis == Axis::Load)?;
        Some(text.trim_end_matches('%').parse::<f64>().ok()? / 100.0)
    }

    /// The key without the job: that of the point at which it runs.
    pub fn place(&self) -> String {
        join(self.point.iter().filter(|(axis, _)| *axis != Axis::Job), " ")
    }

    /// What is other in the drive that this cell is measured on, in the form that follows a drive's name:
    /// `drive.spare=12%&drive.gc.policy=fifo`. Empty for the drive as it is.
    pub fn changes(&self) -> String {
        changes(&self.point)
    }
}

/// What is other in the drive at this `point` of a sweep, as [`Cell::changes`] has it.
pub(crate) fn changes(point: &[(Axis, String)]) -> String {
    join(point.iter().filter(|(axis, _)| matches!(axis, Axis::Part(_))), "&")
}

/// The job at this `point`, as [`Cell::job`] has it.
pub(crate) fn job(point: &[(Axis, String)]) -> Option<&str> {
    point.iter().find(|(axis, _)| *axis == Axis::Job).map(|(_, name)| name.as_str())
}

/// The values of `point` by name.
pub(crate) fn join<'p>(point: impl IntoIterator<Item = &'p (Axis, String)>, between: &str) -> String {
    point.into_iter().map(|(axis, value)| format!("{}={value}", axis.name())).collect::<Vec<_>>().join(between)
}

/// How much a conditioning writes or how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many percent of the target's capacity have been written.
    Percent(u32),
    /// So much data.
    Bytes(Bytes),
    Time(Nanos),
}
