//! What is kept is given back, whole or not at all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::support::{measurement, new_run};
use assay_store::{HealthMoment, NewRun, RunId, RunState, Store, StoreError, StoredFinding, StoredMeasurement};
use block::{Bytes, Nanos, Op, Seed};
use measurement::{Clock, Consumption, Measurement};
use rusqlite::Connection;
use workload::Workload;

/// A store in a folder of its own.
struct StoreFolder {
    folder: tempfile::TempDir,
}

impl StoreFolder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data/results.sqlite")
    }

    fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// Changes the file behind the store's back.
    fn tamper(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

/// What opening this file says.
fn refusal(path: &Path) -> String {
    let said = Store::open(path).unwrap_err().to_string();
    assert!(said.contains(&path.display().to_string()) && said.contains("--store FILE"), "{said}");
    said
}

#[test]
fn a_run_comes_back_as_it_began_and_ended() {
    let place = StoreFolder::new();
    let mut store = place.store();
    assert_eq!(store.latest().unwrap(), None);
    let given = new_run();
    let (first, second) = (store.begin(&given).unwrap(), store.begin(&given).unwrap());
    store.finish(first, RunState::Failed, Some("the disk is full"), 1_767_225_700_000).unwrap();

    let mut store = place.store();
    let run = store.run(first).unwrap();
    assert_eq!((&run.plan, &run.plan_text, run.quick), (&given.plan, &given.plan_text, true));
    assert_eq!((&run.target, &run.target_identity, run.size), (&given.target, &given.target_identity, given.size));
    assert_eq!((&run.target_fingerprint, run.direct), (&given.target_fingerprint, given.direct));
    assert_eq!((run.capacity, store.drive(first).unwrap()), (given.capacity, given.drive.clone()));
    assert_eq!((run.seed, run.repeats, run.started_ms), (given.seed, given.repeats, given.started_ms));
    assert_eq!((&run.version, &run.commit, &run.environment), (&given.version, &given.commit, &given.environment));
    assert_eq!((run.state, run.error.as_deref()), (RunState::Failed, Some("the disk is full")));
    assert_eq!(run.finished_ms, Some(1_767_225_700_000));
    assert_eq!(store.runs().unwrap().iter().map(|run| run.id).collect::<Vec<_>>(), [first, second]);
    assert_eq!(store.latest().unwrap().map(|run| (run.id, run.state)), Some((second, RunState::Running)));

    store.reopen(first).unwrap();
    let run = store.run(first).unwrap();
    assert_eq!((run.state, run.error, run.finished_ms), (RunState::Interrupted, None, None), "nobody owns it");
    store.finish(first, RunState::Complete, None, 5).unwrap();
    assert_eq!(store.run(first).unwrap().state, RunState::Complete);
}

#[test]
fn measurements_come_back_equal_and_in_order() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    let empty = Measurement::new(Workload::default(), Seed::new(0), Clock::Virtual);
    let mut endless = measurement(u64::MAX, 2);
    (endless.elapsed, endless.cpu, endless.drive) = (Nanos::from_nanos(1 << 61), None, None);
    store.record_cell(run, "write", "bs=4k", &[(1, measurement(i64::MAX as u64 + 1, 3)), (0, empty)]).unwrap();
    store.record_cell(run, "read", "", &[(0, endless)]).unwrap();

    let stored = place.store().measured(run).unwrap();
    let expected = |step: &str, key: &str, repeat, measurement| StoredMeasurement {
        step: step.into(),
        key: key.into(),
        repeat,
        measurement,
    };
    let mut endless = measurement(u64::MAX, 2);
    (endless.elapsed, endless.cpu, endless.drive) = (Nanos::from_nanos(1 << 61), None, None);
    let empty = Measurement::new(Workload::default(), Seed::new(0), Clock::Virtual);
    assert!(
        stored
            == [
                expected("write", "bs=4k", 1, measurement(i64::MAX as u64 + 1, 3)),
                expected("write", "bs=4k", 0, empty),
                expected("read", "", 0, endless),
            ]
    );
}

