//! What the processors and the drive did meanwhile, by the kernel's counters.

use std::io;
use std::time::Instant;

use block::{Bytes, Nanos};
use host::{DiskCounters, Machine, ProcessorTicks};

use crate::{TrialDevice, TrialError};

/// The kernel's counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meters {
    processors: ProcessorTicks,
    drive: DiskCounters,
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
    pub fn read(stage: &TrialDevice) -> Result<Self, TrialError> {
        let silent = || TrialError::at(stage.path())(io::Error::other("the kernel counts nothing of it"));
        let processors = Machine::here().processor_ticks().ok_or_else(silent)?;
        let drive = stage.described().and_then(|device| device.counters()).ok_or_else(silent)?;
        Ok(Self { processors, drive, at: Instant::now() })
    }

    /// What was done since `earlier`.
    pub fn since(&self, earlier: &Self) -> Usage {
        let (ticks, drive) = (self.processors.since(earlier.processors), self.drive.since(earlier.drive));
        let share = |part: u64| 100.0 * part as f64 / ticks.sum().max(1) as f64;
        Usage {
            user: share(ticks.user),
            system: share(ticks.system),
            waiting: share(ticks.waiting),
            reads: drive.reads,
            bytes_read: drive.read,
            writes: drive.writes,
            bytes_written: drive.written,
            flushes: drive.flushes,
            busy: drive.busy,
            time: Nanos::from_std(self.at.duration_since(earlier.at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_shares_and_amounts() {
        let at = Instant::now();
        let of = |processors, drive, at| Meters { processors, drive, at };
        let ticks =
            |[user, system, idle, waiting, stolen]: [u64; 5]| ProcessorTicks { user, system, idle, waiting, stolen };
        let counted = |reads, writes, busy, flushes| DiskCounters {
            reads,
            read: Bytes::from_sectors(16 * reads),
            writes,
            written: Bytes::from_sectors(8 * writes),
            busy: Nanos::from_millis(busy),
            flushes: Some(flushes),
            ..DiskCounters::default()
        };
        let then = of(ticks([10, 10, 100, 0, 0]), counted(1, 2, 0, 0), at);
        let later = at + std::time::Duration::from_secs(2);
        let now = of(ticks([40, 30, 150, 30, 5]), counted(11, 7, 500, 3), later);
        let usage = now.since(&then);
        let all = 30.0 + 20.0 + 50.0 + 30.0 + 5.0;
        assert_eq!(usage.user, 3000.0 / all);
        assert_eq!(usage.system, 2000.0 / all);
        assert_eq!(usage.waiting, 3000.0 / all);
        assert_eq!((usage.reads, usage.bytes_read), (10, Bytes::from_sectors(160)));
        assert_eq!((usage.writes, usage.bytes_written), (5, Bytes::from_sectors(40)));
        assert_eq!((usage.flushes, usage.busy, usage.busy_percent()), (Some(3), Nanos::from_millis(500), 25.0));
    }
}
