//! Stores are merged: each run once, nothing lost, whatever is interrupted and in whatever order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{measurement, new_run};
use assay_store::{HealthMoment, Merged, NewRun, RunId, RunState, Sharding, Store, StoreError};
use measurement::{Annotations, RunNote, RunTag};
use rusqlite::Connection;
use testkit::process::again;
use testkit::soak;

fn place() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name: &str| path.join(name))
}

fn tag(word: &str) -> RunTag {
    word.parse().unwrap()
}

/// Enters a run with something in every table, complete or not.
fn keep(store: &mut Store, run: &NewRun, cells: u64, ends: Option<RunState>) -> RunId {
    let id = store.begin(run).unwrap();
    go_on(store, id, 0..cells);
    store.record_trial(id, "boot", "", 0, "{}").unwrap();
    store.note(id, Some("read"), None, "throttled").unwrap();
    store.keep_health(id, HealthMoment::Before, "{\"a\":1}").unwrap();
    if let Some(state) = ends {
        store.finish(id, state, None, 1_767_225_700_000).unwrap();
    }
    id
}

fn go_on(store: &mut Store, id: RunId, cells: std::ops::Range<u64>) {
    for cell in cells {
        store.record_cell(id, "read", &format!("iodepth={cell}"), &[(0, measurement(cell, 1))]).unwrap();
    }
}

/// Offers all runs of one store to another, as `assay merge` does.
fn merge(into: &mut Store, from: &Store) -> Vec<Merged> {
    from.offered().unwrap().into_iter().map(|run| into.merge(from, run).unwrap()).collect()
}

/// All that a store says of each run, but its number there.
fn told(path: &Path) -> BTreeMap<String, String> {
    let store = Store::open_to_read(path).unwrap();
    let each = store.runs().unwrap().into_iter().map(|run| {
        let (measured, tried) = (store.measured(run.id).unwrap(), store.tried(run.id).unwrap());
        let (notes, health) = (store.notes(run.id).unwrap(), store.health(run.id, HealthMoment::Before).unwrap());
        let drive = store.drive(run.id).unwrap();
        let told = format!("{:?} {measured:?} {tried:?} {notes:?} {health:?} {drive:?}", (&run.state, run.finished_ms));
        let run = measurement::Run { id: RunId(0), ..run };
        (run.uuid.to_string(), format!("{run:?} {told}"))
    });
    each.collect()
}

#[test]
fn merging_gives_every_run_once_as_it_was_and_doing_it_again_changes_nothing() {
    let (_folder, at) = place();
    for name in ["a", "b"] {
        let mut store = Store::open(&at(name)).unwrap();
        keep(&mut store, &new_run(), 3, Some(RunState::Complete));
        keep(&mut store, &NewRun { group: Some("g".into()), ..new_run() }, 2, Some(RunState::Failed));
    }
    let mut all = Store::open(&at("all")).unwrap();
    let mut other = Store::open(&at("other")).unwrap();
    let [a, b] = ["a", "b"].map(|name| Store::open_to_read(&at(name)).unwrap());
    assert_eq!(merge(&mut all, &a), [Merged::Added(RunId(1)), Merged::Added(RunId(2))]);
    assert_eq!(merge(&mut all, &b), [Merged::Added(RunId(3)), Merged::Added(RunId(4))]);
    merge(&mut other, &b);
    merge(&mut other, &a);
    let once = told(&at("all"));
    assert_eq!(once.len(), 4);
    assert!(once == told(&at("other")), "the order does not matter");
    let both: BTreeMap<_, _> = told(&at("a")).into_iter().chain(told(&at("b"))).collect();
    assert!(once == both, "nothing is lost or altered");
    let kept = std::fs::read(at("a")).unwrap();
    assert_eq!(merge(&mut all, &a), [Merged::Known(RunId(1)), Merged::Known(RunId(2))]);
    assert_eq!(merge(&mut other, &Store::open_to_read(&at("all")).unwrap()).len(), 4);
    assert!(told(&at("all")) == once && told(&at("other")) == once);
    assert!(std::fs::read(at("a")).unwrap() == kept, "what is merged from is not changed");
    let digest = |name: &str, run| Store::open_to_read(&at(name)).unwrap().digest(RunId(run)).unwrap();
    assert_eq!(digest("a", 1), digest("all", 1));
    assert_ne!(digest("a", 1), digest("a", 2));
}

