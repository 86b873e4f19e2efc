//! States of simulated drives on disk, by what made them, so that they need not be made again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use attach::StateFile;
use block::{Bytes, Seed};
use drive::Device;
use host::open;

/// A folder of states that takes no more than so much; what was used least recently goes first.
///
/// A state is found by all that made it: the version of the program, the drive with all its parameters, which specimen it is,
/// and what was done to it with which seeds. Only files of this user's count, whose checksum is right, which say that
/// they were made so, and which describe a drive that works; others are removed. Files are put in place whole, so that several
/// processes can have one cache.
#[derive(Clone, Debug)]
pub struct StateCache {
    folder: PathBuf,
    most: Bytes,
    version: String,
}

/// How the names of its files end.
const ENDING: &str = "state";

/// A state that takes more than a share of the cache is not kept: it would leave no room for others.
const SHARE_MAX: u64 = 2;

impl StateCache {
    /// The cache in `folder`, which is made where it is not there, of this version of the program.
    ///
    /// # Errors
    /// If it cannot be made, or others may write there.
    pub fn at(folder: &Path, most: Bytes, version: &str) -> io::Result<Self> {
        folder.parent().map_or(Ok(()), open::make_folder)?;
        open::own_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), most, version: version.to_owned() })
    }

    /// Where it is by default: `assay/states` in `$XDG_CACHE_HOME`, or in `~/.cache`; none where neither is known.
    pub fn default_path(environment: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
        let set = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // Source: XDG Base Directory Specification 0.8: a relative path is to be ignored.
        let cache = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        Some(cache.or_else(|| set("HOME").map(|home| home.join(".cache")))?.join("assay/states"))
    }

    /// The drive that `recipe` makes of one that is made as `like` is, if its state is here.
    pub fn find(&self, recipe: &str, like: &Device) -> Option<Device> {
        let made_by = self.made_by(recipe, like);
        let path = self.path(&made_by);
        match StateFile::at(&path).kept(&made_by, like) {
            Ok(found) => {
                if let (Some(_), Ok(file)) = (&found, open::own_file_to_read(&path)) {
                    // That it was used now is a help to choose by, and no more.
                    let _ = file.set_modified(SystemTime::now());
                }
                found
            }
            Err(_) => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps the state of `drive`, which `recipe` made, if there is room; a state that cannot be kept is made again.
    pub fn keep(&self, recipe: &str, drive: &Device) {
        let made_by = self.made_by(recipe, drive);
        let most = self.most.get() / SHARE_MAX;
        if StateFile::at(&self.path(&made_by)).keep(&made_by, drive, Bytes::new(most)).is_ok() {
            self.make_room();
        }
    }

    /// All that a state depends on, as text.
    fn made_by(&self, recipe: &str, drive: &Device) -> String {
        format!("{}\n{:?}\n{:?}\n{recipe}", self.version, drive.spec(), drive.specimen())
    }

    fn path(&self, made_by: &str) -> PathBuf {
        let [high, low] = [0, 1].map(|half| Seed::new(half).split(made_by).get());
        self.folder.join(format!("{high:016x}{low:016x}.{ENDING}"))
    }

    /// Removes what was used least recently until the rest is within the limit.
    fn make_room(&self) {
        let mut all: Vec<(SystemTime, u64, PathBuf)> = self.files().collect();
        all.sort();
        let mut sum: u64 = all.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in all {
            if sum <= self.most.get() {
                break;
            }
            // Another process may have removed it before.
            let _ = fs::remove_file(path);
            sum -= length;
        }
    }

    fn files(&self) -> impl Iterator<Item = (SystemTime, u64, PathBuf)> + use<> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == ENDING)).filter_map(|entry| {
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
    }
}

#[cfg(test)]
mod tests {
    use drive::Drive;
    use drive::preset::Preset;

    use super::*;

    const PAGE: Bytes = Bytes::from_kib(4);

