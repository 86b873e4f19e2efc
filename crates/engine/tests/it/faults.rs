//! Targets that fail while a run goes on: each ends it with a reason, or is counted.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use assay_engine::{Access, IoEngine, OnError, RealError, Submission, Target, run_real};
use block::{Bytes, Nanos, Op, Seed};
use rustix::io::Errno;
use tempfile::TempDir;
use workload::{Arrival, Pattern, Stop, Workload};

const ENGINES: [IoEngine; 2] = [IoEngine::IoUring, IoEngine::Psync];

/// A directory on the disk that holds the build, for the usual one may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Runs a program, which must succeed.
fn tool(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(format!("{program}: {}", said(&output.stderr))) }
}

/// A file system in memory of so many MiB, until dropped.
struct Memory(TempDir);

impl Memory {
    fn new(mebibytes: u32) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("mounting needs root".to_owned());
        }
        let place = scratch();
        let size = format!("size={mebibytes}m");
        tool("mount", &["-t", "tmpfs", "-o", &size, "assay-test", place.path().to_str().unwrap()])?;
        Ok(Self(place))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = tool("umount", &[self.0.path().to_str().unwrap()]);
    }
}

fn sparse(path: &Path, length: u64) -> PathBuf {
    File::create(path).unwrap().set_len(length).unwrap();
    path.to_owned()
}

fn open(path: &Path, engine: IoEngine, on_error: OnError) -> Target {
    let submission = Submission { engine, ..Submission::default() };
    let access = Access { writes: true, overwrite: true, on_error, submission, ..Access::default() };
    Target::open(path, &access).unwrap()
}

fn writes(requests: u64) -> Workload {
    Workload { pattern: Pattern::Write, queue_depth: 4, stop: Stop::after_requests(requests), ..Workload::default() }
}

