//! The one module that opens files for writing. A test of the house refuses it elsewhere.
//!
//! Each function is one purpose, and checks through the descriptor that it has what it was meant to have.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::{caller, confine, guard};

pub use crate::folder::{folder, own_folder};
pub use crate::reach::{is_out_of_reach, is_out_of_reach_but_for_caller, is_way_out_of_reach_but_for_caller};
pub use crate::text::{TextError, bytes, regular, regular_of, stream, text};

/// Identity of a file: device and inode.
pub type FileIdentity = (u64, u64);

/// What is never an output: targets and stores of this process, with when each was made, if the file system tells: the inode
/// of one that is removed may be another's later.
static PROTECTED: Mutex<Vec<(FileIdentity, Option<SystemTime>)>> = Mutex::new(Vec::new());

/// Device and inode of an open file.
///
/// # Errors
/// If the kernel does not tell.
pub fn identity(file: &File) -> io::Result<FileIdentity> {
    let found = file.metadata()?;
    Ok((found.dev(), found.ino()))
}

/// Has no output be written to this file for as long as the process lives.
pub fn protect(file: &File) {
    if let Ok(found) = file.metadata() {
        let mut protected = PROTECTED.lock().expect("nothing panics while it holds the list");
        // A server opens the same store for each page.
        let one = ((found.dev(), found.ino()), found.created().ok());
        if !protected.contains(&one) {
            protected.push(one);
        }
    }
}

/// Whether a file of this identity is, or was, a target or a store of this process.
pub fn is_protected(identity: FileIdentity) -> bool {
    PROTECTED.lock().expect("nothing panics while it holds the list").iter().any(|(other, _)| *other == identity)
}

/// Whether this file is a target or a store of this process.
///
/// # Errors
/// If the kernel does not tell.
pub fn is_protected_file(file: &File) -> io::Result<bool> {
    let found = file.metadata()?;
    let (identity, made) = ((found.dev(), found.ino()), found.created().ok());
    let is_same = |other: &Option<SystemTime>| other.is_none() || made.is_none() || *other == made;
    let protected = PROTECTED.lock().expect("nothing panics while it holds the list");
    Ok(protected.iter().any(|(other, was_made)| *other == identity && is_same(was_made)))
}

/// A handle by which a path is looked up once: its kind and owner can be asked for, nothing can be read or written.
/// Links are followed.
///
/// # Errors
/// If there is nothing there, or it may not be looked at.
pub fn handle(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// The same for what is no link itself.
///
/// # Errors
/// As [`handle`], and `ELOOP` for a link.
pub fn handle_of_no_link(path: &Path) -> io::Result<File> {
    no_link_at(rustix::fs::CWD, path)
}

/// A handle of a folder, of which files can be made and opened by name: whatever its own name leads to by then. Links are
/// followed.
///
/// # Errors
/// As [`handle`], and `ENOTDIR` for what is no folder.
pub fn handle_of_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// A handle of what has this name in a folder, and is no link itself.
///
/// # Errors
/// As [`handle_of_no_link`].
pub fn handle_in(folder: &File, name: &Path) -> io::Result<File> {
    no_link_at(folder.as_fd(), name)
}

fn no_link_at(folder: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file: File = rustix::fs::openat(folder, path, flags, Mode::empty())?.into();
    if file.metadata()?.file_type().is_symlink() { Err(Errno::LOOP.into()) } else { Ok(file) }
}

/// Where a handle's file is now, free of links.
///
/// # Errors
/// If the kernel does not tell.
pub fn path_of(handle: &File) -> io::Result<PathBuf> {
    fs::read_link(path_to(handle))
}

/// A path that leads to the file of a handle, whatever names that has: for calls that take no handle.
pub fn path_to(handle: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd()))
}

/// Whether this process has a handle's file open a second time: that somebody who opens by name alone, such as a library,
/// has opened that very file.
///
/// # Errors
/// If the kernel does not tell.
pub fn is_open_besides(handle: &File) -> io::Result<bool> {
    let (wanted, own) = (identity(handle)?, handle.as_raw_fd().to_string());
    let is_same = |path: PathBuf| fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == wanted);
    let others = fs::read_dir("/proc/self/fd")?.flatten().filter(|entry| entry.file_name() != *own);
    Ok(others.map(|entry| entry.path()).any(is_same))
}

