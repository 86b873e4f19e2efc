//! The drives of a fleet, and which of them lies apart from its peers.

use measurement::RunState;
use stats::{ScoreDistribution, discoveries};
use thiserror::Error;

use super::drive::FleetDrive;
use super::figure::{self, FleetFigure, FleetPlace};

/// When a drive is said to lie apart from its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetRule {
    /// Of the drives that are told apart, the share that differ by chance alone, on average and at most.
    pub rate: f64,
    /// A figure nearer to the peers' median than this share of it is not told apart, however surely it differs.
    pub least: f64,
}

impl Default for FleetRule {
    fn default() -> Self {
        Self { rate: 0.05, least: 0.02 }
    }
}

/// Drives that were reviewed alike, with how each stands among its peers.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub rule: FleetRule,
    /// Every drive, in the order of its slot, and then of its name; also those whose run did not come to its end.
    pub drives: Vec<FleetDrive>,
    /// The drives of one model that were reviewed by one plan, whose figures are held against each other.
    pub peers: Vec<FleetPeers>,
    /// Earlier runs of drives that were reviewed again, which are left out.
    pub superseded: usize,
}

/// Drives of one model, reviewed by one plan.
#[derive(Clone, Debug)]
pub struct FleetPeers {
    /// What they are: `Samsung …, 1.92 TB`, and the plan where that tells them from others.
    pub title: String,
    /// Their places in [`Fleet::drives`].
    pub drives: Vec<usize>,
    /// The key figures that two of them have at least, in the order of the summary.
    pub figures: Vec<FleetFigure>,
}

/// Why there is no fleet.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FleetError {
    #[error("there are no runs to report on; `assay runs` lists those in the store")]
    Empty,
    #[error("no run of these is complete; `assay runs` says how far each came")]
    NoneComplete,
}

impl Fleet {
    /// Of these runs, of which the last of each drive counts.
    ///
    /// A figure is held against its median over the peers by the modified z-score of its logarithm, and by Student's t of the
    /// drive's own repeats: it lies apart where both say so. Each drive's figures are a family of tests, and drives are told
    /// apart under control of the false discovery rate.
    ///
    /// Source, of tests that must all reject: R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling",
    /// Technometrics 24(4), 1982.
    ///
    /// # Errors
    /// If there is no run that is complete.
    pub fn of(runs: Vec<FleetDrive>, rule: FleetRule) -> Result<Self, FleetError> {
        if runs.is_empty() {
            return Err(FleetError::Empty);
        }
        let (mut drives, superseded) = last_of_each(runs);
        if !drives.iter().any(|drive| drive.run.state == RunState::Complete) {
            return Err(FleetError::NoneComplete);
        }
        drives.sort_by_cached_key(|drive| drive.identity.order());
        let mut peers = peers(&drives);
        let mut distributions = Distributions::default();
        peers.iter_mut().for_each(|peers| peers.judge(&rule, &mut distributions));
        Ok(Self { rule, drives, peers, superseded })
    }

    /// The places of a drive's figures, each with the figure and the peers.
    pub fn places(&self, drive: usize) -> impl Iterator<Item = (&FleetFigure, &FleetPlace)> {
        let figures = self.peers.iter().flat_map(|peers| &peers.figures);
        figures.filter_map(move |figure| Some((figure, figure.places.iter().find(|place| place.drive == drive)?)))
    }

    /// The figures in which a drive lies apart from its peers, the farthest first.
    pub fn apart(&self, drive: usize) -> Vec<(&FleetFigure, &FleetPlace)> {
        let mut found: Vec<_> = self.places(drive).filter(|(_, place)| place.is_apart).collect();
        found.sort_by(|one, two| two.1.distance().total_cmp(&one.1.distance()));
        found
    }

    /// The drives that lie apart from their peers, those that do so in the most figures first.
    pub fn odd(&self) -> Vec<usize> {
        let mut odd: Vec<(usize, usize)> = (0..self.drives.len())
            .map(|drive| (drive, self.apart(drive).len()))
            .filter(|(_, count)| *count > 0)
            .collect();
        odd.sort_by_key(|(drive, count)| (std::cmp::Reverse(*count), *drive));
        odd.into_iter().map(|(drive, _)| drive).collect()
    }

