//! Checked data: what is whole passes, and each kind of damage is told and located.

use std::fmt::Debug;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::{Access, IoEngine, Measurement, RealError, Submission, Target, Verified, run_real};
use block::{Bytes, Nanos, Seed};
use tempfile::TempDir;
use workload::{Arrival, DamageKind, Pattern, Stop, Verify, Workload};

const SIZE: Bytes = Bytes::from_mib(1);

/// A directory on the disk that holds the build, for the usual one may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn access(engine: IoEngine, direct: bool) -> Access {
    let submission = Submission { engine, ..Submission::default() };
    Access { size: Some(SIZE), direct, submission, writes: true, ..Access::default() }
}

fn buffered() -> Access {
    access(IoEngine::IoUring, false)
}

fn measure(target: &Target, workload: &Workload) -> Result<Measurement, RealError> {
    run_real(target, workload, Seed::new(7), &|_| {})
}

fn verified(measurement: &Measurement) -> &Verified {
    measurement.verified.as_ref().expect("it was asked for")
}

/// Every block of the file once, in order, checked.
fn writing() -> Workload {
    Workload {
        pattern: Pattern::Write,
        queue_depth: 4,
        workers: 2,
        stop: Stop::after_bytes(SIZE),
        verify: Verify { stamps: true, ..Verify::default() },
        ..Workload::default()
    }
}

/// Only the reads that check what an earlier run wrote.
fn only(workload: Workload) -> Workload {
    Workload { verify: Verify { only: true, ..workload.verify }, ..workload }
}

/// A file in `directory` that [`writing`] wrote.
fn written(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("written.bin");
    let measurement = measure(&Target::open(&path, &buffered()).unwrap(), &writing()).unwrap();
    assert_eq!((verified(&measurement).checked, verified(&measurement).damaged), (256, 0));
    path
}

fn reread(path: &Path) -> Measurement {
    let access = Access { size: None, writes: false, ..buffered() };
    measure(&Target::open(path, &access).unwrap(), &only(writing())).unwrap()
}

#[test]
fn what_is_kept_passes_however_it_is_written() {
    for (engine, direct) in [(IoEngine::IoUring, true), (IoEngine::IoUring, false), (IoEngine::Psync, true)] {
        let directory = scratch();
        let path = directory.path().join("new.bin");
        let target = Target::open(&path, &access(engine, direct)).unwrap();
        for pattern in [Pattern::Write, Pattern::RandWrite, Pattern::ReadWrite, Pattern::RandRw] {
            // Few blocks for many requests, so that most of them meet another that is in flight.
            let workload = Workload {
                pattern,
                queue_depth: 16,
                size: Some(Bytes::from_kib(96)),
                fsync: if pattern == Pattern::RandWrite { 50 } else { 0 },
                stop: Stop::after_requests(300),
                ..writing()
            };
            let measurement = measure(&target, &workload).unwrap();
            assert_eq!(measurement.requests(), 600, "what is read back is not counted: {pattern}");
            let Verified { checked, damaged, unread, .. } = *verified(&measurement);
            assert!(checked >= 20, "{pattern}: {checked}");
            assert_eq!((damaged, unread), (0, 0), "{pattern}: {:?}", measurement.target_findings());
            assert!(!measurement.is_impaired() && measurement.target_findings().is_empty());
            let again = measure(&target, &only(workload)).unwrap();
            assert_eq!((again.write.requests, verified(&again).damaged), (0, 0), "{pattern}");
            assert_eq!(again.read.requests, verified(&again).checked, "{pattern}");
        }
    }
}

#[test]
fn requests_at_a_rate_are_checked_as_well() {
    let directory = scratch();
    let target = Target::open(&directory.path().join("new.bin"), &buffered()).unwrap();
    let arrival = Arrival { rate: 2000, ..Arrival::default() };
    let workload = Workload { pattern: Pattern::RandRw, arrival, stop: Stop::after_requests(200), ..writing() };
    let measurement = measure(&target, &workload).unwrap();
    assert_eq!((measurement.requests(), verified(&measurement).damaged), (400, 0));
}

