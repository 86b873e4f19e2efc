//! One figure of one point in two runs.

use measurement::Better;
use stats::{ALPHA, Interval, RankTest, Ratio, outliers};

use crate::{Aspect, Metric, PointOutcome};

/// What the repeats of one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastSide {
    /// The figure of each repeat.
    pub samples: Vec<f64>,
    /// Their mean with its interval.
    pub interval: Interval,
    /// The places of those that lie apart from the others; they count all the same.
    pub outliers: Vec<usize>,
}

impl ContrastSide {
    /// These figures of repeats; none where there are none.
    pub(super) fn from_samples(samples: Vec<f64>) -> Option<Self> {
        Some(Self { interval: Interval::of(&samples)?, outliers: outliers(&samples), samples })
    }
}

/// A figure that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its name, as people read it.
    pub name: String,
    /// Its unit: of requests as the report shows it, of trials as they give it.
    pub unit: String,
    pub more_is_better: bool,
    /// What it is of requests, and by which name it is asked for; none of a trial.
    pub metric: Option<(Aspect, Metric)>,
}

impl Compared {
    /// What is compared of `point`: of requests these aspects, of a trial all that is better one way if all is asked for.
    pub(super) fn of(point: &PointOutcome, aspects: &[Aspect], is_all: bool) -> Vec<Self> {
        let Some(workload) = point.workload() else {
            let first = point.repeats.first().filter(|_| is_all).map_or_else(Vec::new, crate::Repeat::figures);
            let is_better = first.into_iter().filter(|figure| figure.better != Better::Neither);
            let of = |figure: measurement::Figure| {
                let more_is_better = figure.better == Better::More;
                Self { name: figure.name, unit: figure.unit, more_is_better, metric: None }
            };
            return is_better.map(of).collect();
        };
        let of = |aspect: &Aspect| {
            let metric = aspect.metric(workload.pattern);
            let (name, unit) = (metric.title().to_owned(), metric.unit().to_owned());
            Self { name, unit, more_is_better: metric.more_is_better(), metric: Some((*aspect, metric)) }
        };
        aspects.iter().map(of).collect()
    }

    /// What heads its tables, which no other figure of the step has: of requests by what it was asked for.
    pub fn title(&self) -> &str {
        self.metric.map_or(&self.name, |(aspect, _)| aspect.title())
    }

    /// Which way is better, in words.
    pub fn better(&self) -> &'static str {
        if self.more_is_better { "more is better" } else { "less is better" }
    }

    /// The figure at `point`; none where it does not give it, or a repeat made too few requests to tell.
    pub(super) fn side(&self, point: &PointOutcome) -> Option<ContrastSide> {
        let needed = self.metric.map_or(0, |(_, metric)| metric.requests_needed());
        let is_told = point.measurements().all(|repeat| repeat.requests() >= needed);
        is_told.then(|| point.samples(&self.name)).and_then(ContrastSide::from_samples)
    }
}

/// A figure of a point that two runs share.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The place of the step among the first run's [`steps`](crate::Outcome::steps).
    pub step: usize,
    /// The place of the point in that step.
    pub point: usize,
    /// The place of the other run among those compared.
    pub other: usize,
    /// What is compared.
    pub figure: Compared,
    /// The figure in the first run.
    pub before: ContrastSide,
    /// The figure in the other.
    pub after: ContrastSide,
    /// The other's mean divided by the first's, with its interval.
    pub ratio: Ratio,
    /// Whether it is throughput turned over, as mean latency is where so many requests are always in flight: then
    /// the two are one question, and share the test of throughput.
    pub follows: bool,
    /// Whether it is more than chance; none where so few repeats can never show it.
    pub test: Option<ContrastTest>,
}

/// A rank test as one of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastTest {
    /// The test by itself.
    pub rank: RankTest,
    /// Its p, raised by Holm's correction over the table.
    pub adjusted: f64,
    /// The least that it can come to in this table, whatever is measured.
    pub least: f64,
}

impl ContrastTest {
    /// The same test of a figure that falls where this one's rises.
    pub(super) fn turned(&self) -> Self {
        Self { rank: RankTest { u: self.rank.pairs - self.rank.u, ..self.rank }, ..*self }
    }
}

/// What can be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// Better, and more than chance.
    Better,
    /// Worse, and more than chance.
    Worse,
    /// It may be chance.
    NotShown,
    /// So few repeats can never show it among so many comparisons.
    CannotBeShown,
}

impl Significance {
    /// The word for programs and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotShown => "not shown",
            Self::CannotBeShown => "cannot be shown",
        }
    }

    /// Whether the difference is more than chance.
    pub const fn is_real(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }
}

