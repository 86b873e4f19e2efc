//! One key figure over all drives of a model.

use stats::{LogRatio, RobustSpread, ScoreDistribution};

use super::drive::{FleetDrive, FleetReading};
use crate::compare::ContrastSide;

/// Logarithms nearer than this are one: a histogram tells times apart no finer.
const RESOLUTION: f64 = 1e-3;

/// A key figure over all drives of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetFigure {
    /// What people call it.
    pub title: String,
    pub unit: String,
    pub more_is_better: bool,
    /// The median over the drives.
    pub median: f64,
    /// How far drives usually lie from it, as a share: the scaled median absolute deviation of the logarithms.
    pub deviation: f64,
    /// The drives that have it, in the order of the fleet.
    pub places: Vec<FleetPlace>,
}

/// Where a drive stands in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetPlace {
    /// The drive's place in the fleet.
    pub drive: usize,
    /// What its repeats gave.
    pub side: ContrastSide,
    /// Its mean divided by the median.
    pub ratio: f64,
    /// How many deviations its logarithm lies above that of the median.
    pub score: f64,
    /// How often one of as many alike drives lies as far out, or where that is more, repeats of a drive that is at the median
    /// do; none where there are too few drives to say. One where it is nearer to the median than is told apart.
    pub p: Option<f64>,
    /// Whether it lies apart from its peers, at the fleet's rate of false discoveries.
    pub is_apart: bool,
    /// Whether it is worse than the median.
    pub is_worse: bool,
}

impl FleetPlace {
    /// How far from the median it is, either way: the logarithm of the ratio.
    pub fn distance(&self) -> f64 {
        self.ratio.ln().abs()
    }
}

impl FleetFigure {
    /// Whether there are drives enough to tell one that lies apart.
    pub fn is_judged(&self) -> bool {
        self.places.iter().any(|place| place.p.is_some())
    }

    /// Gives each place its p.
    pub(super) fn score(&mut self, distribution: Option<&ScoreDistribution>, least: f64) {
        for place in &mut self.places {
            // A ratio below one is as far as its reciprocal is.
            let is_near = place.distance() < (1.0 + least).ln();
            // Drives that are measured alike may lie nearer together than any of them can be measured.
            let own = LogRatio::to_value(&place.side.samples, self.median).map_or(0.0, |ratio| ratio.p());
            place.p = distribution.map(|distribution| if is_near { 1.0 } else { distribution.p(place.score).max(own) });
        }
    }

    /// Of what the drives gave; none where fewer than two have it above zero, whose logarithm is none.
    fn of(title: &str, drives: &[FleetDrive], members: &[usize]) -> Option<Self> {
        let reading = |drive: &usize| {
            let found = drives[*drive].readings.iter().find(|reading| reading.title == title)?;
            (found.side.interval.mean > 0.0).then_some((*drive, found))
        };
        let found: Vec<_> = members.iter().filter_map(reading).collect();
        let (_, first) = *found.first().filter(|_| found.len() > 1)?;
        let means: Vec<f64> = found.iter().map(|(_, reading)| reading.side.interval.mean.ln()).collect();
        let spread = RobustSpread::of(&means)?;
        let place = |((drive, reading), mean): (&(usize, &FleetReading), &f64)| FleetPlace {
            drive: *drive,
            side: reading.side.clone(),
            ratio: (mean - spread.median).exp(),
            score: spread.score(*mean, RESOLUTION),
            p: None,
            is_apart: false,
            is_worse: (*mean < spread.median) == first.more_is_better && *mean != spread.median,
        };
        Some(Self {
            title: title.to_owned(),
            unit: first.unit.clone(),
            more_is_better: first.more_is_better,
            median: spread.median.exp(),
            deviation: spread.deviation.exp_m1(),
            places: found.iter().zip(&means).map(place).collect(),
        })
    }
}

/// The figures that two of the `members` have at least, in the order in which the drives have them.
pub(super) fn shared(drives: &[FleetDrive], members: &[usize]) -> Vec<FleetFigure> {
    let mut titles: Vec<&str> = Vec::new();
    for reading in members.iter().flat_map(|drive| &drives[*drive].readings) {
        if !titles.contains(&reading.title.as_str()) {
            titles.push(&reading.title);
        }
    }
    titles.into_iter().filter_map(|title| FleetFigure::of(title, drives, members)).collect()
}
