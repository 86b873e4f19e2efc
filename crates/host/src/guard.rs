//! What must not be written to.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use block::Bytes;
use rustix::fs::{OFlags, major, makedev, minor};

use crate::block_device::{BlockDevice, Partition};
use crate::machine::Machine;
use crate::mounts::Mount;
use crate::open::{self, FileIdentity};
use crate::signature::signatures;
use crate::{kernel, loop_device, program};

/// Where drives are served as files that root alone can put there.
const SERVED: &str = "/run/assay";

/// Everything that uses `device` or one of its partitions now: mounts, swap, device-mapper, RAID.
pub fn uses(device: &BlockDevice) -> Vec<String> {
    let mounts = Mount::all().unwrap_or_default();
    let swaps = swaps();
    let loops: Vec<_> = loops().collect();
    let mut uses = Vec::new();
    for part in family(device) {
        let mounted = mounts.iter().filter(|mount| is_of(mount, &part));
        uses.extend(mounted.map(|mount| format!("{} is mounted on {}", part.name, mount.point.display())));
        if swaps.contains(&part.number) {
            uses.push(format!("{} is swap in use", part.name));
        }
        uses.extend(part.holders().iter().map(|holder| format!("{} is part of {holder}", part.name)));
        // A loop device does not claim what it is over.
        let number = makedev(part.number.0, part.number.1);
        let over = loops.iter().filter(|(_, backing)| backing.is_some_and(|backing| backing.device == number));
        uses.extend(over.map(|(node, _)| format!("{} is behind {}", part.name, node.display())));
    }
    let own = Path::new("/dev").join(&device.name);
    let beneath = loop_device::backing(&own);
    // A partition of a loop device is over what the whole is over.
    let is_whole = |node: &Path| {
        let name = node.file_name().unwrap_or_default().to_string_lossy();
        device.name == name || device.name.starts_with(&format!("{name}p"))
    };
    let beside = loops.iter().filter(|(node, backing)| beneath.is_some() && !is_whole(node) && *backing == beneath);
    uses.extend(beside.map(|(node, _)| format!("{} is also the backing device of {}", device.name, node.display())));
    uses
}

/// All loop devices, with what each is over as far as the kernel tells.
fn loops() -> impl Iterator<Item = (PathBuf, Option<kernel::Backing>)> {
    loop_device::all().map(|node| {
        let backing = loop_device::backing(&node);
        (node, backing)
    })
}

/// Everything that uses a regular file now: loop devices, swap, whoever has it open for writing. This process must not have
/// it open for writing itself. What `file` was opened for is of no matter; a handle will do.
pub fn file_uses(file: &File) -> Vec<String> {
    let Ok(identity) = open::identity(file) else { return Vec::new() };
    let mut uses: Vec<String> =
        loops_over(file).iter().map(|device| format!("it is behind {}", device.display())).collect();
    if Machine::here().swaps().iter().any(|path| identity_at(path) == Some(identity)) {
        uses.push("it is swap in use".to_owned());
    }
    if uses.is_empty() && is_open_for_writing(file) {
        uses.push("another process has it open for writing".to_owned());
    }
    uses
}

/// The loop devices over a file, whatever name it has now. Through an overlay a file has another device, and often the same
/// inode, so that is enough there.
fn loops_over(file: &File) -> Vec<PathBuf> {
    // Source: Linux, include/uapi/linux/magic.h.
    const OVERLAYFS: i64 = 0x794c_7630;
    let Ok(identity) = open::identity(file) else { return Vec::new() };
    let is_overlay = rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type == OVERLAYFS);
    let is_it = |found: FileIdentity| found == identity || is_overlay && found.1 == identity.1;
    let over = |node: &Path, backing: Option<kernel::Backing>| {
        let shown = || identity_at(Path::new(&loop_device::shown(node)?));
        // Who may not ask the device has the path that the kernel shows.
        backing.map(|backing| backing.file).or_else(shown)
    };
    loops().filter(|(node, backing)| over(node, *backing).is_some_and(is_it)).map(|(node, _)| node).collect()
}

