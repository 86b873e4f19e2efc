use block::Seed;
use measurement::{Annotations, Run, RunId, RunState};

use super::*;
use crate::compare::ContrastSide;

/// A complete run of number `id` on a drive of this serial number, with these figures: a name, whether more is better, a value.
fn drive(id: i64, serial: &str, figures: &[(&str, bool, f64)]) -> FleetDrive {
    let reading = |(title, more_is_better, value): &(&str, bool, f64)| FleetReading {
        title: (*title).to_owned(),
        unit: if *more_is_better { "IOPS" } else { "µs" }.to_owned(),
        more_is_better: *more_is_better,
        side: ContrastSide::of_samples(vec![value * 0.999, *value, value * 1.001], true).unwrap(),
    };
    let identity = DriveIdentity {
        serial: Some(serial.to_owned()),
        slot: Some(format!("bay {id}")),
        model: "M, 1 TB".to_owned(),
        target: format!("/dev/nvme{id}n1"),
        ..DriveIdentity::default()
    };
    FleetDrive {
        run: run(id),
        identity,
        readings: figures.iter().map(reading).collect(),
        gate: None,
        findings: Vec::new(),
    }
}

fn run(id: i64) -> Run {
    serde_json::from_value(serde_json::json!({
        "id": id, "plan": "review", "plan_text": "", "quick": false, "target": "", "target_identity": "",
        "target_fingerprint": null, "direct": true, "size": null, "seed": Seed::new(1), "repeats": null,
        "state": RunState::Complete, "error": null, "started_ms": id, "finished_ms": id + 1, "version": "", "commit": "",
        "environment": "{}", "annotations": Annotations::default(),
    }))
    .unwrap()
}

/// A value that is drawn for this drive and figure, a percent or so about `value`.
fn about(value: f64, id: i64, figure: u64) -> f64 {
    let unit = |number: u64| (Seed::new(number).split("about").get() >> 11) as f64 / (1_u64 << 53) as f64;
    let sum: f64 = (0..12).map(|draw| unit((id as u64) << 32 | figure << 8 | draw)).sum();
    value * (1.0 + 0.01 * (sum - 6.0))
}

/// Drives of four figures; what `change` gives for a number and a figure is multiplied in.
fn fleet(count: i64, change: impl Fn(i64, usize) -> f64) -> Vec<FleetDrive> {
    let of = |id: i64| {
        let value = |at: usize, base: f64| about(base, id, at as u64) * change(id, at);
        let figures = [("reads", true, value(0, 1e5)), ("writes", true, value(1, 3e4)), ("p99", false, value(2, 90.0))];
        drive(id, &format!("S{id}"), &figures)
    };
    (1..=count).map(of).collect()
}

#[test]
fn the_slow_drive_is_found_with_what_is_slow_in_it() {
    let slow = |id: i64, figure: usize| match (id, figure) {
        (7, 0) => 0.8,
        (7, 2) => 1.4,
        _ => 1.0,
    };
    let found = Fleet::of(fleet(24, slow), FleetRule::default()).unwrap();
    assert_eq!(found.odd(), [6], "places are counted from zero");
    let apart: Vec<(&str, bool)> =
        found.apart(6).iter().map(|(figure, place)| (figure.title.as_str(), place.is_worse)).collect();
    assert_eq!(apart, [("p99", true), ("reads", true)], "the farthest first");
    let (reads, place) = found.places(6).next().unwrap();
    assert!((reads.median / 1e5 - 1.0).abs() < 0.01 && (reads.deviation - 0.01).abs() < 0.006, "{reads:?}");
    assert!((place.ratio - 0.8).abs() < 0.03 && place.score < -8.0, "{place:?}");
}

#[test]
fn drives_that_are_better_lie_apart_too_and_are_not_called_worse() {
    let found = Fleet::of(fleet(12, |id, figure| if (id, figure) == (3, 1) { 1.5 } else { 1.0 }), FleetRule::default());
    let found = found.unwrap();
    assert_eq!(found.odd(), [2]);
    assert!(found.apart(2).iter().all(|(figure, place)| figure.title == "writes" && !place.is_worse));
}

