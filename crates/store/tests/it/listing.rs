//! Runs are found among many, and the process that carries one out is heard by others.

use std::path::PathBuf;

use crate::support::{measurement, new_run};
use assay_store::{Counted, Filter, NewRun, RunId, RunState, Sharding, Store};
use rusqlite::Connection;

fn place() -> (tempfile::TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.sqlite");
    let store = Store::open(&path).unwrap();
    (folder, path, store)
}

fn begin(store: &mut Store, plan: &str, target: &str, identity: &str) -> RunId {
    let run = NewRun { plan: plan.into(), target: target.into(), target_identity: identity.into(), ..new_run() };
    store.begin(&run).unwrap()
}

fn numbers(store: &Store, filter: &Filter) -> Vec<i64> {
    let listed: Vec<i64> = store.listed(filter, 0, 50).unwrap().iter().map(|run| run.id.0).collect();
    assert_eq!(store.count(filter).unwrap(), listed.len() as u64, "{filter:?}");
    listed
}

#[test]
fn runs_are_found_by_words_target_plan_and_state() {
    let (_folder, _, mut store) = place();
    begin(&mut store, "review", "sim:x25-m", "Intel X25-M, 80 GB");
    let second = begin(&mut store, "snia-client", "/dev/disk_1", "Fast Disk 100%");
    begin(&mut store, "review", "/dev/disk_1", "Fast Disk 100%");
    store.finish(second, RunState::Failed, Some("it broke"), 9).unwrap();
    let words = |words: &[&str]| Filter { words: words.iter().map(|&word| word.into()).collect(), ..Filter::default() };

    assert_eq!(numbers(&store, &Filter::default()), [3, 2, 1], "the latest first");
    assert_eq!(numbers(&store, &words(&["INTEL"])), [1]);
    assert_eq!(numbers(&store, &words(&["review", "fast"])), [3], "all words");
    assert_eq!(numbers(&store, &words(&["0%"])), [3, 2], "no sign has a meaning of its own");
    assert_eq!(numbers(&store, &words(&["2", "snia"])), [2], "a number is that of a run");
    assert_eq!(numbers(&store, &words(&["k_1"])), [3, 2]);
    assert_eq!(numbers(&store, &words(&["x_5"])), [] as [i64; 0]);
    assert_eq!(numbers(&store, &words(&["' OR 1=1 --"])), [] as [i64; 0]);
    assert_eq!(numbers(&store, &Filter { target: Some("sim:x25-m".into()), ..Filter::default() }), [1]);
    assert_eq!(numbers(&store, &Filter { plan: Some("review".into()), ..words(&["disk"]) }), [3]);
    assert_eq!(numbers(&store, &Filter { state: Some(RunState::Failed), ..Filter::default() }), [2]);
    let counted = |name: &str, runs| Counted { name: name.into(), runs };
    assert_eq!(store.targets(9).unwrap(), [counted("/dev/disk_1", 2), counted("sim:x25-m", 1)]);
    assert_eq!(store.plans(1).unwrap(), [counted("review", 2)]);
    let page: Vec<i64> = store.listed(&Filter::default(), 1, 1).unwrap().iter().map(|run| run.id.0).collect();
    assert_eq!(page, [2]);
}

/// What SQLite means to do must be in the index alone, from its end, and without sorting.
#[test]
fn a_page_of_the_list_reads_no_plan_and_sorts_nothing() {
    let (_folder, path, store) = place();
    drop(store);
    let plan: String = Connection::open(path)
        .unwrap()
        .query_row(
            "EXPLAIN QUERY PLAN SELECT id, plan, quick, target, target_identity, state, started_ms, finished_ms \
             FROM run INDEXED BY run_listed WHERE TRUE AND target = 'x' ORDER BY id DESC LIMIT 50 OFFSET 100",
            [],
            |row| row.get("detail"),
        )
        .unwrap();
    assert_eq!(plan, "SCAN run USING COVERING INDEX run_listed");
}

