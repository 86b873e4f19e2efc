//! Stores that are something else, or hostile.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;

use crate::support::{LoopDevice, Place, other, skip, tool};

/// Every command that opens a store.
const ALL: [&[&str]; 9] = [
    &["runs"],
    &["show", "1"],
    &["compare", "1", "2"],
    &["report", "1"],
    &["health", "1"],
    &[],
    &["run", "sim:x25-m?capacity.user=1GiB", "--number_ios=9"],
    &["review", "sim:x25-m?capacity.user=1GiB", "--quick"],
    &["review", "--resume", "1"],
];

/// Those that only read it.
const READING: [&[&str]; 6] = [ALL[0], ALL[1], ALL[2], ALL[3], ALL[4], ALL[5]];

fn content(path: &str) -> Vec<u8> {
    let mut content = Vec::new();
    fs::File::open(path).unwrap().take(16 << 20).read_to_end(&mut content).unwrap();
    content
}

/// A place with a store of two runs.
fn place() -> Place {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--number_ios=9"]);
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--number_ios=9"]);
    place
}

fn tamper(place: &Place, sql: &str) {
    let store = Connection::open(place.store()).unwrap();
    store.execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).unwrap();
}

/// Found: `assay runs --store /dev/loop0` formatted the device as SQLite, mounted or not.
#[test]
fn a_device_is_no_store_whoever_names_it() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk"), 16) else { return };
    let Some(_) = tool("mkfs.ext4") else { return skip("there is no mkfs.ext4") };
    let mount = place.path("mount");
    fs::create_dir(&mount).unwrap();
    symlink(&device.0, place.path("link")).unwrap();
    other("mkfs.ext4", &["-q", &device.0]);
    for is_mounted in [false, true] {
        if is_mounted {
            // Otherwise the file system goes on to write on its own.
            other("mount", &["-o", "ro", &device.0, &mount.display().to_string()]);
        }
        let before = content(&device.0);
        for command in ALL {
            for named in [device.0.clone(), place.path("link").display().to_string()] {
                let typed = place.assay(&[command, &["--store", &named]].concat());
                let set = place.command(command).env("ASSAY_STORE", &named).output().unwrap();
                let set = String::from_utf8(set.stderr).unwrap();
                for said in [typed.stderr, set] {
                    assert!(said.contains("is a block device, which cannot be a store"), "{command:?}: {said}");
                }
            }
        }
        let after = content(&device.0);
        if is_mounted {
            other("umount", &[&mount.display().to_string()]);
        }
        assert!(before == after, "mounted: {is_mounted}");
    }
}

/// Found: a stranger's file was made a store where it was empty but for a name that a link gave it.
#[test]
fn a_strangers_file_is_no_store_and_is_left_as_it_was() {
    let place = Place::new();
    fs::write(place.path("letter"), "Dear reader").unwrap();
    Connection::open(place.path("songs")).unwrap().execute_batch("CREATE TABLE song (title TEXT)").unwrap();
    symlink("/nowhere/at/all", place.path("loose")).unwrap();
    for name in ["letter", "songs", "loose", "."] {
        let path = place.path(name);
        let before = fs::read(&path).ok();
        for command in ALL {
            let said = place.assay(&[command, &["--store", &path.display().to_string()]].concat());
            assert_ne!(said.code, Some(0), "{command:?} with {name}: {}", said.stdout);
        }
        assert!(fs::read(&path).ok() == before, "{name}");
    }
    assert!(!Path::new("/nowhere").exists());
}

