//! Workloads on real files: what is counted, what is touched, what is refused.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use assay_engine::{Access, Clock, LiveProgress, Measurement, Purged, RealError, Target, TargetError, run_real};
use block::{Bytes, Nanos, Seed};
use tempfile::TempDir;
use workload::{Arrival, Pattern, Stop, Workload};

const SIZE: Bytes = Bytes::from_mib(8);

/// A directory on the disk that holds the build, for the usual one may be in memory.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn writing() -> Access {
    Access { size: Some(SIZE), direct: true, writes: true, ..Access::default() }
}

fn reading() -> Access {
    Access { direct: true, ..Access::default() }
}

fn measure(target: &Target, workload: &Workload) -> Result<Measurement, RealError> {
    run_real(target, workload, Seed::new(7), &|_| {})
}

/// A file of ours in `directory`, written once from end to end.
fn filled(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("filled.bin");
    fill(&Target::open(&path, &writing()).unwrap());
    path
}

fn fill(target: &Target) {
    let stop = Stop::after_bytes(target.capacity());
    let workload = Workload { pattern: Pattern::Write, block: Bytes::from_mib(1), stop, ..Workload::default() };
    assert_eq!(measure(target, &workload).unwrap().write.bytes, target.capacity());
}

fn refused(path: &Path, access: &Access, words: &str) -> TargetError {
    let error = Target::open(path, access).expect_err(words);
    assert!(error.to_string().contains(words), "{error}");
    error
}

#[test]
fn requests_of_each_worker_are_counted_exactly() {
    let directory = scratch();
    let path = filled(&directory);
    for pattern in [Pattern::Read, Pattern::RandRead, Pattern::Write, Pattern::RandWrite, Pattern::RandRw] {
        for direct in [true, false] {
            let target = Target::open(&path, &Access { direct, ..writing() }).unwrap();
            let stop = Stop::after_requests(100);
            let workload = Workload { pattern, queue_depth: 8, workers: 3, stop, ..Workload::default() };
            let measurement = measure(&target, &workload).unwrap();
            assert_eq!(measurement.requests(), 300, "{pattern}, direct {direct}");
            assert_eq!(measurement.bytes(), Bytes::from_kib(1200));
            assert_eq!(measurement.latency().count(), 300);
            assert_eq!(measurement.series.iter().map(|tick| tick.requests()).sum::<u64>(), 300);
            assert_eq!((measurement.read.requests > 0, measurement.write.requests > 0), reads_and_writes(pattern));
            assert_eq!(measurement.clock, Clock::Real);
            assert!(measurement.elapsed >= measurement.latency().max());
            assert!(measurement.cpu.is_some());
        }
    }
}

fn reads_and_writes(pattern: Pattern) -> (bool, bool) {
    (pattern.is_mixed() || !pattern.changes_data(), pattern.changes_data())
}

#[test]
fn the_bytes_of_all_workers_together_are_counted_exactly() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let stop = Stop::after_bytes(Bytes::from_kib(1001));
    let workload = Workload { workers: 3, queue_depth: 4, stop, ..Workload::default() };
    assert_eq!(measure(&target, &workload).unwrap().read.bytes, Bytes::from_kib(1000));
}

#[test]
fn a_time_limit_after_a_ramp_gives_one_interval_a_second() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let stop = Stop::after(Nanos::from_millis(1200));
    let ramp = Nanos::from_millis(300);
    let workload = Workload { pattern: Pattern::RandRead, ramp, stop, ..Workload::default() };
    let last = Mutex::new(LiveProgress::default());
    let watch = |progress| *last.lock().unwrap() = progress;
    let measurement = run_real(&target, &workload, Seed::new(7), &watch).unwrap();
    assert!(measurement.elapsed >= Nanos::from_millis(1200), "{}", measurement.elapsed);
    assert_eq!(measurement.series.len(), 2);
    let last = last.into_inner().unwrap();
    assert!(last.requests > measurement.requests(), "the ramp is seen but not counted");
    assert!(last.elapsed >= Nanos::from_millis(1500), "{}", last.elapsed);
    assert_eq!(last.bytes, Bytes::from_kib(4).times(last.requests));
    let (lately, first) = (last.lately.unwrap(), &measurement.series[0]);
    assert_eq!((Some(lately.median), Some(lately.p99)), (first.percentile(50.0), first.percentile(99.0)));
}

