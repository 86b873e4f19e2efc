//! How fast a step is over its time, while it is carried out: few enough figures to be told again and again.

use serde::{Deserialize, Serialize};
use stats::{Steadiness, SteadyRule};

use crate::Clock;

/// The most points of a curve; beyond them, neighbours become one.
const POINTS_MAX: usize = 120;

/// The IOPS of a step over its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// The title of the step.
    pub step: String,
    /// By which clock its time goes.
    pub clock: Clock,
    /// The end of each span of time in seconds since the step began, with the IOPS in it; the first begins at zero.
    pub points: Vec<(f64, f64)>,
    /// How many rounds of a conditioning are over.
    pub rounds: u32,
    /// What the last of them show, once there are as many as the rule judges.
    pub window: Option<CurveWindow>,
}

/// The last rounds of a conditioning, as its rule judges them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveWindow {
    /// When the first of them began, in seconds since the step did.
    pub begin: f64,
    /// When the last of them ended.
    pub end: f64,
    pub rule: SteadyRule,
    pub found: Steadiness,
}

impl Curve {
    /// That of a step which begins.
    pub fn new(step: &str, clock: Clock) -> Self {
        Self { step: step.to_owned(), clock, ..Self::default() }
    }

    /// How much time it covers, in seconds.
    pub fn end(&self) -> f64 {
        self.points.last().map_or(0.0, |(end, _)| *end)
    }

    /// Goes on until `end`, in seconds, at so many `iops`. What ends before it began is passed over.
    pub fn push(&mut self, end: f64, iops: f64) {
        if end <= self.end() {
            return;
        }
        self.points.push((end, iops));
        if self.points.len() > POINTS_MAX {
            self.halve();
        }
    }

    /// Makes one span of each two that follow one another.
    fn halve(&mut self) {
        let mut begin = 0.0;
        let mut joined = |pair: &[(f64, f64)]| {
            let (mut requests, mut from) = (0.0, begin);
            for &(end, iops) in pair {
                requests += (end - from) * iops;
                from = end;
            }
            let one = (from, requests / (from - begin));
            begin = from;
            one
        };
        self.points = self.points.chunks(2).map(&mut joined).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_of_any_length_keeps_its_requests_in_few_points() {
        let mut curve = Curve::new("Fill", Clock::Virtual);
        for second in 1..=10_000_u32 {
            curve.push(f64::from(second), f64::from(second % 7));
        }
        assert!((POINTS_MAX / 2..=POINTS_MAX).contains(&curve.points.len()), "{}", curve.points.len());
        assert!(curve.points.is_sorted_by(|one, next| one.0 < next.0) && curve.end() == 10_000.0);
        let mut from = 0.0;
        let requests: f64 = curve
            .points
            .iter()
            .map(|(end, iops)| {
                let length = end - from;
                from = *end;
                length * iops
            })
            .sum();
        let expected: f64 = (1..=10_000_u32).map(|second| f64::from(second % 7)).sum();
        assert!((requests / expected - 1.0).abs() < 1e-9, "{requests} of {expected}");
    }

    #[test]
    fn time_does_not_go_back() {
        let mut curve = Curve::default();
        [(1.0, 5.0), (1.0, 9.0), (0.5, 9.0), (2.0, 7.0)].into_iter().for_each(|(end, iops)| curve.push(end, iops));
        assert_eq!(curve.points, [(1.0, 5.0), (2.0, 7.0)]);
    }
}
