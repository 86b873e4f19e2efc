//! Several jobs side by side on one drive: each has figures of its own, and what it takes the others lack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::{
    Access, Ending, Job, LiveProgress, Measurement, OnError, RealError, Target, VirtualError, run_real_apart,
    run_real_together, run_virtual, run_virtual_together,
};
use block::{Bytes, Nanos, Seed};
use drive::preset::Preset;
use drive::{Device, Drive, Observed};
use workload::{Arrival, Invalid, Pattern, Stop, Workload};

const SECOND: Stop = Stop::after(Nanos::from_secs(1));

/// Half a GiB of a flash drive, written from end to end.
fn filled() -> Device {
    let mut drive = Preset::find("x25-m?capacity.user=512MiB&spare=40%").unwrap().build();
    let stop = Stop::after_bytes(Bytes::from_mib(512));
    let fill = Workload { pattern: Pattern::Write, block: Bytes::from_mib(1), stop, ..Workload::default() };
    run_virtual(&mut drive, &fill, Seed::new(1)).unwrap();
    drive
}

fn reader(depth: u32) -> Workload {
    Workload { pattern: Pattern::RandRead, queue_depth: depth, stop: SECOND, ..Workload::default() }
}

fn writer(depth: u32) -> Workload {
    Workload { pattern: Pattern::RandWrite, ..reader(depth) }
}

/// As jobs called by their numbers, each with the seed of its own number.
fn jobs(workloads: &[Workload]) -> Vec<Job<'_>> {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let job = |(name, workload)| Job { name, workload, seed: Seed::new(7).split(name), observer: None };
    NAMES.into_iter().zip(workloads).map(job).collect()
}

fn together(workloads: &[Workload]) -> Vec<Measurement> {
    run_virtual_together(&mut filled(), &jobs(workloads), OnError::Stop).unwrap()
}

#[test]
fn two_equal_readers_share_the_drive_fairly() {
    let alone = run_virtual(&mut filled(), &reader(32), Seed::new(7)).unwrap();
    let both = together(&[reader(16), reader(16)]);
    let [one, two] = [both[0].iops(), both[1].iops()];
    assert!((one / two - 1.0).abs() < 0.02, "{one:.0} and {two:.0} IOPS");
    assert!(((one + two) / alone.iops() - 1.0).abs() < 0.02, "{:.0} IOPS, alone {:.0}", one + two, alone.iops());
}

#[test]
fn a_deeper_queue_gets_the_larger_share() {
    let both = together(&[reader(24), reader(8)]);
    let ratio = both[0].iops() / both[1].iops();
    assert!((ratio / 3.0 - 1.0).abs() < 0.1, "{ratio:.2} times as much");
}

#[test]
fn a_flood_of_writes_delays_who_reads_beside_it() {
    let alone = run_virtual(&mut filled(), &reader(1), Seed::new(7)).unwrap();
    let both = together(&[reader(1), writer(32)]);
    let [quiet, flooded] = [&alone, &both[0]].map(|measured| measured.read.latency.mean());
    assert!(flooded > 2.0 * quiet, "{flooded:.0} ns, alone {quiet:.0} ns");
    assert_eq!((both[0].write.requests, both[1].read.requests), (0, 0), "each counts its own");
}

#[test]
fn what_the_drive_counts_is_the_sum_of_all_jobs() {
    let each = |pattern, arrival| Workload { pattern, arrival, stop: Stop::after_requests(500), ..reader(4) };
    let rate = Arrival { rate: 3_000, ..Arrival::default() };
    let think = Arrival { think: Nanos::from_millis(1), burst: 8, ..Arrival::default() };
    let workloads = [
        each(Pattern::RandRead, Arrival::default()),
        each(Pattern::RandWrite, rate),
        Workload { fdatasync: 10, workers: 2, ..each(Pattern::Write, think) },
    ];
    let mut drive = filled();
    let before = drive.counters();
    let measured = run_virtual_together(&mut drive, &jobs(&workloads), OnError::Stop).unwrap();
    let done = drive.counters() - before;
    assert_eq!(measured.iter().map(Measurement::requests).collect::<Vec<_>>(), [500, 500, 1000]);
    let sum = |of: fn(&Measurement) -> u64| measured.iter().map(of).sum::<u64>();
    assert_eq!(done.requests[0], sum(|job| job.read.requests));
    assert_eq!(done.requests[1], sum(|job| job.write.requests));
    assert_eq!(done.requests[3], sum(|job| job.flush.requests));
    assert_eq!(done.host_written, measured.iter().map(|job| job.write.bytes).sum());
    assert!(measured[2].flush.requests >= 90, "{} flushes", measured[2].flush.requests);
}

