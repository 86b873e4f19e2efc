//! Whether the time left that a watcher is told proves right, and all of the work is told of.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support;
use assay_lab::plan::{PlanLength, Site, catalog, parse};
use assay_lab::{Course, News, Progress, Session, Show, Simulated, Snapshot, Tracker};
use block::Seed;
use drive::Drive;
use drive::preset::Preset;
use rustix::time::{ClockId, clock_gettime};
use store::Store;

/// How far a prediction may be off on a drive that is reviewed for the first time, by the recorded review.
const FIRST: [(&str, f64); 2] = [("x25-m", 0.5), ("x25-e-64", 0.5)];
/// How far it may be off the second time, where nothing but how finely a course is kept can be to blame.
const SECOND: f64 = 0.05;

/// What the processor did in each step of a review, in milliseconds, by one thread of a build for tests on an AMD EPYC. The
/// test prints how long the steps took it, in the same form.
const RECORDED: &str = include_str!("../data/time_left.csv");

/// What the processors have done for this process, in seconds: unlike the time that passes, it depends little on what else a
/// machine does.
fn worked() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    (Duration::from_secs(spent.tv_sec as u64) + Duration::from_nanos(spent.tv_nsec as u64)).as_secs_f64()
}

/// How many measurements were kept.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// A clock that goes as measurements are kept: quite another time than the one expected, and the same in each run.
fn kept() -> f64 {
    KEPT.load(Ordering::Relaxed) as f64
}

/// Notes at what time, and in which step, how much of the whole was said to be done.
struct Recorder {
    clock: fn() -> f64,
    began: f64,
    told: Mutex<Vec<Told>>,
}

/// After how many seconds, in which step, what share was done.
type Told = (f64, String, f64);

impl Show for Recorder {
    fn show(&self, snapshot: &Snapshot, news: News) {
        match (news, snapshot.share(), snapshot.counters) {
            (News::Advanced, Some(share), _) => {
                let mut told = self.told.lock().unwrap();
                // Steps that are measured in one state take turns in the next: the time is that of the furthest.
                let is_past = snapshot.step.is_empty() || told.iter().any(|(_, step, _)| *step == snapshot.step);
                let furthest = told.last().map(|(_, step, _)| step.clone()).filter(|_| is_past);
                let step = furthest.unwrap_or_else(|| snapshot.step.clone());
                if !step.is_empty() {
                    told.push(((self.clock)() - self.began, step, share));
                }
            }
            (News::Kept, ..) => drop(KEPT.fetch_add(1, Ordering::Relaxed)),
            _ => {}
        }
    }
}

/// A short review of this drive: what was told, how long all of it took, and how it went.
fn reviewed(name: &str, clock: fn() -> f64, like: Course) -> (Vec<Told>, f64, Course) {
    let source = catalog::find("review").unwrap();
    let mut subject = Simulated::new(Preset::find(name).unwrap());
    let capacity = Preset::find(name).unwrap().build().shape().capacity;
    let plan = parse(&source.text, PlanLength::of(true, true)).unwrap().on(capacity);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, name, None);
    KEPT.store(0, Ordering::Relaxed);
    let store = Mutex::new(store);
    let recorder = Recorder { clock, began: clock(), told: Mutex::default() };
    let progress = Progress::by(clock, like);
    let tracker = Tracker::new(&progress, vec![&recorder]);
    // One thread does all, because what is expected is the time that passes, and that is then what a processor works.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let session = Session::new(&store, run, &plan, Seed::new(1), &tracker).unwrap();
    alone.install(|| session.carry_out(&mut subject, false)).unwrap();
    let (took, course) = (clock() - recorder.began, progress.course());
    (recorder.told.into_inner().unwrap(), took, course)
}

/// The worst prediction as a share of what it took, from a fifth of it on, and where that was. The whole is predicted as the
/// progress bar does it: what was spent by the share that was done.
fn worst(name: &str, told: &[Told], took: f64) -> (f64, f64) {
    let late = told.iter().filter(|(after, ..)| *after > 0.2 * took);
    let errors = late.map(|(after, _, share)| (after / share / took - 1.0, after / took));
    let (error, at) = errors.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).expect("progress is told");
    println!("{name}: at most {:+.1} % off, after {:.0} %", 100.0 * error, 100.0 * at);
    (error, at)
}

