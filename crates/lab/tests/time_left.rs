//! Whether the time left that a watcher is told proves right.

mod support;

use std::sync::Mutex;
use std::time::Duration;

use assay_lab::plan::{Length, catalog, parse};
use assay_lab::{Course, Session, Simulated, Timed, Watch};
use block::{Nanos, Seed};
use drive::Drive;
use drive::preset::Preset;
use rustix::time::{ClockId, clock_gettime};
use store::Store;

/// How far a prediction may be off on a drive that is reviewed for the first time, and on one that was reviewed before.
const TOLERANCES: [(&str, f64, f64); 2] = [("x25-m", 0.25, 0.10), ("x25-e-64", 0.25, 0.10)];

/// What the processors have done for this process: unlike the time that passes, it depends little on what else a machine
/// does.
fn worked() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    (Duration::from_secs(spent.tv_sec as u64) + Duration::from_nanos(spent.tv_nsec as u64)).as_secs_f64()
}

/// Notes after how much work how much of the whole was said to be done.
struct Recorder {
    began: f64,
    whole: Mutex<Nanos>,
    done: Mutex<Nanos>,
    told: Mutex<Vec<(f64, f64)>>,
}

impl Watch for Recorder {
    fn begin(&self, whole: Nanos) {
        *self.whole.lock().unwrap() = whole;
    }

    fn step(&self, _: &str) {}

    fn advance(&self, done: Nanos) {
        let mut sum = self.done.lock().unwrap();
        *sum += done;
        let share = sum.as_secs_f64() / self.whole.lock().unwrap().as_secs_f64();
        self.told.lock().unwrap().push((worked() - self.began, share));
    }
}

/// The worst prediction of a short review on this drive, as a share of what it took, from a fifth of it on; where that was;
/// and how the review went.
fn worst(name: &str, like: Course) -> (f64, f64, Course) {
    let source = catalog::find("review").unwrap();
    let mut subject = Simulated::new(Preset::find(name).unwrap());
    let capacity = Preset::find(name).unwrap().build().shape().capacity;
    let plan = parse(&source.text, Length::of(true, true)).unwrap().on(capacity);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, name, None);
    let (store, [whole, done]) = (Mutex::new(store), [Mutex::default(), Mutex::default()]);
    let recorder = Recorder { began: worked(), whole, done, told: Mutex::default() };
    let timed = Timed::by(worked, &recorder, like);
    Session::new(&store, run, &plan, Seed::new(1), &timed).unwrap().carry_out(&mut subject, false).unwrap();
    let (took, course) = (worked() - recorder.began, timed.course());
    let told = recorder.told.into_inner().unwrap();
    let late = told.iter().filter(|(after, _)| *after > 0.2 * took);
    let errors = late.map(|(after, share)| (after / share / took - 1.0, after / took));
    let (error, at) = errors.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).expect("progress is told");
    (error, at, course)
}

/// As the progress bar has it, the whole takes what was spent divided by the share that was done.
///
/// One thread does all, because what is expected is the time that passes, and that is then what a processor works.
#[test]
fn the_time_left_proves_right_once_a_fifth_is_over_and_more_so_the_second_time() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (name, first, second) in TOLERANCES {
        // Another process can still empty the processors' caches or hold one part up, so there is more than one chance.
        let mut tries = (0..8).map(|_| {
            let (unknown, early, course) = alone.install(|| worst(name, Course::default()));
            let (known, late, _) = alone.install(|| worst(name, course));
            println!(
                "{name}: {:+.1} % off after {:.0} %, the second time {:+.1} % after {:.0} %",
                100.0 * unknown,
                100.0 * early,
                100.0 * known,
                100.0 * late
            );
            (unknown, known)
        });
        assert!(tries.any(|(unknown, known)| unknown.abs() <= first && known.abs() <= second), "{name}");
    }
}
