//! Several processes, and processes that are killed.
//!
//! A test starts this very file again with the store's path in [`STORE`]; the second process then writes
//! cells and says so on its standard output, a line a cell, once the store has taken it.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::{measurement, new_run};
use assay_store::{RunId, Store};
use rusqlite::Connection;
use testkit::process::again;

/// Names the store to the process that writes.
const STORE: &str = "ASSAY_TEST_STORE";
/// How many cells it is to write.
const CELLS: &str = "ASSAY_TEST_CELLS";
/// Two repeats make a cell.
const REPEATS: u32 = 2;

/// What a writing process says: the run that it began, then the cells.
const BEGAN: &str = "began run ";
const WROTE: &str = "wrote cell ";

/// Starts `test` of this file as a process that writes `cells` cells.
fn writer(test: &str, store: &Path, cells: u32) -> Child {
    again(test).env(STORE, store).env(CELLS, cells.to_string()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Writes cells if this is the process that a test started for it; whether it is.
fn wrote_as_told() -> bool {
    let Some(path) = std::env::var_os(STORE) else { return false };
    let cells: u32 = std::env::var(CELLS).unwrap().parse().unwrap();
    let mut store = Store::open(Path::new(&path)).unwrap();
    let run = store.begin(&new_run()).unwrap();
    let say = |words: &str, number: i64| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{words}{number}").unwrap();
        out.flush().unwrap();
    };
    say(BEGAN, run.0);
    for cell in 0..cells {
        let repeats: Vec<_> = (0..REPEATS).map(|repeat| (repeat, measurement(cell.into(), 2))).collect();
        store.record_cell(run, "step", &cell.to_string(), &repeats).unwrap();
        say(WROTE, cell.into());
    }
    true
}

/// Reads what a writer says, until its end or until it has written `enough` cells and is killed.
fn listen(mut writer: Child, enough: usize) -> (RunId, Vec<u32>) {
    let mut run = None;
    let mut cells = Vec::new();
    for line in BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap) {
        if let Some(number) = line.strip_prefix(BEGAN) {
            run = number.parse().ok().map(RunId);
        }
        if let Some(number) = line.strip_prefix(WROTE) {
            cells.push(number.parse().unwrap());
            if cells.len() == enough {
                writer.kill().unwrap();
            }
        }
    }
    writer.wait().unwrap();
    (run.unwrap(), cells)
}

fn is_sound(path: &Path) -> bool {
    let said: String =
        Connection::open(path).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    said == "ok"
}

#[test]
fn a_killed_process_keeps_every_cell_that_it_said_was_written() {
    if wrote_as_told() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.sqlite");
    for enough in (1..60).step_by(3) {
        let test = "processes::a_killed_process_keeps_every_cell_that_it_said_was_written";
        let (run, said) = listen(writer(test, &path, 1_000_000), enough);
        assert!(said.len() >= enough && said.len() < 1_000_000, "{} cells", said.len());
        let store = Store::open(&path).unwrap();
        let keys = store.keys(run).unwrap();
        for cell in &said {
            for repeat in 0..REPEATS {
                assert!(keys.contains(&("step".into(), cell.to_string(), repeat)), "cell {cell} is lost");
            }
        }
        assert_eq!(keys.len() % REPEATS as usize, 0, "no cell is there in part");
        for stored in store.measured(run).unwrap() {
            assert!(stored.measurement == measurement(stored.key.parse().unwrap(), 2), "cell {}", stored.key);
        }
        assert!(is_sound(&path));
    }
}

#[test]
fn processes_open_a_new_store_and_write_to_it_at_once() {
    if wrote_as_told() {
        return;
    }
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let test = "processes::processes_open_a_new_store_and_write_to_it_at_once";
        let writers: Vec<Child> = (0..3).map(|_| writer(test, &path, 20)).collect();
        let runs: HashSet<RunId> = writers
            .into_iter()
            .map(|writer| {
                let (run, cells) = listen(writer, usize::MAX);
                assert_eq!(cells, (0..20).collect::<Vec<_>>());
                run
            })
            .collect();
        assert_eq!(runs.len(), 3, "each process has a run of its own");
        let store = Store::open(&path).unwrap();
        for run in runs {
            assert_eq!(store.keys(run).unwrap().len(), 20 * REPEATS as usize);
        }
        assert!(is_sound(&path));
    }
}
