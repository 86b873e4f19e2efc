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

/// How far a prediction may be off.
const TOLERANCE: f64 = 0.1;
/// How far the best may be off where no prediction was within that.
const ON_A_BUSY_MACHINE: f64 = 0.15;
/// Flash with little to spare and with much, and a disk, on which nearly all that is simulated is the fill.
const DRIVES: [&str; 3] = ["x25-m", "x25-e-64", "nearline-7200"];

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
        *self.done.lock().unwrap() += done;
    }

    fn expect(&self, whole: Nanos) {
        *self.whole.lock().unwrap() = whole;
        let share = self.done.lock().unwrap().as_secs_f64() / whole.as_secs_f64();
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
fn the_time_left_proves_right_once_a_fifth_is_over() {
    for name in DRIVES {
        // Another process can still empty the processors' caches, so a bad prediction has more than one chance.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mut best = (f64::INFINITY, 0.0);
        for _ in 0..6 {
            let found = alone.install(|| worst(name));
            best = if found.0.abs() < best.0.abs() { found } else { best };
            if best.0.abs() <= TOLERANCE {
                break;
            }
        }
        let (error, at) = best;
        println!("{name}: at most {:+.1} % off, after {:.0} %", 100.0 * error, 100.0 * at);
        assert!(error.abs() <= ON_A_BUSY_MACHINE, "{name}: {:+.1} % off after {:.0} %", 100.0 * error, 100.0 * at);
    }
}
