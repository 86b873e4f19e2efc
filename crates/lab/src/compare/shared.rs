//! Which cells two runs share.

use std::fmt;

use crate::{CellOutcome, Outcome, StepOutcome};

/// A cell of the first run, or a point of its trials, that another does not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unshared {
    /// The place of the other run among those compared.
    pub other: usize,
    /// The step's name.
    pub step: String,
    /// The key of the cell or point.
    pub cell: String,
    /// Why.
    pub why: Why,
}

/// Why a cell or a point is not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The other run has no step of this name.
    NoStep,
    /// Its step has no such cell.
    NoCell,
    /// Its cell asks for something else under the same name.
    OtherWorkload,
    /// One of the two did not measure it.
    NotMeasured,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoStep => "the other run has no such step",
            Self::NoCell => "the other run's step has no such point",
            Self::OtherWorkload => "the other run has another workload or duration there",
            Self::NotMeasured => "one of the two runs did not measure it",
        })
    }
}

/// The cells that are measured by repeats, with step and key. What a conditioning did on its way is none of them.
pub(super) fn cells(outcome: &Outcome) -> impl Iterator<Item = Place<'_>> {
    outcome.steps.iter().enumerate().flat_map(|(at, step)| {
        let plan = &outcome.plan.steps[step.index];
        step.cells.iter().enumerate().filter_map(move |(cell, measured)| {
            let measure = plan.action.measure()?;
            Some(Place { step: at, cell, name: &plan.name, key: measure.cells[cell].key(), measured })
        })
    })
}

/// A cell and where it is.
pub(super) struct Place<'a> {
    pub(super) step: usize,
    pub(super) cell: usize,
    pub(super) name: &'a str,
    pub(super) key: String,
    pub(super) measured: &'a CellOutcome,
}

/// The cell of `other` with the same step, key and workload as `wanted`.
pub(super) fn counterpart<'a>(other: &'a Outcome, wanted: &Place) -> Result<&'a CellOutcome, Why> {
    let (step, measure) = other.steps.iter().find_map(|step| named(other, step, wanted.name)).ok_or(Why::NoStep)?;
    let place = measure.cells.iter().position(|cell| cell.key() == wanted.key).ok_or(Why::NoCell)?;
    let cell = &step.cells[place];
    if cell.workload != wanted.measured.workload {
        return Err(Why::OtherWorkload);
    }
    let is_measured = |cell: &CellOutcome| cell.repeats.iter().any(|repeat| repeat.requests() > 0);
    if is_measured(cell) && is_measured(wanted.measured) { Ok(cell) } else { Err(Why::NotMeasured) }
}

fn named<'a>(
    outcome: &'a Outcome,
    step: &'a StepOutcome,
    name: &str,
) -> Option<(&'a StepOutcome, &'a crate::plan::Measure)> {
    let plan = &outcome.plan.steps[step.index];
    plan.action.measure().filter(|_| plan.name == name).map(|measure| (step, measure))
}
