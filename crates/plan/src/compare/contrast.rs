//! One figure of one point in two runs.

use measurement::{Better, Clock};
use stats::{ALPHA, Interval, LogRatio, RankTest, Ratio, outliers};

use super::pool::by_run;
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
    /// Whether they are alike and simulated: then another run of the same gives the same.
    pub is_exact: bool,
}

impl ContrastSide {
    /// These figures of repeats; none where there are none.
    pub(super) fn from_samples(samples: Vec<f64>) -> Option<Self> {
        Some(Self { interval: Interval::of(&samples)?, outliers: outliers(&samples), samples, is_exact: false })
    }

    /// These figures of repeats, which were measured in simulated time or not; none where there are none.
    pub fn of_samples(samples: Vec<f64>, is_simulated: bool) -> Option<Self> {
        Some(Self::from_samples(samples)?.simulated(is_simulated))
    }

    /// The same, where `is_simulated` figures of two or more repeats are alike.
    fn simulated(self, is_simulated: bool) -> Self {
        let is_alike = self.samples.len() > 1 && self.samples.iter().all(|one| *one == self.samples[0]);
        Self { is_exact: is_simulated && is_alike, ..self }
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
    /// A figure of requests.
    pub fn by(metric: Metric) -> Self {
        Self {
            name: metric.title().to_owned(),
            unit: metric.unit().to_owned(),
            more_is_better: metric.more_is_better(),
            metric: metric.aspect().map(|aspect| (aspect, metric)),
        }
    }

    /// What is compared of `point`: of requests these aspects, of a trial all that is better one way if all is asked for.
    pub fn of(point: &PointOutcome, aspects: &[Aspect], is_all: bool) -> Vec<Self> {
        let Some(workload) = point.workload() else {
            let first = point.repeats.first().filter(|_| is_all).map_or_else(Vec::new, crate::Repeat::figures);
            let is_better = first.into_iter().filter(|figure| figure.better != Better::Neither);
            let of = |figure: measurement::Figure| {
                let more_is_better = figure.better == Better::More;
                Self { name: figure.name, unit: figure.unit, more_is_better, metric: None }
            };
            return is_better.map(of).collect();
        };
        aspects.iter().map(|aspect| Self::by(aspect.metric(workload.pattern))).collect()
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
    pub fn side(&self, point: &PointOutcome) -> Option<ContrastSide> {
        let needed = self.metric.map_or(0, |(_, metric)| metric.requests_needed());
        let is_told = point.measurements().all(|repeat| repeat.requests() >= needed);
        let side =
            is_told.then(|| by_run(point.samples(&self.name), &point.runs)).and_then(ContrastSide::from_samples)?;
        let is_simulated = point.workload().is_some() && point.measurements().all(|one| one.clock == Clock::Virtual);
        let interval = point.interval(&self.name, &side.samples)?;
        Some(ContrastSide { interval, ..side }.simulated(is_simulated))
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
    /// The place of the key figure that it is among [`Question::key`](super::Question::key); none of the others, which are
    /// exploratory.
    pub key: Option<usize>,
    /// Whether it is throughput turned over, as mean latency is where so many requests are always in flight: then
    /// the two are one question, and share the test of throughput.
    pub follows: bool,
    /// Whether it is more than chance; none where so few repeats can never show it.
    pub test: Option<ContrastTest>,
}

/// A test as one of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastTest {
    /// What it is made by.
    pub basis: TestBasis,
    /// Its p, corrected for the others of its family.
    pub adjusted: f64,
    /// The least that it can come to in this family, whatever is measured.
    pub least: f64,
}

/// By what two sides are tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TestBasis {
    /// The ratio of their means: of key figures, and of pairs.
    Means(LogRatio),
    /// Their ranks: of all other figures.
    Ranks(RankTest),
    /// Nothing scatters on either side: what differs, differs.
    Exact(LogRatio),
}

impl TestBasis {
    /// The test of two sides; none where so few repeats could not reach the bound even by themselves.
    pub(super) fn of(before: &ContrastSide, after: &ContrastSide, by: TestKind) -> Option<Self> {
        let means = || LogRatio::of(&before.samples, &after.samples);
        if before.is_exact && after.is_exact {
            return means().map(Self::Exact);
        }
        // On a real drive figures that happen to agree still scatter.
        let of_means = match by {
            TestKind::Pairs => LogRatio::paired(&before.samples, &after.samples),
            TestKind::Means => means(),
            TestKind::Ranks => None,
        };
        if let Some(found) = of_means.filter(|found| !found.is_exact()) {
            return Some(Self::Means(found));
        }
        let least = RankTest::least_p(before.samples.len(), after.samples.len());
        RankTest::of(&before.samples, &after.samples).filter(|_| least < ALPHA).map(Self::Ranks)
    }

