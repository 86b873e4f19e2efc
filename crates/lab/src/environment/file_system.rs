//! The file system that holds a file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Its kind: `ext4`, `xfs`.
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// What is mounted, as the kernel names it; none where it names nothing.
    pub source: Option<String>,
    /// Its options, those of the mount before those of the file system itself.
    pub options: Vec<String>,
}

impl FileSystem {
    /// The file system of `mounts` (the text of `/proc/self/mountinfo`) that holds the canonical `path`.
    pub(super) fn holding(path: &Path, mounts: &str) -> Option<Self> {
        // Of mounts at one place the last hides the others, and `max_by_key` takes the last of equals.
        mounts
            .lines()
            .filter_map(Self::from_line)
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
    }

    /// One line: `36 35 98:0 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue`.
    ///
    /// Source: Linux, Documentation/filesystems/proc.rst, §3.5 "/proc/<pid>/mountinfo".
    fn from_line(line: &str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(4);
        let (mount_point, mount_options) = (mount.next()?, mount.next()?);
        let mut system = system.split(' ');
        let (kind, source, system_options) = (system.next()?, system.next()?, system.next().unwrap_or(""));
        let mut options: Vec<String> = Vec::new();
        for option in mount_options.split(',').chain(system_options.split(',')).filter(|option| !option.is_empty()) {
            if !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
        let source = Some(unescaped(source)).filter(|source| !source.is_empty() && source != "none");
        Some(Self { kind: kind.to_owned(), mount_point: unescaped(mount_point).into(), source, options })
    }

    /// All that is known, for people: a name and a value each.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        vec![
            ("File system", format!("{} at {}", self.kind, self.mount_point.display())),
            ("Mount options", self.options.join(", ")),
        ]
    }
}

/// `text` with the kernel's `\040` for a space and the like undone.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=continue
40 27 8:1 / /mnt/my\\040disk rw,noatime shared:1 - xfs /dev/sda1 rw,attr2
41 27 0:50 / /mnt/my\\040disk rw - tmpfs none rw,size=4k
nonsense
";

    fn holding(path: &str) -> FileSystem {
        FileSystem::holding(Path::new(path), MOUNTS).unwrap()
    }

    #[test]
    fn the_nearest_mount_above_a_file_holds_it() {
        let root = holding("/mnt/my/disk");
        assert_eq!((root.kind.as_str(), root.source.as_deref()), ("ext4", Some("/dev/vda")));
        assert_eq!(root.options, ["rw", "relatime", "discard", "errors=continue"]);
        assert_eq!(holding("/proc/self").kind, "proc");
        assert_eq!(holding("/processes").kind, "ext4");
    }

    #[test]
    fn a_later_mount_hides_an_earlier_one_at_its_place() {
        let hidden = holding("/mnt/my disk/file");
        assert_eq!((hidden.kind.as_str(), hidden.source), ("tmpfs", None));
    }

    #[test]
    fn escapes_are_undone_and_others_left() {
        assert_eq!(unescaped("a\\040b\\134c"), "a b\\c");
        assert_eq!(unescaped("a\\9\\04"), "a\\9\\04");
        assert_eq!(unescaped("\\777é"), "\\777é");
    }

    #[test]
    fn no_mounts_hold_nothing() {
        assert_eq!(FileSystem::holding(Path::new("/a"), ""), None);
    }
}