#[test]
fn what_ends_within_the_ramp_is_an_error_and_not_a_zero() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let stop = Stop::after_bytes(Bytes::from_kib(12));
    let error = measure(&target, &Workload { ramp: Nanos::from_secs(60), stop, ..Workload::default() }).unwrap_err();
    assert!(matches!(error, RealError::OverInRamp { ramp, .. } if ramp == Nanos::from_secs(60)), "{error}");
    assert!(error.to_string().contains("shorter ramp_time"), "{error}");
}

#[test]
fn a_queue_deeper_than_the_kernel_registers_buffers_for_still_works() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &writing()).unwrap();
    let stop = Stop::after_requests(40_000);
    let workload =
        Workload { pattern: Pattern::RandRw, block: Bytes::new(512), queue_depth: 40_000, stop, ..Workload::default() };
    assert_eq!(measure(&target, &workload).unwrap().requests(), 40_000);
}

#[test]
fn an_access_specification_runs_on_a_file_as_on_a_simulated_drive() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &Access { direct: false, ..writing() }).unwrap();
    let workload = Workload {
        pattern: Pattern::RandRw,
        sizes: Some("512/10:4k/60:64k/30".parse().unwrap()),
        random_share: 80.into(),
        fdatasync: 16,
        durable: true,
        compressible: 50,
        queue_depth: 4,
        stop: Stop::after_requests(500),
        ..Workload::default()
    };
    let measurement = measure(&target, &workload).unwrap();
    assert_eq!(measurement.requests(), 500);
    assert_eq!(measurement.flush.requests, (measurement.write.requests - 1) / 16);
    let mean = measurement.bytes().get() as f64 / 500.0;
    let expected = workload.block_mean().get() as f64;
    assert!((mean / expected - 1.0).abs() < 0.3, "{mean} B, expected {expected}");
}

#[test]
fn requests_at_a_rate_come_at_that_rate_and_the_idle_end_counts() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &Access { direct: false, ..reading() }).unwrap();
    let arrival = Arrival { rate: 50, ..Arrival::default() };
    let stop = Stop::after(Nanos::from_millis(400));
    let workload = Workload { arrival, workers: 2, stop, ..Workload::default() };
    let measurement = measure(&target, &workload).unwrap();
    // The last of them may come too late to be made on a busy machine.
    assert!((36..=40).contains(&measurement.requests()), "{}", measurement.requests());
    assert!(measurement.elapsed >= Nanos::from_millis(400), "{}", measurement.elapsed);
}

#[test]
fn thinking_takes_its_time() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &Access { direct: false, ..reading() }).unwrap();
    let arrival = Arrival { think: Nanos::from_millis(10), burst: 4, ..Arrival::default() };
    let workload = Workload { arrival, queue_depth: 8, stop: Stop::after_requests(40), ..Workload::default() };
    let measurement = measure(&target, &workload).unwrap();
    assert_eq!(measurement.requests(), 40);
    assert!(measurement.elapsed >= Nanos::from_millis(90), "nine pauses between ten bursts: {}", measurement.elapsed);
}

#[test]
fn nothing_outside_the_span_is_touched() {
    let directory = scratch();
    let path = directory.path().join("marked.bin");
    fs::write(&path, vec![0x5a; 1 << 20]).unwrap();
    let target = Target::open(&path, &Access { overwrite: true, size: None, ..writing() }).unwrap();
    let (offset, size) = (Bytes::from_kib(64), Some(Bytes::from_kib(128)));
    let stop = Stop::after_bytes(Bytes::from_mib(1));
    let workload = Workload { pattern: Pattern::Write, offset, size, stop, workers: 2, ..Workload::default() };
    measure(&target, &workload).unwrap();
    let content = fs::read(&path).unwrap();
    let (before, rest) = content.split_at(64 << 10);
    let (span, after) = rest.split_at(128 << 10);
    assert!(before.iter().chain(after).all(|byte| *byte == 0x5a));
    assert!(span.chunks(4096).all(|block| block.iter().filter(|byte| **byte == 0x5a).count() < 100));
    assert_eq!(content.len(), 1 << 20);
}

#[test]
fn a_foreign_file_is_refused_unchanged_until_it_may_be_overwritten() {
    let directory = scratch();
    let path = directory.path().join("thesis.tex");
    fs::write(&path, b"years of work").unwrap();
    let before = fs::metadata(&path).unwrap();
    refused(&path, &writing(), "--overwrite");
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"years of work");
    assert_eq!((before.mtime_nsec(), before.ctime_nsec()), (after.mtime_nsec(), after.ctime_nsec()));
    let target = Target::open(&path, &Access { overwrite: true, ..writing() }).unwrap();
    assert_eq!((target.capacity(), fs::metadata(&path).unwrap().len()), (SIZE, SIZE.get()));
}