#[test]
fn flushes_come_back_and_a_store_from_before_they_were_counted_takes_them() {
    let place = StoreFolder::new();
    let run = place.store().begin(&new_run()).unwrap();
    place.store().record_cell(run, "old", "", &[(0, measurement(7, 1))]).unwrap();
    place.tamper(
        "ALTER TABLE run DROP COLUMN direct; ALTER TABLE run DROP COLUMN target_fingerprint;
         ALTER TABLE run DROP COLUMN simulated;
         ALTER TABLE measurement DROP COLUMN flush_requests; ALTER TABLE measurement DROP COLUMN flush_latency;
         ALTER TABLE measurement DROP COLUMN read_service; ALTER TABLE measurement DROP COLUMN write_service;
         ALTER TABLE measurement DROP COLUMN trim_service; ALTER TABLE measurement DROP COLUMN failures;
         ALTER TABLE measurement DROP COLUMN verified; ALTER TABLE measurement DROP COLUMN energy;
         DROP TABLE health; DROP TABLE trial; DROP INDEX run_listed;
         ALTER TABLE run DROP COLUMN course; ALTER TABLE run DROP COLUMN capacity_bytes;
         ALTER TABLE run DROP COLUMN drive; DROP TABLE baseline; DROP TABLE annotation; DROP INDEX run_identified; DROP INDEX run_grouped;
         DROP INDEX run_joined; ALTER TABLE run DROP COLUMN uuid; ALTER TABLE run DROP COLUMN group_name;
         ALTER TABLE run DROP COLUMN whole; ALTER TABLE run DROP COLUMN shard; ALTER TABLE run DROP COLUMN shards; PRAGMA user_version = 1",
    );
    let mut flushed = measurement(7, 1);
    flushed.record(Op::Flush, Bytes::ZERO, Nanos::from_millis(1), Nanos::from_micros(700));
    place.store().record_cell(run, "new", "", &[(0, flushed.clone())]).unwrap();
    let stored: Vec<Measurement> =
        place.store().measured(run).unwrap().into_iter().map(|stored| stored.measurement).collect();
    assert!(stored == [measurement(7, 1), flushed]);
}

#[test]
fn what_was_consumed_comes_back_and_a_store_from_before_it_was_metered_is_read() {
    let place = StoreFolder::new();
    let run = place.store().begin(&new_run()).unwrap();
    place.store().record_cell(run, "old", "", &[(0, measurement(7, 1))]).unwrap();
    place.tamper(
        "ALTER TABLE measurement DROP COLUMN energy; DROP TABLE health; DROP TABLE trial; DROP INDEX run_listed;
         ALTER TABLE run DROP COLUMN course; ALTER TABLE run DROP COLUMN capacity_bytes;
         ALTER TABLE run DROP COLUMN drive; DROP TABLE baseline; DROP TABLE annotation; DROP INDEX run_identified; DROP INDEX run_grouped;
         DROP INDEX run_joined; ALTER TABLE run DROP COLUMN uuid; ALTER TABLE run DROP COLUMN group_name;
         ALTER TABLE run DROP COLUMN whole; ALTER TABLE run DROP COLUMN shard; ALTER TABLE run DROP COLUMN shards; PRAGMA user_version = 5",
    );
    let doubts = vec!["It fell silent.".to_owned()];
    let unknown = Consumption { meter: "FLUKE 8846A".into(), doubts, ..Consumption::default() };
    let known = Consumption { joules: Some(12.5), idle_watts: Some(0.25), readings: Some(40), ..unknown.clone() };
    let metered = |energy| Measurement { energy, ..measurement(7, 1) };
    let all = [metered(None), metered(Some(unknown)), metered(Some(known))];
    for (repeat, one) in (1..).zip(&all[1..]) {
        place.store().record_cell(run, "new", "", &[(repeat, one.clone())]).unwrap();
    }
    let stored: Vec<Measurement> =
        place.store().measured(run).unwrap().into_iter().map(|stored| stored.measurement).collect();
    assert!(stored == all);
}

#[test]
fn what_failed_and_what_was_checked_comes_back() {
    let place = StoreFolder::new();
    let run = place.store().begin(&new_run()).unwrap();
    let mut impaired = measurement(7, 1);
    impaired.record_service(Op::Read, Nanos::from_micros(80));
    impaired.failures = serde_json::from_str(r#"[{"op":"write","errno":28,"count":3}]"#).unwrap();
    let verified = r#"{"checked":5,"damaged":1,"unread":0,"first":[{"block":0,"at":512,"sectors":7,"expected":1,
        "kind":{"torn":{"arrived":1}}}]}"#;
    impaired.verified = Some(serde_json::from_str(verified).unwrap());
    place.store().record_cell(run, "new", "", &[(0, impaired.clone())]).unwrap();
    let stored = place.store().measured(run).unwrap().remove(0).measurement;
    assert!(stored == impaired && stored.is_impaired());
    assert_eq!(stored.service().unwrap().max(), Nanos::from_micros(80));
}

