//! What comes again and again with time.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// Something that comes once in each period, whether anybody looks or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Periodic {
    every: Nanos,
    /// When it comes next; later than any time if it never does.
    due: Nanos,
}

impl Periodic {
    /// First anywhere in the first period, by a `draw`; never, if there is no period.
    pub fn new(every: Option<Nanos>, draw: u32) -> Self {
        let Some(every) = every else { return Self { every: Nanos::MAX, due: Nanos::MAX } };
        let phase = (u128::from(every.as_nanos()) * u128::from(draw)) >> 32;
        Self { every, due: Nanos::from_nanos(phase as u64) }
    }

    /// When it came last, if it has since this was asked before, and how often.
    #[inline]
    pub fn last(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        if now < self.due || self.due == Nanos::MAX {
            return None;
        }
        let missed = (now - self.due).as_nanos() / self.every.as_nanos().max(1);
        let last = self.due + self.every.times(missed);
        self.due = last + self.every;
        Some((last, missed + 1))
    }

    /// When it comes next; later than any time if it never does.
    pub const fn due(&self) -> Nanos {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_once_in_each_period_and_only_the_last_of_those_missed_counts() {
        let (every, seconds) = (Nanos::from_secs(10), Nanos::from_secs);
        let mut periodic = Periodic::new(Some(every), 1 << 31);
        assert_eq!(periodic.last(seconds(4)), None);
        assert_eq!(periodic.last(seconds(6)), Some((seconds(5), 1)), "in the middle of the first");
        assert_eq!(periodic.last(seconds(14)), None);
        assert_eq!(periodic.last(seconds(15)), Some((seconds(15), 1)));
        assert_eq!(periodic.last(seconds(58)), Some((seconds(55), 4)));
        assert_eq!(periodic.due(), seconds(65));
        assert_eq!(Periodic::new(None, 7).last(Nanos::MAX), None, "never");
    }
}
