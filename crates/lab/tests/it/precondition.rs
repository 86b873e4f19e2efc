//! The short way to the steady state: it ends where long random writing ends, by a quarter of the writes or fewer.

use std::sync::Mutex;
use testkit::alike;

use crate::support;
use assay_lab::plan::{self, PlanLength};
use assay_lab::{Outcome, Real, Session, Silent, Simulated, Subject, Watch, recall};
use block::{Bytes, Nanos, Seed};
use drive::preset::Preset;
use engine::{Access, Measurement, Target};
use store::Store;
use workload::Spare;

/// Carries out `steps` on `subject`, which is called `name`.
fn carry_out(steps: &str, name: &str, subject: &mut dyn Subject) -> Outcome {
    let plan =
        plan::parse(&format!("name = \"p\"\nrepeats = 1\n{steps}"), PlanLength::Full).unwrap().on(subject.capacity());
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, name, None);
    let store = Mutex::new(store);
    Session::new(&store, run, &plan, Seed::new(1), &Silent).unwrap().carry_out(subject, false).unwrap();
    recall(&store.into_inner().unwrap(), run).unwrap()
}

fn simulated(steps: &str, target: &str) -> Outcome {
    carry_out(steps, &format!("sim:{target}"), &mut Simulated::new(Preset::find(target).unwrap()))
}

/// What the only cell of step number `index` gave.
fn measured(outcome: &Outcome, index: usize) -> &Measurement {
    let step = outcome.steps.iter().find(|step| step.index == index).expect("the step measures");
    step.points[0].measurements().next().expect("it was measured")
}

const FAST: &str = "[[step]]\nname = \"age\"\ndo = \"precondition\"\n";
const LONG: &str = "\
[[step]]
name = \"age\"
do = \"condition\"
rw = \"randwrite\"
iodepth = 32
round = \"1s\"
steady = false
at-most = \"700%\"
";
const WRITE: &str = "\
[[step]]
name = \"write\"
rw = \"randwrite\"
iodepth = 32
io_size = \"40%\"
";

/// Requests a second and write amplification of random writes in the state that `steps` left, and how much they wrote.
fn aged(steps: &str, target: &str) -> (f64, f64, f64) {
    let outcome = simulated(&format!("{steps}{WRITE}"), target);
    let (age, after) = (measured(&outcome, 0), measured(&outcome, 1));
    let amplification = after.drive.unwrap().write_amplification().unwrap();
    (after.iops(), amplification, age.write.bytes.get() as f64)
}

/// Little and much to spare, four policies of collection, and a cache of one bit a cell; small, so that long writing
/// does not take long; without what is drawn while a drive works, which a state made without time does not draw.
const DRIVES: [&str; 6] = [
    alike!("x25-m?capacity.user=512MiB&channels=2&"),
    alike!("x25-m?capacity.user=512MiB&channels=2&", "capacity.spare=28%"),
    alike!("x25-m?capacity.user=512MiB&channels=2&", "capacity.spare=15%&gc.policy=fifo"),
    alike!("x25-m?capacity.user=512MiB&channels=2&", "capacity.spare=15%&gc.policy=cost-benefit"),
    alike!("x25-m?capacity.user=512MiB&channels=2&", "capacity.spare=15%&gc.policy=superblocks"),
    alike!(
        "sata-tlc?capacity.user=1GiB&channels=1&pages_per_block=256&slc.fixed=8MB&slc.dynamic=36MB&host=none&",
        "noise=0%&exponential=false&journal.length=0s"
    ),
];

#[test]
fn it_leaves_the_steady_state_of_long_random_writing_by_a_quarter_of_the_writes() {
    for target in DRIVES {
        let ((iops, amplification, written), (long_iops, long_amplification, long_written)) =
            (aged(FAST, target), aged(LONG, target));
        let told = format!(
            "{target}: {iops:.0} IOPS, amplification {amplification:.3}; after long writing {long_iops:.0} and \
             {long_amplification:.3}"
        );
        assert!((iops / long_iops - 1.0).abs() < 0.03, "{told}");
        assert!((amplification / long_amplification - 1.0).abs() < 0.03, "{told}");
        assert!(written * 4.0 <= long_written, "{target}: {written} B written, {long_written} B at length");
    }
}

