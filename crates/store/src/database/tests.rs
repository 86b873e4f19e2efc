//! What the store says where its file is in the way.

use std::time::Duration;

use block::Seed;

use super::*;

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("results.sqlite")).unwrap();
    (folder, store)
}

fn run() -> NewRun {
    NewRun {
        plan: "review".into(),
        plan_text: "x".repeat(20_000),
        quick: false,
        simulated: false,
        target: "sim:x25-m".into(),
        target_identity: "X25-M".into(),
        target_fingerprint: None,
        direct: true,
        size: None,
        capacity: None,
        drive: None,
        seed: Seed::new(1),
        repeats: None,
        started_ms: 0,
        version: "0.1.0".into(),
        commit: String::new(),
        environment: "{}".into(),
        annotations: measurement::Annotations::default(),
        group: None,
        shard: None,
    }
}

/// SQLite's own limit on pages fails as a full disk does.
#[test]
fn a_full_disk_is_named_and_what_was_kept_stays() {
    let (_folder, mut store) = store();
    store.begin(&run()).unwrap();
    let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let said = store.begin(&run()).unwrap_err().to_string();
    assert!(said.contains("results.sqlite") && said.contains("full"), "{said}");
    assert!(said.contains("free some space") && said.contains("--store FILE"), "{said}");
    assert_eq!(store.runs().unwrap().len(), 1);
}

#[test]
fn a_store_that_may_not_be_written_is_named() {
    let (_folder, mut store) = store();
    store.connection.pragma_update(None, "query_only", true).unwrap();
    let said = store.begin(&run()).unwrap_err().to_string();
    assert!(said.contains("results.sqlite") && said.contains("make it writable"), "{said}");
}

#[test]
fn a_store_in_use_is_waited_for_and_then_named() {
    let (folder, mut store) = store();
    store.connection.busy_timeout(Duration::ZERO).unwrap();
    let mut other = Store::open(&folder.path().join("results.sqlite")).unwrap();
    let busy = other.connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let said = store.begin(&run()).unwrap_err().to_string();
    assert!(said.contains("let the other program that writes to it finish"), "{said}");
    assert_eq!(store.runs().unwrap(), [], "reading is possible meanwhile");
    drop(busy);
    store.begin(&run()).unwrap();
}

/// A run may have more than memory holds.
#[test]
fn the_rows_of_a_run_are_found_by_an_index_and_not_sorted() {
    let (_folder, store) = store();
    for (table, number) in [("measurement", "id"), ("trial", "rowid"), ("finding", "rowid"), ("health", "rowid")] {
        let sql = format!("EXPLAIN QUERY PLAN {}", measured::in_order("*", table, number));
        let mut statement = store.connection.prepare(&sql).unwrap();
        let told = statement.query_map([1], |row| row.get::<_, String>("detail")).unwrap();
        let told: Vec<String> = told.map(Result::unwrap).collect();
        let is_bad = |line: &String| line.contains("TEMP B-TREE") || line.starts_with("SCAN");
        assert!(!told.is_empty() && !told.iter().any(is_bad), "{table}: {told:?}");
    }
}
