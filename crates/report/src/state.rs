//! In what state a step finds the drive.

use block::Bytes;
use host::PurgeMethod;
use plan::{Action, Outcome, Site, Wear};

/// The state of the drive when a step begins, as far as the plan brought it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DriveState {
    /// The plan did nothing to it.
    AsFound,
    /// Purged, and at most filled in order since.
    Fresh,
    /// Written at random since, but too little to call it worn.
    Written(Wear),
    /// The same of several steps in rounds, after each of them by another amount.
    Briefly,
    /// Written at random for long since.
    Worn,
}

impl DriveState {
    /// The states in which each step of the plan begins, and after them that in which the last one ends.
    ///
    /// Purging makes a drive fresh. Conditioning it with random writes makes it worn once enough was written; a
    /// sequential conditioning is a fill, which leaves the state by that name as it was. Where it is not known how
    /// much was written, or of how much, the plan is taken at its word.
    pub(crate) fn along(outcome: &Outcome) -> Vec<Self> {
        let mut states = vec![Self::AsFound];
        let mut written = Bytes::ZERO;
        for (index, step) in outcome.plan.steps.iter().enumerate() {
            let before = states[index];
            let work = step.work(&Site::ANY);
            states.push(match work.purges() {
                Some(PurgeMethod::None) => before,
                Some(_) => {
                    written = Bytes::ZERO;
                    Self::Fresh
                }
                None if work.wears() => {
                    let known = outcome.capacity.zip(written_by(outcome, index));
                    let known =
                        known.map(|(capacity, bytes)| (capacity, bytes.max(written_least(&step.action, capacity))));
                    written += known.map_or(Bytes::ZERO, |(_, bytes)| bytes);
                    let wear = known.map(|(capacity, _)| Wear { written, capacity });
                    wear.filter(|wear| !wear.is_whole()).map_or(Self::Worn, Self::Written)
                }
                None => before,
            });
        }
        states
    }

    /// The word for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AsFound => "as found",
            Self::Fresh => "fresh",
            Self::Written(_) | Self::Briefly => "briefly written",
            Self::Worn => "worn",
        }
    }

    /// The word as the head of a column.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::AsFound => "As found",
            Self::Fresh => "Fresh",
            Self::Written(_) | Self::Briefly => "Briefly written",
            Self::Worn => "Worn",
        }
    }

    /// The words for when it is in this state: `in the worn state`.
    pub(crate) fn moment(self) -> String {
        match self {
            Self::Written(wear) => format!("after {wear}"),
            Self::AsFound | Self::Fresh | Self::Briefly | Self::Worn => format!("in the {} state", self.name()),
        }
    }
}

/// How much is written before a step is over, on simulated flash in part without being measured.
fn written_least(action: &Action, capacity: Bytes) -> Bytes {
    match action {
        Action::Condition(condition) => condition.at_least.stop(capacity).bytes.unwrap_or(Bytes::ZERO),
        Action::Precondition(_) => capacity,
        _ => Bytes::ZERO,
    }
}

/// How much the rounds of step `index` wrote; none where it was not measured.
fn written_by(outcome: &Outcome, index: usize) -> Option<Bytes> {
    let step = outcome.steps.iter().find(|step| step.index == index)?;
    step.points.first()?.repeats.first()?;
    Some(step.points.iter().flat_map(|point| point.rounds()).map(|round| round.write.bytes).sum())
}
