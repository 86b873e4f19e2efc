//! Trials that are killed: their guard leaves the machine as it was.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assay_trial::{Aftermath, Undo};
use block::Bytes;
use support::{Staged, attempt, can_stage, choices, experiment, left_by, loops_over, runs, skip};

/// What the process that is to be killed does, and on a file where.
const TOLD: &str = "ASSAY_TEST_TRIAL";
const FOLDER: &str = "ASSAY_TEST_FOLDER";
const PATIENCE: Duration = Duration::from_secs(120);

/// Not a test of its own: the others start it and kill it.
#[test]
#[ignore = "started by the tests of this file"]
fn does_a_trial_until_it_is_killed() {
    let (Ok(told), Ok(folder)) = (std::env::var(TOLD), std::env::var(FOLDER)) else { return };
    Aftermath::guarded_by(
        &std::env::current_exe().unwrap(),
        &["--ignored", "--exact", "keeps_what_a_killed_one_promised"],
    );
    let staged = Staged::on_file_in(Path::new(&folder), Bytes::from_mib(400));
    let aftermath = Aftermath::begin().unwrap();
    let file = Path::new(&folder).join("disk");
    let _free = aftermath.promise(Undo::FreeLoop { device: staged.stage.path().to_owned(), file }).unwrap();
    let (name, told) = told.split_once(' ').unwrap();
    attempt(&staged.stage, name, told).unwrap();
}

/// Not a test of its own: the process above starts it, with the file of its promises as the last word.
#[test]
#[ignore = "started by the tests of this file"]
fn keeps_what_a_killed_one_promised() {
    let last = std::env::args().next_back().map(PathBuf::from);
    if let Some(book) = last.filter(|last| last.extension().is_some_and(|extension| extension == "json")) {
        Aftermath::guard(&book).unwrap();
    }
}

/// Kills the process, if that has not happened yet: a test that fails is to leave nothing either.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Waits until it is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Has the trial be done by another process, kills that once `is_time`, and looks for what is left of it.
fn killed(told: &str, is_time: impl Fn(&str) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let schedulers = |device: &str| {
        let name = Path::new(device).file_name().unwrap().to_str().unwrap().to_owned();
        fs::read_to_string(format!("/sys/block/{name}/queue/scheduler")).unwrap()
    };
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "does_a_trial_until_it_is_killed", "--nocapture"])
        .env(TOLD, told)
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let mut doomed = Doomed(child);
    until("it has a loop device", || !loops_over(folder.path()).is_empty());
    let device = loops_over(folder.path())[0].split_whitespace().next().unwrap().to_owned();
    let own = format!("/run/assay/mnt-{pid}-");
    until("it is in the midst of it", || is_time(&own));
    until("the device has its scheduler", || schedulers(&device).contains("[bfq]"));
    doomed.0.kill().unwrap();
    doomed.0.wait().unwrap();
    until("it has left nothing", || left_by(pid).is_empty() && loops_over(folder.path()).is_empty());
    assert!(schedulers(&device).contains("[none]"), "{}", schedulers(&device));
}

#[test]
fn a_trial_that_is_killed_leaves_nothing() {
    if !can_stage(&["mkfs.xfs", "losetup"]) {
        return;
    }
    killed("files fs=xfs scheduler=bfq rw=randwrite size=32MiB runtime=100s", is_laid_out);
}

#[test]
fn a_trial_in_limited_memory_that_is_killed_leaves_nothing() {
    let told = "cache=limit fs=xfs scheduler=bfq rw=randwrite size=64MiB runtime=100s";
    if !can_stage(&["mkfs.xfs", "losetup"]) {
        return;
    }
    match experiment("files").lacks(&choices("files", told)) {
        Some(reason) => skip(&reason),
        None => killed(&format!("files {told}"), is_laid_out),
    }
}

/// Whether the trial with mounts of these names has been measuring for a moment.
fn is_laid_out(own: &str) -> bool {
    let is_own = |path: &PathBuf| path.to_string_lossy().starts_with(own);
    let mounts = fs::read_dir("/run/assay").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let has_data = |path: PathBuf| fs::metadata(path.join("data-0")).is_ok_and(|file| file.len() > 0);
    let found = mounts.filter(is_own).any(has_data);
    thread::sleep(Duration::from_millis(if found { 500 } else { 0 }));
    found
}

#[test]
fn a_trial_that_is_killed_takes_its_programs_with_it() {
    if !can_stage(&["mkfs.ext4", "losetup", "fio", "dd", "bonnie++"]) {
        return;
    }
    killed("cross-check fs=ext4 scheduler=bfq size=128MiB runtime=2s", |own| runs(&["fio", "--rw=randread", own]));
}