/// Whether a loop device is over this very file, whatever its name leads to by now.
pub fn is_loop_over(device: &Path, file: &File) -> bool {
    let told = loop_device::backing(device).map(|backing| backing.file);
    told.is_some() && told == open::identity(file).ok()
}

/// Whether a device is a loop device over a drive that is served in assay's own folder, or over a target of this
/// process.
pub(crate) fn is_of_this_run(device: &File) -> std::io::Result<bool> {
    let Some(known) = BlockDevice::find(device.metadata()?.st_rdev()) else { return Ok(false) };
    let Some(backing) = loop_device::shown(Path::new(&known.name)) else { return Ok(false) };
    if Path::new(&backing).starts_with(SERVED) {
        return Ok(true);
    }
    let over = open::again(device, false, OFlags::empty()).ok().and_then(|device| kernel::loop_backing(device.as_fd()));
    Ok(over.is_some_and(|over| open::is_protected(over.file)))
}

/// Whether a lease is refused because somebody writes. Network file systems refuse for reasons of their own.
fn is_open_for_writing(file: &File) -> bool {
    // nfs, cifs, smb2. Source: Linux, include/uapi/linux/magic.h.
    const REMOTE: [i64; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];
    let asked = || {
        let is_remote = REMOTE.contains(&rustix::fs::fstatfs(file).ok()?.f_type);
        let file = open::again(file, false, OFlags::empty()).ok().filter(|_| !is_remote)?;
        kernel::is_open_for_writing(file.as_fd())
    };
    asked().unwrap_or(false)
}

fn identity_at(path: &Path) -> Option<FileIdentity> {
    fs::metadata(path).ok().map(|found| (found.st_dev(), found.st_ino()))
}

/// Everything that tells of data on `device`, which `file` is, or on one of its partitions.
///
/// Our own table of signatures is asked first and libblkid, where its program is installed, second.
///
/// # Errors
/// If the device cannot be read.
pub fn contents(device: &BlockDevice, file: &File, size: Bytes) -> std::io::Result<Vec<String>> {
    let file = open::again(file, false, OFlags::empty())?;
    let mut contents = Vec::new();
    let mut look = |part: &BlockDevice, node: &Path, start, size| {
        let mut found: Vec<String> = signatures(&file, start, size)?.into_iter().map(str::to_owned).collect();
        if found.is_empty() {
            found = second_opinion(node);
        }
        contents.extend(found.iter().map(|what| format!("{what} on {}", part.name)));
        std::io::Result::Ok(())
    };
    look(device, &Path::new("/dev").join(&device.name), Bytes::ZERO, size)?;
    let partitions = device.partitions();
    for Partition { device, start, size } in &partitions {
        look(device, &Path::new("/dev").join(&device.name), *start, *size)?;
    }
    if contents.is_empty() {
        contents.extend(partitions.iter().map(|partition| format!("partition {}", partition.device.name)));
    }
    Ok(contents)
}

/// What signatures tell that a regular file holds: an image of a file system, a virtual machine's disk.
pub fn holds(file: &File) -> Vec<String> {
    let look = || {
        let file = open::again(file, false, OFlags::empty())?;
        let size = Bytes::new(file.metadata()?.len());
        signatures(&file, Bytes::ZERO, size)
    };
    look().unwrap_or_default().into_iter().map(str::to_owned).collect()
}

/// Whether `named` is the very block device with this number, by whatever path.
pub fn is_same(named: &Path, number: u64) -> bool {
    fs::metadata(named).is_ok_and(|found| found.file_type().is_block_device() && found.st_rdev() == number)
}

