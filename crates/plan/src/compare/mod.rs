//! Runs held against each other: which figures differ, by how much, and whether that is more than chance.

mod caveat;
mod contrast;
mod error;
mod pool;
mod ranking;
mod shared;
mod standings;

use std::collections::HashMap;

use contrast::TestKind;
pub use contrast::{Compared, Contrast, ContrastSide, ContrastTest, Significance, TestBasis};
pub use error::CompareError;
use measurement::{Run, RunState};
pub use pool::pooled;
pub use ranking::{Family, RANKED_FROM, Ranked, RankedFigure, Ranking};
pub(crate) use shared::places;
use shared::{CellLocation, counterpart};
pub use shared::{Unshared, Why};
pub use standings::{Standing, Standings};
use stats::{LogRatio, RankTest, Ratio, benjamini_hochberg, holm};
use workload::Arrival;

use crate::{Aspect, Metric, Outcome};

/// What is asked of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The figures that decide, which are tested as a family of their own: those of the report's summary.
    pub key: Vec<KeyPlace>,
    /// Whether the repeats of the runs were made in pairs: the first of each beside the other, and so on.
    pub paired: bool,
    /// These steps alone, by name; all where empty.
    pub steps: Vec<String>,
    /// These figures alone; all where empty.
    pub aspects: Vec<Aspect>,
}

/// A key figure and where it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlace {
    /// The name of the step.
    pub step: String,
    /// The key of the point in it.
    pub cell: String,
    pub metric: Metric,
    /// What people call it: `Random read, 4 KiB, queue depth 32, worn`.
    pub title: String,
}

impl Question {
    /// The figures that are asked for, in the order of tables.
    pub fn aspects(&self) -> Vec<Aspect> {
        match self.aspects.is_empty() {
            true => Aspect::usual(),
            false => Aspect::all().into_iter().filter(|aspect| self.aspects.contains(aspect)).collect(),
        }
    }

    /// The figures that are compared at a point: those asked for and, where none are, the key figures measured there.
    fn aspects_at(&self, step: &str, cell: &str) -> Vec<Aspect> {
        let mut aspects = self.aspects();
        let of_point = self.key.iter().filter(|key| self.aspects.is_empty() && key.step == step && key.cell == cell);
        for aspect in of_point.filter_map(|key| key.metric.aspect()) {
            if !aspects.contains(&aspect) {
                aspects.push(aspect);
            }
        }
        aspects
    }

    /// The place among the key figures of this figure of a point.
    fn key_at(&self, step: &str, cell: &str, figure: &Compared) -> Option<usize> {
        let (_, metric) = figure.metric?;
        self.key.iter().position(|key| key.metric == metric && key.step == step && key.cell == cell)
    }

    fn asks(&self, step: &str) -> bool {
        self.steps.is_empty() || self.steps.iter().any(|name| name == step)
    }
}

/// Runs held against the first of them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The runs; the first is what the others are held against.
    pub outcomes: Vec<Outcome>,
    /// What was asked.
    pub question: Question,
    /// Every figure of every shared point, in the order of the first run's plan, a run after the other within a figure.
    /// Where certain figures were asked for, trials have none.
    pub contrasts: Vec<Contrast>,
    /// The first run's points that another does not share.
    pub unshared: Vec<Unshared>,
    /// What else differs between the runs, and how sure the tests can be.
    pub caveats: Vec<String>,
}

impl Comparison {
    /// Holds `outcomes` against the first of them.
    ///
    /// The key figures are one family, over which Holm's correction is made; the others are another, under control of the
    /// share of false discoveries. Mean latency that is throughput turned over is no question of its own, has the test of
    /// throughput and does not count. One whose repeats could not reach 5 % even by itself is no test and does not count
    /// among them.
    ///
    /// # Errors
    /// If there are not two different, finished runs, if two share no point, or a step asked for is not there.
    pub fn of(outcomes: Vec<Outcome>, question: Question) -> Result<Self, CompareError> {
        check(&outcomes)?;
        let (base, others) = outcomes.split_first().ok_or(CompareError::Alone)?;
        check_steps(base, &question)?;
        let mut found = ComparisonParts::default();
        for place in places(base).filter(|place| question.asks(place.name)) {
            // What is asked of cells alone says nothing of what trials lack.
            if place.measured.workload().is_some() || question.aspects.is_empty() {
                found.hold(&place, others, &question);
            }
        }
        for (at, other) in others.iter().enumerate() {
            if !found.contrasts.iter().any(|one| one.other == at + 1) {
                let why = found.why(at + 1);
                return Err(CompareError::NothingShared { base: base.run.id, other: other.run.id, why });
            }
        }
        let ComparisonParts { mut contrasts, unshared } = found;
        correct(&mut contrasts);
        let caveats = others.iter().flat_map(|other| caveat::caveats(&base.run, &other.run)).collect();
        Ok(Self { question, contrasts, unshared, caveats, outcomes })
    }

