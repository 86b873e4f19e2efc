//! Transactions that were done, as latencies and over time.

use block::Nanos;
use stats::{Bins, Histogram};

use crate::{Course, Figure};

/// The stretch of time in which transactions are counted together.
const SLICE: Nanos = Nanos::from_millis(100);
/// How many points a course over time has at the least, where there was time for them.
const POINTS_LEAST: usize = 20;
/// How many slices make a second.
const SECOND: usize = 10;

/// Transactions that were done, each with when it ended and how long it took.
#[derive(Debug, Default)]
pub struct Transactions {
    latencies: Histogram,
    slices: Vec<Bins>,
    /// The end of the last.
    end: Nanos,
}

impl Transactions {
    /// Adds one that ended so long after the beginning. Those of one client, or thread, come in order.
    pub fn record(&mut self, end: Nanos, latency: Nanos) {
        self.latencies.record(latency);
        self.end = self.end.max(end);
        let slice = (end.as_nanos() / SLICE.as_nanos()) as usize;
        while self.slices.len() <= slice {
            let next = self.slices.last_mut().map(Bins::close).unwrap_or_default();
            self.slices.push(next);
        }
        self.slices[slice].record(latency);
    }

    /// Adds all that `other` has.
    pub fn merge(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.end = self.end.max(other.end);
        if self.slices.len() < other.slices.len() {
            self.slices.resize_with(other.slices.len(), Bins::default);
        }
        self.slices.iter_mut().zip(&other.slices).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.latencies.count()
    }

    /// How long they took: figures of the mean, the deviation, percentiles and the longest.
    pub fn latency(&self) -> Vec<Figure> {
        let seconds = |name: &str, value: f64| Figure::less(&format!("Latency, {name}"), "s", value);
        let mut figures = vec![
            seconds("mean", self.latencies.mean() / 1e9),
            Figure { better: crate::Better::Neither, ..seconds("deviation", self.latencies.deviation() / 1e9) },
        ];
        let percentiles = [("median", 50.0), ("95 %", 95.0), ("99 %", 99.0), ("99.9 %", 99.9)];
        let of = |percent| self.latencies.percentile(percent).as_secs_f64();
        figures.extend(percentiles.map(|(name, percent)| seconds(name, of(percent))));
        figures.push(seconds("longest", self.latencies.max().as_secs_f64()));
        figures
    }

    /// How many there were in each second, or tenth of a second where there were few seconds, and how long the slowest in
    /// a hundred of them took. What came in the last stretch is left out: it was not a whole one.
    pub fn courses(&self) -> [Course; 2] {
        let width = if self.slices.len() >= POINTS_LEAST * SECOND { SECOND } else { 1 };
        let seconds = width as f64 / SECOND as f64;
        let whole = (self.end.as_nanos() / SLICE.as_nanos()) as usize / width * width;
        let groups = self.slices[..whole.min(self.slices.len())].chunks(width).map(|slices| {
            let mut all = Bins::default();
            slices.iter().for_each(|slice| all.merge(slice));
            all
        });
        let (mut rates, mut slowest) = (Vec::new(), Vec::new());
        for (index, group) in groups.enumerate() {
            let middle = (2 * index + 1) as f64 * width as f64 / (2 * SECOND) as f64;
            rates.push((middle, group.count() as f64 / seconds));
            slowest.extend(group.percentile(99.0).map(|latency| (middle, latency.as_secs_f64())));
        }
        let course = |name: &str, unit: &str, points| Course { name: name.to_owned(), unit: unit.to_owned(), points };
        [course("Transactions", "1/s", rates), course("Latency, 99 %", "s", slowest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(per_second: u64, seconds: u64) -> Transactions {
        let mut transactions = Transactions::default();
        let each = 1_000_000 / per_second;
        (1..=per_second * seconds)
            .for_each(|number| transactions.record(Nanos::from_micros(number * each - 1), Nanos::from_millis(2)));
        transactions
    }

    #[test]
    fn a_steady_rate_is_a_level_course_in_tenths_or_in_seconds() {
        for (seconds, points, first) in [(3, 29, 0.05), (30, 29, 0.5)] {
            let [rate, slowest] = steady(200, seconds).courses();
            assert_eq!(rate.points.len(), points);
            assert_eq!(rate.points[0], (first, 200.0));
            assert!(rate.points.iter().all(|(_, rate)| *rate == 200.0));
            assert!(slowest.points.iter().all(|(_, latency)| (latency / 0.002 - 1.0).abs() < 0.02));
        }
    }

    #[test]
    fn what_two_clients_did_adds_up() {
        let (mut both, other) = (steady(100, 2), steady(100, 4));
        both.merge(&other);
        assert_eq!(both.count(), 600);
        let [rate, _] = both.courses();
        assert_eq!((rate.points[5].1, rate.points[30].1), (200.0, 100.0));
        let figures = both.latency();
        assert_eq!((figures[0].name.as_str(), figures[0].value), ("Latency, mean", 0.002));
    }
}
