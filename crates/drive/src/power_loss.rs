//! What a drive loses when its power is cut.

use std::collections::VecDeque;

use block::{Lba, Nanos};
use serde::{Deserialize, Serialize};

/// What a drive loses when its power is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerLoss {
    /// Sectors that commands wrote which the drive had taken, answered or not, but that were not yet where
    /// they keep without power: for each run of them the first, and the one after the last; ascending, apart
    /// from each other. What was there before is there again.
    pub sectors: Vec<(Lba, Lba)>,
    /// Sectors of which nothing is left, whether it was flushed or not, in the same form: they read as zeroes.
    pub gone: Vec<(Lba, Lba)>,
    /// Pages of flash that were being programmed.
    pub torn: u32,
    /// Commands that will never be answered.
    pub unanswered: u32,
}

/// Runs of sectors in any order as [`PowerLoss::sectors`] has them.
pub(crate) fn joined(mut runs: Vec<(Lba, Lba)>) -> Vec<(Lba, Lba)> {
    runs.sort_unstable();
    let mut joined: Vec<(Lba, Lba)> = Vec::new();
    for (from, until) in runs.into_iter().filter(|(from, until)| from < until) {
        match joined.last_mut() {
            Some((_, last)) if *last >= from => *last = until.max(*last),
            _ => joined.push((from, until)),
        }
    }
    joined
}

/// Writes of a drive that answers them when they are on its media, in the order in which they were taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WritesInFlight {
    /// When each is there, and its sectors.
    writes: VecDeque<(Nanos, Lba, Lba)>,
}

impl WritesInFlight {
    /// Notes a write taken at `now` that is on the media at `done`.
    #[inline]
    pub fn note(&mut self, now: Nanos, done: Nanos, from: Lba, until: Lba) {
        while self.writes.front().is_some_and(|&(done, ..)| done <= now) {
            self.writes.pop_front();
        }
        self.writes.push_back((done, from, until));
    }

    /// How many are not there yet at `now`.
    pub fn count(&self, now: Nanos) -> u32 {
        self.writes.iter().filter(|(done, ..)| *done > now).count() as u32
    }

    /// The sectors that a power cut at `now` would lose, as [`PowerLoss::sectors`] has them.
    pub fn sectors(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        let mut lost: Vec<(Lba, Lba)> = Vec::new();
        for &(done, from, until) in &self.writes {
            if done > now {
                lost.push((from, until));
            } else {
                // A newer copy that was faster: what was lost before it does not matter.
                lost = lost.into_iter().flat_map(|(a, b)| [(a, b.min(from)), (a.max(until), b)]).collect();
                lost.retain(|(a, b)| a < b);
            }
        }
        joined(lost)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.writes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_overlap_or_touch_become_one() {
        let runs = |runs: &[(u64, u64)]| runs.iter().map(|&(from, until)| (Lba::new(from), Lba::new(until))).collect();
        assert_eq!(joined(runs(&[(7, 9), (0, 3), (3, 5), (8, 12), (20, 20), (8, 9)])), runs(&[(0, 5), (7, 12)]));
    }

    #[test]
    fn what_a_newer_write_has_brought_is_not_lost_with_an_older_one() {
        let (at, lba) = (Nanos::from_micros, Lba::new);
        let mut writes = WritesInFlight::default();
        for (done, from, until) in [(50, 0, 16), (20, 4, 8), (60, 6, 10)] {
            writes.note(Nanos::ZERO, at(done), lba(from), lba(until));
        }
        assert_eq!(writes.sectors(at(30)), [(lba(0), lba(4)), (lba(6), lba(16))]);
        assert_eq!(writes.sectors(at(55)), [(lba(6), lba(10))]);
        assert_eq!([10, 30, 55, 60].map(|now| writes.count(at(now))), [3, 2, 1, 0]);
        writes.note(at(70), at(80), lba(1), lba(2));
        assert_eq!((writes.sectors(at(75)), writes.writes.len()), (vec![(lba(1), lba(2))], 1));
    }
}
