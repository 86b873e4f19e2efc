//! A block device as the kernel describes it.

use std::fs;
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

    /// The smallest request that the device takes.
    pub fn logical_block(&self) -> Option<Bytes> {
        let queue = self.whole().join("queue/logical_block_size");
        word(&queue)?.parse().ok().map(Bytes::new)
    }

    /// How much it holds.
    pub fn size(&self) -> Option<Bytes> {
        self.sectors("size")
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