#[test]
fn a_foreign_file_may_be_read_but_not_beyond_its_end_and_never_laid_out() {
    let directory = scratch();
    let path = directory.path().join("film.mkv");
    File::create(&path).unwrap().set_len(1 << 20).unwrap();
    let target = Target::open(&path, &Access { create: true, ..reading() }).unwrap();
    assert_eq!(target.capacity(), Bytes::from_mib(1));
    assert!(target.has_holes((Bytes::ZERO, target.capacity())) && !target.needs_layout() && !target.is_writable());
    let write = Workload { pattern: Pattern::Write, stop: Stop::after_requests(1), ..Workload::default() };
    assert!(matches!(measure(&target, &write), Err(RealError::ReadOnly { .. })));
    drop(target);
    refused(&path, &Access { size: Some(SIZE), ..reading() }, "more than");
    assert_eq!(fs::metadata(&path).unwrap().blocks(), 0);
}

#[test]
fn a_file_of_ours_is_used_again_in_part_or_enlarged() {
    let directory = scratch();
    let path = filled(&directory);
    let part = Target::open(&path, &Access { size: Some(Bytes::from_mib(4)), ..writing() }).unwrap();
    assert_eq!((part.capacity(), part.needs_layout()), (Bytes::from_mib(4), false));
    drop(part);
    let more = Target::open(&path, &Access { size: Some(Bytes::from_mib(16)), ..writing() }).unwrap();
    assert_eq!((more.capacity(), more.needs_layout()), (Bytes::from_mib(16), true));
    assert_eq!(fs::metadata(&path).unwrap().len(), 16 << 20);
}

#[test]
fn what_opening_has_changed_is_taken_back() {
    let directory = scratch();
    let path = directory.path().join("new.bin");
    Target::open(&path, &writing()).unwrap().withdraw().unwrap();
    assert!(!path.exists());
    let path = filled(&directory);
    Target::open(&path, &Access { size: Some(SIZE.times(2)), ..writing() }).unwrap().withdraw().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), SIZE.get());
    Target::open(&path, &writing()).unwrap().withdraw().unwrap();
    assert!(path.exists(), "what was there before stays");
}

#[test]
fn a_file_created_to_be_read_wants_to_be_laid_out_first() {
    let directory = scratch();
    let path = directory.path().join("new.bin");
    let target = Target::open(&path, &Access { create: true, size: Some(SIZE), ..reading() }).unwrap();
    assert!(target.needs_layout());
    fill(&target);
    assert!(!target.needs_layout());
    assert!(!target.has_holes((Bytes::ZERO, SIZE)) && !target.has_holes((Bytes::from_mib(4), Bytes::from_mib(1))));
    assert!(target.identity().starts_with("file on ") && target.identity().ends_with(", 8 MiB"));
}

#[test]
fn a_purged_file_has_lost_its_data_and_kept_its_size() {
    let directory = scratch();
    let path = filled(&directory);
    let mut target = Target::open(&path, &writing()).unwrap();
    assert_eq!(target.purge(), Ok(Purged::Reallocated(SIZE)));
    assert!(target.needs_layout());
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(fs::metadata(&path).unwrap().len(), SIZE.get());
    drop(target);
    let mut target = Target::open(&path, &reading()).unwrap();
    assert!(matches!(target.purge(), Err(TargetError::ReadOnly { .. })));
}

#[test]
fn trims_of_a_file_free_its_space() {
    let directory = scratch();
    let path = filled(&directory);
    let target = Target::open(&path, &writing()).unwrap();
    let stop = Stop::after_bytes(SIZE);
    let workload =
        Workload { pattern: Pattern::Trim, block: Bytes::from_kib(64), queue_depth: 4, stop, ..Workload::default() };
    let measurement = measure(&target, &workload).unwrap();
    assert_eq!((measurement.trim.requests, measurement.trim.bytes), (128, SIZE));
    assert_eq!(fs::metadata(&path).unwrap().blocks(), 0);
}

#[test]
fn a_file_shortened_during_the_run_ends_it_for_all_workers() {
    let directory = scratch();
    let path = filled(&directory);
    let target = Target::open(&path, &reading()).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(4 << 20).unwrap();
    let stop = Stop::after(Nanos::from_secs(600));
    let workload = Workload { pattern: Pattern::RandRead, workers: 4, queue_depth: 4, stop, ..Workload::default() };
    let error = measure(&target, &workload).unwrap_err();
    let RealError::Short { offset, moved, .. } = &error else { panic!("{error}") };
    assert!(*offset >= Bytes::from_mib(4) && *moved == Bytes::ZERO, "{error}");
}

