//! Transactions on a database, on a loop device and on a simulated drive: what is measured, and that nothing is left.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{condition, experiment, left_by, skip};
use assay_trial::{Choices, Cleanup, Procedure, Trial, TrialContext, TrialDevice, TrialError};
use block::{Bytes, Seed};
use drive::preset::Preset;
use testkit::process::{again, done_apart};
use testkit::until;

const CAPACITY: Bytes = Bytes::from_gib(1);

fn database() -> &'static dyn Procedure {
    experiment("database")
}

/// What is told, besides a small database and a short run.
fn told(pairs: &[(&str, &str)]) -> Choices {
    let mut choices = Choices::of(database().choices());
    let small = [("scale", "1"), ("clients", "4")];
    for (name, text) in small.iter().chain(pairs) {
        choices.tell(name, text).unwrap();
    }
    database().check(&choices).unwrap();
    choices
}

/// A drive that a small database goes on.
const SMALL: &str = "x25-m?capacity.user=1GiB";

/// Whether this can be done on this machine; otherwise the reason is said.
fn can(choices: &Choices) -> bool {
    let missing = [
        (!Path::new("/dev/loop-control").exists()).then(|| "there is no /dev/loop-control".to_owned()),
        database().unavailable(choices),
    ];
    let reason = missing.into_iter().flatten().next();
    reason.iter().for_each(|reason| skip(reason));
    reason.is_none()
}

/// A loop device over an empty file of a folder.
fn on_file(folder: &Path, stop: Arc<AtomicBool>) -> TrialDevice {
    let path = folder.join("disk");
    File::create(&path).unwrap().set_len(CAPACITY.get()).unwrap();
    TrialDevice::over_file(&path, CAPACITY, stop).unwrap()
}

/// A simulated drive.
fn on_drive(name: &str) -> TrialDevice {
    TrialDevice::over_drive(Preset::find(name).unwrap().build(), name, 1.0, Arc::default()).unwrap()
}

fn go_on(stage: &TrialDevice, choices: &Choices) -> Result<Trial, TrialError> {
    let tell = |words: &str| eprintln!("{words}");
    database().run(choices, stage, &TrialContext { seed: Seed::new(7), tell: &tell })
}

/// What every trial of transactions that write says.
fn assert_whole(trial: &Trial) {
    let figure = |name: &str| trial.figure(name).unwrap_or_else(|| panic!("{name} is among {:?}", trial.figures));
    assert!(figure("Transactions") > 1.0);
    assert!(figure("Transactions, with connecting") <= figure("Transactions"));
    let latencies = ["median", "95 %", "99 %", "99.9 %", "longest"].map(|name| figure(&format!("Latency, {name}")));
    assert!(latencies.is_sorted() && latencies[0] > 0.0, "{latencies:?}");
    assert!(figure("Written to the drive a transaction") > 0.0);
    assert!(figure("Processors, user") > 0.0 && figure("Drive busy") > 0.0);
    assert_eq!(figure("Failed transactions"), 0.0);
    assert!(figure("Database") > 8e6, "an account takes some hundred bytes");
    assert_eq!(trial.courses[0].name, "Transactions");
    let [rates, slowest] = [0, 1].map(|course| &trial.courses[course].points);
    assert!(rates.len() > 5 && rates.is_sorted_by(|one, two| one.0 < two.0) && !slowest.is_empty());
}

