//! Where things are on the machine that is examined, and how more of them are installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use host::power::Sensors;

/// The machine that is examined: its files, its programs, its package manager.
pub(super) struct Machine {
    /// Under which everything is looked for; `/`, save in tests.
    root: PathBuf,
    /// Where programs are looked for, in order.
    search: Vec<PathBuf>,
    /// How it installs programs; none where that is not known.
    distribution: Option<Distribution>,
    /// What its kernel tells.
    pub kernel: host::Machine,
    /// The release of its kernel: `6.1.0-56-amd64`.
    pub release: String,
    /// Whether the examiner is the superuser.
    pub is_root: bool,
}

impl Machine {
    /// This machine, as this process sees it.
    pub fn here() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        Self::at(PathBuf::from("/"), search, rustix::process::geteuid().is_root(), &release)
    }

    /// A machine whose files lie under `root`. Folders that an ordinary user's `PATH` often lacks are
    /// searched after those of `search`: the administrator's, and those of Debian's PostgreSQL.
    pub fn at(root: PathBuf, search: Vec<PathBuf>, is_root: bool, release: &str) -> Self {
        let kernel = host::Machine::at(&root);
        let mut machine = Self { root, search, distribution: None, kernel, release: release.to_owned(), is_root };
        let administrator = ["usr/local/sbin", "usr/sbin", "sbin"].map(|folder| machine.root.join(folder));
        machine.search.extend(administrator);
        let databases = machine.list("usr/lib/postgresql", "");
        machine.search.extend(databases.into_iter().rev().map(|version| version.join("bin")));
        machine.distribution = machine.read("etc/os-release").and_then(|text| Distribution::of(&text));
        machine
    }

    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let runs = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        self.search.iter().map(|folder| folder.join(name)).find(runs)
    }

    /// Whether there is anything at `path`, which is relative to the root.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The text at `path`, trimmed; none if it cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok().map(|text| text.trim().to_owned())
    }

    /// What lies in the folder at `path` under names that begin with `prefix`, in the order of names.
    pub fn list(&self, path: impl AsRef<Path>, prefix: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.root.join(path)) else { return Vec::new() };
        let named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(prefix);
        let mut paths: Vec<_> = entries.flatten().filter(named).map(|entry| entry.path()).collect();
        paths.sort();
        paths
    }

    /// What it has that meters power.
    pub fn sensors(&self) -> Sensors {
        Sensors::under(&self.root)
    }

    /// `command` as this user has to type it.
    pub fn as_root(&self, command: &str) -> String {
        if self.is_root { command.to_owned() } else { format!("sudo {command}") }
    }

    /// Whether `modprobe` would find a module of this name for the kernel that runs.
    ///
    /// Source: modules.dep(5); `-` and `_` are the same in names of modules, modprobe(8).
    pub fn has_module(&self, name: &str) -> bool {
        let index = self.read(format!("lib/modules/{}/modules.dep", self.release)).unwrap_or_default();
        let files = index.lines().filter_map(|line| line.split_once(':')?.0.rsplit('/').next());
        files.filter_map(|file| file.split_once(".ko")).any(|(module, _)| module.replace('-', "_") == name)
    }

    /// The command that loads a module of the kernel's, after what brings the program for it where that is not there.
    pub fn load(&self, module: &str) -> String {
        let load = self.as_root(&format!("modprobe {module}"));
        match (self.program("modprobe"), self.distribution) {
            (None, Some(_)) => format!("{} && {load}", self.install(Packages::same("kmod"))),
            _ => load,
        }
    }

    /// The command that installs one of `packages`, after the lists of what there is where a fresh system has none.
    pub fn install(&self, packages: Packages) -> String {
        match self.distribution {
            Some(distribution @ (Distribution::Debian | Distribution::Ubuntu)) if !self.has_lists() => {
                format!("{} && {}", self.as_root("apt-get update"), self.as_root(&distribution.install(packages)))
            }
            Some(distribution) => self.as_root(&distribution.install(packages)),
            None => format!("install {} with this system's package manager", packages.debian),
        }
    }

    /// Whether apt knows any package.
    fn has_lists(&self) -> bool {
        self.list("var/lib/apt/lists", "").iter().any(|path| path.to_string_lossy().contains("_Packages"))
    }
}

/// What one thing's package is called by each distribution.
#[derive(Clone, Copy)]
pub(super) struct Packages {
    pub debian: &'static str,
    pub ubuntu: &'static str,
    pub fedora: &'static str,
    pub arch: &'static str,
    pub suse: &'static str,
}

impl Packages {
    /// The same name everywhere.
    pub const fn same(name: &'static str) -> Self {
        Self { debian: name, ubuntu: name, fedora: name, arch: name, suse: name }
    }
}

/// A family of distributions that share a package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distribution {
    Debian,
    Ubuntu,
    Fedora,
    Arch,
    Suse,
}