    fn small(changes: &str) -> Device {
        let mut drive =
            Preset::find(&format!("x25-m?capacity.user=64MiB&channels=2&spare=50%{changes}")).unwrap().build();
        let end = block::Lba::at(drive.shape().capacity);
        drive.fill(block::Lba::new(0), end, Bytes::from_mib(1), 100);
        assert!(drive.can_write_at_random(PAGE));
        drive.write_at_random(20_000, PAGE, Seed::new(1));
        drive
    }

    fn digest(drive: &Device) -> u64 {
        let Device::Flash(drive) = drive else { panic!("an X25-M is flash") };
        drive.digest()
    }

    fn cache(folder: &Path, most: Bytes) -> StateCache {
        StateCache::at(&folder.join("assay/states"), most, "1").unwrap()
    }

    const MOST: Bytes = Bytes::from_mib(64);

    #[test]
    fn a_state_is_found_by_all_that_made_it_and_goes_on_as_if_it_had_been_made() {
        let home = tempfile::tempdir().unwrap();
        let (cache, mut drive) = (cache(home.path(), MOST), small(""));
        let fresh = Preset::find("x25-m?capacity.user=64MiB&channels=2&spare=50%").unwrap().build();
        assert!(cache.find("a", &fresh).is_none());
        cache.keep("a", &drive);
        let mut found = cache.find("a", &fresh).unwrap();
        assert_eq!((digest(&found), found.counters(), found.now()), (digest(&drive), drive.counters(), drive.now()));
        [&mut found, &mut drive].into_iter().for_each(|drive| drive.write_at_random(5_000, PAGE, Seed::new(2)));
        assert_eq!((digest(&found), found.counters()), (digest(&drive), drive.counters()));
        assert!(cache.find("b", &fresh).is_none(), "another recipe");
        assert!(cache.find("a", &small("&pages_per_block=64")).is_none(), "another drive");
        assert!(StateCache { version: "2".into(), ..cache }.find("a", &fresh).is_none(), "another version");
    }

    #[test]
    fn what_is_damaged_or_somebody_elses_is_not_used_and_goes() {
        let home = tempfile::tempdir().unwrap();
        let (cache, drive) = (cache(home.path(), MOST), small(""));
        let path = cache.path(&cache.made_by("a", &drive));
        cache.keep("a", &drive);
        let whole = fs::read(&path).unwrap();
        for place in [0, 5, 14, 20, 30, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x10;
            fs::write(&path, damaged).unwrap();
            assert!(cache.find("a", &drive).is_none() && !path.exists(), "byte {place}");
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(cache.find("a", &drive).is_none() && !path.exists(), "half of it");
        fs::write(cache.path(&cache.made_by("b", &drive)), &whole).unwrap();
        assert!(cache.find("b", &drive).is_none(), "it says what made it");
        let elsewhere = home.path().join("elsewhere");
        fs::write(&elsewhere, &whole).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(cache.find("a", &drive).is_none() && elsewhere.exists(), "a link");
    }

    #[test]
    fn what_was_used_least_recently_makes_room() {
        let home = tempfile::tempdir().unwrap();
        let drive = small("");
        let roomy = cache(home.path(), MOST);
        for (age, recipe) in [(300, "a"), (200, "b"), (100, "c")] {
            roomy.keep(recipe, &drive);
            let file = open::own_file_to_read(&roomy.path(&roomy.made_by(recipe, &drive))).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        let each = roomy.files().next().unwrap().1;
        assert!(roomy.find("a", &drive).is_some(), "which makes it the last used");
        let tight = StateCache { most: Bytes::new(each * 3 + each / 2), ..roomy };
        tight.keep("d", &drive);
        let here = |recipe| tight.find(recipe, &drive).is_some();
        assert_eq!(["a", "b", "c", "d"].map(here), [true, false, true, true]);
        let small = StateCache { most: Bytes::new(each), ..tight };
        small.keep("e", &drive);
        assert!(small.find("e", &drive).is_none(), "it would take the whole cache");
    }
}
