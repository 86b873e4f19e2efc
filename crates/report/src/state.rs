//! In what state a step finds the drive.

use block::Bytes;
use host::PurgeMethod;
use plan::{Action, Condition, DriveRecord, FilledRange, Finding, Outcome, Site, Step, Wear};

/// The state of the drive when a step begins, as far as the plan brought it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DriveState {
    /// The plan did nothing to it.
    AsFound,
    /// Purged, and not filled since.
    Empty,
    /// Only this part of it written once in order since.
    PartlyFilled(FilledRange),
    /// Written once in order since.
    Filled,
    /// Written at random since, but too little to call it conditioned.
    Written(Wear),
    /// The same of several steps in rounds, after each of them by another amount.
    Briefly,
    /// Written at random for long since; no rule judged whether that became steady.
    Conditioned,
    /// The same, and the rule for it was not met.
    NotSteady,
    /// The same, and the rule was met.
    Steady,
}

/// Whether what a step wrote became steady; none where no rule judged it.
pub(crate) type Judge<'j> = dyn Fn(usize) -> Option<bool> + 'j;

impl DriveState {
    /// The states in which each step of the plan begins, and after them that in which the last one ends.
    ///
    /// Conditioning a drive with random writes makes it steady once enough was written and the plan's rule is met; a
    /// sequential conditioning is a fill, which leaves the state by that name as it was. Where it is not known how
    /// much was written, or of how much, the plan is taken at its word.
    pub(crate) fn along(outcome: &Outcome, judge: &Judge<'_>) -> Vec<Self> {
        let mut states = vec![Self::AsFound];
        let mut written = Bytes::ZERO;
        for (index, step) in outcome.plan.steps.iter().enumerate() {
            let before = states[index];
            let work = step.work(&Site::ANY);
            states.push(match work.purges() {
                Some(PurgeMethod::None) => before,
                Some(_) => {
                    written = Bytes::ZERO;
                    Self::Empty
                }
                None if work.wears() => {
                    let wear =
                        outcome.writable().and_then(|capacity| worn_by(outcome, index, Wear { written, capacity }));
                    written = wear.map_or(written, |wear| wear.written);
                    wear.filter(|wear| !wear.is_whole()).map_or_else(|| Self::judged(judge(index)), Self::Written)
                }
                None => before.max(Self::filled(outcome, step).unwrap_or(before)),
            });
        }
        states
    }

    /// How a step leaves a drive that it found empty; none where it fills nothing.
    fn filled(outcome: &Outcome, step: &Step) -> Option<Self> {
        let range = FilledRange::of(step)?;
        Some(match outcome.writable().map_or(range, |capacity| range.on(capacity)) {
            FilledRange::Whole => Self::Filled,
            part => Self::PartlyFilled(part),
        })
    }

    const fn judged(is_steady: Option<bool>) -> Self {
        match is_steady {
            None => Self::Conditioned,
            Some(false) => Self::NotSteady,
            Some(true) => Self::Steady,
        }
    }

    /// Whether random writes led to it.
    pub(crate) fn is_written(self) -> bool {
        self > Self::Filled
    }

    /// The word for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AsFound => "as found",
            Self::Empty => "empty",
            Self::PartlyFilled(_) => "partly filled",
            Self::Filled => "filled",
            Self::Written(_) | Self::Briefly => "briefly written",
            Self::Conditioned => "conditioned",
            Self::NotSteady => "conditioned, not steady",
            Self::Steady => "steady",
        }
    }

    /// The word as the head of a column.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::AsFound => "As found",
            Self::Empty => "Empty",
            Self::PartlyFilled(_) => "Partly filled",
            Self::Filled => "Filled",
            Self::Written(_) | Self::Briefly => "Briefly written",
            Self::Conditioned => "Conditioned",
            Self::NotSteady => "Conditioned, not steady",
            Self::Steady => "Steady",
        }
    }

    /// The words for when it is in this state: `in steady state`.
    pub(crate) fn moment(self) -> String {
        match self {
            Self::AsFound => "as found".to_owned(),
            Self::Empty | Self::Filled => format!("on the {} drive", self.name()),
            Self::PartlyFilled(range) => format!("on the drive with {range} filled"),
            Self::Written(wear) => format!("after {wear}"),
            Self::Briefly => "after few random writes".to_owned(),
            Self::Conditioned => "after conditioning".to_owned(),
            Self::NotSteady => "after conditioning that did not reach steady state".to_owned(),
            Self::Steady => "in steady state".to_owned(),
        }
    }
}

/// How worn the drive is behind step `index`, which finds it worn so much `before`; none where nothing was measured.
fn worn_by(outcome: &Outcome, index: usize, before: Wear) -> Option<Wear> {
    let step = &outcome.plan.steps[index];
    let measured = written_by(outcome, index)?;
    let behind = |bytes| Wear { written: before.written + bytes, ..before };
    let is_doubt = |finding: &Finding| finding.step.as_ref() == Some(&step.name) && Wear::is_doubted_by(&finding.text);
    Some(match &step.action {
        // Another limit than of data ended it, and only a drive that can be put behind writes has more than was measured.
        Action::Condition(condition) if outcome.findings.iter().any(is_doubt) => {
            let with = behind(measured + constructed(outcome, condition));
            if with.is_whole() { behind(measured) } else { with }
        }
        Action::Condition(condition) => behind(measured.max(condition.least_written(before.capacity))),
        Action::Precondition(_) => behind(measured.max(before.capacity)),
        _ => behind(measured),
    })
}

/// How much of a conditioning was written without being measured, where the drive is flash of which the spare is known.
fn constructed(outcome: &Outcome, condition: &Condition) -> Bytes {
    let drive = outcome.drive.as_ref().and_then(DriveRecord::drive);
    let can = drive.is_some_and(|drive| drive.spare().is_some());
    let site = outcome.capacity.zip(outcome.writable());
    let site = site.map(|(capacity, writable)| Site { writable, ..Site::of(capacity) });
    let construction = site.and_then(|site| condition.constructed(&site)).filter(|_| can);
    construction.map_or(Bytes::ZERO, |construction| construction.bytes())
}

/// How much the rounds of step `index` wrote; none where it was not measured.
fn written_by(outcome: &Outcome, index: usize) -> Option<Bytes> {
    let step = outcome.steps.iter().find(|step| step.index == index)?;
    step.points.first()?.repeats.first()?;
    Some(step.points.iter().flat_map(|point| point.rounds()).map(|round| round.write.bytes).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_filled_is_less_than_a_filled_drive_and_says_how_much_it_is() {
        let part = DriveState::PartlyFilled(FilledRange::Bytes(Bytes::from_gib(1)));
        assert!(DriveState::Empty < part && part < DriveState::Filled && !part.is_written());
        assert_eq!((part.title(), part.moment().as_str()), ("Partly filled", "on the drive with 1 GiB of it filled"));
    }
}
