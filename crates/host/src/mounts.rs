//! What is mounted where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A line of the kernel's table of mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the device; some file systems (btrfs, overlay) make one up.
    pub device: (u32, u32),
    /// Which folder of the file system is mounted: `/` where it is all of it.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// The kind of the file system: `ext4`.
    pub filesystem: String,
    /// The device as it was named when mounting, or any other word.
    pub source: String,
    /// The options, those of the mount before those of the file system itself, each once.
    pub options: Vec<String>,
}

impl Mount {
    /// Where the kernel tells them.
    pub const TABLE: &str = "/proc/self/mountinfo";

    /// All mounts that this process can see, each after those that it may hide.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn all() -> io::Result<Vec<Self>> {
        Ok(Self::listed(&fs::read_to_string(Self::TABLE)?))
    }

    /// The mounts in the text of `/proc/self/mountinfo`; what is no line of it is passed over.
    pub fn listed(mountinfo: &str) -> Vec<Self> {
        mountinfo.lines().filter_map(parse).collect()
    }

    /// Of these mounts the one that holds `path`, which must be absolute and free of links.
    pub fn holding<'m>(mounts: &'m [Self], path: &Path) -> Option<&'m Self> {
        let holds = mounts.iter().filter(|mount| path.starts_with(&mount.point));
        // A later mount hides an earlier one at the same place, and `max_by_key` takes the last of equals.
        holds.max_by_key(|mount| mount.point.components().count())
    }
}

/// Reads one line: `36 35 98:0 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue`.
///
/// Source: Linux, Documentation/filesystems/proc.rst, §3.5 "/proc/<pid>/mountinfo".
fn parse(line: &str) -> Option<Mount> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (major, minor) = mount.next()?.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let [root, point] = [mount.next()?, mount.next()?].map(|path| PathBuf::from(unescape(path)));
    let mut system = system.split(' ');
    let (filesystem, source) = (system.next()?.to_owned(), unescape(system.next()?));
    let mut options: Vec<String> = Vec::new();
    for option in [mount.next()?, system.next().unwrap_or_default()].iter().flat_map(|list| list.split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount { device, root, point, filesystem, source, options })
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

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=continue
40 27 8:1 /part /mnt/my\\040disk rw,noatime shared:1 - xfs /dev/sda1 rw,attr2
nonsense
41 27 0:50 / /mnt/my\\040disk rw - tmpfs none rw,size=4k
";

    #[test]
    fn a_line_gives_device_place_source_and_options() {
        let mounts = Mount::listed(TABLE);
        let mount = Mount {
            device: (8, 1),
            root: "/part".into(),
            point: "/mnt/my disk".into(),
            filesystem: "xfs".into(),
            source: "/dev/sda1".into(),
            options: ["rw", "noatime", "attr2"].map(str::to_owned).into(),
        };
        assert_eq!((&mounts[2], mounts.len()), (&mount, 4));
    }

    #[test]
    fn a_path_lies_on_the_innermost_mount_and_of_equals_on_the_last() {
        let mounts = Mount::listed(TABLE);
        let table = [("/", "ext4"), ("/processes", "ext4"), ("/proc/self", "proc"), ("/mnt/my disk/file", "tmpfs")];
        for (path, kind) in table {
            assert_eq!(Mount::holding(&mounts, Path::new(path)).unwrap().filesystem, kind, "{path}");
        }
        assert_eq!(Mount::holding(&[], Path::new("/")), None);
    }

    #[test]
    fn escapes_are_undone_and_others_left() {
        let table = [("a\\040b\\134c", "a b\\c"), ("a\\9\\04", "a\\9\\04"), ("\\777é", "\\777é")];
        table.iter().for_each(|(text, plain)| assert_eq!(unescape(text), *plain));
    }

    #[test]
    fn the_process_file_system_is_found() {
        let mounts = Mount::all().unwrap();
        assert_eq!(Mount::holding(&mounts, Path::new("/proc/self")).unwrap().filesystem, "proc");
    }
}
