//! How the kernel is asked to mount, option by option, so that it can say which one it does not take.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen, move_mount,
};

use crate::TrialError;

/// Options that are the mount's and not the file system's.
/// Source: fsmount(2), "attr_flags"; mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS".
const OF_MOUNT: &[(&str, MountAttrFlags)] = &[
    ("noatime", MountAttrFlags::MOUNT_ATTR_NOATIME),
    ("strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME),
    ("relatime", MountAttrFlags::MOUNT_ATTR_RELATIME),
    ("nodiratime", MountAttrFlags::MOUNT_ATTR_NODIRATIME),
    ("nodev", MountAttrFlags::MOUNT_ATTR_NODEV),
    ("noexec", MountAttrFlags::MOUNT_ATTR_NOEXEC),
    ("nosuid", MountAttrFlags::MOUNT_ATTR_NOSUID),
];

/// Why the kernel does not mount.
struct Refusal {
    errno: Errno,
    /// What it says of that, which may be nothing.
    said: String,
}

/// The options of a list as follows `mount -o`.
pub(super) fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|option| !matches!(*option, "" | "defaults" | "rw"))
}

/// Mounts a device in a folder.
///
/// # Errors
/// If the kernel refuses: with the option that it refuses, where leaving that out would help.
pub(super) fn mount(device: &Path, fs: &str, options: &[String], folder: &Path) -> Result<(), TrialError> {
    let Err(refusal) = attempt(device, fs, options).and_then(|mount| place(&mount, folder)) else { return Ok(()) };
    let without = |left_out: usize| {
        let kept = (0..options.len()).filter(|&at| at != left_out).map(|at| options[at].clone());
        attempt(device, fs, &kept.collect::<Vec<String>>()).is_ok()
    };
    let refused = (0..options.len()).find(|&at| without(at)).map(|at| options[at].as_str());
    let options = refused.map_or_else(|| options.join(","), |option| format!("…,{option}"));
    let options = if options.is_empty() { options } else { format!("-o {options} ") };
    let said = match refusal.said.as_str() {
        "" => format!(
            "the kernel refuses that, or how the file system was made ({}); `dmesg` may say more",
            refusal.errno
        ),
        said => said.to_owned(),
    };
    Err(TrialError::Failed { command: format!("mount -t {fs} {options}{}", device.display()), said })
}

/// A mount that is nowhere yet, and ends with its handle.
fn attempt(device: &Path, fs: &str, options: &[String]) -> Result<OwnedFd, Refusal> {
    let context = fsopen(fs, FsOpenFlags::FSOPEN_CLOEXEC).map_err(|errno| Refusal { errno, said: String::new() })?;
    let refused = |errno| Refusal { errno, said: said(&context) };
    fsconfig_set_string(&context, "source", device).map_err(refused)?;
    let mut flags = MountAttrFlags::empty();
    for option in options {
        let of_mount = OF_MOUNT.iter().find(|(name, _)| name == option);
        match (of_mount, option.split_once('=')) {
            (Some((_, flag)), _) => flags |= *flag,
            (None, Some((key, value))) => fsconfig_set_string(&context, key, value).map_err(refused)?,
            (None, None) => fsconfig_set_flag(&context, option.as_str()).map_err(refused)?,
        }
    }
    fsconfig_create(&context).map_err(refused)?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags).map_err(refused)
}

fn place(mount: &OwnedFd, folder: &Path) -> Result<(), Refusal> {
    let moved = move_mount(mount, "", rustix::fs::CWD, folder, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH);
    moved.map_err(|errno| Refusal { errno, said: String::new() })
}

/// What the kernel has noted about a mount that it refused: each note is a letter for its weight and a text.
/// Source: Linux, Documentation/filesystems/mount_api.rst, "Error logging".
fn said(context: &OwnedFd) -> String {
    let mut notes = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(length) = rustix::io::read(context, &mut buffer)
        && length > 0
    {
        let note = String::from_utf8_lossy(&buffer[..length]);
        notes.push(note.trim_start_matches(['e', 'w', 'i']).trim().to_owned());
    }
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_apart_and_what_goes_without_saying_is_left_out() {
        assert_eq!(split("defaults, noatime,,logbufs=8").collect::<Vec<&str>>(), ["noatime", "logbufs=8"]);
    }
}
