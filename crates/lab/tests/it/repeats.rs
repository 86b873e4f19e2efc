//! Cells that are repeated until their figures are known well enough.

use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, Plan, PlanLength, Repetition};
use assay_lab::{Outcome, Session, Silent, Simulated, recall};
use block::Seed;
use drive::preset::Preset;
use store::{RunId, Store};

fn read(steps: &str) -> Plan {
    let text = format!("name = \"p\"\n{steps}");
    plan::parse(&text, PlanLength::Full)
        .unwrap_or_else(|mistakes| panic!("{}", plan::render(&mistakes, "p", &text, false)))
}

/// On a disk, a cell of many requests whose mean is known soon, and one whose few requests scatter widely.
const STEPS: &str = "\
[[step]]
name = \"read\"
rw = \"randread\"
sweep.number_ios = [20000, 3]
repeats = { until = \"1%\", at-most = 9 }
";

struct Bench {
    _directory: tempfile::TempDir,
    plan: Plan,
    store: Mutex<Store>,
    run: RunId,
}

impl Bench {
    fn new() -> Self {
        let (plan, directory) = (read(STEPS), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
        let run = support::begin(&mut store, &plan, "sim:maxtor-160", None);
        Self { _directory: directory, plan, store: Mutex::new(store), run }
    }

    fn carry_out(&self) -> Outcome {
        let mut drive = Simulated::new(Preset::find("maxtor-160").unwrap());
        let session = Session::new(&self.store, self.run, &self.plan, Seed::new(1), &Silent).unwrap();
        session.carry_out(&mut drive, false).unwrap();
        recall(&self.store.lock().unwrap(), self.run).unwrap()
    }
}

fn counts(outcome: &Outcome) -> Vec<usize> {
    outcome.steps[0].points.iter().map(|cell| cell.repeats.len()).collect()
}

#[test]
fn a_precise_cell_is_measured_five_times_and_a_noisy_one_to_the_cap() {
    let outcome = Bench::new().carry_out();
    assert_eq!(counts(&outcome), [5, 9]);
}

#[test]
fn what_was_enough_before_is_enough_when_the_run_is_resumed() {
    let bench = Bench::new();
    let whole = bench.carry_out();
    assert_eq!(counts(&bench.carry_out()), [5, 9], "nothing is measured again");
    {
        let mut store = bench.store.lock().unwrap();
        for cell in ["number_ios=20000", "number_ios=3"] {
            store.retract(bench.run, "read", cell, "none").unwrap();
            store.retract(bench.run, "read", cell, "none").unwrap();
        }
    }
    let resumed = bench.carry_out();
    for (one, other) in whole.steps[0].points.iter().zip(&resumed.steps[0].points) {
        assert_eq!(one.repeats, other.repeats);
    }
}

#[test]
fn a_plan_says_how_often_by_number_or_by_precision() {
    let of = |repeats: &str| read(&format!("repeats = {repeats}\n[[step]]\nname = \"s\"\nruntime = 1\n")).repeats;
    assert_eq!(of("7"), Repetition::times(7));
    assert_eq!(of("{ until = \"5%\" }"), Repetition { most: 30, until: Some(0.05) });
    assert_eq!(of("{ at-most = 12 }"), Repetition { most: 12, until: Some(0.02) });
    assert_eq!((of("{ at-most = 12 }").least(), of("{ at-most = 3 }").least(), of("7").least()), (5, 3, 7));
}

#[test]
fn a_precision_that_makes_no_sense_is_explained() {
    for (repeats, words) in [
        ("{ untill = \"5%\" }", "did you mean `until`"),
        ("{ until = \"0%\" }", "0 % cannot be met"),
        ("{ at-most = 0 }", "1"),
        ("\"often\"", "until = \"2%\""),
    ] {
        let text = format!("name = \"p\"\nrepeats = {repeats}\n[[step]]\nname = \"s\"\nruntime = 1\n");
        let said = plan::render(&plan::parse(&text, PlanLength::Full).expect_err(repeats), "p", &text, false);
        assert!(said.contains(words), "{said}");
    }
}
