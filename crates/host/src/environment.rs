//! Where a run takes place: the host, and the real target with what lies beneath it.

mod device;
mod file_system;

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use block::Bytes;
pub use device::DeviceInfo;
pub use file_system::FileSystem;
use serde::{Deserialize, Serialize};

use crate::machine::{Machine, word};
use crate::{BlockDevice, DeviceTopology, Mount, open};

/// The host and the target of a run, as far as they can be known: what is not known is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The host's name in its network.
    pub hostname: Option<String>,
    /// The distribution with its version.
    pub os: Option<String>,
    /// The release of the kernel.
    pub kernel: Option<String>,
    /// Maker and model of the machine, as its firmware has them.
    pub machine: Option<String>,
    /// The model of the processor.
    pub cpu: Option<String>,
    /// How many processors the kernel runs on, hardware threads counted one by one.
    pub cores: Option<u32>,
    /// The memory that the kernel has.
    pub memory: Option<Bytes>,
    /// What decides the processor's frequency: `performance`, `powersave`.
    pub governor: Option<String>,
    /// How long the file is that is the target; none where that is no file.
    pub file_length: Option<Bytes>,
    /// The file system that holds the target; none for a block device or a simulated drive.
    pub file_system: Option<FileSystem>,
    /// The block device that is the target or holds it.
    pub device: Option<DeviceInfo>,
    /// What meters its power, as it was asked for.
    pub power: Vec<String>,
    /// How long its power at rest was metered before all else: `10 s`.
    pub power_baseline: Option<String>,
    /// What was measured on the host at the same time by the same command; none where nothing was. A report shows what is
    /// recorded by its name.
    #[serde(rename = "measured_at_the_same_time")]
    pub beside: Option<SideBySide>,
}

/// Drives that are measured at the same time as another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SideBySide {
    /// How many at most.
    #[serde(rename = "other_drives_at_most")]
    pub others: u32,
    /// What of the host they share with it, and which do.
    #[serde(rename = "shared_with_them")]
    pub shared: Vec<String>,
    /// The processors that this drive had for itself: `0,4`.
    #[serde(rename = "processors_of_this_drive")]
    pub cpus: String,
}

impl Environment {
    /// The host alone, as for a simulated drive.
    pub fn of_host() -> Self {
        Self::of_host_at(Path::new("/"))
    }

    /// The host, and what lies beneath `path`: a block device, a file, a directory, or a file yet to be made.
    pub fn with_target(path: &Path) -> Self {
        let found = existing(&crate::block_path(path)).and_then(|path| Some((fs::metadata(&path).ok()?, path)));
        found.map_or_else(Self::of_host, |(target, path)| Self::beneath(&target, &path))
    }

    /// The same for a target that is open, whatever its name leads to by now; a handle will do.
    pub fn with_handle(target: &File) -> Self {
        let path = open::path_of(target).unwrap_or_default();
        target.metadata().map_or_else(|_| Self::of_host(), |found| Self::beneath(&found, &path))
    }

    /// The host, and what lies beneath the target that was found at `path`.
    fn beneath(target: &Metadata, path: &Path) -> Self {
        let mut environment = Self::of_host();
        let slot = |device: &BlockDevice| DeviceTopology::of_numbered(device).slot;
        let device = |number| BlockDevice::find(number).map(|device| DeviceInfo::of(&device, slot(&device)));
        if target.file_type().is_block_device() {
            environment.device = device(target.rdev());
        } else {
            let mounts = Mount::all().unwrap_or_default();
            environment.file_length = target.is_file().then(|| Bytes::new(target.len()));
            environment.file_system = FileSystem::holding(path, &mounts);
            // Some file systems (btrfs, overlay) give files a number of their own; then the mount names its device.
            environment.device = device(target.dev()).or_else(|| {
                let source = environment.file_system.as_ref()?.source.as_ref()?;
                let source = fs::metadata(source).ok().filter(|source| source.file_type().is_block_device())?;
                device(source.rdev())
            });
        }
        environment
    }

