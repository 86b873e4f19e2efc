//! What the kernel and this user's rights allow.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use block::Bytes;
use host::{Enforcement, Mount, open};
use io_uring::IoUring;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::check::{Check, Purpose, Status};
use super::machine::{Machine, Packages};

/// The name of the check of asynchronous requests.
pub(super) const IO_URING: &str = "io_uring";
/// The name of the check of requests around the page cache.
pub(super) const O_DIRECT: &str = "O_DIRECT";
/// The name of the check of the superuser's rights.
pub(super) const ROOT: &str = "root";

/// The largest request of the plans in this repository with a queue of 16 in flight, each with its own
/// registered buffer.
const LOCKED_MEMORY_ENOUGH: Bytes = Bytes::from_mib(64);

/// Lifts the limit of the shell it is typed in, and of what that shell starts; needs the superuser's rights.
const LOCK_ANY_MEMORY: &str = "prlimit --pid $$ --memlock=unlimited";

/// Tries everything, for files in `directory`.
pub(super) fn checks(machine: &Machine, directory: &Path) -> Vec<Check> {
    use Purpose::{FileSystems, RealDrives, SteadyFigures};
    let check = |name, ability, purpose, status| Check { name, ability, purpose, status };
    vec![
        check(IO_URING, "asynchronous I/O with many requests in flight", RealDrives, ring(machine)),
        check(O_DIRECT, "bypass the page cache", RealDrives, direct(directory)),
        check(ROOT, "open block devices", RealDrives, root(machine)),
        check("sandbox", "restrict writes of a run to its target", RealDrives, fence()),
        check("memlock", "lock I/O buffers in memory", SteadyFigures, locked_memory(machine)),
        check("governor", "fixed CPU frequency", SteadyFigures, governor(machine)),
        check("loop", "make a file a block device", FileSystems, loop_device(machine)),
        check("FUSE", "file system in user space", FileSystems, fuse(machine)),
        check("ublk", "block device in user space (attach --ublk)", FileSystems, ublk(machine)),
    ]
}

/// Sets up a ring of two entries and drops it.
fn ring(machine: &Machine) -> Status {
    match IoUring::new(2) {
        Ok(_) => Status::ready(format!("Linux {}", rustix::system::uname().release().to_string_lossy())),
        Err(error) => {
            let disabled = machine.kernel.io_uring_disabled().is_some_and(|level| level > 0);
            Status::missing(error.to_string(), ring_remedy(machine, &error, disabled))
        }
    }
}

/// Source: linux/Documentation/admin-guide/sysctl/kernel.rst, "io_uring_disabled"; io_uring_setup(2).
fn ring_remedy(machine: &Machine, error: &io::Error, disabled: bool) -> String {
    match error.raw_os_error() {
        _ if disabled => machine.as_root("sysctl kernel.io_uring_disabled=0"),
        Some(code) if code == Errno::NOMEM.raw_os_error() => machine.as_root(LOCK_ANY_MEMORY),
        Some(code) if code == Errno::NOSYS.raw_os_error() => {
            "run Linux 5.1 or newer; in a container: --security-opt seccomp=unconfined".to_owned()
        }
        _ => "in a container: --security-opt seccomp=unconfined".to_owned(),
    }
}

/// Writes one block to an unnamed file in `directory`, around the page cache.
fn direct(directory: &Path) -> Status {
    let kind = || {
        let mounts = Mount::all().ok()?;
        Some(Mount::holding(&mounts, &directory.canonicalize().ok()?)?.filesystem.clone())
    };
    let kind = kind().unwrap_or_else(|| "this file system".to_owned());
    match write_direct(directory) {
        Ok(()) => Status::ready(kind),
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Status::missing(
            format!("{kind} does not support O_DIRECT"),
            "change to a directory on the drive to be measured, or give --direct=0",
        ),
        Err(error) => Status::missing(
            format!("no file can be written in {}: {error}", directory.display()),
            "change to a directory that can be written",
        ),
    }
}

fn write_direct(directory: &Path) -> io::Result<()> {
    const BLOCK: usize = 4096;
    let file = unnamed_file(directory)?;
    let memory = [0_u8; 2 * BLOCK];
    let start = memory.as_ptr().align_offset(BLOCK);
    file.write_all_at(&memory[start..start + BLOCK], 0)
}

/// A file for direct writes that is gone once it is closed.
fn unnamed_file(directory: &Path) -> io::Result<File> {
    open::again(&open::nameless(directory)?, true, OFlags::DIRECT)
}

