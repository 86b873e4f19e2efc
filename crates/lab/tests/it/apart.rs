//! Steps that a purge undoes are done on a copy of a simulated drive, beside the rest of the plan.

use crate::support;
use assay_lab::{LabError, Metric, Outcome, Session, Silent, Simulated};
use block::{Bytes, Seed};
use drive::preset::Preset;

const TARGET: &str = "x25-m?capacity.user=1GiB";

/// Carries out `steps` on a new drive with so many threads.
fn carry_out(steps: &str, threads: usize) -> Result<Outcome, LabError> {
    carry_out_within(steps, threads, None)
}

/// The same with memory for so many states of the drive.
fn carry_out_within(steps: &str, threads: usize, states: Option<f64>) -> Result<Outcome, LabError> {
    support::in_new_run(&format!("name = \"p\"\nrepeats = 2\n{steps}"), TARGET, |store, run, plan| {
        let preset = Preset::find(TARGET).unwrap();
        let memory = states.map(|states| Bytes::new((states * preset.memory().get() as f64) as u64));
        let mut subject = Simulated::new(preset);
        if let Some(memory) = memory {
            subject = subject.within(memory);
        }
        let session = Session::new(store, run, plan, Seed::new(1), &Silent)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| session.carry_out(&mut subject, false))
    })
}

/// The rates of all cells of a step; none if it has none.
fn rates(outcome: &Outcome, name: &str) -> Vec<f64> {
    let step = outcome.steps.iter().find(|step| outcome.plan.steps[step.index].name == name);
    let points = step.into_iter().flat_map(|step| &step.points);
    points.map(|point| point.figure(Metric::Iops).expect("it was measured").mean).collect()
}

const PURGE: &str = "[[step]]\nname = \"NAME\"\ndo = \"purge\"\n";
const SATURATE: &str = "[[step]]\nname = \"cache\"\ndo = \"saturate\"\nrw = \"write\"\nbs = \"1m\"\niodepth = 4\n\
                        at-most = \"150%\"\nburst = \"5%\"\nidle = [\"1s\", \"10s\"]\n";
const MEASURE: &str = "[[step]]\nname = \"read\"\nrw = \"randread\"\nruntime = \"1s\"\niodepth = 8\n";

fn purge(name: &str) -> String {
    PURGE.replace("NAME", name)
}

#[test]
fn what_a_purge_undoes_is_measured_and_leaves_no_trace_with_any_number_of_threads() {
    let plain = carry_out(&[purge("a"), purge("b"), purge("c"), MEASURE.to_owned()].concat(), 1).unwrap();
    let again = SATURATE.replace("cache", "again");
    let steps = [&purge("a")[..], SATURATE, &purge("b"), &again, &purge("c"), MEASURE].concat();
    let undone = [1, 2, 4].map(|threads| carry_out(&steps, threads).unwrap());
    let (with, without) = (rates(&undone[0], "read")[0], rates(&plain, "read")[0]);
    assert!((with / without - 1.0).abs() < 0.001, "{with} behind it, {without} without it");
    for outcome in &undone {
        assert_eq!(rates(outcome, "cache").len(), 3, "the writes, and those after each idle time");
        assert_eq!(rates(outcome, "cache"), rates(&undone[0], "cache"));
        assert_eq!(rates(outcome, "again"), rates(&undone[0], "again"));
        assert_eq!(rates(outcome, "read"), rates(&undone[0], "read"));
    }
}

#[test]
fn a_step_that_nothing_purges_is_seen_by_those_behind_it() {
    let plain = carry_out(&[purge("a"), MEASURE.to_owned()].concat(), 2).unwrap();
    let worn = carry_out(&[&purge("a"), SATURATE, MEASURE].concat(), 2).unwrap();
    let (worn, plain) = (rates(&worn, "read")[0], rates(&plain, "read")[0]);
    assert!(worn < 0.95 * plain, "{worn} of a full drive, {plain} of an empty one");
}

const WEAR: &str = "[[step]]\nname = \"wear\"\nrw = \"randwrite\"\niodepth = 32\nio_size = \"2g\"\n";
const WRITE: &str = "[[step]]\nname = \"write\"\nrw = \"randwrite\"\niodepth = 32\nio_size = \"50m\"\n";

/// Each step's own figures are those of the drive as it was found; what is kept is seen by the next step, once.
#[test]
fn a_measurement_that_keeps_its_state_is_seen_by_those_behind_it() {
    let kept = format!("{WEAR}keep-state = true\n");
    let alone = carry_out(WRITE, 2).unwrap();
    let sampled = carry_out(&[WEAR, WRITE].concat(), 2).unwrap();
    assert_eq!(rates(&sampled, "write"), rates(&alone, "write"), "each on a copy of the new drive");
    let [one, two] = [1, 2].map(|threads| carry_out(&[&kept, WRITE].concat(), threads).unwrap());
    let (worn, new) = (rates(&two, "write")[0], rates(&alone, "write")[0]);
    assert!(worn < 0.9 * new, "{worn} of a worn drive, {new} of a new one");
    assert_eq!(rates(&one, "write"), rates(&two, "write"));
    assert_eq!(rates(&two, "wear"), rates(&sampled, "wear"));
    // A purge undoes this too.
    let undone = carry_out(&[&kept, &purge("a"), WRITE].concat(), 2).unwrap();
    assert_eq!(rates(&undone, "wear"), rates(&two, "wear"));
    assert!((rates(&undone, "write")[0] / new - 1.0).abs() < 0.001);
}

const RANDOM: &str = "[[step]]\nname = \"random\"\ndo = \"precondition\"\n";

#[test]
fn little_memory_makes_a_plan_slower_and_changes_no_figure() {
    let steps =
        [RANDOM, WRITE, &WRITE.replace("\"write\"", "\"more\""), &purge("a"), SATURATE, &purge("b"), MEASURE].concat();
    let plenty = carry_out(&steps, 2).unwrap();
    for (threads, states) in [(1, 2.8), (4, 2.8), (4, 4.0), (4, 5.0), (4, 6.0)] {
        let narrow = carry_out_within(&steps, threads, Some(states)).unwrap();
        for name in ["write", "more", "cache", "read"] {
            assert_eq!(rates(&narrow, name), rates(&plenty, name), "{name}, {threads} threads, {states} states");
        }
    }
}

#[test]
fn too_little_memory_for_random_states_is_refused_before_they_are_made() {
    let error = carry_out_within(&[RANDOM, WRITE].concat(), 2, Some(2.0)).expect_err("it does not fit");
    assert!(!error.would_recur(), "there may be more another time");
    let LabError::At { source, step, .. } = error else { panic!("{error}") };
    assert!(matches!(*source, LabError::Memory { .. }) && step == "random", "{step}: {source}");
    assert!(carry_out_within(MEASURE, 2, Some(0.5)).is_ok(), "an unwritten map takes no memory");
}