    /// The run that the others are held against.
    pub fn base(&self) -> &Run {
        &self.outcomes[0].run
    }

    /// The key figures in the run at this place, in the order of the summary.
    pub fn key(&self, other: usize) -> Vec<&Contrast> {
        let mut found: Vec<&Contrast> =
            self.contrasts.iter().filter(|one| one.other == other && one.key.is_some()).collect();
        found.sort_by_key(|one| one.key);
        found
    }

    /// How many tests a family has, over which p is corrected: that of the key figures, or that of the others.
    pub fn tests(&self, of_key: bool) -> usize {
        let counts = |one: &&Contrast| one.key.is_some() == of_key && !one.follows && one.test.is_some();
        self.contrasts.iter().filter(counts).count()
    }

    /// How many comparisons have this verdict.
    pub fn count(&self, verdict: Significance) -> usize {
        self.contrasts.iter().filter(|one| one.verdict() == verdict).count()
    }

    /// How many repeats each point needs in each run before each figure can be called real: two for the ratio of key
    /// figures, more for ranks.
    pub fn repeats_needed(&self) -> usize {
        let is_by_means = |one: &Contrast| one.key.is_some() || self.question.paired;
        if self.contrasts.iter().all(is_by_means) { 2 } else { RankTest::repeats_needed(1) }
    }
}

/// What is found on the way.
#[derive(Default)]
struct ComparisonParts {
    contrasts: Vec<Contrast>,
    unshared: Vec<Unshared>,
}

impl ComparisonParts {
    /// Holds one point of the first run against that of each other.
    fn hold(&mut self, place: &CellLocation, others: &[Outcome], question: &Question) {
        let cell = place.measured.key();
        let counterparts: Vec<_> = others.iter().map(|other| counterpart(other, place)).collect();
        for (at, why) in counterparts.iter().enumerate().filter_map(|(at, found)| Some((at, found.err()?))) {
            let step = place.name.to_owned();
            self.unshared.push(Unshared { other: at + 1, step, cell: cell.clone(), why });
        }
        let aspects = question.aspects_at(place.name, &cell);
        let is_open = place.measured.workload().is_some_and(|workload| workload.arrival == Arrival::default());
        for figure in Compared::of(place.measured, &aspects, question.aspects.is_empty()) {
            let Some(before) = figure.side(place.measured) else { continue };
            let key = question.key_at(place.name, &cell, &figure);
            let is_mean = figure.metric.is_some_and(|(_, metric)| metric == Metric::LatencyMean);
            let follows = is_mean && is_open && aspects.contains(&Aspect::THROUGHPUT);
            for (at, counterpart) in counterparts.iter().enumerate() {
                let Some(after) = counterpart.ok().and_then(|point| figure.side(point)) else { continue };
                let Some(ratio) = question.ratio(&before, &after) else { continue };
                let by = question.kind(key, &before, &after);
                let basis = if follows { None } else { TestBasis::of(&before, &after, by) };
                let test = basis.map(|basis| {
                    let least = basis.least(&before, &after);
                    ContrastTest { basis, adjusted: basis.p(), least }
                });
                let (step, point, other) = (place.step, place.point, at + 1);
                let (figure, before) = (figure.clone(), before.clone());
                self.contrasts.push(Contrast { step, point, other, figure, before, after, ratio, key, follows, test });
            }
        }
    }

