//! Whether a series changes its level somewhere, and where.

/// The chance of naming a change in a series that has none: at most 1 %.
pub const FALSE_ALARM: f64 = 0.01;

/// Fewer intervals than this are not judged.
const INTERVALS_LEAST: usize = 30;

/// What follows from one interval to the next is taken to be at most this, so that a series that hardly moves from one
/// interval to the next never counts as much less than it is.
const CORRELATION_MAX: f64 = 0.98;

/// Where a series most likely changes its level.
///
/// A. N. Pettitt's test: of all places at which the series can be cut in two, how far the ranks before and after differ at
/// the one where they differ most. It assumes no distribution, so that a stall or a burst is one rank and no more. It does assume that
/// intervals are independent, which those of a drive are not: a drive that is busy with itself is so for several of
/// them. The variance of the statistic is therefore widened by (1 + ρ) / (1 − ρ), where ρ is the correlation of
/// neighbours after the change itself is taken out and the bias of so short a series is made up for.
///
/// Source: A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28(2), 1979; G. V.
/// Bayley and J. M. Hammersley, "The 'effective' number of independent observations in an autocorrelated time series",
/// Journal of the Royal Statistical Society, supplement 8(2), 1946; that the correlation is to be taken after the change
/// and its bias corrected: F. Serinaldi and C. G. Kilsby, "The importance of prewhitening in change point analysis under
/// persistence", Stochastic Environmental Research and Risk Assessment 30, 2016.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first interval of the new level.
    pub at: usize,
    /// The mean of the intervals before.
    pub before: f64,
    /// The mean of those from there on.
    pub after: f64,
    /// How far neighbours go together, from 0 to 1.
    pub correlation: f64,
    /// The chance of a change as clear as this, or clearer, in a series without any.
    pub p: f64,
}

impl ChangePoint {
    /// The most likely change of `series`; none where it has fewer than 30 intervals or holds one value alone.
    pub fn of(series: &[f64]) -> Option<Self> {
        if series.len() < INTERVALS_LEAST {
            return None;
        }
        let ranks = ranks(series);
        let (at, statistic) = (cut(series)?, statistic(&ranks));
        let n = series.len() as f64;
        let correlation = correlation(&ranks, at);
        let widened = (1.0 + correlation) / (1.0 - correlation);
        let p = (2.0 * (-6.0 * statistic * statistic / ((n * n * n + n * n) * widened)).exp()).min(1.0);
        Some(Self { at, before: mean(&series[..at]), after: mean(&series[at..]), correlation, p })
    }

    /// Whether it is more than chance, at [`FALSE_ALARM`].
    pub fn is_clear(&self) -> bool {
        self.p < FALSE_ALARM
    }

    /// How much the level changes, as a share of what it was before; negative when it falls.
    pub fn shift(&self) -> f64 {
        if self.before == 0.0 { f64::INFINITY } else { self.after / self.before - 1.0 }
    }
}

/// The rank of each value, from 1; ties share the mean of theirs.
fn ranks(series: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by(|&a, &b| series[a].total_cmp(&series[b]));
    let mut ranks = vec![0.0; series.len()];
    let mut before = 0;
    for ties in order.chunk_by(|&a, &b| series[a] == series[b]) {
        let shared = before as f64 + (ties.len() as f64 + 1.0) / 2.0;
        ties.iter().for_each(|&index| ranks[index] = shared);
        before += ties.len();
    }
    ranks
}

/// Pettitt's statistic: the furthest that the sum of the ranks strays from what it would be without a change.
fn statistic(ranks: &[f64]) -> f64 {
    let n = ranks.len() as f64;
    let mut strayed = 0.0;
    let at_each = ranks.iter().map(|rank| {
        strayed += 2.0 * rank - (n + 1.0);
        strayed.abs()
    });
    at_each.fold(0.0, f64::max)
}

/// The first interval of the second part, where the series is best cut in two by least squares; none where no place is
/// better than another. The place of the furthest rank sum would do too, but is drawn towards the middle. The twentieth
/// part of the values at either end count as no more than the next, so that one stall does not decide.
fn cut(series: &[f64]) -> Option<usize> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let end = series.len() / 20;
    let (low, high) = (sorted[end], sorted[series.len() - 1 - end]);
    let clipped: Vec<f64> = series.iter().map(|value| value.clamp(low, high)).collect();
    let (n, middle) = (series.len() as f64, mean(&clipped));
    let (mut strayed, mut best) = (0.0, None);
    let mut furthest = 0.0;
    for (index, value) in clipped[..clipped.len() - 1].iter().enumerate() {
        strayed += value - middle;
        let count = index as f64 + 1.0;
        let squares = strayed * strayed / (count * (n - count));
        if squares > furthest {
            (furthest, best) = (squares, Some(index + 1));
        }
    }
    best
}

/// How far neighbours go together once both levels are taken out; never below zero.
///
/// From a short series with two means taken out, the correlation comes out too low, by (2 + 4ρ) / n where the place of the
/// cut is known and by more where it is chosen to fit. 5 and 8 were found by simulation: the least for which alarms stay
/// within what is stated, for 30 to 600 intervals and correlations up to 0.8.
fn correlation(ranks: &[f64], at: usize) -> f64 {
    let (one, two) = ranks.split_at(at);
    let (low, high) = (mean(one), mean(two));
    let rest: Vec<f64> = one.iter().map(|rank| rank - low).chain(two.iter().map(|rank| rank - high)).collect();
    let squares: f64 = rest.iter().map(|x| x * x).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let n = ranks.len() as f64;
    ((products / squares * n + 5.0) / (n - 8.0)).clamp(0.0, CORRELATION_MAX)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let series: Vec<f64> =
            (0..60).map(|i| if i < 40 { 100.0 + f64::from(i % 7) } else { 62.0 - f64::from(i % 5) }).collect();
        let change = ChangePoint::of(&series).unwrap();
        assert_eq!(change.at, 40);
        assert!(change.is_clear() && (change.shift() + 0.42).abs() < 0.02, "{change:?}");
    }

    #[test]
    fn the_statistic_is_pettitts() {
        // By hand, for the ranks 1 2 5 4 3: |2·1 − 6|, |2·3 − 12|, |2·8 − 18|, |2·12 − 24|.
        assert_eq!(statistic(&ranks(&[0.1, 0.2, 0.9, 0.8, 0.7])), 6.0);
        assert_eq!(cut(&[0.1, 0.2, 0.9, 0.8, 0.7]), Some(2));
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }

    #[test]
    fn what_is_short_or_level_has_no_change() {
        assert_eq!(ChangePoint::of(&[1.0; 29]), None);
        assert_eq!(ChangePoint::of(&[7.0; 100]), None);
        let stalled: Vec<f64> = (0..100).map(|i| if i == 50 { 0.0 } else { 100.0 + f64::from(i % 2) }).collect();
        assert!(!ChangePoint::of(&stalled).unwrap().is_clear(), "one stall is no new level");
    }
}