/// Without simulating the writes in order: another draw of the same state, and of a fill the same state.
#[test]
fn what_is_constructed_is_as_what_is_simulated() {
    for target in DRIVES {
        let simulated = FAST.to_owned() + "construct = false\n";
        let ((iops, amplification, _), (other_iops, other_amplification, _)) =
            (aged(FAST, target), aged(&simulated, target));
        let told = format!(
            "{target}: {iops:.0} IOPS, {amplification:.3}; simulated {other_iops:.0}, {other_amplification:.3}"
        );
        assert!((iops / other_iops - 1.0).abs() < 0.02, "{told}");
        assert!((amplification / other_amplification - 1.0).abs() < 0.02, "{told}");
        let filled = |how: &str| {
            let steps = format!(
                "[[step]]\nname = \"fill\"\ndo = \"fill\"\n{how}[[step]]\nname = \"rest\"\ndo = \"idle\"\ntime = \"1h\"\n{WRITE}"
            );
            let outcome = carry_out(&steps, target, &mut Simulated::new(Preset::find(target).unwrap()));
            let measured = measured(&outcome, 2);
            let did = measured.drive.unwrap();
            (measured.requests(), measured.elapsed, did.pages_programmed, did.pages_moved, did.blocks_erased)
        };
        assert_eq!(filled(""), filled("construct = false\n"), "{target}");
    }
}

/// The law of the long way itself: without the short one, so few writes leave another state.
#[test]
fn as_many_writes_at_random_do_not_do() {
    let short = LONG.replace("700%", "117%");
    let (_, amplification, _) = aged(&short, DRIVES[0]);
    let (_, fast, _) = aged(FAST, DRIVES[0]);
    assert!(fast > 2.0 * amplification, "{fast} against {amplification}");
}

#[test]
fn one_seed_tells_one_story_and_more_workers_another_with_the_same_end() {
    let end = |steps: &str| aged(steps, DRIVES[0]);
    assert_eq!(end(FAST), end(FAST));
    let (one, several) = (end(FAST).1, end(&format!("{FAST}numjobs = 4\niodepth = 8\n")).1);
    assert!((several / one - 1.0).abs() < 0.03, "{one} by one worker, {several} by four");
}

/// The share of flash that the plan gives counts on a simulated drive too, and its own needs no word.
#[test]
fn a_simulated_drive_is_known_to_have_what_its_file_says() {
    let outcome = simulated(FAST, "x25-m?capacity.user=512MiB&channels=2&capacity.spare=28%");
    let spare = measured(&outcome, 0).workload.sprandom.unwrap().share();
    assert!((0.28..0.30).contains(&spare), "{spare}: rounded up to whole blocks");
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    let outcome = simulated(&format!("{FAST}spare = \"12%\"\n"), DRIVES[0]);
    assert_eq!(measured(&outcome, 0).workload.sprandom.unwrap().to_string(), "12 %");
    assert_eq!(outcome.steps[0].points[0].workload(), Some(&measured(&outcome, 0).workload));
}

const READ: &str = "[[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 10\n";

/// Carries out `steps` on a new file of so much; what was found.
fn on_a_file(steps: &str, size: Bytes) -> Outcome {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("new.bin");
    let access = Access { size: Some(size), writes: true, create: true, ..Access::default() };
    let mut subject = Real::new(Target::open(&path, &access).unwrap());
    carry_out(steps, &path.display().to_string(), &mut subject)
}

