//! Waits of random length: log-normal, with a rare longer one.

use std::sync::Arc;

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

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

/// Draws waits by table look-up: what is drawn follows from a number, without floating point.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "DelaySpec", into = "DelaySpec")]
pub struct Delay {
    spec: DelaySpec,
    /// Nanoseconds of the usual wait, then of the rare one, each at the middles of [`STEPS`] equal shares.
    tables: Arc<[Vec<u32>; 2]>,
    /// Numbers of 32 bits below this have a rare wait beside.
    rare_below: u64,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub usual: Nanos,
    /// Zero but for the share that has one.
    pub rare: Nanos,
}

impl DelaySpec {
    /// The largest standard deviation, in millionths of the mean: beyond it the table's steps are too coarse.
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
            tables: Arc::new([log_normal(spec.mean, spec.spread_ppm), log_normal(spec.rare_mean, 1_000_000)]),
            rare_below: u64::from(spec.rare_ppm) * (1 << 32) / 1_000_000,
            spec,
        }
    }

    /// The wait that belongs to a random number.
    #[inline]
    pub fn of(&self, drawn: Seed) -> Wait {
        let bits = drawn.get();
        let at = |table: usize, bits: u64| Nanos::from_nanos(self.tables[table][bits as usize % STEPS].into());
        let is_rare = bits >> 32 < self.rare_below;
        Wait { usual: at(0, bits), rare: if is_rare { at(1, bits >> 16) } else { Nanos::ZERO } }
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

/// Entries of a table.
const STEPS: usize = 1024;
/// One, in fixed point.
const ONE: i64 = 1 << 30;
/// The quantiles of the standard normal distribution at the middles of [`STEPS`] equal shares.
const NORMAL: [i64; STEPS] = quantiles();

/// e to the power of `x`, in fixed point, for `x` within ±20: as 2ⁿ times a power series.
const fn exp(x: i64) -> i64 {
    let halvings = ((x as i128 * 1_549_082_005) >> 30) as i64;
    let rest = (((halvings & (ONE - 1)) as i128 * 744_261_118) >> 30) as i64;
    let (mut sum, mut term) = (ONE, 10);
    while term > 0 {
        sum = ONE + ((rest * sum) >> 30) / term;
        term -= 1;
    }
    let power = halvings >> 30;
    if power < 0 { sum >> -power } else { sum << power }
}

/// By adding up the density from −5 to 0 in steps of 1/1024; the other half mirrors it.
const fn quantiles() -> [i64; STEPS] {
    const STEP: i64 = ONE / 1024;
    // Both density and sum are in units of the density at zero times a step; the sum up to zero is √(π/2) · 1024.
    const HALF: i64 = 1_378_033_467_234;
    let mut found = [0; STEPS];
    let (mut at, mut sum, mut next) = (-5 * ONE, 0, 0);
    while at < 0 {
        let middle = at + STEP / 2;
        let density = exp(-(((middle as i128 * middle as i128) >> 31) as i64));
        while next < STEPS / 2 && HALF * (2 * next as i64 + 1) / STEPS as i64 <= sum + density {
            let part = HALF * (2 * next as i64 + 1) / STEPS as i64 - sum;
            found[next] = at + ((STEP as i128 * part as i128) / density as i128) as i64;
            found[STEPS - 1 - next] = -found[next];
            next += 1;
        }
        sum += density;
        at += STEP;
    }
    found
}

/// Nanoseconds at the middles of equal shares of a log-normal distribution, whose mean is exactly `mean`.
fn log_normal(mean: Nanos, spread_ppm: u32) -> Vec<u32> {
    let share = u128::from(spread_ppm);
    let wanted = ONE + (share * share * ONE as u128 / 1_000_000_000_000) as i64;
    // The variance of the logarithm is ln(1 + spread²): the largest number whose power is no more than that.
    let variance = (0..32).rev().fold(0, |found, bit| {
        let tried = found | 1_i64 << bit;
        if exp(tried) <= wanted { tried } else { found }
    });
    let deviation = ((variance as u64) << 30).isqrt() as i64;
    let weights: Vec<u128> = NORMAL.iter().map(|z| exp((z * deviation) >> 30) as u128).collect();
    let whole: u128 = weights.iter().sum();
    let scaled = |weight: &u128| (weight * STEPS as u128 * u128::from(mean.as_nanos()) + whole / 2) / whole;
    weights.iter().map(|weight| scaled(weight).min(u128::from(u32::MAX)) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROS: u64 = 1_000;

    fn delay(mean: u64, spread: u32, rare_ppm: u32, rare_mean: u64) -> Delay {
        let [mean, rare_mean] = [mean, rare_mean].map(Nanos::from_nanos);
        Delay::new(DelaySpec { mean, spread_ppm: spread * 10_000, rare_ppm, rare_mean })
    }

    fn waits(delay: &Delay, seed: u64, count: u64) -> Vec<Wait> {
        (0..count).map(|index| delay.of(Seed::new(seed).number(index))).collect()
    }

    #[test]
    fn the_table_is_that_of_the_normal_distribution() {
        // Quantiles at (2i + 1) / 2048. Source: Abramowitz and Stegun, table 26.5, to five digits.
        for (share, z) in [(1, -3.297_2), (205, -1.282_5), (613, -0.525_2), (1023, -0.001_2), (1843, 1.281_1)] {
            let found = NORMAL[(share - 1) / 2] as f64 / ONE as f64;
            assert!((found - z).abs() < 0.003, "{share} of 2048: {found:.4}, published {z}");
        }
        assert!(NORMAL.is_sorted());
        for (x, e) in [(0.0, 1.0), (1.0, std::f64::consts::E), (-3.0, 0.049_787), (2.5, 12.182_494)] {
            let found = exp((x * ONE as f64) as i64) as f64 / ONE as f64;
            assert!((found / e - 1.0).abs() < 1e-5, "e^{x} is {found}");
        }
    }

    #[test]
    fn waits_have_the_mean_the_spread_and_the_share_that_were_asked_for() {
        for (mean, spread, rare_ppm, rare_mean) in [
            (5 * MICROS, 30, 0, 0),
            (20 * MICROS, 100, 0, 0),
            (3 * MICROS, 50, 2_000, 100 * MICROS),
            (0, 0, 50_000, 700),
        ] {
            let drawn = waits(&delay(mean, spread, rare_ppm, rare_mean), 1, 100_000);
            let sum: u64 = drawn.iter().map(|wait| (wait.usual + wait.rare).as_nanos()).sum();
            let expected = mean as f64 + rare_mean as f64 * f64::from(rare_ppm) / 1e6;
            let found = sum as f64 / 1e5;
            assert!((found / expected - 1.0).abs() < 0.01, "mean {found:.0} ns, asked for {expected:.0} ns");
            let variance =
                drawn.iter().map(|wait| (wait.usual.as_nanos() as f64 - mean as f64).powi(2)).sum::<f64>() / 1e5;
            let wanted = mean as f64 * f64::from(spread) / 100.0;
            assert!(
                (variance.sqrt() - wanted).abs() <= 0.05 * wanted,
                "deviation {:.0} ns, not {wanted:.0}",
                variance.sqrt()
            );
            let rare = drawn.iter().filter(|wait| wait.rare > Nanos::ZERO).count() as f64 / 1e5;
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