/// Opens what `handle` refers to, which cannot have become something else since.
///
/// A loop device that a fenced run has made, over its drive or over its target, was not there when the fence was closed:
/// that is opened outside.
///
/// # Errors
/// If the kernel refuses.
pub fn again(handle: &File, writes: bool, flags: OFlags) -> io::Result<File> {
    if writes && handle.metadata()?.file_type().is_block_device() && guard::is_of_this_run(handle)? {
        let handle = handle.try_clone()?;
        return confine::outside(move || again_here(&handle, true, flags));
    }
    again_here(handle, writes, flags)
}

fn again_here(handle: &File, writes: bool, flags: OFlags) -> io::Result<File> {
    let path = path_to(handle);
    OpenOptions::new().read(true).write(writes).custom_flags(libc_flags(flags)).open(path)
}

/// A file that was not there before; the caller of sudo owns it.
///
/// # Errors
/// If anything has that name, be it a link that leads nowhere, or it cannot be made.
pub fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    let file = new_private(path, mode)?;
    caller::give(&file);
    Ok(file)
}

/// The same in a folder that is open, by its name there.
///
/// # Errors
/// As those of [`new_file`].
pub fn new_file_in(folder: &File, name: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: File = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(mode))?.into();
    caller::give(&file);
    Ok(file)
}

/// A file that was not there before, for the program's own use: it is not given to the caller of sudo, who could change
/// what root relies on.
///
/// # Errors
/// As those of [`new_file`].
pub fn new_private(path: &Path, mode: u32) -> io::Result<File> {
    let flags = libc_flags(OFlags::NOFOLLOW);
    OpenOptions::new().read(true).write(true).create_new(true).custom_flags(flags).mode(mode).open(path)
}

/// Gives a file of ours a name that nothing has; of several processes one alone succeeds.
///
/// # Errors
/// If anything has that name, or the name cannot be given.
pub fn name_new(draft: &Path, path: &Path) -> io::Result<()> {
    name_new_at(rustix::fs::CWD, draft, path)
}

/// The same in a folder that is open, by the names there.
///
/// # Errors
/// As those of [`name_new`].
pub fn name_new_in(folder: &File, draft: &Path, name: &Path) -> io::Result<()> {
    name_new_at(folder.as_fd(), draft, name)
}

fn name_new_at(folder: BorrowedFd<'_>, draft: &Path, path: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, draft, folder, path, RenameFlags::NOREPLACE) {
        // The file system has no such call: a second name is as good, and then the first goes.
        Err(Errno::INVAL) => {
            rustix::fs::linkat(folder, draft, folder, path, AtFlags::empty())?;
            Ok(rustix::fs::unlinkat(folder, draft, AtFlags::empty())?)
        }
        other => Ok(other?),
    }
}

/// Copies a file into a folder of ours, as one that was not there before.
///
/// # Errors
/// As those of [`new_private`], and if it cannot be read or written.
pub fn copy_private(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, new_private(to, mode)?);
    // The mode that was asked for, whatever the umask.
    to.set_permissions(fs::Permissions::from_mode(mode))?;
    io::copy(&mut from, &mut to).map(drop)
}

/// A regular file to be read; no link, and nothing that would make the reader wait.
///
/// # Errors
/// If it is something else, or cannot be opened.
pub fn to_read(path: &Path) -> io::Result<File> {
    let handle = handle_of_no_link(path)?;
    if !handle.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    again(&handle, false, OFlags::empty())
}