/// The same of a character device.
pub fn is_same_character(named: &Path, number: u64) -> bool {
    fs::metadata(named).is_ok_and(|found| found.file_type().is_char_device() && found.st_rdev() == number)
}

fn family(device: &BlockDevice) -> impl Iterator<Item = BlockDevice> {
    std::iter::once(device.clone()).chain(device.partitions().into_iter().map(|partition| partition.device))
}

/// By number, or by name for the file systems that mount under a number of their own.
fn is_of(mount: &Mount, device: &BlockDevice) -> bool {
    mount.device == device.number || number_of(Path::new(&mount.source)) == Some(device.number)
}

fn number_of(path: &Path) -> Option<(u32, u32)> {
    let found = fs::metadata(path).ok().filter(|found| found.file_type().is_block_device())?;
    Some((major(found.st_rdev()), minor(found.st_rdev())))
}

/// The devices that are swapped to.
fn swaps() -> Vec<(u32, u32)> {
    Machine::here().swaps().iter().filter_map(|path| number_of(path)).collect()
}

/// What `blkid` finds; nothing where it is not installed or cannot read the device.
fn second_opinion(node: &Path) -> Vec<String> {
    let Ok(mut blkid) = program::command("blkid") else { return Vec::new() };
    let said = program::output(blkid.args(["-p", "-o", "export", "--"]).arg(node));
    said.map_or(Vec::new(), |output| opinion(output.status.code(), &String::from_utf8_lossy(&output.stdout)))
}

/// Exit code 8 means that more was found than can be true at once. Source: blkid(8), "EXIT STATUS".
fn opinion(code: Option<i32>, stdout: &str) -> Vec<String> {
    if code == Some(8) {
        return vec!["several signatures (says blkid)".to_owned()];
    }
    let kinds = stdout.lines().filter_map(|line| line.strip_prefix("TYPE=").or_else(|| line.strip_prefix("PTTYPE=")));
    kinds.map(|kind| format!("{kind} (says blkid)")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blkid_is_believed_when_it_finds_one_thing_or_several() {
        let export = "DEVNAME=/dev/sdb\nUUID=1-2\nTYPE=nilfs2\nUSAGE=filesystem\n";
        assert_eq!(opinion(Some(0), export), ["nilfs2 (says blkid)"]);
        assert_eq!(opinion(Some(0), "PTUUID=1\nPTTYPE=sun\n"), ["sun (says blkid)"]);
        assert_eq!(opinion(Some(8), ""), ["several signatures (says blkid)"]);
        assert!(opinion(Some(2), "").is_empty());
    }

    #[test]
    fn a_file_is_used_by_who_writes_it_and_by_a_loop_device_over_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let [path, second] = ["file", "second"].map(|name| folder.path().join(name));
        fs::write(&path, vec![0; 1 << 20]).unwrap();
        fs::hard_link(&path, &second).unwrap();
        let uses = || file_uses(&open::handle(&second).unwrap());
        assert!(uses().is_empty(), "{:?}", uses());
        let reader = File::open(&path).unwrap();
        assert!(uses().is_empty(), "a reader does no harm: {:?}", uses());
        let writer = File::options().write(true).open(&path).unwrap();
        assert_eq!(uses(), ["another process has it open for writing"]);
        drop((reader, writer));
        let losetup = |words: &[&str]| program::command("losetup").unwrap().args(words).output().unwrap();
        let made = losetup(&["--find", "--show", "--read-only", path.to_str().unwrap()]);
        if !made.status.success() {
            println!("skipped: no loop device can be made");
            return;
        }
        let device = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        fs::remove_file(&path).unwrap();
        let used = uses();
        losetup(&["--detach", &device]);
        assert_eq!(used, [format!("it is behind {device}")]);
    }

    #[test]
    fn only_a_block_device_is_the_same_device() {
        assert!(!is_same(Path::new("/dev/null"), 0x103));
        assert!(!is_same(Path::new("/nowhere/at/all"), 0));
    }
}
