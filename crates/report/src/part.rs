//! A step of an outcome as the report reads it: with the drive's state and the step beside it.

use block::Nanos;
use drive::preset::Spec;
use measurement::Measurement;
use plan::{Action, Axis, Condition, DriveRecord, Outcome, PointOutcome, Rounds, Step, Trials};
use workload::{Stop, Workload};

use crate::figure::CellFigures;
use crate::state::DriveState;
use crate::timeline::Timeline;

/// Why a drive moves data that it has, as far as what it is made of tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DataMoves {
    /// To free blocks, in flash of which pages are mapped.
    Collection,
    /// To merge blocks, in flash of which blocks are mapped.
    Merges,
    /// Nothing is known of it, or there are several reasons, such as a cache of one-bit blocks.
    #[default]
    Other,
}

impl DataMoves {
    /// Of the simulated drive that `outcome` is of; of a real one nothing is known.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome.drive.as_ref().and_then(DriveRecord::drive).map(|drive| drive.spec) {
            Some(Spec::Flash(flash)) if flash.slc.is_none() && flash.zones.is_none() => Self::Collection,
            Some(Spec::Hybrid(_)) => Self::Merges,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
pub(crate) struct MeasuredStep<'a> {
    pub(crate) step: &'a Step,
    pub(crate) state: DriveState,
    /// The state that its figures are of: rounds and conditionings bring about the one that they are measured in.
    pub(crate) state_of_figures: DriveState,
    /// What it sweeps.
    pub(crate) axes: Vec<Axis>,
    /// Its points with their figures.
    pub(crate) readings: Vec<CellFigures<'a>>,
    /// The place among the parts of the step whose figures are shown beside this one's.
    pub(crate) beside: Option<usize>,
    /// Whether another step is shown beside this one.
    pub(crate) is_base: bool,
    /// Why the drive moves data.
    pub(crate) moves: DataMoves,
}

