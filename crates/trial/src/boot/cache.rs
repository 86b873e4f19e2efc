//! The systems' images, each built once and kept with the user's other caches.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use block::Bytes;
use host::{Scratch, open};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::work::BootTools;
use super::{debian, micro};
use crate::{CleanupAction, TrialContext, TrialError};

/// A system that is ready to be copied to a drive.
#[derive(Debug, Serialize, Deserialize)]
pub struct SystemImage {
    /// What it is, with its kernel: `Debian GNU/Linux 12 (bookworm), Linux 6.1.0-amd64`.
    pub about: String,
    /// The day on which it was built, as `2026-12-31` of UTC.
    pub built: String,
    /// What the kernel is told about where its root is; none where that depends on the bus.
    pub root: Option<String>,
    #[serde(skip)]
    folder: PathBuf,
}

impl SystemImage {
    /// What the drive is to hold.
    pub fn disk(&self) -> PathBuf {
        self.folder.join("disk.img")
    }

    pub fn kernel(&self) -> PathBuf {
        self.folder.join("vmlinuz")
    }

    /// The initial RAM disk.
    pub fn initrd(&self) -> PathBuf {
        self.folder.join("initrd.img")
    }

    /// How much the drive is to hold.
    pub fn length(&self) -> Bytes {
        Bytes::new(fs::metadata(self.disk()).map_or(0, |file| file.len()))
    }

    /// Whether it has systemd, which can tell on what it spent its time.
    pub fn tells(&self) -> bool {
        self.root.is_some()
    }
}

/// Where images are kept: below `XDG_CACHE_HOME`, or `.cache` of `HOME`, where nobody else can change what root boots and
/// copies; else where the machine's own caches are.
fn home() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    below(cache)
}

/// Where they are kept if this is the user's cache.
fn below(cache: Option<PathBuf>) -> PathBuf {
    let home = cache.map(|cache| cache.join("assay/boot")).filter(|home| open::is_out_of_reach(home));
    home.unwrap_or_else(|| PathBuf::from("/var/cache/assay/boot"))
}

/// Makes it, if it is not there, and makes sure that nobody else can change what is in it.
fn make_home(home: &Path) -> Result<(), TrialError> {
    let above = home.ancestors().nth(2).unwrap_or(home);
    fs::create_dir_all(above).map_err(TrialError::at(above))?;
    let inside = [home.parent().unwrap_or(home), home];
    inside.iter().try_for_each(|folder| open::own_folder(folder).map_err(TrialError::at(*folder)))
}

/// Where images are kept, made if it is not there.
pub(super) fn ready_home() -> Result<PathBuf, TrialError> {
    let home = home();
    make_home(&home)?;
    Ok(home)
}

/// The folder of a system: its name and a key of its recipe.
fn folder(system: &str) -> PathBuf {
    let recipe = if system == "micro" { micro::recipe() } else { debian::recipe() };
    home().join(format!("{system}-{:016x}", key(&recipe)))
}

/// A number that differs where texts do.
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, "The FNV Non-Cryptographic Hash Algorithm", FNV-1a with 64 bits.
fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether a system was built already.
pub fn is_built(system: &str) -> bool {
    folder(system).join("system.json").exists()
}

/// How much of a drive a system takes, if it was built already.
pub fn length(system: &str) -> Option<Bytes> {
    fs::metadata(folder(system).join("disk.img")).ok().map(|file| Bytes::new(file.len()))
}

/// A system, built if it was not before.
///
/// # Errors
/// If it cannot be built.
pub fn ready(system: &str, work: &BootTools, go: &TrialContext) -> Result<SystemImage, TrialError> {
    let folder = folder(system);
    make_home(&home())?;
    let lock = folder.with_extension("lock");
    let lock = open::own_or_new_file(&lock, 0o600).map_err(TrialError::at(&lock))?;
    while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        (go.tell)("waiting for another assay that builds the system");
        work.stage.continues()?;
        thread::sleep(Duration::from_millis(200));
    }
    if !is_built(system) {
        build(system, &folder, work, go)?;
    }
    let about = folder.join("system.json");
    let text = fs::read_to_string(&about).map_err(TrialError::at(&about))?;
    let wrong = |error: serde_json::Error| TrialError::at(&about)(error.into());
    Ok(SystemImage { folder, ..serde_json::from_str(&text).map_err(wrong)? })
}

/// Builds a system beside its folder, which it gets when it is whole.
fn build(system: &str, folder: &Path, work: &BootTools, go: &TrialContext) -> Result<(), TrialError> {
    (go.tell)("building the system image, which is cached");
    let site = Scratch::name(&home(), &format!("building-{}", std::process::id()));
    let promise = work.aftermath.promise(CleanupAction::Remove(site.clone()))?;
    // The packages' own user has to come through.
    open::own_folder(&site).map_err(TrialError::at(&site))?;
    let built = if system == "micro" { micro::build(&site, work)? } else { debian::build(&site, work)? };
    let text = serde_json::to_string_pretty(&built).expect("texts serialise");
    open::write_new(&site.join("system.json"), text.as_bytes(), 0o644).map_err(TrialError::at(&site))?;
    fs::remove_dir_all(folder).ok();
    fs::rename(&site, folder).map_err(TrialError::at(folder))?;
    promise.keep()
}

/// A system that was just built.
pub fn built(about: String, root: Option<String>) -> SystemImage {
    SystemImage { about, built: Timestamp::now().strftime("%Y-%m-%d").to_string(), root, folder: PathBuf::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_not_kept_where_others_can_change_them() {
        let cache = tempfile::tempdir().unwrap();
        let is_below = || below(Some(cache.path().to_owned())).starts_with(cache.path());
        assert!(is_below());
        make_home(&below(Some(cache.path().to_owned()))).unwrap();
        assert!(is_below());
        std::os::unix::fs::symlink("/tmp", cache.path().join("link")).unwrap();
        assert_eq!(below(Some(cache.path().join("link"))), below(None));
        fs::set_permissions(cache.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(below(Some(cache.path().to_owned())), below(None));
        assert_eq!(below(Some("relative".into())), below(None));
    }

    #[test]
    fn another_recipe_has_another_key() {
        assert_eq!(key(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(key("a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(folder("debian"), folder("micro"));
    }
}