#[test]
fn a_run_that_went_on_replaces_what_was_there_of_it_and_never_the_other_way_round() {
    let (_folder, at) = place();
    let mut source = Store::open(&at("source")).unwrap();
    let run = keep(&mut source, &new_run(), 2, None);
    let mut all = Store::open(&at("all")).unwrap();
    assert_eq!(all.merge(&source, run).unwrap(), Merged::Added(RunId(1)));
    let early = std::fs::read(at("all")).unwrap();
    // What was cut short is doubted, and measured again when the run goes on.
    source.note(run, Some("read"), Some("iodepth=1"), "cut short").unwrap();
    let mut cut = Store::open(&at("cut")).unwrap();
    cut.merge(&source, run).unwrap();
    source.retract(run, "read", "iodepth=1", "cut short").unwrap();
    source.record_cell(run, "read", "iodepth=1", &[(0, measurement(77, 1))]).unwrap();
    go_on(&mut source, run, 2..4);
    source.finish(run, RunState::Complete, None, 1_767_225_700_000).unwrap();
    assert_eq!(cut.merge(&source, run).unwrap(), Merged::Continued(RunId(1)));
    assert!(told(&at("cut")) == told(&at("source")));
    assert_eq!(source.merge(&cut, RunId(1)).unwrap(), Merged::Known(run));
    // The copy without the doubt holds a figure that the run no longer has.
    let said = all.merge(&source, run).unwrap_err();
    assert!(matches!(said, StoreError::Diverged { .. }), "{said}");
    assert!(said.to_string().contains("what was here stays") && std::fs::read(at("all")).is_ok_and(|now| now == early));
}

#[test]
fn another_content_under_the_same_uuid_is_refused_and_nothing_is_lost() {
    for (sql, words) in [
        ("UPDATE run SET target = 'sim:other'", "began differently"),
        ("UPDATE run SET seed = '7'", "began differently"),
        ("UPDATE measurement SET elapsed_ns = elapsed_ns + 1", "continued differently"),
        ("UPDATE run SET finished_ms = finished_ms + 1", "continued differently"),
        ("DELETE FROM measurement WHERE cell = 'iodepth=1'", "continued differently"),
    ] {
        let (_folder, at) = place();
        let mut source = Store::open(&at("source")).unwrap();
        let run = keep(&mut source, &new_run(), 2, Some(RunState::Complete));
        Store::open(&at("all")).unwrap().merge(&source, run).unwrap();
        drop(source);
        Connection::open(at("source")).unwrap().execute_batch(sql).unwrap();
        let before = told(&at("all"));
        let (mut all, source) = (Store::open(&at("all")).unwrap(), Store::open_to_read(&at("source")).unwrap());
        let said = all.merge(&source, run).unwrap_err().to_string();
        assert!(said.contains(words), "{sql}: {said}");
        assert!(told(&at("all")) == before, "{sql}");
    }
}

#[test]
fn what_is_damaged_or_of_another_type_is_not_taken() {
    for (sql, words) in [
        ("UPDATE measurement SET iops = 'much'", "`iops` of measurement"),
        ("UPDATE measurement SET latency_p50_ns = x'00'", "`latency_p50_ns` of measurement"),
        ("UPDATE measurement SET read_latency = zeroblob(9)", "latency of reads"),
        ("UPDATE run SET plan = '../x'", "holds no `/`"),
        ("UPDATE run SET uuid = 'x'", "UUID"),
        ("UPDATE trial SET result = x'ff'", "`result` of trial"),
        ("UPDATE finding SET text = 7.5", "`text` of finding"),
        ("UPDATE run SET whole = uuid, shard = 1, shards = 2", "`whole` of run"),
    ] {
        let (_folder, at) = place();
        let mut source = Store::open(&at("source")).unwrap();
        let run = keep(&mut source, &new_run(), 2, Some(RunState::Complete));
        drop(source);
        Connection::open(at("source")).unwrap().execute_batch(sql).unwrap();
        let (mut all, source) = (Store::open(&at("all")).unwrap(), Store::open_to_read(&at("source")).unwrap());
        let said = all.merge(&source, run).map(|_| String::new()).unwrap_or_else(|error| error.to_string());
        // SQLite turns a number into text by itself in a column of texts.
        assert!(said.contains(words) || sql.contains("7.5"), "{sql}: {said}");
        assert!(all.runs().unwrap().len() == usize::from(said.is_empty()), "{sql}: all of it or nothing");
    }
}

