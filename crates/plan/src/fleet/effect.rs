//! What the host limits: the same drives measured one after the other and side by side.

use stats::{ALPHA, LogRatio, holm};

use super::figure::{FleetFigure, FleetPlace};
use super::peers::Fleet;

/// The figures of drives in two groups of runs, each held against itself.
#[derive(Clone, Debug)]
pub struct FleetEffects {
    /// How many drives are in both.
    pub drives: usize,
    /// Drives, by their names, that only one of the two has.
    pub unshared: Vec<String>,
    pub figures: Vec<FleetEffect>,
}

/// A key figure of drives before and after, or alone and together.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetEffect {
    /// The drives of which it is: the title of [`FleetPeers`](super::FleetPeers).
    pub peers: String,
    pub title: String,
    pub unit: String,
    pub more_is_better: bool,
    /// The drives that have it in both, by their places in the second fleet, with the mean of each in the first and the second.
    pub pairs: Vec<(usize, f64, f64)>,
    /// The geometric mean of the ratios of the second to the first with its interval; none of a single drive.
    pub ratio: Option<LogRatio>,
    /// The p that the ratio is one, after Holm's correction over the figures.
    pub p: Option<f64>,
}

impl FleetEffects {
    /// Holds the drives of `now` against themselves in `before`. The drive is the unit: its ratio is one value of the test.
    pub fn of(before: &Fleet, now: &Fleet) -> Self {
        let counterpart =
            |drive: usize| before.drives.iter().position(|other| other.identity.is_same(&now.drives[drive].identity));
        let counterparts: Vec<Option<usize>> = (0..now.drives.len()).map(counterpart).collect();
        let mut figures = Vec::new();
        for peers in &now.peers {
            figures.extend(peers.figures.iter().filter_map(|figure| {
                effect(&peers.title, figure, &|drive| {
                    let mut known = before.places(counterparts[drive]?);
                    known.find(|(other, _)| other.title == figure.title).map(|(_, place)| place.side.interval.mean)
                })
            }));
        }
        let tested: Vec<usize> = (0..figures.len()).filter(|at| figures[*at].ratio.is_some()).collect();
        let p_values: Vec<f64> = tested.iter().filter_map(|at| Some(figures[*at].ratio?.p())).collect();
        for (at, p) in tested.into_iter().zip(holm(&p_values)) {
            figures[at].p = Some(p);
        }
        let only_now = (0..now.drives.len()).filter(|at| counterparts[*at].is_none()).map(|at| &now.drives[at]);
        let only_before = (0..before.drives.len()).filter(|at| !counterparts.contains(&Some(*at)));
        let unshared = only_now.chain(only_before.map(|at| &before.drives[at]));
        let unshared = unshared.map(|drive| drive.identity.label().to_owned()).collect();
        Self { drives: counterparts.iter().flatten().count(), unshared, figures }
    }
}

impl FleetEffect {
    /// Whether the drives surely differ from themselves.
    pub fn is_sure(&self) -> bool {
        self.p.is_some_and(|p| p < ALPHA)
    }

    /// Whether the second is worse.
    pub fn is_worse(&self) -> bool {
        self.ratio.is_some_and(|ratio| (ratio.log < 0.0) == self.more_is_better && ratio.log != 0.0)
    }

    /// What all drives give together, before and now: of rates, which add up.
    pub fn sums(&self) -> Option<(f64, f64)> {
        let sum = |of: fn(&(usize, f64, f64)) -> f64| self.pairs.iter().map(of).sum();
        self.more_is_better.then(|| (sum(|pair| pair.1), sum(|pair| pair.2)))
    }
}

/// The figure in both; none where no drive has it in both.
fn effect(peers: &str, figure: &FleetFigure, before: &dyn Fn(usize) -> Option<f64>) -> Option<FleetEffect> {
    let pair = |place: &FleetPlace| Some((place.drive, before(place.drive)?, place.side.interval.mean));
    let pairs: Vec<(usize, f64, f64)> = figure.places.iter().filter_map(pair).collect();
    let side = |of: fn(&(usize, f64, f64)) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
    let ratio = LogRatio::paired(&side(|pair| pair.1), &side(|pair| pair.2));
    (!pairs.is_empty()).then(|| FleetEffect {
        peers: peers.to_owned(),
        title: figure.title.clone(),
        unit: figure.unit.clone(),
        more_is_better: figure.more_is_better,
        pairs,
        ratio,
        p: None,
    })
}
