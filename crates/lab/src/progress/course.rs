//! When how much of a run was done, which says how long the rest of another like it takes.

use serde::{Deserialize, Serialize};

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
    pub(super) fn passed(&self, done: f64) -> f64 {
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

/// A course while it is noted.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The shares of the work at which it was noted how many seconds had passed.
    noted: Vec<(u16, f64)>,
}

impl Log {
    /// Notes that this share of the work is done after so many seconds, if that is enough more than before.
    pub(super) fn note(&mut self, share: f64, seconds: f64) {
        let work = (share * FINE) as u16;
        if self.noted.last().is_none_or(|(last, _)| work >= last + NOTED) {
            self.noted.push((work, seconds));
        }
    }

    /// The course of a run that took so many seconds.
    pub(super) fn course(&self, took: f64) -> Course {
        let time = |seconds: f64| (seconds / took.max(1e-9) * FINE) as u16;
        Course(self.noted.iter().map(|(work, seconds)| (*work, time(*seconds))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What share of the time has passed when these shares of the work are done, both in hundredths.
    fn passed(like: &Course, done: &[u32]) -> Vec<u32> {
        done.iter().map(|done| (100.0 * like.passed(f64::from(*done) / 100.0)).round() as u32).collect()
    }

    #[test]
    fn without_an_earlier_run_the_share_of_the_work_is_that_of_the_time() {
        assert_eq!(passed(&Course::default(), &[10, 30, 100]), [10, 30, 100]);
    }

    #[test]
    fn a_run_goes_as_the_one_before_went() {
        let slow_at_first = Course(vec![(1_000, 6_000), (5_000, 8_000)]);
        assert_eq!(passed(&slow_at_first, &[5, 10, 30, 50, 100]), [30, 60, 70, 80, 100]);
    }

    #[test]
    fn a_course_holds_when_what_was_done() {
        let mut log = Log::default();
        log.note(0.9, 1.0);
        log.note(0.901, 2.0);
        log.note(1.0, 6.0);
        let course = log.course(10.0);
        assert_eq!(course, Course(vec![(9_000, 1_000), (10_000, 6_000)]));
        let text = serde_json::to_string(&course).unwrap();
        assert_eq!(serde_json::from_str::<Course>(&text).unwrap(), course, "{text}");
    }
}
