//! The place in the file system where clients find a server.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::AttachError;

/// What the kernel lists of a socket that is one end of a connection, be it that the other waits to be let in.
///
/// Source: Linux, `include/uapi/linux/net.h`, `SS_CONNECTING` and `SS_CONNECTED`.
const CONNECTED: [&str; 2] = ["02", "03"];

/// A socket at `path` for clients to come to; one that nobody listens at any more makes room for it.
///
/// # Errors
/// If something else is there, or the folder is not there or cannot be written.
pub fn bind(path: &Path) -> Result<UnixListener, AttachError> {
    let failed = |cause| AttachError::Socket { path: path.to_owned(), cause };
    if is_left_over(path) {
        fs::remove_file(path).map_err(failed)?;
    }
    UnixListener::bind(path).map_err(failed)
}

/// Whether this is a socket.
pub fn is_one(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// Whether this is a socket at which nobody listens any more.
pub fn is_left_over(path: &Path) -> bool {
    is_one(path) && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether a client is connected to the socket at `path`, which must be as its server named it.
pub fn in_use(path: &Path) -> bool {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let name = format!(" {}", path.display());
    let is_connected = |line: &str| line.split_whitespace().nth(5).is_some_and(|state| CONNECTED.contains(&state));
    sockets.lines().any(|line| line.ends_with(&name) && is_connected(line))
}
