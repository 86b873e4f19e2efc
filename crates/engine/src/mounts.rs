//! What is mounted where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A line of the kernel's table of mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Major and minor number of the device; some file systems (btrfs, overlay) make one up.
    pub device: (u32, u32),
    pub point: PathBuf,
    pub filesystem: String,
    /// The device as it was named when mounting, or any other word.
    pub source: String,
}

/// All mounts that this process can see.
pub(crate) fn mounts() -> io::Result<Vec<Mount>> {
    Ok(fs::read_to_string("/proc/self/mountinfo")?.lines().filter_map(parse).collect())
}

/// The name of the file system that holds `path`, which must be absolute and exist.
pub(crate) fn filesystem_of(path: &Path) -> Option<String> {
    let holds = |mount: &Mount| path.starts_with(&mount.point);
    // A later mount hides an earlier one at the same place.
    let nearest = mounts().ok()?.into_iter().filter(holds).max_by_key(|mount| mount.point.components().count());
    nearest.map(|mount| mount.filesystem)
}

/// Reads one line. Source: Linux, Documentation/filesystems/proc.rst, §3.5 "/proc/<pid>/mountinfo".
fn parse(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let (major, minor) = head.next()?.split_once(':')?;
    let point = PathBuf::from(unescape(head.nth(1)?));
    let mut tail = tail.split(' ');
    let filesystem = tail.next()?.to_owned();
    let source = unescape(tail.next()?);
    Some(Mount { device: (major.parse().ok()?, minor.parse().ok()?), point, filesystem, source })
}

/// Undoes the kernel's `\040` for blanks and the like.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.map_or('\\', char::from));
        rest = &rest[at + if code.is_some() { 4 } else { 1 }..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_device_place_and_source() {
        let line = "42 27 259:1 / /mnt/my\\040disk rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw";
        let mount = Mount {
            device: (259, 1),
            point: "/mnt/my disk".into(),
            filesystem: "ext4".into(),
            source: "/dev/nvme0n1p1".into(),
        };
        assert_eq!(parse(line), Some(mount));
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn the_process_file_system_is_found() {
        assert_eq!(filesystem_of(Path::new("/proc/self")).as_deref(), Some("proc"));
    }
}