#[test]
fn what_people_added_in_both_stores_is_there_afterwards() {
    let (_folder, at) = place();
    let mut source = Store::open(&at("source")).unwrap();
    let run = keep(&mut source, &new_run(), 1, Some(RunState::Complete));
    let mut all = Store::open(&at("all")).unwrap();
    all.merge(&source, run).unwrap();
    let note = |text: &str| Some(text.parse::<RunNote>().unwrap());
    let ours = Annotations { tags: vec![tag("b")], note: note("here"), price: "5 EUR".parse().ok() };
    all.annotate(RunId(1), &ours).unwrap();
    let theirs = Annotations { tags: vec![tag("a"), tag("b")], note: note("there"), price: "7 EUR".parse().ok() };
    source.annotate(run, &theirs).unwrap();
    for _ in 0..2 {
        assert_eq!(all.merge(&source, run).unwrap(), Merged::Known(RunId(1)));
        let now = all.run(RunId(1)).unwrap().annotations;
        assert_eq!((now.tags, now.note), (vec![tag("a"), tag("b")], note("here\nthere")));
        assert_eq!(now.price.map(|price| price.to_string()), ours.price.map(|price| price.to_string()));
    }
}

#[test]
fn a_copy_of_an_old_store_has_the_same_runs() {
    let (_folder, at) = place();
    let mut store = Store::open(&at("a")).unwrap();
    for _ in 0..2 {
        keep(&mut store, &new_run(), 2, Some(RunState::Complete));
    }
    drop(store);
    let back = "DROP INDEX run_identified; DROP INDEX run_grouped; DROP INDEX run_joined; \
        ALTER TABLE run DROP COLUMN uuid; ALTER TABLE run DROP COLUMN group_name; ALTER TABLE run DROP COLUMN whole; \
        ALTER TABLE run DROP COLUMN shard; ALTER TABLE run DROP COLUMN shards; PRAGMA user_version = 13";
    Connection::open(at("a")).unwrap().execute_batch(back).unwrap();
    std::fs::copy(at("a"), at("b")).unwrap();
    // One copy is brought up to date, the other is only read.
    drop(Store::open(&at("b")).unwrap());
    let mut all = Store::open(&at("all")).unwrap();
    for name in ["a", "b", "a"] {
        merge(&mut all, &Store::open_to_read(&at(name)).unwrap());
    }
    assert_eq!(all.runs().unwrap().len(), 2);
    assert!(told(&at("all")) == told(&at("b")));
}

/// A shard with the cells that are its.
fn shard(store: &mut Store, shard: &str, ends: Option<RunState>) -> RunId {
    let shard: assay_store::Shard = shard.parse().unwrap();
    let environment = format!("{{\"hostname\":\"host-{}\"}}", shard.number());
    let run = store.begin(&NewRun { shard: Some(shard), environment, ..new_run() }).unwrap();
    let number = u64::from(shard.number());
    store.record_cell(run, "read", &format!("iodepth={number}"), &[(0, measurement(number, 1))]).unwrap();
    store.note(run, None, None, "the same in all").unwrap();
    if let Some(state) = ends {
        store.finish(run, state, None, 1_767_225_700_000 + i64::from(shard.number())).unwrap();
    }
    run
}

