//! A block device as the kernel describes it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use block::Bytes;
use rustix::fs::{major, minor};

use crate::DiskCounters;
use crate::machine::word;

/// A block device, whole or a partition, with its directory in sysfs.
#[derive(Clone, Debug)]
pub struct BlockDevice {
    /// The kernel's name: `sda`, `nvme0n1p2`.
    pub name: String,
    /// Major and minor number.
    pub number: (u32, u32),
    directory: PathBuf,
}

/// The block device of a namespace of NVMe, where a path leads to its character device; otherwise the path itself.
pub fn block_path(path: &Path) -> PathBuf {
    let number = fs::metadata(path).ok().filter(|found| found.file_type().is_char_device()).map(|found| found.rdev());
    let device = number.and_then(BlockDevice::beside_generic);
    device.map_or_else(|| path.to_owned(), |device| Path::new("/dev").join(device.name))
}

/// A partition and the part of its device that it covers.
#[derive(Clone, Debug)]
pub struct Partition {
    pub device: BlockDevice,
    /// Where it begins.
    pub start: Bytes,
    /// How long it is.
    pub size: Bytes,
}

impl BlockDevice {
    /// The device with this number; none if sysfs does not know it.
    pub fn find(number: u64) -> Option<Self> {
        Self::under(Path::new("/sys"), (major(number), minor(number)))
    }

    /// The same of the tree at `sys`.
    pub(crate) fn under(sys: &Path, number: (u32, u32)) -> Option<Self> {
        let directory = sys.join(format!("dev/block/{}:{}", number.0, number.1)).canonicalize().ok()?;
        let name = directory.file_name()?.to_str()?.to_owned();
        Some(Self { name, number, directory })
    }

    /// The block device of a namespace of NVMe, whose character device has this number: `nvme0n1` of `ng0n1`. None of any
    /// other character device.
    pub fn beside_generic(number: u64) -> Option<Self> {
        Self::beside_generic_under(Path::new("/sys"), (major(number), minor(number)))
    }

    /// The same of the tree at `sys`.
    fn beside_generic_under(sys: &Path, number: (u32, u32)) -> Option<Self> {
        let generic = sys.join(format!("dev/char/{}:{}", number.0, number.1)).canonicalize().ok()?;
        let subsystem = generic.join("subsystem").canonicalize().ok()?;
        let name = generic.file_name()?.to_str()?.strip_prefix("ng").filter(|_| subsystem.ends_with("nvme-generic"))?;
        let directory = generic.parent()?.join(format!("nvme{name}"));
        let (major, minor) =
            word(&directory.join("dev"))?.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
        Some(Self { name: format!("nvme{name}"), number: (major.parse().ok()?, minor.parse().ok()?), directory })
    }

    /// The character device by which a namespace of NVMe takes commands; none of any other device.
    pub fn generic(&self) -> Option<PathBuf> {
        let name = format!("ng{}", self.name.strip_prefix("nvme").filter(|_| !self.is_partition())?);
        self.directory.parent()?.join(&name).is_dir().then(|| Path::new("/dev").join(name))
    }

    /// Whether the host must write it zone by zone.
    pub fn is_zoned(&self) -> bool {
        self.setting("zoned").is_some_and(|model| model == "host-managed")
    }

    /// From the start of a zone to the start of the next; none where it has no zones.
    pub fn zone(&self) -> Option<Bytes> {
        let sectors = self.setting("chunk_sectors").filter(|_| self.is_zoned())?;
        sectors.parse().ok().map(Bytes::from_sectors)
    }

    /// How many zones may be open and active at once; none where there is no limit.
    pub fn zone_limits(&self) -> [Option<u32>; 2] {
        ["max_open_zones", "max_active_zones"]
            .map(|name| self.setting(name)?.parse().ok().filter(|limit: &u32| *limit > 0))
    }

    /// The longest request that it takes undivided, and the longest zone append.
    pub fn longest_requests(&self) -> [Option<Bytes>; 2] {
        let number = |name: &str, unit: u64| self.setting(name)?.parse().ok().map(|size: u64| Bytes::new(size * unit));
        [number("max_hw_sectors_kb", 1024), number("zone_append_max_bytes", 1)]
    }

