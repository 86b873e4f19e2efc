//! What the kernel tells of the machine: memory, load, limits, processors.

use std::fs;
use std::path::{Path, PathBuf};

use block::{Bytes, Nanos};

use crate::memory_group::MemoryGroup;
use crate::mounts::{Mount, unescape};

/// The bit of `CAP_IPC_LOCK`, whose holder may lock any amount of memory.
/// Source: Linux, include/uapi/linux/capability.h.
const CAP_IPC_LOCK: u32 = 14;
/// The most mappings of a process where the kernel does not say. Source: Linux, include/linux/mm.h.
const MAPS_DEFAULT: u64 = 65_530;

/// The machine whose `/proc` and `/sys` lie under a root: `/`, save in tests.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

/// Ticks of all processors together since the machine was started, as `/proc/stat` has them.
///
/// Source: proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTicks {
    /// In programs, those of low priority included.
    pub user: u64,
    /// In the kernel, interrupts included.
    pub system: u64,
    /// With nothing to do.
    pub idle: u64,
    /// With nothing to do while a request to a drive was under way.
    pub waiting: u64,
    /// Taken by the host of a virtual machine.
    pub stolen: u64,
}

impl Machine {
    /// Where each processor is told its governor.
    pub const GOVERNORS: &str = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    /// Where the kernel has its control groups.
    pub const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

    /// This machine.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// One whose files lie under `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The memory that the kernel has.
    pub fn memory(&self) -> Option<Bytes> {
        self.memory_line("MemTotal:").filter(|memory| *memory > Bytes::ZERO)
    }

    /// The memory that this process can have without swapping, and before a control group that it is in is full.
    pub fn memory_available(&self) -> Option<Bytes> {
        let read = |path: &Path| word(&self.root.join(path.strip_prefix("/").unwrap_or(path)));
        let of_group = self.memory_group().and_then(|group| group.available(read));
        [self.memory_line("MemAvailable:"), of_group].into_iter().flatten().min()
    }

    /// The control group that accounts for this process's memory.
    pub fn memory_group(&self) -> Option<MemoryGroup> {
        let mounts = Mount::listed(&self.word("proc/self/mountinfo")?);
        // A line for each hierarchy. Source: cgroups(7), "/proc/pid/cgroup".
        MemoryGroup::of(&mounts, &self.word("proc/self/cgroup").unwrap_or_default())
    }

    /// An amount in `/proc/meminfo`, which says kB and means KiB.
    fn memory_line(&self, key: &str) -> Option<Bytes> {
        let table = self.word("proc/meminfo")?;
        let line = table.lines().find_map(|line| line.strip_prefix(key))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024).map(Bytes::new)
    }

    /// How many processes ran or waited for a device, on average over the last minute.
    pub fn load(&self) -> Option<f64> {
        self.word("proc/loadavg")?.split(' ').next()?.parse().ok()
    }

    /// The time since the machine was started, sleep included.
    pub fn uptime(&self) -> Option<Nanos> {
        let seconds: f64 = self.word("proc/uptime")?.split(' ').next()?.parse().ok()?;
        Some(Nanos::from_nanos((seconds * 1e9) as u64))
    }

    pub fn processor_ticks(&self) -> Option<ProcessorTicks> {
        let text = self.word("proc/stat")?;
        ProcessorTicks::parse(text.lines().next()?)
    }

    /// What decides the frequency of each processor that can change it.
    pub fn governors(&self) -> Vec<String> {
        let processors = entries(&self.root.join("sys/devices/system/cpu"), "cpu");
        processors.iter().filter_map(|processor| word(&processor.join("cpufreq/scaling_governor"))).collect()
    }

    /// Whether the first processor can be told to keep to this governor; none where the kernel does not say.
    pub fn offers_governor(&self, name: &str) -> Option<bool> {
        let offered = self.word("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors")?;
        Some(offered.split_whitespace().any(|governor| governor == name))
    }

    /// Whether the processors are those of a virtual machine.
    ///
    /// Source: Linux, arch/x86/include/asm/cpufeatures.h: `hypervisor`, "Running on a hypervisor".
    pub fn is_virtual(&self) -> bool {
        let processors = self.word("proc/cpuinfo").unwrap_or_default();
        let mut flags = processors.lines().filter(|line| line.starts_with("flags"));
        flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
    }

    /// Whether the kernel has this module loaded.
    pub fn has_loaded(&self, module: &str) -> bool {
        self.root.join("sys/module").join(module).exists()
    }

    /// How far io_uring is disabled: 0 not at all, 1 for most users, 2 for all. None where the kernel has no such setting.
    ///
    /// Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, "io_uring_disabled".
    pub fn io_uring_disabled(&self) -> Option<u32> {
        self.word("proc/sys/kernel/io_uring_disabled")?.parse().ok()
    }

    /// Whether this process may lock any amount of memory.
    pub fn may_lock_any_memory(&self) -> bool {
        self.word("proc/self/status").is_some_and(|status| has_capability(&status, CAP_IPC_LOCK))
    }

    /// How many mappings of memory this process may still make.
    pub fn mappings_left(&self) -> u64 {
        let limit = self.word("proc/sys/vm/max_map_count").and_then(|text| text.parse().ok()).unwrap_or(MAPS_DEFAULT);
        let used = self.word("proc/self/maps").map_or(0, |maps| maps.lines().count() as u64);
        limit.saturating_sub(used)
    }

    /// Whether the kernel knows this file system. One that is a module it knows once that is loaded.
    pub fn knows_file_system(&self, name: &str) -> bool {
        let known = self.word("proc/filesystems").unwrap_or_default();
        known.lines().any(|line| line.split_whitespace().last() == Some(name))
    }

    /// The devices and files that are swapped to.
    pub fn swaps(&self) -> Vec<PathBuf> {
        let table = self.word("proc/swaps").unwrap_or_default();
        let paths = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        paths.map(|path| PathBuf::from(unescape(path))).collect()
    }

    /// Whether a client is connected to the socket at `path`, which must be as its server named it.
    pub fn is_connected(&self, path: &Path) -> bool {
        // One end of a connection, be it that the other waits to be let in: `SS_CONNECTING` and `SS_CONNECTED`.
        // Source: Linux, include/uapi/linux/net.h.
        const CONNECTED: [&str; 2] = ["02", "03"];
        let sockets = self.word("proc/net/unix").unwrap_or_default();
        let name = format!(" {}", path.display());
        let is_connected = |line: &str| line.split_whitespace().nth(5).is_some_and(|state| CONNECTED.contains(&state));
        sockets.lines().any(|line| line.ends_with(&name) && is_connected(line))
    }

    /// What a file holds, whose path is relative to the root.
    pub(crate) fn word(&self, path: &str) -> Option<String> {
        word(&self.root.join(path))
    }
}

