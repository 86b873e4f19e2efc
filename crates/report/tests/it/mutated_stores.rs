//! Stores of which bytes, rows and figures are changed: listing, showing and comparing their runs ends with figures or an
//! error, never a panic, and no byte of the file is changed.
//!
//! This is the target `store` of `fuzz/` in a bounded run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use assay_report as report;
use block::Seed;
use drive::preset::Preset;
use lab::compare::{Comparison, Question};
use lab::plan::{PlanLength, parse};
use lab::{DriveRecord, Environment, Session, Silent, Simulated, recall};
use rusqlite::Connection;
use store::{Filter, NewRun, RunId, RunState, Store};
use testkit::Random;

const PLAN: &str = "name = \"short\"\ntitle = \"Short\"\nrepeats = 2\n[[step]]\nname = \"read\"\nrw = \"randrw\"\n\
    number_ios = 40\nsize = \"1m\"\nsweep.bs = [\"4k\", \"16k\"]\n[[step]]\nname = \"wear\"\ndo = \"condition\"\n\
    rw = \"randwrite\"\nround = \"5ms\"\nsteady = \"snia\"\nat-least = \"10ms\"\nat-most = \"40ms\"\n";

/// How many changes of a kind are tried.
const CASES: u64 = 60;

/// A store of two runs.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.sqlite");
    let plan = parse(PLAN, PlanLength::Full).unwrap();
    let mut store = Store::open(&path).unwrap();
    let preset = Preset::find("x25-m").unwrap();
    for seed in 1..=2 {
        let new = NewRun {
            plan: plan.name.clone(),
            plan_text: plan.text.clone(),
            quick: false,
            simulated: false,
            target: "sim:x25-m".into(),
            target_identity: "the simulated X25-M".into(),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: Some(preset.capacity()),
            // As earlier versions kept runs, and as this one does.
            drive: (seed > 1).then(|| DriveRecord::of(&preset).to_json()),
            seed: Seed::new(seed),
            repeats: None,
            started_ms: 1_767_225_600_000,
            version: "0".into(),
            commit: String::new(),
            environment: serde_json::to_string(&Environment::of_host()).unwrap(),
            annotations: store::Annotations::default(),
            group: None,
            shard: None,
        };
        let run = store.begin(&new).unwrap();
        let shared = Mutex::new(store);
        let session = Session::new(&shared, run, &plan, Seed::new(seed), &Silent).unwrap();
        let drive = Preset::find("x25-m?capacity.user=64MiB&spare=150%").unwrap();
        session.carry_out(&mut Simulated::new(drive), false).unwrap();
        store = shared.into_inner().unwrap();
        store.note(run, Some("read"), None, "throttled").unwrap();
        store.finish(run, RunState::Complete, None, 1_767_225_700_000).unwrap();
    }
    drop(store);
    std::fs::read(path).unwrap()
});

/// Does what `runs`, `show`, `report` and `compare` do; whatever comes of it comes of it.
fn ask(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open_to_read(path)?;
    let _ = (store.runs(), store.listed(&Filter::default(), 0, 50), store.targets(9), store.count(&Filter::default()));
    let _ = (store.notes(RunId(1)), store.kept(RunId(1)), store.tried(RunId(1)));
    let mut outcomes = Vec::new();
    for run in [RunId(1), RunId(2)] {
        let outcome = recall(&store, run)?;
        report::summary(&outcome, 80, true);
        report::sparks(&outcome, 80);
        report::html(&outcome);
        report::export::review_json(&outcome);
        report::export::review_csv(&outcome);
        report::export::review_markdown(&outcome);
        outcomes.push(outcome);
    }
    let comparison = Comparison::of(outcomes, Question::default())?;
    report::comparison::text(&comparison, 80, true);
    report::comparison::html(&comparison, "0");
    Ok(())
}

/// Asks for everything of a file with these bytes, after something was done to it; what went wrong.
fn tried(what: &str, bytes: &[u8], tamper: impl FnOnce(&Path)) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.sqlite");
    std::fs::write(&path, bytes).unwrap();
    tamper(&path);
    let before = std::fs::read(&path).unwrap();
    let asked = catch_unwind(AssertUnwindSafe(|| drop(ask(&path))));
    let is_changed = std::fs::read(&path).unwrap() != before;
    let panicked = asked.err().map(|cause| {
        let words = cause.downcast_ref::<String>().cloned();
        words.or_else(|| cause.downcast_ref::<&str>().map(|words| (*words).to_owned())).unwrap_or_default()
    });
    panicked.or_else(|| is_changed.then(|| "the file was changed".to_owned())).map(|why| format!("{what}: {why}"))
}

fn told(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} of the changes:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_store_with_changed_bytes_is_read_or_refused() {
    let wrong = (1..=CASES).filter_map(|seed| {
        let (mut draws, mut bytes) = (Random::new(seed), STORE.clone());
        let length = bytes.len();
        match draws.place(4) {
            // The header and the schema decide most.
            0 => (0..4).for_each(|_| bytes[draws.place(8192)] = draws.place(256) as u8),
            1 => (0..16).for_each(|_| bytes[draws.place(length)] = [0, 1, 0x7f, 0x80, 0xff][draws.place(5)]),
            2 => bytes.truncate(draws.place(length)),
            _ => {
                let (from, onto) = (draws.place(length / 4096) * 4096, draws.place(length / 4096) * 4096);
                bytes.copy_within(from..from + 4096, onto);
            }
        }
        tried(&format!("seed {seed}"), &bytes, |_| ())
    });
    told(wrong.collect());
}

