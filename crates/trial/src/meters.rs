//! What the processors and the drive did meanwhile, by the kernel's counters.

use std::fs;
use std::path::Path;
use std::time::Instant;

use block::{Bytes, Nanos};

use crate::{Stage, TrialError};

/// The kernel's counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meters {
    /// Ticks of all processors: user, nice, system, idle, waiting for I/O, interrupts, soft interrupts, stolen.
    cpu: [u64; 8],
    /// Reads, merged, sectors, milliseconds; the same for writes; in flight, milliseconds busy, weighted; the same four
    /// for discards; flushes, milliseconds.
    /// Source: Linux, Documentation/block/stat.rst. A kernel that counts fewer has zeros.
    drive: [u64; 17],
    /// Whether the kernel counts flushes.
    counts_flushes: bool,
    at: Instant,
}

/// What was done between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Share of all processors' time in programs, in percent.
    pub user: f64,
    /// The same in the kernel, with interrupts.
    pub system: f64,
    /// The same idle while a request to a drive was under way.
    pub waiting: f64,
    /// Requests for data to the drive.
    pub reads: u64,
    /// Data that was read from the drive.
    pub bytes_read: Bytes,
    /// Requests to write to the drive.
    pub writes: u64,
    /// Data that was written to the drive.
    pub bytes_written: Bytes,
    /// Flushes of the drive's cache; none where the kernel does not count them.
    pub flushes: Option<u64>,
    /// For how long the drive had something to do.
    pub busy: Nanos,
    /// How long it is from one moment to the other.
    pub time: Nanos,
}

impl Usage {
    /// Share of the time in which the drive had something to do, in percent.
    pub fn busy_percent(&self) -> f64 {
        (100.0 * self.busy.as_secs_f64() / self.time.as_secs_f64().max(1e-3)).min(100.0)
    }
}

impl Meters {
    /// The counters now, with those of the stage's block device.
    ///
    /// # Errors
    /// If the kernel does not tell them.
    pub fn read(stage: &Stage) -> Result<Self, TrialError> {
        let stat = Path::new("/proc/stat");
        let text = fs::read_to_string(stat).map_err(TrialError::at(stat))?;
        let path = stage.sysfs().unwrap_or_default().join("stat");
        let drive = fs::read_to_string(&path).map_err(TrialError::at(&path))?;
        let counts_flushes = drive.split_whitespace().count() >= 17;
        let cpu = text.lines().next().unwrap_or_default().trim_start_matches("cpu");
        Ok(Self { cpu: numbers(cpu), drive: numbers(&drive), counts_flushes, at: Instant::now() })
    }

    /// What was done since `earlier`.
    pub fn since(&self, earlier: &Self) -> Usage {
        let [user, nice, system, idle, waiting, interrupts, soft, stolen] = less(self.cpu, earlier.cpu);
        let all = (user + nice + system + idle + waiting + interrupts + soft + stolen).max(1);
        let share = |ticks: u64| 100.0 * ticks as f64 / all as f64;
        let drive = less(self.drive, earlier.drive);
        Usage {
            user: share(user + nice),
            system: share(system + interrupts + soft),
            waiting: share(waiting),
            reads: drive[0],
            bytes_read: Bytes::from_sectors(drive[2]),
            writes: drive[4],
            bytes_written: Bytes::from_sectors(drive[6]),
            flushes: self.counts_flushes.then_some(drive[15]),
            busy: Nanos::from_millis(drive[9]),
            time: Nanos::from_std(self.at.duration_since(earlier.at)),
        }
    }
}

/// The first numbers of a line; zeros where it has fewer.
fn numbers<const N: usize>(line: &str) -> [u64; N] {
    let mut words = line.split_whitespace().map(|word| word.parse().unwrap_or(0));
    std::array::from_fn(|_| words.next().unwrap_or(0))
}

/// How much each counter has grown; one that was set back, as idle time can be, has not.
fn less<const N: usize>(now: [u64; N], then: [u64; N]) -> [u64; N] {
    std::array::from_fn(|index| now[index].saturating_sub(then[index]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_shares_and_amounts() {
        let at = Instant::now();
        let of =
            |cpu: &str, drive: &str, at| Meters { cpu: numbers(cpu), drive: numbers(drive), counts_flushes: true, at };
        let then = of("10 0 10 100 0 0 0 0 0 0", "1 0 8 0 2 0 16 0 0 0 0", at);
        let now = of(
            "30 10 20 150 30 5 5 0 0 0",
            "11 0 168 0 7 0 56 0 0 500 0 0 0 0 0 3 1",
            at + std::time::Duration::from_secs(2),
        );
        let usage = now.since(&then);
        let all = 20.0 + 10.0 + 10.0 + 50.0 + 30.0 + 5.0 + 5.0;
        assert_eq!(usage.user, 3000.0 / all);
        assert_eq!(usage.system, 2000.0 / all);
        assert_eq!(usage.waiting, 3000.0 / all);
        assert_eq!((usage.reads, usage.bytes_read), (10, Bytes::from_sectors(160)));
        assert_eq!((usage.writes, usage.bytes_written), (5, Bytes::from_sectors(40)));
        assert_eq!((usage.flushes, usage.busy, usage.busy_percent()), (Some(3), Nanos::from_millis(500), 25.0));
    }
}
