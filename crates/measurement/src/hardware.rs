//! What a run did to the host's hardware on its way to the drive.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// What a block device beneath the target did while requests were counted, by the kernel's counters. Others may have used
/// it as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUse {
    /// The kernel's name of the whole device.
    pub name: String,
    /// Requests to read that were completed.
    pub reads: u64,
    /// The same to write.
    pub writes: u64,
    /// Requests to read that were joined to others on their way.
    pub reads_merged: u64,
    /// The same to write.
    pub writes_merged: u64,
    /// How long requests to read took, all together.
    pub read_time: Nanos,
    /// The same to write.
    pub write_time: Nanos,
    /// How long requests of all kinds took, all together.
    pub queued: Nanos,
    /// For how long it had something to do.
    pub busy: Nanos,
    /// How long it was looked at.
    pub time: Nanos,
}

impl DiskUse {
    /// Share of the time in which it had something to do, in percent.
    pub fn busy_percent(&self) -> f64 {
        (100.0 * self.busy.as_secs_f64() / self.time.as_secs_f64().max(1e-3)).min(100.0)
    }

    /// Adds what was done at another time.
    fn add(&mut self, next: &Self) {
        self.reads += next.reads;
        self.writes += next.writes;
        self.reads_merged += next.reads_merged;
        self.writes_merged += next.writes_merged;
        self.read_time += next.read_time;
        self.write_time += next.write_time;
        self.queued += next.queued;
        self.busy += next.busy;
        self.time += next.time;
    }

    /// Adds what devices did at another time.
    pub(crate) fn add_all(all: &mut Vec<Self>, next: &[Self]) {
        for disk in next {
            match all.iter_mut().find(|known| known.name == disk.name) {
                Some(known) => known.add(disk),
                None => all.push(disk.clone()),
            }
        }
    }
}

/// How long submissions took: from when requests were ready until the kernel had taken them. One in some tens is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionTimes {
    /// Of reads.
    pub read: TimesSum,
    /// Of writes.
    pub write: TimesSum,
    /// Of trims.
    pub trim: TimesSum,
}

impl SubmissionTimes {
    /// Adds those of another worker or run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.trim.add(&other.trim);
    }
}

/// Times, as far as their mean and deviation need them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesSum {
    /// How many.
    pub count: u64,
    /// The shortest; zero where there is none.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// All together.
    pub total: Nanos,
    /// The sum of their squares, in square nanoseconds.
    pub squares: u64,
}

impl TimesSum {
    /// Adds so many requests that took so long each.
    pub fn record(&mut self, time: Nanos, count: u64) {
        let square = time.as_nanos().saturating_mul(time.as_nanos());
        let squares = square.saturating_mul(count);
        self.add(&Self { count, min: time, max: time, total: time.times(count), squares });
    }

    fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Their mean in nanoseconds; zero where there is none.
    pub fn mean(&self) -> f64 {
        self.total.as_nanos() as f64 / self.count.max(1) as f64
    }

    /// Their standard deviation in nanoseconds, as that of a sample.
    pub fn deviation(&self) -> f64 {
        let (count, mean) = (self.count as f64, self.mean());
        if self.count < 2 { 0.0 } else { ((self.squares as f64 - count * mean * mean).max(0.0) / (count - 1.0)).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_mean_and_a_deviation_also_when_they_come_from_two_workers() {
        let (mut one, mut other) = (TimesSum::default(), TimesSum::default());
        one.record(Nanos::from_nanos(100), 2);
        other.record(Nanos::from_nanos(400), 1);
        other.record(Nanos::from_nanos(200), 1);
        one.add(&other);
        assert_eq!((one.count, one.min, one.max), (4, Nanos::from_nanos(100), Nanos::from_nanos(400)));
        assert_eq!(one.mean(), 200.0);
        assert!((one.deviation() - 141.42).abs() < 0.01, "{}", one.deviation());
        assert_eq!((TimesSum::default().mean(), TimesSum::default().deviation()), (0.0, 0.0));
    }

    #[test]
    fn what_devices_did_adds_up_by_their_names() {
        let disk = |name: &str, busy: u64| DiskUse {
            name: name.to_owned(),
            reads: 5,
            busy: Nanos::from_millis(busy),
            time: Nanos::from_secs(1),
            ..DiskUse::default()
        };
        let mut all = vec![disk("sda", 500)];
        DiskUse::add_all(&mut all, &[disk("sda", 1000), disk("sdb", 0)]);
        assert_eq!((all.len(), all[0].reads, all[0].busy_percent()), (2, 10, 75.0));
    }
}
