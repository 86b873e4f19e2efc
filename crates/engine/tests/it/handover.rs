//! The ways in which requests reach the kernel: all measure the same, and say which they were.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::{
    Access, Cpu, Handover, IoEngine, LiveProgress, Measurement, Method, RealError, Submission, Target, run_real,
};
use block::{Bytes, Nanos, Seed};
use tempfile::TempDir;
use workload::{Arrival, Pattern, Stop, Workload};

const SIZE: Bytes = Bytes::from_mib(4);

/// A directory on the disk that holds the build, for the usual one may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A file of ours in `directory` that was written in this way.
fn filled(directory: &TempDir, submission: &Submission) -> PathBuf {
    let path = directory.path().join("filled.bin");
    let workload =
        Workload { pattern: Pattern::Write, stop: Stop::after_bytes(SIZE), queue_depth: 8, ..Workload::default() };
    measure(&path, submission, true, &workload).unwrap();
    path
}

fn measure(path: &Path, submission: &Submission, direct: bool, workload: &Workload) -> Result<Measurement, RealError> {
    let submission = submission.clone();
    let access = Access { size: Some(SIZE), direct, submission, writes: true, ..Access::default() };
    run_real(&Target::open(path, &access).unwrap(), workload, Seed::new(7), &|_| {})
}

fn handover(measurement: &Measurement) -> Handover {
    measurement.cpu.as_ref().and_then(|cpu| cpu.handover).unwrap()
}

fn psync() -> Submission {
    Submission { engine: IoEngine::Psync, ..Submission::default() }
}

#[test]
fn threads_count_exactly_what_a_ring_counts() {
    let directory = scratch();
    let path = filled(&directory, &psync());
    for pattern in [Pattern::Read, Pattern::RandRead, Pattern::RandWrite, Pattern::RandRw, Pattern::Trim] {
        for (queue_depth, direct) in [(1, true), (8, true), (8, false)] {
            let stop = Stop::after_requests(100);
            let workload = Workload { pattern, queue_depth, workers: 2, fdatasync: 10, stop, ..Workload::default() };
            let [ring, threads] = [Submission::default(), psync()]
                .map(|submission| measure(&path, &submission, direct, &workload).unwrap());
            assert_eq!(handover(&threads).method, Method::Threads);
            let counts = |measured: &Measurement| {
                [&measured.read, &measured.write, &measured.trim, &measured.flush]
                    .map(|flow| (flow.requests, flow.bytes))
            };
            assert_eq!(counts(&threads), counts(&ring), "{pattern}, queue depth {queue_depth}, direct {direct}");
            assert_eq!(threads.requests(), 200);
            assert_eq!(threads.latency().count(), 200);
        }
    }
}

#[test]
fn what_threads_write_is_no_more_alike_than_what_a_ring_writes() {
    let directory = scratch();
    for submission in [Submission::default(), psync()] {
        let path = filled(&directory, &submission);
        let mut bytes = vec![0; SIZE.get() as usize];
        File::open(&path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
        let mut pages: Vec<&[u8]> = bytes.chunks(4096).collect();
        pages.sort();
        pages.dedup();
        assert_eq!(pages.len() as u64, SIZE.get() / 4096, "{submission:?}");
    }
}

#[test]
fn a_ring_that_the_kernel_looks_into_by_itself_works_and_is_no_fallback() {
    let directory = scratch();
    let submission = Submission { sqthread_poll: true, ..Submission::default() };
    let path = filled(&directory, &Submission::default());
    let workload = Workload {
        pattern: Pattern::RandRead,
        queue_depth: 8,
        stop: Stop::after_requests(1000),
        ..Workload::default()
    };
    let measurement = measure(&path, &submission, true, &workload).unwrap();
    assert_eq!(measurement.requests(), 1000);
    let handover = handover(&measurement);
    assert_eq!((handover.method, handover.refusal), (Method::Plain, None));
}

#[test]
fn waits_for_the_drive_are_counted_as_context_switches() {
    let directory = scratch();
    let path = filled(&directory, &Submission::default());
    let workload = Workload { pattern: Pattern::RandRead, stop: Stop::after_requests(500), ..Workload::default() };
    let Cpu { switches_voluntary, .. } = measure(&path, &Submission::default(), true, &workload).unwrap().cpu.unwrap();
    // On a busy machine most requests are completed before the worker, which others displaced, comes to wait for them.
    assert!((1..=1_500).contains(&switches_voluntary), "{switches_voluntary} for 500 requests one after another");
}

#[test]
fn workers_stay_on_the_processors_that_they_may_use() {
    let directory = scratch();
    let path = filled(&directory, &Submission::default());
    let workload = Workload { workers: 2, stop: Stop::after_requests(100), ..Workload::default() };
    let on = |cpus: &[usize], split| {
        let submission = Submission { cpus: cpus.to_vec(), split, ..Submission::default() };
        measure(&path, &submission, true, &workload)
    };
    assert_eq!(on(&[0], true).unwrap().requests(), 200);
    let error = on(&[1023], false).unwrap_err();
    assert!(matches!(&error, RealError::Pin { cpus, .. } if cpus[..] == [1023]), "{error}");
    assert!(error.to_string().contains("lscpu"), "{error}");
}

#[test]
fn a_run_that_is_stopped_gives_what_was_measured_until_then() {
    let directory = scratch();
    let path = filled(&directory, &Submission::default());
    for (submission, rate) in [(Submission::default(), 0), (psync(), 0), (Submission::default(), 100)] {
        let access = Access { size: Some(SIZE), direct: true, submission, writes: true, ..Access::default() };
        let mut target = Target::open(&path, &access).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        target.stop_when(Arc::clone(&stop));
        let arrival = Arrival { rate, ..Arrival::default() };
        let long = Stop::after(Nanos::from_secs(600));
        let workload =
            Workload { pattern: Pattern::RandRead, queue_depth: 4, arrival, stop: long, ..Workload::default() };
        // The first word of progress that has requests to tell of ends the run.
        let watch = |progress: LiveProgress| stop.store(progress.requests > 0, Ordering::Relaxed);
        let measurement = run_real(&target, &workload, Seed::new(7), &watch).unwrap();
        assert!(measurement.requests() > 0);
        assert!(measurement.elapsed < Nanos::from_secs(60), "{}", measurement.elapsed);
    }
}
