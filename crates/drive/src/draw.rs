//! Random draws that belong to a drive: a stream from its seed, and the distributions read off tables.
//!
//! All a drive holds and does with them is in integers, so that one seed gives the same bits on every machine. The
//! tables are made when the program is compiled, by arithmetic that IEEE 754 fixes to the bit.
//!
//! Error: a [`normal`] quantile within 0.1 % (or 0.0001 near zero) up to 5.5 deviations, and none beyond 6.4; the
//! mean of normal draws below 0.0001 and their deviation within 0.05 %. Of a [`Spread`], the mean within 0.05 %, and each
//! quantile up to 5 deviations within 0.5 % for relative deviations up to 1, and within 1 % up to 3. Of [`exponential`],
//! each quantile within 0.1 %.

use block::{GOLDEN, Nanos, Seed};
use serde::{Deserialize, Serialize};

/// A stream of independent draws.
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draws(u64);

impl Draws {
    /// The stream of this seed; split it from the drive's by the name of what is drawn.
    pub const fn new(seed: Seed) -> Self {
        Self(seed.get())
    }

    /// Has the draws from here on follow from `seed` too.
    pub const fn join(&mut self, seed: Seed) {
        self.0 ^= seed.get();
    }

    /// The next draw: any number equally likely.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mixed(self.0)
    }

    /// A number below `limit`.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        below(self.draw(), limit)
    }

    /// Two independent numbers, the first below one limit and the second below the other.
    #[inline]
    pub fn both_below(&mut self, limit: u32, other: u32) -> (u32, u32) {
        self.0 = self.0.wrapping_add(GOLDEN);
        let z = mixed_up(self.0);
        let z = z ^ (z >> 31);
        (below((z >> 32) as u32, limit), below(z as u32, other))
    }

    /// Whether something of these odds happens this time.
    #[inline]
    pub fn happens(&mut self, odds: Odds) -> bool {
        u64::from(self.draw()) < odds.0
    }
}

/// A draw scaled to numbers below `limit`.
#[inline]
const fn below(draw: u32, limit: u32) -> u32 {
    ((draw as u64 * limit as u64) >> 32) as u32
}

/// The draw that belongs to a thing of this number, once for all: it takes no memory.
#[inline]
pub const fn lasting(seed: Seed, number: u64) -> u32 {
    mixed(seed.get() ^ number.wrapping_mul(GOLDEN))
}

/// SplitMix64's finaliser.
#[inline]
const fn mixed(z: u64) -> u32 {
    (mixed_up(z) >> 32) as u32
}

/// The same in 64 bits, without the last step, which is for the lower half.
#[inline]
const fn mixed_up(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// How likely something is, to 2⁻³².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Odds(u64);

impl Odds {
    /// It never happens.
    pub const NEVER: Self = Self(0);

    /// So many times in a million; more than a million is always.
    pub const fn per_million(share: u64) -> Self {
        let share = if share > 1_000_000 { 1_000_000 } else { share };
        Self((share << 32) / 1_000_000)
    }
}

/// A positive factor in units of 2⁻¹⁶.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Factor(u32);

impl Factor {
    /// The factor that changes nothing.
    pub const ONE: Self = Self(1 << 16);

    /// So many units of 2⁻¹⁶.
    pub const fn from_units(units: u32) -> Self {
        Self(units)
    }

    /// Its units of 2⁻¹⁶.
    pub const fn units(self) -> u32 {
        self.0
    }

    /// The product of both; the largest factor there is, if it is larger.
    #[inline]
    pub const fn times(self, other: Self) -> Self {
        let product = (self.0 as u64 * other.0 as u64) >> 16;
        Self(if product > u32::MAX as u64 { u32::MAX } else { product as u32 })
    }

    /// This factor of a time; the longest time there is, if it is longer.
    #[inline]
    pub const fn of(self, time: Nanos) -> Nanos {
        // Of less than four seconds, 64 bits hold the product.
        if time.as_nanos() <= u32::MAX as u64 {
            return Nanos::from_nanos((time.as_nanos() * self.0 as u64) >> 16);
        }
        self.of_long(time)
    }

    #[cold]
    const fn of_long(self, time: Nanos) -> Nanos {
        let product = (time.as_nanos() as u128 * self.0 as u128) >> 16;
        if product > u64::MAX as u128 { Nanos::MAX } else { Nanos::from_nanos(product as u64) }
    }
}

/// A log-normal distribution of factors around a mean of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The deviation of the binary logarithm, in 2⁻²⁴.
    scale: i64,
    /// What is taken off the logarithm so that the mean is one, in 2⁻²⁴.
    shift: i64,
}

impl Spread {
    /// Always one.
    pub const NONE: Self = Self { scale: 0, shift: 0 };

