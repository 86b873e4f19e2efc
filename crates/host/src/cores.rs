//! The processor cores that this process may use, and who has which of them.

use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::machine::{entries, word};

/// A core with its hardware threads, which share its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// The numbers of its processors.
    pub cpus: Vec<u32>,
    /// The NUMA node that it belongs to; none where the kernel has no nodes.
    pub node: Option<u32>,
}

impl Core {
    /// Those of which this process may use a processor at least, each with the processors that it may use.
    pub fn all() -> Vec<Self> {
        let set = sched_getaffinity(None).unwrap_or_default();
        Self::among(Path::new("/sys"), &|cpu| {
            usize::try_from(cpu).is_ok_and(|cpu| cpu < CpuSet::MAX_CPU && set.is_set(cpu))
        })
    }

    /// Those of the tree at `sys` with a processor that is `allowed`.
    ///
    /// Source: Linux, Documentation/admin-guide/cputopology.rst; before 5.2 `core_cpus_list` was `thread_siblings_list`.
    fn among(sys: &Path, allowed: &dyn Fn(u32) -> bool) -> Vec<Self> {
        let mut cores: Vec<Self> = Vec::new();
        let folders = entries(&sys.join("devices/system/cpu"), "cpu");
        let number = |folder: &Path| folder.file_name()?.to_str()?.strip_prefix("cpu")?.parse::<u32>().ok();
        let mut folders: Vec<_> = folders.into_iter().filter_map(|folder| Some((number(&folder)?, folder))).collect();
        folders.sort();
        for (cpu, folder) in folders.into_iter().filter(|(cpu, _)| allowed(*cpu)) {
            if cores.iter().any(|core| core.cpus.contains(&cpu)) {
                continue;
            }
            let lists =
                ["core_cpus_list", "thread_siblings_list"].map(|name| word(&folder.join("topology").join(name)));
            let listed = lists.into_iter().flatten().next().map_or_else(Vec::new, |list| numbers(&list));
            let mut cpus: Vec<u32> = listed.into_iter().filter(|cpu| allowed(*cpu)).collect();
            if !cpus.contains(&cpu) {
                cpus = vec![cpu];
            }
            let node = entries(&folder, "node")
                .iter()
                .find_map(|node| node.file_name()?.to_str()?.strip_prefix("node")?.parse().ok());
            cores.push(Self { cpus, node });
        }
        cores
    }

    /// Lets this thread, and those that it starts from now on, use these cores alone.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn confine_to(cpus: &[u32]) -> std::io::Result<()> {
        let mut set = CpuSet::new();
        let known = cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).filter(|cpu| *cpu < CpuSet::MAX_CPU);
        known.for_each(|cpu| set.set(cpu));
        Ok(sched_setaffinity(None, &set)?)
    }
}

/// Cores that are given out, each to one at a time.
#[derive(Clone, Debug)]
pub struct CorePool {
    free: Vec<Core>,
}

impl CorePool {
    /// Of these cores.
    pub fn of(cores: Vec<Core>) -> Self {
        Self { free: cores }
    }

    /// Takes `count` cores, those of `node` first; none where fewer are free.
    pub fn take(&mut self, count: usize, node: Option<u32>) -> Option<Vec<Core>> {
        if self.free.len() < count {
            return None;
        }
        // In its order, so that the same cores go to the same drives.
        let is_near = |core: &Core| node.is_none() || core.node == node;
        let (near, far): (Vec<Core>, Vec<Core>) = self.free.drain(..).partition(is_near);
        let mut all = near.into_iter().chain(far);
        let taken = all.by_ref().take(count).collect();
        self.free = all.collect();
        Some(taken)
    }

    /// Takes cores back.
    pub fn give_back(&mut self, cores: Vec<Core>) {
        self.free.extend(cores);
        self.free.sort_by_key(|core| core.cpus.first().copied());
    }
}

/// The numbers of a list of the kernel's: `0-3,8`.
fn numbers(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (last >= first && last - first < 4096).then_some(first..=last)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A host of two nodes, each of two cores of two threads, numbered as Intel does.
    fn tree() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        for cpu in 0..8_u32 {
            let folder = sys.path().join(format!("devices/system/cpu/cpu{cpu}"));
            fs::create_dir_all(folder.join("topology")).unwrap();
            fs::create_dir_all(folder.join(format!("node{}", cpu % 4 / 2))).unwrap();
            fs::write(folder.join("topology/core_cpus_list"), format!("{},{}\n", cpu % 4, cpu % 4 + 4)).unwrap();
        }
        fs::create_dir_all(sys.path().join("devices/system/cpu/cpufreq")).unwrap();
        sys
    }

    fn core(cpus: &[u32], node: u32) -> Core {
        Core { cpus: cpus.to_vec(), node: Some(node) }
    }

    #[test]
    fn threads_of_a_core_are_one_core() {
        let sys = tree();
        let all = Core::among(sys.path(), &|_| true);
        assert_eq!(all, [core(&[0, 4], 0), core(&[1, 5], 0), core(&[2, 6], 1), core(&[3, 7], 1)]);
        let some = Core::among(sys.path(), &|cpu| cpu > 4);
        assert_eq!(some, [core(&[5], 0), core(&[6], 1), core(&[7], 1)], "what this process may use");
        assert_eq!(numbers("0-2,8, 10-11"), [0, 1, 2, 8, 10, 11]);
        assert!(numbers("2-1,x,,0-4294967295").is_empty());
    }

    #[test]
    fn a_core_is_given_to_one_at_a_time_and_near_ones_first() {
        let mut pool = CorePool::of(Core::among(tree().path(), &|_| true));
        assert_eq!(pool.take(1, Some(1)).unwrap(), [core(&[2, 6], 1)]);
        assert_eq!(pool.take(2, Some(1)).unwrap(), [core(&[3, 7], 1), core(&[0, 4], 0)], "one near, one far");
        assert_eq!(pool.take(2, None), None);
        pool.give_back(vec![core(&[0, 4], 0)]);
        assert_eq!(pool.take(2, None).unwrap(), [core(&[0, 4], 0), core(&[1, 5], 0)]);
    }

    #[test]
    fn this_process_has_a_core_and_may_be_confined_to_it() {
        let cores = Core::all();
        assert!(!cores.is_empty() && cores.iter().all(|core| !core.cpus.is_empty()));
        std::thread::spawn(move || {
            Core::confine_to(&cores[0].cpus).unwrap();
            assert_eq!(Core::all().len(), 1);
        })
        .join()
        .unwrap();
        assert!(Core::confine_to(&[]).is_err());
    }
}
