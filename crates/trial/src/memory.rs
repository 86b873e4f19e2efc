//! A limit to the memory of processes, their part of the page cache included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use block::Bytes;
use host::{GroupVersion, Machine, MemoryGroup, open, program};

use crate::{Cleanup, CleanupAction, CleanupGuard, TrialDevice, TrialError};

/// So much of a limit, one part in so many, may be data that waits to be written.
const DIRTY_SHARE: u64 = 4;

/// A memory control group, until this is dropped: who is in it then goes back to where this process was.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    group: PathBuf,
    limit: Bytes,
    /// Whether the kernel slows down those in it who write faster than the drive.
    slows_writers: bool,
    _leave: CleanupGuard,
}

/// Where control groups for memory are, of either version of the kernel's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Groups {
    /// The group that this process is in.
    home: PathBuf,
    /// In which a new one can be made.
    parent: PathBuf,
    version: GroupVersion,
}

impl MemoryLimit {
    /// A group that nobody is in yet, for programs that are started in it.
    ///
    /// # Errors
    /// If this machine has no memory control groups that a process could be put into.
    pub(crate) fn make(limit: Bytes, aftermath: &Cleanup) -> Result<Self, TrialError> {
        Self::made(limit, aftermath, None)
    }

    /// The same for this process, which [enters](Self::enter) it. Should the kernel end it there, the promise to leave the
    /// group says why.
    ///
    /// # Errors
    /// As those of [`make`](Self::make).
    pub(crate) fn make_for_this(limit: Bytes, aftermath: &Cleanup) -> Result<Self, TrialError> {
        Self::made(limit, aftermath, Some(limit))
    }

    fn made(limit: Bytes, aftermath: &Cleanup, own_limit: Option<Bytes>) -> Result<Self, TrialError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let groups = Groups::find().map_err(TrialError::Lacks)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let group = groups.parent.join(format!("assay-{}-{number}", std::process::id()));
        let leave =
            aftermath.promise(CleanupAction::LeaveGroup { group: group.clone(), home: groups.home, own_limit })?;
        let made = fs::create_dir(&group)
            .and_then(|()| open::set(&group.join(groups.version.limit()), &limit.get().to_string()));
        made.map_err(TrialError::at(&group))?;
        Ok(Self { group, limit, slows_writers: groups.version == GroupVersion::Two, _leave: leave })
    }

    /// Limits the memory that this process takes from now on; what it has already does not count.
    ///
    /// # Errors
    /// If it cannot be put into the group.
    pub(crate) fn enter(&self) -> Result<(), TrialError> {
        let inside = self.inside();
        open::set(&inside, &std::process::id().to_string()).map_err(TrialError::at(inside))
    }

    /// Leaves room in the group beside data that waits to be written to the stage, until what this gives is dropped.
    /// Where
    /// the kernel does not slow writers of a group down, one full of such data has its processes ended for want of
    /// memory.
    ///
    /// Source: Linux, Documentation/ABI/testing/sysfs-class-bdi; Documentation/admin-guide/cgroup-v2.rst, "Writeback".
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn leave_room(&self, stage: &TrialDevice, aftermath: &Cleanup) -> Result<Vec<CleanupGuard>, TrialError> {
        let Some(folder) = stage.described().map(|device| device.writeback()) else { return Ok(Vec::new()) };
        let of = |name: &str| folder.join(name);
        let known = |name: &str| fs::read_to_string(of(name)).ok().map(|text| text.trim().to_owned());
        // Before Linux 6.2 there are no such settings.
        let (Some(strict), Some(ratio), false) = (known("strict_limit"), known("max_ratio_fine"), self.slows_writers)
        else {
            return Ok(Vec::new());
        };
        let wanted = [("strict_limit", strict, "strict_limit", "1".to_owned())];
        let share = (self.limit.get() / DIRTY_SHARE).to_string();
        let wanted = wanted.into_iter().chain([("max_ratio_fine", ratio, "max_bytes", share)]);
        let change = |(restored, before, changed, text): (&str, String, &str, String)| {
            let promise = aftermath.promise(CleanupAction::Restore { path: of(restored), text: before })?;
            open::set(&of(changed), &text).map_err(TrialError::at(of(changed)))?;
            Ok(promise)
        };
        wanted.map(change).collect()
    }

    /// The same command in the group from its first moment; what becomes of its output is told to the new one.
    pub(crate) fn around(&self, command: &Command) -> Command {
        let mut shell = program::at(Path::new("/bin/sh"));
        shell.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(self.inside());
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        command.get_current_dir().map(|folder| shell.current_dir(folder));
        shell
    }

    /// How many of its processes the kernel has ended for want of memory.
    pub(crate) fn killed(&self) -> u64 {
        killed(&self.group)
    }

    /// That the kernel has ended a program in it for want of memory; none if it has not.
    pub(crate) fn misfortune(&self) -> Option<String> {
        (self.killed() > 0)
            .then(|| format!("the kernel ended it for want of memory, which was limited to {}", self.limit))
    }

    /// The file that holds who is in the group.
    fn inside(&self) -> PathBuf {
        self.group.join("cgroup.procs")
    }
}

/// How many processes in a group the kernel has ended for want of memory.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, `memory.events`; cgroup-v1/memory.rst, section 10.
fn killed(group: &Path) -> u64 {
    let texts = ["memory.events", "memory.oom_control"].map(|name| fs::read_to_string(group.join(name)));
    let lines = texts.iter().flatten().flat_map(|text| text.lines());
    lines.filter_map(|line| line.strip_prefix("oom_kill ")?.parse::<u64>().ok()).sum()
}

