//! The place in the file system where clients find a server.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use host::{Machine, Scratch, open};
use rustix::fs::{CWD, RenameFlags};

use crate::AttachError;

/// A socket at `path` for clients to come to; one of this user's that nobody listens at any more makes room for it.
///
/// # Errors
/// If something else is there, or the folder is not there or cannot be written.
pub fn bind(path: &Path) -> Result<UnixListener, AttachError> {
    let failed = |cause| AttachError::Socket { path: path.to_owned(), cause };
    remove_left_over(path).map_err(failed)?;
    UnixListener::bind(path).map_err(|cause| failed(explained(path, cause)))
}

/// What is at `path` in place of a socket that could be made there.
fn explained(path: &Path, cause: io::Error) -> io::Error {
    let Ok(found) = fs::symlink_metadata(path).map(|found| found.file_type()) else { return cause };
    let what = match () {
        () if found.is_dir() => "a folder",
        () if found.is_socket() => "a socket that a program listens at, or another user's",
        () => "a file",
    };
    io::Error::new(cause.kind(), format!("{what} is there"))
}

/// A socket at `path`, in a folder of ours, for this user alone; what is there makes room for it.
///
/// # Errors
/// If it cannot be made.
pub fn bind_privately(path: &Path) -> io::Result<UnixListener> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    // In a folder that is closed to others nobody can come before the socket is closed to them too.
    let scratch = Scratch::new(folder, ".door")?;
    let draft = scratch.path().join("s");
    let listener = UnixListener::bind(&draft)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o600))?;
    fs::rename(&draft, path)?;
    Ok(listener)
}

/// Removes a socket of this user's at which nobody listens any more, and nothing else, whatever takes its name meanwhile.
///
/// # Errors
/// If it cannot be removed. That there is none is no error.
pub fn remove_left_over(path: &Path) -> io::Result<()> {
    let Ok(handle) = open::handle_of_no_link(path) else { return Ok(()) };
    let is_own_socket = handle.metadata()?.file_type().is_socket() && open::is_own(&handle)?;
    if !is_own_socket || !is_refused(&open::path_to(&handle)) {
        return Ok(());
    }
    // Taken aside first: what is there by then may be something else, and is put back.
    let aside = Scratch::new(path.parent().unwrap_or(Path::new("/")), ".assay-socket")?;
    let taken = aside.path().join("s");
    fs::rename(path, &taken)?;
    let found = fs::symlink_metadata(&taken)?;
    if open::identity(&handle)? == (found.dev(), found.ino()) {
        return Ok(());
    }
    rustix::fs::renameat_with(CWD, &taken, CWD, path, RenameFlags::NOREPLACE)?;
    Ok(())
}

/// Whether this is a socket.
pub fn is_one(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// Whether nobody listens at this socket any more.
fn is_refused(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether a client is connected to the socket at `path`, which must be as its server named it.
pub fn in_use(path: &Path) -> bool {
    Machine::here().is_connected(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_that_nobody_listens_at_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("letter"), "somebody's").unwrap();
        let heard = UnixListener::bind(path("heard")).unwrap();
        drop(UnixListener::bind(path("left")).unwrap());
        std::os::unix::fs::symlink(path("left"), path("link")).unwrap();
        for (name, what) in [("letter", "a file is there"), ("heard", "a socket that a program"), ("link", "a file is")]
        {
            let said = bind(&path(name)).unwrap_err().to_string();
            assert!(said.contains(what), "{said}");
            assert!(path(name).symlink_metadata().is_ok(), "{name} is there");
        }
        UnixStream::connect(path("heard")).unwrap();
        drop((heard, bind(&path("left")).unwrap()));
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 4, "nothing else is left");
    }

    #[test]
    fn a_door_is_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("door.sock");
        let door = bind_privately(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        UnixStream::connect(&path).unwrap();
        door.accept().unwrap();
        bind_privately(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
