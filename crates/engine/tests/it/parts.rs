//! Several files as one target: where the bytes land, whom errors name, what is taken back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use assay_engine::{Access, IoEngine, Job, RealError, Submission, Target, TargetError, run_real, run_real_together};
use block::{Bytes, Op, Seed};
use tempfile::TempDir;
use workload::{Pattern, Stop, Verify, Workload};

const MIB: Bytes = Bytes::from_mib(1);

/// A directory on the disk that holds the build, for the usual one may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn writing(size: Bytes) -> Access {
    Access { size: Some(size), writes: true, ..Access::default() }
}

/// Files of these names and sizes as one target.
fn open(folder: &TempDir, parts: &[(&str, Bytes)], like: &Access) -> Result<Target, TargetError> {
    let paths: Vec<PathBuf> = parts.iter().map(|(name, _)| folder.path().join(name)).collect();
    let access = |size: Bytes| Access { size: Some(size), ..like.clone() };
    let parts: Vec<(&Path, Access)> =
        paths.iter().zip(parts).map(|(path, (_, size))| (path.as_path(), access(*size))).collect();
    Target::open_parts(&parts)
}

/// One write of every block of a span, sequentially.
fn once(offset: Bytes, length: Bytes) -> Workload {
    let (pattern, block) = (Pattern::Write, Bytes::from_kib(4));
    let stop = Stop::after_bytes(length);
    Workload { pattern, block, queue_depth: 4, offset, size: Some(length), stop, ..Workload::default() }
}

fn run(target: &Target, workload: &Workload) -> Result<assay_engine::Measurement, RealError> {
    run_real(target, workload, Seed::new(7), &|_| {})
}

/// How many of a file's pages hold anything.
fn written(folder: &TempDir, name: &str) -> usize {
    let bytes = fs::read(folder.path().join(name)).unwrap();
    bytes.chunks(4096).filter(|page| page.iter().any(|byte| *byte != 0)).count()
}

#[test]
fn what_is_written_lands_in_the_file_that_lies_there_whatever_carries_it() {
    for (engine, direct) in [(IoEngine::IoUring, true), (IoEngine::IoUring, false), (IoEngine::Psync, false)] {
        let folder = scratch();
        let submission = Submission { engine, ..Submission::default() };
        let access = Access { submission, direct, writes: true, ..Access::default() };
        let sizes = [("a", Bytes::from_kib(1028)), ("b", MIB), ("c", MIB.times(2))];
        let target = open(&folder, &sizes, &access).unwrap();
        assert_eq!(target.capacity(), MIB.times(5), "each begins at a whole MiB");
        run(&target, &once(MIB.times(2), Bytes::from_kib(256))).unwrap();
        assert_eq!(["a", "b", "c"].map(|name| written(&folder, name)), [0, 64, 0]);
        // Across two files, and read back.
        let both = Workload {
            verify: Verify { stamps: true, read_back: true, ..Verify::default() },
            ..once(MIB.times(2), MIB.times(3))
        };
        let checked = run(&target, &both).unwrap().verified.unwrap();
        assert_eq!((checked.checked, checked.damaged), (768, 0));
        assert_eq!(["a", "b", "c"].map(|name| written(&folder, name)), [0, 256, 512]);
        // Two jobs side by side, each with a file of its own, flushing as they go.
        let jobs = [once(Bytes::ZERO, Bytes::from_kib(1028)), once(MIB.times(3), MIB)];
        let jobs = jobs.map(|workload| Workload { fdatasync: 8, ..workload });
        let jobs = jobs.each_ref().map(|workload| Job { name: "", workload, seed: Seed::new(3), observer: None });
        let measured = run_real_together(&target, &jobs, &|_| {}).unwrap();
        // Behind the last write of the second comes no flush, as in fio.
        assert_eq!(measured.iter().map(|one| one.flush.requests).collect::<Vec<_>>(), [32, 31]);
        assert_eq!(written(&folder, "a"), 257);
    }
}

