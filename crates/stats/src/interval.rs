//! A mean and how far from the truth it may be.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The half-width, as a share of the mean, beyond which a figure is called imprecise: ±2 %.
pub const PRECISION: f64 = 0.02;

/// The mean of repeated measurements with its 95 % confidence interval by Student's t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean of the repeats.
    pub mean: f64,
    /// The interval is `mean ± half_width`; none for fewer than two repeats.
    pub half_width: Option<f64>,
    pub repeats: usize,
}

impl Interval {
    /// The interval that `samples` support; none if there are no samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let repeats = samples.len();
        let mean = samples.iter().sum::<f64>() / repeats as f64;
        let half_width = (repeats > 1).then(|| {
            let freedom = (repeats - 1) as f64;
            let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / freedom;
            let t = StudentsT::new(0.0, 1.0, freedom).expect("freedom is at least one").inverse_cdf(0.975);
            t * (variance / repeats as f64).sqrt()
        });
        Some(Self { mean, half_width, repeats })
    }

    /// The same, at least `share` of the mean wide to each side; one measurement still has no interval.
    #[must_use]
    pub fn no_narrower(self, share: f64) -> Self {
        Self { half_width: self.half_width.map(|half| half.max(share * self.mean.abs())), ..self }
    }

    /// The half-width as a share of the mean; none where there is no interval or the mean is zero.
    pub fn relative(&self) -> Option<f64> {
        self.half_width.filter(|_| self.mean != 0.0).map(|half| half / self.mean.abs())
    }

    /// The ends of the interval; none where there is none.
    ///
    /// Those of a positive mean are positive, as latencies and rates are: the mean times and by the power of e by whose
    /// exponent the interval is wide, which is Student's interval of the logarithm by the delta method. At ±2 % that is
    /// 0.02 % of the mean apart from mean ± half-width. Of five skewed repeats it holds the mean more often: tested in
    /// `tests/it/coverage.rs`.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let half = self.half_width?;
        let factor = (half / self.mean).exp();
        Some(if self.mean > 0.0 {
            (self.mean / factor, self.mean * factor)
        } else {
            (self.mean - half, self.mean + half)
        })
    }

    /// Whether the interval is wider than [`PRECISION`] allows. A single measurement has no interval and is not judged.
    pub fn is_imprecise(&self) -> bool {
        self.relative().is_some_and(|share| share > PRECISION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `x <- c(9.9, 10.1, 10.0, 10.2, 9.8); diff(t.test(x)$conf.int) / 2` gives 0.1963243.
    #[test]
    fn five_repeats_agree_with_r() {
        let interval = Interval::of(&[9.9, 10.1, 10.0, 10.2, 9.8]).unwrap();
        assert!((interval.mean - 10.0).abs() < 1e-12);
        assert!((interval.half_width.unwrap() - 0.196_324_3).abs() < 1e-6, "{interval:?}");
        assert!(!interval.is_imprecise());
    }

    #[test]
    fn one_repeat_has_no_interval_and_none_no_mean() {
        assert_eq!(Interval::of(&[3.0]).unwrap().half_width, None);
        assert_eq!(Interval::of(&[]), None);
    }

    #[test]
    fn an_interval_of_a_positive_quantity_stays_positive() {
        let wide = Interval::of(&[0.1, 0.1, 0.1, 0.1, 20.0]).unwrap();
        assert!(wide.half_width.unwrap() > wide.mean && wide.bounds().unwrap().0 > 0.0, "{wide:?}");
        let (low, high) = Interval::of(&[9.9, 10.1, 10.0, 10.2, 9.8]).unwrap().bounds().unwrap();
        assert!(
            (low - (10.0 - 0.196_324_3)).abs() < 0.002 && (high - (10.0 + 0.196_324_3)).abs() < 0.002,
            "{low} {high}"
        );
        let change = Interval::of(&[-3.0, -1.0, -2.0]).unwrap();
        let half = change.half_width.unwrap();
        assert_eq!(change.bounds(), Some((-2.0 - half, -2.0 + half)));
        assert_eq!(Interval::of(&[1.0]).unwrap().bounds(), None);
    }

    #[test]
    fn what_else_is_unsure_widens_an_interval_and_makes_none() {
        let of = |samples: &[f64]| Interval::of(samples).unwrap().no_narrower(0.1).half_width;
        assert_eq!((of(&[-5.0, -5.0]), of(&[5.0])), (Some(0.5), None));
        assert_eq!(of(&[4.0, 6.0]), Interval::of(&[4.0, 6.0]).unwrap().half_width);
    }

    #[test]
    fn wide_scatter_is_imprecise() {
        assert!(Interval::of(&[90.0, 110.0, 100.0]).unwrap().is_imprecise());
    }
}