    /// Whether it has queues that are asked for completions instead of interrupting.
    pub fn is_polled(&self) -> bool {
        self.setting("io_poll").is_some_and(|flag| flag != "0")
    }

    /// A setting of its queue.
    fn setting(&self, name: &str) -> Option<String> {
        word(&self.whole().join("queue").join(name))
    }

    /// The smallest request that the device takes.
    pub fn logical_block(&self) -> Option<Bytes> {
        self.setting("logical_block_size")?.parse().ok().map(Bytes::new)
    }

    /// How much it holds.
    pub fn size(&self) -> Option<Bytes> {
        self.sectors("size")
    }

    /// Whether the kernel has removed it since it was found: NVMe's capacity is nothing first, then none is in sysfs.
    pub fn is_gone(&self) -> bool {
        self.size().is_none_or(|size| size == Bytes::ZERO)
    }

    /// Whether it refuses to be written.
    pub fn is_read_only(&self) -> bool {
        word(&self.directory.join("ro")).is_some_and(|flag| flag != "0")
    }

    /// The maker's name for it, or the file behind a loop device.
    pub fn model(&self) -> Option<String> {
        let model = word(&self.whole().join("device/model"));
        model.or_else(|| Some(format!("over {}", word(&self.whole().join("loop/backing_file"))?)))
    }

    /// What the kernel has built on it: device-mapper, RAID, bcache.
    pub fn holders(&self) -> Vec<String> {
        names(&self.directory.join("holders"))
    }

    /// The whole device that it is, or is a partition of.
    #[must_use]
    pub fn whole_device(&self) -> Self {
        let directory = self.whole().to_owned();
        let numbers = word(&directory.join("dev"));
        let number = numbers.and_then(|text| {
            let (major, minor) = text.split_once(':')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let name = directory.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        match (name, number) {
            (Some(name), Some(number)) => Self { name, number, directory },
            _ => self.clone(),
        }
    }

    /// What it has done since the machine was started; none where the kernel counts nothing.
    pub fn counters(&self) -> Option<DiskCounters> {
        DiskCounters::parse(&word(&self.directory.join("stat"))?)
    }

    /// The folder with the settings of its queue, those of the whole device where it is a partition.
    pub fn queue(&self) -> Option<PathBuf> {
        Some(self.whole().join("queue")).filter(|queue| queue.is_dir())
    }

    /// How many requests it takes from the kernel at once, in one of its queues.
    pub fn tags(&self) -> Option<u32> {
        word(&self.whole().join("mq/0/nr_tags"))?.parse().ok()
    }

    /// The folder with the settings of how data that waits to be written to it is kept.
    ///
    /// Source: Linux, Documentation/ABI/testing/sysfs-class-bdi.
    pub fn writeback(&self) -> PathBuf {
        PathBuf::from(format!("/sys/class/bdi/{}:{}", self.number.0, self.number.1))
    }

    /// Its partitions that the kernel knows, by number.
    pub fn partitions(&self) -> Vec<Partition> {
        let mut partitions: Vec<(u32, Partition)> =
            names(&self.directory).iter().filter_map(|name| self.partition(name)).collect();
        partitions.sort_by_key(|(number, _)| *number);
        partitions.into_iter().map(|(_, partition)| partition).collect()
    }

    fn partition(&self, name: &str) -> Option<(u32, Partition)> {
        let directory = self.directory.join(name);
        let place = word(&directory.join("partition"))?.parse().ok()?;
        let (major, minor) =
            word(&directory.join("dev"))?.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
        let device = Self { name: name.to_owned(), number: (major.parse().ok()?, minor.parse().ok()?), directory };
        Some((place, Partition { start: device.sectors("start")?, size: device.size()?, device }))
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    /// The directory of the whole device that this is, or is a partition of.
    pub(crate) fn whole(&self) -> &Path {
        self.directory.parent().filter(|_| self.is_partition()).unwrap_or(&self.directory)
    }

    fn sectors(&self, name: &str) -> Option<Bytes> {
        word(&self.directory.join(name))?.parse().ok().map(Bytes::from_sectors)
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
