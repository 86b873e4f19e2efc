//! How often the interval of five repeats holds the mean of many, on drives small enough to be conditioned forty times, of several kinds.

use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, PlanLength};
use assay_lab::{Metric, Outcome, Session, Silent, Simulated, Subject, recall};
use block::Seed;
use drive::preset::Preset;
use engine::Measurement;
use rayon::prelude::*;
use stats::Interval;
use store::Store;

/// Flash for clients with little and with much spare, flash for servers in its host, a cache of one-bit cells before three bits, and a disk,
/// whose state no writes change.
const TARGETS: [&str; 5] = [
    "x25-m?capacity.user=64MiB&spare=50%&channels=2",
    "x25-m?capacity.user=64MiB&spare=100%&channels=2",
    "pm9a3-960?capacity.user=64MiB&spare=60%&channels=1&dies_per_channel=2&pages_per_block=192&wear.factory_bad=0%",
    "990-pro?capacity.user=64MiB&spare=60%&channels=1&dies_per_channel=2&pages_per_block=96&slc.fixed=0B&slc.dynamic=8MiB&wear.factory_bad=0%",
    "spinpoint-f1",
];

/// How a drive is conditioned before it is measured.
const CONDITION: &str = "
[[step]]
name = \"wear\"
do = \"condition\"
rw = \"randwrite\"
iodepth = 8
round = \"100ms\"
steady = false
at-most = \"200%\"
";

/// A drive that was filled, then measured five times.
const STEPS: &str = "\
name = \"p\"
repeats = 5

[[step]]
name = \"fill\"
do = \"fill\"
CONDITION
[[step]]
name = \"write\"
rw = \"randwrite\"
iodepth = 8
number_ios = 400

[[step]]
name = \"mixed\"
rw = \"randrw\"
iodepth = 4
number_ios = 400
";

fn conditioned() -> String {
    STEPS.replace("CONDITION", CONDITION)
}

fn carried_out(steps: &str, target: &str, seed: u64) -> Outcome {
    let mut drive = Simulated::new(Preset::find(target).unwrap());
    let plan = plan::parse(steps, PlanLength::Full).unwrap().on(drive.capacity());
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, &format!("sim:{target}"), None);
    let store = Mutex::new(store);
    Session::new(&store, run, &plan, Seed::new(seed), &Silent).unwrap().carry_out(&mut drive, false).unwrap();
    recall(&store.into_inner().unwrap(), run).unwrap()
}

/// What each repeat of a step's only cell gave.
fn repeats<'o>(outcome: &'o Outcome, step: &str) -> Vec<&'o Measurement> {
    let index = outcome.plan.steps.iter().position(|one| one.name == step).unwrap();
    outcome.steps.iter().find(|one| one.index == index).unwrap().points[0].measurements().collect()
}

const FIGURES: [(&str, Metric); 5] = [
    ("write", Metric::Iops),
    ("write", Metric::LatencyMean),
    ("write", Metric::WriteAmplification),
    ("mixed", Metric::Iops),
    ("mixed", Metric::LatencyMean),
];

#[test]
fn intervals_of_five_repeats_hold_the_mean_of_two_hundred_as_often_as_they_say() {
    const RUNS: u64 = 40;
    let (mut held, mut all) = (0, 0);
    for target in TARGETS {
        let steps = if target == "spinpoint-f1" { STEPS.replace("CONDITION", "") } else { conditioned() };
        let outcomes: Vec<Outcome> = (0..RUNS).into_par_iter().map(|seed| carried_out(&steps, target, seed)).collect();
        for (step, metric) in FIGURES {
            let of = |outcome: &Outcome| -> Option<Vec<f64>> {
                repeats(outcome, step).into_iter().map(|repeat| metric.of(repeat)).collect()
            };
            // A disk has no write amplification.
            let Some(samples) = outcomes.iter().map(of).collect::<Option<Vec<_>>>() else { continue };
            let truth = Interval::of(&samples.concat()).unwrap();
            let bounds = samples.iter().map(|five| Interval::of(five).unwrap().bounds().unwrap());
            let holds = bounds.filter(|(low, high)| (*low..=*high).contains(&truth.mean)).count();
            println!("{target}, {step}, {}: {holds} of {RUNS} hold {:.4}", metric.title(), truth.mean);
            assert!(truth.half_width.unwrap() > 0.0, "the repeats of {step} are all alike");
            (held, all) = (held + holds, all + RUNS as usize);
        }
    }
    let share = held as f64 / all as f64;
    assert!((0.90..=0.98).contains(&share), "{:.1} % of {all} intervals hold the mean", share * 100.0);
}

#[test]
fn a_run_over_several_states_is_the_same_when_done_again_and_one_state_is_told() {
    let target = "x25-m?capacity.user=64MiB&spare=50%&channels=2";
    let steps = conditioned();
    let (outcome, again) = (carried_out(&steps, target, 3), carried_out(&steps, target, 3));
    for step in ["write", "mixed"] {
        assert_eq!(repeats(&outcome, step), repeats(&again, step), "one seed, one story");
    }
    let findings = |outcome: &Outcome| outcome.findings.iter().filter(|one| one.text.contains("one state")).count();
    assert_eq!(findings(&outcome), 0);
    let short = steps.replace("200%", "20%");
    assert!(findings(&carried_out(&short, target, 3)) > 0, "a drive that is far from steady is told");
    let ordered = STEPS.replace("CONDITION", "\n[[step]]\nname = \"wear\"\ndo = \"precondition\"\n");
    assert_eq!(findings(&carried_out(&ordered, target, 3)), 0, "what an order leaves is gone on with at random");
}