    /// The host whose `/proc`, `/sys` and `/etc` are under `root`.
    fn of_host_at(root: &Path) -> Self {
        let kernel = Machine::at(root);
        let cpus = kernel.word("proc/cpuinfo").unwrap_or_default();
        Self {
            hostname: kernel.word("proc/sys/kernel/hostname"),
            os: kernel.word("etc/os-release").and_then(|text| os_name(&text)),
            kernel: kernel.word("proc/sys/kernel/osrelease"),
            machine: machine(root),
            cpu: cpu_model(&cpus),
            cores: cpu_count(&cpus),
            memory: kernel.memory(),
            governor: kernel.governors().into_iter().next(),
            file_length: None,
            file_system: None,
            device: None,
            power: Vec::new(),
            power_baseline: None,
            beside: None,
        }
    }

    /// How much the file or the block device holds that is the target; none for a partition, of which only the whole
    /// device's capacity is known.
    pub fn capacity(&self) -> Option<Bytes> {
        let is_target = |device: &&DeviceInfo| self.file_system.is_none() && device.partition.is_none();
        let device = self.device.as_ref().filter(is_target);
        self.file_length.or_else(|| device?.capacity)
    }

    /// All that is known, for people: a name and a value each.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        let mut add = |name, value: Option<String>| rows.extend(value.map(|value| (name, value)));
        add("Host", self.hostname.clone());
        add("Operating system", self.os.clone());
        add("Kernel", self.kernel.clone());
        add("Machine", self.machine.clone());
        add("Processor", self.cpu.clone());
        add("Processors", self.cores.map(|cores| cores.to_string()));
        add("Memory", self.memory.map(|memory| memory.to_string()));
        add("Frequency governor", self.governor.clone());
        rows.extend(self.file_system.iter().flat_map(FileSystem::rows));
        rows.extend(self.device.iter().flat_map(DeviceInfo::rows));
        rows.extend(self.power.iter().map(|meter| ("Power meter", meter.clone())));
        rows.extend(
            self.power_baseline.iter().map(|time| ("Idle power", format!("measured for {time} before the first step"))),
        );
        if let Some(beside) = &self.beside {
            rows.push(("Measured at the same time", format!("up to {} other drives", beside.others)));
            rows.extend(beside.shared.iter().map(|part| ("Shared with them", part.clone())));
            rows.push(("Processors of this drive", beside.cpus.clone()));
        }
        rows
    }
}

/// `path` without symbolic links, or the directory in which it would be made.
fn existing(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        parent.canonicalize().ok()
    })
}

/// The name of the distribution in the text of `/etc/os-release`.
fn os_name(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = line.trim().trim_matches(['"', '\'']).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The values of a key in the text of `/proc/cpuinfo`.
fn cpu_values<'t>(text: &'t str, key: &str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(|line| line.split_once(':')).filter(move |(name, _)| name.trim() == key).map(|(_, v)| v)
}

