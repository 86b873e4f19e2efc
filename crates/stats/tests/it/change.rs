//! How often the change-point test cries wolf, and how often it sees what is there: thousands of simulated series each.

use assay_stats::{ChangePoint, FALSE_ALARM};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DRAWS: usize = 4_000;

/// A series of so many intervals around `level`, whose neighbours go together by `correlation`, with so much scatter.
fn series(
    random: &mut Xoshiro256PlusPlus,
    count: usize,
    correlation: f64,
    scatter: f64,
    level: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut normal = || {
        let (one, two): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    };
    // The first is drawn as if the series had gone on for ever.
    let mut state = normal();
    (0..count)
        .map(|index| {
            state = correlation * state + (1.0 - correlation * correlation).sqrt() * normal();
            level(index) * (1.0 + scatter * state)
        })
        .collect()
}

/// The share of series in which a change is named.
fn named(seed: u64, count: usize, correlation: f64, scatter: f64, level: impl Fn(usize) -> f64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let found = (0..DRAWS).filter(|_| {
        let series = series(&mut random, count, correlation, scatter, &level);
        ChangePoint::of(&series).is_some_and(|change| change.is_clear())
    });
    found.count() as f64 / DRAWS as f64
}

#[test]
fn level_series_raise_no_more_alarms_than_is_stated() {
    let mut seed = 700;
    for correlation in [0.0, 0.3, 0.6, 0.8] {
        for count in [30, 60, 120, 300] {
            seed += 1;
            let share = named(seed, count, correlation, 0.05, |_| 1_000.0);
            println!("{count} intervals, correlation {correlation}: {:.2} % false alarms", share * 100.0);
            // Two standard deviations of what so many draws can tell.
            let scatter = 2.0 * (FALSE_ALARM * (1.0 - FALSE_ALARM) / DRAWS as f64).sqrt();
            assert!(share <= FALSE_ALARM + scatter, "{count} intervals, correlation {correlation}: {share}");
        }
    }
}

#[test]
fn a_fifth_less_is_seen() {
    //            intervals  at  correlation  scatter  seen in at least
    let table = [
        (30, 15, 0.0, 0.05, 0.75),
        (60, 40, 0.0, 0.10, 0.98),
        (60, 40, 0.3, 0.05, 0.84),
        (120, 60, 0.6, 0.05, 0.98),
        (300, 200, 0.6, 0.10, 0.99),
        (600, 412, 0.8, 0.05, 0.99),
    ];
    for (seed, (count, at, correlation, scatter, least)) in (900..).zip(table) {
        let level = |index| if index < at { 1_000.0 } else { 800.0 };
        let share = named(seed, count, correlation, scatter, level);
        println!("{count} intervals, correlation {correlation}, scatter {scatter}: seen in {:.1} %", share * 100.0);
        assert!(share >= least, "{count} intervals, correlation {correlation}, scatter {scatter}: {share}");
    }
}

#[test]
fn the_place_is_found_within_a_few_intervals() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1_000);
    let level = |index| if index < 412 { 1_000.0 } else { 620.0 };
    let off = |_| {
        let series = series(&mut random, 600, 0.3, 0.05, level);
        ChangePoint::of(&series).unwrap().at.abs_diff(412)
    };
    let mut off: Vec<usize> = (0..1_000).map(off).collect();
    off.sort_unstable();
    assert!(off[989] <= 2, "99 of 100 within {} intervals", off[989]);
}
