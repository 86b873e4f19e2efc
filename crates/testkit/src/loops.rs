//! Loop devices over files and what is mounted, until they are dropped. Both need root.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::attempt;

/// A loop device over a file.
#[derive(Debug)]
pub struct LoopDevice(
    /// Its path.
    pub String,
);

impl LoopDevice {
    /// One over this file.
    ///
    /// # Errors
    /// The reason why this machine makes none.
    pub fn over(file: &Path) -> Result<Self, String> {
        Self::with(file, &[])
    }

    /// The same with more of losetup's options.
    ///
    /// # Errors
    /// The reason why this machine makes none.
    pub fn with(file: &Path, options: &[&str]) -> Result<Self, String> {
        if let Some(reason) = Self::lacks() {
            return Err(reason.to_owned());
        }
        let file = file.to_str().expect("the file has a plain name");
        attempt("losetup", &[options, &["--find", "--show", file]].concat()).map(Self)
    }

    /// One over a sparse file of so many MiB that is made for it; none, with the reason said, where this machine cannot.
    ///
    /// # Panics
    /// If the file cannot be made.
    pub fn new(file: &Path, mebibytes: u64) -> Option<Self> {
        File::create(file).and_then(|made| made.set_len(mebibytes << 20)).expect("the file can be made");
        Self::over(file).map_err(|reason| crate::skip(&reason)).ok()
    }

    /// Why this machine makes no devices of files.
    pub fn lacks() -> Option<&'static str> {
        let lacks = [
            (!rustix::process::geteuid().is_root(), "loop devices need root"),
            (!Path::new("/dev/loop-control").exists(), "there is no /dev/loop-control"),
            (crate::tool("losetup").is_none(), "there is no losetup"),
        ];
        lacks.into_iter().find(|(is_so, _)| *is_so).map(|(_, reason)| reason)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        attempt("losetup", &["--detach", &self.0]).ok();
    }
}

/// What is mounted on a folder.
#[derive(Debug)]
pub struct Mounted(PathBuf);

impl Mounted {
    /// What is mounted there by now.
    pub fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// This device, on a folder that is made.
    ///
    /// # Errors
    /// The reason why it cannot be mounted.
    ///
    /// # Panics
    /// If the folder cannot be made.
    pub fn on(device: &str, folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).expect("the folder can be made");
        attempt("mount", &[device, folder.to_str().expect("it has a plain name")]).map(|_| Self::at(folder))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let folder = self.0.to_str().expect("it has a plain name");
        attempt("umount", &[folder]).or_else(|_| attempt("umount", &["--lazy", folder])).ok();
    }
}