#[test]
fn alike_drives_are_told_apart_no_more_often_than_the_rate_says() {
    let rule = FleetRule { least: 0.0, ..FleetRule::default() };
    // Models are judged each by itself: as many fleets.
    let (models, times) = (20_i64, 10_i64);
    let alike = |number: i64| {
        let figures: Vec<(String, f64)> = (0..6).map(|at| (format!("figure {at}"), about(1e4, number, at))).collect();
        let figures: Vec<(&str, bool, f64)> =
            figures.iter().map(|(name, value)| (name.as_str(), true, *value)).collect();
        let mut drive = drive(number, &format!("S{number}"), &figures);
        drive.identity.model = format!("M{}", number / 24);
        drive
    };
    let odd_models = |time: i64| {
        let from = time * models * 24;
        let found = Fleet::of((from..from + models * 24).map(alike).collect(), rule).unwrap();
        let odd = found.odd();
        found.peers.iter().filter(|peers| peers.drives.iter().any(|drive| odd.contains(drive))).count()
    };
    let (alarms, fleets) = ((0..times).map(odd_models).sum::<usize>(), models * times);
    // Ten are expected, and 18 are more than that in one of a hundred cases.
    assert!(alarms <= 18, "{alarms} of {fleets} fleets of alike drives have one apart");
}

#[test]
fn what_is_nearer_than_asked_is_never_apart() {
    let near = |id: i64, _: usize| if id == 5 { 1.06 } else { 1.0 };
    let at_least = |least: f64| Fleet::of(fleet(24, near), FleetRule { least, ..FleetRule::default() }).unwrap().odd();
    assert_eq!(at_least(0.02), [4]);
    assert!(at_least(0.15).is_empty());
}

#[test]
fn few_drives_are_shown_and_not_judged() {
    let found = Fleet::of(fleet(4, |id, _| if id == 1 { 0.1 } else { 1.0 }), FleetRule::default()).unwrap();
    assert!(!found.is_judged() && found.odd().is_empty());
    assert_eq!(found.peers[0].figures.len(), 3);
    assert!(found.peers[0].figures.iter().all(|figure| figure.places.len() == 4));
}

#[test]
fn drives_are_held_against_their_own_kind_and_the_last_run_of_each_counts() {
    let mut runs = fleet(12, |_, _| 1.0);
    for drive in &mut runs[6..] {
        drive.identity.model = "N, 2 TB".to_owned();
        drive.readings.iter_mut().for_each(|reading| {
            let twice = reading.side.samples.iter().map(|value| value * 2.0).collect();
            reading.side = ContrastSide::of_samples(twice, true).unwrap();
        });
    }
    let mut failed = drive(99, "S99", &[]);
    failed.run.state = RunState::Failed;
    let again = drive(100, "S1", &[("reads", true, 1e5)]);
    let mut cut_off = drive(101, "S2", &[]);
    cut_off.run.state = RunState::Running;
    runs.extend([failed, again, cut_off]);
    let found = Fleet::of(runs, FleetRule::default()).unwrap();
    let titles: Vec<&str> = found.peers.iter().map(|peers| peers.title.as_str()).collect();
    assert_eq!(
        titles,
        ["M, 1 TB", "N, 2 TB"].map(|model| titles.iter().find(|title| **title == model).copied().unwrap())
    );
    assert!(found.odd().is_empty(), "the other model is no odd drive");
    assert_eq!((found.drives.len(), found.superseded), (13, 2));
    let run_of = |serial: &str| found.drives.iter().find(|drive| drive.identity.label() == serial).unwrap().run.id;
    assert_eq!((run_of("S1"), run_of("S2")), (RunId(100), RunId(2)), "complete goes before later");
    assert_eq!(Fleet::of(Vec::new(), FleetRule::default()).unwrap_err(), FleetError::Empty);
}

#[test]
fn the_difference_to_the_drives_alone_is_what_the_host_limits() {
    let alone = Fleet::of(fleet(8, |_, _| 1.0), FleetRule::default()).unwrap();
    let shared = |id: i64, figure: usize| if figure == 0 { 0.6 } else { 1.0 + 0.001 * (id % 3 - 1) as f64 };
    let mut together = fleet(8, shared);
    together.iter_mut().for_each(|drive| drive.identity.target = format!("/dev/sd{}", drive.run.id));
    together.push(drive(50, "S50", &[("reads", true, 1e5)]));
    let together = Fleet::of(together, FleetRule::default()).unwrap();
    let effects = FleetEffects::of(&alone, &together);
    assert_eq!((effects.drives, effects.unshared.as_slice()), (8, &["S50".to_owned()][..]));
    let [reads, writes, p99] = &effects.figures[..] else { panic!("{effects:?}") };
    assert!(reads.is_sure() && reads.is_worse() && (reads.ratio.unwrap().ratio() - 0.6).abs() < 1e-3, "{reads:?}");
    let (before, now) = reads.sums().unwrap();
    assert!((now / before - 0.6).abs() < 1e-3 && reads.pairs.len() == 8);
    assert!(!writes.is_sure() && !p99.is_sure() && p99.sums().is_none());
}