    /// Factors whose standard deviation is so many millionths of their mean.
    pub const fn new(deviation: u64) -> Self {
        let relative = deviation as f64 / 1e6;
        let variance = math::ln(1.0 + relative * relative);
        let unit = (1 << 24) as f64 / math::LN_2;
        Self { scale: (math::sqrt(variance) * unit + 0.5) as i64, shift: (variance / 2.0 * unit + 0.5) as i64 }
    }

    /// A time of this mean. What does not vary draws nothing.
    #[inline]
    pub fn vary(self, draws: &mut Draws, mean: Nanos) -> Nanos {
        if self == Self::NONE { mean } else { self.factor(draws.draw()).of(mean) }
    }

    /// The factor of a draw; the larger the draw's normal quantile, the larger it is.
    #[inline]
    pub fn factor(self, draw: u32) -> Factor {
        self.at(normal(draw))
    }

    /// The factor so many deviations from the median, in 2⁻¹⁶.
    fn at(self, deviations: i32) -> Factor {
        let logarithm = ((self.scale * i64::from(deviations)) >> 16) - self.shift;
        exp2(logarithm >> 8)
    }

    /// Its factors below the median and above it, in units of 2⁻¹⁶, at each entry of a table.
    pub fn entries(self) -> [[u32; ENTRIES]; 2] {
        [-1, 1].map(|sign| NORMAL.map(|size| self.at(sign * size as i32).units()))
    }
}

/// No draw is farther out than this many deviations, in 2⁻¹⁶.
pub const NORMAL_MAX: i32 = 7 << 16;

/// The standard normal quantile of a draw, in 2⁻¹⁶: its lowest bit is the sign, and the leading zeros of the rest say how
/// far out in the tail it lies, so that the tail is as fine as the middle.
#[inline]
pub fn normal(draw: u32) -> i32 {
    let size = interpolate(&NORMAL, draw | 1) as i32;
    if draw & 1 == 0 { -size } else { size }
}

/// The exponential quantile of a draw, in 2⁻¹⁶ of the mean; at most 22.
#[inline]
pub fn exponential(draw: u32) -> Factor {
    Factor(interpolate(&EXPONENTIAL, draw | 1))
}

/// Two to this power, which is in units of 2⁻¹⁶.
#[inline]
fn exp2(power: i64) -> Factor {
    let power = power.clamp(-16 << 16, (16 << 16) - 1);
    let (whole, index, within) = (power >> 16, ((power >> 10) & 63) as usize, (power & 1023) as u64);
    let (from, to) = (u64::from(EXP2[index]), u64::from(EXP2[index + 1]));
    Factor(((from + (((to - from) * within) >> 10)) >> (15 - whole)) as u32)
}

/// Parts of an octave; between them, a line.
const PARTS: usize = 16;
pub const ENTRIES: usize = 32 * PARTS + 1;

/// The table's value at `x`/2³², which has an entry for each sixteenth of each octave, from one down; `x` is not zero.
#[inline(always)]
pub fn interpolate(table: &[u32; ENTRIES], x: u32) -> u32 {
    let octave = x.leading_zeros();
    // Below the leading one, which a second shift takes off.
    let rest = x << octave << 1;
    let (part, within) = (rest >> 28, i64::from(rest << 4 >> 5));
    let lower = (octave as usize + 1) * PARTS - part as usize;
    let (at_lower, at_upper) = (i64::from(table[lower]), i64::from(table[lower - 1]));
    (at_lower - (((at_lower - at_upper) * within) >> 27)) as u32
}

/// Two to the 64ths of one, in 2⁻³¹.
static EXP2: [u32; 65] = {
    let (mut table, mut index) = ([0; 65], 0);
    while index < 65 {
        let power = math::exp(math::LN_2 * index as f64 / 64.0) * (1_u64 << 31) as f64;
        // Two itself does not fit; the last line ends a unit of 2⁻³¹ early.
        table[index] = if power >= u32::MAX as f64 { u32::MAX } else { (power + 0.5) as u32 };
        index += 1;
    }
    table
};

/// Normal quantiles of the upper half, where `x`/2³² is twice the share beyond.
static NORMAL: [u32; ENTRIES] = {
    let (mut table, mut index) = ([0; ENTRIES], 1);
    while index < ENTRIES {
        table[index] = (math::normal_beyond(entry(index) / 2.0) * 65_536.0 + 0.5) as u32;
        index += 1;
    }
    table
};

/// Exponential quantiles, where `x`/2³² is the share beyond.
static EXPONENTIAL: [u32; ENTRIES] = {
    let (mut table, mut index) = ([0; ENTRIES], 1);
    while index < ENTRIES {
        table[index] = (-math::ln(entry(index)) * 65_536.0 + 0.5) as u32;
        index += 1;
    }
    table
};

