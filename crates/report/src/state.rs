//! In what state a step finds the drive.

use lab::plan::{Action, Plan};

/// The state of the drive when a step begins, as far as the plan brought it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum State {
    /// The plan did nothing to it.
    AsFound,
    /// Purged, and at most filled in order since.
    Fresh,
    /// Written at random for long since.
    Worn,
}

impl State {
    /// The state in which step `index` of `plan` begins.
    ///
    /// Purging makes a drive fresh. Conditioning it with random writes makes it worn; a sequential
    /// conditioning is a fill, which leaves the state by that name as it was.
    pub(crate) fn before(plan: &Plan, index: usize) -> Self {
        plan.steps.iter().take(index).fold(Self::AsFound, |state, step| match &step.action {
            Action::Purge => Self::Fresh,
            Action::Condition(condition) => {
                let pattern = condition.workload.pattern;
                if pattern.is_random() && pattern.changes_data() { Self::Worn } else { state }
            }
            Action::Fill { .. } | Action::Idle { .. } | Action::Measure(_) => state,
        })
    }

    /// The word for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AsFound => "as found",
            Self::Fresh => "fresh",
            Self::Worn => "worn",
        }
    }

    /// The word as the head of a column.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::AsFound => "As found",
            Self::Fresh => "Fresh",
            Self::Worn => "Worn",
        }
    }
}
