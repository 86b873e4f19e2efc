//! The file system that holds a file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Mount;

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Its kind: `ext4`, `xfs`.
    pub kind: String,
    pub mount_point: PathBuf,
    /// What is mounted, as the kernel names it; none where it names nothing.
    pub source: Option<String>,
    /// Its options, those of the mount before those of the file system itself.
    pub options: Vec<String>,
}

impl FileSystem {
    /// The file system of `mounts` that holds the canonical `path`.
    pub(super) fn holding(path: &Path, mounts: &[Mount]) -> Option<Self> {
        let Mount { point, filesystem, source, options, .. } = Mount::holding(mounts, path)?.clone();
        let source = Some(source).filter(|source| !source.is_empty() && source != "none");
        Some(Self { kind: filesystem, mount_point: point, source, options })
    }

    /// All that is known, for people: a name and a value each.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        vec![
            ("File system", format!("{} at {}", self.kind, self.mount_point.display())),
            ("Mount options", self.options.join(", ")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_by_no_name_has_no_source() {
        let mounts =
            Mount::listed("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n41 27 0:50 / /mnt rw - tmpfs none rw\n");
        let holding = |path: &str| FileSystem::holding(Path::new(path), &mounts).unwrap();
        let root = holding("/home");
        assert_eq!((root.kind.as_str(), root.source.as_deref()), ("ext4", Some("/dev/vda")));
        assert_eq!(root.options, ["rw", "relatime"]);
        let other = holding("/mnt/file");
        assert_eq!((other.kind.as_str(), other.source), ("tmpfs", None));
        assert_eq!(FileSystem::holding(Path::new("/a"), &[]), None);
    }
}