#[test]
fn a_file_in_use_by_a_run_is_refused_to_another() {
    let directory = scratch();
    let path = filled(&directory);
    let first = Target::open(&path, &reading()).unwrap();
    let error = refused(&path, &reading(), "another run");
    assert_eq!(error, TargetError::Locked { path: path.clone() });
    drop(first);
    Target::open(&path, &reading()).unwrap();
}

#[test]
fn what_is_missing_or_makes_no_sense_is_refused_and_not_created() {
    let directory = scratch();
    let new = directory.path().join("new.bin");
    let huge = Some(Bytes::from_gib(1 << 30));
    refused(&new, &Access { size: Some(Bytes::ZERO), ..writing() }, "size 0");
    refused(&new, &Access { size: None, ..writing() }, "--size=1G");
    refused(&new, &Access { size: Some(SIZE), ..reading() }, "does not exist");
    refused(&new, &Access { size: huge, ..writing() }, "free");
    refused(&new, &Access { size: Some(Bytes::new(500)), ..writing() }, "less than one block");
    refused(&new, &Access { destroy_data: Some("/dev/null".into()), ..writing() }, "not the target");
    refused(&new, &Access { destroy_data: Some(new.clone()), ..writing() }, "is for block devices");
    refused(&directory.path().join("no/new.bin"), &writing(), "not a directory");
    assert!(!new.exists());
    refused(directory.path(), &writing(), "is a directory");
    refused(Path::new("/dev/null"), &writing(), "is a character device");
    refused(Path::new("/dev/assay-no-such-disk"), &writing(), "under /dev");
    assert!(!Path::new("/dev/assay-no-such-disk").exists());
    let empty = directory.path().join("empty");
    File::create(&empty).unwrap();
    refused(&empty, &reading(), "is empty");
}

#[test]
fn an_existing_file_is_not_enlarged_beyond_the_free_space() {
    let directory = scratch();
    let path = filled(&directory);
    refused(&path, &Access { size: Some(Bytes::from_gib(1 << 30)), ..writing() }, "free");
    assert_eq!(fs::metadata(&path).unwrap().len(), SIZE.get());
}

#[test]
fn more_in_flight_than_memory_holds_is_refused() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let stop = Stop::after_requests(1);
    let workload = Workload { block: Bytes::from_mib(8), queue_depth: 65_536, stop, ..Workload::default() };
    let error = measure(&target, &workload).unwrap_err();
    assert!(matches!(error, RealError::Memory { needed, .. } if needed == Bytes::from_gib(512)), "{error}");
}

#[test]
fn more_workers_than_a_process_has_room_for_are_refused() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let workload =
        Workload { block: Bytes::new(512), workers: 12_000, stop: Stop::after_requests(1), ..Workload::default() };
    let limit: u64 = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    if limit > 12_000 * 16 {
        return eprintln!("skipped: vm.max_map_count is {limit}");
    }
    let error = measure(&target, &workload).unwrap_err();
    assert!(matches!(error, RealError::TooManyWorkers { workers: 12_000, max } if max > 0), "{error}");
}

#[test]
fn the_devices_beneath_a_file_and_the_time_of_submissions_are_part_of_what_was_measured() {
    let directory = scratch();
    let target = Target::open(&filled(&directory), &reading()).unwrap();
    let workload = Workload { pattern: Pattern::RandRead, stop: Stop::after_requests(2000), ..Workload::default() };
    let cpu = measure(&target, &workload).unwrap().cpu.unwrap();
    let times = cpu.submission.expect("io_uring is timed");
    assert_eq!((times.read.count, times.write.count), (2000 / 64, 0), "one submission in 64");
    assert!(times.read.min > Nanos::ZERO && times.read.min <= times.read.max && times.read.total >= times.read.max);
    let known = host::BlockDevice::find(fs::metadata(target.path()).unwrap().dev());
    let names: Vec<&str> = cpu.disks.iter().map(|disk| &disk.name[..]).collect();
    match known.filter(|device| device.whole_device().counters().is_some()) {
        Some(device) => {
            assert_eq!(names, [&device.whole_device().name[..]]);
            assert!(cpu.disks[0].reads >= 2000 && cpu.disks[0].time > Nanos::ZERO, "{:?}", cpu.disks);
        }
        None => assert_eq!(names, [""; 0]),
    }
}
