//! Many tests at once.

/// The p values of a table of tests, so raised that those below a bound hold together.
///
/// With every p compared with 5 %, one in twenty comparisons of a drive with itself would be called real. After
/// Holm's correction the chance that any at all is, over the whole table, is at most 5 %, whatever the tests have to
/// do with each other.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
/// 6(2), 1979.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut reached = 0.0_f64;
    for (place, &i) in order.iter().enumerate() {
        let left = (p_values.len() - place) as f64;
        reached = reached.max((p_values[i] * left).min(1.0));
        adjusted[i] = reached;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_stays_as_it_is_and_none_is_none() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn a_larger_p_never_becomes_the_smaller() {
        let adjusted = holm(&[0.02, 0.019, 0.9]);
        assert!((adjusted[0] - 0.057).abs() < 1e-12 && (adjusted[1] - 0.057).abs() < 1e-12, "{adjusted:?}");
        assert_eq!(adjusted[2], 0.9);
    }
}
