//! How often the intervals hold the truth, and how often the test cries wolf: 10,000 simulated drives each.

use assay_stats::{ALPHA, Bootstrap, Enough, Interval, Judgement, RankTest, Ratio, holm, outliers, percentile};
use block::Seed;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DRAWS: usize = 10_000;

/// A source of simulated repeats.
struct Drive(Xoshiro256PlusPlus);

impl Drive {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A draw from the normal distribution, by G. E. P. Box and M. E. Muller's transform.
    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let (one, two): (f64, f64) = (self.0.random(), self.0.random());
        mean + deviation * (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    fn repeats(&mut self, count: usize, mean: f64, deviation: f64) -> Vec<f64> {
        (0..count).map(|_| self.normal(mean, deviation)).collect()
    }

    /// Waiting times with mean one: skewed as latencies are.
    fn waits(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| -(1.0 - self.0.random::<f64>()).ln()).collect()
    }
}

/// The share of draws for which `holds`.
fn share(seed: u64, mut holds: impl FnMut(&mut Drive) -> bool) -> f64 {
    let mut drive = Drive::new(seed);
    (0..DRAWS).filter(|_| holds(&mut drive)).count() as f64 / DRAWS as f64
}

fn assert_covers(what: &str, share: f64) {
    println!("{what}: {:.2} %", share * 100.0);
    assert!((share - 0.95).abs() <= 0.01, "{what}: holds the truth in {:.2} % of the draws", share * 100.0);
}

#[test]
fn students_interval_holds_the_mean_in_95_of_100() {
    for count in [2, 3, 5, 10, 30] {
        let covered = share(count as u64, |drive| {
            let interval = Interval::of(&drive.repeats(count, 100.0, 3.0)).unwrap();
            (interval.mean - 100.0).abs() <= interval.half_width.unwrap()
        });
        assert_covers(&format!("Student, {count} repeats"), covered);
    }
}

#[test]
fn the_ratios_interval_holds_the_ratio_in_95_of_100() {
    //            repeats    deviations in percent
    let table = [
        (5, 5, 1.0, 1.0),
        (5, 5, 5.0, 5.0),
        (5, 5, 1.0, 4.0),
        (8, 8, 2.0, 2.0),
        (10, 10, 10.0, 10.0),
        (5, 10, 2.0, 2.0),
        (5, 10, 1.0, 5.0),
        (30, 30, 20.0, 10.0),
    ];
    for (seed, (m, n, one, two)) in (40..).zip(table) {
        let covered = share(seed, |drive| {
            let (base, other) = (drive.repeats(m, 100.0, one), drive.repeats(n, 93.0, 0.93 * two));
            let (low, high) = Ratio::of(&base, &other).unwrap().bounds.unwrap();
            (low..=high).contains(&0.93)
        });
        assert_covers(&format!("ratio, {m} and {n} repeats that scatter by {one} and {two} %"), covered);
    }
}

#[test]
fn percentiles_and_skewed_means_are_held_in_95_of_100() {
    let bootstrap = |drive: &mut Drive| Bootstrap { seed: Seed::new(drive.0.random()), draws: 1000 };
    let covered = share(60, |drive| {
        let bounds = bootstrap(drive).mean(&drive.waits(100)).unwrap();
        (bounds.low..=bounds.high).contains(&1.0)
    });
    assert_covers("BCa, mean of 100 waiting times", covered);
    let covered = share(61, |drive| {
        let bounds = percentile(&drive.waits(100), 50.0).unwrap();
        (bounds.low..=bounds.high).contains(&std::f64::consts::LN_2)
    });
    assert_covers("median of 100 waiting times", covered);
    let covered = share(62, |drive| {
        let bounds = percentile(&drive.waits(200), 90.0).unwrap();
        (bounds.low..=bounds.high).contains(&10_f64.ln())
    });
    assert_covers("90th percentile of 200 waiting times", covered);
    let covered = share(63, |drive| {
        let bounds = percentile(&drive.waits(1000), 99.0).unwrap();
        (bounds.low..=bounds.high).contains(&100_f64.ln())
    });
    assert_covers("99th percentile of 1,000 waiting times", covered);
}

