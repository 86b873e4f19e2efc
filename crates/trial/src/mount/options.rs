//! How the kernel is asked to mount, option by option, so that it can say which one it does not take.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};

use super::tables::{MOUNT, MOUNT_BTRFS, MOUNT_EXT, MOUNT_XFS};
use crate::permitted::{self, OptionRule, PermittedOption};
use crate::{Refused, TrialError};

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
struct MountRefusal {
    errno: Errno,
    /// What it says of that, which may be nothing.
    said: String,
}

/// Options of a mount that a plan may give: each is in the table of its file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountOptions {
    given: Vec<PermittedOption>,
}

impl MountOptions {
    /// Reads options as follow `mount -o`.
    ///
    /// # Errors
    /// With the first that is not permitted.
    pub fn parse(fs: &str, text: &str) -> Result<Self, Refused> {
        let of = format!("a mount of {fs}");
        let mut given = Vec::new();
        let mut at = 0;
        for part in text.split(',') {
            let option = part.trim();
            let place = at + part.len() - part.trim_start().len();
            at += part.len() + 1;
            // The others go without saying.
            if !matches!(option, "" | "defaults" | "rw" | "async" | "dev" | "exec" | "suid") {
                given.extend(permitted::list(&of, &[MOUNT, rules(fs)], place, option)?);
            }
        }
        Ok(Self { given })
    }

    /// The options that a plan may give for a mount of such a file system.
    pub fn permitted(fs: &str) -> Vec<&'static str> {
        [permitted::names(MOUNT), permitted::names(rules(fs))].concat()
    }

    /// The same with one more, unless it says something of that already.
    #[must_use]
    pub(super) fn or(mut self, name: &'static str, about: &str) -> Self {
        if !self.given.iter().any(|given| given.name.contains(about)) {
            self.given.push(PermittedOption { name, value: None });
        }
        self
    }

    /// Each option as it follows `mount -o`.
    pub fn words(&self) -> Vec<String> {
        self.given.iter().map(word).collect()
    }
}

fn word(given: &PermittedOption) -> String {
    given.value.as_ref().map_or_else(|| given.name.to_owned(), |value| format!("{}={value}", given.name))
}

/// What a mount of such a file system may be told, besides what every mount may.
pub(super) fn rules(fs: &str) -> &'static [OptionRule] {
    match fs {
        "xfs" => MOUNT_XFS,
        "btrfs" => MOUNT_BTRFS,
        _ => MOUNT_EXT,
    }
}

/// The command by which a device would be mounted, as one would type it.
pub(super) fn line(fs: &str, options: &MountOptions, device: &Path, folder: &Path) -> String {
    let (device, folder, list) = (device.display(), folder.display(), options.words().join(","));
    let options = if list.is_empty() { list } else { format!("-o {list} ") };
    format!("mount -t {fs} {options}{device} {folder}")
}

/// Mounts a device in a folder.
///
/// # Errors
/// If the kernel refuses: with the option that it refuses, where leaving that out would help.
pub(super) fn mount(device: &Path, fs: &str, options: &MountOptions, folder: &Path) -> Result<(), TrialError> {
    let all = &options.given;
    let Err(refusal) = attempt(device, fs, all).and_then(|mount| place(mount, folder)) else { return Ok(()) };
    let without = |left_out: usize| {
        let kept = (0..all.len()).filter(|&at| at != left_out).map(|at| all[at].clone());
        attempt(device, fs, &kept.collect::<Vec<PermittedOption>>()).is_ok()
    };
    let refused = (0..all.len()).find(|&at| without(at)).map(|at| word(&all[at]));
    let options = refused.map_or_else(|| options.words().join(","), |option| format!("…,{option}"));
    let options = if options.is_empty() { options } else { format!("-o {options} ") };
    let said = match refusal.said.as_str() {
        "" => format!("the kernel refuses these mount options, or the mkfs options ({}); see `dmesg`", refusal.errno),
        said => said.to_owned(),
    };
    Err(TrialError::Failed { command: format!("mount -t {fs} {options}{}", device.display()), said })
}

/// A mount that is nowhere yet, and ends with its handle.
fn attempt(device: &Path, fs: &str, options: &[PermittedOption]) -> Result<OwnedFd, MountRefusal> {
    let context =
        fsopen(fs, FsOpenFlags::FSOPEN_CLOEXEC).map_err(|errno| MountRefusal { errno, said: String::new() })?;
    let refused = |errno| MountRefusal { errno, said: said(&context) };
    fsconfig_set_string(&context, "source", device).map_err(refused)?;
    let mut flags = MountAttrFlags::empty();
    for option in options {
        let of_mount = OF_MOUNT.iter().find(|(name, _)| *name == option.name);
        match (of_mount, &option.value) {
            (Some((_, flag)), _) => flags |= *flag,
            (None, Some(value)) => fsconfig_set_string(&context, option.name, value.as_str()).map_err(refused)?,
            (None, None) => fsconfig_set_flag(&context, option.name).map_err(refused)?,
        }
    }
    fsconfig_create(&context).map_err(refused)?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags).map_err(refused)
}

fn place(mount: OwnedFd, folder: &Path) -> Result<(), MountRefusal> {
    host::mounting::place(mount, folder).map_err(|errno| MountRefusal { errno, said: String::new() })
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

    fn read(fs: &str, text: &str) -> Result<Vec<String>, Refused> {
        MountOptions::parse(fs, text).map(|options| options.words())
    }

    #[test]
    fn options_are_told_apart_and_what_goes_without_saying_is_left_out() {
        assert_eq!(read("xfs", "defaults, noatime,async,,logbufs=8").unwrap(), ["noatime", "logbufs=8"]);
        let table = [
            ("ext4", "data=writeback,commit=60,barrier=0,nobarrier,discard,init_itable=10,noload"),
            ("xfs", "noatime,nodiratime,logbufs=8,logbsize=256k,nobarrier,inode64,allocsize=1g,largeio,swalloc"),
            ("btrfs", "compress=zstd:3,ssd,space_cache=v2,discard=async,nodatacow,commit=5,thread_pool=4"),
        ];
        for (fs, text) in table {
            assert_eq!(read(fs, text).unwrap().join(","), text);
        }
    }

    #[test]
    fn no_option_names_a_file_or_a_device_or_halts_the_machine() {
        let table = [
            ("ext4", "journal_path=/dev/loop0", "journal_path"),
            ("ext4", "noatime, journal_dev=0x700", "journal_dev"),
            ("ext4", "usrjquota=aquota.user", "usrjquota"),
            ("ext4", "errors=panic", "panic"),
            ("ext4", "source=/dev/loop0", "source"),
            ("xfs", "logdev=/dev/loop0", "logdev"),
            ("xfs", "noatime,rtdev=/dev/loop0", "rtdev"),
            ("btrfs", "device=/dev/loop0", "device"),
            ("btrfs", "subvol=/a", "subvol"),
            ("btrfs", "compress=zstd:3 /dev/x", "zstd"),
            ("ext4", "context=system_u", "context"),
            ("ext4", "ro", "ro"),
            ("ext4", "noatime=/x", "/x"),
            ("xfs", "logbsize=256k\nx", "256k"),
        ];
        for (fs, text, word) in table {
            let refused = read(fs, text).expect_err(text);
            assert!(text[refused.at.clone()].starts_with(word), "{text}: {refused:?}");
        }
    }
}