#[test]
fn shards_make_one_run_that_is_complete_when_all_are_there() {
    let (_folder, at) = place();
    let mut all = Store::open(&at("all")).unwrap();
    for (name, numbers) in [("a", &["3/4", "1/4"][..]), ("b", &["4/4"]), ("c", &["1/4", "2/4"])] {
        let mut store = Store::open(&at(name)).unwrap();
        for number in numbers {
            let is_cut = name == "a" && *number == "1/4";
            shard(&mut store, number, (!is_cut).then_some(RunState::Complete));
        }
        assert_eq!(store.listed(&Default::default(), 0, 9).unwrap().len(), numbers.len(), "where they were made");
    }
    let mut whole = |name: &str| {
        merge(&mut all, &Store::open_to_read(&at(name)).unwrap());
        let listed = all.listed(&Default::default(), 0, 9).unwrap();
        assert_eq!((listed.len(), all.count(&Default::default()).unwrap()), (1, 1), "shards are listed as one");
        let run = all.latest().unwrap().unwrap();
        assert_eq!((run.id, run.sharding), (listed[0].id, Some(Sharding::Whole { count: 4 })));
        let cells: Vec<String> = all.measured(run.id).unwrap().into_iter().map(|one| one.key).collect();
        let notes: Vec<String> = all.notes(run.id).unwrap().into_iter().map(|note| note.text).collect();
        assert_eq!(all.keys(run.id).unwrap().len(), cells.len());
        (run.state, cells, notes)
    };
    let (state, cells, notes) = whole("a");
    assert_eq!((state, cells), (RunState::Interrupted, vec!["iodepth=1".to_owned(), "iodepth=3".to_owned()]));
    assert!(notes[0].contains("shards 2, 4 of 4 are missing, shard 1 of 4 is not complete"), "{notes:?}");
    let (state, _, notes) = whole("b");
    assert!(state == RunState::Interrupted && notes[0].contains("shard 2 of 4 is missing"), "{notes:?}");
    let (state, cells, notes) = whole("c");
    assert_eq!((state, cells.len()), (RunState::Complete, 4));
    assert_eq!(notes, ["the same in all"], "once");
    // What has them all has them in whatever order they came.
    let mut other = Store::open(&at("other")).unwrap();
    merge(&mut other, &Store::open_to_read(&at("c")).unwrap());
    merge(&mut other, &Store::open_to_read(&at("all")).unwrap());
    assert!(told(&at("other")) == told(&at("all")));
    let run = other.latest().unwrap().unwrap().id;
    other.remove(run).unwrap();
    assert_eq!(other.runs().unwrap(), [], "with its shards");
}

/// Names the stores to a process that merges.
const STORES: &str = "ASSAY_TEST_MERGED";

#[test]
fn merging_that_is_killed_at_random_and_begun_again_ends_with_everything_once() {
    if let Some(stores) = std::env::var_os(STORES) {
        let stores = stores.into_string().unwrap();
        let (all, from) = stores.split_once(':').unwrap();
        merge(&mut Store::open(Path::new(all)).unwrap(), &Store::open_to_read(Path::new(from)).unwrap());
        return;
    }
    let (_folder, at) = place();
    let mut random = soak::random();
    let hosts = soak::times(3, 20);
    for host in 0..hosts {
        let mut store = Store::open(&at(&host.to_string())).unwrap();
        for _ in 0..12 {
            keep(&mut store, &new_run(), 2, Some(RunState::Complete));
        }
    }
    for host in 0..hosts {
        let stores = format!("{}:{}", at("all").display(), at(&host.to_string()).display());
        loop {
            let test = "merge::merging_that_is_killed_at_random_and_begun_again_ends_with_everything_once";
            let mut child = again(test).env(STORES, &stores).stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(random.place(60) as u64));
            // Every third is let through, so that it ends on a slow machine too.
            if random.place(3) > 0 {
                child.kill().unwrap();
            }
            if child.wait().unwrap().success() {
                break;
            }
        }
    }
    let sources = (0..hosts).flat_map(|host| told(&at(&host.to_string())));
    assert!(told(&at("all")) == sources.collect::<BTreeMap<_, _>>());
}
