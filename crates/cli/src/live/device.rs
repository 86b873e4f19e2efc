//! What the kernel counts of the drive beneath a real target, and how warm the drive is.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use block::Bytes;
use lab::Thermometer;

/// The counters of a block device.
pub struct Device {
    stat: Option<PathBuf>,
    before: Option<Stat>,
    thermometer: Option<Thermometer>,
}

/// What a block device has done since the system started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stat {
    reads: u64,
    read: Bytes,
    writes: u64,
    written: Bytes,
    in_flight: u64,
}

impl Device {
    /// The device that `target` is or lies on, to be counted from now on.
    pub fn of(target: &Path, thermometer: Option<Thermometer>) -> Self {
        let number = fs::metadata(target).ok().map(|found| match found.file_type().is_block_device() {
            true => found.rdev(),
            false => found.dev(),
        });
        let stat = number.map(|number| {
            let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
            PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat"))
        });
        let mut device = Self { stat, before: None, thermometer };
        device.before = device.read();
        device
    }

    /// Lines of what it did since then; a line that says so where the kernel counts nothing.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = match (self.before, self.read()) {
            (Some(before), Some(now)) => now.since(before),
            _ => vec!["no kernel counters".to_owned()],
        };
        if let Some(degrees) = self.thermometer.as_ref().and_then(Thermometer::read) {
            lines.push(format!("{degrees} °C"));
        }
        lines
    }

    fn read(&self) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(self.stat.as_ref()?).ok()?)
    }
}

impl Stat {
    /// Source: Linux, Documentation/block/stat.rst; sectors there are of 512 bytes whatever the device.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let [reads, _, sectors_read, _, writes, _, sectors_written, _, in_flight, ..] = fields[..] else { return None };
        let sectors = |count: u64| Bytes::new(count * 512);
        Some(Self { reads, read: sectors(sectors_read), writes, written: sectors(sectors_written), in_flight })
    }

    fn since(self, before: Self) -> Vec<String> {
        let bytes = |now: Bytes, before: Bytes| Bytes::new(now.get().saturating_sub(before.get()));
        let count = |now: u64, before: u64| now.saturating_sub(before);
        vec![
            format!("read    {} in {} requests", bytes(self.read, before.read), count(self.reads, before.reads)),
            format!(
                "written {} in {} requests",
                bytes(self.written, before.written),
                count(self.writes, before.writes)
            ),
            format!("{} in flight", self.in_flight),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_in_sectors_of_512_bytes() {
        let line = "     120       3     2048      40      50       0      800      12        7       31       52  0 0 0 0 9 1\n";
        let stat = Stat::parse(line).unwrap();
        let expected =
            Stat { reads: 120, read: Bytes::from_mib(1), writes: 50, written: Bytes::from_kib(400), in_flight: 7 };
        assert_eq!(stat, expected);
        assert_eq!(Stat::parse("1 2 3"), None, "an older kernel's");
        let before = Stat { reads: 20, read: Bytes::from_kib(512), ..Stat::default() };
        assert_eq!(stat.since(before)[0], "read    512 KiB in 100 requests");
        assert_eq!(stat.since(before)[2], "7 in flight");
    }

    #[test]
    fn where_the_kernel_counts_nothing_that_is_said() {
        assert_eq!(Device::of(Path::new("/proc/self/stat"), None).lines(), ["no kernel counters"]);
    }
}
