//! When how much of a run was done, which says how long the rest of another like it takes.

use std::sync::{Mutex, MutexGuard};

use block::Nanos;
use engine::{Measurement, Progress};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use trial::Trial;

use crate::session::Watch;

/// How finely a course is kept, and what it counts in: this many make a whole.
const FINE: f64 = 10_000.0;
/// How much more must be done before it is noted again, of [`FINE`].
const NOTED: u16 = 20;

/// What had passed of the whole time when so much of the expected work was done.
///
/// Simulated or real, a plan that is carried out again on the same target by the same program takes its time as it did,
/// however far that was from what had been expected. Only shares are kept, so that neither a faster machine nor a busy one
/// makes them wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Course(
    /// Work and time, each of [`FINE`] and never less than before.
    Vec<(u16, u16)>,
);

impl Course {
    /// The share of the time that has passed when this share of the work is done; the same share where nothing is known.
    fn passed(&self, done: f64) -> f64 {
        let share = |(work, time): (u16, u16)| (f64::from(work) / FINE, f64::from(time) / FINE);
        let next = self.0.partition_point(|one| share(*one).0 < done);
        let before = next.checked_sub(1).map_or((0.0, 0.0), |last| share(self.0[last]));
        let after = self.0.get(next).map_or((1.0, 1.0), |one| share(*one));
        if after.0 <= before.0 {
            return after.1;
        }
        before.1 + (after.1 - before.1) * ((done - before.0) / (after.0 - before.0)).clamp(0.0, 1.0)
    }
}

/// Notes the course of a run, and tells a watcher shares of its time in place of shares of its work.
pub struct Timed<'a> {
    watch: &'a dyn Watch,
    /// How an earlier run like it went.
    like: Course,
    /// Seconds since whenever.
    clock: fn() -> f64,
    state: Mutex<State>,
}

/// What the machine's clock has counted, in seconds.
fn uptime() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

struct State {
    began: f64,
    whole: Nanos,
    done: Nanos,
    /// What the watcher knows.
    told: Nanos,
    /// The shares of the work at which it was noted how many seconds had passed.
    noted: Vec<(u16, f64)>,
}

impl State {
    fn share(&self) -> f64 {
        (self.done.as_secs_f64() / self.whole.as_secs_f64().max(1e-9)).min(1.0)
    }
}

impl<'a> Timed<'a> {
    /// For a run that is expected to go as one `like` it did; an empty course where there was none.
    pub fn new(watch: &'a dyn Watch, like: Course) -> Self {
        Self::by(uptime, watch, like)
    }

    /// The same by a clock that tells seconds since whenever.
    pub fn by(clock: fn() -> f64, watch: &'a dyn Watch, like: Course) -> Self {
        let state =
            State { began: clock(), whole: Nanos::ZERO, done: Nanos::ZERO, told: Nanos::ZERO, noted: Vec::new() };
        Self { watch, like, clock, state: Mutex::new(state) }
    }

    /// How the run went that ends now.
    pub fn course(&self) -> Course {
        let state = self.state();
        let took = ((self.clock)() - state.began).max(1e-9);
        Course(state.noted.iter().map(|(work, seconds)| (*work, (seconds / took * FINE) as u16)).collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds how far a run is")
    }
}

impl Watch for Timed<'_> {
    fn begin(&self, whole: Nanos) {
        {
            let mut state = self.state();
            (state.began, state.whole) = ((self.clock)(), whole);
        }
        self.watch.begin(whole);
    }

    fn step(&self, title: &str) {
        self.watch.step(title);
    }

    fn advance(&self, done: Nanos) {
        let mut state = self.state();
        state.done += done;
        let share = state.share();
        let work = (share * FINE) as u16;
        if state.noted.last().is_none_or(|(last, _)| work >= last + NOTED) {
            let seconds = (self.clock)() - state.began;
            state.noted.push((work, seconds));
        }
        let reached = Nanos::from_nanos((state.whole.as_nanos() as f64 * self.like.passed(share)) as u64);
        let more = reached.since(state.told);
        state.told += more;
        // Told while nobody else can, so that the watcher never hears of less after more.
        self.watch.advance(more);
    }

    fn live(&self, progress: Progress) {
        self.watch.live(progress);
    }

    fn kept(&self, step: &str, cell: &str, measurement: &Measurement) {
        self.watch.kept(step, cell, measurement);
    }

    fn tried(&self, step: &str, cell: &str, trial: &Trial) {
        self.watch.tried(step, cell, trial);
    }

    fn found(&self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        self.watch.found(step, cell, finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps the sum of what it is told.
    #[derive(Default)]
    struct Sum(Mutex<Nanos>);

    impl Watch for Sum {
        fn begin(&self, _: Nanos) {}

        fn step(&self, _: &str) {}

        fn advance(&self, done: Nanos) {
            *self.0.lock().unwrap() += done;
        }
    }

    /// What a watcher has heard after each of these parts of a work of 100 s.
    fn told(like: Course, parts: &[u64]) -> Vec<u64> {
        let sum = Sum::default();
        let timed = Timed::new(&sum, like);
        timed.begin(Nanos::from_secs(100));
        let mut after = |part: &u64| {
            timed.advance(Nanos::from_secs(*part));
            sum.0.lock().unwrap().as_nanos() / 1_000_000_000
        };
        parts.iter().map(&mut after).collect()
    }

    #[test]
    fn without_an_earlier_run_the_share_of_the_work_is_that_of_the_time() {
        assert_eq!(told(Course::default(), &[10, 20, 70]), [10, 30, 100]);
    }

    #[test]
    fn a_run_goes_as_the_one_before_went() {
        let slow_at_first = Course(vec![(1_000, 6_000), (5_000, 8_000)]);
        assert_eq!(told(slow_at_first, &[5, 5, 20, 20, 50]), [30, 60, 70, 80, 100]);
    }

    #[test]
    fn more_work_than_was_expected_moves_nothing_back_or_past_the_end() {
        let course = Course(vec![(9_000, 2_000), (10_000, 5_000), (10_000, 9_000)]);
        assert_eq!(told(course, &[90, 10, 40]), [20, 50, 50]);
    }

    #[test]
    fn a_course_holds_when_what_was_done() {
        let timed = Timed::new(&crate::Silent, Course::default());
        timed.begin(Nanos::from_secs(10));
        timed.advance(Nanos::from_secs(9));
        std::thread::sleep(std::time::Duration::from_millis(60));
        timed.advance(Nanos::from_secs(1));
        let course = timed.course();
        let [(9_000, early), (10_000, late)] = course.0[..] else { panic!("{course:?}") };
        assert!(early < late && late > 5_000, "{course:?}");
        let text = serde_json::to_string(&course).unwrap();
        assert_eq!(serde_json::from_str::<Course>(&text).unwrap(), course, "{text}");
    }
}