/// A block device, to be written: the one that was chosen and checked, by its number.
///
/// # Errors
/// If the path leads to something else, or it cannot be opened.
pub fn chosen_block_device(path: &Path, number: u64, flags: OFlags) -> io::Result<File> {
    let handle = handle(path)?;
    let found = handle.metadata()?;
    if !found.file_type().is_block_device() || found.rdev() != number {
        let words = "it is no longer the chosen block device";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    again(&handle, true, flags)
}

/// A regular file of this user's that is there, to be read and written; no link. Root also takes files of the caller of
/// sudo.
///
/// # Errors
/// If it is something else, or another user's.
pub fn own_file(path: &Path) -> io::Result<File> {
    again(&own(path)?, true, OFlags::empty())
}

/// The same, to be read alone.
///
/// # Errors
/// As [`own_file`].
pub fn own_file_to_read(path: &Path) -> io::Result<File> {
    again(&own(path)?, false, OFlags::empty())
}

/// Whether a file is this user's, or for root the caller's of sudo.
///
/// # Errors
/// If the kernel does not tell.
pub fn is_own(file: &File) -> io::Result<bool> {
    Ok(caller::is_ours(file.metadata()?.uid()))
}

/// A handle of a regular file of this user's.
fn own(path: &Path) -> io::Result<File> {
    let handle = handle_of_no_link(path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => {
            let words = "it is a symbolic link, which is not followed; name its target";
            io::Error::new(io::ErrorKind::InvalidInput, words)
        }
        _ => error,
    })?;
    let found = handle.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if !caller::is_ours(found.uid()) {
        let words = format!("it belongs to user {}, not to the user of assay", found.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    Ok(handle)
}

/// [`own_file`] or [`new_file`], whichever there is.
///
/// # Errors
/// As those of the two.
pub fn own_or_new_file(path: &Path, mode: u32) -> io::Result<File> {
    match own_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => new_file(path, mode),
        other => other,
    }
}

/// A file without a name in this folder: it ends with its last descriptor.
///
/// # Errors
/// If it cannot be made; where the file system has no nameless files, one with a random name is made and removed.
pub fn nameless(folder: &Path) -> io::Result<File> {
    let folder = folder.to_owned();
    confine::outside(move || nameless_here(&folder))
}

fn nameless_here(folder: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(file) => Ok(file.into()),
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let path = folder.join(random_name("data"));
            let file = new_file(&path, 0o600)?;
            fs::remove_file(&path)?;
            Ok(file)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Writes a file of ours into a folder of ours, in place of an earlier one of that name: whoever reads it finds all of
/// the one or all of the other. It is not given to the caller of sudo.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, new_file, |file| file.write_all(bytes))
}

/// The same, which stays this user's.
///
/// # Errors
/// As [`replace`].
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, new_private, |file| file.write_all(bytes))
}

/// The same as [`replace`], and a loss of power leaves the one or the other.
///
/// # Errors
/// As [`replace`].
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, new_file, |file| file.write_all(bytes).and_then(|()| file.sync_all()))
}

/// Makes a draft, has it written, and gives it its name.
fn put(
    path: &Path,
    make: impl FnOnce(&Path, u32) -> io::Result<File>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = path.with_file_name(random_name("draft"));
    let mut file = make(&draft, 0o600)?;
    let written = write(&mut file).and_then(|()| fs::rename(&draft, path));
    written.inspect_err(|_| {
        // The error to tell is the one before.
        let _ = fs::remove_file(&draft);
    })
}

/// Writes a file that was not there into a folder of ours. It is not given to the caller of sudo.
///
/// # Errors
/// As those of [`new_private`], and if it cannot be written.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = new_private(path, mode)?;
    // The mode that was asked for, whatever the umask.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(bytes)
}

/// Adds to a file in a folder of ours, which is made where it is not there.
///
/// # Errors
/// If it is a link, or cannot be opened.
pub fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(libc_flags(OFlags::NOFOLLOW)).open(path)
}

/// A character device of the kernel's, such as `/dev/fuse`, to be read and written.
///
/// # Errors
/// If it is something else, or cannot be opened.
pub fn character_device(path: &Path, flags: OFlags) -> io::Result<File> {
    let handle = handle(path)?;
    if !handle.metadata()?.file_type().is_char_device() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a character device"));
    }
    again(&handle, true, flags)
}

/// A block device that is there, to be read and written.
///
/// # Errors
/// If it is something else, or cannot be opened.
pub fn block_device(path: &Path, flags: OFlags) -> io::Result<File> {
    again(&handle_of_block_device(path)?, true, flags)
}

/// A block device that nothing uses, to be read: no mount, no other device, no program that wants it alone.
///
/// # Errors
/// If it is something else, or `EBUSY` if something uses it.
pub fn unused_block_device(path: &Path) -> io::Result<File> {
    again(&handle_of_block_device(path)?, false, OFlags::EXCL)
}