#[test]
fn a_failure_names_the_file_and_the_place_in_it() {
    for engine in [IoEngine::IoUring, IoEngine::Psync] {
        let folder = scratch();
        let submission = Submission { engine, ..Submission::default() };
        let target = open(&folder, &[("a", MIB), ("b", MIB)], &Access { submission, ..writing(MIB) }).unwrap();
        File::options().write(true).open(folder.path().join("b")).unwrap().set_len(8192).unwrap();
        let reads = Workload { pattern: Pattern::Read, queue_depth: 1, ..once(MIB, MIB) };
        match run(&target, &reads) {
            Err(RealError::Short { op: Op::Read, offset, path, .. }) => {
                assert_eq!((offset, path), (Bytes::from_kib(8), folder.path().join("b")));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_cannot_be_had_leaves_all_files_as_they_were() {
    let folder = scratch();
    drop(open(&folder, &[("ours", MIB)], &writing(MIB)).unwrap());
    fs::write(folder.path().join("theirs"), vec![7; 1 << 20]).unwrap();
    let parts = [("new", MIB), ("ours", MIB.times(3)), ("theirs", MIB)];
    let error = open(&folder, &parts, &writing(MIB)).unwrap_err();
    assert!(matches!(&error, TargetError::Foreign { path, .. } if path.ends_with("theirs")), "{error}");
    assert!(!folder.path().join("new").exists());
    assert_eq!(fs::metadata(folder.path().join("ours")).unwrap().len(), 1 << 20);
    assert_eq!(fs::read(folder.path().join("theirs")).unwrap(), vec![7; 1 << 20]);
    let error = open(&folder, &[("new", MIB), ("new", MIB)], &writing(MIB)).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    assert!(!folder.path().join("new").exists());
    // It is as ours as before.
    let mut target = open(&folder, &[("new", MIB), ("ours", MIB.times(3))], &writing(MIB)).unwrap();
    target.withdraw().unwrap();
    assert!(!folder.path().join("new").exists());
    assert_eq!(fs::metadata(folder.path().join("ours")).unwrap().len(), 1 << 20);
}

#[test]
fn only_files_that_were_never_written_are_laid_out() {
    let folder = scratch();
    let old = open(&folder, &[("old", MIB)], &writing(MIB)).unwrap();
    run(&old, &once(Bytes::ZERO, MIB)).unwrap();
    drop(old);
    let parts = [("old", MIB), ("new", Bytes::from_kib(100)), ("newer", MIB)];
    let mut target = open(&folder, &parts, &writing(MIB)).unwrap();
    assert!(
        target.identity().starts_with("3 files on ") && target.identity().ends_with(", 2.1 MiB"),
        "{}",
        target.identity()
    );
    let blank = [(MIB, Bytes::from_kib(100)), (MIB.times(2), MIB)];
    assert_eq!((target.needs_layout(), target.fill_spans()), (true, Some(blank.to_vec())));
    assert!(!target.has_holes((Bytes::ZERO, MIB)) && target.has_holes((Bytes::ZERO, MIB.times(3))));
    for (start, length) in blank {
        run(&target, &once(start, length)).unwrap();
    }
    assert!(!target.needs_layout() && !target.has_holes((Bytes::ZERO, MIB.times(3))));
    assert_eq!(target.fill_spans(), Some(blank.to_vec()), "a plan that is read again is the same");
    target.purge().unwrap();
    assert!(["old", "new", "newer"].iter().all(|name| written(&folder, name) == 0));
    drop(target);
    let again = open(&folder, &parts, &writing(MIB)).unwrap();
    assert_eq!(again.fill_spans().unwrap().len(), 3);
}

#[test]
fn a_span_that_is_not_all_on_files_is_refused_before_anything_is_written() {
    let folder = scratch();
    let target = open(&folder, &[("a", Bytes::from_kib(100)), ("b", MIB)], &writing(MIB)).unwrap();
    for (offset, length) in [(Bytes::ZERO, Bytes::from_mib(2)), (Bytes::from_kib(200), Bytes::from_kib(8))] {
        let error = run(&target, &once(offset, length)).unwrap_err();
        assert!(matches!(&error, RealError::BesidesFiles { path, .. } if path.ends_with("a")), "{error}");
    }
    assert_eq!(["a", "b"].map(|name| written(&folder, name)), [0, 0]);
    let contiguous = open(&folder, &[("c", MIB), ("d", MIB)], &writing(MIB)).unwrap();
    let wide = Workload { block: Bytes::from_kib(768), queue_depth: 1, ..once(Bytes::ZERO, Bytes::from_kib(1536)) };
    let error = run(&contiguous, &wide).unwrap_err();
    assert!(matches!(&error, RealError::Crosses { path, .. } if path.ends_with("c")), "{error}");
}