#[test]
fn a_series_of_hours_comes_back_and_stays_small() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    store.record_cell(run, "wear", "", &[(0, measurement(1, 20_000))]).unwrap();
    let stored = store.measured(run).unwrap();
    assert_eq!(stored[0].measurement.series.len(), 20_000);
    assert!(stored[0].measurement == measurement(1, 20_000));
    let bytes: i64 = Connection::open(place.path())
        .unwrap()
        .query_row("SELECT length(series) FROM measurement", [], |row| row.get(0))
        .unwrap();
    assert!(bytes < 20_000 * 30, "{bytes} bytes, of which the bins of ten latencies take a dozen each second");
}

#[test]
fn the_columns_say_in_sql_what_was_measured() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    let given = measurement(7, 10);
    store.record_cell(run, "mix", "bs=8k", &[(0, given.clone())]).unwrap();
    let row = Connection::open(place.path()).unwrap();
    let number = |column: &str| -> f64 {
        row.query_row(&format!("SELECT CAST({column} AS REAL) FROM measurement"), [], |row| row.get(0)).unwrap()
    };
    let latency = given.latency();
    for (column, value) in [
        ("read_requests", given.read.requests as f64),
        ("write_bytes", given.write.bytes.get() as f64),
        ("trim_requests", given.trim.requests as f64),
        ("elapsed_ns", given.elapsed.as_nanos() as f64),
        ("iops", given.iops()),
        ("bytes_per_s", given.bandwidth()),
        ("latency_mean_ns", latency.mean()),
        ("latency_p99_ns", latency.percentile(99.0).as_nanos() as f64),
        ("seed", 7.0),
        ("json_extract(workload, '$.queue_depth')", 32.0),
        ("json_extract(drive, '$.host_written')", (1_u64 << 30) as f64),
    ] {
        assert_eq!(number(column), value, "{column}");
    }
}

#[test]
fn all_jobs_of_a_point_are_kept_together_and_replace_what_was_kept_of_some() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    store.record_cell(run, "mixed", "job=writer", &[(0, measurement(9, 1)), (1, measurement(8, 1))]).unwrap();
    let point = |first, second| {
        let cell = |name: &str, seed| (name.to_owned(), vec![(0, measurement(seed, 1))]);
        vec![cell("job=reader", first), cell("job=writer", second)]
    };
    store.record_point(run, "mixed", &point(1, 2)).unwrap();
    let kept = store.measured(run).unwrap();
    let find = |key: &str, repeat| {
        let one = kept.iter().find(|one| one.key == key && one.repeat == repeat).expect("it was kept");
        one.measurement.seed
    };
    assert_eq!(kept.len(), 3);
    assert_eq!([find("job=reader", 0), find("job=writer", 0)], [Seed::new(1), Seed::new(2)]);
    assert_eq!(find("job=writer", 1), Seed::new(8), "another repeat is untouched");
    let alone = point(1, 2).split_off(1);
    assert!(matches!(store.record_point(run, "mixed", &alone), Err(StoreError::Doubled { .. })));
}

#[test]
fn a_cell_is_kept_whole_or_not_at_all() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    store.record_cell(run, "read", "bs=4k", &[(2, measurement(2, 1))]).unwrap();
    let repeats = [(0, measurement(0, 1)), (1, measurement(1, 1)), (2, measurement(9, 1))];
    let refused = store.record_cell(run, "read", "bs=4k", &repeats).unwrap_err();
    assert!(matches!(refused, StoreError::Doubled { repeat: 2, .. }), "{refused:?}");
    assert!(refused.to_string().contains("repeat 2 of step `read` (bs=4k) of run 1 is already stored"), "{refused}");
    assert_eq!(store.keys(run).unwrap(), [("read".into(), "bs=4k".into(), 2)].into());
    assert!(store.measured(run).unwrap()[0].measurement == measurement(2, 1), "what was there is untouched");
    store.record_cell(run, "read", "bs=4k", &repeats[..2]).unwrap();
    assert_eq!(store.measured(run).unwrap().len(), 3);
}

