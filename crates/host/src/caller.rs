//! Who called the program: under sudo, files that it makes belong to the user who typed the command.

use std::fs::File;

use rustix::fs::{Gid, Uid};

/// The user and group that sudo was called by; none where this is not root by sudo.
///
/// Source: sudo(8), "ENVIRONMENT": `SUDO_UID`, `SUDO_GID`.
fn caller() -> Option<(Uid, Gid)> {
    let number = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    let (user, group) = (number("SUDO_UID")?, number("SUDO_GID")?);
    rustix::process::geteuid().is_root().then(|| (Uid::from_raw(user), Gid::from_raw(group)))
}

/// Makes a file that was just created the caller's. Where the file system has no owners it stays root's.
pub(crate) fn give(file: &File) {
    if let Some((user, group)) = caller() {
        let _ = rustix::fs::fchown(file, Some(user), Some(group));
    }
}

/// Whether a file of this user's is the caller's or the program's own.
pub(crate) fn is_ours(user: u32) -> bool {
    let own = rustix::process::geteuid();
    own.as_raw() == user || caller().is_some_and(|(caller, _)| caller.as_raw() == user)
}
