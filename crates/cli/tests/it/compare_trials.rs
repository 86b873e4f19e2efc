//! Runs that tried file systems, held against each other from the command line.

use crate::support::Place;
use block::Seed;
use serde_json::Value;
use store::{NewRun, RunState, Store};
use trial::{Figure, Trial};

const PLAN: &str = r#"
name = "servers"
repeats = 6

[[step]]
name = "web"
do = "files"
title = "Web server"
rw = "randread"
sweep.fs = ["ext4", "xfs"]
"#;

/// A place whose store holds runs of the plan; each is of two file systems with about these rates.
fn place(runs: &[[f64; 2]], repeats: u32) -> Place {
    let place = Place::new();
    let mut store = Store::open(&place.store()).unwrap();
    for (at, rates) in runs.iter().enumerate() {
        let new = NewRun {
            plan: "servers".to_owned(),
            plan_text: PLAN.to_owned(),
            quick: false,
            simulated: false,
            target: format!("/dev/test{at}"),
            target_identity: format!("Drive {at}"),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: None,
            drive: None,
            seed: Seed::new(1),
            repeats: Some(repeats),
            started_ms: 0,
            version: "0".to_owned(),
            commit: String::new(),
            environment: "{}".to_owned(),
            annotations: store::Annotations::default(),
            group: None,
            shard: None,
        };
        let run = store.begin(&new).unwrap();
        for (fs, rate) in ["fs=ext4", "fs=xfs"].into_iter().zip(rates) {
            for repeat in 0..repeats {
                let rate = rate * (1.0 + 0.002 * f64::from(repeat));
                let figures = vec![
                    Figure::more("Rate", "B/s", rate * 1e6),
                    Figure::less("Latency, mean", "s", 1.0 / rate),
                    Figure::neither("Processor", "%", rate),
                ];
                let trial = serde_json::to_string(&Trial { figures, ..Trial::default() }).unwrap();
                store.record_trial(run, "web", fs, repeat, &trial).unwrap();
            }
        }
        store.finish(run, RunState::Complete, None, 1).unwrap();
    }
    place
}

#[test]
fn a_guard_fails_on_trials_that_are_really_worse_by_more() {
    let place = place(&[[100.0, 100.0], [90.0, 100.1], [120.0, 100.1]], 6);
    let guard = |runs: [&str; 2], share: &str| {
        let said = place.assay(&["compare", runs[0], runs[1], "--fail-if-worse", share, "--format", "json"]);
        (said.code, said.stderr)
    };
    let (code, said) = guard(["1", "2"], "5%");
    assert!(code == Some(1) && said.contains("fail          web fs=ext4.Latency, mean: 0.0111 s, +11.1 %"), "{said}");
    assert!(said.contains("Gate: fail. 2 of 4 checks failed."), "{said}");
    let (code, said) = guard(["1", "2"], "15%");
    assert!(code == Some(0) && said.contains("Gate: pass. 0 of 4 checks failed."), "{said}");
    assert_eq!(guard(["1", "3"], "5%").0, Some(0), "what is better fails no guard");
    assert_eq!(guard(["1", "3"], "0%").0, Some(3), "what is like the first is not surely no worse at all");
    let document: Value =
        serde_json::from_str(&place.succeeds(&["compare", "1", "3", "--format", "json"])).expect("it is JSON");
    let figures: Vec<&Value> = document["trials"].as_array().unwrap().iter().map(|one| &one["figure"]).collect();
    assert_eq!(figures, ["Rate", "Latency, mean", "Rate", "Latency, mean"], "of the processor neither way is better");
}

#[test]
fn a_guard_of_trials_that_were_made_once_is_inconclusive() {
    let place = place(&[[100.0, 100.0], [50.0, 50.0]], 1);
    let said = place.assay(&["compare", "1", "2", "--fail-if-worse", "5%", "--format", "json"]);
    assert!(
        said.code == Some(3) && said.stderr.contains("measured once") && said.stderr.contains("5 times"),
        "{}",
        said.stderr
    );
}

#[test]
fn the_comparison_says_by_how_much_and_fits_a_terminal() {
    let place = place(&[[100.0, 100.0], [310.0, 100.1]], 6);
    let said = place.succeeds(&["compare", "1", "2"]);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("/dev/test1 is 3.10 × /dev/test0 (3.09–3.11) in rate on Web server (fs=ext4)."), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    let page = std::fs::read_to_string(said.lines().last().unwrap().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(page.contains("Rate, ratio to run 1 (/dev/test0), more is better"));
    let said = place.refuses(&["compare", "1", "2", "--metric", "p99"]);
    assert!(said.contains("no requested figure"), "{said}");
}
