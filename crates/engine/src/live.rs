//! The latencies of the latest interval, told while a run goes on.

use std::sync::{Mutex, MutexGuard};

use block::Nanos;
use stats::Bins;

/// How long the requests of the latest whole interval took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lately {
    /// What half of them did not exceed, within 1.6 %.
    pub median: Nanos,
    /// What 99 % of them did not exceed, within 1.6 %.
    pub p99: Nanos,
}

impl Lately {
    /// Of these latencies; none where there are none.
    pub(crate) fn of(latencies: &Bins) -> Option<Self> {
        Some(Self { median: latencies.percentile(50.0)?, p99: latencies.percentile(99.0)? })
    }
}

/// What the workers of a job tell of each interval as it ends.
#[derive(Default)]
pub(crate) struct LiveMeter {
    latest: Mutex<(usize, Bins)>,
}

impl LiveMeter {
    /// Takes in what one worker completed in an interval.
    pub fn tell(&self, interval: usize, latencies: &Bins) {
        let mut latest = self.latest();
        if interval > latest.0 {
            *latest = (interval, latencies.clone());
        } else if interval == latest.0 {
            latest.1.merge(latencies);
        }
    }

    /// Adds what was told of the latest interval to `latencies`.
    pub fn add_to(&self, latencies: &mut Bins) {
        latencies.merge(&self.latest().1);
    }

    fn latest(&self) -> MutexGuard<'_, (usize, Bins)> {
        self.latest.lock().expect("nothing panics while it holds them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: &[u64]) -> Bins {
        let mut bins = Bins::default();
        micros.iter().for_each(|&us| bins.record(Nanos::from_micros(us)));
        bins
    }

    #[test]
    fn the_latest_interval_of_all_workers_counts_and_late_tellers_of_others_do_not() {
        let live = LiveMeter::default();
        let told = || {
            let mut latencies = Bins::default();
            live.add_to(&mut latencies);
            latencies
        };
        assert_eq!(Lately::of(&told()), None);
        live.tell(0, &of(&[10]));
        live.tell(0, &of(&[20, 30]));
        assert_eq!(told(), of(&[10, 20, 30]));
        live.tell(1, &of(&[40]));
        live.tell(0, &of(&[50]));
        assert_eq!(told(), of(&[40]));
        live.tell(3, &of(&[]));
        assert_eq!(Lately::of(&told()), None, "nothing was completed in it");
    }
}
