//! Many tests at once, where most are only looked through.

/// The p values of a table of tests, so raised that of those below a bound at most that share is false, on average.
///
/// Where [`holm`](crate::holm) bounds the chance of any false positive, this bounds their share: of hundreds of figures
/// that nobody asked for by name, it shows more at the price of a few that are chance. It holds for independent tests
/// and for tests that err the same way, as those of one drive under load do. It is no proof for a single figure.
///
/// Source: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate: a practical and powerful approach to
/// multiple testing", Journal of the Royal Statistical Society B 57(1), 1995; on dependence, Y. Benjamini and
/// D. Yekutieli, "The control of the false discovery rate in multiple testing under dependency", Annals of Statistics
/// 29(4), 2001.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut reached = 1.0_f64;
    for (place, &i) in order.iter().enumerate() {
        let rank = (p_values.len() - place) as f64;
        reached = reached.min(p_values[i] * p_values.len() as f64 / rank);
        adjusted[i] = reached;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.8), "BH")` gives 0.025, 0.05, 0.05, 0.025, 0.8.
    #[test]
    fn five_tests_agree_with_r() {
        let adjusted = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005, 0.8]);
        for (found, expected) in adjusted.iter().zip([0.025, 0.05, 0.05, 0.025, 0.8]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