#[test]
fn a_resumed_run_knows_what_it_has() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let (run, other) = (store.begin(&new_run()).unwrap(), store.begin(&new_run()).unwrap());
    store.record_cell(run, "read", "bs=4k", &[(0, measurement(0, 1)), (1, measurement(1, 1))]).unwrap();
    store.record_cell(run, "wear", "", &[(0, measurement(2, 1))]).unwrap();
    store.record_cell(other, "read", "bs=8k", &[(4, measurement(3, 1))]).unwrap();
    let key = |step: &str, cell: &str, repeat| (step.to_owned(), cell.to_owned(), repeat);
    let keys = place.store().keys(run).unwrap();
    assert_eq!(keys, [key("read", "bs=4k", 0), key("read", "bs=4k", 1), key("wear", "", 0)].into());
}

#[test]
fn a_run_belongs_to_one_process_until_it_ends() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let (run, other) = (store.begin(&new_run()).unwrap(), store.begin(&new_run()).unwrap());
    let refused = place.store().own(run).unwrap_err();
    assert!(matches!(refused, StoreError::Owned { run: RunId(1) }), "{refused:?}");
    assert_eq!(refused.to_string(), "run 1 is in progress in another process; wait for it, or stop it first");
    store.finish(run, RunState::Failed, Some("the disk is full"), 0).unwrap();
    let mut second = place.store();
    second.own(run).unwrap();
    assert!(matches!(place.store().own(run), Err(StoreError::Owned { .. })), "it has been taken up again");
    assert!(matches!(place.store().own(other), Err(StoreError::Owned { .. })), "the other goes on");
    assert!(matches!(place.store().own(RunId(7)), Err(StoreError::NoSuchRun { .. })));
    drop((store, second));
    place.store().own(other).unwrap();
    let left = std::fs::read_dir(place.path().parent().unwrap()).unwrap();
    let locks = left.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "lock"));
    assert_eq!(locks.count(), 0, "no lock is left behind");
}

#[test]
fn findings_are_kept_once_in_the_order_they_came_up() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let run = store.begin(&new_run()).unwrap();
    for _ in 0..2 {
        store.note(run, Some("read"), Some("bs=4k"), "throttled").unwrap();
        store.note(run, None, None, "short").unwrap();
        store.note(run, Some("read"), None, "throttled").unwrap();
    }
    let note = |step: Option<&str>, cell: Option<&str>, text: &str| StoredFinding {
        step: step.map(str::to_owned),
        cell: cell.map(str::to_owned),
        text: text.to_owned(),
    };
    let expected = [
        note(Some("read"), Some("bs=4k"), "throttled"),
        note(None, None, "short"),
        note(Some("read"), None, "throttled"),
    ];
    assert_eq!(store.notes(run).unwrap(), expected);
}

#[test]
fn the_health_before_stays_and_the_health_after_is_the_last() {
    let place = StoreFolder::new();
    let run = place.store().begin(&new_run()).unwrap();
    assert_eq!(place.store().health(run, HealthMoment::Before).unwrap(), None, "nobody looked");
    for (moment, reading) in [
        (HealthMoment::Before, "a"),
        (HealthMoment::After, "b"),
        (HealthMoment::Before, "c"),
        (HealthMoment::After, "d"),
    ] {
        place.store().keep_health(run, moment, reading).unwrap();
    }
    let kept = [HealthMoment::Before, HealthMoment::After].map(|moment| place.store().health(run, moment).unwrap());
    assert_eq!(kept.map(Option::unwrap), ["a", "d"], "a resumed run began as it began");
    assert!(place.store().keep_health(RunId(99), HealthMoment::After, "x").is_err(), "there is no such run");
}

#[test]
fn the_course_of_a_run_is_that_of_the_last_complete_one_which_did_the_same() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let mut kept = |run: &NewRun, state, course| {
        let id = store.begin(run).unwrap();
        store.keep_course(id, course).unwrap();
        store.finish(id, state, None, 0).unwrap();
        id
    };
    let first = kept(&new_run(), RunState::Complete, "[[1,2]]");
    let again = kept(&NewRun { seed: Seed::new(5), ..new_run() }, RunState::Complete, "[[3,4]]");
    kept(&new_run(), RunState::Failed, "[[5,6]]");
    kept(&NewRun { quick: false, ..new_run() }, RunState::Complete, "[[7,8]]");
    kept(&NewRun { size: None, target_fingerprint: None, ..new_run() }, RunState::Complete, "[[9,9]]");
    let (next, bare) = (NewRun { seed: Seed::new(6), ..new_run() }, NewRun { repeats: None, ..new_run() });
    let [next, bare] = [next, bare].map(|run| place.store().begin(&run).unwrap());
    let like = |run| place.store().course_like(run).unwrap();
    assert_eq!(like(next).as_deref(), Some("[[3,4]]"));
    assert_eq!(like(again).as_deref(), Some("[[1,2]]"), "a run is not like itself");
    assert_eq!((like(first).as_deref(), like(bare)), (Some("[[3,4]]"), None));
}