#[test]
fn one_seed_tells_one_story() {
    let workloads =
        [reader(3), writer(2), Workload { arrival: Arrival { rate: 900, ..Arrival::default() }, ..reader(1) }];
    assert_eq!(together(&workloads), together(&workloads));
}

#[test]
fn a_lone_job_measures_what_its_workload_does() {
    let rate = Arrival { rate: 900, ..Arrival::default() };
    for workload in [reader(3), Workload { workers: 3, ..writer(2) }, Workload { arrival: rate, ..writer(2) }] {
        let job = Job { name: "alone", workload: &workload, seed: Seed::new(9), observer: None };
        let among = run_virtual_together(&mut filled(), &[job], OnError::Stop).unwrap();
        assert_eq!(among, [run_virtual(&mut filled(), &workload, Seed::new(9)).unwrap()]);
    }
}

#[test]
fn a_job_that_ends_first_leaves_the_drive_to_the_other() {
    let brief = Workload { stop: Stop::after(Nanos::from_millis(500)), ..writer(32) };
    let long = Workload { stop: Stop::after(Nanos::from_secs(3)), ..reader(1) };
    let both = together(&[long, brief]);
    let [long, brief] = [&both[0], &both[1]];
    assert!(brief.elapsed < Nanos::from_millis(700), "{}", brief.elapsed);
    assert!(long.elapsed >= Nanos::from_secs(3) && long.series.len() == 3, "{}", long.elapsed);
    assert!(2 * long.series[2].reads > 3 * long.series[0].reads, "{:?}", long.series);
    let [whole, part] = [long.drive.unwrap(), brief.drive.unwrap()];
    assert_eq!(whole.host_written, part.host_written, "nothing is written once the writer has ended");
    assert!(whole.requests[0] > part.requests[0], "but it is read on");
}

/// A job before its delay is over does nothing, and its own times begin with it.
#[test]
fn each_job_has_its_own_delay() {
    let (delay, ramp) = (Nanos::from_secs(2), Nanos::from_millis(100));
    for open in [Arrival::default(), Arrival { rate: 3_000, ..Arrival::default() }] {
        let late = Workload { delay, ramp, arrival: open, ..reader(16) };
        let mut drive = filled();
        let began = drive.now();
        let both = run_virtual_together(&mut drive, &jobs(&[reader(16), late.clone()]), OnError::Stop).unwrap();
        assert_eq!(both[0], run_virtual(&mut filled(), &reader(16), jobs(&[reader(16)])[0].seed).unwrap(), "was alone");
        assert_eq!(both[1].elapsed.as_nanos() / 1_000_000, 1000, "{}", both[1].elapsed);
        let end = drive.now().since(began);
        assert!(end.as_nanos().abs_diff(3_100_000_000) < 2_000_000, "{end}");
        let done = both[1].drive.unwrap().requests[0];
        assert!(done.abs_diff(both[1].read.requests) <= 32, "{done} in the time of {}", both[1].read.requests);
        let alone = run_virtual(&mut filled(), &late, Seed::new(9)).unwrap();
        assert!((alone.iops() / both[1].iops() - 1.0).abs() < 0.1, "{} and {}", alone.iops(), both[1].iops());
    }
}

#[test]
fn a_job_that_is_interrupted_has_the_time_until_then_and_one_before_its_delay_none() {
    let (stop, mut drive) = (Arc::new(AtomicBool::new(false)), filled());
    let half = drive.now() + Nanos::from_millis(500);
    let ending = Ending { on_error: OnError::Stop, stop: Some(Arc::clone(&stop)) };
    let late = |delay| Workload {
        delay: Nanos::from_millis(delay),
        arrival: Arrival { rate: 100, ..Arrival::default() },
        ..reader(4)
    };
    let mut watched = Observed::new(&mut drive, |now, _, _| {
        stop.fetch_or(now >= half, Ordering::Relaxed);
    });
    let measured = run_virtual_together(&mut watched, &jobs(&[reader(4), late(100), late(900)]), ending).unwrap();
    let tenths = measured.iter().map(|job| (job.elapsed.as_nanos() + 5_000_000) / 100_000_000);
    assert_eq!(tenths.collect::<Vec<_>>(), [5, 4, 0]);
    assert!((38..=41).contains(&measured[1].requests()) && measured[2].requests() == 0);
}