    /// Its p by itself.
    pub fn p(&self) -> f64 {
        match self {
            Self::Means(found) | Self::Exact(found) => found.p(),
            Self::Ranks(found) => found.p,
        }
    }

    /// The least that it could have come to, whatever was measured.
    pub(super) fn least(&self, before: &ContrastSide, after: &ContrastSide) -> f64 {
        match self {
            Self::Means(_) | Self::Exact(_) => 0.0,
            Self::Ranks(_) => RankTest::least_p(before.samples.len(), after.samples.len()),
        }
    }

    /// Whether the second side tends to be larger; none where neither does.
    pub fn is_larger(&self) -> Option<bool> {
        match self {
            Self::Means(found) | Self::Exact(found) => (found.log != 0.0).then_some(found.log > 0.0),
            Self::Ranks(found) => found.is_larger(),
        }
    }

    /// The word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Means(_) => "means",
            Self::Ranks(_) => "ranks",
            Self::Exact(_) => "exact",
        }
    }
}

/// How a figure is tested where it scatters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestKind {
    Pairs,
    Means,
    Ranks,
}

impl ContrastTest {
    /// The same test of a figure that falls where this one's rises.
    pub(super) fn turned(&self) -> Self {
        let turned = |found: LogRatio| LogRatio { log: -found.log, ..found };
        let basis = match self.basis {
            TestBasis::Means(found) => TestBasis::Means(turned(found)),
            TestBasis::Exact(found) => TestBasis::Exact(turned(found)),
            TestBasis::Ranks(rank) => TestBasis::Ranks(RankTest { u: rank.pairs - rank.u, ..rank }),
        };
        Self { basis, ..*self }
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
        match test.adjusted < ALPHA && test.basis.is_larger() == Some(is_larger) {
            false => Significance::NotShown,
            true if is_larger == self.figure.more_is_better => Significance::Better,
            true => Significance::Worse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(metric: Metric, before: &[f64], after: &[f64]) -> Contrast {
        let side = |samples: &[f64]| ContrastSide::from_samples(samples.to_vec()).unwrap();
        let (before, after) = (side(before), side(after));
        let basis = TestBasis::of(&before, &after, TestKind::Ranks).unwrap();
        let least = basis.least(&before, &after);
        let (name, unit) = (metric.title().to_owned(), metric.unit().to_owned());
        let metric = metric.aspect().map(|aspect| (aspect, metric));
        let more_is_better = metric.is_some_and(|(_, metric)| metric.more_is_better());
        Contrast {
            step: 0,
            point: 0,
            other: 1,
            figure: Compared { name, unit, more_is_better, metric },
            ratio: Ratio::of(&before.samples, &after.samples).unwrap(),
            before,
            after,
            key: None,
            follows: false,
            test: Some(ContrastTest { basis, adjusted: basis.p(), least }),
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
    fn what_follows_throughput_has_its_test_the_other_way_round() {
        let throughput = contrast(Metric::Iops, &QUICK, &SLOW);
        let times = |rates: &[f64]| rates.iter().map(|rate| 1e6 / rate).collect::<Vec<f64>>();
        let latency = contrast(Metric::LatencyMean, &times(&QUICK), &times(&SLOW));
        assert_eq!(throughput.test.map(|test| test.turned()), latency.test);
        assert_eq!((throughput.verdict(), latency.verdict()), (Significance::Worse, Significance::Worse));
    }

    #[test]
    fn what_is_simulated_and_alike_differs_where_it_differs_and_real_figures_that_agree_still_scatter() {
        let side = |value: f64, repeats: usize, is_simulated: bool| {
            ContrastSide::from_samples(vec![value; repeats]).unwrap().simulated(is_simulated)
        };
        let test = |one: &ContrastSide, other: &ContrastSide| TestBasis::of(one, other, TestKind::Means);
        let exact = test(&side(100.0, 2, true), &side(99.0, 2, true)).unwrap();
        assert_eq!((exact.name(), exact.p(), exact.is_larger()), ("exact", 0.0, Some(false)));
        assert_eq!(test(&side(100.0, 2, true), &side(100.0, 2, true)).unwrap().p(), 1.0);
        assert_eq!(test(&side(100.0, 3, false), &side(99.0, 3, false)), None, "three repeats on a real drive");
        assert_eq!(test(&side(100.0, 1, true), &side(99.0, 1, true)), None, "measured once");
        assert_eq!(test(&side(100.0, 5, false), &side(99.0, 5, false)).unwrap().name(), "ranks");
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
