//! Which points two runs share.

use std::fmt;

use crate::{Action, Outcome, PointOutcome};

/// A point of the first run that another does not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unshared {
    /// The place of the other run among those compared.
    pub other: usize,
    pub step: String,
    /// The key of the point.
    pub cell: String,
    /// Why.
    pub why: Why,
}

/// Why a point is not shared.
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

/// A point and where it is.
pub(crate) struct CellLocation<'a> {
    pub(crate) step: usize,
    pub(crate) point: usize,
    pub(crate) name: &'a str,
    pub(crate) measured: &'a PointOutcome,
}

/// The points that are measured by repeats. What a conditioning did on its way is none of them.
pub(crate) fn places(outcome: &Outcome) -> impl Iterator<Item = CellLocation<'_>> {
    let is_repeated = |action: &Action| action.measure().is_some() || matches!(action, Action::Trial(_));
    outcome.steps.iter().enumerate().flat_map(move |(at, step)| {
        let plan = &outcome.plan.steps[step.index];
        let points = step.points.iter().enumerate().filter(move |_| is_repeated(&plan.action));
        points.map(move |(point, measured)| CellLocation { step: at, point, name: &plan.name, measured })
    })
}

/// The point of `other` with the same step and key at which the same was asked as at `wanted`.
pub(super) fn counterpart<'a>(other: &'a Outcome, wanted: &CellLocation) -> Result<&'a PointOutcome, Why> {
    let mut of_step = places(other).filter(|place| place.name == wanted.name).peekable();
    of_step.peek().ok_or(Why::NoStep)?;
    let key = wanted.measured.key();
    let found = of_step.map(|place| place.measured).find(|point| point.key() == key).ok_or(Why::NoCell)?;
    match found.is_measured() && wanted.measured.is_measured() {
        _ if found.asked != wanted.measured.asked => Err(Why::OtherWorkload),
        true => Ok(found),
        false => Err(Why::NotMeasured),
    }
}