#[test]
fn all_of_a_file_is_written_by_any_number_of_workers() {
    for more in ["", "numjobs = 3\n", "bs = \"64k\"\nsettle = \"0%\"\n"] {
        let outcome = on_a_file(&format!("{FAST}spare = \"25%\"\n{more}{READ}"), Bytes::from_mib(16));
        assert!(outcome.findings.is_empty(), "{more}: {:?}", outcome.findings);
        let written = measured(&outcome, 0).write.bytes;
        let expected = Bytes::from_kib(if more.contains("settle") { 20 << 10 } else { 22_116 });
        assert!(written >= expected && written <= expected + Bytes::from_kib(16), "{more}: {written}");
    }
}

/// Expects that only what is measured is left to do.
struct Aged;

impl Watch for Aged {
    fn begin(&self, _: Nanos) {}
    fn step(&self, title: &str) {
        assert_eq!(title, "Read");
    }
    fn advance(&self, _: Nanos) {}
}

#[test]
fn a_run_that_goes_on_leaves_a_real_target_as_it_was_brought_to() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("new.bin");
    let access = Access { size: Some(Bytes::from_mib(4)), writes: true, create: true, ..Access::default() };
    let mut subject = Real::new(Target::open(&path, &access).unwrap());
    let plan = plan::parse(&format!("name = \"p\"\nrepeats = 1\n{FAST}{READ}"), PlanLength::Quick).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, &path.display().to_string(), access.size);
    let store = Mutex::new(store);
    // The run ends behind the step; what it measured is kept, the rest of the plan is still to be done.
    let mut first = plan.clone();
    first.steps.truncate(1);
    Session::new(&store, run, &first, Seed::new(1), &Silent).unwrap().carry_out(&mut subject, true).unwrap();
    let before = std::fs::read(&path).unwrap();
    Session::new(&store, run, &plan, Seed::new(1), &Aged).unwrap().carry_out(&mut subject, true).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let outcome = recall(&store.into_inner().unwrap(), run).unwrap();
    assert_eq!(
        (measured(&outcome, 0).workload.sprandom, measured(&outcome, 1).read.requests),
        (Some(Spare::USUAL), 10)
    );
}

#[test]
fn what_is_assumed_of_a_real_target_is_said() {
    let outcome = on_a_file(FAST, Bytes::from_mib(4));
    let said: Vec<&str> = outcome.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(matches!(said[..], [said] if said.contains("7.3741 % was assumed")), "{said:?}");
}

#[test]
fn mistakes_in_its_keys_are_explained() {
    let cases = [
        ("spare = \"0%\"", "`0%` is out of range", "at least 0.1 % is needed"),
        ("spare = \"2000%\"", "`2000%` is out of range", "at most 1000 % is possible"),
        ("spare = 7", "`7` has no unit", "`7%`"),
        ("settle = \"10s\"", "the random writes are given as a share of the capacity", "give it in percent: `10%`"),
        (
            "rw = \"randwrite\"",
            "unknown field `rw` in a `precondition` step",
            "only `measure`, `condition`, `rounds`, `saturate` and `files` steps",
        ),
        ("round = \"60s\"", "unknown field `round` in a `precondition` step", "only `condition` steps take it"),
        ("sapre = \"7%\"", "unknown field `sapre` in a `precondition` step", "did you mean `spare`?"),
        ("bs = \"1000\"", "block size 1000 B is not a whole number of 512 B sectors", "try 512 or 4k"),
    ];
    for (line, found, help) in cases {
        let text = format!("name = \"p\"\n{FAST}{line}\n");
        let mistakes = plan::parse(&text, PlanLength::Full).expect_err(line);
        let [mistake] = &mistakes[..] else { panic!("{line}: {mistakes:?}") };
        assert_eq!(mistake.message, found, "{line}");
        assert!(mistake.help.as_ref().is_some_and(|said| said.contains(help)), "{line}: {:?}", mistake.help);
    }
    let misplaced = "name = \"p\"\n[[step]]\nname = \"a\"\nruntime = 1\nspare = \"7%\"\n";
    let mistakes = plan::parse(misplaced, PlanLength::Full).unwrap_err();
    assert!(mistakes[0].help.as_ref().is_some_and(|said| said.contains("only `precondition` steps take it")));
}
