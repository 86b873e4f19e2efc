//! Many runs by each of their key figures, the best first.

use host::Environment;
use measurement::Run;
use stats::{ALPHA, LogRatio, Ratio, holm};

use super::shared::places;
use super::{CompareError, Compared, ContrastSide, KeyPlace, check_one};
use crate::Outcome;

/// From so many runs on a table of each against the first says less than a ranking.
pub const RANKED_FROM: usize = 12;

/// What makes runs one family, in which each counts as one repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Each run by itself.
    Run,
    /// What it ran on, as it was asked for.
    Target,
    /// How the target names itself: model and capacity.
    Model,
    Host,
    /// The plan; shortened ones apart.
    Plan,
    /// Its tags, all of them.
    Tag,
}

impl Family {
    /// The word for people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Target => "target",
            Self::Model => "model",
            Self::Host => "host",
            Self::Plan => "plan",
            Self::Tag => "tag",
        }
    }

    /// What the family of a run is called.
    fn of(self, run: &Run) -> String {
        let host = || serde_json::from_str::<Environment>(&run.environment).ok().and_then(|found| found.hostname);
        match self {
            Self::Run => format!("run {}, {}", run.id, run.target),
            Self::Target => run.target.clone(),
            Self::Model => run.target_identity.clone(),
            Self::Host => host().unwrap_or_else(|| "unknown host".to_owned()),
            Self::Plan if run.quick => format!("{} (quick)", run.plan),
            Self::Plan => run.plan.clone(),
            Self::Tag if run.annotations.tags.is_empty() => "without a tag".to_owned(),
            Self::Tag => run.annotations.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Runs, or families of them, by each key figure.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub family: Family,
    /// The runs that were ranked.
    pub runs: Vec<Run>,
    /// What is ranked, in the order of the first run's summary and then of the others'.
    pub figures: Vec<RankedFigure>,
}

/// A key figure with who gave what.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedFigure {
    /// What people call it.
    pub title: String,
    pub unit: String,
    pub more_is_better: bool,
    /// The families, the best first.
    pub ranks: Vec<Ranked>,
}

/// A family's place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub family: String,
    /// How many runs it has.
    pub runs: usize,
    /// The repeats of its run; of several runs the mean of each.
    pub side: ContrastSide,
    /// Its mean divided by the best's; none of the best.
    pub ratio: Option<Ratio>,
    /// Whether it is surely worse than the best; none where it was measured once.
    pub is_worse: Option<bool>,
}

impl Ranking {
    /// Ranks runs, each with its key figures. Points are the same where the key figure has the same name.
    ///
    /// Who is best is told by the repeats that are tested, so Holm's correction is made over all pairs of a figure.
    ///
    /// # Errors
    /// If there are not two different, finished runs, or no key figure of two families.
    pub fn of(all: Vec<(Outcome, Vec<KeyPlace>)>, family: Family) -> Result<Self, CompareError> {
        let (outcomes, keys): (Vec<Outcome>, Vec<Vec<KeyPlace>>) = all.into_iter().unzip();
        if outcomes.len() < 2 {
            return Err(CompareError::Alone);
        }
        for (place, outcome) in outcomes.iter().enumerate() {
            check_one(outcome, &outcomes[..place])?;
        }
        let mut titles: Vec<&KeyPlace> = Vec::new();
        for key in keys.iter().flatten() {
            if !titles.iter().any(|known| known.title == key.title) {
                titles.push(key);
            }
        }
        let figures: Vec<RankedFigure> =
            titles.into_iter().filter_map(|key| ranked(key, &outcomes, &keys, family)).collect();
        if figures.is_empty() {
            let why = "no key figure is measured in two families".to_owned();
            return Err(CompareError::NothingShared { base: outcomes[0].run.id, other: outcomes[1].run.id, why });
        }
        Ok(Self { family, figures, runs: outcomes.into_iter().map(|outcome| outcome.run).collect() })
    }
}

