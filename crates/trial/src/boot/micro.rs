//! A kernel with BusyBox: the smallest system that mounts a root, reads what is there, and asks for a login.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use block::Bytes;
use host::open;

use super::cache::{SystemImage, built};
use super::debian::{plain, write};
use super::disk;
use super::work::{BootTools, command};
use crate::{Tools, TrialError};

/// The programs that build it, and Debian's packages of them.
pub const NEEDS: &[(&str, &str)] = &[
    ("busybox", "busybox-static"),
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("modprobe", "kmod"),
    ("depmod", "kmod"),
    ("mkfs.ext4", "e2fsprogs"),
];

/// Drivers of the drives that a virtual machine has, and of the file system.
const MODULES: [&str; 7] = ["crc32c_generic", "ahci", "sd_mod", "virtio_pci", "virtio_blk", "nvme", "ext4"];

/// The folders of a kernel's package that they are in.
const PARTS: [&str; 10] = [
    "arch/x86/crypto",
    "crypto",
    "drivers/ata",
    "drivers/block",
    "drivers/nvme",
    "drivers/scsi",
    "drivers/virtio",
    "fs",
    "lib",
    "block",
];

/// Started by the kernel in memory: mounts the root that the kernel was told, and goes on there.
const INIT: &str = r#"#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc
$B mount -t devtmpfs dev /dev
while read -r module; do $B insmod "/modules/$module"; done </modules/order
for word in $($B cat /proc/cmdline); do case $word in root=*) root=${word#root=} ;; esac; done
until [ -b "$root" ]; do $B usleep 10000; done
$B mount -t ext4 -o ro "$root" /new || $B echo "cannot open root device $root"
$B mount --move /dev /new/dev
$B umount /proc
exec $B switch_root /new /sbin/init
"#;

/// What the system does before it asks for a login: read what services would be, and write what they would note.
const START: &str = r#"#!/bin/sh
mount -t proc proc /proc
mount -o remount,rw /
hostname assay
for service in /usr/lib/services/*; do
  cat "$service" >/dev/null
  echo "started $service" >>/var/log/boot
done
sync
"#;

const TABLE: &str = "::sysinit:/etc/start\nttyS0::respawn:/bin/getty -L 115200 ttyS0 vt100\n";

/// How many files it reads, and how large each is.
const SERVICES: (u32, usize) = (96, 128 << 10);

const SIZE: Bytes = Bytes::from_mib(40);
const UUID: &str = "0c9b8a7f-1e2d-4c3b-8a9f-7e6d5c4b3a29";
const LIMIT: Duration = Duration::from_secs(600);

/// All that decides what it is, but for the version of the kernel.
pub fn recipe() -> String {
    [&MODULES.join(" "), &PARTS.join(" "), INIT, START, TABLE, UUID, &format!("{SERVICES:?} {SIZE}")].join("\n")
}

/// Builds it in the folder `site`.
///
/// # Errors
/// If the kernel's package cannot be had, or a program fails.
pub fn build(site: &Path, work: &BootTools) -> Result<SystemImage, TrialError> {
    let version = kernel(site, work)?;
    initrd(site, &version, work)?;
    let root = root(site)?;
    disk::make(&site.join("disk.img"), &root, SIZE, UUID, work)?;
    for folder in ["root", "ram", "kernel"] {
        let folder = site.join(folder);
        fs::remove_dir_all(&folder).map_err(TrialError::at(&folder))?;
    }
    Ok(built(format!("BusyBox, Linux {version}"), None))
}

/// Fetches Debian's kernel and unpacks what is needed of it; its version.
fn kernel(site: &Path, work: &BootTools) -> Result<String, TrialError> {
    let folder = site.join("kernel");
    fs::create_dir_all(&folder).map_err(TrialError::at(&folder))?;
    let wanted = "linux-image-amd64";
    let depends = work.run(command("apt-cache")?.args(["depends", wanted]), LIMIT)?;
    let package = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: linux-image-"));
    let version = package.ok_or_else(|| {
        let lacks = "this machine's apt knows no package linux-image-amd64, whose kernel would boot";
        TrialError::Lacks(format!("{lacks}; run `apt-get update` on a Debian for x86-64"))
    })?;
    let version = plain("apt-cache", version)?;
    let package = format!("linux-image-{version}");
    let fetch = ["-q", "-o", "Acquire::Retries=3", "download", &package];
    work.run(command("apt-get")?.args(fetch).current_dir(&folder), LIMIT).map_err(|error| match error {
        TrialError::Failed { said, .. } => TrialError::Lacks(format!(
            "the kernel's package {package} could not be fetched: {said}; run `apt-get update` if it names a version \
             that is gone"
        )),
        other => other,
    })?;
    let parts = PARTS.map(|part| format!("./lib/modules/*/kernel/{part}/*")).join("' '");
    let unpack = format!(
        "dpkg-deb --fsys-tarfile {package}_*.deb | \
         tar -x --wildcards './boot/*' './lib/modules/*/modules.*' '{parts}'"
    );
    work.run(command("sh")?.args(["-c", &unpack]).current_dir(&folder), LIMIT)?;
    work.run(command("depmod")?.arg("-b").arg(&folder).arg(version), LIMIT)?;
    let image = folder.join("boot").join(format!("vmlinuz-{version}"));
    open::copy_private(&image, &site.join("vmlinuz"), 0o644).map_err(TrialError::at(&image))?;
    Ok(version.to_owned())
}

