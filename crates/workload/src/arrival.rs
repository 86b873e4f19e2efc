//! When requests come.

use block::{Nanos, Seed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::Workload;

/// When requests come: as soon as there is room in the queue, after time to think, or at a rate of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// How long a worker pauses once all of a burst is completed; none for no pauses \[`thinktime`\].
    pub think: Nanos,
    /// Requests in a burst \[`thinktime_blocks`\].
    pub burst: u32,
    /// Requests that come to each worker in a second, however many are waiting; zero for as many as the queue
    /// takes \[`rate_iops`\].
    pub rate: u32,
    /// How they are spread over the second \[`rate_process`\].
    pub process: ArrivalProcess,
}

impl Default for Arrival {
    /// A closed loop: the next request comes when one is completed.
    fn default() -> Self {
        Self { think: Nanos::ZERO, burst: 1, rate: 0, process: ArrivalProcess::Linear }
    }
}

impl Arrival {
    /// Whether requests come at a rate of their own, so that latency counts from when they come.
    pub const fn is_open(&self) -> bool {
        self.rate > 0
    }

    /// Whether the next request comes whenever one is completed.
    pub fn is_closed(&self) -> bool {
        self.rate == 0 && self.think == Nanos::ZERO
    }
}

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Evenly.
    #[default]
    Linear,
    /// Independently of each other, as those of many users are.
    Poisson,
}

/// The endless row of times at which requests come to one worker, from the beginning of the run.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: ArrivalProcess,
    /// Even ones: which is next, counted over all workers in turn, and how many come to all in a second.
    turn: u64,
    workers: u64,
    together: u64,
    /// Random ones: the mean gap, and when the last came.
    gap: f64,
    last: Nanos,
    random: Xoshiro256PlusPlus,
}

impl Arrivals {
    /// Those of worker number `worker`; none where requests do not come at a rate.
    ///
    /// Even arrivals of several workers alternate, so that together they are even too.
    pub fn new(workload: &Workload, worker: u32, seed: Seed) -> Option<Self> {
        let Arrival { rate, process, .. } = workload.arrival;
        let seed = seed.number(u64::from(worker)).split("arrivals");
        workload.arrival.is_open().then(|| Self {
            process,
            turn: u64::from(worker),
            workers: u64::from(workload.workers),
            together: u64::from(rate) * u64::from(workload.workers),
            gap: 1e9 / f64::from(rate),
            last: Nanos::ZERO,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        })
    }

    /// When the next request comes.
    pub fn next_arrival(&mut self) -> Nanos {
        match self.process {
            ArrivalProcess::Linear => {
                let at = u128::from(self.turn) * 1_000_000_000 / u128::from(self.together);
                self.turn += self.workers;
                Nanos::from_nanos(at as u64)
            }
            ArrivalProcess::Poisson => {
                let even: f64 = self.random.random();
                self.last += Nanos::from_nanos((-(1.0 - even).ln() * self.gap).round() as u64);
                self.last
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(rate: u32, process: ArrivalProcess, workers: u32, worker: u32) -> Vec<u64> {
        let arrival = Arrival { rate, process, ..Arrival::default() };
        let workload = Workload { arrival, workers, ..Workload::default() };
        let mut arrivals = Arrivals::new(&workload, worker, Seed::new(7)).unwrap();
        (0..100_000).map(|_| arrivals.next_arrival().as_nanos()).collect()
    }

    #[test]
    fn even_arrivals_are_exact_and_workers_alternate() {
        let (first, second) = (arrivals(3, ArrivalProcess::Linear, 2, 0), arrivals(3, ArrivalProcess::Linear, 2, 1));
        assert_eq!(first[..4], [0, 333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(second[..3], [166_666_666, 500_000_000, 833_333_333]);
        assert_eq!(first[99_999], 33_333_000_000_000, "no rounding adds up");
    }

    #[test]
    fn random_arrivals_have_the_mean_and_spread_of_a_poisson_process() {
        let arrivals = arrivals(1000, ArrivalProcess::Poisson, 1, 0);
        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.02 && (deviation / 1e6 - 1.0).abs() < 0.02, "{mean} ± {deviation} ns");
        let longer = gaps.iter().filter(|&&gap| gap > 2e6).count() as f64 / gaps.len() as f64;
        assert!((longer - (-2_f64).exp()).abs() < 0.005, "{longer} of the gaps are longer than twice the mean");
    }

    #[test]
    fn workers_have_random_arrivals_of_their_own_and_seeds_repeat_them() {
        let of = |worker| arrivals(1000, ArrivalProcess::Poisson, 2, worker);
        assert_ne!(of(0), of(1));
        assert_eq!(of(1), of(1));
    }

    #[test]
    fn a_closed_loop_has_no_arrivals() {
        assert!(Arrivals::new(&Workload::default(), 0, Seed::new(1)).is_none());
        assert!(Arrival::default().is_closed());
    }
}
