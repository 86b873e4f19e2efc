//! Figures of trials held against each other: between runs, and between the points of one run.

use stats::{ALPHA, RankTest, Ratio, holm};
use trial::{Better, Figure};

use super::contrast::judged;
use super::{Side, Test, Unshared, Verdict, Why, test};
use crate::plan::{Action, Trials};
use crate::{Outcome, TrialOutcome};

/// A figure of trials at a point that two runs share.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The place of the step among the first run's [`steps`](crate::Outcome::steps).
    pub step: usize,
    /// The place of the point among the step's [`trials`](crate::StepOutcome::trials).
    pub point: usize,
    /// The place of the other run among those compared.
    pub other: usize,
    /// The figure's name.
    pub figure: String,
    /// Its unit, as trials give it: `1/s`, `s`, `B/s`.
    pub unit: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The figure in the first run.
    pub before: Side,
    /// The figure in the other.
    pub after: Side,
    /// The other's mean divided by the first's, with its interval.
    pub ratio: Ratio,
    /// Whether it is more than chance; none where so few repeats can never show it.
    pub test: Option<Test>,
}

impl Tried {
    /// What can be said of the difference, by the rule of [`Contrast::verdict`](super::Contrast::verdict).
    pub fn verdict(&self) -> Verdict {
        judged(self.test.as_ref(), self.ratio.ratio, self.more_is_better)
    }
}

/// A point of the first run and where it is.
struct Place<'a> {
    step: usize,
    point: usize,
    name: &'a str,
    trials: &'a Trials,
    trial: &'a TrialOutcome,
}

/// Every figure that is better one way, at every point that the first run shares with another, and the points that it
/// does not share.
pub(super) fn tried(outcomes: &[Outcome], asks: impl Fn(&str) -> bool) -> (Vec<Tried>, Vec<Unshared>) {
    let (mut found, mut unshared) = (Vec::new(), Vec::new());
    let Some((base, others)) = outcomes.split_first() else { return (found, unshared) };
    for place in places(base).filter(|place| asks(place.name)) {
        let counterparts: Vec<_> = others.iter().map(|other| counterpart(other, &place)).collect();
        for (at, why) in counterparts.iter().enumerate().filter_map(|(at, one)| Some((at, one.err()?))) {
            let (step, cell) = (place.name.to_owned(), place.trial.point.key());
            unshared.push(Unshared { other: at + 1, step, cell, why });
        }
        found.extend(held(&place, &counterparts));
    }
    (found, unshared)
}

fn places(outcome: &Outcome) -> impl Iterator<Item = Place<'_>> {
    outcome.steps.iter().enumerate().flat_map(|(at, step)| {
        let plan = &outcome.plan.steps[step.index];
        step.trials.iter().enumerate().filter_map(move |(point, trial)| {
            let Action::Trial(trials) = &plan.action else { return None };
            Some(Place { step: at, point, name: &plan.name, trials, trial })
        })
    })
}

/// The point of `other` with the same step, key, experiment and choices as `wanted`.
fn counterpart<'a>(other: &'a Outcome, wanted: &Place) -> Result<&'a TrialOutcome, Why> {
    let place = places(other).find(|place| place.name == wanted.name).ok_or(Why::NoStep)?;
    let key = wanted.trial.point.key();
    let trial = other.steps[place.step].trials.iter().find(|trial| trial.point.key() == key).ok_or(Why::NoCell)?;
    let is_alike = place.trials.experiment.name() == wanted.trials.experiment.name()
        && trial.point.choices.all().eq(wanted.trial.point.choices.all());
    match trial.repeats.is_empty() || wanted.trial.repeats.is_empty() {
        _ if !is_alike => Err(Why::OtherWorkload),
        true => Err(Why::NotMeasured),
        false => Ok(trial),
    }
}

/// The figures of a point held against those of its counterparts.
fn held(place: &Place, counterparts: &[Result<&TrialOutcome, Why>]) -> Vec<Tried> {
    let mut held = Vec::new();
    for told in figures(place.trial) {
        let Some(before) = side(place.trial, &told.name) else { continue };
        for (at, counterpart) in counterparts.iter().enumerate() {
            let Some(after) = counterpart.ok().and_then(|trial| side(trial, &told.name)) else { continue };
            let Some(ratio) = Ratio::of(&before.samples, &after.samples) else { continue };
            held.push(Tried {
                step: place.step,
                point: place.point,
                other: at + 1,
                figure: told.name.clone(),
                unit: told.unit.clone(),
                more_is_better: told.better == Better::More,
                test: test(&before.samples, &after.samples),
                before: before.clone(),
                after,
                ratio,
            });
        }
    }
    held
}

/// The figures of a point of which more or less is better.
fn figures(trial: &TrialOutcome) -> impl Iterator<Item = &Figure> {
    let first = trial.repeats.first().into_iter().flat_map(|repeat| &repeat.figures);
    first.filter(|figure| figure.better != Better::Neither)
}

