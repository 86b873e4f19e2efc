//! Whether the time left that a watcher is told proves right.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support;
use assay_lab::plan::{Length, catalog, parse};
use assay_lab::{Course, Session, Simulated, Timed, Watch};
use block::{Nanos, Seed};
use drive::Drive;
use drive::preset::Preset;
use engine::Measurement;
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

/// How many requests measurements were kept of.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// A clock that goes as requests are kept: quite another time than the one expected, and the same in each run.
fn kept() -> f64 {
    KEPT.load(Ordering::Relaxed) as f64
}

/// Notes at what time, and in which step, how much of the whole was said to be done.
struct Recorder {
    clock: fn() -> f64,
    began: f64,
    whole: Mutex<Nanos>,
    done: Mutex<Nanos>,
    step: Mutex<String>,
    told: Mutex<Vec<Told>>,
}

/// After how many seconds, in which step, what share was done.
type Told = (f64, String, f64);

impl Watch for Recorder {
    fn begin(&self, whole: Nanos) {
        *self.whole.lock().unwrap() = whole;
    }

    fn step(&self, title: &str) {
        *self.step.lock().unwrap() = title.to_owned();
    }

    fn advance(&self, done: Nanos) {
        let mut sum = self.done.lock().unwrap();
        *sum += done;
        let share = sum.as_secs_f64() / self.whole.lock().unwrap().as_secs_f64();
        let told = ((self.clock)() - self.began, self.step.lock().unwrap().clone(), share);
        self.told.lock().unwrap().push(told);
    }

    fn kept(&self, _: &str, _: &str, measurement: &Measurement) {
        KEPT.fetch_add(measurement.requests(), Ordering::Relaxed);
    }
}

/// A short review of this drive: what was told, how long all of it took, and how it went.
fn reviewed(name: &str, clock: fn() -> f64, like: Course) -> (Vec<Told>, f64, Course) {
    let source = catalog::find("review").unwrap();
    let mut subject = Simulated::new(Preset::find(name).unwrap());
    let capacity = Preset::find(name).unwrap().build().shape().capacity;
    let plan = parse(&source.text, Length::of(true, true)).unwrap().on(capacity);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, name, None);
    let (store, [whole, done]) = (Mutex::new(store), [Mutex::default(), Mutex::default()]);
    let (step, told) = (Mutex::default(), Mutex::default());
    let recorder = Recorder { clock, began: clock(), whole, done, step, told };
    let timed = Timed::by(clock, &recorder, like);
    // One thread does all, because what is expected is the time that passes, and that is then what a processor works.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let session = Session::new(&store, run, &plan, Seed::new(1), &timed).unwrap();
    alone.install(|| session.carry_out(&mut subject, false)).unwrap();
    let (took, course) = (clock() - recorder.began, timed.course());
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