    /// Why a run shares nothing: the reason that most of the cells have.
    fn why(&self, other: usize) -> String {
        let reasons = [Why::NoStep, Why::NoCell, Why::OtherWorkload, Why::NotMeasured];
        let times = |why: &Why| self.unshared.iter().filter(|one| one.other == other && one.why == *why).count();
        let main = reasons.into_iter().max_by_key(times).filter(|why| times(why) > 0);
        let first = main.and_then(|why| self.unshared.iter().find(|one| one.other == other && one.why == why));
        match first {
            Some(Unshared { step, why, .. }) => format!("of step `{step}`, {why}"),
            None => "the first run has no requested figure with repeats".to_owned(),
        }
    }
}

impl Question {
    /// How a figure is tested.
    fn kind(&self, key: Option<usize>, before: &ContrastSide, after: &ContrastSide) -> TestKind {
        match key {
            _ if self.paired && before.samples.len() == after.samples.len() => TestKind::Pairs,
            Some(_) => TestKind::Means,
            None => TestKind::Ranks,
        }
    }

    /// The ratio of two sides: of pairs that of each pair, else that of the means.
    fn ratio(&self, before: &ContrastSide, after: &ContrastSide) -> Option<Ratio> {
        let paired = LogRatio::paired(&before.samples, &after.samples).filter(|_| self.paired);
        let of_pairs = |found: LogRatio| Ratio { ratio: found.ratio(), bounds: Some(found.bounds()) };
        paired.map(of_pairs).or_else(|| Ratio::of(&before.samples, &after.samples))
    }
}

/// Corrects each family of tests: of what was found, and of the least that could have been.
fn correct(contrasts: &mut [Contrast]) {
    for (of_key, correction) in [(true, holm as fn(&[f64]) -> Vec<f64>), (false, benjamini_hochberg)] {
        let family = contrasts.iter_mut().filter(|contrast| contrast.key.is_some() == of_key);
        let mut tests: Vec<&mut ContrastTest> = family.filter_map(|contrast| contrast.test.as_mut()).collect();
        let adjusted = correction(&tests.iter().map(|test| test.basis.p()).collect::<Vec<_>>());
        let least = correction(&tests.iter().map(|test| test.least).collect::<Vec<_>>());
        for ((test, adjusted), least) in tests.iter_mut().zip(adjusted).zip(least) {
            (test.adjusted, test.least) = (adjusted, least);
        }
    }
    // Asked in order, the throughput of a cell in a run has come before the mean latency that follows it.
    let mut led: HashMap<(usize, usize, usize), ContrastTest> = HashMap::new();
    for one in contrasts {
        let place = (one.step, one.point, one.other);
        if one.follows {
            one.test = led.get(&place).map(ContrastTest::turned);
        } else if one.aspect() == Some(Aspect::THROUGHPUT) {
            led.extend(one.test.map(|test| (place, test)));
        }
    }
}

fn check(outcomes: &[Outcome]) -> Result<(), CompareError> {
    if outcomes.len() < 2 {
        return Err(CompareError::Alone);
    }
    outcomes.iter().enumerate().try_for_each(|(place, outcome)| check_one(outcome, &outcomes[..place]))
}

/// Makes sure that a run is finished, and none of those `before`.
fn check_one(outcome: &Outcome, before: &[Outcome]) -> Result<(), CompareError> {
    let run = &outcome.run;
    if let Some(twice) = outcome.runs().find(|id| before.iter().flat_map(Outcome::runs).any(|other| other == *id)) {
        return Err(CompareError::Twice { run: twice });
    }
    match run.state {
        RunState::Complete => Ok(()),
        RunState::Running => Err(CompareError::Running { run: run.id }),
        RunState::Interrupted => Err(CompareError::Interrupted { run: run.id }),
        RunState::Failed => {
            let reason = run.error.clone().unwrap_or_else(|| "for no reason that was kept".to_owned());
            Err(CompareError::Failed { run: run.id, reason })
        }
    }
}

fn check_steps(base: &Outcome, question: &Question) -> Result<(), CompareError> {
    let mut known: Vec<&str> = places(base).map(|place| place.name).collect();
    known.dedup();
    match question.steps.iter().find(|step| !known.contains(&step.as_str())) {
        None => Ok(()),
        Some(found) => {
            let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            Err(CompareError::NoSuchStep { run: base.run.id, found: found.clone(), known })
        }
    }
}
