//! Jobs of a step side by side: each is a cell of its own, and all of a point are measured at the same time.

use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, Action, Measure, Plan, PlanLength};
use assay_lab::{Metric, Outcome, Real, Session, Silent, Simulated, Subject, recall};
use block::{Bytes, Nanos, Seed};
use drive::preset::Preset;
use engine::{Access, Target};
use store::{RunId, Store};
use workload::Pattern;

fn read(steps: &str, length: PlanLength) -> Plan {
    let text = format!("name = \"p\"\nrepeats = 2\n{steps}");
    plan::parse(&text, length).unwrap_or_else(|mistakes| panic!("{}", plan::render(&mistakes, "p", &text, false)))
}

fn last(plan: &Plan) -> &Measure {
    let Action::Measure(measure) = &plan.steps.last().unwrap().action else { panic!("it measures") };
    measure
}

fn keys(measure: &Measure) -> Vec<String> {
    measure.cells.iter().map(plan::Cell::key).collect()
}

const MIXED: &str = "\
[[step]]
name = \"mixed\"
runtime = \"500ms\"
iodepth = 4
[[step.job]]
name = \"reader\"
rw = \"randread\"
iodepth = 1
[[step.job]]
name = \"writer\"
rw = \"randwrite\"
";

const FILL: &str = "[[step]]\nname = \"fill\"\ndo = \"fill\"\n";

/// A store with a run of `plan` in it.
fn begin(directory: &tempfile::TempDir, plan: &Plan) -> (Mutex<Store>, RunId) {
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, plan, "sim:x25-m", None);
    (Mutex::new(store), run)
}

fn carry_out(plan: &Plan, store: &Mutex<Store>, run: RunId, subject: &mut dyn Subject) {
    Session::new(store, run, plan, Seed::new(1), &Silent).unwrap().carry_out(subject, false).unwrap();
}

