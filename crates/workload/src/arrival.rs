//! When requests come.

use block::{Bytes, Nanos, Seed};
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
    /// The data of those requests in a second, where that is given in place of their number \[`rate`\].
    #[serde(default, skip_serializing_if = "crate::spec::is_nothing")]
    pub bandwidth: Bytes,
    /// How they are spread over the second \[`rate_process`\].
    pub process: ArrivalProcess,
}

impl Default for Arrival {
    /// A closed loop: the next request comes when one is completed.
    fn default() -> Self {
        Self { think: Nanos::ZERO, burst: 1, rate: 0, bandwidth: Bytes::ZERO, process: ArrivalProcess::Linear }
    }
}

impl Arrival {
    /// Whether requests come at a rate of their own, so that latency counts from when they come.
    pub fn is_open(&self) -> bool {
        self.rate > 0 || self.bandwidth > Bytes::ZERO
    }

    /// Whether the next request comes whenever one is completed.
    pub fn is_closed(&self) -> bool {
        !self.is_open() && self.think == Nanos::ZERO
    }

    /// How many requests of this mean size come to each worker in a second.
    pub fn requests_a_second(&self, mean: f64) -> f64 {
        if self.rate > 0 { f64::from(self.rate) } else { self.bandwidth.get() as f64 / mean }
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

/// No request comes later, more than a hundred years on.
const LATEST: Nanos = Nanos::from_nanos(u64::MAX / 4);

/// The endless row of times at which requests come to one worker, from the beginning of the run.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: ArrivalProcess,
    /// Whether each request counts as much as it is long, and not as one.
    by_size: bool,
    /// How many of these come to all workers in a second.
    together: u128,
    workers: u64,
    /// Even ones: how many come to all workers before the next.
    before: u128,
    /// When the next comes.
    next: Nanos,
    random: Xoshiro256PlusPlus,
}

impl Arrivals {
    /// Those of worker number `worker`; none where requests do not come at a rate.
    ///
    /// Even arrivals of several workers alternate, so that together they are even too.
    pub fn new(workload: &Workload, worker: u32, seed: Seed) -> Option<Self> {
        let Arrival { rate, bandwidth, process, .. } = workload.arrival;
        let seed = seed.number(u64::from(worker)).split("arrivals");
        let (workers, by_size) = (u64::from(workload.workers), rate == 0);
        let mut arrivals = workload.arrival.is_open().then(|| Self {
            process,
            by_size,
            together: u128::from(workers) * if by_size { u128::from(bandwidth.get()) } else { u128::from(rate) },
            workers,
            before: 0,
            next: Nanos::ZERO,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        })?;
        match process {
            ArrivalProcess::Linear => arrivals.step(arrivals.weight(workload.block_mean()) * u128::from(worker)),
            ArrivalProcess::Poisson => arrivals.pass(workload.block_mean()),
        }
        Some(arrivals)
    }

    /// When the next request comes.
    pub const fn next(&self) -> Nanos {
        self.next
    }

    /// Goes on to the request that follows one of this size.
    pub fn pass(&mut self, size: Bytes) {
        let weight = self.weight(size) * u128::from(self.workers);
        match self.process {
            ArrivalProcess::Linear => self.step(weight),
            ArrivalProcess::Poisson => {
                let even: f64 = self.random.random();
                let gap = 1e9 * weight as f64 / self.together as f64;
                self.next =
                    LATEST.min(self.next + LATEST.min(Nanos::from_nanos((-(1.0 - even).ln() * gap).round() as u64)));
            }
        }
    }

    fn weight(&self, size: Bytes) -> u128 {
        if self.by_size { u128::from(size.get()) } else { 1 }
    }

    fn step(&mut self, weight: u128) {
        self.before += weight;
        let next = self.before.saturating_mul(1_000_000_000) / self.together;
        self.next = LATEST.min(Nanos::from_nanos(u64::try_from(next).unwrap_or(u64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(rate: u32, process: ArrivalProcess, workers: u32, worker: u32) -> Vec<u64> {
        let arrival = Arrival { rate, process, ..Arrival::default() };
        let workload = Workload { arrival, workers, ..Workload::default() };
        let mut arrivals = Arrivals::new(&workload, worker, Seed::new(7)).unwrap();
        times(&mut arrivals, &[Bytes::from_kib(4)]).take(100_000).collect()
    }

    /// When requests come of these sizes, again and again.
    fn times<'a>(arrivals: &'a mut Arrivals, sizes: &'a [Bytes]) -> impl Iterator<Item = u64> + 'a {
        sizes.iter().cycle().map(|size| {
            let at = arrivals.next().as_nanos();
            arrivals.pass(*size);
            at
        })
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
    fn data_comes_at_its_rate_whatever_the_sizes_and_below_one_request_a_second() {
        let at = |worker, process, sizes: &[u64]| {
            let arrival = Arrival { bandwidth: Bytes::from_mib(1), process, ..Arrival::default() };
            let workload = Workload { arrival, workers: 2, block: Bytes::from_mib(4), ..Workload::default() };
            let sizes: Vec<Bytes> = sizes.iter().map(|&size| Bytes::from_mib(size)).collect();
            let mut arrivals = Arrivals::new(&workload, worker, Seed::new(7)).unwrap();
            times(&mut arrivals, &sizes).take(10_000).collect::<Vec<u64>>()
        };
        let second = 1_000_000_000;
        assert_eq!(at(0, ArrivalProcess::Linear, &[4, 1])[..4], [0, 4 * second, 5 * second, 9 * second]);
        assert_eq!(at(1, ArrivalProcess::Linear, &[4])[..2], [2 * second, 6 * second], "workers alternate");
        let random = at(0, ArrivalProcess::Poisson, &[4, 1]);
        let mean = (random[9_999] - random[0]) as f64 / 9_999.0 / second as f64;
        assert!((mean - 2.5).abs() < 0.1, "{mean} s between requests of 2.5 MiB in the mean");
    }

    #[test]
    fn no_rate_is_too_high_or_too_low_to_be_counted() {
        for (bandwidth, process) in
            [(1 << 60, ArrivalProcess::Linear), (1, ArrivalProcess::Linear), (1, ArrivalProcess::Poisson)]
        {
            let arrival = Arrival { bandwidth: Bytes::new(bandwidth), process, ..Arrival::default() };
            let workload = Workload { arrival, workers: 16, block: Bytes::from_gib(2), ..Workload::default() };
            let mut arrivals = Arrivals::new(&workload, 15, Seed::new(7)).unwrap();
            let times: Vec<u64> = times(&mut arrivals, &[Bytes::from_gib(2)]).take(1_000).collect();
            assert!(times.is_sorted() && times[999] <= u64::MAX / 4 && times[999] > times[0], "{bandwidth}");
        }
    }

    #[test]
    fn a_closed_loop_has_no_arrivals() {
        assert!(Arrivals::new(&Workload::default(), 0, Seed::new(1)).is_none());
        assert!(Arrival::default().is_closed());
    }
}