fn side(trial: &TrialOutcome, figure: &str) -> Option<Side> {
    Side::from_samples(samples(trial, figure))
}

fn samples(trial: &TrialOutcome, figure: &str) -> Vec<f64> {
    trial.repeats.iter().filter_map(|repeat| repeat.figure(figure)).collect()
}

/// The points of a step by one figure, held against the best of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// The place of the best among the points, by its mean.
    pub best: usize,
    /// The others.
    pub others: Vec<Standing>,
}

/// A point held against the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its place among the points.
    pub point: usize,
    /// The best's mean divided by this one's, with its interval.
    pub ratio: Ratio,
    /// Whether it is really worse: `Worse`, or may be chance, or can never be shown.
    pub verdict: Verdict,
}

impl Standings {
    /// Holds the points of `trials` that have `figure` against the best of them; none where there are not two.
    ///
    /// Which point is best is told by the same repeats that are tested, so Holm's correction is made over all pairs of
    /// points, not only over those with the best: then it holds whichever that turns out to be.
    pub fn of(trials: &[TrialOutcome], figure: &str, more_is_better: bool) -> Option<Self> {
        let all = trials.iter().map(|trial| samples(trial, figure)).enumerate();
        let sides: Vec<(usize, Vec<f64>)> = all.filter(|(_, samples)| !samples.is_empty()).collect();
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let by_mean = |one: &&(usize, Vec<f64>), other: &&(usize, Vec<f64>)| mean(&one.1).total_cmp(&mean(&other.1));
        let best = if more_is_better { sides.iter().max_by(by_mean) } else { sides.iter().min_by(by_mean) }?;
        let pairs: Vec<(usize, usize, RankTest, f64)> = (0..sides.len())
            .flat_map(|one| (one + 1..sides.len()).map(move |other| (one, other)))
            .filter_map(|(one, other)| {
                let (first, second) = (&sides[one].1, &sides[other].1);
                let rank = RankTest::of(first, second)?;
                Some((sides[one].0, sides[other].0, rank, RankTest::least_p(first.len(), second.len())))
            })
            .collect();
        let adjusted = holm(&pairs.iter().map(|pair| pair.2.p).collect::<Vec<_>>());
        let least = holm(&pairs.iter().map(|pair| pair.3).collect::<Vec<_>>());
        let verdict = |point: usize| {
            let is_of =
                |pair: &(usize, usize, RankTest, f64)| [pair.0, pair.1].iter().all(|at| [best.0, point].contains(at));
            match pairs.iter().position(is_of) {
                Some(place) if least[place] >= ALPHA => Verdict::CannotBeShown,
                Some(place) if adjusted[place] < ALPHA => Verdict::Worse,
                Some(_) => Verdict::NotShown,
                None => Verdict::CannotBeShown,
            }
        };
        let standing = |(point, samples): &(usize, Vec<f64>)| {
            let ratio = Ratio::of(samples, &best.1).filter(|_| *point != best.0)?;
            Some(Standing { point: *point, ratio, verdict: verdict(*point) })
        };
        let others: Vec<Standing> = sides.iter().filter_map(standing).collect();
        (!others.is_empty()).then_some(Self { best: best.0, others })
    }
}

#[cfg(test)]
mod tests {
    use trial::Trial;

    use super::*;
    use crate::plan::Point;

    fn point(values: &[f64]) -> TrialOutcome {
        let trial = |value: &f64| Trial { figures: vec![Figure::more("Rate", "1/s", *value)], ..Trial::default() };
        let point = Point { values: Vec::new(), choices: trial::Choices::of(&[]) };
        TrialOutcome { point, repeats: values.iter().map(trial).collect() }
    }

    #[test]
    fn points_are_held_against_the_best_of_them() {
        let all = [
            point(&[100.0, 101.0, 102.0, 103.0, 104.0, 105.0]),
            point(&[130.0, 131.0, 132.0, 133.0, 134.0, 135.0]),
            point(&[129.5, 130.5, 132.5, 133.5, 133.6, 134.5]),
        ];
        let found = Standings::of(&all, "Rate", true).unwrap();
        assert_eq!((found.best, found.others.len()), (1, 2));
        let [worse, like] = &found.others[..] else { panic!("{found:?}") };
        assert_eq!((worse.point, worse.verdict, like.verdict), (0, Verdict::Worse, Verdict::NotShown));
        assert!((worse.ratio.ratio - 132.5 / 102.5).abs() < 1e-9, "{worse:?}");
        assert_eq!(Standings::of(&all, "Rate", false).unwrap().best, 0, "where less is better");
        let few = [point(&[100.0, 101.0, 102.0]), point(&[200.0, 201.0, 202.0])];
        assert_eq!(Standings::of(&few, "Rate", true).unwrap().others[0].verdict, Verdict::CannotBeShown);
        assert_eq!(Standings::of(&all[..1], "Rate", true), None);
    }
}
