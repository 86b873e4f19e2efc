//! What the kernel counts of the drive beneath a real target, and how warm the drive is.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use host::{BlockDevice, DiskCounters, Thermometer};

/// The counters of a block device.
pub struct DeviceCounters {
    known: Option<BlockDevice>,
    before: Option<DiskCounters>,
    thermometer: Option<Thermometer>,
}

impl DeviceCounters {
    /// The device that `target` is or lies on, to be counted from now on.
    pub fn of(target: &Path, thermometer: Option<Thermometer>) -> Self {
        let number =
            fs::metadata(host::block_path(target)).ok().map(|found| match found.file_type().is_block_device() {
                true => found.rdev(),
                false => found.dev(),
            });
        let known = number.and_then(BlockDevice::find);
        let before = known.as_ref().and_then(BlockDevice::counters);
        Self { known, before, thermometer }
    }

    /// Lines of what it did since then; a line that says so where the kernel counts nothing.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = match (self.before, self.known.as_ref().and_then(BlockDevice::counters)) {
            (Some(before), Some(now)) => lines(now.since(before)),
            _ => vec!["no kernel counters".to_owned()],
        };
        if let Some(degrees) = self.thermometer.as_ref().and_then(Thermometer::read) {
            lines.push(format!("{degrees} °C"));
        }
        lines
    }
}

fn lines(done: DiskCounters) -> Vec<String> {
    vec![
        format!("read    {} in {} requests", done.read, done.reads),
        format!("written {} in {} requests", done.written, done.writes),
        format!("{} in flight", done.in_flight),
    ]
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    #[test]
    fn what_was_done_is_told_in_amounts_and_requests() {
        let done = DiskCounters { reads: 100, read: Bytes::from_kib(512), in_flight: 7, ..DiskCounters::default() };
        assert_eq!(lines(done), ["read    512 KiB in 100 requests", "written 0 B in 0 requests", "7 in flight"]);
    }

    #[test]
    fn where_the_kernel_counts_nothing_that_is_said() {
        assert_eq!(DeviceCounters::of(Path::new("/proc/self/stat"), None).lines(), ["no kernel counters"]);
    }
}
