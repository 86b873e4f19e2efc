//! Which of several families of tests have anything in them, and what.

use crate::discovery::benjamini_hochberg;

/// The tests of each family, such as the figures of a drive, that hold at this rate of false discoveries; empty for a family in
/// which nothing is found.
///
/// First the families: of those in which something is found, at most the share `rate` has nothing in truth, on average. A
/// family's p is that of Simes over its tests. Within a family that is found its tests are held to a rate that is as much
/// smaller as fewer families are found, so that what is told of a family stays true although it was picked for it.
///
/// Source: Y. Benjamini and M. Bogomolov, "Selective inference on multiple families of hypotheses", Journal of the Royal
/// Statistical Society B 76(1), 2014; R. J. Simes, "An improved Bonferroni procedure for multiple tests of significance",
/// Biometrika 73(3), 1986.
pub fn discoveries(families: &[Vec<f64>], rate: f64) -> Vec<Vec<usize>> {
    let adjusted: Vec<Vec<f64>> = families.iter().map(|p_values| benjamini_hochberg(p_values)).collect();
    // The least of the adjusted p is that of Simes.
    let simes: Vec<f64> = adjusted.iter().map(|family| family.iter().copied().fold(1.0, f64::min)).collect();
    let found: Vec<bool> = benjamini_hochberg(&simes).into_iter().map(|p| p <= rate).collect();
    let share = found.iter().filter(|found| **found).count() as f64 / families.len().max(1) as f64;
    let within = |family: &[f64]| (0..family.len()).filter(|&test| family[test] <= rate * share).collect();
    adjusted.iter().zip(found).map(|(family, found)| if found { within(family) } else { Vec::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: Simes gives 0.02, 0.9, 0.003 and 0.5; after Benjamini and Hochberg over the four 0.04, 0.9, 0.012 and 0.667,
    /// so that two are found at 5 %, and within them tests are held to 2.5 %.
    #[test]
    fn families_are_found_first_and_then_their_tests() {
        let families = vec![vec![0.01, 0.8], vec![0.9, 0.85], vec![0.001, 0.008, 0.7], vec![0.5, 0.25]];
        assert_eq!(discoveries(&families, 0.05), [vec![0], vec![], vec![0, 1], vec![]]);
        assert_eq!(discoveries(&families, 0.03), [vec![], vec![], vec![0], vec![]]);
    }

    #[test]
    fn nothing_is_found_where_nothing_is_tested() {
        assert!(discoveries(&[], 0.05).is_empty());
        assert_eq!(discoveries(&[vec![], vec![1.0]], 0.05), [Vec::<usize>::new(), vec![]]);
        assert_eq!(discoveries(&[vec![0.04]], 0.05), [vec![0]]);
    }
}