impl Contrast {
    /// By what it was asked for; none of a trial.
    pub fn aspect(&self) -> Option<Aspect> {
        self.figure.metric.map(|(aspect, _)| aspect)
    }

    /// What can be said of the difference.
    ///
    /// It is real if the corrected test says so and the means differ the same way as the ranks do: one repeat far
    /// off can turn a mean against all others, and then neither direction is shown.
    pub fn verdict(&self) -> Significance {
        let Some(test) = self.test.filter(|test| test.least < ALPHA) else { return Significance::CannotBeShown };
        let is_larger = self.ratio.ratio > 1.0;
        match test.adjusted < ALPHA && test.rank.is_larger() == Some(is_larger) {
            false => Significance::NotShown,
            true if is_larger == self.figure.more_is_better => Significance::Better,
            true => Significance::Worse,
        }
    }

    /// By what share the other run's figure is worse; negative where it is better.
    pub fn loss(&self) -> f64 {
        if self.figure.more_is_better { 1.0 - self.ratio.ratio } else { self.ratio.ratio - 1.0 }
    }

    /// Whether it is really worse, and by more than `share`.
    pub fn is_worse_than(&self, share: f64) -> bool {
        self.verdict() == Significance::Worse && self.loss() > share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(metric: Metric, before: &[f64], after: &[f64]) -> Contrast {
        let side = |samples: &[f64]| ContrastSide::from_samples(samples.to_vec()).unwrap();
        let rank = RankTest::of(before, after).unwrap();
        let least = RankTest::least_p(before.len(), after.len());
        let (name, unit) = (metric.title().to_owned(), metric.unit().to_owned());
        let metric = metric.aspect().map(|aspect| (aspect, metric));
        let more_is_better = metric.is_some_and(|(_, metric)| metric.more_is_better());
        Contrast {
            step: 0,
            point: 0,
            other: 1,
            figure: Compared { name, unit, more_is_better, metric },
            before: side(before),
            after: side(after),
            ratio: Ratio::of(before, after).unwrap(),
            follows: false,
            test: Some(ContrastTest { rank, adjusted: rank.p, least }),
        }
    }

    const QUICK: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];
    const SLOW: [f64; 5] = [94.0, 95.0, 93.0, 94.5, 93.5];

    #[test]
    fn which_way_is_worse_depends_on_the_figure() {
        assert_eq!(contrast(Metric::Iops, &QUICK, &SLOW).verdict(), Significance::Worse);
        assert_eq!(contrast(Metric::Latency99, &QUICK, &SLOW).verdict(), Significance::Better);
        assert_eq!(contrast(Metric::Iops, &QUICK, &QUICK).verdict(), Significance::NotShown);
    }

    #[test]
    fn a_guard_minds_the_size_and_the_surety() {
        let (worse, shorter) = (contrast(Metric::Iops, &QUICK, &SLOW), contrast(Metric::LatencyMean, &QUICK, &SLOW));
        assert!((worse.loss() - 0.06).abs() < 1e-9);
        assert!(worse.is_worse_than(0.05) && !worse.is_worse_than(0.07));
        assert!(!shorter.is_worse_than(0.05), "shorter is better");
        let unsure = contrast(Metric::Iops, &QUICK, &[100.2, 40.0, 101.5, 99.1, 100.1]);
        assert!(unsure.loss() > 0.05 && !unsure.is_worse_than(0.05), "one repeat far off");
    }

    #[test]
    fn what_follows_throughput_has_its_test_the_other_way_round() {
        let throughput = contrast(Metric::Iops, &QUICK, &SLOW);
        let times = |rates: &[f64]| rates.iter().map(|rate| 1e6 / rate).collect::<Vec<f64>>();
        let latency = contrast(Metric::LatencyMean, &times(&QUICK), &times(&SLOW));
        assert_eq!(throughput.test.map(|test| test.turned()), latency.test);
        assert_eq!((throughput.verdict(), latency.verdict()), (Significance::Worse, Significance::Worse));
    }

    #[test]
    fn a_mean_turned_by_one_repeat_shows_neither_direction() {
        let before = [100.0, 100.1, 100.2, 100.3, 100.4, 100.5];
        let torn = contrast(Metric::Iops, &before, &[101.0, 101.1, 101.2, 101.3, 101.4, 50.0]);
        assert!(torn.ratio.ratio < 1.0);
        let torn = Contrast { test: torn.test.map(|test| ContrastTest { adjusted: 0.01, ..test }), ..torn };
        assert_eq!(torn.verdict(), Significance::NotShown);
    }
}
