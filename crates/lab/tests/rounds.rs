//! Cells measured in rounds, on the drive as each measurement leaves it, until those that decide are steady.

mod support;

use std::sync::Mutex;

use assay_lab::plan::{self, Action, Length, Plan, Rounds};
use assay_lab::{Outcome, Real, Session, Silent, Simulated, Subject, recall};
use block::{Bytes, Nanos, Seed};
use drive::preset::Preset;
use engine::{Access, Target};
use store::{RunId, Store};

const MATRIX: &str = "\
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"iops\"
do = \"rounds\"
rw = \"randrw\"
iodepth = 8
runtime = \"200ms\"
simulated.runtime = \"100ms\"
sweep.rwmixread = [100, 0]
sweep.bs = [\"16k\", \"4k\"]
watch = \"bs=4k rwmixread=0\"
rounds = 12
";

/// Twenty rounds that write a tenth of a small drive each.
const WEARING: &str = "\
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"w\"
do = \"rounds\"
rw = \"randwrite\"
iodepth = 8
io_size = \"100m\"
rounds = 20
steady = false
";

fn text(steps: &str) -> String {
    format!("name = \"p\"\n{steps}")
}

fn read(steps: &str, length: Length) -> Plan {
    plan::parse(&text(steps), length)
        .unwrap_or_else(|mistakes| panic!("{}", plan::render(&mistakes, "p", &text(steps), false)))
}

fn mistake(steps: &str) -> String {
    let mistakes = plan::parse(&text(steps), Length::Full).expect_err(steps);
    plan::render(&mistakes, "p", &text(steps), false)
}

fn rounds(plan: &Plan) -> &Rounds {
    let Action::Rounds(rounds) = &plan.steps.last().unwrap().action else { panic!("it goes in rounds") };
    rounds
}

struct Bench {
    _directory: tempfile::TempDir,
    store: Mutex<Store>,
    run: RunId,
    plan: Plan,
}

impl Bench {
    fn of(steps: &str) -> Self {
        let plan = read(steps, Length::Full);
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
        let run = support::begin(&mut store, &plan, "sim:x25-m", None);
        Self { _directory: directory, store: Mutex::new(store), run, plan }
    }

    fn carry_out(&self, subject: &mut dyn Subject, survives: bool) {
        let session = Session::new(&self.store, self.run, &self.plan, Seed::new(1), &Silent).unwrap();
        session.carry_out(subject, survives).unwrap();
    }

    fn outcome(&self) -> Outcome {
        recall(&self.store.lock().unwrap(), self.run).unwrap()
    }
}

fn small() -> Simulated {
    Simulated::new(Preset::find("x25-m?capacity.user=1GiB").unwrap())
}

#[test]
fn the_last_rounds_are_the_window_once_the_watched_cell_is_steady() {
    let bench = Bench::of(MATRIX);
    bench.carry_out(&mut small(), false);
    let outcome = bench.outcome();
    let cells = &outcome.steps[0].cells;
    assert_eq!(cells.len(), 4);
    let done = cells[0].rounds().count();
    assert!((5..=12).contains(&done), "{done} rounds");
    let rounds = rounds(&bench.plan);
    assert_eq!(rounds.watched, [3], "the order of words in a cell's name does not matter");
    let watched = rounds.watch(3, cells[3].rounds());
    assert_eq!(watched.rounds.len(), done);
    assert_eq!(watched.is_steady(), outcome.findings.is_empty(), "{:?}", outcome.findings);
    for cell in cells {
        assert_eq!((cell.rounds().count(), cell.repeats.len()), (done, 5), "every cell in every round");
    }
    // A round before the window was judged too, and was not steady, or there is none.
    let earlier = rounds.watch(3, cells[3].rounds().take(done - 1));
    assert!(!earlier.is_steady() || done == 5, "it stops at the first window that is steady");
}

#[test]
fn each_measurement_finds_the_drive_as_the_one_before_left_it() {
    // Twelve rounds of writes in a row wear a drive whose spare room is small; clones of a fresh one would not.
    let bench = Bench::of(WEARING);
    bench.carry_out(&mut small(), false);
    let outcome = bench.outcome();
    let iops: Vec<f64> = outcome.steps[0].cells[0].rounds().map(|round| round.iops()).collect();
    assert_eq!(iops.len(), 20, "without a rule all rounds are run");
    assert_eq!(outcome.steps[0].cells[0].repeats.len(), 20, "and all of them count");
    assert!(iops[19] < iops[0] * 0.8, "{iops:?}");
    assert!(outcome.findings.iter().all(|finding| !finding.text.contains("Steady")), "{:?}", outcome.findings);
}

#[test]
fn what_is_never_steady_is_measured_to_the_last_round_and_said() {
    let rule = "rounds = 6\nsteady = { spread = \"1%\", slope = \"1%\" }";
    let bench = Bench::of(&WEARING.replace("rounds = 20\nsteady = false", rule));
    bench.carry_out(&mut small(), false);
    let outcome = bench.outcome();
    assert!(outcome.steps[0].cells.iter().all(|cell| cell.rounds().count() == 6));
    let said: Vec<&str> = outcome.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(said.iter().any(|text| text.contains("not reached in 6 rounds")), "{said:?}");
}

#[test]
fn a_simulated_run_that_was_cut_off_ends_as_one_that_was_not() {
    let whole = Bench::of(MATRIX);
    whole.carry_out(&mut small(), false);
    let cut = Bench::of(MATRIX);
    cut.carry_out(&mut small(), false);
    for (key, repeat) in [("rwmixread=0 bs=4k", 4), ("rwmixread=100 bs=16k", 3)] {
        let mut store = cut.store.lock().unwrap();
        let all = store.measured(cut.run).unwrap();
        assert!(all.iter().any(|stored| stored.key == key && stored.repeat == repeat));
        store.note(cut.run, Some("iops"), Some(key), "cut").unwrap();
        // The last repeat of a cell goes with its note.
        for _ in repeat..all.iter().filter(|stored| stored.key == key).count() as u32 {
            store.retract(cut.run, "iops", key, "cut").unwrap();
        }
    }
    cut.carry_out(&mut small(), false);
    let [one, other] = [&whole, &cut].map(|bench| bench.outcome().steps);
    for (one, other) in one[0].cells.iter().zip(&other[0].cells) {
        assert!(one.rounds().eq(other.rounds()), "{:?}", one.point);
    }
}

#[test]
fn a_file_is_measured_in_rounds_and_goes_on_where_it_was() {
    let steps = "[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"w\"\ndo = \"rounds\"\nrw = \"randwrite\"\n\
                 number_ios = 20\nrounds = 5\nsteady = false\nrest = \"1ms\"\nsweep.bs = [\"4k\", \"8k\"]\n";
    let bench = Bench::of(steps);
    let path = bench._directory.path().join("target.bin");
    let access = Access { size: Some(Bytes::from_mib(4)), writes: true, create: true, ..Access::default() };
    bench.carry_out(&mut Real::new(Target::open(&path, &access).unwrap()), true);
    let before = bench.store.lock().unwrap().measured(bench.run).unwrap();
    assert_eq!(before.len(), 10);
    bench.store.lock().unwrap().note(bench.run, Some("w"), Some("bs=8k"), "cut").unwrap();
    bench.store.lock().unwrap().retract(bench.run, "w", "bs=8k", "cut").unwrap();
    let access = Access { writes: true, ..Access::default() };
    bench.carry_out(&mut Real::new(Target::open(&path, &access).unwrap()), true);
    let after = bench.store.lock().unwrap().measured(bench.run).unwrap();
    assert_eq!(after.len(), 10);
    assert_eq!(before[..9], after[..9], "what was stored is not measured again");
    assert_ne!(before[9].measurement, after[9].measurement);
}

#[test]
fn a_plan_has_lengths_of_its_own_for_simulated_drives() {
    let time = |plan: &Plan| rounds(plan).measure.cells[0].workload.stop.time.unwrap();
    assert_eq!(time(&read(MATRIX, Length::Full)), Nanos::from_millis(200));
    let simulated = read(MATRIX, Length::Simulated);
    assert_eq!((time(&simulated), simulated.simulated), (Nanos::from_millis(100), true));
    let quick = format!("{MATRIX}quick.runtime = \"10ms\"\n");
    assert_eq!(time(&read(&quick, Length::QuickSimulated)), Nanos::from_millis(10));
    assert_eq!(time(&read(MATRIX, Length::QuickSimulated)), Nanos::from_millis(100), "where quick says nothing");
    let of_plan = format!("[simulated]\nruntime = \"5ms\"\n{}", MATRIX.replace("simulated.runtime = \"100ms\"\n", ""));
    assert_eq!(time(&read(&of_plan, Length::Simulated)), Nanos::from_millis(5));
    let silent = MATRIX.replace("simulated.runtime = \"100ms\"\n", "");
    assert!(!read(&silent, Length::Simulated).simulated, "a plan that says nothing of them has but one length");
}

#[test]
fn mistakes_in_rounds_say_what_would_be_right() {
    let watch = "watch = \"bs=4k rwmixread=0\"\n";
    for (from, to, words) in [
        (watch, "", "does not name which of its 4 points must be steady"),
        (watch, "watch = \"bs=4k rwmixread=1\"\n", "no point `bs=4k rwmixread=1`"),
        (watch, "watch = \"bs=4k rwmixread=0\"\nby = \"iosp\"\n", "cannot be judged by `iosp`"),
        ("rounds = 12", "rounds = 4", "4 rounds can never be steady: the rule needs 5"),
        ("rwmixread = [100, 0]", "drive.capacity.spare = [\"7%\"]", "all rounds run on one drive"),
        ("rounds = 12", "repeats = 12", "`repeats` in a `rounds` step"),
    ] {
        let said = mistake(&MATRIX.replace(from, to));
        assert!(said.contains(words), "{said}");
    }
}
