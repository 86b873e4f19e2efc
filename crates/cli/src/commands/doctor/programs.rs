//! The other programs that are driven, each for its own job.

use super::check::{Check, Purpose, Status};
use super::machine::{Machine, Packages};

/// A program, or several that come together.
struct Program {
    name: &'static str,
    ability: &'static str,
    purpose: Purpose,
    /// What must be found: of each entry any one of its names.
    commands: &'static [&'static [&'static str]],
    packages: Packages,
}

/// Package names: packages.debian.org, packages.ubuntu.com, packages.fedoraproject.org, archlinux.org/packages, software.opensuse.org.
const PROGRAMS: [Program; 14] = [
    Program {
        name: "blkid",
        ability: "identify file systems on a drive",
        purpose: Purpose::DriveFacts,
        commands: &[&["blkid"]],
        packages: Packages::same("util-linux"),
    },
    Program {
        name: "smartctl",
        ability: "read a drive's health and wear",
        purpose: Purpose::DriveFacts,
        commands: &[&["smartctl"]],
        packages: Packages::same("smartmontools"),
    },
    Program {
        name: "nvme",
        ability: "identify and format an NVMe drive",
        purpose: Purpose::DriveFacts,
        commands: &[&["nvme"]],
        packages: Packages::same("nvme-cli"),
    },
    Program {
        name: "hdparm",
        ability: "identify and erase a SATA drive",
        purpose: Purpose::DriveFacts,
        commands: &[&["hdparm"]],
        packages: Packages::same("hdparm"),
    },
    Program {
        name: "sg3_utils",
        ability: "erase a SCSI drive",
        purpose: Purpose::DriveFacts,
        commands: &[&["sg_sanitize"], &["sg_opcodes"]],
        packages: Packages { debian: "sg3-utils", ubuntu: "sg3-utils", ..Packages::same("sg3_utils") },
    },
    Program {
        name: "partx",
        ability: "partitions of an attached drive",
        purpose: Purpose::FileSystems,
        commands: &[&["partx"]],
        packages: Packages::same("util-linux"),
    },
    Program {
        name: "ext4",
        ability: "make an ext4 file system",
        purpose: Purpose::FileSystems,
        commands: &[&["mkfs.ext4"]],
        packages: Packages::same("e2fsprogs"),
    },
    Program {
        name: "xfs",
        ability: "make an XFS file system",
        purpose: Purpose::FileSystems,
        commands: &[&["mkfs.xfs"]],
        packages: Packages::same("xfsprogs"),
    },
    Program {
        name: "btrfs",
        ability: "make a Btrfs file system",
        purpose: Purpose::FileSystems,
        commands: &[&["mkfs.btrfs"]],
        packages: Packages { suse: "btrfsprogs", ..Packages::same("btrfs-progs") },
    },
    Program {
        name: "PostgreSQL",
        ability: "database as a workload",
        purpose: Purpose::Applications,
        commands: &[&["initdb"], &["postgres"], &["pgbench"], &["psql"]],
        packages: Packages {
            fedora: "postgresql-server postgresql-contrib",
            suse: "postgresql-server postgresql-contrib",
            ..Packages::same("postgresql")
        },
    },
    Program {
        name: "QEMU",
        ability: "system boot as a workload",
        purpose: Purpose::Applications,
        commands: &[&["qemu-system-x86_64"]],
        packages: Packages { suse: "qemu-x86", ..Packages::same("qemu-system-x86") },
    },
    Program {
        name: "fio",
        ability: "cross-check with fio",
        purpose: Purpose::SelfChecks,
        commands: &[&["fio"]],
        packages: Packages::same("fio"),
    },
    Program {
        name: "bonnie++",
        ability: "cross-check with bonnie++",
        purpose: Purpose::SelfChecks,
        commands: &[&["bonnie++"]],
        packages: Packages::same("bonnie++"),
    },
    Program {
        name: "chromium",
        ability: "test the report in a browser",
        purpose: Purpose::SelfChecks,
        commands: &[&["chromium", "chromium-browser", "google-chrome"]],
        packages: Packages { ubuntu: "chromium-browser", ..Packages::same("chromium") },
    },
];

/// Looks for every program.
pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    PROGRAMS.iter().map(|program| program.check(machine)).collect()
}

impl Program {
    fn check(&self, machine: &Machine) -> Check {
        let find = |names: &&[&str]| names.iter().find_map(|name| machine.program(name));
        let absent: Vec<_> = self.commands.iter().filter(|names| find(names).is_none()).map(|names| names[0]).collect();
        let status = if absent.is_empty() {
            let found =
                self.commands.first().and_then(find).expect("nothing is absent and every program has a command");
            Status::ready(found.display().to_string())
        } else {
            Status::missing(format!("no {} found", absent.join(", no ")), machine.install(self.packages))
        };
        Check { name: self.name, ability: self.ability, purpose: self.purpose, status }
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::tests::machine_with;
    use super::*;

    fn status(files: &[(&str, &str)], name: &str) -> Status {
        let (_root, machine) = machine_with(files);
        checks(&machine).into_iter().find(|check| check.name == name).unwrap().status
    }

    #[test]
    fn a_missing_program_is_named_with_the_package_that_has_it() {
        let found = status(&[("etc/os-release", "ID=opensuse")], "QEMU");
        assert_eq!(found, Status::missing("no qemu-system-x86_64 found", "sudo zypper install qemu-x86"));
    }

    #[test]
    fn a_database_needs_all_of_its_programs() {
        let files = [("etc/os-release", "ID=fedora"), ("bin/initdb", ""), ("bin/postgres", ""), ("bin/psql", "")];
        let remedy = "sudo dnf install postgresql-server postgresql-contrib";
        assert_eq!(status(&files, "PostgreSQL"), Status::missing("no pgbench found", remedy));
        let files = ["initdb", "postgres", "pgbench", "psql"];
        let files = files.map(|name| (format!("usr/lib/postgresql/15/bin/{name}"), ""));
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert!(matches!(status(&files, "PostgreSQL"), Status::Ready { .. }));
    }

    #[test]
    fn a_browser_counts_under_any_of_its_names() {
        let Status::Ready { detail } = status(&[("bin/google-chrome", "")], "chromium") else {
            panic!("google-chrome is a browser too");
        };
        assert!(detail.ends_with("bin/google-chrome"), "{detail}");
    }
}
