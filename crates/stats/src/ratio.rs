//! How many times one mean is another, and how surely.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The ratio of two means of independent repeats with its 95 % confidence interval.
///
/// The interval is symmetric on a logarithmic scale: the logarithm of each mean has, to first order, the standard
/// error s/(x̄√n); the two add in quadrature, and Student's t has the degrees of freedom of Welch and Satterthwaite,
/// since two drives need not scatter alike. So the ratio of A to B is the reciprocal of B to A, bounds included, and
/// no bound is negative.
///
/// Fieller's theorem gives the same for repeats that scatter by a few percent of their mean, and no bounded interval
/// at all for wild ones; the bootstrap covers far too little with five repeats, as few values hardly tell their
/// scatter by being drawn again.
///
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
/// involved", Biometrika 34, 1947; E. C. Fieller, "Some problems in interval estimation", Journal of the Royal
/// Statistical Society B 16(2), 1954.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The second mean divided by the first.
    pub ratio: f64,
    /// The ends of its interval; none where either side was measured once.
    pub bounds: Option<(f64, f64)>,
}

impl Ratio {
    /// How many times the mean of `base` that of `other` is; none where a mean is not above zero.
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let (base, other) = (RatioSide::of(base)?, RatioSide::of(other)?);
        let ratio = other.mean / base.mean;
        let bounds = base.error.zip(other.error).map(|(first, second)| {
            let factor = margin(first, second).exp();
            (ratio / factor, ratio * factor)
        });
        Some(Self { ratio, bounds })
    }
}

/// One of the two means.
struct RatioSide {
    mean: f64,
    error: Option<LogError>,
}

/// How far the logarithm of a mean may be off.
#[derive(Clone, Copy)]
struct LogError {
    variance: f64,
    freedom: f64,
}

impl RatioSide {
    fn of(samples: &[f64]) -> Option<Self> {
        let count = samples.len() as f64;
        // Alike to the last digit, they have no scatter, not even that of adding them up.
        let is_alike = samples.iter().all(|x| *x == samples[0]);
        let mean = if is_alike { *samples.first()? } else { samples.iter().sum::<f64>() / count };
        let error = (samples.len() > 1).then(|| {
            let freedom = count - 1.0;
            let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
            LogError { variance: squares / freedom / count / (mean * mean), freedom }
        });
        (mean > 0.0).then_some(Self { mean, error })
    }
}

/// Half the width of the interval of the difference of the two logarithms.
fn margin(first: LogError, second: LogError) -> f64 {
    let variance = first.variance + second.variance;
    if variance <= 0.0 {
        return 0.0;
    }
    let freedom =
        variance.powi(2) / (first.variance.powi(2) / first.freedom + second.variance.powi(2) / second.freedom);
    let t = StudentsT::new(0.0, 1.0, freedom).expect("the freedom is at least that of one side").inverse_cdf(0.975);
    t * variance.sqrt()
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
        assert_eq!(ratio.bounds, Some((0.95, 0.95)));
        assert_eq!(Ratio::of(&[100.0], &[95.0; 3]).unwrap().bounds, None);
        assert_eq!(Ratio::of(&[0.0; 3], &[1.0; 3]), None);
        assert_eq!(Ratio::of(&[], &[1.0]), None);
        assert_eq!(Ratio::of(&[0.1; 7], &[0.1; 3]), Some(Ratio { ratio: 1.0, bounds: Some((1.0, 1.0)) }));
    }
}
