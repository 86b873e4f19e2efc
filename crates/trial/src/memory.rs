//! A limit to the memory of a process, its part of the page cache included.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use block::Bytes;

use crate::{Aftermath, Promise, TrialError, Undo};

/// A memory control group, until this is dropped: who is in it then goes back to where this process was.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    group: PathBuf,
    _leave: Promise,
}

/// Where control groups for memory are, of either version of the kernel's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Groups {
    /// The group that this process is in.
    home: PathBuf,
    /// In which a new one can be made.
    parent: PathBuf,
    /// The file of a group that holds the limit.
    limit: &'static str,
}

impl MemoryLimit {
    /// A group that nobody is in yet.
    ///
    /// # Errors
    /// If this machine has no memory control groups that a process could be put into.
    pub(crate) fn make(limit: Bytes, aftermath: &Aftermath) -> Result<Self, TrialError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let groups = Groups::find().map_err(TrialError::Lacks)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let group = groups.parent.join(format!("assay-{}-{number}", std::process::id()));
        let leave = aftermath.promise(Undo::LeaveGroup { group: group.clone(), home: groups.home })?;
        let made = fs::create_dir(&group).and_then(|()| fs::write(group.join(groups.limit), limit.get().to_string()));
        made.map_err(TrialError::at(&group))?;
        Ok(Self { group, _leave: leave })
    }

    /// Limits the memory that a process takes from now on; what it has already does not count.
    ///
    /// # Errors
    /// If it cannot be put into the group.
    pub(crate) fn bind(&self, pid: u32) -> Result<(), TrialError> {
        let inside = self.group.join("cgroup.procs");
        fs::write(&inside, pid.to_string()).map_err(TrialError::at(inside))
    }
}

/// What this machine lacks to limit the memory of a process; none if nothing.
pub(crate) fn lacks() -> Option<String> {
    Groups::find().err()
}

impl Groups {
    fn find() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let groups = Self::of(&mounts, &own).ok_or_else(|| without("the kernel has no memory control groups"))?;
        let controllers = fs::read_to_string(groups.parent.join("cgroup.subtree_control"));
        let is_passed_on = |list: String| list.split_whitespace().any(|name| name == "memory");
        if groups.limit == "memory.max" && !controllers.is_ok_and(is_passed_on) {
            let parent = groups.parent.display();
            return Err(without(&format!("{parent} does not pass the memory controller on to groups in it")));
        }
        Ok(groups)
    }

    /// By the lines of `/proc/self/mounts` and `/proc/self/cgroup`.
    ///
    /// In version 1 a group may lie in that of the process. In version 2 one that has processes has no groups that
    /// account for memory, so it lies beside, or in the root.
    /// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint".
    fn of(mounts: &str, own: &str) -> Option<Self> {
        let mount = |of: &dyn Fn(&[&str]) -> bool| {
            let lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<&str>>());
            lines.filter(|words| words.len() > 3).find(|words| of(words)).map(|words| PathBuf::from(words[1]))
        };
        let group = |of: &dyn Fn(&str) -> bool| {
            let mut lines = own.lines().map(|line| line.splitn(3, ':').collect::<Vec<&str>>());
            let found = lines.find(|words| words.len() == 3 && of(words[1]));
            found.map(|words| words[2].trim_start_matches('/').to_owned())
        };
        let is_memory = |names: &str| names.split(',').any(|name| name == "memory");
        if let Some(root) = mount(&|words| words[2] == "cgroup" && is_memory(words[3])) {
            let home = root.join(group(&is_memory)?);
            return Some(Self { parent: home.clone(), home, limit: "memory.limit_in_bytes" });
        }
        let root = mount(&|words| words[2] == "cgroup2")?;
        let home = root.join(group(&str::is_empty)?);
        let parent = if home == root { root } else { home.parent().map_or(root, Path::to_owned) };
        Some(Self { home, parent, limit: "memory.max" })
    }
}

fn without(reason: &str) -> String {
    format!("memory cannot be limited here: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_the_first_version_lies_in_that_of_the_process_and_one_of_the_second_beside_it() {
        let first = "cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,memory 0 0\n\
                     none /sys/fs/cgroup/unified cgroup2 rw 0 0";
        let groups = Groups::of(first, "4:memory:/a/b\n0::/\n").unwrap();
        assert_eq!((groups.home, groups.limit), ("/sys/fs/cgroup/memory/a/b".into(), "memory.limit_in_bytes"));
        assert_eq!(groups.parent, Path::new("/sys/fs/cgroup/memory/a/b"));
        let second = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0";
        let groups = Groups::of(second, "0::/user.slice/session-1.scope\n").unwrap();
        assert_eq!((groups.parent, groups.limit), ("/sys/fs/cgroup/user.slice".into(), "memory.max"));
        let root = Groups::of(second, "0::/\n").unwrap();
        assert_eq!((root.home, root.parent), ("/sys/fs/cgroup/".into(), "/sys/fs/cgroup".into()));
        assert_eq!(Groups::of("proc /proc proc rw 0 0", ""), None);
    }
}