#[test]
fn postgresql_on_a_loop_device_is_measured_and_its_books_agree_after_a_restart() {
    let choices =
        told(&[("runtime", "2s"), ("settings", "work_mem = '5MB'; wal_level = minimal; max_wal_senders = 0")]);
    if !can(&choices) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trial = go_on(&on_file(folder.path(), Arc::default()), &choices).unwrap();
    assert_whole(&trial);
    assert!(trial.findings.iter().all(|finding| !finding.contains("books") && !finding.contains("lost")));
    let mean = trial.figure("Transactions").unwrap() * trial.figure("Latency, mean").unwrap();
    assert!((2.0..=4.4).contains(&mean), "four clients are served all the time, by rate and latency {mean}");
    assert!(condition(&trial, "settings").contains("work_mem = 5MB"));
    assert!(condition(&trial, "transactions by").starts_with("pgbench "));
    assert!(condition(&trial, "mkfs").contains("mkfs.ext4"));
    assert_eq!(condition(&trial, "page checksums"), "off");
    assert!(trial.papers[0].text.contains("tps = "));
    assert!(trial.figure("Pages found in shared buffers").unwrap() > 50.0);
    let doubt = |words: &str| trial.findings.iter().any(|finding| finding.contains(words));
    assert!(doubt("fits in the memory"), "{:?}", trial.findings);
}

#[test]
fn postgresql_recovers_from_a_crash_with_every_transaction_also_with_little_memory() {
    let choices = told(&[
        ("transactions", "25"),
        ("transaction", "simple-update"),
        ("verify", "crash"),
        ("checksums", "yes"),
        ("fs", "xfs"),
        ("shared-buffers", "16MiB"),
        ("memory", "200MiB"),
    ]);
    if !can(&choices) || done_apart() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trial = go_on(&on_file(folder.path(), Arc::default()), &choices).unwrap();
    let only =
        |finding: &String| finding.contains("memory of 200 MiB") || finding.starts_with("Bottleneck: the host CPU");
    assert!(trial.findings.iter().all(only), "{:?}", trial.findings);
    assert_eq!(condition(&trial, "page checksums"), "on");
    assert_eq!(left_by(std::process::id()).iter().find(|left| left.contains("cgroup")), None);
}

#[test]
fn both_databases_are_measured_on_a_simulated_drive() {
    let choices = told(&[("runtime", "2s")]);
    if !can(&choices) || !Path::new("/dev/fuse").exists() {
        return;
    }
    let stage = on_drive(SMALL);
    for engine in ["postgresql", "sqlite"] {
        let trial = go_on(&stage, &told(&[("runtime", "2s"), ("engine", engine)])).unwrap();
        assert_whole(&trial);
        let flushes = trial.figure("Flushes of the drive a transaction");
        assert!(flushes.is_none_or(|flushes| flushes > 0.05), "{engine}: {flushes:?}");
    }
}

#[test]
fn sqlite_does_every_kind_of_transaction_in_every_journal_mode() {
    let choices = told(&[("engine", "sqlite")]);
    if !can(&choices) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stage = on_file(folder.path(), Arc::default());
    let table = [
        ("wal", "full", "tpcb-like", "crash", "2"),
        ("delete", "full", "simple-update", "restart", "2"),
        ("wal", "off", "select-only", "restart", "0"),
    ];
    for (journal, synchronous, transaction, verify, level) in table {
        let trial = go_on(
            &stage,
            &told(&[
                ("engine", "sqlite"),
                ("journal", journal),
                ("synchronous", synchronous),
                ("transaction", transaction),
                ("verify", verify),
                ("transactions", "20"),
                ("settings", "page_size = 8192"),
            ]),
        )
        .unwrap();
        assert_eq!(condition(&trial, "journal_mode"), journal);
        assert_eq!(condition(&trial, "synchronous"), level);
        assert_eq!(condition(&trial, "page_size"), "8192");
        let wrong = |finding: &&String| finding.starts_with("After") || finding.contains("failed");
        assert_eq!(trial.findings.iter().find(wrong), None, "{journal} {transaction}");
        assert!(trial.figure("Transactions").unwrap() > 1.0);
    }
}

