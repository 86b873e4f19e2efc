//! How many times one mean is another, and how surely.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The ratio of two means of repeats with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The second mean divided by the first; of pairs, the geometric mean of their ratios.
    pub ratio: f64,
    /// The ends of its interval; none where either side was measured once.
    pub bounds: Option<(f64, f64)>,
}

impl Ratio {
    /// How many times the mean of `base` that of independent `other` is; none where a mean is not above zero.
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let ratio = mean_of(other)? / mean_of(base)?;
        Some(Self { ratio, bounds: LogRatio::of(base, other).map(|found| found.bounds()) })
    }
}

/// The logarithm of a ratio of two means, with what it takes to test it.
///
/// The logarithm of each mean has, to first order, the standard error s/(x̄√n); the two add in quadrature, and Student's t
/// has the degrees of freedom of Welch and Satterthwaite, since two drives need not scatter alike. So the ratio of A to B
/// is the reciprocal of B to A, bounds included, and no bound is negative. The test and the interval are one: p is below
/// 5 % where the 95 % interval leaves out the ratio that is tested.
///
/// Fieller's interval of the ratio holds the truth as often for repeats that scatter by a few percent, and for wild ones is
/// unbounded; a bootstrap of five repeats holds it far too rarely. Both are tested beside this in `tests/it/coverage.rs`.
///
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
/// involved", Biometrika 34, 1947; E. C. Fieller, "Some problems in interval estimation", Journal of the Royal
/// Statistical Society B 16(2), 1954.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The natural logarithm of the ratio.
    pub log: f64,
    /// Its standard error; zero where nothing scatters.
    pub error: f64,
    /// The degrees of freedom of that error.
    pub freedom: f64,
}

impl LogRatio {
    /// Of two sets of independent repeats; none where either has fewer than two, or a mean is not above zero.
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let log = (mean_of(other)? / mean_of(base)?).ln();
        let (first, second) = (variance(base)?, variance(other)?);
        let variance = first.0 + second.0;
        let freedom = match variance > 0.0 {
            true => variance.powi(2) / (first.0.powi(2) / first.1 + second.0.powi(2) / second.1),
            false => first.1 + second.1,
        };
        Some(Self { log, error: variance.sqrt(), freedom })
    }

    /// Of pairs that were measured one beside the other, so that what changed between pairs touched both alike; none for
    /// fewer than two pairs, sets of two lengths, or a value that is not above zero.
    pub fn paired(base: &[f64], other: &[f64]) -> Option<Self> {
        if base.len() != other.len() || base.iter().chain(other).any(|value| *value <= 0.0) {
            return None;
        }
        let logs: Vec<f64> = base.iter().zip(other).map(|(one, two)| (two / one).ln()).collect();
        let log = logs.iter().sum::<f64>() / logs.len() as f64;
        let freedom = logs.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
        let is_alike = logs.iter().all(|one| *one == logs[0]);
        let squares: f64 = logs.iter().map(|one| (one - log).powi(2)).sum();
        let error = if is_alike { 0.0 } else { (squares / freedom / logs.len() as f64).sqrt() };
        Some(Self { log: if is_alike { logs[0] } else { log }, error, freedom })
    }

    /// Of one set of repeats to a `value` that is known exactly; none for fewer than two, or where either is not above zero.
    pub fn to_value(samples: &[f64], value: f64) -> Option<Self> {
        let (variance, freedom) = variance(samples)?;
        (value > 0.0).then_some(())?;
        Some(Self { log: (mean_of(samples)? / value).ln(), error: variance.sqrt(), freedom })
    }

    /// The ratio.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }

    /// Whether neither side scatters: then a difference is certain, however few the repeats.
    pub fn is_exact(&self) -> bool {
        self.error == 0.0
    }

    /// The ends of the 95 % interval of the ratio.
    pub fn bounds(&self) -> (f64, f64) {
        if self.is_exact() {
            return (self.ratio(), self.ratio());
        }
        let margin = self.student().inverse_cdf(0.975) * self.error;
        ((self.log - margin).exp(), (self.log + margin).exp())
    }

    /// The two-sided p of the ratio being one; without scatter 0 where it is not and 1 where it is.
    pub fn p(&self) -> f64 {
        match self.is_exact() {
            true => f64::from(u8::from(self.log == 0.0)),
            false => (2.0 * self.student().cdf(-(self.log / self.error).abs())).min(1.0),
        }
    }

    /// The one-sided p of the ratio being `ratio` or less: small where it is surely more.
    pub fn p_above(&self, ratio: f64) -> f64 {
        let distance = self.log - ratio.ln();
        match self.is_exact() {
            true => f64::from(u8::from(distance <= 0.0)),
            false => self.student().cdf(-distance / self.error),
        }
    }

    /// The one-sided p of the ratio being more than `ratio`: small where it is surely not.
    pub fn p_at_most(&self, ratio: f64) -> f64 {
        1.0 - self.p_above(ratio)
    }

    fn student(&self) -> StudentsT {
        StudentsT::new(0.0, 1.0, self.freedom).expect("the freedom is at least that of one side")
    }
}

