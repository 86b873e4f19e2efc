//! What a review does: an ordered list of steps with sweeps and repeats.

#![allow(clippy::result_large_err, reason = "a mistake is told once to a person: its size costs nothing")]

mod axis;
mod body;
mod build;
pub mod catalog;
mod diagnostic;
mod draft;
mod field;
mod fields;
mod jobs;
mod kind;
mod limit;
mod method;
mod parse;
mod precondition;
pub mod profile;
mod repetition;
mod rounds;
mod sweep;
mod trials;
mod value;

use block::{Bytes, Nanos};
use stats::SteadyRule;
use workload::Workload;

use crate::PurgeMethod;
pub use axis::Axis;
pub use diagnostic::{Diagnostic, render};
pub(crate) use diagnostic::{Mistakes, printable, suggestion};
pub use field::Field;
pub use fields::FieldError;
pub(crate) use fields::{BYTES_MAX, COUNT_MAX, TIME_MAX, to_blame};
pub use method::{Method, Part, Total, Yield, parse_method};
pub use parse::{Length, parse};
pub use precondition::Precondition;
pub use repetition::Repetition;
pub use rounds::{Rounds, Watched};
pub(crate) use sweep::CELLS_MAX;
pub use trials::{Point, Trials};

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
        for step in &mut self.steps {
            match &mut step.action {
                Action::Measure(measure) => measure.repeats = repeats,
                Action::Trial(trials) => trials.repeats = repeats.most,
                _ => {}
            }
        }
    }

    /// Purges by this method in every step that purges, whatever the plan says.
    pub fn purge_by(&mut self, by: PurgeMethod) {
        for step in &mut self.steps {
            if let Action::Purge { method } = &mut step.action {
                *method = by;
            }
        }
    }

    /// The plan on a target of this capacity: what is a share of the target is so much of it.
    pub fn on(&self, capacity: Bytes) -> Self {
        let mut plan = self.clone();
        for step in &mut plan.steps {
            if let Some(measure) = step.action.measure_mut() {
                for cell in &mut measure.cells {
                    cell.workload = cell.workload.on(capacity);
                }
            }
            let besides = match &mut step.action {
                Action::Condition(condition) => Some(&mut condition.workload),
                Action::Rounds(rounds) => rounds.pre_writes.as_mut(),
                _ => None,
            };
            if let Some(workload) = besides {
                *workload = workload.on(capacity);
            }
        }
        plan
    }

    /// Whether it tries anything above the drive.
    pub fn has_trials(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Trial(_)))
    }

    /// Whether anything on the target may change.
    pub fn changes_data(&self) -> bool {
        self.steps.iter().any(|step| match &step.action {
            Action::Purge { .. } | Action::Fill { .. } | Action::Precondition(_) | Action::Trial(_) => true,
            Action::Idle { .. } => false,
            Action::Measure(measure) => measure.cells.iter().any(|cell| cell.workload.changes_data()),
            Action::Condition(condition) => condition.workload.changes_data(),
            Action::Rounds(rounds) => {
                rounds.pre_writes.is_some() || rounds.measure.cells.iter().any(|cell| cell.workload.changes_data())
            }
        })
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

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a plan has few steps, and they are not moved about")]
pub enum Action {
    /// Forget all data: reset of a simulated drive, discard of a device, a new file, or what the drive itself has for it.
    Purge {
        /// How a real target is made to.
        method: PurgeMethod,
    },
    /// Write the whole span once, sequentially.
    Fill {
        /// The size of a request.
        block: Bytes,
        /// Requests in flight.
        queue_depth: u32,
    },
    /// Leave the drive alone.
    Idle {
        /// For so long.
        time: Nanos,
    },
    /// Measure each cell of a sweep, repeated. On a simulated drive every repeat starts from a clone of
    /// the state that the last state-changing step left, and leaves that state as it was.
    Measure(Measure),
    /// Run one workload in rounds, keep its series, and leave the drive in the state that this brings about.
    Condition(Condition),
    /// Measure the cells of a sweep one after another on the drive as each leaves it, in rounds, until those are steady.
    Rounds(Rounds),
    /// Bring the drive to the steady state of random writing by the fewest writes that do, and keep their series.
    Precondition(Precondition),
    /// Try what stands above the drive: file systems, databases, a system that boots. What is on the target is
    /// overwritten; a simulated drive is attached, and left as it was.
    Trial(Trials),
}

impl Action {
    /// What is swept, if it measures.
    pub const fn measure(&self) -> Option<&Measure> {
        match self {
            Self::Measure(measure) | Self::Rounds(Rounds { measure, .. }) => Some(measure),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) const fn measure_mut(&mut self) -> Option<&mut Measure> {
        match self {
            Self::Measure(measure) | Self::Rounds(Rounds { measure, .. }) => Some(measure),
            _ => None,
        }
    }
}

/// A sweep of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The cells, in the order of the sweep: the last axis varies fastest. Jobs are the last of all.
    pub cells: Vec<Cell>,
    /// What is swept, in order; empty where there is one cell.
    pub axes: Vec<Axis>,
    /// How often each cell is measured.
    pub repeats: Repetition,
    /// The step whose figures are shown beside this one's (the same table in another state of the drive).
    pub beside: Option<String>,
}

impl Measure {
    /// The cells in groups of those that are measured at the same time: the jobs of a point, or one cell.
    pub fn points(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|one, other| one.job().is_some() && one.place() == other.place())
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

/// A workload run in rounds until the drive is as wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// What is run; its stop is that of one round.
    pub workload: Workload,
    /// Stop only when the rounds satisfy this rule; none to stop at `at_most` alone.
    pub steady: Option<SteadyRule>,
    /// Do not stop before this much.
    pub at_least: Limit,
    /// Stop here even if not steady: at the first of these that is reached.
    pub at_most: Vec<Limit>,
}

/// How much a conditioning writes or how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many percent of the target's capacity have been written.
    Percent(u32),
    /// So much data.
    Bytes(Bytes),
    /// So much time.
    Time(Nanos),
}