impl Distribution {
    /// Which one an `os-release` file names: by `ID`, or else by the first of `ID_LIKE` that is known.
    ///
    /// Source: os-release(5), "ID=" and "ID_LIKE=".
    fn of(os_release: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            Some(line.trim().trim_matches(['"', '\'']))
        };
        let names = [value("ID"), value("ID_LIKE")].into_iter().flatten().flat_map(str::split_whitespace);
        names.into_iter().find_map(|name| match name {
            "debian" => Some(Self::Debian),
            "ubuntu" => Some(Self::Ubuntu),
            "fedora" | "rhel" | "centos" => Some(Self::Fedora),
            "arch" => Some(Self::Arch),
            name if name == "suse" || name.starts_with("opensuse") || name.starts_with("sle") => Some(Self::Suse),
            _ => None,
        })
    }

    fn install(self, packages: Packages) -> String {
        match self {
            Self::Debian => format!("apt-get install {}", packages.debian),
            Self::Ubuntu => format!("apt-get install {}", packages.ubuntu),
            Self::Fedora => format!("dnf install {}", packages.fedora),
            Self::Arch => format!("pacman -S {}", packages.arch),
            Self::Suse => format!("zypper install {}", packages.suse),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A machine made of the files given, each with its text; those under `bin` can be run.
    pub fn machine_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            if path.parent().unwrap().ends_with("bin") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let search = vec![root.path().join("bin")];
        let machine = Machine::at(root.path().to_owned(), search, false, "6.12.1-test");
        (root, machine)
    }

    #[test]
    fn programs_are_found_in_the_path_and_beside_the_newest_postgresql() {
        let (root, machine) = machine_with(&[
            ("bin/fio", ""),
            ("usr/lib/postgresql/14/bin/initdb", ""),
            ("usr/lib/postgresql/15/bin/initdb", ""),
            ("sbin/notes", "not a program"),
        ]);
        assert_eq!(machine.program("fio"), Some(root.path().join("bin/fio")));
        assert_eq!(machine.program("initdb"), Some(root.path().join("usr/lib/postgresql/15/bin/initdb")));
        assert_eq!(machine.program("notes"), None, "a file that cannot be run is no program");
        assert_eq!(machine.program("smartctl"), None);
    }

    #[test]
    fn each_distribution_installs_in_its_own_words() {
        let packages = Packages { debian: "d", ubuntu: "u", fedora: "f", arch: "a", suse: "s" };
        let lists = ("var/lib/apt/lists/deb.debian.org_debian_dists_trixie_main_binary-amd64_Packages.lz4", "");
        let table = [
            ("ID=debian\nVERSION_ID=\"12\"", "sudo apt-get install d"),
            ("ID=ubuntu\nID_LIKE=debian", "sudo apt-get install u"),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "sudo apt-get install u"),
            ("NAME=Fedora\nID=fedora", "sudo dnf install f"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"", "sudo dnf install f"),
            ("ID=arch", "sudo pacman -S a"),
            ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"", "sudo zypper install s"),
            ("ID=plan9", "install d with this system's package manager"),
        ];
        for (os_release, command) in table {
            let (_root, machine) = machine_with(&[("etc/os-release", os_release), lists]);
            assert_eq!(machine.install(packages), command, "{os_release}");
        }
        let (_root, fresh) = machine_with(&[("etc/os-release", "ID=debian")]);
        assert_eq!(fresh.install(packages), "sudo apt-get update && sudo apt-get install d");
    }

    #[test]
    fn a_module_is_one_that_modprobe_finds() {
        let index = "kernel/drivers/block/loop.ko.xz:\nkernel/fs/fuse/fuse.ko:\nkernel/drivers/powercap/intel-rapl-msr.ko.zst: \
                     kernel/drivers/powercap/intel_rapl_common.ko.zst\n";
        let files = [("lib/modules/6.12.1-test/modules.dep", index), ("etc/os-release", "ID=fedora")];
        let (_root, machine) = machine_with(&files);
        let found = ["loop", "fuse", "intel_rapl_msr", "intel_rapl_common", "oop"].map(|name| machine.has_module(name));
        assert_eq!(found, [true, true, true, false, false], "what is only needed by another has a line of its own");
        assert_eq!(machine.load("loop"), "sudo dnf install kmod && sudo modprobe loop");
        let (_root, machine) = machine_with(&[files[0], files[1], ("bin/modprobe", "")]);
        assert_eq!(machine.load("loop"), "sudo modprobe loop");
        assert!(!machine_with(&[]).1.has_module("loop"));
    }

    #[test]
    fn the_superuser_needs_no_sudo() {
        let machine = Machine { is_root: true, ..machine_with(&[]).1 };
        assert_eq!(machine.as_root("modprobe loop"), "modprobe loop");
    }
}
