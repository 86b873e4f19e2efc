//! How fast a target is taken to be, before anything has been measured on it.

use block::{Bytes, Nanos, Rate};
use drive::preset::{Preset, Spec, of_unchanged};
use host::Environment;
use workload::Workload;

/// How fast a target is taken to be: what its maker promises, or what is usual of its kind.
///
/// It decides nothing but how much a plan is said to write and how long it is said to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Sequential reads and writes.
    pub read: Rate,
    /// See `read`.
    pub write: Rate,
    /// Random reads and writes of 4 KiB a second, with as many in flight as it takes.
    pub random_reads: u64,
    /// See `random_reads`.
    pub random_writes: u64,
    /// How long one request of 4 KiB takes, alone.
    pub latency: Nanos,
    /// Where that is from.
    pub source: String,
}

/// How long a request takes at most that follows the one before it. Source: guess, a turn through the host.
const IN_ORDER: Nanos = Nanos::from_micros(50);

impl Pace {
    /// What is usual of a kind of drive.
    ///
    /// Source: guesses, above the middle of each class, for an estimate of wear had better be too high: what a SATA link of
    /// 6 Gb/s carries, what four lanes of PCIe 3 carry, what the outer tracks of a disk of 7,200 rpm give.
    fn usual(kind: &str, read: u64, write: u64, random: (u64, u64), latency: Nanos) -> Self {
        Self {
            read: Rate::from_megabytes_per_second(read),
            write: Rate::from_megabytes_per_second(write),
            random_reads: random.0,
            random_writes: random.1,
            latency,
            source: format!("typical values of {kind}"),
        }
    }

    fn flash() -> Self {
        Self::usual("SATA flash drives", 550, 500, (90_000, 80_000), Nanos::from_micros(50))
    }

    fn nvme() -> Self {
        Self::usual("NVMe drives", 3_500, 3_000, (500_000, 400_000), Nanos::from_micros(20))
    }

    fn disk() -> Self {
        Self::usual("disks", 200, 200, (150, 300), Nanos::from_millis(8))
    }

    /// Source: guess, what maps blocks moves one for a write anywhere.
    fn block_mapped() -> Self {
        Self::usual("block-mapped flash drives", 150, 100, (4_000, 20), Nanos::from_micros(250))
    }

    /// What is usual of a simulated drive; of an array, what its drives together are taken for.
    fn usual_of(spec: &Spec) -> Self {
        match spec {
            Spec::Flash(_) | Spec::Pcm(_) | Spec::Dram(_) => Self::flash(),
            Spec::Disk(_) => Self::disk(),
            Spec::Hybrid(_) => Self::block_mapped(),
            Spec::Rig(rig) => {
                let (whole, each) = (rig.layout().capacity().get(), rig.member.capacity().get());
                Self::rated(&rig.member).times((whole + each / 2) / each)
            }
        }
    }

    /// That of so many together.
    fn times(self, drives: u64) -> Self {
        if drives == 1 {
            return self;
        }
        Self {
            read: Rate::from_bytes_per_second(self.read.get().saturating_mul(drives)),
            write: Rate::from_bytes_per_second(self.write.get().saturating_mul(drives)),
            random_reads: self.random_reads.saturating_mul(drives),
            random_writes: self.random_writes.saturating_mul(drives),
            source: format!("{drives} times {}", self.source),
            ..self
        }
    }

    /// What the maker of a simulated drive promises; what is usual where it promises nothing.
    pub fn rated(preset: &Preset) -> Self {
        let rated = &preset.rated;
        let usual = Self::usual_of(&preset.spec);
        let is_rated = rated.sequential_write.is_some() || rated.random_write_iops.is_some();
        Self {
            read: rated.sequential_read.or(rated.sequential_write).unwrap_or(usual.read),
            write: rated.sequential_write.or(rated.sequential_read).unwrap_or(usual.write),
            random_reads: rated.random_read_iops.unwrap_or(usual.random_reads),
            random_writes: rated.random_write_iops.unwrap_or(usual.random_writes),
            latency: rated.read_latency.unwrap_or(usual.latency),
            source: match is_rated {
                true => format!("the drive's rated speed{}", of_unchanged(preset.is_changed())),
                false => usual.source,
            },
        }
    }

    /// What is usual of the device that is the target or holds it.
    pub fn of(environment: &Environment) -> Self {
        match &environment.device {
            Some(device) if device.rotational == Some(true) && device.transport.as_deref() != Some("virtio") => {
                Self::disk()
            }
            Some(device) if device.transport.as_deref() == Some("NVMe") => Self::nvme(),
            _ => Self::flash(),
        }
    }

    /// How much a workload moves in a second.
    pub(super) fn bytes_a_second(&self, workload: &Workload) -> f64 {
        self.requests_a_second(workload) * mean(workload)
    }

    /// Requests a second, by whichever is the limit: the path, the drive, how many are in flight, or when they come.
    pub(super) fn requests_a_second(&self, workload: &Workload) -> f64 {
        let reads = f64::from(workload.reads()) / 100.0;
        let weigh = |read: f64, write: f64| 1.0 / (reads / read + (1.0 - reads) / write);
        let path = weigh(self.read.get() as f64, self.write.get() as f64) / mean(workload);
        let is_random = workload.pattern.is_random();
        // What comes in order is read ahead or gathered, even by a disk.
        let latency = if is_random { self.latency } else { self.latency.min(IN_ORDER) };
        let in_flight = f64::from(workload.queue_depth) * f64::from(workload.workers);
        let answered = in_flight / (latency.as_secs_f64() + mean(workload) / self.read.get() as f64);
        let random = if is_random { weigh(self.random_reads as f64, self.random_writes as f64) } else { f64::MAX };
        let asked = match workload.arrival.is_open() {
            true => workload.arrival.requests_a_second(mean(workload)) * f64::from(workload.workers),
            false => f64::MAX,
        };
        path.min(answered).min(random).min(asked)
    }
}

/// The mean size of a request, at least a byte.
fn mean(workload: &Workload) -> f64 {
    workload.block_mean().max(Bytes::new(1)).get() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_taken_for_as_many_drives_as_hold_data_and_a_drive_for_its_kind() {
        let pace = |name: &str| Pace::rated(&Preset::find(name).unwrap_or_else(|error| panic!("{error}")));
        let disk = pace("raptor-150");
        for (level, drives, times) in [("raid0", 4, 4), ("raid5", 4, 3), ("raid10", 4, 2), ("raid1", 2, 1)] {
            let array = format!(
                "sata-host?array.drive=raptor-150&array.level={level}&array.drives={drives}&array.stripe=64KiB"
            );
            let array = pace(&array);
            assert_eq!(array.random_reads, times * disk.random_reads, "{level}");
            assert_eq!(array.write.get(), times * disk.write.get(), "{level}");
            assert_eq!(array.source.contains(&format!("{times} times")), times > 1, "{level}: {}", array.source);
            assert_eq!(array.latency, disk.latency);
        }
        assert!(pace("ocz-core-64").random_writes < 100, "it maps blocks");
        assert!(pace("toms-x25e-16").random_writes > 10 * pace("toms-x25e-1").random_writes);
    }
}