#[test]
fn what_cannot_be_is_told_before_anything_is_measured() {
    let choices = told(&[("scale", "100")]);
    if !can(&choices) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stage = on_file(folder.path(), Arc::default());
    let said = go_on(&stage, &choices).unwrap_err().to_string();
    assert!(said.contains("scale 100 needs") && said.contains("give scale = "), "{said}");
    // Permitted, and refused by the programs of this version.
    let said = go_on(&stage, &told(&[("settings", "shared_buffers = 1B")])).unwrap_err().to_string();
    assert!(said.contains("shared_buffers"), "{said}");
    let said = go_on(&stage, &told(&[("options", "-R 0")])).unwrap_err().to_string();
    assert!(said.contains("rate"), "{said}");
}

#[test]
fn a_trial_that_is_stopped_ends_soon() {
    let choices = told(&[("runtime", "600s")]);
    if !can(&choices) {
        return;
    }
    for (engine, words) in [("postgresql", "pgbench, 4 clients"), ("sqlite", "SQLite, 4 clients")] {
        let folder = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stage = on_file(folder.path(), Arc::clone(&stop));
        let began = Instant::now();
        // A moment after transactions began.
        let tell = |said: &str| {
            if said == words {
                let stop = Arc::clone(&stop);
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(500));
                    stop.store(true, Ordering::Relaxed);
                });
            }
        };
        let choices = told(&[("runtime", "600s"), ("engine", engine)]);
        let ended = database().run(&choices, &stage, &TrialContext { seed: Seed::new(7), tell: &tell });
        assert!(matches!(ended, Err(TrialError::Interrupted)), "{ended:?}");
        assert!(began.elapsed() < Duration::from_secs(100));
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(&format!("{} ", stage.path().display())), "it is not mounted any more");
    }
}

/// Where the trial has its stage that is killed by the test that started it.
const FOLDER: &str = "ASSAY_TEST_DATABASE_FOLDER";
/// What that stage is: a file or a drive.
const KIND: &str = "ASSAY_TEST_DATABASE_KIND";

/// The trial that is killed.
fn be_killed(folder: &Path) {
    let is_drive = std::env::var(KIND).is_ok_and(|kind| kind == "drive");
    let stage = if is_drive { on_drive(SMALL) } else { on_file(folder, Arc::default()) };
    fs::write(folder.join("device"), stage.path().display().to_string()).unwrap();
    let tell = |words: &str| fs::write(folder.join("said"), words).unwrap();
    let choices = told(&[("runtime", "600s"), ("memory", "400MiB")]);
    database().run(&choices, &stage, &TrialContext { seed: Seed::new(7), tell: &tell }).unwrap();
}

#[test]
fn a_trial_that_is_killed_leaves_nothing_when_the_next_one_has_looked() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return be_killed(Path::new(&folder));
    }
    if !can(&told(&[("memory", "400MiB")])) {
        return;
    }
    for kind in ["file", "drive"] {
        if kind == "drive" && !Path::new("/dev/fuse").exists() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = again("database::a_trial_that_is_killed_leaves_nothing_when_the_next_one_has_looked");
        child.env(FOLDER, folder.path()).env(KIND, kind);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while fs::read_to_string(folder.path().join("said")).unwrap_or_default() != "pgbench, 4 clients" {
            let goes_on = began.elapsed() < Duration::from_secs(100) && child.try_wait().unwrap().is_none();
            assert!(goes_on, "it came to nothing");
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_secs(1));
        assert!(!left_by(child.id()).is_empty(), "it has changed the machine");
        let device = fs::read_to_string(folder.path().join("device")).unwrap();
        let backing = || host::loop_device::backing_file(Path::new(&device));
        let its_own = backing();
        assert!(its_own.is_some(), "{kind}: {device} is its stage");
        child.kill().unwrap();
        child.wait().unwrap();
        Cleanup::undo_all().unwrap();
        // Another program that looks may have begun to settle it before.
        until(kind, || left_by(child.id()).is_empty());
        // The kernel gives its number to whoever asks next.
        assert_ne!(backing(), its_own, "{kind}: the stage is free again");
    }
}