impl ProcessorTicks {
    /// Reads the line `cpu  10 0 10 100 ...`; a kernel that counts less has zeros.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("cpu")?.split_whitespace().map(|word| word.parse().unwrap_or(0_u64));
        let [user, nice, system, idle, waiting, interrupts, soft, stolen]: [u64; 8] =
            std::array::from_fn(|_| words.next().unwrap_or(0));
        Some(Self { user: user + nice, system: system + interrupts + soft, idle, waiting, stolen })
    }

    /// What was added since `earlier`; a count that was set back, as idle time can be, has not grown.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            waiting: self.waiting.saturating_sub(earlier.waiting),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    /// All of them.
    pub const fn sum(self) -> u64 {
        self.user + self.system + self.idle + self.waiting + self.stolen
    }
}

/// Whether the process with this `/proc/PID/status` has the capability of this number.
fn has_capability(status: &str, number: u32) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits >> number & 1 == 1)
}

/// What a file holds, without the space around it; none if it cannot be read or holds nothing.
pub(crate) fn word(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// What lies in a folder under names that begin with `prefix`, in the order of names.
pub(crate) fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(prefix);
    let found = fs::read_dir(folder).into_iter().flatten().flatten().filter(named);
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_one_bit_of_the_effective_set() {
        let status = "CapPrm:\tffffffffffffffff\nCapEff:\t0000000000004000\n";
        assert!(has_capability(status, CAP_IPC_LOCK));
        assert!(!has_capability(status, CAP_IPC_LOCK + 1));
        assert!(!has_capability("Name:\tassay", CAP_IPC_LOCK));
    }

    #[test]
    fn ticks_are_added_by_what_they_were_for() {
        let ticks = |line| ProcessorTicks::parse(line).unwrap();
        let grown = ticks("cpu  30 10 20 150 30 5 5 2 0 0").since(ticks("cpu  10 0 10 160 0 0 0 0 0 0"));
        assert_eq!(grown, ProcessorTicks { user: 30, system: 20, idle: 0, waiting: 30, stolen: 2 });
        assert_eq!((grown.sum(), ProcessorTicks::parse("intr 1")), (82, None));
    }

    #[test]
    fn this_machine_tells_all_that_runs_need() {
        let machine = Machine::here();
        assert!(machine.memory_available().unwrap() < machine.memory().unwrap());
        assert!(machine.load().is_some() && machine.uptime() > Some(Nanos::ZERO) && machine.mappings_left() > 1_000);
        assert!(machine.knows_file_system("proc") && !machine.knows_file_system("no-such-system"));
        assert!(machine.processor_ticks().unwrap().sum() > 0);
    }

    #[test]
    fn a_machine_that_tells_nothing_has_nothing() {
        let machine = Machine::at("/nowhere");
        assert_eq!((machine.memory(), machine.load(), machine.io_uring_disabled()), (None, None, None));
        assert!(machine.swaps().is_empty() && machine.governors().is_empty() && !machine.may_lock_any_memory());
        assert_eq!(machine.mappings_left(), MAPS_DEFAULT);
    }
}
