//! How long the arm takes to move.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// What a data sheet says of seeks; settling on the track is part of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekTimes {
    /// To the next cylinder.
    pub track: Nanos,
    /// The mean over all pairs of cylinders.
    pub average: Nanos,
    /// From the first cylinder to the last.
    pub full: Nanos,
}

/// Time to seek by distance: `a + b √distance` up to a third of the stroke, linear beyond.
///
/// The arm accelerates over the first half of a short seek and brakes over the second, hence the root; a long
/// seek is mostly at full speed. The two parts meet at the knee, at whatever time makes the mean over all pairs
/// of cylinders the published average.
///
/// Source: C. Ruemmler and J. Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994,
/// §"Seeking", for the law; the definition of the average is that of Hitachi's 5K320 OEM specification, §4.4.2.1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeekCurve {
    /// Nanoseconds for each distance below `NEAR`.
    near: Vec<u32>,
    /// Nanoseconds at each multiple of `STRIDE`; between them, a line.
    far: Vec<u32>,
}

const NEAR: u32 = 1024;
const STRIDE: u32 = 256;
/// Shares of a time are in units of one over this.
const ONE: i128 = 1 << 20;

/// The curve's shape before its times are known.
#[derive(Clone, Copy)]
struct Shape {
    last: u32,
    knee: u32,
}

impl Shape {
    /// How far `distance` is between one track and the knee, or between the knee and the full stroke.
    fn share(self, distance: u32) -> i128 {
        let root = |distance: u32| i128::from((u64::from(distance) << 40).isqrt());
        if distance <= self.knee {
            ONE * (root(distance) - root(1)) / (root(self.knee) - root(1)).max(1)
        } else {
            ONE * i128::from(distance - self.knee) / i128::from(self.last - self.knee)
        }
    }

    /// The time at the knee that gives the average wanted.
    fn at_knee(self, times: SeekTimes) -> i128 {
        // Enough distances for a thousandth; the mean needs no more.
        let step = (self.last / 4096).max(1);
        let (mut weights, mut fixed, mut by_knee) = (0, 0, 0);
        for distance in (1..=self.last).step_by(step as usize) {
            let (weight, share) = (i128::from(self.last + 1 - distance), self.share(distance));
            weights += weight * ONE;
            if distance <= self.knee {
                fixed += weight * (ONE - share) * nanos(times.track);
                by_knee += weight * share;
            } else {
                fixed += weight * share * nanos(times.full);
                by_knee += weight * (ONE - share);
            }
        }
        (nanos(times.average) * weights - fixed) / by_knee
    }
}

fn nanos(time: Nanos) -> i128 {
    i128::from(time.as_nanos())
}

impl SeekCurve {
    /// The curve through the published times over so many cylinders; none if no such curve rises throughout.
    pub fn fit(times: SeekTimes, cylinders: u32) -> Option<Self> {
        let last = cylinders.max(4) - 1;
        let shape = Shape { last, knee: last / 3 };
        let (track, full, knee) = (nanos(times.track), nanos(times.full), shape.at_knee(times));
        if !(track <= knee && knee <= full && full < i128::from(u32::MAX / 2)) {
            return None;
        }
        let time = |distance: u32| {
            let share = shape.share(distance.max(1));
            let (from, to) = if distance <= shape.knee { (track, knee) } else { (knee, full) };
            (from + (to - from) * share / ONE) as u32
        };
        let near = (0..NEAR).map(|distance| if distance == 0 { 0 } else { time(distance) }).collect();
        let far = (0..=last / STRIDE + 1).map(|index| time(index * STRIDE)).collect();
        Some(Self { near, far })
    }

    /// The time to move so many cylinders; none for zero.
    #[inline]
    pub fn time(&self, distance: u32) -> Nanos {
        if distance < NEAR {
            return Nanos::from_nanos(u64::from(self.near[distance as usize]));
        }
        let (index, within) = ((distance / STRIDE) as usize, u64::from(distance % STRIDE));
        let (from, to) = (u64::from(self.far[index]), u64::from(self.far[index + 1]));
        Nanos::from_nanos(from + (to - from) * within / u64::from(STRIDE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAPTOP: SeekTimes =
        SeekTimes { track: Nanos::from_micros(1_000), average: Nanos::from_millis(12), full: Nanos::from_millis(20) };

    #[test]
    fn the_curve_meets_the_three_published_times() {
        for cylinders in [2_000, 30_011, 190_000] {
            let curve = SeekCurve::fit(LAPTOP, cylinders).unwrap();
            assert_eq!(curve.time(0), Nanos::ZERO);
            assert_eq!(curve.time(1), LAPTOP.track);
            let full = curve.time(cylinders - 1).as_micros_f64();
            assert!((full / 20_000.0 - 1.0).abs() < 0.002, "{full} µs from end to end");
            let pairs = |distance: u32| f64::from(cylinders - distance);
            let sum: f64 = (1..cylinders).map(|d| pairs(d) * curve.time(d).as_micros_f64()).sum();
            let mean = sum / (1..cylinders).map(pairs).sum::<f64>();
            assert!((mean / 12_000.0 - 1.0).abs() < 0.003, "{mean} µs on average over {cylinders} cylinders");
        }
    }

    #[test]
    fn further_never_takes_less() {
        let curve = SeekCurve::fit(LAPTOP, 50_000).unwrap();
        let times: Vec<Nanos> = (0..50_000).map(|distance| curve.time(distance)).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn short_seeks_follow_the_root_and_long_ones_a_line() {
        let curve = SeekCurve::fit(LAPTOP, 30_001).unwrap();
        let time = |distance: u32| curve.time(distance).as_micros_f64();
        let root = |distance: u32| (time(distance) - time(1)) / (f64::from(distance).sqrt() - 1.0);
        assert!((root(100) / root(10_000) - 1.0).abs() < 0.002, "{} and {}", root(100), root(10_000));
        let slope = |from: u32, to: u32| (time(to) - time(from)) / f64::from(to - from);
        assert!((slope(10_240, 20_480) / slope(20_480, 29_952) - 1.0).abs() < 0.001);
    }

    #[test]
    fn times_that_no_rising_curve_has_are_refused() {
        let slow = SeekTimes { average: Nanos::from_millis(19), ..LAPTOP };
        assert!(SeekCurve::fit(slow, 10_000).is_none(), "the knee would be above the full stroke");
        let fast = SeekTimes { average: Nanos::from_millis(3), ..LAPTOP };
        assert!(SeekCurve::fit(fast, 10_000).is_none(), "the knee would be below one track");
    }
}