/// That a process was killed because it limited its own memory to this by the group; none if the group has seen nobody killed.
pub(crate) fn cause_of_end(group: &Path, limit: Bytes) -> Option<String> {
    (killed(group) > 0).then(|| {
        format!(
            "the kernel ended assay for want of memory: the step limits it to {limit} (cache = \"limit\", control group {}), \
             and that was full; give the step more `memory`, or choose cache = \"drop\" or \"bypass\"",
            group.display()
        )
    })
}

/// What this machine lacks to limit the memory of a process; none if nothing.
pub(crate) fn unavailable() -> Option<String> {
    Groups::find().err()
}

impl Groups {
    fn find() -> Result<Self, String> {
        let found = Self::of(Machine::here().memory_group(), |group| {
            let passed_on = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
            passed_on.split_whitespace().any(|controller| controller == "memory")
        });
        found.map_err(|reason| format!("memory cannot be limited here: {reason}"))
    }

    /// By the group that this process is in; `passes_on` says whether groups in a group of version 2 account for memory.
    ///
    /// In version 1 a group may lie in that of the process. In version 2 one that has processes has no groups that
    /// account for memory, so it lies in the nearest above that has some.
    /// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint".
    fn of(own: Option<MemoryGroup>, passes_on: impl Fn(&Path) -> bool) -> Result<Self, String> {
        let own = own.ok_or("the kernel has no memory control groups")?;
        let parent = match own.version {
            GroupVersion::One => Some(own.home.as_path()),
            // The root alone may have both processes and groups that account for memory.
            GroupVersion::Two => {
                own.enclosing().find(|group| (*group != own.home || own.home == own.top) && passes_on(group))
            }
        };
        let parent = parent
            .ok_or_else(|| format!("no parent group of {} delegates the memory controller", own.home.display()))?
            .to_owned();
        Ok(Self { parent, home: own.home, version: own.version })
    }
}

#[cfg(test)]
mod tests {
    use host::Mount;

    use super::*;

    #[test]
    fn a_group_of_the_first_version_lies_in_that_of_the_process() {
        let mounts = Mount::listed(
            "34 31 0:31 / /c/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /c/memory rw,nosuid - cgroup cgroup rw,memory\n\
             41 31 0:38 / /c/unified rw - cgroup2 none rw\n",
        );
        let groups = Groups::of(MemoryGroup::of(&mounts, "4:memory:/a/b\n0::/\n"), |_| true).unwrap();
        assert_eq!((groups.home, groups.version), ("/c/memory/a/b".into(), GroupVersion::One));
        assert_eq!(groups.parent, Path::new("/c/memory/a/b"));
        // In a container, to which only its own group is shown.
        let mounts = Mount::listed("35 31 0:32 /docker/x /c/memory rw - cgroup cgroup rw,memory\n");
        let home = |own: &str| Groups::of(MemoryGroup::of(&mounts, own), |_| true).unwrap().home;
        assert_eq!(home("4:memory:/docker/x\n"), Path::new("/c/memory"));
        assert_eq!(home("4:memory:/docker/x/y\n"), Path::new("/c/memory/y"));
    }

    #[test]
    fn a_group_of_the_second_version_lies_in_the_nearest_above_that_passes_memory_on() {
        let mounts = Mount::listed("32 31 0:29 / /c rw,nosuid - cgroup2 cgroup2 rw\n");
        let parent = |own: &str, passes_on: &[&str]| {
            let found =
                Groups::of(MemoryGroup::of(&mounts, own), |group| passes_on.iter().any(|one| Path::new(one) == group));
            found.map(|groups| (groups.parent.display().to_string(), groups.version))
        };
        let lies = |group: &str| Ok((group.to_owned(), GroupVersion::Two));
        assert_eq!(parent("0::/user/one/shell\n", &["/c", "/c/user", "/c/user/one"]), lies("/c/user/one"));
        assert_eq!(parent("0::/user/one/shell\n", &["/c"]), lies("/c"));
        assert_eq!(parent("0::/\n", &["/c"]), lies("/c"));
        let said = parent("0::/user\n", &["/c/user"]).unwrap_err();
        assert_eq!(said, "no parent group of /c/user delegates the memory controller", "its own has processes");
        assert!(parent("0::/\n", &[]).is_err() && Groups::of(None, |_| true).is_err());
    }

    /// Whether what has no room in memory can be swapped out.
    fn has_swap() -> bool {
        fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1)
    }

    #[test]
    fn a_program_is_limited_from_its_first_moment_and_ended_if_it_needs_more() {
        if let Some(reason) =
            unavailable().or_else(|| (!rustix::process::geteuid().is_root()).then(|| "no root".to_owned()))
        {
            println!("skipped: {reason}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(folder.path()).unwrap();
        let limit = MemoryLimit::make(Bytes::from_mib(16), &aftermath).unwrap();
        let name = limit.group.file_name().unwrap().to_str().unwrap().to_owned();
        let run =
            |script: &str| limit.around(Command::new("sh").args(["-c", script]).env("WORD", "told")).output().unwrap();
        let said = String::from_utf8(run("echo $WORD; cat /proc/self/cgroup").stdout).unwrap();
        assert!(said.starts_with("told\n") && said.contains(&name), "{said}");
        assert_eq!(limit.killed(), 0);
        // What has no end of line is kept until the last byte.
        run("head -c 100000000 /dev/zero | tail");
        assert!(limit.killed() > 0 || has_swap(), "100 MB do not go into 16 MiB");
        let group = limit.group.clone();
        assert!(group.exists());
        drop(limit);
        assert!(!group.exists());
    }
}
