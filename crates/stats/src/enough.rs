//! Whether a cell has been measured often enough.

use serde::{Deserialize, Serialize};

use crate::{Interval, PRECISION};

/// Fewer repeats than this are never enough: two that happen to agree would look precise.
pub const REPEATS_LEAST: usize = 5;

/// When to stop repeating: as soon as the 95 % interval of the mean is within a share of it, or at a cap.
///
/// To look after each repeat and stop at the first narrow interval favours intervals that are narrow by luck, so
/// they hold the truth a little less often than 95 %; by how much is told, and tested, in this crate's
/// `tests/it/coverage.rs`.
///
/// Source: Y. S. Chow and H. Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for
/// the mean", Annals of Mathematical Statistics 36(2), 1965.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enough {
    /// The largest half-width, as a share of the mean.
    pub share: f64,
    /// The most repeats; at least [`REPEATS_LEAST`] are made unless this is fewer.
    pub cap: usize,
}

/// What is to be done after some repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judgement {
    /// Measure again.
    More,
    /// The interval is as narrow as was asked for.
    Precise(Interval),
    /// The cap was reached first; the interval is as it came out.
    Capped(Interval),
}

impl Enough {
    /// Within ±2 %, the share beyond which a figure is called imprecise.
    pub const fn within_precision(cap: usize) -> Self {
        Self { share: PRECISION, cap }
    }

    /// Judges the repeats so far.
    pub fn judge(&self, samples: &[f64]) -> Judgement {
        let Some(interval) = Interval::of(samples) else { return Judgement::More };
        let is_narrow = interval.relative().is_some_and(|share| share <= self.share);
        match samples.len() {
            count if count >= REPEATS_LEAST && is_narrow => Judgement::Precise(interval),
            count if count >= self.cap => {
                if is_narrow {
                    Judgement::Precise(interval)
                } else {
                    Judgement::Capped(interval)
                }
            }
            _ => Judgement::More,
        }
    }
}

impl Judgement {
    /// Whether no further repeat is needed.
    pub const fn is_end(&self) -> bool {
        !matches!(self, Self::More)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stops after so many of `samples`.
    fn stops(rule: Enough, samples: &[f64]) -> Option<(usize, Judgement)> {
        (1..=samples.len()).map(|count| (count, rule.judge(&samples[..count]))).find(|(_, found)| found.is_end())
    }

    #[test]
    fn quiet_repeats_stop_at_the_fifth_and_noisy_ones_go_on() {
        let rule = Enough::within_precision(30);
        let quiet = [100.0, 100.1, 99.9, 100.0, 100.1, 99.9];
        assert!(matches!(stops(rule, &quiet), Some((5, Judgement::Precise(_)))));
        let noisy = [100.0, 106.0, 94.0, 103.0, 97.0, 101.0];
        assert_eq!(stops(rule, &noisy), None, "±5 % after six");
    }

    #[test]
    fn two_that_agree_by_chance_are_not_enough() {
        assert_eq!(Enough::within_precision(30).judge(&[100.0, 100.0]), Judgement::More);
        assert_eq!(Enough::within_precision(30).judge(&[]), Judgement::More);
    }

    #[test]
    fn the_cap_ends_it_and_is_told_from_success() {
        let rule = Enough { share: 0.02, cap: 6 };
        let noisy = [100.0, 120.0, 80.0, 110.0, 90.0, 105.0, 95.0];
        let (count, found) = stops(rule, &noisy).unwrap();
        assert!(count == 6 && matches!(found, Judgement::Capped(interval) if interval.repeats == 6), "{found:?}");
        assert!(matches!(Enough { share: 0.02, cap: 3 }.judge(&[5.0; 3]), Judgement::Precise(_)), "a cap below five");
        assert!(matches!(Enough { share: 0.02, cap: 1 }.judge(&[5.0]), Judgement::Capped(_)), "one has no interval");
    }

    #[test]
    fn a_mean_of_zero_is_never_precise() {
        assert!(matches!(Enough { share: 0.02, cap: 5 }.judge(&[0.0; 5]), Judgement::Capped(_)));
    }
}
