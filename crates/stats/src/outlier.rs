//! Repeats that lie apart from the others.

use crate::quantile::quantile;

/// How many interquartile ranges beyond the quartiles a value must lie: Tukey's outer fences.
const FENCE: f64 = 3.0;
/// Fewer values than this have no quartiles worth the name.
const LEAST: usize = 5;
/// As near to the median as this share of it, a value is no further off than a histogram tells apart.
const RESOLUTION: f64 = 1e-3;

/// The places of the values that lie beyond Tukey's outer fences: three interquartile ranges outside the quartiles.
///
/// They are to be marked, never dropped: on a drive the slow repeat may be the finding. The inner fences (1.5
/// ranges) are not used because with few repeats they cry wolf: a third of all normal samples of five have a value
/// beyond them. Beyond the outer ones it is one sample of five in seven, of ten in twenty, of thirty in seventy.
/// Fewer than five values are not judged.
///
/// Source: J. W. Tukey, "Exploratory Data Analysis", 1977, §2D; the quartiles interpolate as R's type 7.
pub fn outliers(samples: &[f64]) -> Vec<usize> {
    if samples.len() < LEAST {
        return Vec::new();
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (lower, middle, upper) = (quantile(&sorted, 0.25), quantile(&sorted, 0.5), quantile(&sorted, 0.75));
    let reach = (FENCE * (upper - lower)).max(RESOLUTION * middle.abs());
    let is_apart = |x: f64| x < lower - reach || x > upper + reach;
    (0..samples.len()).filter(|&i| is_apart(samples[i])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_repeat_is_marked() {
        assert_eq!(outliers(&[100.0, 101.0, 60.0, 99.0, 100.5, 100.2]), [2]);
        assert!(outliers(&[100.0, 101.0, 98.0, 99.0, 100.5, 97.0]).is_empty());
    }

    #[test]
    fn few_values_are_not_judged_and_a_histograms_grain_is_no_outlier() {
        assert!(outliers(&[100.0, 100.0, 100.0, 1.0]).is_empty());
        assert!(outliers(&[100.0, 100.0, 100.0, 100.0, 100.05]).is_empty());
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.0, 101.0]), [4]);
    }
}
