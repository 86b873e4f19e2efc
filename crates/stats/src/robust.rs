//! Which of several like things lies apart from the others, by median and median absolute deviation.

use block::Seed;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::quantile::median;

/// The median absolute deviation times this is the standard deviation of normal values.
///
/// Source: P. J. Rousseeuw and C. Croux, "Alternatives to the median absolute deviation", Journal of the American
/// Statistical Association 88, 1993, eq. (1.4).
const NORMAL: f64 = 1.482_602_218_505_602;
/// As many scores are drawn for a distribution: p is told to about a millionth.
const DRAWS: usize = 400_000;

/// Where the middle of some values lies and how far they scatter, whatever a few of them do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RobustSpread {
    pub median: f64,
    /// The median absolute deviation, scaled so that of normal values it is their standard deviation.
    pub deviation: f64,
}

impl RobustSpread {
    /// Of these values; none where there are none. Up to half of them may be anything.
    ///
    /// Source: F. R. Hampel, "The influence curve and its role in robust estimation", Journal of the American Statistical
    /// Association 69, 1974.
    pub fn of(values: &[f64]) -> Option<Self> {
        let middle = median(values.iter().copied())?;
        let distances = values.iter().map(|value| (value - middle).abs());
        Some(Self { median: middle, deviation: NORMAL * median(distances)? })
    }

    /// How many deviations a value lies above the median: the modified z-score. A deviation counts as `resolution` at
    /// least, by which values that agree but for how finely they are told lie together.
    ///
    /// Source: B. Iglewicz and D. C. Hoaglin, "How to Detect and Handle Outliers", ASQC Basic References in Quality Control
    /// 16, 1993.
    pub fn score(&self, value: f64, resolution: f64) -> f64 {
        (value - self.median) / self.deviation.max(resolution)
    }
}

/// How far from zero the scores of as many normal values lie, by which a score has a p.
///
/// Few values tell their own scatter badly, so that their scores reach much farther than those of a normal distribution: a
/// score beyond 3.5 has a p of 1.7 % among 8 values and of 0.4 % among 24, not of 0.05 %. The distribution is drawn, not
/// approximated, always from the same seed.
#[derive(Clone, Debug)]
pub struct ScoreDistribution {
    /// Ascending, without their signs.
    scores: Vec<f64>,
}

impl ScoreDistribution {
    /// Fewer values than this have no scatter worth the name.
    pub const LEAST: usize = 5;

    /// Of `count` values; none for fewer than [`LEAST`](Self::LEAST).
    pub fn of(count: usize) -> Option<Self> {
        if count < Self::LEAST {
            return None;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(Seed::new(count as u64).split("scores").get());
        let mut scores = Vec::with_capacity(DRAWS + count);
        while scores.len() < DRAWS {
            let values: Vec<f64> = (0..count).map(|_| normal(&mut random)).collect();
            let spread = RobustSpread::of(&values)?;
            scores.extend(values.iter().map(|value| spread.score(*value, f64::MIN_POSITIVE).abs()));
        }
        scores.sort_unstable_by(f64::total_cmp);
        Some(Self { scores })
    }

    /// The two-sided p of a score: how often one of as many normal values lies as far from the others. Never zero, as
    /// what was not drawn may still happen.
    pub fn p(&self, score: f64) -> f64 {
        let beyond = self.scores.len() - self.scores.partition_point(|drawn| *drawn < score.abs());
        (beyond + 1) as f64 / (self.scores.len() + 1) as f64
    }
}

/// A value drawn from the standard normal distribution.
///
/// Source: G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", Annals of Mathematical
/// Statistics 29(2), 1958.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut unit = || 1.0 - random.random::<f64>();
    (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `mad(c(1:9))` is 2.9652, and 2 with `constant = 1`; the example of its manual page.
    #[test]
    fn the_deviation_of_one_to_nine_agrees_with_r() {
        let spread = RobustSpread::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).unwrap();
        assert!(spread.median == 5.0 && (spread.deviation - 2.0 * 1.4826).abs() < 1e-4, "{spread:?}");
        assert_eq!(RobustSpread::of(&[]), None);
    }

    /// By hand: the median is 2.45, the deviations from it have the median 0.15, so that 8.2 has 0.6745 · 5.75 / 0.15.
    #[test]
    fn two_far_values_of_ten_do_not_hide_each_other() {
        let values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3];
        let spread = RobustSpread::of(&values).unwrap();
        let scores = values.map(|value| spread.score(value, 0.0));
        for (score, expected) in scores.iter().zip([-1.574, 0.674, -0.225, 0.225]) {
            assert!((score - expected).abs() < 1e-3, "{scores:?}");
        }
        assert!((scores[8] - 25.856).abs() < 1e-3 && (scores[9] - 26.305).abs() < 1e-3, "{scores:?}");
        // By mean and standard deviation neither is as far as three.
        let mean = values.iter().sum::<f64>() / 10.0;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 9.0).sqrt();
        assert!((8.3 - mean) / deviation < 3.0);
    }

    #[test]
    fn values_that_agree_lie_together_however_little_one_is_off() {
        let spread = RobustSpread::of(&[100.0, 100.0, 100.0, 100.0, 100.05]).unwrap();
        assert_eq!(spread.deviation, 0.0);
        assert!((spread.score(100.05, 0.1) - 0.5).abs() < 1e-9);
        assert_eq!(spread.score(100.0, 0.1), 0.0);
    }

    /// The p of alike values are as uniform as p should be, for a few of them and for many.
    #[test]
    fn a_score_has_the_p_by_which_alike_values_have_it() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for count in [5, 8, 24, 25] {
            let distribution = ScoreDistribution::of(count).unwrap();
            let mut below = [0; 3];
            let bounds = [0.1, 0.05, 0.005];
            for _ in 0..40_000 / count {
                let values: Vec<f64> = (0..count).map(|_| normal(&mut random)).collect();
                let spread = RobustSpread::of(&values).unwrap();
                let p = distribution.p(spread.score(values[0], 0.0));
                bounds.iter().zip(&mut below).for_each(|(bound, below)| *below += usize::from(p <= *bound));
            }
            let drawn = (40_000 / count) as f64;
            for (bound, below) in bounds.iter().zip(below) {
                let margin = 4.0 * (bound * drawn).sqrt();
                assert!(
                    (below as f64 - bound * drawn).abs() < margin,
                    "{count} values: {below} of {drawn} below {bound}"
                );
            }
        }
        assert!(ScoreDistribution::of(4).is_none());
    }

    #[test]
    fn few_values_must_lie_farther_apart_than_many() {
        let [few, many] = [5, 100].map(|count| ScoreDistribution::of(count).unwrap());
        assert!(few.p(3.5) > 0.05 && many.p(3.5) < 0.005, "{} {}", few.p(3.5), many.p(3.5));
        assert!(many.p(1e9) > 0.0 && many.p(0.0) == 1.0);
        assert_eq!(many.p(-4.0), many.p(4.0));
    }
}
