//! Whether two sets of repeats differ, by their ranks alone.

use statrs::distribution::{ContinuousCDF, Normal};

/// The chance of calling a difference real that is not: 5 %.
pub const ALPHA: f64 = 0.05;

/// Up to so many values in all, every way to deal them out is counted; beyond, the normal approximation holds to
/// the third digit.
const COUNTED: usize = 40;

/// The Mann–Whitney U test of two independent sets of measurements, two-sided.
///
/// It asks whether a value of one set tends to be larger than one of the other, and assumes no distribution. Ties
/// share the mean of their ranks. Up to 40 values in all, p is exact: the share of all ways to deal out the observed
/// ranks that is as extreme, doubled for the two sides; that holds with ties too. Beyond, it is the normal
/// approximation, corrected for ties and continuity.
///
/// Source: H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
/// than the other", Annals of Mathematical Statistics 18(1), 1947; the correction for ties: E. L. Lehmann,
/// "Nonparametrics", 1975, §1.4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// In how many of the pairs the second set's value is the larger; a tie counts half.
    pub u: f64,
    pub pairs: f64,
    /// The chance of ranks this far apart, or further, if both sets come from one source.
    pub p: f64,
    /// Whether p was counted rather than approximated.
    pub exact: bool,
}

impl RankTest {
    /// Tests `base` against `other`; none if either is empty.
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        if base.is_empty() || other.is_empty() {
            return None;
        }
        let pooled = Pooled::of(base, other);
        let (n, pairs) = (other.len() as f64, (base.len() * other.len()) as f64);
        let u = pooled.other as f64 / 2.0 - n * (n + 1.0) / 2.0;
        let exact = base.len() + other.len() <= COUNTED;
        let p = if exact { pooled.counted(other.len()) } else { pooled.approximated(u, base.len(), other.len()) };
        Some(Self { u, pairs, p, exact })
    }

    /// Whether values of the second set tend to be larger; none where neither is.
    pub fn is_larger(&self) -> Option<bool> {
        let middle = self.pairs / 2.0;
        (self.u != middle).then_some(self.u > middle)
    }

    /// The least p that sets of these sizes can give, whatever their values: that of sets that do not overlap.
    pub fn least_p(base: usize, other: usize) -> f64 {
        match (base, other) {
            (0, _) | (_, 0) => 1.0,
            _ => (2.0 / ways(base + other, other)).min(1.0),
        }
    }

    /// How many repeats each of two sets needs so that one of `tests` comparisons can reach [`ALPHA`] at all, with
    /// [`holm`](crate::holm)'s correction.
    pub fn repeats_needed(tests: usize) -> usize {
        let reaches = |repeats: &usize| Self::least_p(*repeats, *repeats) * (tests.max(1) as f64) < ALPHA;
        (2..=COUNTED).find(reaches).unwrap_or(COUNTED)
    }
}

/// In how many ways `part` can be chosen from `whole`.
fn ways(whole: usize, part: usize) -> f64 {
    (1..=part).map(|i| (whole - part + i) as f64 / i as f64).product()
}

/// The ranks of all values of two sets together, doubled so that ties have whole ones.
struct Pooled {
    ranks: Vec<usize>,
    /// The sum over the second set.
    other: usize,
    /// The sum of t³ − t over groups of t ties.
    ties: f64,
}

impl Pooled {
    fn of(base: &[f64], other: &[f64]) -> Self {
        let mut values: Vec<(f64, bool)> = base.iter().map(|&x| (x, false)).collect();
        values.extend(other.iter().map(|&x| (x, true)));
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut pooled = Self { ranks: Vec::with_capacity(values.len()), other: 0, ties: 0.0 };
        for group in values.chunk_by(|a, b| a.0 == b.0) {
            let before = pooled.ranks.len();
            // Ranks before + 1 to before + group.len(): twice their mean.
            let rank = 2 * before + group.len() + 1;
            pooled.ranks.extend(group.iter().map(|_| rank));
            pooled.other += rank * group.iter().filter(|(_, is_other)| *is_other).count();
            let ties = group.len() as f64;
            pooled.ties += ties.powi(3) - ties;
        }
        pooled
    }

    /// The exact p: over all choices of `size` of the ranks, how many sums are no less, and no more, than that seen.
    fn counted(&self, size: usize) -> f64 {
        let most: usize = self.ranks.iter().sum();
        // ways[k][s]: how many choices of k ranks have the sum s.
        let mut ways = vec![vec![0_u64; most + 1]; size + 1];
        ways[0][0] = 1;
        for (seen, &rank) in self.ranks.iter().enumerate() {
            for k in (1..=size.min(seen + 1)).rev() {
                let (fewer, these) = ways.split_at_mut(k);
                for sum in rank..=most {
                    these[0][sum] += fewer[k - 1][sum - rank];
                }
            }
        }
        let chosen = &ways[size];
        let all: u64 = chosen.iter().sum();
        let below: u64 = chosen[..=self.other].iter().sum();
        let above: u64 = chosen[self.other..].iter().sum();
        (2.0 * below.min(above) as f64 / all as f64).min(1.0)
    }

    fn approximated(&self, u: f64, base: usize, other: usize) -> f64 {
        let (m, n, all) = (base as f64, other as f64, (base + other) as f64);
        let variance = m * n / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
        let normal = Normal::new(0.0, 1.0).expect("a deviation of one is one");
        (2.0 * normal.sf(z)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_apart_reach_the_least_p_and_equal_sets_show_nothing() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        let test = RankTest::of(&low, &high).unwrap();
        assert_eq!((test.u, test.pairs, test.is_larger()), (25.0, 25.0, Some(true)));
        assert!((test.p - 2.0 / 252.0).abs() < 1e-12 && test.p == RankTest::least_p(5, 5), "{test:?}");
        assert_eq!(RankTest::of(&high, &low).unwrap().p, test.p, "both ways round");
        let same = RankTest::of(&[7.0; 5], &[7.0; 5]).unwrap();
        assert_eq!((same.p, same.is_larger()), (1.0, None));
        assert_eq!(RankTest::of(&[], &low), None);
    }

    #[test]
    fn repeats_without_scatter_that_differ_are_as_far_apart_as_can_be() {
        assert_eq!(RankTest::of(&[100.0; 5], &[95.0; 5]).unwrap().p, RankTest::least_p(5, 5));
        assert_eq!(RankTest::of(&[100.0; 30], &[100.0; 30]).unwrap().p, 1.0);
    }

    #[test]
    fn three_repeats_never_suffice_and_more_comparisons_need_more() {
        assert!(RankTest::least_p(3, 3) > ALPHA, "2 of 20");
        assert_eq!(RankTest::repeats_needed(1), 4);
        assert_eq!(RankTest::repeats_needed(6), 5);
        assert_eq!(RankTest::repeats_needed(300), 8);
    }
}
