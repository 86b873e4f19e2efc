//! The kinds of steps and the keys that each takes.

use trial::{EXPERIMENTS, Experiment};
use workload::Mark;

use super::fields::names;
use super::{Field, precondition};

/// What `do` names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Forget all data.
    Purge,
    /// Write the whole span once.
    Fill,
    /// Leave the drive alone.
    Idle,
    /// Measure the cells of a sweep.
    Measure,
    /// Run a workload in rounds.
    Condition,
    /// Measure the cells of a sweep in rounds.
    Rounds,
    /// Take the short way to the steady state.
    Precondition,
    /// Try what stands above the drive.
    Trial(&'static dyn Experiment),
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// What a workload that is run in rounds has no use for.
pub(super) const NOT_IN_ROUNDS: [Mark; 3] = [Mark::End, Mark::Replay, Mark::Row];

/// What every step takes.
const COMMON: [&str; 4] = ["name", "do", "title", "about"];

impl Kind {
    /// The kinds that have a drive to themselves, in the order of the documentation.
    const ON_A_DRIVE: [Self; 7] =
        [Self::Purge, Self::Fill, Self::Idle, Self::Measure, Self::Condition, Self::Rounds, Self::Precondition];

    /// Every kind, in the order of the documentation.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::ON_A_DRIVE.into_iter().chain(EXPERIMENTS.iter().map(|experiment| Self::Trial(*experiment)))
    }

    /// Their names.
    pub(super) fn names() -> Vec<&'static str> {
        Self::all().map(Self::name).collect()
    }

    /// The kind of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }

    /// The word after `do`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Purge => "purge",
            Self::Fill => "fill",
            Self::Idle => "idle",
            Self::Measure => "measure",
            Self::Condition => "condition",
            Self::Rounds => "rounds",
            Self::Precondition => "precondition",
            Self::Trial(experiment) => experiment.name(),
        }
    }

    /// The numbers that a step of this kind takes; its `quick` takes the same.
    pub(super) fn numbers(self) -> Vec<&'static str> {
        match self {
            Self::Purge => vec!["purge"],
            Self::Fill => vec!["bs", "iodepth"],
            Self::Idle => vec!["time"],
            Self::Measure => [names(), vec!["repeats"]].concat(),
            Self::Rounds => [names(), vec!["rounds", "rest", "pre-writes", "steady"]].concat(),
            Self::Condition => {
                let goes_on = |field: &Field| !NOT_IN_ROUNDS.iter().any(|mark| field.is(*mark));
                let fields = Field::ALL.into_iter().filter(goes_on).flat_map(Field::names).collect();
                [fields, vec!["round", "steady", "at-least", "at-most"]].concat()
            }
            Self::Precondition => precondition::fields().map(Field::name).chain(["spare", "settle"]).collect(),
            Self::Trial(experiment) => {
                experiment.choices().iter().map(|choice| choice.name).chain(["repeats"]).collect()
            }
        }
    }

    /// All keys of a step of this kind.
    pub(super) fn keys(self) -> Vec<&'static str> {
        let more: &[&str] = match self {
            Self::Purge => &[],
            Self::Fill | Self::Idle | Self::Condition | Self::Precondition => &["quick", "simulated"],
            Self::Measure => &["sweep", "job", "beside", "same-as", "quick", "simulated"],
            Self::Rounds => &["sweep", "watch", "by", "quick", "simulated"],
            Self::Trial(_) => &["sweep", "quick", "simulated"],
        };
        [&COMMON, &self.numbers()[..], more].concat()
    }

    /// Whether it has cells.
    pub(super) const fn sweeps(self) -> bool {
        matches!(self, Self::Measure | Self::Rounds)
    }

    /// The kinds of steps that take `key`, where this one does not.
    pub(super) fn that_take(key: &str) -> Vec<&'static str> {
        Self::all().filter(|kind| kind.keys().contains(&key)).map(Self::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_takes_every_field() {
        for field in Field::ALL {
            assert!(Kind::Measure.numbers().contains(&field.name()), "{field:?}");
        }
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in Kind::all() {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!(Kind::named("mesure"), None);
    }
}