#[test]
fn a_file_system_that_fills_up_ends_the_run_or_is_counted() {
    let memory = match Memory::new(4) {
        Ok(memory) => memory,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let path = memory.0.path().join("sparse.bin");
    let filler = memory.0.path().join("filler");
    for engine in ENGINES {
        for on_error in [OnError::Stop, OnError::Count] {
            // There is room for all of it when it is opened, and for a part of it when it is written.
            let target = open(&sparse(&path, 2 << 20), engine, on_error);
            fs::write(&filler, vec![1; 3 << 20]).unwrap();
            let result = run_real(&target, &writes(512), Seed::new(7), &|_| {});
            fs::remove_file(&filler).unwrap();
            match on_error {
                OnError::Stop => {
                    let error = result.unwrap_err();
                    assert!(matches!(error, RealError::Io { op: Op::Write, errno: Errno::NOSPC, .. }), "{error}");
                    assert!(error.to_string().contains("free some space"), "{error}");
                }
                OnError::Count => {
                    let measurement = result.unwrap();
                    let failures = &measurement.failures;
                    let failure = *failures.iter().next().unwrap();
                    assert_eq!((failure.op, failure.errno), (Op::Write, Some(Errno::NOSPC.raw_os_error())));
                    assert!(failures.total() > 200 && measurement.write.requests > 200, "{failures:?}");
                    assert_eq!(failures.total() + measurement.write.requests, 512, "each is counted once");
                    assert_eq!(measurement.write.latency.count(), measurement.write.requests);
                    let said = measurement.target_findings().join(" ");
                    assert!(measurement.is_impaired() && said.contains("writes: No space left on device"), "{said}");
                }
            }
        }
    }
}

#[test]
fn a_run_of_which_all_fails_is_an_error_even_where_failures_are_counted() {
    let memory = match Memory::new(4) {
        Ok(memory) => memory,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let target = open(&sparse(&memory.0.path().join("sparse.bin"), 2 << 20), IoEngine::IoUring, OnError::Count);
    let _ = fs::write(memory.0.path().join("filler"), vec![1; 5 << 20]);
    let error = run_real(&target, &writes(100), Seed::new(7), &|_| {}).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("all requests failed: 100 writes: No space left on device"), "{said}");
}

#[test]
fn a_file_that_is_truncated_under_a_run_ends_it_or_is_counted() {
    for engine in ENGINES {
        for on_error in [OnError::Stop, OnError::Count] {
            let directory = scratch();
            let path = directory.path().join("old.bin");
            fs::write(&path, vec![1; 4 << 20]).unwrap();
            let target = open(&path, engine, on_error);
            let workload = Workload {
                pattern: Pattern::RandRead,
                queue_depth: 4,
                stop: Stop::after(Nanos::from_millis(if on_error == OnError::Count { 600 } else { 60_000 })),
                ..Workload::default()
            };
            let shorten = Once::new();
            let watch =
                |_| shorten.call_once(|| File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap());
            let result = run_real(&target, &workload, Seed::new(7), &watch);
            assert!(shorten.is_completed(), "it was shortened while the run went on");
            match on_error {
                OnError::Stop => {
                    let error = result.unwrap_err();
                    assert!(matches!(error, RealError::Short { moved: Bytes::ZERO, .. }), "{error}");
                    assert!(error.to_string().contains("something shortened the target"), "{error}");
                }
                OnError::Count => {
                    let measurement = result.unwrap();
                    let failure = *measurement.failures.iter().next().unwrap();
                    assert_eq!((failure.op, failure.errno), (Op::Read, None));
                    assert!(measurement.read.requests > 0, "what was read before is kept");
                }
            }
        }
    }
}

/// A loop device over a file of 16 MiB, until dropped.
struct Loop(String);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = tool("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn a_device_that_becomes_read_only_under_a_run_ends_it_with_that_reason() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: loop devices need root");
    }
    let directory = scratch();
    let image = sparse(&directory.path().join("image"), 16 << 20);
    let device = match tool("losetup", &["--find", "--show", image.to_str().unwrap()]) {
        Ok(node) => Loop(node),
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let access = Access { writes: true, direct: true, ..Access::default() };
    let target = Target::open(Path::new(&device.0), &access).unwrap();
    let workload = Workload { stop: Stop::after(Nanos::from_secs(60)), ..writes(1) };
    let lock = Once::new();
    let watch = |_| lock.call_once(|| drop(tool("blockdev", &["--setro", &device.0]).unwrap()));
    let error = run_real(&target, &workload, Seed::new(7), &watch).unwrap_err();
    let RealError::Io { op: Op::Write, errno, .. } = error else { panic!("{error}") };
    let _ = tool("blockdev", &["--setrw", &device.0]);
    assert!(matches!(errno, Errno::PERM | Errno::ROFS | Errno::IO), "{errno}");
    if errno != Errno::IO {
        assert!(error.to_string().contains("has become read-only"), "{error}");
    }
}

#[test]
fn a_share_of_what_is_written_repeats_earlier_blocks() {
    for engine in ENGINES {
        let directory = scratch();
        let path = sparse(&directory.path().join("new.bin"), 8 << 20);
        let workload = Workload { duplicates: 60, ..writes(2048) };
        run_real(&open(&path, engine, OnError::Stop), &workload, Seed::new(7), &|_| {}).unwrap();
        let mut bytes = vec![0; 8 << 20];
        File::open(&path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
        let mut blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        blocks.sort();
        blocks.dedup();
        // 40 % of 2048, give or take what a draw does.
        assert!(blocks.len().abs_diff(819) < 120, "{} of 2048 blocks are unlike all others", blocks.len());
    }
}

#[test]
fn requests_at_a_rate_have_a_latency_from_submission_and_others_have_one_alone() {
    let directory = scratch();
    let target = open(&sparse(&directory.path().join("new.bin"), 1 << 20), IoEngine::IoUring, OnError::Stop);
    // More than one request at a time can be done, so that some wait.
    let arrival = Arrival { rate: 1_000_000, ..Arrival::default() };
    let open_loop = Workload { arrival, queue_depth: 1, ..writes(500) };
    let measurement = run_real(&target, &open_loop, Seed::new(7), &|_| {}).unwrap();
    let (latency, service) = (&measurement.write.latency, measurement.write.service.as_ref().unwrap());
    assert_eq!(service.count(), 500);
    assert!(service.mean() < latency.mean() / 2.0, "{} and {} ns", service.mean(), latency.mean());
    assert_eq!(run_real(&target, &writes(500), Seed::new(7), &|_| {}).unwrap().service(), None);
}
