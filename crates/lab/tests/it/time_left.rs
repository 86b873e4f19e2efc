//! Whether the time left that a watcher is told proves right, and all of the work is told of.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::support;
use assay_lab::plan::{Length, Site, catalog, parse};
use assay_lab::{Course, News, Progress, Session, Show, Simulated, Snapshot, Tracker};
use block::Seed;
use drive::Drive;
use drive::preset::Preset;
use rustix::time::{ClockId, clock_gettime};
use store::Store;

/// How far a prediction may be off on a drive that is reviewed for the first time, by a build for tests, in which all but
/// the drive takes longer than what is expected. A machine whose speed changes from one second to the next, as one does
/// that others share, makes any prediction worse, so the best of some counts.
const FIRST: [(&str, f64); 2] = [("x25-m", 0.6), ("x25-e-64", 0.6)];
const TRIES: usize = 8;
/// How far it may be off the second time, where nothing but how finely a course is kept can be to blame.
const SECOND: f64 = 0.05;

/// What the processors have done for this process: unlike the time that passes, it depends little on what else a machine
/// does.
fn worked() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    (Duration::from_secs(spent.tv_sec as u64) + Duration::from_nanos(spent.tv_nsec as u64)).as_secs_f64()
}

/// Held by the test that counts: both count what all of this process does.
static COUNTS: Mutex<()> = Mutex::new(());

/// How much data measurements were kept of.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// A clock that goes as measurements are kept: quite another time than the one expected, and the same in each run.
fn kept() -> f64 {
    KEPT.load(Ordering::Relaxed) as f64
}

/// Notes at what time how much of the whole was said to be done.
struct Recorder {
    clock: fn() -> f64,
    began: f64,
    told: Mutex<Vec<(f64, f64)>>,
}

impl Show for Recorder {
    fn show(&self, snapshot: &Snapshot, news: News) {
        match (news, snapshot.share(), snapshot.counters) {
            (News::Advanced, Some(share), _) => {
                self.told.lock().unwrap().push(((self.clock)() - self.began, share));
            }
            (News::Kept, _, Some(did)) => KEPT.store((did.host_read + did.host_written).get(), Ordering::Relaxed),
            _ => {}
        }
    }
}

/// The worst prediction of a short review on this drive, as a share of what it took, from a fifth of it on; where that was;
/// and how the review went. The whole is predicted as the progress bar does it: what was spent by the share that was done.
fn worst(name: &str, clock: fn() -> f64, like: Course) -> (f64, f64, Course) {
    let source = catalog::find("review").unwrap();
    let mut subject = Simulated::new(Preset::find(name).unwrap());
    let capacity = Preset::find(name).unwrap().build().shape().capacity;
    let plan = parse(&source.text, Length::of(true, true)).unwrap().on(capacity);
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
    let told = recorder.told.into_inner().unwrap();
    let late = told.iter().filter(|(after, _)| *after > 0.2 * took);
    let errors = late.map(|(after, share)| (after / share / took - 1.0, after / took));
    let (error, at) = errors.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).expect("progress is told");
    println!("{name}: at most {:+.1} % off, after {:.0} %", 100.0 * error, 100.0 * at);
    (error, at, course)
}

#[test]
fn the_time_left_proves_about_right_once_a_fifth_is_over() {
    let _counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, tolerance) in FIRST {
        let mut tries = (0..TRIES).map(|_| worst(name, worked, Course::default()).0);
        assert!(tries.any(|error| error.abs() <= tolerance), "{name}");
    }
}

#[test]
fn a_run_that_goes_as_the_one_before_it_knows_its_time_left() {
    let _counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (unknown, _, course) = worst("x25-e-64", kept, Course::default());
    assert!(unknown.abs() > 0.2, "what is expected is this time after all: {unknown}");
    let (known, at, _) = worst("x25-e-64", kept, course);
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
    let _counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut subject = Simulated::new(Preset::find("x25-m?capacity.user=2GiB").unwrap());
    let plan = parse(PLAN, Length::Full).unwrap();
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