#[test]
fn a_store_with_figures_out_of_range_is_read_or_refused() {
    let numbers =
        ["-1", "0", "9223372036854775807", "-9223372036854775808", "4611686018427387904", "1e308", "NULL", "'x'"];
    let columns = [
        ("run", "id"),
        ("run", "size_bytes"),
        ("run", "repeats"),
        ("run", "started_ms"),
        ("run", "finished_ms"),
        ("run", "seed"),
        ("measurement", "run"),
        ("measurement", "repeat"),
        ("measurement", "elapsed_ns"),
        ("measurement", "iops"),
        ("measurement", "read_requests"),
        ("measurement", "read_bytes"),
        ("measurement", "write_bytes"),
        ("measurement", "trim_bytes"),
        ("measurement", "flush_requests"),
        ("measurement", "series"),
        ("measurement", "read_latency"),
    ];
    let mut changes: Vec<String> = Vec::new();
    for (table, column) in columns {
        for number in numbers {
            changes.push(format!("UPDATE OR IGNORE {table} SET {column} = {number}"));
        }
    }
    for text in [
        "''",
        "char(0, 27, 10, 8238)",
        "'{}'",
        "'[]'",
        "'null'",
        "CAST(x'ff00fe' AS TEXT)",
        "printf('%.*c', 70000, 'x')",
    ] {
        for column in ["plan", "plan_text", "target", "target_identity", "environment", "state", "version", "course"] {
            changes.push(format!("UPDATE OR IGNORE run SET {column} = {text}"));
        }
        for column in ["step", "cell", "workload", "cpu", "drive", "failures", "verified", "energy", "seed", "clock"] {
            changes.push(format!("UPDATE OR IGNORE measurement SET {column} = {text}"));
        }
        changes.push(format!("UPDATE finding SET text = {text}, step = {text}, cell = {text}"));
        changes.push(format!("INSERT INTO health VALUES (1, 'before', {text})"));
        changes.push(format!("INSERT INTO trial VALUES (1, 'read', 'bs=4k', 0, {text})"));
    }
    let wrong = changes.iter().filter_map(|change| {
        tried(change, &STORE, |path| {
            let file = Connection::open(path).unwrap();
            let changed = file
                .execute_batch(&format!("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on; {change}"));
            // What may not be null or may be there once is not to be had by these means.
            drop(changed);
        })
    });
    told(wrong.collect());
}

/// Numbers in texts of JSON and in plans are put out of range.
#[test]
fn a_store_with_texts_out_of_range_is_read_or_refused() {
    let wrong = (1..=CASES).filter_map(|seed| {
        let mut draws = Random::new(seed);
        let columns = [
            ("measurement", "workload"),
            ("measurement", "drive"),
            ("measurement", "cpu"),
            ("run", "environment"),
            ("run", "plan_text"),
        ];
        let (table, column) = columns[draws.place(columns.len())];
        let number =
            ["0", "-1", "1", "18446744073709551615", "4294967296", "9007199254740993", "1e308", "0.1"][draws.place(8)];
        let what = format!("seed {seed}: {column} with {number}");
        tried(&what, &STORE, |path| {
            let file = Connection::open(path).unwrap();
            let text: Option<String> =
                file.query_row(&format!("SELECT {column} FROM {table}"), [], |row| row.get(0)).unwrap();
            let Some(text) = text else { return };
            let starts: Vec<usize> = text
                .char_indices()
                .filter(|(at, c)| c.is_ascii_digit() && !text[..*at].ends_with(|c: char| c.is_ascii_digit()))
                .map(|(at, _)| at)
                .collect();
            if starts.is_empty() {
                return;
            }
            let at = starts[draws.place(starts.len())];
            let end = at + text[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - at);
            let changed = format!("{}{number}{}", &text[..at], &text[end..]);
            file.execute(&format!("UPDATE {table} SET {column} = ?1"), [changed]).unwrap();
        })
    });
    told(wrong.collect());
}

/// A checksum keeps nobody out who can compute it.
#[test]
fn a_store_with_sealed_nonsense_is_read_or_refused() {
    let wrong = (1..=CASES).filter_map(|seed| {
        let mut draws = Random::new(seed);
        let column = ["read_latency", "write_latency", "series"][draws.place(3)];
        tried(&format!("seed {seed}: {column}"), &STORE, |path| {
            let file = Connection::open(path).unwrap();
            let sql = format!("SELECT {column} FROM measurement ORDER BY length({column}) DESC");
            let mut bytes: Vec<u8> = file.query_row(&sql, [], |row| row.get(0)).unwrap();
            bytes.truncate(bytes.len() - 8);
            for _ in 0..=draws.place(3) {
                let length = bytes.len();
                // What stands first decides most: totals, extremes, the limits of the histogram.
                let most = if draws.place(2) == 0 { length.min(80) } else { length };
                let at = draws.place(most);
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff][draws.place(5)];
            }
            file.execute(&format!("UPDATE measurement SET {column} = ?1"), [sealed(bytes)]).unwrap();
        })
    });
    told(wrong.collect());
}

/// Bytes with the checksum that the store puts behind them.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    bytes.extend(sum.to_le_bytes());
    bytes
}
