//! A step that measures the cells of a sweep, each by itself.

use std::borrow::Cow;

use block::Bytes;
use workload::{Arrival, Workload};

use super::fields::names;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Passes, Phase, Site};
use super::{Action, Axis, Cell, Repetition};

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
    /// The earlier step whose most IOPS the loads are shares of, where loads are swept.
    pub load_of: Option<String>,
    /// Whether a simulated drive, too, keeps the state that the first repeat of its one point leaves.
    pub keep_state: bool,
}

pub(super) const FORM: Form = Form {
    name: "measure",
    numbers: || [names(), vec!["repeats", "keep-state"]].concat(),
    more: &["sweep", "job", "beside", "load-of", "same-as", "quick", "simulated"],
    build: |frame, draft, body, mistakes| {
        let keep_state = frame.keep_state(draft, body, mistakes);
        frame.measure(draft, mistakes).map(|measure| Action::Measure(Measure { keep_state, ..measure }))
    },
};

impl Measure {
    /// The cells in groups of those that are measured at the same time: the jobs of a point, or one cell.
    pub fn points(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|one, other| one.job().is_some() && one.place() == other.place())
    }

    /// The same with each load as the arrival rate that it is where all of it is so many IOPS.
    pub fn loaded(&self, all: f64) -> Self {
        let at = |cell: &Cell| {
            let mut cell = cell.clone();
            if let Some(share) = cell.load() {
                let rate = (all * share / f64::from(cell.workload.workers)).round().max(1.0) as u32;
                cell.workload.arrival = Arrival { rate, bandwidth: Bytes::ZERO, ..cell.workload.arrival };
            }
            cell
        };
        Self { cells: self.cells.iter().map(at).collect(), ..self.clone() }
    }

    /// What the cells have in common; of jobs, what each does at all points: `side by side: reader (random read, 4 KiB);
    /// writer (random write, depth 32)`.
    pub fn summary(&self, say: &Phrases) -> String {
        let all = |cells: &mut dyn Iterator<Item = &Cell>| -> String {
            (say.workloads)(&cells.map(|cell| &cell.workload).collect::<Vec<_>>())
        };
        if !self.axes.contains(&Axis::Job) {
            return all(&mut self.cells.iter());
        }
        let point = self.points().next().unwrap_or_default();
        let of = |job| all(&mut self.cells.iter().filter(|cell| cell.job() == Some(job)));
        let jobs: Vec<String> = point.iter().filter_map(Cell::job).map(|job| format!("{job} ({})", of(job))).collect();
        format!("concurrently: {}", jobs.join("; "))
    }
}

impl StepKind for Measure {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        self.points().map(|cells| Phase::Run { cells: Cow::Borrowed(cells), keeps: true, construct: false }).collect()
    }

    fn passes(&self) -> Passes<'_> {
        Passes::Sampled(self)
    }

    fn workloads_mut(&mut self) -> Vec<&mut Workload> {
        self.cells.iter_mut().map(|cell| &mut cell.workload).collect()
    }

    fn repeat(&mut self, repeats: Repetition) {
        self.repeats = repeats;
    }

    fn brief(&self) -> String {
        let up_to = if self.repeats.until.is_some() { "up to " } else { "" };
        format!("{} cells × {up_to}{}", self.cells.len(), self.repeats.most)
    }

    fn sentence(&self, say: &Phrases) -> String {
        let (cells, times) = ((say.count)(self.cells.len(), "point"), (say.times)(self.repeats));
        let kept = if self.keep_state { "; a simulated drive, too, keeps the state that it leaves" } else { "" };
        format!("Measure {cells}, each {times}: {}{kept}", self.summary(say))
    }
}
