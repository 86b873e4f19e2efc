//! Whether a series of rounds has stopped changing.

use serde::{Deserialize, Serialize};

/// When a series counts as steady.
///
/// Source: SNIA, "Solid State Storage Performance Test Specification Enterprise" 1.1, §2.1.24:
/// over the last five rounds, maximum less minimum is at most 20 % of the mean, and the
/// least-squares line rises or falls across the window by at most 10 % of the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// How many rounds the window holds.
    pub rounds: usize,
    /// The largest spread (maximum − minimum) as a share of the mean.
    pub spread: f64,
    /// The largest excursion of the fitted line across the window as a share of the mean.
    pub slope: f64,
}

impl SteadyRule {
    /// The rule of the specification.
    pub const SNIA: Self = Self { rounds: 5, spread: 0.20, slope: 0.10 };

    /// What the last rounds of `series` show; none while there are fewer than the window holds.
    pub fn judge(&self, series: &[f64]) -> Option<Steadiness> {
        let window = series.get(series.len().checked_sub(self.rounds)?..).filter(|window| !window.is_empty())?;
        let mean = window.iter().sum::<f64>() / window.len() as f64;
        let (least, most) = window.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        let excursion = slope(window) * (window.len() - 1) as f64;
        let share = |amount: f64| if mean == 0.0 { f64::INFINITY } else { amount / mean };
        let (spread, slope) = (share(most - least), share(excursion));
        // What sums leave over by rounding is no slope.
        let slope = if slope.abs() < 1e-12 { 0.0 } else { slope };
        let steady = spread <= self.spread && slope.abs() <= self.slope;
        Some(Steadiness { mean, spread, slope, steady })
    }
}

/// What a window of rounds shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// The mean of the window.
    pub mean: f64,
    /// Maximum less minimum, as a share of the mean.
    pub spread: f64,
    /// How far the fitted line moves across the window, as a share of the mean; negative when falling.
    pub slope: f64,
    /// Whether both are within the rule.
    pub steady: bool,
}

/// The slope of the least-squares line through `values` at 0, 1, 2 …
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        let from_middle = x as f64 - middle;
        products += from_middle * y;
        squares += from_middle * from_middle;
    }
    if squares == 0.0 { 0.0 } else { products / squares }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_series_is_steady_and_a_falling_one_is_not() {
        let rule = SteadyRule::SNIA;
        assert!(rule.judge(&[100.0; 5]).unwrap().steady);
        assert!(rule.judge(&[900.0, 100.0, 101.0, 99.0, 100.0, 100.0]).unwrap().steady, "only the window counts");
        let falling = rule.judge(&[110.0, 107.0, 104.0, 101.0, 98.0]).unwrap();
        assert!((falling.slope + 12.0 / 104.0).abs() < 1e-9, "{falling:?}");
        assert!(!falling.steady, "12 of 104 is more than a tenth, though the spread is within a fifth");
        let noisy = rule.judge(&[100.0, 125.0, 100.0, 125.0, 100.0]).unwrap();
        assert!(noisy.slope.abs() < 0.01 && !noisy.steady, "{noisy:?}");
    }

    #[test]
    fn too_few_rounds_are_not_judged() {
        assert_eq!(SteadyRule::SNIA.judge(&[1.0; 4]), None);
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        assert!(!SteadyRule::SNIA.judge(&[0.0; 5]).unwrap().steady);
    }
}
