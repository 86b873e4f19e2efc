//! How often the intervals hold the truth, and how often the test cries wolf: 10,000 simulated drives each.

use assay_stats::{
    ALPHA, Bootstrap, Enough, Interval, Judgement, LogRatio, RankTest, Ratio, benjamini_hochberg, holm, outliers,
    percentile,
};
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

type Draw = fn(&mut Drive) -> f64;

fn log_normal(drive: &mut Drive, spread: f64) -> f64 {
    let variance = (1.0 + spread * spread).ln();
    drive.normal(-variance / 2.0, variance.sqrt()).exp()
}

fn pareto(drive: &mut Drive, shape: f64) -> f64 {
    (1.0 - drive.0.random::<f64>()).powf(-1.0 / shape)
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

/// The share of requests below which the 99.9th percentile of so many lies in one measurement: of uniform draws one after
/// the other from the largest down, each the largest of those that are left.
fn share_below(drive: &mut Drive, requests: u64) -> f64 {
    let above = requests - (requests as f64 * 0.999).ceil() as u64;
    let logarithm = |left: u64, drive: &mut Drive| (1.0 - drive.0.random::<f64>()).ln() / left as f64;
    (requests - above..=requests).rev().map(|left| logarithm(left, drive)).sum::<f64>().exp()
}

/// What a request takes beyond which so many do: most around 60 µs, and so many of a thousand wait for something rare that takes
/// a millisecond in the mean.
fn rare_waits(of_thousand: f64, beyond: f64) -> f64 {
    let share = of_thousand / 1_000.0;
    if beyond < share {
        60.0 - 1_000.0 * (beyond / share).ln()
    } else {
        60.0 - 5.0 * ((beyond - share) / (1.0 - share)).ln()
    }
}

/// The same of latencies beyond which one request in a thousand lies. It fails where something happens about as often as
/// that: five repeats then have all found it or all missed it. Told in docs/method.md.
#[test]
fn intervals_of_five_repeats_hold_the_mean_of_two_hundred_99_9th_percentiles() {
    type Beyond = fn(f64) -> f64;
    //                                requests   held, of 500
    let table: [(&str, u64, Beyond, std::ops::Range<u32>); 11] = [
        ("exponential", 1_000, |beyond| -beyond.ln(), 450..491),
        ("exponential", 10_000, |beyond| -beyond.ln(), 450..491),
        ("Pareto's law, shape 2.5", 1_000, |beyond| beyond.powf(-0.4), 450..491),
        ("Pareto's law, shape 2.5", 10_000, |beyond| beyond.powf(-0.4), 450..491),
        ("Pareto's law, shape 1.5", 1_000, |beyond| beyond.powf(-1.0 / 1.5), 430..491),
        ("Pareto's law, shape 1.5", 10_000, |beyond| beyond.powf(-1.0 / 1.5), 450..491),
        ("rare waits, 5 in 1,000", 10_000, |beyond| rare_waits(5.0, beyond), 450..491),
        ("rare waits, 2 in 1,000", 10_000, |beyond| rare_waits(2.0, beyond), 450..491),
        ("rare waits, 1 in 1,000", 10_000, |beyond| rare_waits(1.0, beyond), 370..440),
        ("rare waits, 1 in 2,000", 10_000, |beyond| rare_waits(0.5, beyond), 350..430),
        ("rare waits, 1 in 2,000", 100_000, |beyond| rare_waits(0.5, beyond), 450..491),
    ];
    for (seed, (what, requests, beyond, expected)) in (200..).zip(table) {
        let mut drive = Drive::new(seed);
        let mut held = 0;
        for _ in 0..500 {
            let all: Vec<f64> = (0..200).map(|_| beyond(1.0 - share_below(&mut drive, requests))).collect();
            let (low, high) = Interval::of(&all[..5]).unwrap().bounds().unwrap();
            held += u32::from((low..=high).contains(&(all.iter().sum::<f64>() / 200.0)));
        }
        println!("99.9 % of {requests}, {what}: {:.1} %", f64::from(held) / 5.0);
        assert!(expected.contains(&held), "{what}, {requests} requests: {held} of 500 hold the mean");
    }
}

/// Fieller's interval of the ratio of two means, with Welch's degrees of freedom; none where it is unbounded.
fn fieller(base: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    let squared = |samples: &[f64]| {
        let (middle, count) = (mean(samples), samples.len() as f64);
        samples.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / (count - 1.0) / count
    };
    let t = StudentsT::new(0.0, 1.0, LogRatio::of(base, other)?.freedom).unwrap().inverse_cdf(0.975);
    let (x, y, vx, vy) = (mean(base), mean(other), squared(base), squared(other));
    let (a, b, c) = (x * x - t * t * vx, x * y, y * y - t * t * vy);
    let root = (b * b - a * c).max(0.0).sqrt();
    (a > 0.0).then(|| ((b - root) / a, (b + root) / a))
}

/// Few repeats with long tails: the interval on a logarithmic scale beside Fieller's and a bootstrap's. Told in
/// docs/method.md.
#[test]
fn ratios_of_few_skewed_repeats_are_held_and_fiellers_are_no_better() {
    let table: [(&str, usize, Draw); 6] = [
        ("log-normal, ±10 %, 3", 3, |drive| log_normal(drive, 0.1)),
        ("log-normal, ±30 %, 5", 5, |drive| log_normal(drive, 0.3)),
        ("log-normal, ±50 %, 3", 3, |drive| log_normal(drive, 0.5)),
        ("log-normal, ±100 %, 5", 5, |drive| log_normal(drive, 1.0)),
        ("exponential, 5", 5, |drive| drive.waits(1)[0]),
        ("means of 50 from Pareto's law, shape 2.5, 3", 3, |drive| {
            (0..50).map(|_| pareto(drive, 2.5)).sum::<f64>() / 50.0
        }),
    ];
    for (seed, (what, count, draw)) in (120..).zip(table) {
        let mut drive = Drive::new(seed);
        let (mut held, mut by_fieller, mut unbounded, mut drawn) = (0, 0, 0, 0);
        for _ in 0..DRAWS {
            let mut side = || (0..count).map(|_| draw(&mut drive)).collect::<Vec<f64>>();
            let (base, other) = (side(), side());
            let holds = |(low, high): (f64, f64)| u32::from((low..=high).contains(&1.0));
            held += holds(Ratio::of(&base, &other).unwrap().bounds.unwrap());
            match fieller(&base, &other) {
                Some(ends) => by_fieller += holds(ends),
                None => unbounded += 1,
            }
            let mut again =
                |from: &[f64]| (0..count).map(|_| from[drive.0.random_range(0..count)]).sum::<f64>() / count as f64;
            let mut ratios: Vec<f64> = (0..200).map(|_| again(&other) / again(&base)).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            drawn += holds((ratios[4], ratios[195]));
        }
        let percent = |count: u32| f64::from(count) / DRAWS as f64 * 100.0;
        println!(
            "ratio, {what}: {:.1} %; Fieller {:.1} % and {:.1} % unbounded; bootstrap {:.1} %",
            percent(held),
            percent(by_fieller),
            percent(unbounded),
            percent(drawn)
        );
        assert!(percent(held) >= 93.0, "{what}: {:.1} %", percent(held));
        assert!(percent(drawn) < percent(held), "{what}: the bootstrap");
    }
}

/// Twenty key figures of a drive compared with itself: that any is called different must be rarer than 5 %, also of
/// skewed figures; a difference of 5 % at a scatter of 1 % is found by five repeats.
#[test]
fn key_figures_of_a_drive_compared_with_itself_are_rarely_called_different() {
    // Repeats that scatter by their whole mean are beyond what five of them can tell.
    let table: [(&str, usize, f64, Draw); 4] = [
        ("normal, 5", 5, 0.05, |drive| drive.normal(100.0, 2.0)),
        ("normal, 3", 3, 0.05, |drive| drive.normal(100.0, 2.0)),
        ("log-normal, ±50 %, 5", 5, 0.05, |drive| log_normal(drive, 0.5)),
        ("exponential, 5", 5, 0.08, |drive| drive.waits(1)[0]),
    ];
    for (seed, (what, count, most, draw)) in (140..).zip(table) {
        let alarms = share(seed, |drive| {
            let mut p = || {
                let mut side = || (0..count).map(|_| draw(drive)).collect::<Vec<f64>>();
                LogRatio::of(&side(), &side()).unwrap().p()
            };
            holm(&(0..20).map(|_| p()).collect::<Vec<_>>()).iter().any(|&p| p < ALPHA)
        });
        println!("false alarms among twenty key figures, {what}: {:.2} %", alarms * 100.0);
        assert!(alarms <= most, "{what}: {:.2} %", alarms * 100.0);
    }
    let found = share(150, |drive| {
        let p = LogRatio::of(&drive.repeats(5, 100.0, 1.0), &drive.repeats(5, 95.0, 1.0)).unwrap().p();
        p * 20.0 < ALPHA
    });
    println!("5 % found among twenty key figures by 5 repeats that scatter by 1 %: {:.1} %", found * 100.0);
    assert!(found > 0.8, "{found}");
}

/// A table of two hundred figures of which a fifth differ: at most one in twenty of those called different do not.
#[test]
fn of_exploratory_discoveries_few_are_false() {
    let mut drive = Drive::new(160);
    let (mut shares, tables) = (0.0, 500);
    for _ in 0..tables {
        let p_values: Vec<f64> = (0..200)
            .map(|place| {
                let base = drive.repeats(6, 100.0, 1.0);
                let mean = if place < 40 { 95.0 } else { 100.0 };
                RankTest::of(&base, &drive.repeats(6, mean, 1.0)).unwrap().p
            })
            .collect();
        let called: Vec<usize> =
            benjamini_hochberg(&p_values).iter().enumerate().filter(|(_, p)| **p < ALPHA).map(|(at, _)| at).collect();
        let wrong = called.iter().filter(|place| **place >= 40).count();
        shares += wrong as f64 / called.len().max(1) as f64;
        assert!(called.len() >= 30, "{} of 40 differences found", called.len());
    }
    println!("false discoveries: {:.2} %", shares / f64::from(tables) * 100.0);
    assert!(shares / f64::from(tables) <= ALPHA);
}

/// Pairs that share what drifts are told apart where independent repeats are not, and are held as often.
#[test]
fn pairs_hold_the_ratio_and_see_through_drift() {
    let pairs = |drive: &mut Drive| {
        let drift: Vec<f64> = drive.repeats(6, 1.0, 0.1);
        let mut side = |mean: f64| drift.iter().map(|factor| factor * drive.normal(mean, 0.5)).collect::<Vec<f64>>();
        (side(100.0), side(97.0))
    };
    let covered = share(170, |drive| {
        let (base, other) = pairs(drive);
        let (low, high) = LogRatio::paired(&base, &other).unwrap().bounds();
        (low..=high).contains(&0.97)
    });
    assert_covers("pairs", covered);
    let found = |paired: bool| {
        share(171, |drive| {
            let (base, other) = pairs(drive);
            let ratio = if paired { LogRatio::paired(&base, &other) } else { LogRatio::of(&base, &other) };
            ratio.unwrap().p() < ALPHA
        })
    };
    let (paired, apart) = (found(true), found(false));
    println!("3 % found under a drift of 10 %: {:.0} % by pairs, {:.0} % else", paired * 100.0, apart * 100.0);
    assert!(paired > 0.9 && apart < 0.2, "{paired} {apart}");
}
