//! What a step does to a target, in the few things that every kind of step is made of.

use std::borrow::Cow;

use block::{Bytes, Nanos};
use host::PurgeMethod;
use workload::{Spare, Workload};

use super::{Cell, Condition, Construction, Measure, Repetition, Rounds, TrialPoint, Trials};
use crate::wears;

/// A target, as far as what a step does there depends on it.
#[derive(Clone, Debug)]
pub struct Site {
    /// How much of it is used.
    pub capacity: Bytes,
    /// How much data that is once all of it is written: less where zones cannot be written to their end.
    pub writable: Bytes,
    /// The smallest request that it takes; none where that is not known yet.
    pub block: Option<Bytes>,
    /// How much flash it has beyond its capacity, if that is known.
    pub spare: Option<Spare>,
    /// Where it is written when it is filled, as offsets and lengths; none for all of it.
    pub fill_spans: Option<Vec<(Bytes, Bytes)>>,
}

impl Site {
    /// Some target, for what does not depend on it.
    pub const ANY: Self = Self::of(Bytes::from_gib(1024));

    /// A target of which all of this can be written, and nothing else is known.
    pub const fn of(capacity: Bytes) -> Self {
        Self { capacity, writable: capacity, block: None, spare: None, fill_spans: None }
    }
}

/// What a step does on a target. The plan's step says it; the session carries it out, and preflight, forecast, progress and
/// results follow from it.
#[derive(Clone, Debug)]
pub struct Work<'s> {
    /// What is done in each pass, in order.
    pub phases: Vec<Phase<'s>>,
    /// How one pass follows another.
    pub passes: Passes<'s>,
}

/// One thing that is done to a target.
#[derive(Clone, Debug)]
pub enum Phase<'s> {
    /// Forget all data.
    Purge(PurgeMethod),
    /// Leave it alone.
    Rest(Nanos),
    /// Run these workloads at the same time, each as long as its stop says.
    Run {
        /// The workloads, with what is swept.
        cells: Cow<'s, [Cell]>,
        /// Whether measurements of them are kept.
        keeps: bool,
        /// Whether a simulated drive may be put into the state that they leave, as far as it can be, in place of that.
        construct: bool,
    },
    /// Carry out a trial above it at this point.
    Trial(&'s Trials, &'s TrialPoint),
}

impl Phase<'_> {
    /// A workload of which nothing is kept but the state that it leaves; whether a simulated drive may be put into that.
    pub fn prepare(workload: Workload, construct: bool) -> Self {
        Self::Run { cells: Cow::Owned(vec![Cell { point: Vec::new(), workload }]), keeps: false, construct }
    }

    /// A workload that is not swept.
    pub fn run(workload: Workload, keeps: bool) -> Self {
        Self::Run { cells: Cow::Owned(vec![Cell { point: Vec::new(), workload }]), keeps, construct: false }
    }
}

/// How often the phases are done, and on what.
#[derive(Clone, Copy, Debug)]
pub enum Passes<'s> {
    /// Once, on the target itself.
    Once,
    /// Each phase as often as the sweep asks for. A simulated drive is left as it was unless it is to keep the state: each
    /// repeat has a clone of it.
    Sampled(&'s Measure),
    /// All phases in turn on the target itself, until those that decide are steady.
    Rounds(&'s Rounds),
    /// The one phase on the target itself, until it is steady, between two limits; kept as one measurement.
    Condition(&'s Condition),
    /// Each phase so often, on the target as the kernel's block device.
    Trials(&'s Trials),
}

/// How many passes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least so many.
    pub least: u32,
    /// At most so many.
    pub most: u32,
    /// What progress is reckoned by.
    pub likely: u32,
}

impl Passes<'_> {
    /// How many there are.
    pub fn count(&self) -> Count {
        let times = |times| Count { least: times, most: times, likely: times };
        match self {
            Self::Once | Self::Condition(_) => times(1),
            Self::Trials(trials) => times(trials.repeats),
            Self::Sampled(Measure { repeats, .. }) => {
                Count { least: repeats.least(), most: repeats.most, likely: repeats.least() }
            }
            Self::Rounds(rounds) => {
                let Repetition { most: window, .. } = rounds.measure.repeats;
                Count { least: window, most: rounds.at_most, likely: rounds.at_most }
            }
        }
    }

    /// Whether the target is left as it was found, where a state can be cloned.
    pub fn leaves_no_trace(&self) -> bool {
        matches!(self, Self::Sampled(Measure { keep_state: false, .. }) | Self::Trials(_))
    }

    /// Whether cells are passed over whose blocks are no whole blocks of the target.
    pub fn passes_over_unaligned(&self) -> bool {
        matches!(self, Self::Sampled(_) | Self::Rounds(_))
    }
}

impl<'s> Work<'s> {
    /// The workloads that measurements are kept of, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.phases.iter().flat_map(|phase| match phase {
            Phase::Run { cells, keeps: true, .. } => &cells[..],
            _ => &[],
        })
    }

    /// All workloads that it runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = &Cell> {
        self.phases.iter().flat_map(|phase| if let Phase::Run { cells, .. } = phase { &cells[..] } else { &[] })
    }

    /// The keys of its results in the store, in order.
    pub fn keys(&self) -> Vec<String> {
        let key = |phase: &Phase| match phase {
            Phase::Run { cells, keeps: true, .. } => cells.iter().map(Cell::key).collect(),
            Phase::Trial(_, point) => vec![point.key()],
            _ => Vec::new(),
        };
        self.phases.iter().flat_map(key).collect()
    }

    /// How many results are in the store when it is done, and whether fewer may do; none where it keeps none.
    pub fn kept(&self) -> Option<(u64, bool)> {
        let (each, Count { least, most, .. }) = (self.keys().len() as u64, self.passes.count());
        (each > 0).then_some((each * u64::from(most), least < most))
    }

    /// Whether anything on the target may change.
    pub fn changes_data(&self) -> bool {
        self.phases.iter().any(|phase| match phase {
            Phase::Purge(_) | Phase::Trial(..) => true,
            Phase::Rest(_) => false,
            Phase::Run { cells, .. } => cells.iter().any(|cell| cell.workload.changes_data()),
        })
    }

    /// Whether it writes at random to change the drive's state.
    pub fn wears(&self) -> bool {
        !self.passes.leaves_no_trace() && self.cells().any(|cell| wears(&cell.workload))
    }

    /// By which method it purges, if it does.
    pub fn purges(&self) -> Option<PurgeMethod> {
        self.phases.iter().find_map(|phase| if let Phase::Purge(method) = phase { Some(*method) } else { None })
    }

    /// What such a simulated drive may be put behind without simulating it.
    pub fn constructed(&self, site: &Site) -> Option<Construction> {
        match self.passes {
            Passes::Condition(condition) => condition.constructed(site),
            _ => self.phases.iter().find_map(|phase| match phase {
                Phase::Run { cells, construct: true, .. } => Construction::of(&cells[0].workload, site.capacity),
                _ => None,
            }),
        }
    }

    /// The trials that it carries out.
    pub fn trials(&self) -> Option<&'s Trials> {
        if let Passes::Trials(trials) = self.passes { Some(trials) } else { None }
    }
}
