use block::{Bytes, Nanos, Op, Seed};
use drive::Counters;
use measurement::Clock;
use workload::Workload;

use super::*;

#[test]
fn a_measurement_gives_each_figure_in_its_unit() {
    let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
    let each = Nanos::from_millis(1);
    for i in 1..=2000 {
        measurement.record(Op::Write, Bytes::from_kib(4), each.times(i), each);
    }
    let page = Bytes::from_kib(4);
    let counters = Counters { host_written: page.times(2000), pages_programmed: 3000, page, ..Counters::default() };
    measurement.drive = Some(counters);
    for (name, expected) in [
        ("iops", 1000.0),
        ("bandwidth", 4.096),
        ("latency-mean", 1000.0),
        ("write-amplification", 1.5),
        ("elapsed", 2.0),
    ] {
        let found = Metric::named(name).unwrap().of(&measurement).unwrap();
        assert!((found / expected - 1.0).abs() < 0.002, "{name}: {found}");
    }
}

#[test]
fn a_meter_and_a_drive_that_keeps_account_give_the_same_figures() {
    let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Real);
    for i in 1..=2000 {
        measurement.record(Op::Read, Bytes::from_kib(4), Nanos::from_millis(1).times(i), Nanos::from_millis(1));
    }
    measurement.drive = Some(Counters { energy_nj: 5_000_000_000, ..Counters::default() });
    let figures =
        |measurement: &Measurement| Metric::of_group(Group::Energy).map(|one| one.of(measurement)).collect::<Vec<_>>();
    let gib = 2000.0 * 4096.0 / f64::from(1 << 30);
    assert_eq!(figures(&measurement), [Some(2.5), Some(5.0), None, Some(5.0 / gib), Some(2.5)]);
    let metered = Consumption { joules: Some(5.0), idle_watts: Some(0.5), ..Consumption::default() };
    (measurement.drive, measurement.energy) = (None, Some(metered));
    assert_eq!(figures(&measurement), [Some(2.5), Some(5.0), Some(4.0), Some(5.0 / gib), Some(2.5)]);
    measurement.energy = Some(Consumption { idle_watts: Some(0.5), ..Consumption::default() });
    assert_eq!(figures(&measurement), [None; 5], "a meter that failed gives nothing, not zero");
}

#[test]
fn flushes_have_figures_of_their_own() {
    let mut measured = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
    let figures =
        |measured: &Measurement| Metric::of_group(Group::Flush).map(|one| one.of(measured)).collect::<Vec<_>>();
    for i in 1..=200 {
        measured.record(Op::Write, Bytes::from_kib(4), Nanos::from_millis(10).times(i), Nanos::from_micros(11));
    }
    assert_eq!(figures(&measured), [None; 3]);
    for i in 1..=100 {
        assert!(figures(&measured)[2].is_none(), "{i}: that is the maximum");
        measured.record(Op::Flush, Bytes::ZERO, Nanos::from_millis(20).times(i), Nanos::from_millis(13));
    }
    let [rate, mean, tail] = figures(&measured)[..] else { panic!("there are three") };
    assert_eq!((rate, Metric::Iops.of(&measured)), (Some(50.0), Some(100.0)));
    assert!([mean, tail].iter().flatten().all(|latency| (latency / 13_000.0 - 1.0).abs() < 0.02), "{mean:?} {tail:?}");
    assert_eq!(Metric::LatencyMean.of(&measured).map(f64::round), Some(11.0));
}

#[test]
fn nothing_is_given_where_nothing_was_measured() {
    let nothing = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
    for metric in Metric::ALL {
        assert_eq!(metric.of(&nothing), None, "{metric:?}");
    }
}

#[test]
fn no_two_figures_share_a_name() {
    let mut keys: Vec<&str> = Metric::ALL.iter().map(|metric| metric.key()).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|two| two[0] != two[1]), "{keys:?}");
    let mut titles: Vec<&str> = Metric::tabled().map(Metric::title).collect();
    titles.sort_unstable();
    assert!(titles.windows(2).all(|two| two[0] != two[1]), "{titles:?}");
    let mut aspects: Vec<&str> = Aspect::all().into_iter().map(Aspect::name).collect();
    assert_eq!(aspects[0], Aspect::THROUGHPUT.name(), "other figures may follow it");
    aspects.sort_unstable();
    assert!(aspects.windows(2).all(|two| two[0] != two[1]), "{aspects:?}");
}
