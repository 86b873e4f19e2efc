//! Files from strangers, and files of earlier versions: read as they are, or refused, and never changed.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{measurement, new_run};
use assay_store::{Filter, RunId, Store, StoreError};
use rusqlite::Connection;

/// What turns a store of each version, the newest first, into one of the version before it.
const BACK: [&str; 13] = [
    "DROP INDEX run_identified; DROP INDEX run_grouped; DROP INDEX run_joined; ALTER TABLE run DROP COLUMN uuid;
     ALTER TABLE run DROP COLUMN group_name; ALTER TABLE run DROP COLUMN whole; ALTER TABLE run DROP COLUMN shard;
     ALTER TABLE run DROP COLUMN shards",
    "DROP TABLE annotation",
    "DROP TABLE baseline",
    "ALTER TABLE run DROP COLUMN capacity_bytes; ALTER TABLE run DROP COLUMN drive",
    "ALTER TABLE run DROP COLUMN course",
    "DROP INDEX run_listed",
    "DROP TABLE trial",
    "DROP TABLE health",
    "ALTER TABLE measurement DROP COLUMN energy",
    "DROP INDEX IF EXISTS run_listed; ALTER TABLE run DROP COLUMN simulated",
    "ALTER TABLE measurement DROP COLUMN read_service; ALTER TABLE measurement DROP COLUMN write_service;
     ALTER TABLE measurement DROP COLUMN trim_service; ALTER TABLE measurement DROP COLUMN failures;
     ALTER TABLE measurement DROP COLUMN verified",
    "ALTER TABLE run DROP COLUMN direct; ALTER TABLE run DROP COLUMN target_fingerprint",
    "ALTER TABLE measurement DROP COLUMN flush_requests; ALTER TABLE measurement DROP COLUMN flush_latency",
];

/// A folder with a store of one run in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.sqlite");
    let mut store = Store::open(&path).unwrap();
    let run = store.begin(&new_run()).unwrap();
    store.record_cell(run, "read", "bs=4k", &[(0, measurement(7, 1)), (1, measurement(8, 1))]).unwrap();
    store.note(run, Some("read"), None, "throttled").unwrap();
    (folder, path)
}

/// Does something to a file that assay's own connections would not do.
fn tamper(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// What both ways to open a file say of it, which change nothing of it.
fn refusals(path: &Path) -> [String; 2] {
    let before = std::fs::read(path).unwrap();
    let said = [Store::open(path), Store::open_to_read(path)].map(|opened| opened.unwrap_err().to_string());
    assert!(std::fs::read(path).unwrap() == before, "{said:?}");
    said
}

#[test]
fn every_earlier_version_is_read_as_it_will_be_when_it_is_up_to_date_and_no_byte_is_changed() {
    for earlier in (1..14).rev() {
        let (_folder, path) = place();
        for back in &BACK[..14 - earlier] {
            tamper(&path, back);
        }
        tamper(&path, &format!("PRAGMA user_version = {earlier}"));
        let before = std::fs::read(&path).unwrap();
        let read = |store: &Store| {
            let run = RunId(1);
            let lists = (store.listed(&Filter::default(), 0, 9).unwrap(), store.targets(9).unwrap());
            let kept = (store.kept(run).unwrap(), store.keys(run).unwrap(), store.tried(run).unwrap());
            let health = store.health(run, assay_store::HealthMoment::Before).unwrap();
            (lists, kept, health, store.runs().unwrap(), store.measured(run).unwrap(), store.notes(run).unwrap())
        };
        let mut reader = Store::open_to_read(&path).unwrap();
        let seen = read(&reader);
        reader.begin(&new_run()).expect_err("it is opened to be read");
        drop(reader);
        assert!(std::fs::read(&path).unwrap() == before, "version {earlier} was changed");
        assert!(seen == read(&Store::open(&path).unwrap()), "version {earlier} reads otherwise once it is up to date");
        assert_eq!(seen.3.len(), 1, "version {earlier}");
        assert!(std::fs::read(&path).unwrap() != before, "version {earlier} was brought up to date");
    }
}

#[test]
fn a_reader_makes_nothing_where_there_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_to_read(&folder.path().join("none/results.sqlite")).unwrap();
    assert_eq!(store.runs().unwrap(), []);
    assert!(store.run(RunId(1)).unwrap_err().to_string().contains("the store is empty: `assay review`"));
    assert_eq!(names(folder.path()), [] as [&str; 0]);
}