/// The ranks of one key figure; none where fewer than two families have it.
fn ranked(wanted: &KeyPlace, outcomes: &[Outcome], keys: &[Vec<KeyPlace>], family: Family) -> Option<RankedFigure> {
    let figure = Compared::by(wanted.metric);
    let mut families: Vec<(String, Vec<ContrastSide>)> = Vec::new();
    for (outcome, key) in outcomes.iter().zip(keys) {
        let Some(side) = key.iter().find(|key| key.title == wanted.title).and_then(|key| side(&figure, outcome, key))
        else {
            continue;
        };
        let name = family.of(&outcome.run);
        match families.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sides)) => sides.push(side),
            None => families.push((name, vec![side])),
        }
    }
    let mut sides: Vec<(String, usize, ContrastSide)> =
        families.into_iter().filter_map(|(name, sides)| Some((name, sides.len(), joined(sides)?))).collect();
    let mean = |one: &(String, usize, ContrastSide)| one.2.interval.mean;
    sides.sort_by(|one, two| mean(one).total_cmp(&mean(two)));
    if figure.more_is_better {
        sides.reverse();
    }
    (sides.len() > 1).then(|| RankedFigure {
        title: wanted.title.clone(),
        unit: figure.unit.clone(),
        more_is_better: figure.more_is_better,
        ranks: ranks(sides),
    })
}

fn side(figure: &Compared, outcome: &Outcome, key: &KeyPlace) -> Option<ContrastSide> {
    let mut found = places(outcome).filter(|place| place.name == key.step && place.measured.key() == key.cell);
    found.next().and_then(|place| figure.side(place.measured))
}

/// The repeats of a family: those of its one run, else the means of its runs.
fn joined(mut sides: Vec<ContrastSide>) -> Option<ContrastSide> {
    if sides.len() == 1 {
        return sides.pop();
    }
    ContrastSide::from_samples(sides.iter().map(|side| side.interval.mean).collect())
}

/// Each held against the best, which comes first.
fn ranks(sides: Vec<(String, usize, ContrastSide)>) -> Vec<Ranked> {
    let pair = |one: usize, two: usize| LogRatio::of(&sides[one].2.samples, &sides[two].2.samples);
    let pairs: Vec<(usize, Option<f64>)> = (0..sides.len())
        .flat_map(|one| (one + 1..sides.len()).map(move |two| (one, two)))
        .map(|(one, two)| (if one == 0 { two } else { 0 }, pair(one, two).map(|found| found.p())))
        .collect();
    let tested: Vec<(usize, f64)> = pairs.into_iter().filter_map(|(place, p)| Some((place, p?))).collect();
    let adjusted = holm(&tested.iter().map(|(_, p)| *p).collect::<Vec<_>>());
    let against_best = |place: usize| {
        tested.iter().zip(&adjusted).find(|((of, _), _)| *of == place && place > 0).map(|(_, p)| *p < ALPHA)
    };
    let rank = |(place, (family, runs, side)): (usize, &(String, usize, ContrastSide))| Ranked {
        family: family.clone(),
        runs: *runs,
        side: side.clone(),
        ratio: (place > 0).then(|| Ratio::of(&sides[0].2.samples, &side.samples)).flatten(),
        is_worse: if place == 0 { Some(false) } else { against_best(place) },
    };
    sides.iter().enumerate().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_say_who_is_surely_worse_than_the_best() {
        let side =
            |name: &str, samples: &[f64]| (name.to_owned(), 1, ContrastSide::from_samples(samples.to_vec()).unwrap());
        let all = ranks(vec![
            side("best", &[100.0, 101.0, 99.0, 100.5, 99.5]),
            side("alike", &[99.9, 100.8, 98.8, 100.1, 99.4]),
            side("worse", &[90.0, 91.0, 89.0, 90.5, 89.5]),
            side("once", &[80.0]),
        ]);
        let found: Vec<(&str, Option<bool>)> = all.iter().map(|one| (one.family.as_str(), one.is_worse)).collect();
        assert_eq!(found, [("best", Some(false)), ("alike", Some(false)), ("worse", Some(true)), ("once", None)]);
        assert!(all[0].ratio.is_none() && (all[2].ratio.unwrap().ratio - 0.9).abs() < 1e-9);
    }

    #[test]
    fn runs_of_a_family_are_its_repeats() {
        let side = |samples: &[f64]| ContrastSide::from_samples(samples.to_vec()).unwrap();
        assert_eq!(joined(vec![side(&[1.0, 3.0]), side(&[10.0, 20.0])]).unwrap().samples, [2.0, 15.0]);
        assert_eq!(joined(vec![side(&[1.0, 3.0])]).unwrap().samples, [1.0, 3.0]);
        assert_eq!(joined(Vec::new()), None);
    }
}