/// Whether the kernel refuses a run all that it is not to write to.
fn fence() -> Status {
    match host::confine::enforcement() {
        Enforcement::Full => Status::ready("by Landlock, during a run"),
        Enforcement::Partial => Status::ready("partly, by an early Landlock; Linux 6.2 or newer restricts all writes"),
        Enforcement::None => Status::missing(
            "no Landlock: only assay's own checks",
            "run Linux 5.13 or newer with `landlock` among lsm= on its command line",
        ),
    }
}

fn root(machine: &Machine) -> Status {
    if machine.is_root {
        Status::ready("running as root")
    } else {
        let user = rustix::process::geteuid();
        Status::missing(format!("running as user {user}"), "put sudo before the command")
    }
}

fn locked_memory(machine: &Machine) -> Status {
    let remedy = machine.as_root(LOCK_ANY_MEMORY);
    judge_locked_memory(
        machine.kernel.may_lock_any_memory(),
        getrlimit(Resource::Memlock).current.map(Bytes::new),
        remedy,
    )
}

fn judge_locked_memory(may_lock_all: bool, limit: Option<Bytes>, remedy: String) -> Status {
    match limit {
        _ if may_lock_all => Status::ready("no limit for this user"),
        None => Status::ready("no limit"),
        Some(limit) if limit >= LOCKED_MEMORY_ENOUGH => Status::ready(format!("up to {limit}")),
        Some(limit) => Status::missing(format!("only {limit}; {LOCKED_MEMORY_ENOUGH} or more is recommended"), remedy),
    }
}

/// Whether every processor that can change its speed is told to keep it.
fn governor(machine: &Machine) -> Status {
    let governors = machine.kernel.governors();
    match governors.iter().find(|governor| *governor != "performance") {
        None if governors.is_empty() => Status::ready("not adjustable on this machine"),
        None => Status::ready("performance"),
        Some(other) => {
            let adrift = governors.iter().filter(|governor| *governor != "performance").count();
            let detail = format!("{other} on {adrift} of {} processors", governors.len());
            if machine.kernel.offers_governor("performance") == Some(false) {
                return Status::unavailable(format!("{detail}; the driver offers no `performance`"));
            }
            // What cpupower does too, whose package is called otherwise by every distribution.
            let write = machine.as_root(&format!("tee {}", host::Machine::GOVERNORS));
            Status::missing(detail, format!("echo performance | {write}"))
        }
    }
}

fn loop_device(machine: &Machine) -> Status {
    let packages = Packages { debian: "mount", ubuntu: "mount", ..Packages::same("util-linux") };
    device(machine, ["dev/loop-control", "loop", "CONFIG_BLK_DEV_LOOP"], "losetup", packages)
}

fn fuse(machine: &Machine) -> Status {
    device(machine, ["dev/fuse", "fuse", "CONFIG_FUSE_FS"], "fusermount3", Packages::same("fuse3"))
}

/// The driver's control device; where it is not there, whether the kernel has a module for it.
///
/// Source: Linux, Documentation/block/ublk.rst; the driver came with Linux 6.0, what `assay attach` needs of it with
/// 6.5.
fn ublk(machine: &Machine) -> Status {
    const ELSE: &str = "Linux 6.5 or newer with CONFIG_BLK_DEV_UBLK has it; `assay attach` works without --ublk";
    let release = &machine.release;
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    let version = [numbers.next(), numbers.next()].map(|number| number.and_then(Result::ok).unwrap_or(0_u32));
    match (machine.has("dev/ublk-control"), machine.has_module("ublk_drv")) {
        _ if version < [6, 5] => Status::unavailable(format!("Linux {release} is too old; {ELSE}")),
        (true, _) => Status::ready("/dev/ublk-control"),
        (false, false) => {
            Status::unavailable(format!("no /dev/ublk-control, and no module for Linux {release}; {ELSE}"))
        }
        (false, true) => Status::missing("no /dev/ublk-control", machine.load("ublk_drv")),
    }
}