#[test]
fn what_no_schema_of_ours_makes_is_refused_before_it_is_read() {
    let endless =
        "WITH RECURSIVE endless (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless) SELECT * FROM endless";
    for (sql, words) in [
        (format!("ALTER TABLE run RENAME TO other; CREATE VIEW run AS {endless}"), "a table `other`"),
        (format!("DROP TABLE run; CREATE VIEW run AS {endless}"), "a view `run`"),
        ("CREATE TRIGGER more AFTER INSERT ON run BEGIN DELETE FROM run; END".into(), "a trigger `more`"),
        ("ALTER TABLE run ADD COLUMN more AS (hex(zeroblob(1000000000)))".into(), "a table `run`"),
        ("CREATE INDEX more ON run (hex(zeroblob(1000000)))".into(), "an index `more`"),
        ("DROP INDEX run_listed; CREATE INDEX run_listed ON run (id, hex(plan))".into(), "`run_listed`"),
        ("DROP TABLE finding".into(), "it has no `finding`"),
        ("DROP TABLE trial; CREATE VIRTUAL TABLE trial USING fts5(run, step, cell, repeat, result)".into(), "`trial"),
        ("CREATE TABLE song (title TEXT)".into(), "a table `song`"),
        ("PRAGMA user_version = -1".into(), "its version is -1"),
        ("PRAGMA user_version = 0".into(), "its version is 0"),
    ] {
        let (_folder, path) = place();
        tamper(&path, &sql);
        for said in refusals(&path) {
            assert!(said.contains(words) && said.contains("--store FILE"), "{sql}: {said}");
        }
    }
}

/// Found: a run whose plan was named `/tmp/x` had its report written there.
#[test]
fn no_plan_is_named_as_a_path() {
    for name in ["'/tmp/x/trav'", "'../../x'", "'a' || char(10)", "printf('%.*c', 5000, 'x')"] {
        let (_folder, path) = place();
        tamper(&path, &format!("UPDATE run SET plan = {name}"));
        let store = Store::open_to_read(&path).unwrap();
        let said = [
            store.run(RunId(1)).unwrap_err().to_string(),
            store.runs().unwrap_err().to_string(),
            store.listed(&Filter::default(), 0, 9).unwrap_err().to_string(),
        ];
        assert!(said.iter().all(|said| said.contains("holds no `/`")), "{said:?}");
    }
}

/// A page of a table that leads to itself holds rows without end, and each of them is sound.
#[test]
fn a_table_that_leads_back_to_itself_ends() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    for _ in 0..400 {
        store.begin(&new_run()).unwrap();
    }
    drop(store);
    let root: i64 = {
        let file = Connection::open(&path).unwrap();
        file.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'run'", [], |row| row.get(0)).unwrap()
    };
    let mut bytes = std::fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let at = (root as usize - 1) * page;
    assert_eq!(bytes[at], 5, "the root is an interior page. Source: sqlite.org/fileformat2.html, §1.6");
    let cells = usize::from(u16::from_be_bytes([bytes[at + 3], bytes[at + 4]]));
    let first = at + usize::from(u16::from_be_bytes([bytes[at + 12], bytes[at + 13]]));
    let child: [u8; 4] = bytes[first..first + 4].try_into().unwrap();
    for cell in 1..cells {
        let place = at + 12 + 2 * cell;
        let cell = at + usize::from(u16::from_be_bytes([bytes[place], bytes[place + 1]]));
        bytes[cell..cell + 4].copy_from_slice(&child);
    }
    std::fs::write(&path, bytes).unwrap();
    let said = Store::open_to_read(&path).unwrap().runs().unwrap_err().to_string();
    assert!(said.contains("out of order"), "{said}");
}