impl<'a> MeasuredStep<'a> {
    /// What it tries above the drive, if that is what it does.
    pub(crate) fn trials(&self) -> Option<&'a Trials> {
        if let Action::Trial(trials) = &self.step.action { Some(trials) } else { None }
    }

    /// The conditioning, if it is one.
    pub(crate) fn condition(&self) -> Option<&'a Condition> {
        if let Action::Condition(condition) = &self.step.action { Some(condition) } else { None }
    }

    /// How long each round of a conditioning is; none of what was not run in rounds of a time each.
    pub(crate) fn round(&self) -> Option<Nanos> {
        self.condition().and_then(Condition::round)
    }

    /// What it did over time, round by round if it is a conditioning.
    pub(crate) fn timeline(&self, measurement: &Measurement) -> Timeline {
        match self.condition() {
            Some(condition) => Timeline::of(condition, measurement),
            None => Timeline::whole(measurement),
        }
    }

    /// The rounds, if it was measured in rounds.
    pub(crate) fn rounds(&self) -> Option<&'a Rounds> {
        if let Action::Rounds(rounds) = &self.step.action { Some(rounds) } else { None }
    }

    /// Whether it is there to change the drive's state, so that what it measured on the way is no figure of a state.
    pub(crate) fn is_conditioning(&self) -> bool {
        matches!(self.step.action, Action::Condition(_) | Action::Precondition(_))
    }

    /// Whether it writes until the write cache is full: its rates are of no one state.
    pub(crate) fn is_saturation(&self) -> bool {
        matches!(self.step.action, Action::Saturate(_))
    }

    /// Whether any point was measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.readings.iter().any(CellFigures::is_measured)
    }

    /// What `tell` makes of what jobs that ran beside one another did together, as one job at each point of the sweep; nothing
    /// where none did.
    pub(crate) fn of_all_jobs<T>(&self, tell: impl Fn(&CellFigures) -> T) -> Vec<T> {
        self.all_jobs().iter().map(|together| tell(&CellFigures::of(together))).collect()
    }

    /// What jobs did together. As with fio's groups, a rate is of all requests in the time of the longest.
    fn all_jobs(&self) -> Vec<PointOutcome> {
        let swept = |reading: &CellFigures| {
            let point = reading.point.point.iter().filter(|(axis, _)| *axis != Axis::Job);
            point.cloned().collect::<Vec<_>>()
        };
        let points = self.readings.chunk_by(|one, other| swept(one) == swept(other));
        let points = points.filter(|jobs| jobs.len() > 1 && jobs.iter().all(|job| job.point.job().is_some()));
        let one = |jobs: &[CellFigures]| {
            let mut repeats = jobs.iter().map(|job| job.cell().repeats.iter().copied());
            let mut all: Vec<Measurement> = repeats.next()?.cloned().collect();
            for others in repeats {
                // A repeat that some job has not finished is none of all.
                all.truncate(others.len());
                all.iter_mut().zip(others).for_each(|(all, other)| all.merge(other));
            }
            let point = swept(&jobs[0]).into_iter().chain([(Axis::Job, "all jobs".to_owned())]).collect();
            Some(PointOutcome::measured(point, jobs[0].cell().workload.clone(), all))
        };
        points.filter_map(one).collect()
    }

    /// The place in the page.
    pub(crate) fn anchor(&self) -> String {
        anchor(&self.step.name)
    }

    /// The place in the page of a point of it; none of one that is the whole step.
    pub(crate) fn cell_anchor(&self, point: &PointOutcome) -> Option<String> {
        cell_anchor(&self.step.name, &point.key())
    }

    /// The place in the page of what a finding calls `key`: that of the cell, where it has one.
    pub(crate) fn place_of(&self, key: &str) -> String {
        let found = cell_anchor(&self.step.name, key);
        let is_there =
            |place: &String| self.readings.iter().any(|one| self.cell_anchor(one.point).as_ref() == Some(place));
        found.filter(|place| self.is_measured() && is_there(place)).unwrap_or_else(|| self.anchor())
    }

    /// The reading at the same point, as another step measured it.
    pub(crate) fn counterpart(&self, point: &PointOutcome) -> Option<&CellFigures<'a>> {
        let same = |reading: &&CellFigures| reading.point.point == point.point;
        let asks_alike = |other: &PointOutcome| {
            other.workload().zip(point.workload()).is_some_and(|(one, two)| has_same_axes(one, two))
        };
        let alike = |reading: &&CellFigures| reading.point.changes() == point.changes() && asks_alike(reading.point);
        self.readings.iter().find(same).or_else(|| self.readings.iter().find(alike))
    }
}

/// What a step sweeps.
pub(crate) fn axes(step: &Step) -> Vec<Axis> {
    match &step.action {
        Action::Trial(trials) => trials.axes.iter().map(|choice| Axis::Choice(choice)).collect(),
        action => action.measure().map_or_else(Vec::new, |measure| measure.axes.clone()),
    }
}

/// What two steps shown beside each other are called: their states, or their titles where those are the same.
pub(crate) fn names(base: &MeasuredStep, part: &MeasuredStep) -> [String; 2] {
    if base.state == part.state {
        [base.step.title.clone(), part.step.title.clone()]
    } else {
        [base.state.title().to_owned(), part.state.title().to_owned()]
    }
}

/// Where in the page a step is.
pub(crate) fn anchor(step: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("step-{}", step.chars().map(word).collect::<String>())
}

/// Where in the page a cell of a step is, by its key; none where the key is empty.
fn cell_anchor(step: &str, key: &str) -> Option<String> {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    (!key.is_empty()).then(|| format!("{}:{}", anchor(step), key.chars().map(word).collect::<String>()))
}

/// What an anchor of a point ends in, whatever its step is called; empty of one that is the whole step.
pub(crate) fn point_place(point: &PointOutcome) -> String {
    cell_anchor("", &point.key()).map_or_else(String::new, |place| place[anchor("").len() + 1..].to_owned())
}

/// Whether two workloads ask for the same, however long.
pub(crate) fn has_same_axes(one: &Workload, other: &Workload) -> bool {
    let asked = |workload: &Workload| Workload { stop: Stop::default(), ramp: Nanos::ZERO, ..workload.clone() };
    asked(one) == asked(other) && one.reads() == other.reads()
}
