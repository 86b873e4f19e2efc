//! The points of one step held against the best of them.

use stats::{ALPHA, RankTest, Ratio, holm};

use super::Significance;
use crate::PointOutcome;

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
    pub verdict: Significance,
}

impl Standings {
    /// Holds those of `points` that have `figure` against the best of them; none where there are not two.
    ///
    /// Which point is best is told by the same repeats that are tested, so Holm's correction is made over all pairs of
    /// points, not only over those with the best: then it holds whichever that turns out to be.
    pub fn of(points: &[&PointOutcome], figure: &str, more_is_better: bool) -> Option<Self> {
        let all = points.iter().map(|point| point.samples(figure)).enumerate();
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
                Some(place) if least[place] >= ALPHA => Significance::CannotBeShown,
                Some(place) if adjusted[place] < ALPHA => Significance::Worse,
                Some(_) => Significance::NotShown,
                None => Significance::CannotBeShown,
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
    use crate::Choices;
    use measurement::{Figure, Trial};

    use super::*;
    use crate::TrialPoint;

    fn point(values: &[f64]) -> PointOutcome {
        let trial = |value: &f64| Trial { figures: vec![Figure::more("Rate", "1/s", *value)], ..Trial::default() };
        let point = TrialPoint { values: Vec::new(), choices: Choices::of(&[]) };
        PointOutcome::tried("files", &point, values.iter().map(trial).collect())
    }

    #[test]
    fn points_are_held_against_the_best_of_them() {
        let points = [
            point(&[100.0, 101.0, 102.0, 103.0, 104.0, 105.0]),
            point(&[130.0, 131.0, 132.0, 133.0, 134.0, 135.0]),
            point(&[129.5, 130.5, 132.5, 133.5, 133.6, 134.5]),
        ];
        let all: Vec<&PointOutcome> = points.iter().collect();
        let found = Standings::of(&all, "Rate", true).unwrap();
        assert_eq!((found.best, found.others.len()), (1, 2));
        let [worse, like] = &found.others[..] else { panic!("{found:?}") };
        assert_eq!((worse.point, worse.verdict, like.verdict), (0, Significance::Worse, Significance::NotShown));
        assert!((worse.ratio.ratio - 132.5 / 102.5).abs() < 1e-9, "{worse:?}");
        assert_eq!(Standings::of(&all, "Rate", false).unwrap().best, 0, "where less is better");
        let few = [point(&[100.0, 101.0, 102.0]), point(&[200.0, 201.0, 202.0])];
        assert_eq!(
            Standings::of(&[&few[0], &few[1]], "Rate", true).unwrap().others[0].verdict,
            Significance::CannotBeShown
        );
        assert_eq!(Standings::of(&all[..1], "Rate", true), None);
    }
}