#[test]
fn a_store_is_a_regular_file_and_its_link_leads_to_one_that_is_there() {
    let (folder, path) = place();
    let at = |name: &str| folder.path().join(name);
    symlink(&path, at("link")).unwrap();
    assert_eq!(Store::open(&at("link")).unwrap().runs().unwrap().len(), 1);
    symlink(at("nowhere"), at("loose")).unwrap();
    std::fs::write(at("empty"), "").unwrap();
    symlink(at("empty"), at("linked-empty")).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), kind, mode, 0).unwrap();
    for (path, words) in [
        (at("loose"), "is a dangling symbolic link to"),
        (at("linked-empty"), "of another program"),
        (at("fifo"), "is a FIFO"),
        ("/dev/null".into(), "is a character device"),
        (folder.path().to_owned(), "is a folder"),
    ] {
        let said = Store::open(&path).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
        assert!(words.contains("program") || Store::open_to_read(&path).unwrap_err().to_string() == said);
    }
    assert!(!at("nowhere").exists() && std::fs::read(at("empty")).unwrap().is_empty());
    Store::open(&at("empty")).unwrap();
}

#[test]
fn what_stands_beside_a_store_is_no_link_and_no_journal_that_has_another_file_removed() {
    for end in ["-wal", "-shm", "-journal"] {
        let (folder, path) = place();
        let other = folder.path().join("other");
        std::fs::write(&other, "kept").unwrap();
        symlink(&other, format!("{}{end}", path.display())).unwrap();
        for said in refusals(&path) {
            assert!(
                said.contains(&format!("results.sqlite{end} beside the store")) && said.contains("a link"),
                "{said}"
            );
        }
        assert_eq!(std::fs::read_to_string(other).unwrap(), "kept");
    }
    let (folder, path) = place();
    let other = folder.path().join("other");
    std::fs::write(&other, "kept").unwrap();
    std::fs::write(folder.path().join("results.sqlite-journal"), journal(&path, &other)).unwrap();
    refusals(&path).iter().for_each(|said| assert!(said.contains("a journal that names another file"), "{said}"));
    assert_eq!(std::fs::read_to_string(other).unwrap(), "kept");
}

/// A journal without pages that names a second one, which SQLite removes once it has played this one back.
///
/// Source: sqlite.org/fileformat2.html, §3 "The Rollback Journal"; SQLite, src/pager.c, `writeSuperJournal`.
fn journal(store: &Path, second: &Path) -> Vec<u8> {
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let pages = (std::fs::metadata(store).unwrap().len() / 4096) as u32;
    let mut bytes = magic.to_vec();
    [0, 0, pages, 512, 4096].into_iter().for_each(|word: u32| bytes.extend(word.to_be_bytes()));
    bytes.resize(512, 0);
    let name = second.as_os_str().as_encoded_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    bytes.extend((0x4000_0000_u32 / 4096 + 1).to_be_bytes());
    bytes.extend(name);
    [name.len() as u32, sum].into_iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    bytes.extend(magic);
    bytes
}

#[test]
fn a_store_beside_which_nothing_can_be_made_is_read_all_the_same() {
    let (folder, path) = place();
    assert_eq!(names(folder.path()), ["results.sqlite"], "the last writer leaves the file alone");
    let immutable = |sign: &str| {
        let changed = std::process::Command::new("chattr").arg(format!("{sign}i")).arg(folder.path()).output();
        changed.is_ok_and(|output| output.status.success())
    };
    if !immutable("+") {
        return println!("skipped: folders cannot be made immutable here");
    }
    let opened = Store::open_to_read(&path).and_then(|store| Ok((store.runs()?.len(), store.run(RunId(2)))));
    immutable("-");
    let (runs, second) = opened.unwrap();
    assert_eq!(runs, 1);
    assert!(matches!(second, Err(StoreError::NoSuchRun { .. })));
    assert_eq!(names(folder.path()), ["results.sqlite"]);
}