/// What share an entry of a table stands for.
const fn entry(index: usize) -> f64 {
    let octave = index.div_ceil(PARTS);
    let part = octave * PARTS - index;
    (PARTS + part) as f64 / PARTS as f64 / (1_u64 << octave) as f64
}

/// What the tables are made of, by the four operations alone, which are the same everywhere.
mod math {
    pub const LN_2: f64 = std::f64::consts::LN_2;

    /// The natural logarithm of a positive number.
    pub const fn ln(mut x: f64) -> f64 {
        let mut octaves = 0.0;
        while x < 1.0 {
            (x, octaves) = (x * 2.0, octaves - 1.0);
        }
        while x >= 2.0 {
            (x, octaves) = (x / 2.0, octaves + 1.0);
        }
        // 2 artanh y, where y is below a third.
        let y = (x - 1.0) / (x + 1.0);
        let (mut sum, mut power, mut odd) = (0.0, y, 1.0);
        while odd < 40.0 {
            sum += power / odd;
            (power, odd) = (power * y * y, odd + 2.0);
        }
        octaves * LN_2 + 2.0 * sum
    }

    /// The exponential of a number from zero to one.
    pub const fn exp(x: f64) -> f64 {
        let (mut sum, mut term, mut index) = (1.0, 1.0, 1.0);
        while index < 24.0 {
            term *= x / index;
            (sum, index) = (sum + term, index + 1.0);
        }
        sum
    }

    /// The root of a number that is not negative, by Newton's method.
    pub const fn sqrt(x: f64) -> f64 {
        if x == 0.0 {
            return 0.0;
        }
        let (mut root, mut step) = (if x > 1.0 { x } else { 1.0 }, 0);
        while step < 64 {
            root = (root + x / root) / 2.0;
            step += 1;
        }
        root
    }

    /// How many deviations from the mean a share `beyond` of a normal distribution lies, which is at most a half.
    ///
    /// Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function", 2003;
    /// relative error below 1.15e-9.
    pub const fn normal_beyond(beyond: f64) -> f64 {
        const A: [f64; 6] = [
            -3.969683028665376e+01,
            2.209460984245205e+02,
            -2.759285104469687e+02,
            1.38357751867269e+02,
            -3.066479806614716e+01,
            2.506628277459239e+00,
        ];
        const B: [f64; 6] = [
            -5.447609879822406e+01,
            1.615858368580409e+02,
            -1.556989798598866e+02,
            6.680131188771972e+01,
            -1.328068155288572e+01,
            1.0,
        ];
        const C: [f64; 6] = [
            -7.784894002430293e-03,
            -3.223964580411365e-01,
            -2.400758277161838e+00,
            -2.549732539343734e+00,
            4.374664141464968e+00,
            2.938163982698783e+00,
        ];
        const D: [f64; 5] =
            [7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0];
        if beyond < 0.02425 {
            let q = sqrt(-2.0 * ln(beyond));
            return -polynomial(&C, q) / polynomial(&D, q);
        }
        let q = 0.5 - beyond;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    }