/// The mean; none where it is not above zero. Values alike to the last digit have no scatter, not even that of adding
/// them up.
fn mean_of(samples: &[f64]) -> Option<f64> {
    let is_alike = samples.iter().all(|x| *x == samples[0]);
    let mean = if is_alike { *samples.first()? } else { samples.iter().sum::<f64>() / samples.len() as f64 };
    (mean > 0.0).then_some(mean)
}

/// The variance of the logarithm of the mean, and its degrees of freedom.
fn variance(samples: &[f64]) -> Option<(f64, f64)> {
    let (mean, count) = (mean_of(samples)?, samples.len() as f64);
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    (samples.len() > 1).then(|| (squares / (count - 1.0) / count / (mean * mean), count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_turned_over_is_its_reciprocal() {
        let (a, b) = ([100.0, 102.0, 98.0, 101.0], [50.0, 52.0, 49.0]);
        let (one, other) = (Ratio::of(&a, &b).unwrap(), Ratio::of(&b, &a).unwrap());
        let ((low, high), (other_low, other_high)) = (one.bounds.unwrap(), other.bounds.unwrap());
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-12);
        assert!((low * other_high - 1.0).abs() < 1e-12 && (high * other_low - 1.0).abs() < 1e-12);
        assert!(low < one.ratio && one.ratio < high);
    }

    #[test]
    fn without_scatter_the_interval_is_a_point_and_without_repeats_there_is_none() {
        let ratio = Ratio::of(&[100.0; 3], &[95.0; 3]).unwrap();
        let (low, high) = ratio.bounds.unwrap();
        assert!(ratio.ratio == 0.95 && low == high && (low - 0.95).abs() < 1e-15);
        assert_eq!(Ratio::of(&[100.0], &[95.0; 3]).unwrap().bounds, None);
        assert_eq!(Ratio::of(&[0.0; 3], &[1.0; 3]), None);
        assert_eq!(Ratio::of(&[], &[1.0]), None);
        assert_eq!(Ratio::of(&[0.1; 7], &[0.1; 3]), Some(Ratio { ratio: 1.0, bounds: Some((1.0, 1.0)) }));
    }

    #[test]
    fn what_does_not_scatter_and_differs_differs() {
        let differs = LogRatio::of(&[100.0; 2], &[99.9; 2]).unwrap();
        assert_eq!((differs.p(), differs.p_above(0.99), differs.p_at_most(0.99)), (0.0, 0.0, 1.0));
        assert_eq!(LogRatio::of(&[100.0; 2], &[100.0; 2]).unwrap().p(), 1.0);
        assert_eq!(LogRatio::of(&[100.0], &[99.9; 2]), None, "once is not known to be without scatter");
    }

    /// R: `x <- log(c(95, 99, 91, 97, 94) / c(100, 103, 97, 101, 99)); t.test(x)` gives p = 0.0002477 and the interval
    /// exp(-0.0588) to exp(-0.0387) to three digits.
    #[test]
    fn pairs_are_tested_by_their_ratios() {
        let (base, other) = ([100.0, 103.0, 97.0, 101.0, 99.0], [95.0, 99.0, 91.0, 97.0, 94.0]);
        let (paired, apart) = (LogRatio::paired(&base, &other).unwrap(), LogRatio::of(&base, &other).unwrap());
        assert!(paired.error < apart.error / 3.0, "what both share is not counted: {paired:?} {apart:?}");
        assert!(paired.p() < 0.001 && paired.freedom == 4.0, "{}", paired.p());
        let (low, high) = paired.bounds();
        assert!(low < paired.ratio() && paired.ratio() < high && high < 1.0);
        assert_eq!(LogRatio::paired(&base, &other[1..]), None);
        assert_eq!(LogRatio::paired(&base[..1], &other[..1]), None);
        assert_eq!(LogRatio::paired(&[1.0, 0.0], &[1.0, 1.0]), None);
    }

    #[test]
    fn the_test_and_the_interval_say_the_same() {
        let found = LogRatio::of(&[100.0, 101.0, 99.0, 100.5], &[97.0, 98.0, 99.0, 97.5]).unwrap();
        let (low, high) = found.bounds();
        for (ratio, expected) in [(low, 0.025), (high, 0.975)] {
            assert!((found.p_above(ratio) - expected).abs() < 1e-9, "{ratio}");
        }
        assert!((found.p_above(1.0) + found.p_at_most(1.0) - 1.0).abs() < 1e-12);
        let value = LogRatio::to_value(&[480.0, 490.0, 485.0], 500.0).unwrap();
        assert!(value.p_at_most(1.0) < 0.05 && value.ratio() < 1.0);
    }
}