fn small() -> Simulated {
    Simulated::new(Preset::find("x25-m?capacity.user=2GiB").unwrap())
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn outcome(steps: &str) -> Outcome {
    let (plan, directory) = (read(steps, PlanLength::Full), scratch());
    let (store, run) = begin(&directory, &plan);
    carry_out(&plan, &store, run, &mut small());
    recall(&store.into_inner().unwrap(), run).unwrap()
}

#[test]
fn jobs_share_the_fields_of_their_step_and_have_their_own() {
    let plan = read(MIXED, PlanLength::Full);
    let measure = last(&plan);
    assert_eq!(keys(measure), ["job=reader", "job=writer"]);
    let [reader, writer] = [0, 1].map(|cell| &measure.cells[cell].workload);
    assert_eq!((reader.pattern, reader.queue_depth), (Pattern::RandRead, 1));
    assert_eq!((writer.pattern, writer.queue_depth), (Pattern::RandWrite, 4));
    assert_eq!((reader.stop, measure.points().count()), (writer.stop, 1));
}

#[test]
fn at_each_point_of_a_sweep_all_jobs_run_together() {
    let plan = read(&MIXED.replace("iodepth = 4", "sweep.bs = [\"4k\", \"64k\"]"), PlanLength::Full);
    let measure = last(&plan);
    assert_eq!(keys(measure), ["bs=4k job=reader", "bs=4k job=writer", "bs=64k job=reader", "bs=64k job=writer"]);
    assert_eq!(measure.points().map(<[_]>::len).collect::<Vec<_>>(), [2, 2]);
    let alone = read("[[step]]\nname = \"a\"\nruntime = 1\nsweep.bs = [\"4k\", \"64k\"]\n", PlanLength::Full);
    assert_eq!(last(&alone).points().count(), 2, "cells without jobs are measured one by one");
}

#[test]
fn quick_goes_over_what_jobs_say_and_their_own_quick_over_that() {
    let steps = MIXED
        .replace("iodepth = 4", "quick.runtime = \"10ms\"")
        .replace("rw = \"randread\"", "rw = \"randread\"\nruntime = \"9s\"")
        .replace("rw = \"randwrite\"", "rw = \"randwrite\"\nquick.runtime = \"20ms\"");
    let times =
        |length| last(&read(&steps, length)).cells.iter().map(|cell| cell.workload.stop.time.unwrap()).collect();
    let [full, quick]: [Vec<Nanos>; 2] = [PlanLength::Full, PlanLength::Quick].map(times);
    assert_eq!(full, [Nanos::from_secs(9), Nanos::from_millis(500)]);
    assert_eq!(quick, [Nanos::from_millis(10), Nanos::from_millis(20)]);
}

#[test]
fn a_step_like_another_has_its_jobs() {
    let again = format!("{MIXED}[[step]]\nname = \"again\"\nsame-as = \"mixed\"\nbeside = \"mixed\"\n");
    let plan = read(&again, PlanLength::Full);
    assert_eq!(keys(last(&plan)), ["job=reader", "job=writer"]);
    let swept = format!("{MIXED}[[step]]\nname = \"again\"\nsame-as = \"mixed\"\nsweep.iodepth = [1, 8]\n");
    let depths: Vec<u32> =
        last(&read(&swept, PlanLength::Full)).cells.iter().map(|cell| cell.workload.queue_depth).collect();
    assert_eq!(depths, [1, 1, 8, 8], "what is swept is fixed no more");
}

#[test]
fn a_job_has_figures_of_its_own_that_show_what_runs_beside_it() {
    let outcome = outcome(&format!("{FILL}{MIXED}"));
    let cells = &outcome.steps.last().unwrap().points;
    assert_eq!(cells.iter().map(|cell| cell.repeats.len()).collect::<Vec<_>>(), [2, 2]);
    let [reader, writer] = [0, 1].map(|cell| cells[cell].repeats[0].measurement().unwrap());
    assert!(reader.read.requests > 0 && reader.write.requests == 0);
    assert!(writer.write.requests > 0 && writer.read.requests == 0);
    assert_eq!(reader.drive.unwrap().host_written, writer.drive.unwrap().host_written, "it was the same time");
    assert_ne!(reader.seed, writer.seed);
    let lone = MIXED.split("[[step.job]]\nname = \"writer\"").next().unwrap();
    let quiet = self::outcome(&format!("{FILL}{lone}"));
    let mean = |outcome: &Outcome| outcome.steps.last().unwrap().points[0].figure(Metric::LatencyMean).unwrap().mean;
    assert!(mean(&outcome) > 1.5 * mean(&quiet), "{} beside writes, {} alone", mean(&outcome), mean(&quiet));
    assert_eq!(
        reader.seed,
        quiet.steps.last().unwrap().points[0].repeats[0].measurement().unwrap().seed,
        "a job keeps its requests"
    );
}

#[test]
fn a_point_that_is_not_whole_in_the_store_is_measured_again_whole() {
    let (plan, directory) = (read(&format!("{FILL}{MIXED}"), PlanLength::Full), scratch());
    let (store, run) = begin(&directory, &plan);
    carry_out(&plan, &store, run, &mut small());
    let whole = store.lock().unwrap().measured(run).unwrap();
    let cut = begin(&directory, &plan).1;
    let stray = whole.iter().find(|one| one.key == "job=writer" && one.repeat == 1).unwrap();
    let mut other = stray.measurement.clone();
    other.write.bytes = Bytes::ZERO;
    let kept = [(0, stray.measurement.clone()), (1, other)];
    let reader = whole.iter().find(|one| one.key == "job=reader" && one.repeat == 0).unwrap();
    store.lock().unwrap().record_cell(cut, "mixed", "job=writer", &kept).unwrap();
    store.lock().unwrap().record_cell(cut, "mixed", "job=reader", &[(0, reader.measurement.clone())]).unwrap();
    carry_out(&plan, &store, cut, &mut small());
    let store = store.into_inner().unwrap();
    let after = store.measured(cut).unwrap();
    let find = |key: &str, repeat| after.iter().find(|one| one.key == key && one.repeat == repeat).unwrap();
    assert_eq!(after.len(), 4);
    assert_eq!(&find("job=writer", 1).measurement, &stray.measurement, "measured again with the other job");
    assert_eq!(&find("job=writer", 0).measurement, &stray.measurement, "what is whole is left as it was");
}

#[test]
fn jobs_run_on_a_file_too() {
    let plan = read(&format!("{FILL}{}", MIXED.replace("500ms", "100ms")), PlanLength::Full);
    let directory = scratch();
    let (store, run) = begin(&directory, &plan);
    let access = Access { size: Some(Bytes::from_mib(8)), writes: true, ..Access::default() };
    let target = Target::open(&directory.path().join("file.bin"), &access).unwrap();
    carry_out(&plan, &store, run, &mut Real::new(target));
    let outcome = recall(&store.into_inner().unwrap(), run).unwrap();
    for (cell, job) in outcome.steps.last().unwrap().points.iter().zip(["reader", "writer"]) {
        assert_eq!((cell.point[0].1.as_str(), cell.repeats.len()), (job, 2));
        assert_eq!(cell.measurements().all(|one| one.write.requests > 0), job == "writer");
    }
}

#[test]
fn jobs_run_on_drives_with_other_parts() {
    let steps = format!("{FILL}{}", MIXED.replace("iodepth = 4", "sweep.drive.nand.read = [\"25us\", \"100us\"]"));
    let outcome = outcome(&steps);
    let means: Vec<f64> = outcome
        .steps
        .last()
        .unwrap()
        .points
        .iter()
        .map(|cell| cell.figure(Metric::LatencyMean).unwrap().mean)
        .collect();
    assert_eq!(means.len(), 4);
    assert!(means[2] > means[0] + 50.0, "readers of fast and slow flash: {means:?}");
}