    /// Whether any of the drives is judged at all: peers are few where each is of another model.
    pub fn is_judged(&self) -> bool {
        self.peers.iter().flat_map(|peers| &peers.figures).any(FleetFigure::is_judged)
    }
}

impl FleetPeers {
    /// Tells which of them lie apart.
    fn judge(&mut self, rule: &FleetRule, distributions: &mut Distributions) {
        for figure in &mut self.figures {
            figure.score(distributions.of(figure.places.len()), rule.least);
        }
        let of = |drive: usize| {
            let places = self.figures.iter().enumerate().filter_map(move |(at, figure)| {
                let place = figure.places.iter().position(|place| place.drive == drive)?;
                Some((at, place, figure.places[place].p?))
            });
            places.collect::<Vec<_>>()
        };
        let tested: Vec<Vec<(usize, usize, f64)>> = self.drives.iter().map(|drive| of(*drive)).collect();
        let p_values: Vec<Vec<f64>> = tested.iter().map(|tests| tests.iter().map(|test| test.2).collect()).collect();
        for (tests, found) in tested.iter().zip(discoveries(&p_values, rule.rate)) {
            for (figure, place, _) in found.into_iter().map(|test| tests[test]) {
                self.figures[figure].places[place].is_apart = true;
            }
        }
    }
}

/// The distributions of scores by how many drives have a figure.
#[derive(Default)]
struct Distributions(Vec<(usize, Option<ScoreDistribution>)>);

impl Distributions {
    fn of(&mut self, count: usize) -> Option<&ScoreDistribution> {
        if !self.0.iter().any(|(known, _)| *known == count) {
            self.0.push((count, ScoreDistribution::of(count)));
        }
        self.0.iter().find(|(known, _)| *known == count).and_then(|(_, found)| found.as_ref())
    }
}

/// The last run of each drive, of which one that is complete counts before one that is not; and how many others there were.
fn last_of_each(runs: Vec<FleetDrive>) -> (Vec<FleetDrive>, usize) {
    let all = runs.len();
    let mut last: Vec<FleetDrive> = Vec::new();
    let rank = |drive: &FleetDrive| (drive.run.state == RunState::Complete, drive.run.started_ms, drive.run.id);
    for drive in runs {
        match last.iter_mut().find(|known| known.identity.is_same(&drive.identity)) {
            Some(known) if rank(known) < rank(&drive) => *known = drive,
            Some(_) => {}
            None => last.push(drive),
        }
    }
    let superseded = all - last.len();
    (last, superseded)
}

/// The drives by model and plan, with the figures that they share.
fn peers(drives: &[FleetDrive]) -> Vec<FleetPeers> {
    let complete = || drives.iter().enumerate().filter(|(_, drive)| drive.run.state == RunState::Complete);
    let plan = |drive: &FleetDrive| match drive.run.quick {
        true => format!("{}, quick", drive.run.plan),
        false => drive.run.plan.clone(),
    };
    let mut groups: Vec<(String, String, Vec<usize>)> = Vec::new();
    for (at, drive) in complete() {
        let (model, plan) = (drive.identity.model.clone(), plan(drive));
        match groups.iter_mut().find(|(known, by, _)| *known == model && *by == plan) {
            Some((_, _, members)) => members.push(at),
            None => groups.push((model, plan, vec![at])),
        }
    }
    let first = groups.first().map(|group| group.1.clone());
    let is_one_plan = groups.iter().all(|group| Some(&group.1) == first.as_ref());
    let titled = |(model, plan, members): (String, String, Vec<usize>)| FleetPeers {
        title: if is_one_plan { model } else { format!("{model}, plan {plan}") },
        figures: figure::shared(drives, &members),
        drives: members,
    };
    groups.into_iter().map(titled).collect()
}