fn cpu_model(text: &str) -> Option<String> {
    let name = cpu_values(text, "model name").next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

fn cpu_count(text: &str) -> Option<u32> {
    u32::try_from(cpu_values(text, "processor").count()).ok().filter(|count| *count > 0)
}

/// Maker and model by the firmware's tables or by the device tree.
fn machine(root: &Path) -> Option<String> {
    let entry = |name: &str| word(&root.join("sys/class/dmi/id").join(name)).filter(|value| !is_filler(value));
    match (entry("sys_vendor"), entry("product_name")) {
        (Some(vendor), Some(product)) if product.starts_with(&vendor) => Some(product),
        (Some(vendor), Some(product)) => Some(format!("{vendor} {product}")),
        (vendor, product) => product.or(vendor).or_else(|| word(&root.join("proc/device-tree/model"))),
    }
}

/// Whether a maker left the field as the firmware's author had it.
fn is_filler(value: &str) -> bool {
    const FILLERS: [&str; 8] = [
        "to be filled by o.e.m.",
        "system manufacturer",
        "system product name",
        "default string",
        "not specified",
        "not applicable",
        "unknown",
        "none",
    ];
    FILLERS.contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn a_host_is_described_by_its_files() {
        let root = tree(&[
            ("proc/sys/kernel/hostname", "bench\n"),
            ("proc/sys/kernel/osrelease", "6.12.1-arch\n"),
            ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Intel(R)  Core(TM) i7\n\nprocessor\t: 1\nmodel name\t: x\n",
            ),
            ("proc/meminfo", "MemTotal:       24684092 kB\nMemFree: 5 kB\n"),
            ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
            ("sys/class/dmi/id/product_name", "PowerEdge R640\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ]);
        let some = |text: &str| Some(text.to_owned());
        let expected = Environment {
            hostname: some("bench"),
            os: some("Debian GNU/Linux 12 (bookworm)"),
            kernel: some("6.12.1-arch"),
            machine: some("Dell Inc. PowerEdge R640"),
            cpu: some("Intel(R) Core(TM) i7"),
            cores: Some(2),
            memory: Some(Bytes::from_kib(24_684_092)),
            governor: some("powersave"),
            file_length: None,
            file_system: None,
            device: None,
            power: Vec::new(),
            power_baseline: None,
            beside: None,
        };
        let found = Environment::of_host_at(root.path());
        assert_eq!(found, expected);
        let json = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&json).unwrap(), expected);
        assert_eq!(found.rows().len(), 8);
    }

    #[test]
    fn what_is_measured_at_the_same_time_is_recorded_by_words_and_read_again() {
        let beside =
            SideBySide { others: 3, shared: vec!["controller 0000:01:00.0".to_owned()], cpus: "0,4".to_owned() };
        let environment = Environment { beside: Some(beside), ..Environment::default() };
        let recorded = serde_json::to_value(&environment).unwrap();
        assert_eq!(recorded["measured_at_the_same_time"]["other_drives_at_most"], 3);
        assert_eq!(serde_json::from_value::<Environment>(recorded).unwrap(), environment);
        assert_eq!(environment.rows().len(), 3);
        assert_eq!(Environment::default().rows(), []);
    }

    #[test]
    fn what_is_not_known_is_none() {
        let root = tree(&[
            ("proc/sys/kernel/hostname", "\n"),
            ("etc/os-release", "PRETTY_NAME=\"\"\n"),
            ("proc/cpuinfo", "model name :\n"),
            ("proc/meminfo", "MemTotal: 0 kB\n"),
            ("sys/class/dmi/id/sys_vendor", "To Be Filled By O.E.M.\n"),
            ("sys/class/dmi/id/product_name", "System Product Name\n"),
        ]);
        assert_eq!(Environment::of_host_at(root.path()), Environment::default());
        assert_eq!(Environment::of_host_at(Path::new("/nowhere")).rows(), []);
    }

    #[test]
    fn a_board_without_firmware_tables_names_itself_in_its_device_tree() {
        let root = tree(&[("proc/device-tree/model", "Raspberry Pi 4 Model B\0")]);
        assert_eq!(Environment::of_host_at(root.path()).machine.as_deref(), Some("Raspberry Pi 4 Model B"));
    }

    #[test]
    fn this_machine_is_known() {
        let host = Environment::of_host();
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        assert_eq!(host.kernel, Some(kernel));
        assert!(host.memory > Some(Bytes::from_mib(64)), "{:?}", host.memory);
        assert!(host.cores >= Some(1));
    }

    #[test]
    fn a_file_yet_to_be_made_lies_where_its_directory_does() {
        let folder = tempfile::tempdir().unwrap();
        let made = Environment::with_target(folder.path());
        assert_eq!(Environment::with_target(&folder.path().join("new.bin")), made);
        let held = made.file_system.expect("every directory is on some file system");
        assert!(folder.path().canonicalize().unwrap().starts_with(&held.mount_point), "{held:?}");
        assert_eq!(made.file_length, None);
        std::fs::write(folder.path().join("old.bin"), [1; 512]).unwrap();
        assert_eq!(Environment::with_target(&folder.path().join("old.bin")).capacity(), Some(Bytes::new(512)));
        assert_eq!(Environment::with_target(Path::new("/nowhere/at/all")), Environment::of_host());
    }

    #[test]
    fn what_lies_beneath_a_handle_stays_the_same_when_its_name_is_given_to_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("chosen"), [1; 512]).unwrap();
        fs::write(path("other"), [1; 1024]).unwrap();
        let handle = open::handle(&path("chosen")).unwrap();
        assert_eq!(Environment::with_handle(&handle), Environment::with_target(&path("chosen")));
        fs::rename(path("chosen"), path("away")).unwrap();
        std::os::unix::fs::symlink(path("other"), path("chosen")).unwrap();
        assert_eq!(Environment::with_handle(&handle).file_length, Some(Bytes::new(512)));
    }
}