/// A table of ten comparisons of a drive with itself: that any at all is called real must be rarer than 5 %.
#[test]
fn a_drive_compared_with_itself_is_rarely_called_different() {
    for count in [5, 8, 25] {
        let alarms = share(70 + count as u64, |drive| {
            let test = |drive: &mut Drive| {
                let (base, other) = (drive.repeats(count, 100.0, 2.0), drive.repeats(count, 100.0, 2.0));
                RankTest::of(&base, &other).unwrap().p
            };
            let p_values: Vec<f64> = (0..10).map(|_| test(drive)).collect();
            holm(&p_values).iter().any(|&p| p < ALPHA)
        });
        println!("false alarms in tables of ten, {count} repeats: {:.2} %", alarms * 100.0);
        assert!(alarms <= ALPHA + 0.005, "{count} repeats: {:.2} % of the tables", alarms * 100.0);
    }
}

/// What stopping at the first narrow interval costs: told in docs/method.md.
#[test]
fn stopping_when_precise_covers_a_little_less() {
    for (seed, deviation) in [(80, 1.0), (81, 2.0), (82, 4.0)] {
        let rule = Enough::within_precision(100);
        let mut made = 0;
        let covered = share(seed, |drive| {
            let mut samples = Vec::new();
            loop {
                samples.push(drive.normal(100.0, deviation));
                match rule.judge(&samples) {
                    Judgement::More => {}
                    Judgement::Precise(interval) | Judgement::Capped(interval) => {
                        made += samples.len();
                        return (interval.mean - 100.0).abs() <= interval.half_width.unwrap();
                    }
                }
            }
        });
        let repeats = made as f64 / DRAWS as f64;
        println!("within ±2 %, scatter {deviation} %: {:.2} %, {repeats:.1} repeats", covered * 100.0);
        assert!((0.90..0.96).contains(&covered), "scatter {deviation} %: {covered}");
    }
}

/// How often a sample without any outlier has one marked: told in docs/method.md.
#[test]
fn few_normal_samples_have_a_value_marked() {
    for (seed, count, most) in [(90, 5, 0.16), (91, 10, 0.06), (92, 30, 0.02)] {
        let marked = share(seed, |drive| !outliers(&drive.repeats(count, 100.0, 3.0)).is_empty());
        println!("a value marked in normal samples of {count}: {:.2} %", marked * 100.0);
        assert!(marked <= most, "{count} repeats: {marked}");
    }
}

/// Five repeats against the mean of two hundred, of figures whose tails are long: the ends that stay positive.
#[test]
fn positive_intervals_of_five_skewed_repeats_hold_the_mean_of_two_hundred() {
    fn log_normal(drive: &mut Drive, spread: f64) -> f64 {
        let variance = (1.0 + spread * spread).ln();
        drive.normal(-variance / 2.0, variance.sqrt()).exp()
    }
    fn pareto(drive: &mut Drive, shape: f64) -> f64 {
        (1.0 - drive.0.random::<f64>()).powf(-1.0 / shape)
    }
    type Draw = fn(&mut Drive) -> f64;
    let table: [(&str, Draw); 7] = [
        ("log-normal, ±10 %", |drive| log_normal(drive, 0.1)),
        ("log-normal, ±30 %", |drive| log_normal(drive, 0.3)),
        ("log-normal, ±50 %", |drive| log_normal(drive, 0.5)),
        ("log-normal, ±100 %", |drive| log_normal(drive, 1.0)),
        ("exponential", |drive| drive.waits(1)[0]),
        ("means of 50 from Pareto's law, shape 2.5", |drive| (0..50).map(|_| pareto(drive, 2.5)).sum::<f64>() / 50.0),
        ("means of 50 from Pareto's law, shape 2.1", |drive| (0..50).map(|_| pareto(drive, 2.1)).sum::<f64>() / 50.0),
    ];
    for (seed, (what, draw)) in (100..).zip(table) {
        let mut drive = Drive::new(seed);
        let mut held = 0;
        for _ in 0..1_000 {
            let all: Vec<f64> = (0..200).map(|_| draw(&mut drive)).collect();
            let (low, high) = Interval::of(&all[..5]).unwrap().bounds().unwrap();
            held += u32::from((low..=high).contains(&(all.iter().sum::<f64>() / 200.0)));
            assert!(low > 0.0);
        }
        println!("{what}: {:.1} %", f64::from(held) / 10.0);
        assert!((900..=980).contains(&held), "{what}: {held} of 1,000 hold the mean");
    }
}
