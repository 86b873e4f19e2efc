//! Control groups that account for memory, as of containers and services, which may have less than the machine has.

use std::path::{Path, PathBuf};

use block::Bytes;

use crate::Mount;

/// The memory control group that a process is in.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryGroup {
    /// The folder of the group.
    pub home: PathBuf,
    /// Where the uppermost group is that can be seen.
    pub top: PathBuf,
    pub version: GroupVersion,
}

/// Which of the kernel's two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupVersion {
    One,
    Two,
}

impl GroupVersion {
    /// The file of a group that holds its limit.
    pub const fn limit(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// All files that bound what a group takes, that which tells what it takes, and the line of `memory.stat` for the part of
    /// it that the kernel takes back first: data of files that was not used of late.
    const fn account(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Self::One => (&["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file "),
            Self::Two => (&["memory.max", "memory.high"], "memory.current", "inactive_file "),
        }
    }
}

impl MemoryGroup {
    /// By the kernel's mounts and the lines of `/proc/self/cgroup`; none where no such groups are mounted.
    pub fn of(mounts: &[Mount], own: &str) -> Option<Self> {
        let has_memory = |mount: &&Mount| mount.options.iter().any(|option| option == "memory");
        let first = mounts.iter().filter(|mount| mount.filesystem == "cgroup").find(has_memory);
        let (mount, version) = match first {
            Some(first) => (first, GroupVersion::One),
            None => (mounts.iter().find(|mount| mount.filesystem == "cgroup2")?, GroupVersion::Two),
        };
        let is_such = |controllers: &str| match version {
            GroupVersion::One => controllers.split(',').any(|name| name == "memory"),
            GroupVersion::Two => controllers.is_empty(),
        };
        Some(Self { home: home(mount, own, is_such), top: mount.point.clone(), version })
    }

    /// The groups that this lies in, itself the first.
    pub fn enclosing(&self) -> impl Iterator<Item = &Path> {
        self.home.ancestors().take_while(|group| group.starts_with(&self.top))
    }

    /// What processes in it can still take before it or one that it lies in is full, by what `read` has of their files; none
    /// where nothing bounds them.
    pub(crate) fn available(&self, read: impl Fn(&Path) -> Option<String>) -> Option<Bytes> {
        let (limits, usage, inactive) = self.version.account();
        let left = |group: &Path| {
            let number = |name: &str| read(&group.join(name))?.parse::<u64>().ok();
            let limit = limits.iter().filter_map(|name| number(name)).min()?;
            let stat = read(&group.join("memory.stat")).unwrap_or_default();
            let idle = stat.lines().find_map(|line| line.strip_prefix(inactive)?.trim().parse().ok()).unwrap_or(0);
            Some(limit.saturating_sub(number(usage)?.saturating_sub(idle)))
        };
        self.enclosing().filter_map(left).min().map(Bytes::new)
    }
}

/// The group that a process is in, by the line of `own` whose controllers are such; that of the mount where it is outside of
/// what is mounted.
fn home(mount: &Mount, own: &str, is_such: impl Fn(&str) -> bool) -> PathBuf {
    let mut lines = own.lines().map(|line| line.splitn(3, ':').collect::<Vec<&str>>());
    let found = lines.find(|words| words.len() == 3 && is_such(words[1]));
    let within = found.and_then(|words| Path::new(words[2]).strip_prefix(&mount.root).ok());
    // Without the slash that stands at the end where it is the mount itself.
    within.map_or_else(|| mount.point.clone(), |within| mount.point.join(within).components().collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Machine;

    /// A machine with a group in another, whose files hold these words.
    fn machine(mounts: &str, own: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        let fixed = [
            ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n"),
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", own),
        ];
        for (path, text) in fixed.iter().chain(files) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let machine = Machine::at(folder.path());
        (folder, machine)
    }

    const ONE: &str = "35 31 0:32 / /c/memory rw,nosuid - cgroup cgroup rw,memory\n";
    const TWO: &str = "32 31 0:29 / /c rw,nosuid - cgroup2 cgroup2 rw\n";

    #[test]
    fn what_a_group_or_one_around_it_leaves_is_all_that_there_is() {
        let kib = |machine: &Machine| machine.memory_available().map(|memory| memory.get() / 1024);
        let of_one = |limit: &str, used: &str| {
            let files = [
                ("c/memory/a/memory.limit_in_bytes", limit),
                ("c/memory/a/memory.usage_in_bytes", used),
                ("c/memory/a/memory.stat", "inactive_file 9\ntotal_inactive_file 1048576\n"),
                ("c/memory/a/b/memory.limit_in_bytes", "9223372036854771712"),
                ("c/memory/a/b/memory.usage_in_bytes", "4096"),
            ];
            kib(&machine(ONE, "4:memory:/a/b\n0::/\n", &files).1)
        };
        assert_eq!(of_one("4194304", "2097152"), Some(3072), "the outer group holds, but for data of files");
        assert_eq!(of_one("1048576", "8388608"), Some(0), "it was made smaller meanwhile");
        assert_eq!(of_one("9223372036854771712", "0"), Some(8000), "no more than the machine has");
        let of_two = |most: &str, high: &str| {
            let files = [("c/s/memory.max", most), ("c/s/memory.high", high), ("c/s/memory.current", "1048576")];
            kib(&machine(TWO, "0::/s\n", &files).1)
        };
        assert_eq!(of_two("max", "max"), Some(8000));
        assert_eq!(of_two("4194304", "max"), Some(3072));
        assert_eq!(of_two("4194304", "2097152"), Some(1024), "from where on it is slowed down");
    }

    #[test]
    fn a_machine_without_such_groups_has_what_it_has() {
        for mounts in ["", "32 31 0:29 / / rw - ext4 /dev/vda rw\n"] {
            assert_eq!(machine(mounts, "", &[]).1.memory_available(), Some(Bytes::from_kib(8000)));
        }
    }
}