#[test]
fn an_unknown_run_is_answered_with_those_there_are() {
    let place = StoreFolder::new();
    let mut store = place.store();
    let said = |store: &Store| store.run(RunId(7)).unwrap_err().to_string();
    assert_eq!(said(&store), "there is no run 7; the store is empty: `assay review` creates the first run");
    store.begin(&new_run()).unwrap();
    assert_eq!(said(&store), "there is no run 7; the store has only run 1");
    store.begin(&new_run()).unwrap();
    assert_eq!(said(&store), "there is no run 7; the store has runs 1 to 2: `assay runs` lists them");
    assert!(matches!(store.reopen(RunId(7)), Err(StoreError::NoSuchRun { run: RunId(7), newest: Some(RunId(2)) })));
    assert!(matches!(store.finish(RunId(7), RunState::Failed, None, 0), Err(StoreError::NoSuchRun { .. })));
}

#[test]
fn damage_is_told_and_never_read_as_a_figure() {
    for (tampering, words) in [
        ("SET read_latency = zeroblob(length(read_latency))", "latency of reads"),
        ("SET write_latency = x''", "latency of writes"),
        ("SET trim_requests = trim_requests + 1", "latency of trims"),
        ("SET trim_latency = read_latency", "latency of trims"),
        ("SET flush_requests = 7", "latency of flushes"),
        ("SET series = substr(series, 1, length(series) - 1)", "series"),
        ("SET write_service = x'00'", "latency of writes"),
        ("SET failures = '3'", "failed requests"),
        ("SET verified = '{}'", "verified data"),
        ("SET workload = '{}'", "workload"),
        ("SET cpu = 'much'", "CPU time"),
        ("SET drive = '{\"requests\": 1}'", "drive's counters"),
        ("SET seed = 'luck'", "seed"),
    ] {
        let place = StoreFolder::new();
        let mut store = place.store();
        let run = store.begin(&new_run()).unwrap();
        store.record_cell(run, "read", "bs=4k", &[(3, measurement(0, 5))]).unwrap();
        place.tamper(&format!("UPDATE measurement {tampering}"));
        let said = store.measured(run).unwrap_err().to_string();
        assert!(
            said.starts_with(&format!("the stored {words} of step `read` (bs=4k), repeat 3, is damaged")),
            "{said}"
        );
    }
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);

    std::fs::write(path("letter.txt"), "Dear reader, ".repeat(1000)).unwrap();
    assert!(refusal(&path("letter.txt")).contains("not an SQLite database"));
    assert_eq!(std::fs::read_to_string(path("letter.txt")).unwrap(), "Dear reader, ".repeat(1000));

    Connection::open(path("other.db")).unwrap().execute_batch("CREATE TABLE song (title TEXT)").unwrap();
    let before = std::fs::read(path("other.db")).unwrap();
    assert!(refusal(&path("other.db")).contains("SQLite database of another program"));
    assert_eq!(std::fs::read(path("other.db")).unwrap(), before);

    assert!(refusal(folder.path()).contains("is a folder, which cannot be a store"));
    assert!(refusal(&path("letter.txt").join("results.sqlite")).contains("results cannot be stored in"));
}

#[test]
fn a_newer_store_is_refused_and_left_as_it_was() {
    let place = StoreFolder::new();
    drop(place.store());
    place.tamper("PRAGMA user_version = 15");
    let before = std::fs::read(place.path()).unwrap();
    assert!(refusal(&place.path()).contains("written by a newer assay (schema 15, this one knows 14); update assay"));
    assert_eq!(std::fs::read(place.path()).unwrap(), before);
}

#[test]
fn results_are_kept_where_the_desktop_says() {
    let path = |variables: &[(&str, &str)]| {
        let variables = variables.to_vec();
        Store::default_path(move |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    };
    let home = PathBuf::from("/home/a/.local/share/assay/results.sqlite");
    assert_eq!(path(&[("HOME", "/home/a")]), Some(home.clone()));
    assert_eq!(path(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "")]), Some(home));
    assert_eq!(path(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "/data")]), Some("/data/assay/results.sqlite".into()));
    assert_eq!(path(&[]), None);
}