/// A job before its ramp is over loads the drive, but counts nothing.
#[test]
fn each_job_has_its_own_ramp() {
    let late = Workload { ramp: Nanos::from_secs(2), ..reader(16) };
    let both = together(&[reader(16), late]);
    let [early, late] = [both[0].iops(), both[1].iops()];
    assert!((late / early / 2.0 - 1.0).abs() < 0.1, "{early:.0} in company, {late:.0} when alone");
    assert_eq!(both[1].elapsed.as_nanos() / 1_000_000, 1000, "{}", both[1].elapsed);
}

#[test]
fn what_is_wrong_with_a_job_is_told_with_its_name() {
    let endless = Workload { stop: Stop::default(), ..reader(1) };
    let error = run_virtual_together(&mut filled(), &jobs(&[reader(1), endless]), OnError::Stop).unwrap_err();
    assert!(matches!(&error, VirtualError::OfJob { name, .. } if name == "b"), "{error}");
    assert!(error.to_string().starts_with("job `b`: "), "{error}");
    let nothing = Workload { ramp: Nanos::from_secs(9), stop: Stop::after_bytes(Bytes::from_kib(20)), ..reader(1) };
    let beside = run_virtual_together(&mut filled(), &jobs(&[nothing.clone(), reader(1)]), OnError::Stop).unwrap();
    assert!(beside[0].requests() == 0 && beside[1].requests() > 0, "who is idle beside others has nothing to show");
    let both =
        run_virtual_together(&mut filled(), &jobs(&[nothing.clone(), nothing.clone()]), OnError::Stop).unwrap_err();
    assert!(both.to_string().starts_with("job `a`: all requests completed in"), "{both}");
    let alone = run_virtual(&mut filled(), &nothing, Seed::new(1)).unwrap_err();
    assert!(matches!(alone, VirtualError::OverInRamp { .. }), "{alone}");
}

