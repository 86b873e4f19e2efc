//! Folders that this user alone can change.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// A folder that is no link, by which its owner and mode can be changed.
///
/// # Errors
/// If it is something else, or cannot be opened.
pub fn folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Makes sure that `path` is a folder which nobody but this user and root can change, and makes it if there is none;
/// the
/// folder that it is in must be there.
///
/// # Errors
/// If it is a link, another user's, or open to others to write.
pub fn own_folder(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o755).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = folder(path)?.metadata()?;
    let own = rustix::process::geteuid();
    if ![0, own.as_raw()].contains(&found.uid()) || found.mode() & 0o022 != 0 {
        let (user, mode) = (found.uid(), found.mode() & 0o7777);
        let words = format!(
            "other users can modify it (owner {user}, mode {mode:o}); chown it to root with mode 755, or remove it"
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::is_out_of_reach;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_folder_of_ours_is_no_link_and_closed_to_others() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        own_folder(&path("new")).unwrap();
        own_folder(&path("new")).unwrap();
        assert!(is_out_of_reach(&path("new/later")));
        symlink(path("new"), path("link")).unwrap();
        own_folder(&path("link")).unwrap_err();
        folder(&path("link")).unwrap_err();
        assert!(!is_out_of_reach(&path("link/later")));
        fs::set_permissions(path("new"), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(own_folder(&path("new")).unwrap_err().to_string().contains("mode 777"));
        assert!(!is_out_of_reach(&path("new/later")));
        fs::write(path("file"), "").unwrap();
        own_folder(&path("file")).unwrap_err();
    }
}