    const fn polynomial(coefficients: &[f64], x: f64) -> f64 {
        let (mut sum, mut index) = (0.0, 0);
        while index < coefficients.len() {
            sum = sum * x + coefficients[index];
            index += 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DelaySpec;

    /// The share of a normal distribution beyond `z`, by the trapezoid rule.
    fn share_beyond(z: f64) -> f64 {
        let step = 1e-4;
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let inner: f64 = (1..80_000).map(|index| density(z + step * f64::from(index))).sum();
        step * (density(z) / 2.0 + inner)
    }

    /// The draw beyond whose quantile such a share of all lies, on the side above the mean.
    fn draw_of(share_beyond: f64) -> u32 {
        (share_beyond * 2.0 * 4_294_967_296.0) as u32 | 1
    }

    /// Draws that lie evenly, from 2²¹ equal parts of all.
    fn evenly() -> impl Iterator<Item = u32> {
        (0..1_u32 << 21).flat_map(|part| [part << 11 | 1 << 10, part << 11 | 1 << 10 | 1])
    }

    #[test]
    fn normal_quantiles_are_within_a_thousandth() {
        for tenths in 1..=55 {
            let z = f64::from(tenths) / 10.0;
            let found = f64::from(normal(draw_of(share_beyond(z)))) / 65_536.0;
            assert!((found / z - 1.0).abs() < 1e-3, "{found} for {z}");
        }
        assert_eq!(normal(0), -normal(1), "the lowest bit is the sign");
        assert!((6.3..6.4).contains(&(f64::from(normal(1)) / 65_536.0)), "the end of the tail");
        assert!(normal(1) <= NORMAL_MAX);
        assert!(normal(u32::MAX) <= 1, "the middle");
    }

    #[test]
    fn normal_draws_have_no_mean_and_a_deviation_of_one() {
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for draw in evenly() {
            let z = f64::from(normal(draw)) / 65_536.0;
            (sum, squares, count) = (sum + z, squares + z * z, count + 1.0);
        }
        assert!((sum / count).abs() < 1e-4, "mean {}", sum / count);
        assert!(((squares / count).sqrt() - 1.0).abs() < 5e-4, "deviation {}", (squares / count).sqrt());
    }

    #[test]
    fn a_spread_has_a_mean_of_one_its_deviation_and_its_quantiles() {
        // Of the widest, 1.5 % of the second moment lie beyond what so many draws reach.
        let widest = f64::from(DelaySpec::SPREAD_MAX) / 1e6;
        let narrow = [0.01, 0.05, 0.2, 0.5, 1.0].map(|deviation| (deviation, 5e-3, 5e-3));
        for (deviation, spread_error, quantile_error) in narrow.into_iter().chain([(widest, 2e-2, 1e-2)]) {
            let spread = Spread::new((deviation * 1e6) as u64);
            let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
            for draw in evenly() {
                let factor = f64::from(spread.factor(draw).units()) / 65_536.0;
                (sum, squares, count) = (sum + factor, squares + factor * factor, count + 1.0);
            }
            let mean: f64 = sum / count;
            assert!((mean - 1.0).abs() < 5e-4, "mean {mean} of {deviation}");
            let found = (squares / count - mean * mean).sqrt();
            assert!((found / deviation - 1.0).abs() < spread_error, "deviation {found}, wanted {deviation}");
            let scale = (1.0 + deviation * deviation).ln().sqrt();
            for z in [1.0, 2.0, 3.0, 4.0, 5.0_f64] {
                let draw = draw_of(share_beyond(z));
                for (draw, z) in [(draw, z), (draw - 1, -z)] {
                    let (found, wanted) = (spread.factor(draw).units(), (scale * z - scale * scale / 2.0).exp());
                    let found = f64::from(found) / 65_536.0;
                    // A factor is a whole number of units of 2⁻¹⁶.
                    assert!(
                        (found - wanted).abs() < quantile_error * wanted + 1.0 / 65_536.0,
                        "{found} at {z}, wanted {wanted}"
                    );
                }
            }
        }
        assert!(evenly().step_by(1_000).all(|draw| Spread::NONE.factor(draw) == Factor::ONE));
    }

    #[test]
    fn a_factor_of_any_time_is_exact_or_the_longest_time() {
        let week = Nanos::from_secs(7 * 86_400);
        assert_eq!(Factor::ONE.of(week), week);
        assert_eq!(Factor::from_units(1 << 20).of(week), week.times(16));
        assert_eq!(Factor::from_units(3 << 15).of(week), Nanos::from_nanos(week.as_nanos() / 2 * 3));
        assert_eq!(Factor::from_units(1 << 31).of(Nanos::MAX), Nanos::MAX);
        assert_eq!(Factor::from_units(3 << 15).times(Factor::from_units(3 << 14)), Factor::from_units(9 << 13));
        assert_eq!(Factor::from_units(1 << 31).times(Factor::from_units(1 << 31)), Factor::from_units(u32::MAX));
    }

    #[test]
    fn exponential_quantiles_are_logarithms() {
        for power in 1..=30 {
            let share = 0.7_f64.powi(power);
            let found = f64::from(exponential((share * 4_294_967_296.0) as u32).units()) / 65_536.0;
            assert!((found / -share.ln() - 1.0).abs() < 1e-3, "{found} for {share}");
        }
        let mean =
            evenly().map(|draw| f64::from(exponential(draw).units())).sum::<f64>() / 65_536.0 / f64::from(1 << 22);
        assert!((mean - 1.0).abs() < 1e-3, "mean {mean}");
    }

    #[test]
    fn odds_and_limits_are_kept() {
        let mut draws = Draws::new(Seed::new(1).split("odds"));
        let count = (0..1_000_000).filter(|_| draws.happens(Odds::per_million(20_000))).count();
        assert!((19_400..20_600).contains(&count), "{count} of 20,000 expected");
        assert!((0..1_000).all(|_| !draws.happens(Odds::NEVER) && draws.happens(Odds::per_million(1_000_000))));
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[draws.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_seed_gives_its_stream_and_a_name_another() {
        let stream = |name| {
            let mut draws = Draws::new(Seed::new(7).split(name));
            [(); 4].map(|()| draws.draw())
        };
        assert_eq!(stream("settle"), stream("settle"));
        assert_ne!(stream("settle"), stream("retry"));
    }

    #[test]
    fn a_factor_scales_a_time() {
        assert_eq!(Factor::from_units(3 << 15).of(Nanos::from_micros(100)), Nanos::from_micros(150));
        assert_eq!(Factor::ONE.of(Nanos::from_secs(86_400)), Nanos::from_secs(86_400));
    }
}