#[test]
fn every_kind_of_damage_to_what_an_earlier_run_wrote_is_told_and_located() {
    let directory = scratch();
    let path = written(&directory);
    let whole = reread(&path);
    assert_eq!((whole.read.requests, verified(&whole).checked, verified(&whole).damaged), (256, 256, 0));
    let content = fs::read(&path).unwrap();
    let block = |place: usize| &content[4096 * place..][..4096];
    let at = |place: u64| Bytes::from_kib(4).times(place);
    let cases: [(&str, u64, Vec<u8>, DamageKind, u64); 5] = [
        (
            "a changed bit",
            100,
            {
                let mut b = block(100).to_vec();
                b[2000] ^= 4;
                b
            },
            DamageKind::Corrupt,
            1536,
        ),
        ("zeroes", 255, vec![0; 4096], DamageKind::Lost, 0),
        ("a torn write", 7, [&block(7)[..1024], &[0; 3072]].concat(), DamageKind::Torn { arrived: 2 }, 1024),
        ("another block", 0, block(9).to_vec(), DamageKind::Misdirected { belongs: at(9) }, 0),
        ("noise", 128, vec![0x5a; 4096], DamageKind::Lost, 0),
    ];
    for (what, place, bytes, kind, within) in cases {
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(&bytes, at(place).get()).unwrap();
        let measurement = reread(&path);
        let found = verified(&measurement);
        assert_eq!((found.checked, found.damaged), (256, 1), "{what}");
        let damage = found.first[0];
        assert_eq!((damage.block, damage.kind), (at(place), kind), "{what}");
        assert_eq!(damage.at, at(place) + Bytes::new(within), "{what}");
        assert!(measurement.is_impaired());
        let said = measurement.target_findings();
        assert!(matches!(&said[..], [one] if one.contains(&format!("block at {}:", at(place).get()))), "{said:?}");
        file.write_all_at(block(place as usize), at(place).get()).unwrap();
    }
}

#[test]
fn another_seed_or_a_run_that_never_was_is_not_taken_for_the_one_that_wrote() {
    let directory = scratch();
    let path = written(&directory);
    let target = Target::open(&path, &buffered()).unwrap();
    let measurement = run_real(&target, &only(writing()), Seed::new(8), &|_| {}).unwrap();
    assert_eq!((verified(&measurement).checked, verified(&measurement).damaged), (256, 256));
    assert_eq!(verified(&measurement).first.len(), 10);
    assert!(measurement.target_findings()[0].contains("and 246 more"));
}

/// What `run` gives while the file is zeroed again and again, once `shown` holds for it. Whether a zeroing falls between a
/// block's write and its read is up to the scheduler, so a run that none fell into is made again.
fn while_zeroed<T: Debug>(path: &Path, run: impl Fn() -> T, shown: impl Fn(&T) -> bool) -> T {
    const TRIES: u32 = 200;
    let file = File::options().write(true).open(path).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                file.write_all_at(&[0; 256 << 10], 0).unwrap();
            }
        });
        let found = (0..TRIES).map(|_| run()).find(shown);
        over.store(true, Ordering::Relaxed);
        found.expect("damage is found in one of many runs")
    })
}

#[test]
fn damage_in_the_course_of_a_run_is_found_by_its_reads_and_when_all_is_read_back() {
    for engine in [IoEngine::IoUring, IoEngine::Psync] {
        let directory = scratch();
        let path = directory.path().join("new.bin");
        let target = Target::open(&path, &access(engine, false)).unwrap();
        let small = Workload { size: Some(Bytes::from_kib(256)), ..writing() };
        let reads = Workload {
            pattern: Pattern::RandRw,
            verify: Verify { read_back: false, ..writing().verify },
            stop: Stop::after(Nanos::from_millis(300)),
            ..small.clone()
        };
        let damaged = |run: &Result<Measurement, RealError>| {
            run.as_ref().is_ok_and(|run| run.verified.as_ref().is_some_and(|found| found.damaged > 0))
        };
        let measurement = while_zeroed(&path, || measure(&target, &reads), damaged).unwrap();
        assert!(verified(&measurement).checked <= measurement.read.requests, "{measurement:?}");
        assert!(measurement.requests() > 0 && measurement.is_impaired(), "the figures are kept");
        let written = Workload { stop: Stop::after_requests(100), ..small.clone() };
        let measurement = while_zeroed(&path, || measure(&target, &written), damaged).unwrap();
        assert_eq!(measurement.read.requests, 0);
        let fatal = Workload { verify: Verify { fatal: true, ..reads.verify }, ..reads };
        let error = while_zeroed(&path, || measure(&target, &fatal), Result::is_err).unwrap_err();
        assert!(matches!(error, RealError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("failed (verify_fatal): block at"), "{error}");
    }
}