/// The same words at the times of the recorded review, in which each step's work was done evenly.
fn as_recorded(name: &str, told: &[Told]) -> (Vec<Told>, f64) {
    let steps: Vec<&[Told]> = told.chunk_by(|one, next| one.1 == next.1).collect();
    let mut began = 0.0;
    for (ended, step, _) in steps.iter().filter_map(|of_step| of_step.last()) {
        println!("{name},{step},{:.1}", 1e3 * (ended - began));
        began = *ended;
    }
    let (mut retold, mut passed, mut before) = (Vec::new(), 0.0, 0.0);
    for of_step in steps {
        let (_, step, reached) = of_step.last().expect("no chunk is empty");
        let row = RECORDED.lines().find_map(|row| row.strip_prefix(&format!("{name},{step},")));
        let took: f64 = row.unwrap_or_else(|| panic!("record `{step}` on {name}")).parse().unwrap();
        let at = |share: f64| passed + took * (share - before) / (reached - before).max(1e-12);
        retold.extend(of_step.iter().map(|(_, step, share)| (at(*share), step.clone(), *share)));
        (passed, before) = (passed + took, *reached);
    }
    (retold, passed)
}

#[test]
fn the_time_left_proves_about_right_once_a_fifth_is_over() {
    let told = FIRST.map(|(name, tolerance)| (name, tolerance, reviewed(name, worked, Course::default()).0));
    for (name, tolerance, told) in told {
        let (told, took) = as_recorded(name, &told);
        let (error, at) = worst(name, &told, took);
        assert!(error.abs() <= tolerance, "{name}: {error} off at {at}");
    }
}

#[test]
fn a_run_that_goes_as_the_one_before_it_knows_its_time_left() {
    // The other test keeps measurements too.
    if testkit::process::done_apart() {
        return;
    }
    let review = |like| {
        let (told, took, course) = reviewed("x25-e-64", kept, like);
        (worst("x25-e-64", &told, took), course)
    };
    let ((unknown, _), course) = review(Course::default());
    assert!(unknown.abs() > 0.2, "what is expected is this time after all: {unknown}");
    let ((known, at), _) = review(course);
    assert!(known.abs() <= SECOND, "{known} off at {at}");
}

/// A step of every kind that needs no kernel, none of which ends before its most.
const PLAN: &str = r#"
name = "p"
repeats = 2
[workload]
rw = "randwrite"
[[step]]
name = "purge"
do = "purge"
[[step]]
name = "fill"
do = "fill"
[[step]]
name = "idle"
do = "idle"
time = "1h"
[[step]]
name = "measure"
number_ios = 1000
sweep.bs = ["4k", "64k"]
[[step]]
name = "condition"
do = "condition"
round = "1s"
at-most = "3s"
steady = false
[[step]]
name = "rounds"
do = "rounds"
number_ios = 1000
rounds = 3
rest = "1s"
pre-writes = "1s"
steady = false
[[step]]
name = "precondition"
do = "precondition"
"#;

#[test]
fn a_plan_adds_up_to_what_it_was_expected_to() {
    let mut subject = Simulated::new(Preset::find("x25-m?capacity.user=2GiB").unwrap());
    let plan = parse(PLAN, PlanLength::Full).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, "x25-m", None);
    let (store, progress) = (Mutex::new(store), Progress::of(&plan, Course::default()));
    let tracker = Tracker::new(&progress, Vec::new());
    Session::new(&store, run, &plan, Seed::new(1), &tracker).unwrap().carry_out(&mut subject, false).unwrap();
    let (done, whole) = progress.look(|snapshot| (snapshot.done.as_secs_f64(), snapshot.whole.as_secs_f64()));
    assert!(whole > 0.0 && (0.999..=1.0).contains(&(done / whole)), "{done} s of {whole} s");
    let kept = plan.steps.iter().filter_map(|step| step.work(&Site::ANY).kept());
    let kept: u64 = kept.map(|(most, _)| most).sum();
    assert_eq!((progress.look(|snapshot| snapshot.measurements), kept), (kept, 2 * 2 + 1 + 3 + 1));
}
