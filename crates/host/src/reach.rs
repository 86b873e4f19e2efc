//! Who can change what a path leads to.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::caller;

/// The bits by which the group and all others may write to a folder.
const OTHERS: u32 = 0o022;
/// The bit by which a name in an open folder is its owner's alone to change.
const STICKY: u32 = 0o1000;

/// Whether nobody but this user and root can change what this path leads to: each folder on the way is theirs, and open to
/// others at most as /tmp is. What is not there yet is nobody's.
pub fn is_out_of_reach(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    is_closed_way(path, |user| [0, own].contains(&user))
}

/// Whether nobody but this user, root and the caller of sudo can change what is in this folder, nor what its path leads to.
/// No link may be on the way. To others the folder itself is closed: /tmp is open to them, a folder in it need not be. What
/// is not there yet is nobody's.
pub fn is_out_of_reach_but_for_caller(folder: &Path) -> bool {
    let is_closed = |found: Metadata| found.mode() & OTHERS == 0;
    is_way_out_of_reach_but_for_caller(folder) && fs::symlink_metadata(folder).map_or(true, is_closed)
}

/// The same of the path alone: in the folder itself, as in /tmp, others may make what is theirs.
pub fn is_way_out_of_reach_but_for_caller(folder: &Path) -> bool {
    is_closed_way(folder, |user| user == 0 || caller::is_ours(user))
}

/// Whether each folder of a path is a trusted user's, and open to others at most as /tmp is.
fn is_closed_way(path: &Path, is_trusted: impl Fn(u32) -> bool) -> bool {
    let is_closed = |folder: &Path| match fs::symlink_metadata(folder) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(found) => {
            let is_open = found.mode() & OTHERS != 0 && found.mode() & STICKY == 0;
            found.is_dir() && is_trusted(found.uid()) && !is_open
        }
    };
    path.is_absolute() && path.ancestors().all(is_closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    #[test]
    fn a_folder_that_others_can_write_to_is_within_their_reach_sticky_or_not() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(path("open/inner")).unwrap();
        symlink(path("open"), path("link")).unwrap();
        //            mode     the folder  what is in it
        let table = [(0o755, true, true), (0o775, false, false), (0o777, false, false), (0o1777, false, true)];
        for (mode, own, inner) in table {
            fs::set_permissions(path("open"), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_out_of_reach_but_for_caller(&path("open")), own, "{mode:o}");
            assert_eq!(is_out_of_reach_but_for_caller(&path("open/inner")), inner, "{mode:o}");
            assert_eq!(is_way_out_of_reach_but_for_caller(&path("open")), inner, "{mode:o}");
        }
        assert!(!is_out_of_reach_but_for_caller(&path("link/inner")), "a link can be exchanged");
    }

    #[test]
    fn a_folder_of_another_user_is_within_their_reach() {
        if !rustix::process::geteuid().is_root() {
            return println!("skipped: giving a folder away needs root");
        }
        let home = tempfile::tempdir().unwrap();
        let inner = home.path().canonicalize().unwrap().join("theirs/inner");
        fs::create_dir_all(&inner).unwrap();
        assert!(is_out_of_reach_but_for_caller(&inner));
        chown(inner.parent().unwrap(), Some(65534), None).unwrap();
        assert!(!is_out_of_reach_but_for_caller(&inner) && !is_out_of_reach(&inner));
    }
}
