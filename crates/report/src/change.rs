//! How one figure compares with another, and how surely.

use std::fmt;

use plan::Metric;
use stats::{Interval, PRECISION};

/// How a figure changed from one state to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FigureChange {
    metric: Metric,
    /// After divided by before.
    ratio: f64,
    /// Half the width of the ratio's 95 % interval, as a share of the ratio.
    relative: f64,
}

impl FigureChange {
    /// From `before` to `after`; none where either is zero.
    ///
    /// The half-widths, as shares, add in quadrature: to first order the interval of a quotient of
    /// independent means. A figure that was measured once has no interval; it is taken to be as wide as the other's, and
    /// ±2 % at least.
    pub(crate) fn between(metric: Metric, before: &Interval, after: &Interval) -> Option<Self> {
        if before.mean <= 0.0 || after.mean <= 0.0 {
            return None;
        }
        let relative = match (before.relative(), after.relative()) {
            (Some(before), Some(after)) => before.hypot(after),
            (Some(known), None) | (None, Some(known)) => known.hypot(known.max(PRECISION)),
            (None, None) => PRECISION,
        };
        Some(Self { metric, ratio: after.mean / before.mean, relative })
    }

    /// The larger divided by the smaller.
    pub(crate) fn factor(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }

    /// Whether the figure got worse for the user.
    pub(crate) fn is_worse(&self) -> bool {
        (self.ratio < 1.0) == self.metric.more_is_better()
    }

    /// Whether the change is more than chance: the ratio's interval leaves out 1.
    pub(crate) fn is_clear(&self) -> bool {
        self.ratio.ln().abs() > self.relative.max(0.005)
    }

    fn word(&self) -> &'static str {
        self.metric.change()[usize::from(self.ratio > 1.0)]
    }
}

/// `7.49 × slower`, `1.02 × longer`, `no clear change`.
impl fmt::Display for FigureChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clear() {
            write!(f, "{} × {}", crate::number::three(self.factor()), self.word())
        } else {
            f.write_str("no clear change")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(mean: f64, half: f64) -> Interval {
        Interval { mean, half_width: Some(half), repeats: 5 }
    }

    #[test]
    fn a_change_says_its_direction_for_the_user() {
        let fall = FigureChange::between(Metric::Iops, &figure(17_900.0, 90.0), &figure(2_390.0, 12.0)).unwrap();
        assert_eq!(fall.to_string(), "7.49 × slower");
        assert!(fall.is_worse());
        let rise = FigureChange::between(Metric::Latency99, &figure(100.0, 1.0), &figure(250.0, 1.0)).unwrap();
        assert_eq!(rise.to_string(), "2.50 × longer");
        assert!(rise.is_worse());
    }

    #[test]
    fn what_may_be_chance_is_no_change() {
        let change = FigureChange::between(Metric::Iops, &figure(100.0, 4.0), &figure(104.0, 4.0)).unwrap();
        assert_eq!(change.to_string(), "no clear change");
        let single = Interval { mean: 101.0, half_width: None, repeats: 1 };
        assert!(!FigureChange::between(Metric::Iops, &figure(100.0, 0.1), &single).unwrap().is_clear());
        // As 14,500 ± 15 % IOPS when fresh and 13,300 when conditioned: called 1.09 × slower once.
        let once = Interval { mean: 13_300.0, half_width: None, repeats: 1 };
        let wide = figure(14_500.0, 2_175.0);
        for (before, after) in [(&wide, &once), (&once, &wide)] {
            assert_eq!(FigureChange::between(Metric::Iops, before, after).unwrap().to_string(), "no clear change");
        }
        assert_eq!(FigureChange::between(Metric::Iops, &figure(0.0, 0.0), &single), None);
    }
}