fn handle_of_block_device(path: &Path) -> io::Result<File> {
    let handle = handle(path)?;
    if handle.metadata()?.file_type().is_block_device() {
        return Ok(handle);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a block device"))
}

/// Opens a FIFO to be written, which fails with `ENXIO` while nobody reads it.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn pipe(handle: &File) -> io::Result<File> {
    let path = path_to(handle);
    let file = OpenOptions::new().write(true).custom_flags(libc_flags(OFlags::NONBLOCK)).open(path)?;
    // Only opening was not to wait; writing does.
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// The magic numbers of the kernel's own file systems. Source: Linux, include/uapi/linux/magic.h.
const OF_KERNEL: [i64; 6] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6573_5543, // fuse's control file system
    0x6462_6720, // debugfs
];

/// Changes a setting of the kernel's: a file in /proc, /sys or a control group, and nothing else.
///
/// # Errors
/// If the path leads elsewhere, or the kernel refuses.
pub fn set(path: &Path, text: &str) -> io::Result<()> {
    let (path, text) = (path.to_owned(), text.to_owned());
    confine::outside(move || set_here(&path, &text))
}

fn set_here(path: &Path, text: &str) -> io::Result<()> {
    let handle = handle(path)?;
    let system = rustix::fs::fstatfs(&handle)?.f_type;
    if !OF_KERNEL.contains(&system) || !handle.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a kernel setting"));
    }
    let path = path_to(&handle);
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// Makes a folder and what leads to it, where it is not there; the caller of sudo owns what is made.
///
/// # Errors
/// If it cannot be made, or something else has its name.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_folder)?;
    match fs::create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            let made = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            caller::give(&made.into());
            Ok(())
        }
    }
}

/// A name that nobody can foresee: `.assay-draft-5f0c…`.
pub fn random_name(what: &str) -> PathBuf {
    format!(".assay-{what}-{:016x}", random()).into()
}

/// Sixty-four bits that nobody can foresee.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    assert_eq!(filled, Ok(8), "the kernel always has eight random bytes");
    u64::from_ne_bytes(bytes)
}

fn libc_flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_new_file_takes_the_place_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("there"), "kept").unwrap();
        symlink(path("nowhere"), path("link")).unwrap();
        for taken in ["there", "link"] {
            assert_eq!(new_file(&path(taken), 0o600).unwrap_err().kind(), io::ErrorKind::AlreadyExists, "{taken}");
        }
        assert_eq!(fs::read_to_string(path("there")).unwrap(), "kept");
        assert!(!path("nowhere").exists());
    }

    #[test]
    fn a_file_of_ours_is_no_link_no_folder_and_no_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("ours"), "").unwrap();
        symlink(path("ours"), path("link")).unwrap();
        own_file(&path("ours")).unwrap();
        for wrong in [path("link"), folder.path().to_owned(), "/dev/null".into()] {
            own_file(&wrong).unwrap_err();
        }
    }

    #[test]
    fn what_is_read_is_a_regular_file() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::write(path("file"), "text").unwrap();
        symlink(path("file"), path("link")).unwrap();
        assert_eq!(io::read_to_string(to_read(&path("file")).unwrap()).unwrap(), "text");
        for wrong in [path("link"), home.path().to_owned(), "/dev/zero".into()] {
            to_read(&wrong).unwrap_err();
        }
        copy_private(&path("file"), &path("copy"), 0o640).unwrap();
        assert_eq!(fs::metadata(path("copy")).unwrap().mode() & 0o777, 0o640);
        copy_private(&path("file"), &path("link"), 0o640).unwrap_err();
        chosen_block_device(Path::new("/dev/null"), 0x103, OFlags::empty()).unwrap_err();
    }

    #[test]
    fn what_a_handle_refers_to_stays_the_same_when_its_name_is_given_to_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "first").unwrap();
        let handle = handle(&path("a")).unwrap();
        fs::write(path("b"), "second").unwrap();
        fs::rename(path("b"), path("a")).unwrap();
        let text = io::read_to_string(again(&handle, false, OFlags::empty()).unwrap()).unwrap();
        assert_eq!(text, "first");
    }

    #[test]
    fn only_files_of_the_kernel_are_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "kept").unwrap();
        assert!(set(&path, "lost").unwrap_err().to_string().contains("not a kernel setting"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        set(Path::new("/proc/self/comm"), "assay-test").unwrap();
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let file = nameless(folder.path()).unwrap();
        assert_eq!((file.metadata().unwrap().len(), fs::read_dir(folder.path()).unwrap().count()), (0, 1));
    }
}