#[test]
fn every_run_has_a_uuid_of_its_own_and_those_of_a_group_and_of_a_whole_are_found_together() {
    let (_folder, path, mut store) = place();
    let shard = |group: &str, shard: &str| NewRun {
        group: Some(group.into()),
        shard: Some(shard.parse().unwrap()),
        ..new_run()
    };
    for run in [new_run(), shard("fleet", "1/4"), shard("fleet", "2/4"), shard("fleet", "2/8"), shard("other", "1/4")] {
        store.begin(&run).unwrap();
    }
    drop(store);
    let store = Store::open(&path).unwrap();
    let runs = store.runs().unwrap();
    let uuids: std::collections::HashSet<_> = runs.iter().map(|run| run.uuid).collect();
    assert_eq!((uuids.len(), runs[0].uuid.get_version_num()), (5, 4));
    assert_eq!((&runs[0].group, runs[0].sharding), (&None, None));
    let whole = |number: usize| match runs[number - 1].sharding {
        Some(Sharding::Shard { of, shard }) => (of, shard.to_string()),
        other => panic!("{other:?}"),
    };
    assert_eq!((whole(2).1.as_str(), whole(4).1.as_str()), ("1/4", "2/8"));
    assert_eq!(whole(2).0, whole(3).0, "shards of one run");
    assert!(whole(2).0 != whole(4).0 && whole(2).0 != whole(5).0, "another count and another group are another run");
    let fleet = Filter { group: Some("fleet".into()), ..Filter::default() };
    assert_eq!(numbers(&store, &fleet), [4, 3, 2]);
    let groups = store.listed(&Filter::default(), 0, 9).unwrap();
    assert_eq!(groups.iter().map(|run| run.group.as_deref()).collect::<Vec<_>>()[3..], [Some("fleet"), None]);
}

#[test]
fn what_a_row_says_of_its_identity_is_held_against_what_can_be() {
    for (wrong, words) in [
        ("uuid = 'x'", "UUID"),
        ("uuid = printf('%.*c', 5000, 'x')", "uuid"),
        ("whole = '1'", "uuid"),
        ("group_name = 'a' || char(10)", "the name of a group"),
        ("group_name = printf('%.*c', 5000, 'x')", "the name of a group"),
        ("shard = 9", "out of range"),
        ("shards = -1", "out of range"),
        ("shards = 0", "out of range"),
        ("shards = 70000", "out of range"),
    ] {
        let (_folder, path, mut store) = place();
        store.begin(&NewRun { shard: Some("1/4".parse().unwrap()), ..new_run() }).unwrap();
        Connection::open(&path).unwrap().execute_batch(&format!("UPDATE run SET {wrong}")).unwrap();
        let said = store.runs().unwrap_err().to_string();
        assert!(said.to_lowercase().contains(&words.to_lowercase()), "{wrong}: {said}");
    }
}

#[test]
fn a_store_that_is_opened_to_be_read_takes_nothing_and_sees_what_others_keep() {
    let (_folder, path, mut store) = place();
    let mut reader = Store::open_to_read(&path).unwrap();
    let said = reader.begin(&new_run()).unwrap_err().to_string();
    assert!(said.contains("make it writable"), "{said}");
    let run = store.begin(&new_run()).unwrap();
    store.record_cell(run, "read", "bs=4k", &[(0, measurement(1, 1)), (1, measurement(2, 1))]).unwrap();
    store.record_trial(run, "boot", "", 0, "{}").unwrap();
    assert_eq!(reader.kept(run).unwrap(), [("read".to_owned(), 2), ("boot".to_owned(), 1)]);
}

#[test]
fn the_owner_of_a_run_is_heard_until_it_ends() {
    let (_folder, path, mut store) = place();
    let reader = Store::open_to_read(&path).unwrap();
    assert_eq!(reader.told(RunId(1)), None, "there is no such run");
    let run = store.begin(&new_run()).unwrap();
    assert_eq!(reader.told(run).as_deref(), Some(""), "it has an owner that has told nothing yet");
    let teller = store.teller(run).unwrap();
    teller.tell("{\"step\":\"Random reads\"}");
    assert_eq!(reader.told(run).as_deref(), Some("{\"step\":\"Random reads\"}"));
    teller.tell("short");
    assert_eq!(reader.told(run).as_deref(), Some("short"), "nothing is left of what was told before");
    teller.tell(&"x".repeat(4096));
    assert_eq!(reader.told(run).as_deref(), Some("short"), "what is too long is not told");
    store.finish(run, RunState::Complete, None, 1).unwrap();
    drop(teller);
    assert_eq!(reader.told(run), None);
    assert!(store.teller(run).is_none());
}
