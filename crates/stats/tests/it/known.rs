//! Known cases: the tables in `data`, made by `data/known.py` with SciPy and statsmodels.

use assay_stats::{Bootstrap, Interval, RankTest, Ratio, holm, percentile};
use block::Seed;

/// The rows of a table, each cell a list of numbers.
fn rows(table: &str) -> Vec<Vec<Vec<f64>>> {
    let number = |word: &str| word.parse::<f64>().expect("the tables hold numbers");
    let row = |line: &str| line.split(',').map(|cell| cell.split(' ').map(number).collect()).collect();
    let rows: Vec<Vec<Vec<f64>>> = table.lines().skip(1).map(row).collect();
    assert!(rows.len() >= 3, "the table has hardly a row");
    rows
}

fn near(found: f64, known: f64, share: f64) -> bool {
    (found - known).abs() <= share * known.abs().max(1e-300)
}

#[test]
fn the_rank_test_agrees_with_scipy_with_ties_and_without() {
    let (mut counted, mut tied) = (0, 0);
    for row in rows(include_str!("../data/rank.csv")) {
        let [base, other, u, p] = &row[..] else { panic!("{row:?}") };
        let found = RankTest::of(base, other).unwrap();
        counted += usize::from(found.exact);
        tied += usize::from(base.iter().any(|x| other.contains(x)));
        assert_eq!(found.u, u[0], "{base:?} {other:?}");
        assert!(near(found.p, p[0], 1e-9), "{base:?} {other:?}: {} is not {}", found.p, p[0]);
    }
    assert!(counted > 15 && tied > 8, "{counted} counted, {tied} with ties");
}

#[test]
fn the_ratio_agrees_with_welchs_interval() {
    for row in rows(include_str!("../data/ratio.csv")) {
        let [base, other, ratio, low, high] = &row[..] else { panic!("{row:?}") };
        let found = Ratio::of(base, other).unwrap();
        let bounds = found.bounds.unwrap();
        assert!(near(found.ratio, ratio[0], 1e-12), "{base:?} {other:?}");
        assert!(near(bounds.0, low[0], 1e-9) && near(bounds.1, high[0], 1e-9), "{found:?}, not {low:?} to {high:?}");
    }
}

#[test]
fn holms_correction_agrees_with_statsmodels() {
    for row in rows(include_str!("../data/holm.csv")) {
        let [p, adjusted] = &row[..] else { panic!("{row:?}") };
        let found = holm(p);
        assert!(
            found.iter().zip(adjusted).all(|(&found, &known)| near(found, known, 1e-12)),
            "{found:?}: {adjusted:?}"
        );
    }
}

#[test]
fn students_interval_agrees_with_scipy() {
    for row in rows(include_str!("../data/student.csv")) {
        let [sample, mean, half] = &row[..] else { panic!("{row:?}") };
        let found = Interval::of(sample).unwrap();
        assert!(near(found.mean, mean[0], 1e-12) && near(found.half_width.unwrap(), half[0], 1e-9), "{found:?}");
    }
}

/// SciPy's ends are those of 200,000 sets drawn; these agree to a hundredth.
#[test]
fn the_bootstrap_agrees_with_scipy() {
    let bootstrap = Bootstrap { seed: Seed::new(1), draws: 200_000 };
    for row in rows(include_str!("../data/bootstrap.csv")) {
        let [sample, low, high] = &row[..] else { panic!("{row:?}") };
        let found = bootstrap.mean(sample).unwrap();
        assert!(near(found.low, low[0], 0.01) && near(found.high, high[0], 0.01), "{found:?}: {low:?} to {high:?}");
    }
}

#[test]
fn percentiles_agree_with_scipys_beta_distribution() {
    for row in rows(include_str!("../data/percentile.csv")) {
        let [sample, percent, low, high] = &row[..] else { panic!("{row:?}") };
        let found = percentile(sample, percent[0]).unwrap();
        assert!(near(found.low, low[0], 1e-6) && near(found.high, high[0], 1e-6), "{found:?}: {low:?} to {high:?}");
    }
}
