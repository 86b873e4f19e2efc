//! Runs held against each other: which figures differ, by how much, and whether that is more than chance.

mod caveat;
mod contrast;
mod error;
mod shared;
mod standings;

use std::collections::HashMap;

pub use contrast::{Compared, Contrast, ContrastSide, ContrastTest, Significance};
pub use error::CompareError;
use measurement::{Run, RunState};
use shared::{CellLocation, counterpart, places};
pub use shared::{Unshared, Why};
pub use standings::{Standing, Standings};
use stats::{ALPHA, RankTest, Ratio, holm};
use workload::Arrival;

use crate::{Aspect, Metric, Outcome};

/// What is asked of a comparison. The fewer figures, the fewer repeats it takes to call one real.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// These steps alone, by name; all where empty.
    pub steps: Vec<String>,
    /// These figures alone; all where empty.
    pub aspects: Vec<Aspect>,
}

impl Question {
    /// The figures that are asked for, in the order of tables.
    pub fn aspects(&self) -> Vec<Aspect> {
        let is_asked = |aspect: &Aspect| self.aspects.is_empty() || self.aspects.contains(aspect);
        Aspect::all().into_iter().filter(is_asked).collect()
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
    /// All comparisons make one table, over which Holm's correction is made. Mean latency that is throughput turned over is
    /// no question of its own, has the test of throughput and does not count. One whose repeats could not reach 5 % even by
    /// itself is no test and does not count among them.
    ///
    /// # Errors
    /// If there are not two different, finished runs, if two share no point, or a step asked for is not there.
    pub fn of(outcomes: Vec<Outcome>, question: Question) -> Result<Self, CompareError> {
        check(&outcomes)?;
        let (base, others) = outcomes.split_first().ok_or(CompareError::Alone)?;
        check_steps(base, &question)?;
        let aspects = question.aspects();
        let mut found = ComparisonParts::default();
        for place in places(base).filter(|place| question.asks(place.name)) {
            // What is asked of cells alone says nothing of what trials lack.
            if place.measured.workload().is_some() || question.aspects.is_empty() {
                found.hold(&place, others, &aspects, question.aspects.is_empty());
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

    /// How many tests the table has, over which p is corrected.
    pub fn tests(&self) -> usize {
        self.contrasts.iter().filter(|one| !one.follows && one.test.is_some()).count()
    }

    /// How many there would be if every cell were repeated often enough: the figures less those that follow another.
    pub fn questions(&self) -> usize {
        self.contrasts.iter().filter(|one| !one.follows).count()
    }

    /// How many comparisons have this verdict.
    pub fn count(&self, verdict: Significance) -> usize {
        self.contrasts.iter().filter(|one| one.verdict() == verdict).count()
    }

    /// How many repeats each cell or point needs in each run before one comparison of this table can be called real.
    pub fn repeats_needed(&self) -> usize {
        RankTest::repeats_needed(self.questions())
    }

    /// The figures that are really worse, and by more than `share`, worst first.
    pub fn worse_than(&self, share: f64) -> Vec<&Contrast> {
        let mut worse: Vec<&Contrast> = self.contrasts.iter().filter(|one| one.is_worse_than(share)).collect();
        worse.sort_by(|one, two| two.loss().total_cmp(&one.loss()));
        worse
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
    fn hold(&mut self, place: &CellLocation, others: &[Outcome], aspects: &[Aspect], is_all: bool) {
        let counterparts: Vec<_> = others.iter().map(|other| counterpart(other, place)).collect();
        for (at, why) in counterparts.iter().enumerate().filter_map(|(at, found)| Some((at, found.err()?))) {
            let (step, cell) = (place.name.to_owned(), place.measured.key());
            self.unshared.push(Unshared { other: at + 1, step, cell, why });
        }
        for figure in Compared::of(place.measured, aspects, is_all) {
            let Some(before) = figure.side(place.measured) else { continue };
            for (at, counterpart) in counterparts.iter().enumerate() {
                let Some(after) = counterpart.ok().and_then(|point| figure.side(point)) else { continue };
                let Some(ratio) = Ratio::of(&before.samples, &after.samples) else { continue };
                let follows = figure.metric.is_some_and(|(_, metric)| metric == Metric::LatencyMean)
                    && aspects.contains(&Aspect::THROUGHPUT)
                    && place.measured.workload().is_some_and(|workload| workload.arrival == Arrival::default());
                let test = if follows { None } else { test(&before.samples, &after.samples) };
                let (step, point, other) = (place.step, place.point, at + 1);
                let (figure, before) = (figure.clone(), before.clone());
                self.contrasts.push(Contrast { step, point, other, figure, before, after, ratio, follows, test });
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

/// The test of two sides; none where so few repeats could not reach the bound even by themselves.
fn test(before: &[f64], after: &[f64]) -> Option<ContrastTest> {
    let least = RankTest::least_p(before.len(), after.len());
    let rank = RankTest::of(before, after).filter(|_| least < ALPHA)?;
    Some(ContrastTest { rank, adjusted: rank.p, least })
}

/// Holm's correction over the whole table: of what was found, and of the least that could have been.
fn correct(contrasts: &mut [Contrast]) {
    let mut tests: Vec<&mut ContrastTest> =
        contrasts.iter_mut().filter_map(|contrast| contrast.test.as_mut()).collect();
    let adjusted = holm(&tests.iter().map(|test| test.rank.p).collect::<Vec<_>>());
    let least = holm(&tests.iter().map(|test| test.least).collect::<Vec<_>>());
    for ((test, adjusted), least) in tests.iter_mut().zip(adjusted).zip(least) {
        (test.adjusted, test.least) = (adjusted, least);
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
    for (place, Outcome { run, .. }) in outcomes.iter().enumerate() {
        if outcomes[..place].iter().any(|other| other.run.id == run.id) {
            return Err(CompareError::Twice { run: run.id });
        }
        match run.state {
            RunState::Complete => {}
            RunState::Running => return Err(CompareError::Unfinished { run: run.id }),
            RunState::Failed => {
                let reason = run.error.clone().unwrap_or_else(|| "for no reason that was kept".to_owned());
                return Err(CompareError::Failed { run: run.id, reason });
            }
        }
    }
    Ok(())
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
