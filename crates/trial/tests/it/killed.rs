//! Trials that are killed: their guard leaves the machine as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Staged, attempt, can_stage, choices, experiment, left_by, loops_over, runs, skip};
use assay_trial::Cleanup;
use block::Bytes;
use tempfile::TempDir;
use testkit::process::again;
use testkit::{PATIENCE, soak};

/// What the process that is to be killed does, and in which folder on a file; on an attached drive without one.
const TOLD: &str = "ASSAY_TEST_TRIAL";
const FOLDER: &str = "ASSAY_TEST_FOLDER";

/// Not a test of its own: the others start it and kill it.
#[test]
#[ignore = "started by the tests of this file"]
fn does_a_trial_until_it_is_killed() {
    let Ok(told) = std::env::var(TOLD) else { return };
    Cleanup::guarded_by(
        &std::env::current_exe().unwrap(),
        &["--ignored", "--exact", "killed::keeps_what_a_killed_one_promised"],
    );
    let staged = match std::env::var(FOLDER) {
        Ok(folder) => Staged::on_file_in(Path::new(&folder), Bytes::from_mib(400)),
        Err(_) => Staged::on_drive("x25-m?capacity.user=1GiB"),
    };
    let (name, told) = told.split_once(' ').unwrap();
    attempt(&staged.stage, name, told).unwrap();
}

/// Not a test of its own: the process above starts it, with the file of its promises as the last word.
#[test]
#[ignore = "started by the tests of this file"]
fn keeps_what_a_killed_one_promised() {
    let last = std::env::args().next_back().map(PathBuf::from);
    if let Some(book) = last.filter(|last| last.extension().is_some_and(|extension| extension == "json")) {
        Cleanup::guard(&book).unwrap().1.unwrap();
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

/// Waits until it is so, while the process goes on that is to bring it about, where there is one.
fn until(what: &str, mut doing: Option<&mut Doomed>, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        let ended = doing.as_mut().and_then(|doomed| doomed.0.try_wait().unwrap());
        assert!(ended.is_none(), "{what}: the process ended before ({})", ended.unwrap());
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
    let child = again("killed::does_a_trial_until_it_is_killed")
        .env(TOLD, told)
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let mut doomed = Doomed(child);
    until("it has a loop device", Some(&mut doomed), || !loops_over(folder.path()).is_empty());
    let device = loops_over(folder.path())[0].split_whitespace().next().unwrap().to_owned();
    let own = format!("/run/assay/mnt-{pid}-");
    until("it is in the midst of it", Some(&mut doomed), || is_time(&own));
    until("the device has its scheduler", Some(&mut doomed), || schedulers(&device).contains("[bfq]"));
    doomed.0.kill().unwrap();
    doomed.0.wait().unwrap();
    until("it has left nothing", None, || left_by(pid).is_empty() && loops_over(folder.path()).is_empty());
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
    match experiment("files").unavailable(&choices("files", told)) {
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

/// At how many moments trials are killed at most, and how many are under way at the same time.
const KILLS: u32 = 24;
const ABREAST: usize = 4;

/// Half of the trials have a stage of their own over a file, the others an attached drive. The moments lie closer at the
/// beginning, where stages are made and programs started, than later, where they work.
#[test]
fn a_trial_leaves_nothing_whenever_it_is_killed() {
    if !can_stage(&["mkfs.ext4", "losetup", "fio", "dd", "bonnie++"]) {
        return;
    }
    let moment = |number: u32| Duration::from_millis(7) * number.pow(2);
    let numbers = soak::some((0..KILLS).collect(), 8);
    let several = |first: usize| {
        let own = numbers.iter().skip(first).step_by(ABREAST);
        own.map(|number| killed_after(moment(*number), number % 8 < 4)).collect::<Vec<_>>()
    };
    let all: Vec<(u32, TempDir)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..ABREAST).map(|first| scope.spawn(move || several(first))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (pid, folder) in all {
        assert_eq!(all_left_by(pid, folder.path()), Vec::<String>::new(), "it came when nobody looked any more");
    }
}

/// Kills a trial after so long and waits until it has left nothing: its number, and the folder of its file.
fn killed_after(moment: Duration, has_file: bool) -> (u32, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = again("killed::does_a_trial_until_it_is_killed");
    command.env(TOLD, "cross-check fs=ext4 size=64MiB runtime=1s").stdin(Stdio::null()).stdout(Stdio::null());
    if has_file {
        command.env(FOLDER, folder.path());
    }
    let child = command.spawn().unwrap();
    let pid = child.id();
    let mut doomed = Doomed(child);
    thread::sleep(moment);
    assert!(doomed.0.try_wait().unwrap().is_none_or(|status| status.success()), "it failed before it was killed");
    drop(doomed);
    let left = || all_left_by(pid, folder.path());
    let words = || format!("killed after {moment:?}, it has left nothing, but {:?}", left());
    let began = Instant::now();
    while !left().is_empty() {
        assert!(began.elapsed() < PATIENCE, "{}: not within {PATIENCE:?}", words());
        thread::sleep(Duration::from_millis(20));
    }
    (pid, folder)
}

/// What is left of a trial of this process, the devices over its files included.
fn all_left_by(pid: u32, folder: &Path) -> Vec<String> {
    let drives = PathBuf::from(format!("/run/assay/drive-{pid}-"));
    [left_by(pid), loops_over(folder), loops_over(&drives)].concat()
}