/// Packs BusyBox and the drivers, in the order in which they are to be loaded, into an initial RAM disk.
fn initrd(site: &Path, version: &str, work: &BootTools) -> Result<(), TrialError> {
    let ram = site.join("ram");
    let mut loads: Vec<PathBuf> = Vec::new();
    for module in MODULES {
        let mut show = command("modprobe")?;
        show.args(["--show-depends", "-C", "/dev/null", "-S", version, "-d"]).arg(site.join("kernel")).arg(module);
        let shown = work.run(&mut show, LIMIT)?;
        // What several others need may be listed several times.
        for path in shown.lines().filter_map(|line| line.strip_prefix("insmod ")).map(|path| PathBuf::from(path.trim()))
        {
            if !loads.contains(&path) {
                loads.push(path);
            }
        }
    }
    let mut order = String::new();
    fs::create_dir_all(ram.join("modules")).map_err(TrialError::at(&ram))?;
    for path in &loads {
        let name = path.file_name().unwrap_or_default();
        open::copy_private(path, &ram.join("modules").join(name), 0o644).map_err(TrialError::at(path))?;
        order += &format!("{}\n", name.display());
    }
    write(&ram.join("modules/order"), &order)?;
    program(&ram.join("init"), INIT)?;
    busybox(&ram)?;
    let folders = ["dev", "proc", "new"].map(|folder| ram.join(folder));
    folders.iter().try_for_each(|folder| fs::create_dir_all(folder).map_err(TrialError::at(folder)))?;
    let pack = "bin/busybox find . | bin/busybox cpio -o -H newc >../initrd.img";
    work.run(command("sh")?.args(["-c", pack]).current_dir(&ram), LIMIT).map(drop)
}

/// Lays out the root; its folder.
fn root(site: &Path) -> Result<PathBuf, TrialError> {
    let root = site.join("root");
    busybox(&root)?;
    for folder in ["dev", "proc", "sbin", "var/log", "usr/lib/services"] {
        fs::create_dir_all(root.join(folder)).map_err(TrialError::at(&root))?;
    }
    for word in ["sh", "getty", "login", "mount", "hostname", "cat", "sync"] {
        symlink("busybox", root.join("bin").join(word)).map_err(TrialError::at(&root))?;
    }
    symlink("../bin/busybox", root.join("sbin/init")).map_err(TrialError::at(&root))?;
    program(&root.join("etc/start"), START)?;
    write(&root.join("etc/inittab"), TABLE)?;
    write(&root.join("etc/passwd"), "root:x:0:0:root:/:/bin/sh\n")?;
    let (count, size) = SERVICES;
    for number in 0..count {
        let path = root.join(format!("usr/lib/services/{number:02}"));
        open::write_new(&path, &vec![number as u8 + 1; size], 0o644).map_err(TrialError::at(&path))?;
    }
    Ok(root)
}

fn busybox(root: &Path) -> Result<(), TrialError> {
    let from = Tools::of_system().find("busybox").unwrap_or_default();
    let program = fs::read(&from).map_err(TrialError::at(&from))?;
    if needs_libraries(&program) {
        let lacks = "needs libraries, which the system will not have; install Debian's package busybox-static";
        return Err(TrialError::Lacks(format!("{} {lacks}", from.display())));
    }
    let onto = root.join("bin/busybox");
    let made = fs::create_dir_all(root.join("bin"));
    made.and_then(|()| open::copy_private(&from, &onto, 0o755)).map_err(TrialError::at(from))
}

/// Whether a program of 64 bits names another that has to load it: whether it has a header of the type `PT_INTERP`.
/// Source: System V Application Binary Interface, edition 4.1, "Program Header".
fn needs_libraries(program: &[u8]) -> bool {
    const INTERP: usize = 3;
    let number = |at: usize, length: usize| {
        let bytes = program.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0, |number: usize, byte| number << 8 | usize::from(*byte))
    };
    let (first, length, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|header| number(first + header * length, 4) == INTERP)
}

fn program(path: &Path, text: &str) -> Result<(), TrialError> {
    write(path, text)?;
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).map_err(TrialError::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_needs_libraries_is_told_from_one_that_does_not() {
        let mut program = vec![0; 64 + 2 * 56];
        (program[32], program[54], program[56]) = (64, 56, 2);
        program[64] = 1;
        assert!(!needs_libraries(&program));
        program[64 + 56] = 3;
        assert!(needs_libraries(&program));
        assert!(!needs_libraries(b"#!/bin/sh"));
        assert!(needs_libraries(&fs::read(std::env::current_exe().unwrap()).unwrap()));
    }
}
