//! Waits of random length: log-normal, with a rare longer one.

use block::Nanos;
use serde::{Deserialize, Serialize};

use crate::draw::{Draws, Odds, Spread};
use crate::quantiles::Quantiles;

/// How long something waits each time.
///
/// The usual wait is log-normal, as latencies of operating systems mostly are: it is never negative, and longer ones have
/// no bound. A share of all waits has another beside it, log-normal too, whose standard deviation is its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelaySpec {
    pub mean: Nanos,
    /// The standard deviation, in millionths of the mean.
    pub spread_ppm: u32,
    /// How many of a million waits have a rare one beside.
    pub rare_ppm: u32,
    /// How long that is on average.
    pub rare_mean: Nanos,
}

/// Draws waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "DelaySpec", into = "DelaySpec")]
pub struct Delay {
    spec: DelaySpec,
    usual: Quantiles,
    rare: Odds,
    rare_spread: Spread,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub usual: Nanos,
    /// Zero but for the share that has one.
    pub rare: Nanos,
}

impl DelaySpec {
    /// The largest standard deviation, in millionths of the mean: what is drawn is tested up to it.
    pub const SPREAD_MAX: u32 = 3_000_000;

    /// In words.
    pub(crate) fn words(self) -> String {
        let Self { mean, spread_ppm, rare_ppm, rare_mean } = self;
        let (spread, rare) = (spread_ppm / 10_000, f64::from(rare_ppm) / 10_000.0);
        format!("{mean} ± {spread} %, and {rare_mean} more in {rare} % of all cases, on average")
    }
}

impl Delay {
    pub fn new(spec: DelaySpec) -> Self {
        Self {
            usual: Spread::new(u64::from(spec.spread_ppm)).into(),
            rare: Odds::per_million(u64::from(spec.rare_ppm)),
            rare_spread: Spread::new(1_000_000),
            spec,
        }
    }

    /// The next wait.
    #[inline]
    pub fn draw(&self, draws: &mut Draws) -> Wait {
        let usual = self.usual.factor(draws.draw()).of(self.spec.mean);
        let is_rare = self.rare != Odds::NEVER && draws.happens(self.rare);
        let rare = if is_rare { self.rare_spread.factor(draws.draw()).of(self.spec.rare_mean) } else { Nanos::ZERO };
        Wait { usual, rare }
    }
}

impl From<DelaySpec> for Delay {
    fn from(spec: DelaySpec) -> Self {
        Self::new(spec)
    }
}

impl From<Delay> for DelaySpec {
    fn from(delay: Delay) -> Self {
        delay.spec
    }
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;

    const MICROS: u64 = 1_000;

    fn delay(mean: u64, spread: u32, rare_ppm: u32, rare_mean: u64) -> Delay {
        let [mean, rare_mean] = [mean, rare_mean].map(Nanos::from_nanos);
        Delay::new(DelaySpec { mean, spread_ppm: spread * 10_000, rare_ppm, rare_mean })
    }

    fn waits(delay: &Delay, seed: u64, count: u64) -> Vec<Wait> {
        let mut draws = Draws::new(Seed::new(seed));
        (0..count).map(|_| delay.draw(&mut draws)).collect()
    }

    #[test]
    fn waits_have_the_mean_the_spread_and_the_share_that_were_asked_for() {
        // Of the mean of 5 % of these, whose deviation is as large, the standard error is 0.3 %.
        const COUNT: u64 = 4_000_000;
        for (mean, spread, rare_ppm, rare_mean) in [
            (5 * MICROS, 30, 0, 0),
            (20 * MICROS, 100, 0, 0),
            (3 * MICROS, 50, 2_000, 100 * MICROS),
            (0, 0, 50_000, 700),
        ] {
            let drawn = waits(&delay(mean, spread, rare_ppm, rare_mean), 1, COUNT);
            let sum: u64 = drawn.iter().map(|wait| (wait.usual + wait.rare).as_nanos()).sum();
            let expected = mean as f64 + rare_mean as f64 * f64::from(rare_ppm) / 1e6;
            let found = sum as f64 / COUNT as f64;
            assert!((found / expected - 1.0).abs() < 0.01, "mean {found:.0} ns, asked for {expected:.0} ns");
            let variance = drawn.iter().map(|wait| (wait.usual.as_nanos() as f64 - mean as f64).powi(2)).sum::<f64>()
                / COUNT as f64;
            let wanted = mean as f64 * f64::from(spread) / 100.0;
            assert!(
                (variance.sqrt() - wanted).abs() <= 0.05 * wanted,
                "deviation {:.0} ns, not {wanted:.0}",
                variance.sqrt()
            );
            let rare = drawn.iter().filter(|wait| wait.rare > Nanos::ZERO).count() as f64 / COUNT as f64;
            assert!((rare - f64::from(rare_ppm) / 1e6).abs() < 0.001, "{rare} of all are rare");
        }
    }

    #[test]
    fn without_spread_all_waits_are_alike() {
        let drawn = waits(&delay(1_234, 0, 0, 0), 1, 1_000);
        assert!(drawn.iter().all(|wait| *wait == Wait { usual: Nanos::from_nanos(1_234), rare: Nanos::ZERO }));
    }

    #[test]
    fn one_seed_draws_the_same_and_another_others() {
        let delay = delay(5 * MICROS, 30, 1_000, 50 * MICROS);
        let written = postcard::to_allocvec(&delay).unwrap();
        let read: Delay = postcard::from_bytes(&written).unwrap();
        assert_eq!(waits(&delay, 1, 1_000), waits(&read, 1, 1_000));
        assert_ne!(waits(&delay, 1, 1_000), waits(&delay, 2, 1_000));
    }
}
