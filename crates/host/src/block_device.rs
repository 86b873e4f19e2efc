//! A block device as the kernel describes it.

use std::fs;
use std::path::{Path, PathBuf};

use block::Bytes;
use rustix::fs::{major, minor};

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
    /// The partition as a device.
    pub device: BlockDevice,
    /// Where it begins.
    pub start: Bytes,
    /// How long it is.
    pub size: Bytes,
}

impl BlockDevice {
    /// The device with this number; none if sysfs does not know it.
    pub fn find(number: u64) -> Option<Self> {
        let number = (major(number), minor(number));
        let directory = fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1)).ok()?;
        let name = directory.file_name()?.to_str()?.to_owned();
        Some(Self { name, number, directory })
    }

    /// The smallest request that the device takes.
    pub fn logical_block(&self) -> Option<Bytes> {
        let queue = self.whole().join("queue/logical_block_size");
        read(&queue)?.parse().ok().map(Bytes::new)
    }

    /// How much it holds.
    pub fn size(&self) -> Option<Bytes> {
        self.sectors("size")
    }

    /// Whether it refuses to be written.
    pub fn is_read_only(&self) -> bool {
        read(&self.directory.join("ro")).is_some_and(|flag| flag != "0")
    }

    /// The maker's name for it, or the file behind a loop device.
    pub fn model(&self) -> Option<String> {
        let model = read(&self.whole().join("device/model"));
        let model = model.or_else(|| Some(format!("over {}", read(&self.whole().join("loop/backing_file"))?)));
        model.filter(|model| !model.is_empty())
    }

    /// What the kernel has built on it: device-mapper, RAID, bcache.
    pub fn holders(&self) -> Vec<String> {
        names(&self.directory.join("holders"))
    }

    /// Its partitions that the kernel knows.
    pub fn partitions(&self) -> Vec<Partition> {
        names(&self.directory).iter().filter_map(|name| self.partition(name)).collect()
    }

    fn partition(&self, name: &str) -> Option<Partition> {
        let directory = self.directory.join(name);
        read(&directory.join("partition"))?;
        let (major, minor) =
            read(&directory.join("dev"))?.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
        let device = Self { name: name.to_owned(), number: (major.parse().ok()?, minor.parse().ok()?), directory };
        Some(Partition { start: device.sectors("start")?, size: device.size()?, device })
    }

    /// The directory of the whole device that this is, or is a partition of.
    fn whole(&self) -> &Path {
        let is_partition = self.directory.join("partition").exists();
        self.directory.parent().filter(|_| is_partition).unwrap_or(&self.directory)
    }

    fn sectors(&self, name: &str) -> Option<Bytes> {
        read(&self.directory.join(name))?.parse().ok().map(Bytes::from_sectors)
    }
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
