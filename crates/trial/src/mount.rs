//! A file system that is made on the stage and mounted in a folder of its own, until it is dropped.

mod format;
mod make;
mod options;
mod tables;

use std::path::{Path, PathBuf};

use block::Bytes;
use host::{Machine, Mount, RUNTIME_FOLDER};

use crate::folder::PrivateFolder;
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Cleanup, CleanupAction, CleanupGuard, Tools, TrialDevice, TrialError,
};

/// What stands for the stage's device in commands that are told beforehand.
pub(crate) const DEVICE: &str = "DEVICE";

/// The file systems that can be made and mounted.
pub(crate) const FILE_SYSTEMS: &[&str] = &["ext2", "ext3", "ext4", "xfs", "btrfs"];

/// Which of them is made.
pub(crate) const FS: Choice = Choice {
    name: "fs",
    title: "File system",
    about: "the file system created on the device",
    kind: ChoiceKind::Word(FILE_SYSTEMS),
    default: "ext4",
};

/// How it is made.
pub(crate) const MKFS: Choice = Choice {
    name: "mkfs",
    title: "mkfs options",
    about: "options of mkfs, as on its command line: -d sunit=128,swidth=4096 -l size=128m",
    kind: ChoiceKind::Text,
    default: "",
};

pub(crate) const MOUNT: Choice = Choice {
    name: "mount",
    title: "Mount options",
    about: "options of mount -o: noatime,logbufs=8",
    kind: ChoiceKind::Text,
    default: "",
};

/// What choices say of a file system, each option in the table of what a plan may give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSystemSpec {
    make: MakeOptions,
    mount: MountOptions,
}

impl FileSystemSpec {
    /// What [`FS`], [`MKFS`] and [`MOUNT`] say, with blocks of this size where one is given.
    ///
    /// ext4 is mounted with `noinit_itable` unless told otherwise: the kernel would write what `mkfs` has put off while
    /// others measure.
    ///
    /// # Errors
    /// With the option that is not permitted.
    pub(crate) fn of(choices: &Choices, block: Option<Bytes>) -> Result<Self, ChoicesError> {
        let fs = choices.text(FS.name);
        let of = |choice: &'static str| move |refused| ChoicesError::Text { choice, refused };
        let make = MakeOptions::parse(fs, choices.text(MKFS.name)).map_err(of(MKFS.name))?;
        let make = block.into_iter().fold(make, MakeOptions::with_block);
        let mount = MountOptions::parse(fs, choices.text(MOUNT.name)).map_err(of(MOUNT.name))?;
        let mount = if fs == "ext4" { mount.or("noinit_itable", "init_itable") } else { mount };
        Ok(Self { make, mount })
    }

    /// The commands by which it is made and mounted, as one would type them.
    pub(crate) fn commands(&self) -> [String; 2] {
        let [device, folder] = [DEVICE, "FOLDER"].map(Path::new);
        [format::line(&self.make, device), options::line(self.make.fs(), &self.mount, device, folder)]
    }
}

/// A file system on the stage, mounted until this is dropped.
#[derive(Debug)]
pub(crate) struct MountedFileSystem {
    device: PathBuf,
    recipe: FileSystemSpec,
    /// How it was made, and the version of what made it.
    made: format::FormatRecord,
    // Unmounted first, and only then is the folder removed: they are dropped in this order.
    unmount: CleanupGuard,
    folder: PrivateFolder,
}

impl MountedFileSystem {
    /// Makes a file system on the stage and mounts it.
    ///
    /// # Errors
    /// If `mkfs` or the kernel refuses an option, which is then named, or the device.
    pub(crate) fn make(stage: &TrialDevice, recipe: FileSystemSpec, aftermath: &Cleanup) -> Result<Self, TrialError> {
        let made = format::make(&recipe.make, stage, aftermath)?;
        let folder = PrivateFolder::new(RUNTIME_FOLDER, "mnt", aftermath)?;
        let unmount = aftermath.promise(CleanupAction::Unmount(folder.path().to_owned()))?;
        options::mount(stage.path(), recipe.make.fs(), &recipe.mount, folder.path())?;
        Ok(Self { device: stage.path().to_owned(), recipe, made, unmount, folder })
    }

    /// Where it is mounted.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How it was made and how the kernel says that it is mounted, as conditions of a trial.
    pub(crate) fn conditions(&self) -> Vec<(String, String)> {
        let mounts = Mount::all().unwrap_or_default();
        let this = mounts.iter().rfind(|mount| mount.point == self.folder());
        let options = this.map_or("not mounted any more".to_owned(), |mount| mount.options.join(","));
        [("mkfs", self.made.command.clone()), ("mkfs version", self.made.version.clone()), ("mount options", options)]
            .map(|(name, text)| (name.to_owned(), text))
            .into()
    }

    /// How much can be written to it.
    ///
    /// # Errors
    /// If the file system does not say.
    pub(crate) fn free(&self) -> Result<Bytes, TrialError> {
        let found = rustix::fs::statvfs(self.folder()).map_err(|errno| TrialError::at(self.folder())(errno.into()))?;
        Ok(Bytes::new(found.f_bavail.saturating_mul(found.f_frsize)))
    }

    /// Unmounts and mounts it again: all that was written is on the device, and nothing of it is in memory.
    ///
    /// # Errors
    /// If somebody has it in use, or the device fails.
    pub(crate) fn empty_cache(&self) -> Result<(), TrialError> {
        CleanupAction::Unmount(self.folder().to_owned()).carry_out()?;
        options::mount(&self.device, self.recipe.make.fs(), &self.recipe.mount, self.folder())
    }

    /// Unmounts it now, and says if that fails.
    ///
    /// # Errors
    /// If it cannot be unmounted.
    pub(crate) fn unmount(self) -> Result<(), TrialError> {
        self.unmount.keep()
    }
}

/// What this machine lacks to make and mount such a file system; none if nothing.
pub(crate) fn unavailable(fs: &str) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("mounting file systems needs root; run it as root".to_owned());
    }
    let (program, package) = format::program(fs);
    if !Tools::of_system().has(&program) {
        return Some(format!("`{program}` is not installed; it is in Debian's package {package}"));
    }
    // What is a module is in the list once it is loaded.
    let is_known = || Machine::here().knows_file_system(fs);
    if !is_known() {
        Tools::of_system().run("modprobe", &[fs], std::time::Duration::from_secs(20)).ok();
    }
    (!is_known()).then(|| format!("this kernel does not support {fs}; choose another file system"))
}

pub use make::MakeOptions;
pub use options::MountOptions;
