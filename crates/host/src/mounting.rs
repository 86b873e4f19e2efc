//! What is mounted and unmounted: each a request to the thread outside the fence, for a fenced one may do neither.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{self, MountFlags, MoveMountFlags, UnmountFlags};

use crate::confine::outside;

/// Mounts the file that is served by way of `device`, an open `/dev/fuse`, over the file at `path`.
///
/// # Errors
/// If the kernel refuses.
pub fn fuse(path: &Path, device: &File) -> Result<(), Errno> {
    // The kernel holds whoever opens it against its mode, which it leaves to the server otherwise.
    let options = format!("fd={},rootmode=100600,user_id=0,group_id=0,default_permissions", device.as_raw_fd());
    let options = CString::new(options).expect("there is no zero in it");
    let path = path.to_owned();
    outside(move || {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount::mount("assay", &path, "fuse.assay", flags, Some(options.as_c_str()))
    })
}

/// Mounts the kernel's own control of FUSE connections in a folder.
///
/// # Errors
/// If the kernel refuses.
pub fn fuse_control(folder: &Path) -> Result<(), Errno> {
    let folder = folder.to_owned();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    outside(move || mount::mount("fusectl", &folder, "fusectl", flags, None))
}

/// Puts a file system that was made ready by `fsmount` in a folder.
///
/// # Errors
/// If the kernel refuses.
pub fn place(mount: OwnedFd, folder: &Path) -> Result<(), Errno> {
    let folder = folder.to_owned();
    outside(move || mount::move_mount(&mount, "", CWD, &folder, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH))
}

/// Unmounts what is mounted here and no link; `lazily` out of sight at once, and in fact when nobody uses it any more.
///
/// # Errors
/// If somebody uses it, or nothing is mounted there.
pub fn unmount(path: &Path, lazily: bool) -> Result<(), Errno> {
    let path = path.to_owned();
    let flags = if lazily { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    outside(move || mount::unmount(&path, flags | UnmountFlags::NOFOLLOW))
}
