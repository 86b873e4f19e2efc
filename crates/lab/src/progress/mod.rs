//! How far a run has come: the one place that adds up what a session tells of itself.

mod course;
mod snapshot;
mod speed;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use block::Nanos;
use drive::Counters;
use engine::{CurveWindow, Measurement};
use rustix::time::{ClockId, clock_gettime};
use trial::Trial;

pub use self::course::Course;
use self::course::Log;
use self::snapshot::Order;
pub use self::snapshot::{Bar, Chart, Last, Snapshot};
pub use self::speed::Speed;
use crate::plan::{Plan, Site};
use crate::session::Watch;

/// Shows a run while it goes on.
pub trait Show: Sync {
    /// Something has come to be other than it was.
    fn show(&self, snapshot: &Snapshot, news: News);
}

/// What of a snapshot is other than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The work has begun: it is known how long the whole takes.
    Begun,
    /// Another step is carried out.
    Step,
    /// More is done.
    Advanced,
    /// The measurement under way has gone on.
    Live,
    /// A measurement was kept.
    Kept,
    /// A go of a trial was kept.
    Tried,
    /// There is another doubt.
    Found,
    /// The run has ended.
    Over,
}

/// What is known of a run while it goes on, for whoever looks at it when they like.
#[derive(Clone)]
pub struct Progress(Arc<Mutex<State>>);

struct State {
    snapshot: Snapshot,
    /// The cells of each step, in the plan's order.
    order: Order,
    /// Seconds since whenever.
    clock: fn() -> f64,
    began: f64,
    /// What is done of the work that was expected.
    work: Nanos,
    /// What the measurement under way had done when it was last heard of.
    heard: engine::LiveProgress,
    /// How an earlier run like it went.
    like: Course,
    log: Log,
}

/// What the machine's clock has counted, in seconds.
fn uptime() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Of work that no plan describes and that was never done before.
impl Default for Progress {
    fn default() -> Self {
        Self::by(uptime, Course::default())
    }
}

impl Progress {
    /// Of a run of `plan` that is expected to go as one `like` it did; an empty course where there was none.
    pub fn of(plan: &Plan, like: Course) -> Self {
        let progress = Self::by(uptime, like);
        let keys = plan.steps.iter().map(|step| (step.name.clone(), step.work(&Site::ANY).keys()));
        progress.state().order = keys.collect();
        progress
    }

    /// Of work without a plan, by a clock that tells seconds since whenever.
    pub fn by(clock: fn() -> f64, like: Course) -> Self {
        let state = State {
            snapshot: Snapshot::default(),
            order: Order::default(),
            clock,
            began: clock(),
            work: Nanos::ZERO,
            heard: engine::LiveProgress::default(),
            like,
            log: Log::default(),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Looks at the run as it is now, which waits meanwhile.
    pub fn look<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> T {
        let mut state = self.state();
        state.tick();
        look(&state.snapshot)
    }

    /// How the run went that ends now.
    pub fn course(&self) -> Course {
        let state = self.state();
        state.log.course((state.clock)() - state.began)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it holds how far a run is")
    }
}

impl State {
    fn tick(&mut self) {
        self.snapshot.elapsed = Duration::from_secs_f64(((self.clock)() - self.began).max(0.0));
    }

    /// More of the work is done. Its share of the time is what it was in the run before, and never less than it was.
    fn advance(&mut self, done: Nanos) {
        self.work += done;
        let whole = self.snapshot.whole;
        let share = (self.work.as_secs_f64() / whole.as_secs_f64().max(1e-9)).min(1.0);
        self.log.note(share, self.snapshot.elapsed.as_secs_f64());
        let reached = Nanos::from_nanos((whole.as_nanos() as f64 * self.like.passed(share)) as u64);
        self.snapshot.done = reached.max(self.snapshot.done);
    }
}

/// Hears what a session tells, adds it up, and has it shown.
pub struct Tracker<'a> {
    progress: Progress,
    shows: Vec<&'a dyn Show>,
}

impl<'a> Tracker<'a> {
    /// Adds up into `progress`, and tells each of `shows` of all that is new.
    pub fn new(progress: &Progress, shows: Vec<&'a dyn Show>) -> Self {
        Self { progress: progress.clone(), shows }
    }

    /// The run has ended.
    pub fn finish(&self) {
        self.take(News::Over, |state| state.snapshot.is_over = true);
    }

    /// Takes something in, and tells of it while nobody else can, so that nobody hears of less after more.
    fn take(&self, news: News, take: impl FnOnce(&mut State)) {
        let mut state = self.progress.state();
        state.tick();
        take(&mut state);
        self.shows.iter().for_each(|one| one.show(&state.snapshot, news));
    }
}

impl Watch for Tracker<'_> {
    fn begin(&self, whole: Nanos) {
        self.take(News::Begun, |state| {
            (state.began, state.snapshot.whole) = ((state.clock)(), whole);
            state.tick();
        });
    }

    fn step(&self, title: &str) {
        if self.progress.look(|snapshot| snapshot.step != title) {
            self.take(News::Step, |state| state.snapshot.begin_step(title));
        }
    }

    fn back(&self, title: &str) {
        if self.progress.look(|snapshot| snapshot.step != title) {
            self.take(News::Advanced, |state| state.snapshot.begin_step(title));
        }
    }

    fn advance(&self, done: Nanos) {
        self.take(News::Advanced, |state| state.advance(done));
    }

    fn live(&self, now: engine::LiveProgress) {
        self.take(News::Live, |state| state.snapshot.hear(&mut state.heard, now));
    }

    fn judged(&self, rounds: u32, window: Option<CurveWindow>) {
        self.take(News::Live, |state| (state.snapshot.curve.rounds, state.snapshot.curve.window) = (rounds, window));
    }

    fn did(&self, counters: Counters) {
        self.take(News::Advanced, |state| state.snapshot.counters = Some(counters));
    }

    fn had(&self, repeats: u64) {
        self.take(News::Advanced, |state| state.snapshot.measurements = repeats);
    }

    fn kept(&self, step: &str, cell: &str, measurement: &Measurement) {
        self.take(News::Kept, |state| state.snapshot.keep(step, cell, measurement, &state.order));
    }

    fn tried(&self, step: &str, cell: &str, trial: &Trial) {
        self.take(News::Tried, |state| state.snapshot.try_out(step, cell, trial, &state.order));
    }

    fn found(&self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        self.take(News::Found, |state| state.snapshot.find(step, cell, finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps all that it is shown of how much is done.
    #[derive(Default)]
    struct Shown(Mutex<Vec<(News, u64)>>);

    impl Show for Shown {
        fn show(&self, snapshot: &Snapshot, news: News) {
            self.0.lock().unwrap().push((news, snapshot.done.as_nanos() / 1_000_000_000));
        }
    }

    #[test]
    fn more_work_than_was_expected_moves_nothing_back_or_past_the_end() {
        let like: Course = serde_json::from_str("[[9000, 2000], [10000, 5000], [10000, 9000]]").unwrap();
        let (progress, shown) = (Progress::by(|| 0.0, like), Shown::default());
        let tracker = Tracker::new(&progress, vec![&shown]);
        tracker.begin(Nanos::from_secs(100));
        [90, 10, 40].into_iter().for_each(|part| tracker.advance(Nanos::from_secs(part)));
        tracker.finish();
        let advanced = |done| (News::Advanced, done);
        let told = shown.0.lock().unwrap().clone();
        assert_eq!(told, [(News::Begun, 0), advanced(20), advanced(50), advanced(50), (News::Over, 50)]);
        assert!(progress.look(|snapshot| snapshot.is_over));
    }
}
