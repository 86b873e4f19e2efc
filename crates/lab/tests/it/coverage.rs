//! How often the interval of five repeats holds the mean of many, on drives small enough to be conditioned forty times.

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

/// A drive that was conditioned, then measured five times.
const STEPS: &str = "\
name = \"p\"
repeats = 5

[[step]]
name = \"fill\"
do = \"fill\"

[[step]]
name = \"wear\"
do = \"condition\"
rw = \"randwrite\"
iodepth = 8
round = \"100ms\"
steady = false
at-most = \"200%\"

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

#[test]
fn intervals_of_five_repeats_hold_the_mean_of_two_hundred_as_often_as_they_say() {
    const RUNS: u64 = 40;
    let (mut held, mut all) = (0, 0);
    for target in ["x25-m?capacity.user=64MiB&spare=50%&channels=2", "x25-m?capacity.user=64MiB&spare=100%&channels=2"]
    {
        let outcomes: Vec<Outcome> = (0..RUNS).into_par_iter().map(|seed| carried_out(STEPS, target, seed)).collect();
        for (step, metric) in [
            ("write", Metric::Iops),
            ("write", Metric::LatencyMean),
            ("write", Metric::WriteAmplification),
            ("mixed", Metric::Iops),
            ("mixed", Metric::LatencyMean),
        ] {
            let of = |outcome: &Outcome| -> Vec<f64> {
                repeats(outcome, step).into_iter().map(|repeat| metric.of(repeat).unwrap()).collect()
            };
            let samples: Vec<Vec<f64>> = outcomes.iter().map(of).collect();
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
    let (outcome, again) = (carried_out(STEPS, target, 3), carried_out(STEPS, target, 3));
    for step in ["write", "mixed"] {
        assert_eq!(repeats(&outcome, step), repeats(&again, step), "one seed, one story");
    }
    let findings = |outcome: &Outcome| outcome.findings.iter().filter(|one| one.text.contains("one state")).count();
    assert_eq!(findings(&outcome), 0);
    let short = STEPS.replace("200%", "20%");
    assert!(findings(&carried_out(&short, target, 3)) > 0, "a drive that is far from steady is told");
    let ordered = STEPS.replace(
        "do = \"condition\"\nrw = \"randwrite\"\niodepth = 8\nround = \"100ms\"\nsteady = false\nat-most = \"200%\"\n",
        "do = \"precondition\"\n",
    );
    assert_eq!(findings(&carried_out(&ordered, target, 3)), 0, "what an order leaves is gone on with at random");
}