/// A file of ours on the disk that holds the build, for the usual directory may be in memory.
fn target(directory: &tempfile::TempDir, direct: bool) -> Target {
    let access = Access { size: Some(Bytes::from_mib(8)), direct, writes: true, ..Access::default() };
    Target::open(&directory.path().join("target.bin"), &access).unwrap()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn a_job_on_a_file_begins_after_its_delay() {
    let directory = scratch();
    let target = target(&directory, false);
    let whole =
        Workload { pattern: Pattern::Write, stop: Stop::after_bytes(Bytes::from_mib(8)), ..Workload::default() };
    run_real_together(&target, &jobs(&[whole]), &|_| {}).unwrap();
    let delay = Nanos::from_millis(300);
    let early = Workload { stop: Stop::after_requests(10), ..reader(1) };
    let arrival = Arrival { rate: 100, ..Arrival::default() };
    let late = Workload { delay, stop: Stop::after_requests(11), arrival, ..reader(1) };
    let began = std::time::Instant::now();
    let both = run_real_together(&target, &jobs(&[early, late]), &|_| {}).unwrap();
    // The last of them comes a tenth of a second after the first.
    let time = Nanos::from_millis(100);
    assert!(began.elapsed() >= (delay + time).to_std());
    assert_eq!(both[1].began.unwrap() - both[0].began.unwrap(), delay.to_std());
    assert!(both[1].elapsed >= time && both[1].requests() == 11, "{} in {}", both[1].requests(), both[1].elapsed);
}

#[test]
fn jobs_on_a_file_count_their_own_requests_exactly() {
    let directory = scratch();
    let mib = |mib| Stop::after_bytes(Bytes::from_mib(mib));
    let rate = Arrival { rate: 2_000, ..Arrival::default() };
    let workloads = [
        Workload { stop: mib(2), workers: 2, ..reader(4) },
        Workload { stop: mib(1), fdatasync: 64, ..writer(2) },
        Workload { stop: Stop::after_requests(100), arrival: rate, ..reader(2) },
    ];
    for direct in [true, false] {
        let target = target(&directory, direct);
        let whole =
            Workload { pattern: Pattern::Write, block: Bytes::from_mib(1), stop: mib(8), ..Workload::default() };
        run_real_together(&target, &jobs(&[whole]), &|_| {}).unwrap();
        let seen = std::sync::Mutex::new(0);
        let watch = |progress: LiveProgress| *seen.lock().unwrap() = progress.requests;
        let measured = run_real_together(&target, &jobs(&workloads), &watch).unwrap();
        let counts: Vec<_> = measured.iter().map(|job| (job.read.requests, job.write.requests)).collect();
        assert_eq!(counts, [(512, 0), (0, 256), (100, 0)], "direct {direct}");
        assert_eq!(measured[1].flush.requests, 3, "behind the last write comes none");
        assert_eq!(*seen.lock().unwrap(), 512 + 256 + 3 + 100, "flushes are seen too");
        for (job, workload) in measured.iter().zip(&workloads) {
            assert_eq!((&job.workload, job.cpu.is_some()), (workload, true));
            assert!(job.elapsed >= job.latency().max() && job.elapsed > Nanos::ZERO);
        }
        assert!(measured[2].elapsed >= Nanos::from_millis(49), "99 arrivals: {}", measured[2].elapsed);
    }
}

#[test]
fn a_brief_job_on_a_file_does_not_end_a_long_one() {
    let directory = scratch();
    let target = target(&directory, false);
    let brief = Workload { pattern: Pattern::Write, stop: Stop::after(Nanos::from_millis(50)), ..writer(1) };
    let long = Workload { ramp: Nanos::from_millis(100), stop: Stop::after(Nanos::from_millis(200)), ..writer(1) };
    let measured = run_real_together(&target, &jobs(&[brief, long]), &|_| {}).unwrap();
    let [brief, long] = [measured[0].elapsed, measured[1].elapsed];
    assert!(brief >= Nanos::from_millis(50) && long >= Nanos::from_millis(200), "{brief} and {long}");
    let cpu = |job: &Measurement| job.cpu.as_ref().map(|cpu| cpu.user + cpu.system).unwrap();
    assert!(cpu(&measured[1]) > Nanos::ZERO);
}

#[test]
fn a_job_that_cannot_run_on_a_file_is_told_by_name_and_nothing_begins() {
    let directory = scratch();
    let target = target(&directory, true);
    let beyond = Workload { offset: Bytes::from_gib(1), ..reader(1) };
    let seen = std::sync::Mutex::new(0);
    let watch = |progress: LiveProgress| *seen.lock().unwrap() += progress.requests;
    let error = run_real_together(&target, &jobs(&[writer(1), beyond]), &watch).unwrap_err();
    assert!(error.to_string().starts_with("job `b`: "), "{error}");
    let RealError::OfJob { error, .. } = error else { panic!("{error}") };
    assert!(matches!(*error, RealError::Invalid(Invalid::OffsetBeyond { .. })), "{error}");
    assert_eq!(seen.into_inner().unwrap(), 0);
}

#[test]
fn jobs_on_a_file_each_move_what_was_asked_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, sparse: bool| {
        let access = Access { size: Some(Bytes::from_mib(1)), writes: true, sparse, ..Access::default() };
        Target::open(&folder.path().join(name), &access).unwrap()
    };
    let (reserved, sparse) = (open("reserved", false), open("sparse", true));
    let blocks = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(folder.path().join(name)).unwrap().blocks()
    };
    assert!(blocks("reserved") >= 2048 && blocks("sparse") == 0, "space is found as it is written");
    let write = |mib: u64| Workload {
        pattern: Pattern::Write,
        block: Bytes::from_kib(64),
        stop: Stop::after_bytes(Bytes::from_mib(mib)),
        ..Workload::default()
    };
    let (once, thrice) = (write(1), write(3));
    let both = run_real_apart(&[&reserved, &sparse], &jobs(&[thrice, once]), &|_| {}).unwrap();
    assert_eq!([both[0].write.bytes, both[1].write.bytes], [Bytes::from_mib(3), Bytes::from_mib(1)]);
    assert!(blocks("sparse") >= 2048 && !sparse.has_holes((Bytes::ZERO, Bytes::from_mib(1))));
    let wrong = [write(1), Workload { offset: Bytes::from_mib(2), ..write(1) }];
    let error = run_real_apart(&[&reserved, &sparse], &jobs(&wrong), &|_| {}).unwrap_err();
    assert!(matches!(error.itself(), RealError::Invalid(Invalid::OffsetBeyond { .. })), "{error}");
}
