//! One figure in two runs, whether a cell gave it or a trial.

use stats::Ratio;

use super::{Contrast, Side, Test, Tried, Verdict};

/// One figure in two runs, whether a cell gave it or a trial: what a reader or a guard asks of both alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference<'c> {
    /// A figure of a cell.
    OfCell(&'c Contrast),
    /// A figure of a trial.
    OfTrial(&'c Tried),
}

impl<'c> Difference<'c> {
    /// The place of the step among the first run's [`steps`](crate::Outcome::steps).
    pub fn step(self) -> usize {
        match self {
            Self::OfCell(one) => one.step,
            Self::OfTrial(one) => one.step,
        }
    }

    /// The place of the other run among those compared.
    pub fn other(self) -> usize {
        match self {
            Self::OfCell(one) => one.other,
            Self::OfTrial(one) => one.other,
        }
    }

    /// The figure in the first run and in the other.
    pub fn sides(self) -> [&'c Side; 2] {
        match self {
            Self::OfCell(one) => [&one.before, &one.after],
            Self::OfTrial(one) => [&one.before, &one.after],
        }
    }

    /// The other's mean divided by the first's, with its interval.
    pub fn ratio(self) -> Ratio {
        match self {
            Self::OfCell(one) => one.ratio,
            Self::OfTrial(one) => one.ratio,
        }
    }

    /// Whether more of the figure is better.
    pub fn more_is_better(self) -> bool {
        match self {
            Self::OfCell(one) => one.metric.more_is_better(),
            Self::OfTrial(one) => one.more_is_better,
        }
    }

    /// Whether it says again what another figure says, and shares that one's test.
    pub fn follows(self) -> bool {
        matches!(self, Self::OfCell(one) if one.follows)
    }

    /// Whether it is more than chance; none where so few repeats can never show it.
    pub fn test(self) -> Option<Test> {
        match self {
            Self::OfCell(one) => one.test,
            Self::OfTrial(one) => one.test,
        }
    }

    /// What can be said of the difference.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::OfCell(one) => one.verdict(),
            Self::OfTrial(one) => one.verdict(),
        }
    }

    /// By what share the other run's figure is worse; negative where it is better.
    pub fn loss(self) -> f64 {
        let ratio = self.ratio().ratio;
        if self.more_is_better() { 1.0 - ratio } else { ratio - 1.0 }
    }

    /// Whether it is really worse, and by more than `share`.
    pub fn is_worse_than(self, share: f64) -> bool {
        self.verdict() == Verdict::Worse && self.loss() > share
    }
}
