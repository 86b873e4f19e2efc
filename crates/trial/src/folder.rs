//! A folder of our own that is not on the drive.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use host::{Scratch, open};

use crate::{Cleanup, CleanupAction, CleanupGuard, TrialError};

/// A folder of our own, which is removed with all that is in it when this is dropped, but for what is mounted there.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    _remove: CleanupGuard,
}

impl PrivateFolder {
    /// A new folder in `place`, closed to others; its name begins so, goes on with the number of this process, and ends in
    /// what nobody can foresee.
    ///
    /// # Errors
    /// If others can change what `place` is, or the folder cannot be made.
    pub(crate) fn new(place: &str, start: &str, aftermath: &Cleanup) -> Result<Self, TrialError> {
        let place = Path::new(place);
        if !place.exists() {
            open::own_folder(place).map_err(TrialError::at(place))?;
        }
        if !open::is_out_of_reach(place) {
            let words = "other users can modify it or its target; it must belong to root and not be a symbolic link";
            return Err(TrialError::Lacks(format!("{}: {words}", place.display())));
        }
        let path = Scratch::name(place, &format!("{start}-{}", std::process::id()));
        let remove = aftermath.promise(CleanupAction::Remove(path.clone()))?;
        if let Err(error) = Scratch::make(&path) {
            // It is not ours to remove.
            remove.withdraw()?;
            return Err(TrialError::at(path)(error));
        }
        Ok(Self { path, _remove: remove })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets others come through to what is theirs below, without seeing what there is.
    ///
    /// # Errors
    /// If that cannot be done.
    pub(crate) fn let_through(&self) -> Result<(), TrialError> {
        let folder = open::folder(&self.path).map_err(TrialError::at(&self.path))?;
        folder.set_permissions(Permissions::from_mode(0o711)).map_err(TrialError::at(&self.path))
    }
}

/// Makes a folder that is another user's, and closed to all else; `path` lies in a folder of our own.
///
/// # Errors
/// If anything has that name, or it cannot be made.
pub(crate) fn make_for(path: &Path, user: u32, group: u32) -> Result<(), TrialError> {
    let made = Scratch::make(path).and_then(|()| open::folder(path));
    made.and_then(|folder| fchown(&folder, Some(user), Some(group))).map_err(TrialError::at(path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn a_folder_is_new_and_closed_and_its_name_cannot_be_foreseen() {
        let home = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(home.path()).unwrap();
        let place = home.path().to_str().unwrap();
        let [one, two] = [0, 1].map(|_| PrivateFolder::new(place, "assay-x", &aftermath).unwrap());
        assert_ne!(one.path(), two.path());
        let mode = || fs::metadata(one.path()).unwrap().mode() & 0o7777;
        assert_eq!(mode(), 0o700);
        one.let_through().unwrap();
        assert_eq!(mode(), 0o711);
        let path = one.path().to_owned();
        drop((one, two));
        assert!(!path.exists());
    }

    #[test]
    fn a_place_that_others_can_change_is_none() {
        let home = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(home.path()).unwrap();
        let place = home.path().join("place");
        fs::create_dir(&place).unwrap();
        let make = |place: &Path| PrivateFolder::new(place.to_str().unwrap(), "assay-x", &aftermath);
        make(&place).unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o777)).unwrap();
        make(&place).unwrap_err();
        fs::set_permissions(&place, Permissions::from_mode(0o1777)).unwrap();
        make(&place).unwrap();
        symlink(&place, home.path().join("link")).unwrap();
        make(&home.path().join("link")).unwrap_err();
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_for_another_user_takes_the_place_of_nothing() {
        let home = tempfile::tempdir().unwrap();
        let (there, user) = (home.path().join("there"), rustix::process::geteuid().as_raw());
        let group = rustix::process::getegid().as_raw();
        symlink("/etc", &there).unwrap();
        make_for(&there, user, group).unwrap_err();
        make_for(&home.path().join("new"), user, group).unwrap();
    }
}