/// Found: `assay runs` made a folder and a store in it, and `show` as well.
#[test]
fn who_only_asks_leaves_nothing_behind() {
    let place = Place::new();
    let home = place.path("home");
    fs::create_dir(&home).unwrap();
    for command in READING {
        let mut asked = place.command(command);
        asked.env_remove("ASSAY_STORE").env_remove("XDG_DATA_HOME").env("HOME", &home).output().unwrap();
    }
    let mut asked = place.command(&["runs"]);
    let said = asked.env_remove("ASSAY_STORE").env_remove("XDG_DATA_HOME").env("HOME", &home).output().unwrap();
    assert!(String::from_utf8(said.stdout).unwrap().contains("has no runs; `assay review` creates the first"));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

/// Found: any command, and be it `runs`, brought a store up to date, so that an earlier assay could not read it any
/// more.
#[test]
fn who_only_asks_changes_no_byte_of_a_store_of_any_version() {
    let place = place();
    tamper(
        &place,
        "DROP INDEX run_listed; ALTER TABLE run DROP COLUMN course; ALTER TABLE run DROP COLUMN capacity_bytes; ALTER TABLE run DROP COLUMN drive; DROP TABLE baseline; DROP TABLE annotation; DROP INDEX run_identified; DROP INDEX run_grouped; DROP INDEX run_joined; \
         ALTER TABLE run DROP COLUMN uuid; ALTER TABLE run DROP COLUMN group_name; ALTER TABLE run DROP COLUMN whole; \
         ALTER TABLE run DROP COLUMN shard; ALTER TABLE run DROP COLUMN shards; PRAGMA user_version = 8",
    );
    let before = fs::read(place.store()).unwrap();
    assert!(place.succeeds(&["runs"]).contains("sim:x25-m"));
    for command in READING {
        place.succeeds(command);
    }
    let mut server = place.command(&["serve", "--listen=127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut link = [0; 8];
    server.stdout.as_mut().unwrap().read_exact(&mut link).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(fs::read(place.store()).unwrap() == before);
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--number_ios=9"]);
    assert!(fs::read(place.store()).unwrap() != before, "who writes brings it up to date");
}

/// Found: a store whose `run` is a view without end had `runs` never end.
#[test]
fn a_view_without_end_is_refused() {
    let place = place();
    tamper(
        &place,
        "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE endless (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless) \
         SELECT * FROM endless",
    );
    for command in ALL {
        let said = place.assay(command);
        assert!(said.stderr.contains("a view `run` that is not part of the schema"), "{command:?}: {}", said.stderr);
    }
}

/// Found: a run's names were printed as they stood in the store, with all that they had the terminal do.
#[test]
fn what_a_store_has_a_terminal_do_is_spelled_out() {
    let place = place();
    let letters = "char(27) || ']0;owned' || char(7) || 'x' || char(10) || '99 forged' || char(8238) || char(155)";
    tamper(&place, &format!("UPDATE run SET target = {letters}, target_identity = {letters}, version = {letters}"));
    let run = place.succeeds(&["runs"]);
    assert!(run.lines().all(|line| !line.starts_with("99 forged")), "{run}");
    for command in [&["runs"][..], &["show", "1"], &["compare", "1", "2"], &["health", "1"], &[]] {
        let said = place.assay(command);
        let told = said.stdout + &said.stderr;
        let is_loud = |c: char| c == '\u{1b}' || c == '\u{7}' || c == '\u{9b}' || c == '\u{202e}';
        assert!(!told.contains(is_loud), "{command:?}: {told:?}");
    }
}

/// A link in place of what SQLite keeps beside a store would be followed and written.
#[test]
fn a_link_beside_a_store_is_not_followed() {
    let place = place();
    fs::write(place.path("other"), "kept").unwrap();
    for end in ["-wal", "-shm", "-journal"] {
        let beside = format!("{}{end}", place.store().display());
        fs::remove_file(&beside).ok();
        symlink(place.path("other"), &beside).unwrap();
        for command in ALL {
            let said = place.assay(command);
            assert!(said.stderr.contains("is a link, which SQLite would follow"), "{command:?}: {}", said.stderr);
        }
        fs::remove_file(&beside).unwrap();
    }
    assert_eq!(fs::read_to_string(place.path("other")).unwrap(), "kept");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Found: the owner of a folder gave a file of root's the name of a store's log, and SQLite as root gave the file to
/// them;
/// or exchanged the folder for a link, and another database lost its log.
#[test]
fn root_opens_no_store_in_a_folder_that_others_can_change() {
    if !is_root() {
        return skip("needs root");
    }
    let place = place();
    let folder = place.path("theirs");
    fs::create_dir(&folder).unwrap();
    let (store, log) = (folder.join("x.sqlite"), folder.join("x.sqlite-wal"));
    fs::copy(place.store(), &store).unwrap();
    for path in [&folder, &store] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    fs::write(&log, "root's secret").unwrap();
    fs::set_permissions(&log, fs::Permissions::from_mode(0o600)).unwrap();
    let tried = |path: &Path| {
        for command in ALL {
            let said = place.assay(&[command, &["--store", &path.display().to_string()]].concat());
            assert!(
                said.code != Some(0) && said.stderr.contains("root does not open a store in"),
                "{command:?}: {}",
                said.stderr
            );
        }
    };
    tried(&store);
    // Nor does it make one there.
    fs::remove_file(&log).unwrap();
    for command in [ALL[6], ALL[7]] {
        for new in [folder.join("new.sqlite"), folder.join("deep/new.sqlite")] {
            let said = place.assay(&[command, &["--store", &new.display().to_string()]].concat());
            assert!(said.stderr.contains("root does not open a store in"), "{command:?}: {}", said.stderr);
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing was made");
    // A folder of root's in which all may make files is no better for what SQLite keeps beside a store.
    chown(&folder, Some(0), Some(0)).unwrap();
    for mode in [0o777, 0o1777, 0o775] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        tried(&store);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let opened = |caller: &str| {
        let mut command = place.command(&["runs", "--store", store.to_str().unwrap()]);
        command.env("SUDO_UID", caller).env("SUDO_GID", caller).output().unwrap().status.success()
    };
    assert!(opened("0"));
    chown(&folder, Some(65534), Some(65534)).unwrap();
    assert!(opened("65534") && !opened("65533"), "the folder of who called sudo is theirs");
}

/// Found: a file of root's, named or linked as a store's log, was given to the store's owner.
#[test]
fn what_is_beside_a_store_is_its_owners_and_has_one_name() {
    if !is_root() {
        return skip("needs root");
    }
    let place = place();
    let path = place.store();
    let secret = place.path("secret");
    fs::write(&secret, "root's secret").unwrap();
    for end in ["-wal", "-shm", "-journal"] {
        let beside = format!("{}{end}", path.display());
        fs::remove_file(&beside).ok();
        for (owner, is_linked, why) in [(65534, false, "a file of another user"), (0, true, "more than one name")] {
            chown(&path, Some(owner), None).unwrap();
            if is_linked { fs::hard_link(&secret, &beside) } else { fs::rename(&secret, &beside) }.unwrap();
            for command in ALL {
                let said = place.assay(command);
                assert!(said.stderr.contains(why), "{command:?} {end}: {}", said.stderr);
            }
            let found = fs::metadata(&beside).unwrap();
            assert_eq!((found.uid(), fs::read_to_string(&beside).unwrap()), (0, "root's secret".into()), "{end}");
            if is_linked { fs::remove_file(&beside) } else { fs::rename(&beside, &secret) }.unwrap();
        }
    }
    fs::hard_link(&path, place.path("second")).unwrap();
    for command in ALL {
        let said = place.assay(command);
        assert!(
            said.stderr.contains("has 2 hard links") && said.stderr.contains("copy it"),
            "{command:?}: {}",
            said.stderr
        );
    }
}

/// What root makes for who called sudo is theirs.
#[test]
fn a_store_that_root_makes_is_the_callers_of_sudo() {
    if !is_root() {
        return skip("needs root");
    }
    let place = Place::new();
    let path = place.path("data/deep/results.sqlite");
    let mut command: Command = place.command(&["run", "sim:x25-m?capacity.user=1GiB", "--number_ios=9", "--store"]);
    let output = command.arg(&path).env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for path in [path.as_path(), path.parent().unwrap(), &place.path("data")] {
        assert_eq!(fs::metadata(path).unwrap().uid(), 65534, "{}", path.display());
    }
}
