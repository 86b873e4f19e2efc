//! A group of processes that have, with the kernel's cache of what they read and write, so much memory and no more.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use block::Bytes;

use crate::{Aftermath, Promise, TrialError, Undo};

/// A control group with a limit of memory, until it is dropped.
#[derive(Debug)]
pub struct Confinement {
    folder: PathBuf,
    _promise: Promise,
}

/// How the kernel has control groups of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    folder: PathBuf,
    /// The file of a group that holds its limit.
    limit: &'static str,
}

impl Confinement {
    /// What this machine lacks for one; none if nothing.
    pub fn lacks() -> Option<String> {
        let lacks = "this kernel has no control groups of memory mounted; leave `memory` out";
        hierarchy().is_none().then(|| lacks.to_owned())
    }

    /// A group with this much memory, that no process is in yet.
    ///
    /// # Errors
    /// If the kernel has no such groups, or refuses the limit.
    pub fn new(aftermath: &Aftermath, memory: Bytes) -> Result<Self, TrialError> {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let hierarchy = hierarchy().ok_or_else(|| TrialError::Lacks(Self::lacks().unwrap_or_default()))?;
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = hierarchy.folder.join(format!("assay-{}-{number}", std::process::id()));
        let promise = aftermath.promise(Undo::LeaveGroup { group: folder.clone(), home: hierarchy.folder })?;
        fs::create_dir(&folder).map_err(TrialError::at(&folder))?;
        let limit = folder.join(hierarchy.limit);
        fs::write(&limit, memory.get().to_string()).map_err(TrialError::at(&limit))?;
        Ok(Self { folder, _promise: promise })
    }

    /// How many of its processes the kernel has ended for want of memory.
    /// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, `memory.events`; cgroup-v1/memory.rst, section 10.
    pub fn killed(&self) -> u64 {
        let texts = ["memory.events", "memory.oom_control"].map(|name| fs::read_to_string(self.folder.join(name)));
        let lines = texts.iter().flatten().flat_map(|text| text.lines());
        lines.filter_map(|line| line.strip_prefix("oom_kill ")?.parse::<u64>().ok()).sum()
    }

    /// The same command in the group.
    pub fn around(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(self.folder.join("cgroup.procs"));
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.current_dir("/");
        shell
    }
}

fn hierarchy() -> Option<Hierarchy> {
    find(&fs::read_to_string("/proc/self/mounts").ok()?, |folder| {
        let controllers = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        controllers.split_whitespace().any(|name| name == "memory")
    })
}

/// The hierarchy that has memory among these mounts; `hands_down` says whether a unified one does.
/// Source: Linux, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
fn find(mounts: &str, hands_down: impl Fn(&Path) -> bool) -> Option<Hierarchy> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (folder, kind, options) = (PathBuf::from(words.next()?), words.next()?, words.next()?);
        match kind {
            "cgroup" if options.split(',').any(|option| option == "memory") => {
                Some(Hierarchy { folder, limit: "memory.limit_in_bytes" })
            }
            "cgroup2" if hands_down(&folder) => Some(Hierarchy { folder, limit: "memory.max" }),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found_in_either_kind_of_hierarchy() {
        let old = "tmpfs /c tmpfs rw 0 0\ncgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/memory cgroup rw,memory 0 0\n";
        let both = Hierarchy { folder: "/c/memory".into(), limit: "memory.limit_in_bytes" };
        assert_eq!(find(old, |_| false), Some(both));
        let new = "cgroup2 /c cgroup2 rw,nosuid 0 0\n";
        assert_eq!(find(new, |_| true), Some(Hierarchy { folder: "/c".into(), limit: "memory.max" }));
        assert_eq!(find(new, |_| false), None);
    }
}