/// A kernel module's control device with the program that goes with it.
fn device(machine: &Machine, [path, module, option]: [&str; 3], program: &str, packages: Packages) -> Status {
    match (machine.has(path), machine.program(program)) {
        (false, _) if machine.has_module(module) => Status::missing(format!("no /{path}"), machine.load(module)),
        (false, _) => Status::unavailable(format!(
            "no /{path}, and no module {module} for Linux {}; a kernel with {option} has it; in a container: --device /{path}",
            machine.release
        )),
        (true, None) => Status::missing(format!("no {program} found"), machine.install(packages)),
        (true, Some(found)) => Status::ready(format!("/{path}, {}", found.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::tests::machine_with;
    use super::*;

    #[test]
    fn a_directory_that_is_not_there_is_reported_with_its_name() {
        let Status::Missing { detail, .. } = direct(Path::new("/nonexistent/place")) else {
            panic!("nothing can be written there");
        };
        assert!(detail.contains("/nonexistent/place") && detail.contains("No such file"), "{detail}");
    }

    #[test]
    fn a_refused_ring_is_met_with_what_refuses_it() {
        let (_root, machine) = machine_with(&[]);
        let remedy = |errno: Errno, disabled| ring_remedy(&machine, &errno.into(), disabled);
        assert_eq!(remedy(Errno::PERM, true), "sudo sysctl kernel.io_uring_disabled=0");
        assert!(remedy(Errno::PERM, false).contains("seccomp"));
        assert!(remedy(Errno::NOSYS, false).contains("Linux 5.1"));
        assert_eq!(remedy(Errno::NOMEM, false), "sudo prlimit --pid $$ --memlock=unlimited");
    }

    #[test]
    fn locked_memory_is_enough_without_a_limit_or_with_a_high_one() {
        let judge = |may_lock_all, limit| judge_locked_memory(may_lock_all, limit, "raise it".to_owned());
        let ready = |may_lock_all, limit| matches!(judge(may_lock_all, limit), Status::Ready { .. });
        let low = Bytes::from_mib(8);
        assert!(ready(false, None) && ready(false, Some(LOCKED_MEMORY_ENOUGH)) && ready(true, Some(low)));
        assert_eq!(judge(false, Some(low)), Status::missing("only 8 MiB; 64 MiB or more is recommended", "raise it"));
    }

    #[test]
    fn one_processor_that_saves_power_is_enough_to_complain() {
        let governor_of = |second: &str| {
            let path = |n| format!("sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor");
            let (_root, machine) = machine_with(&[(&path(0), "performance\n"), (&path(1), second)]);
            governor(&machine)
        };
        assert_eq!(governor_of("performance\n"), Status::ready("performance"));
        let remedy = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        assert_eq!(governor_of("powersave\n"), Status::missing("powersave on 1 of 2 processors", remedy));
        let folder = "sys/devices/system/cpu/cpu0/cpufreq";
        let (own, offered) = (format!("{folder}/scaling_governor"), format!("{folder}/scaling_available_governors"));
        let (_root, machine) = machine_with(&[(&own, "schedutil"), (&offered, "schedutil powersave")]);
        assert!(
            matches!(governor(&machine), Status::Unavailable { detail } if detail.contains("offers no `performance`"))
        );
    }

    /// A machine with this kernel that has modules of these names, and with these files.
    fn with_modules(release: &str, modules: &[&str], files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let index: String = modules.iter().map(|name| format!("kernel/drivers/{name}.ko.xz:\n")).collect();
        let path = format!("lib/modules/{release}/modules.dep");
        let all = [files, &[(path.as_str(), index.as_str()), ("bin/modprobe", "")]].concat();
        let (root, mut machine) = machine_with(&all);
        release.clone_into(&mut machine.release);
        (root, machine)
    }

    #[test]
    fn a_driver_is_loaded_where_the_kernel_has_it() {
        let of = |release, modules: &[&str], files: &[(&str, &str)]| ublk(&with_modules(release, modules, files).1);
        let load = Status::missing("no /dev/ublk-control", "sudo modprobe ublk_drv");
        assert_eq!(of("6.12.1-cloud", &["ublk_drv"], &[]), load);
        let device = ("dev/ublk-control", "");
        assert_eq!(of("6.5", &[], &[device]), Status::ready("/dev/ublk-control"));
        for (release, files, words) in [("6.1.0-56-amd64", &[device][..], "too old"), ("6.18.4", &[], "no module")] {
            let Status::Unavailable { detail } = of(release, &[], files) else { panic!("{release} has none") };
            assert!(detail.contains(words) && detail.contains("Linux 6.5"), "{release}: {detail}");
        }
    }

    #[test]
    fn a_device_needs_its_module_first_and_its_program_second() {
        let of = |modules: &[&str], files: &[(&str, &str)]| loop_device(&with_modules("6.1", modules, files).1);
        let (debian, lists) = (("etc/os-release", "ID=debian"), ("var/lib/apt/lists/a_Packages", ""));
        assert_eq!(of(&["loop"], &[debian]), Status::missing("no /dev/loop-control", "sudo modprobe loop"));
        let device = ("dev/loop-control", "");
        assert_eq!(
            of(&[], &[debian, lists, device]),
            Status::missing("no losetup found", "sudo apt-get install mount")
        );
        let Status::Unavailable { detail } = of(&[], &[debian]) else { panic!("no module, no device") };
        assert!(detail.contains("no module loop for Linux 6.1") && detail.contains("CONFIG_BLK_DEV_LOOP"), "{detail}");
    }
}
