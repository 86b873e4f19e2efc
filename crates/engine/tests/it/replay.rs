//! Traces replayed on both clocks, and recorded.

use std::sync::Arc;

use assay_engine::{
    Access, Job, Measurement, OnError, Record, Target, VirtualError, run_real, run_virtual, run_virtual_recorded,
};
use block::{Bytes, Nanos, Op, Request, Seed};
use drive::preset::Preset;
use drive::{Device, Drive};
use workload::{Invalid, Pattern, Replay, ReplayPace, Stop, TraceFormat, TraceReader, Workload, to_iolog};

fn drive() -> Device {
    Preset::find("x25-m?capacity.user=64MiB&spare=150%").unwrap().build()
}

/// The trace in these lines, to be replayed at this pace.
fn replay(text: &str, pace: ReplayPace) -> Workload {
    let (trace, format) = TraceReader::default().text(text).unwrap();
    let digest = trace.digest(format);
    let replay = Some(Replay { pace, ..Replay::of("t.log") });
    Workload { replay, queue_depth: 32, ..Workload::default() }.replaying(Arc::new(trace), digest)
}

fn run(workload: &Workload) -> (Measurement, Device) {
    let mut drive = drive();
    let measurement = run_virtual(&mut drive, workload, Seed::new(9)).unwrap();
    (measurement, drive)
}

/// Runs `workload` and gives what was submitted as fio's log.
fn recorded(workload: &Workload) -> (Measurement, Device, String) {
    let (mut drive, record) = (drive(), Record::default());
    let jobs = [Job { name: "", workload, seed: Seed::new(9), observer: None }];
    let measured = run_virtual_recorded(&mut drive, &jobs, OnError::Stop, &record).unwrap();
    (measured.into_iter().next().unwrap(), drive, to_iolog("sim:x25-m", &record.take()))
}

fn mixed(depth: u32) -> Workload {
    Workload {
        pattern: Pattern::RandRw,
        queue_depth: depth,
        fsync: 7,
        stop: Stop::after_requests(3000),
        ..Workload::default()
    }
}

#[test]
fn to_record_changes_nothing_of_what_is_measured() {
    let (measurement, drive, log) = recorded(&mixed(4));
    let (plain, again) = run(&mixed(4));
    assert_eq!(measurement, plain);
    assert_eq!(drive.counters(), again.counters());
    let made = plain.requests() + plain.flush.requests;
    assert_eq!(log.lines().count() as u64, made + 4, "a line each, and four about the file");
}

#[test]
fn a_recorded_run_as_fast_as_possible_is_the_run_again() {
    for depth in [1, 4, 32] {
        let (measurement, drive, log) = recorded(&mixed(depth));
        let again = Workload { queue_depth: depth, ..replay(&log, ReplayPace::AsFast) };
        let (replayed, replayed_on) = run(&again);
        assert_eq!(replayed_on.counters(), drive.counters(), "depth {depth}");
        assert_eq!((replayed.elapsed, &replayed.write), (measurement.elapsed, &measurement.write), "depth {depth}");
        assert_eq!((&replayed.read, &replayed.flush), (&measurement.read, &measurement.flush), "depth {depth}");
        assert_eq!(replayed_on.now(), drive.now(), "depth {depth}");
    }
}

#[test]
fn one_seed_tells_one_story() {
    let (_, _, log) = recorded(&mixed(8));
    for pace in [ReplayPace::Recorded { percent: 100 }, ReplayPace::Recorded { percent: 300 }, ReplayPace::Think] {
        let ((once, first), (twice, second)) = (run(&replay(&log, pace)), run(&replay(&log, pace)));
        assert_eq!(once, twice, "{pace:?}");
        assert_eq!((first.counters(), first.now()), (second.counters(), second.now()), "{pace:?}");
    }
}

/// A read of 4 KiB every 10 ms, a hundred of them.
fn slow_reads() -> String {
    let reads: Vec<(Nanos, Request)> = (0..100)
        .map(|index| (Nanos::from_millis(10 * index), Request::new(Op::Read, block::Lba::new(8 * index), 8)))
        .collect();
    to_iolog("f", &reads)
}

#[test]
fn twice_as_fast_takes_half_the_time_and_half_as_fast_twice() {
    let elapsed = |percent| run(&replay(&slow_reads(), ReplayPace::Recorded { percent })).0.elapsed.as_secs_f64();
    for (percent, seconds) in [(100, 0.990), (200, 0.495), (50, 1.980)] {
        assert!((elapsed(percent) / seconds - 1.0).abs() < 0.002, "{percent} %: {} s", elapsed(percent));
    }
    assert!(run(&replay(&slow_reads(), ReplayPace::AsFast)).0.elapsed < Nanos::from_millis(40));
}

#[test]
fn latency_counts_from_the_recorded_time() {
    // A hundred reads in the same microsecond, one at a time: the last waits for all others.
    let reads: Vec<(Nanos, Request)> =
        (0..100).map(|index| (Nanos::ZERO, Request::new(Op::Read, block::Lba::new(8 * index), 8))).collect();
    let log = to_iolog("f", &reads);
    let at = |pace| run(&Workload { queue_depth: 1, ..replay(&log, pace) }).0;
    let (recorded, fast) = (at(ReplayPace::Recorded { percent: 100 }), at(ReplayPace::AsFast));
    assert_eq!(recorded.elapsed, fast.elapsed);
    assert_eq!(recorded.read.latency.max(), recorded.elapsed);
    assert!(fast.read.latency.max() < Nanos::from_millis(1));
}

/// Three rounds of two writes at once, done after 1 ms, with 20 ms to think between.
const THINKING: &str = "\
128166372003000000,h,0,Write,0,65536,10000
128166372003000000,h,0,Write,65536,65536,10000
128166372003210000,h,0,Write,131072,65536,10000
128166372003210000,h,0,Write,196608,65536,10000
128166372003420000,h,0,Write,262144,65536,10000
128166372003420000,h,0,Write,327680,65536,10000
";

#[test]
fn think_time_is_kept_on_a_slower_drive_and_on_a_faster_one() {
    let on = |preset: &str| {
        let mut drive = Preset::find(preset).unwrap().build();
        let think = run_virtual(&mut drive, &replay(THINKING, ReplayPace::Think), Seed::new(1)).unwrap();
        let mut alike = Preset::find(preset).unwrap().build();
        let timed =
            run_virtual(&mut alike, &replay(THINKING, ReplayPace::Recorded { percent: 100 }), Seed::new(1)).unwrap();
        (think, timed)
    };
    let (slow, slow_timed) = on("x25-m?capacity.user=64MiB&spare=150%&link.rate=2 MB/s");
    // Each round moves 128 KiB at 2 MB/s.
    let busy = slow.latency().max();
    assert!(busy > Nanos::from_millis(60), "{busy}");
    assert!(slow.elapsed >= Nanos::from_millis(40) + busy.times(3) - Nanos::from_millis(20), "{}", slow.elapsed);
    assert!(slow_timed.elapsed < slow.elapsed, "as recorded, rounds come while others are in flight");
    let (fast, fast_timed) = on("x25-m?capacity.user=64MiB&spare=150%");
    assert!(fast.elapsed > Nanos::from_millis(40), "{}", fast.elapsed);
    assert!(fast.elapsed < Nanos::from_millis(40) + fast.latency().max().times(3) + Nanos::from_micros(1));
    assert!(fast_timed.elapsed >= Nanos::from_millis(42));
}

#[test]
fn a_limit_ends_a_replay_before_its_trace_and_flushes_come_in_their_places() {
    let (_, _, log) = recorded(&mixed(1));
    let fast = replay(&log, ReplayPace::AsFast);
    let all = run(&fast).0;
    assert!(all.flush.requests > 100, "{}", all.flush.requests);
    let few = run(&Workload { stop: Stop::after_requests(40), ..fast }).0;
    assert_eq!(few.requests() + few.flush.requests, 40);
    let slow = replay(&slow_reads(), ReplayPace::default());
    let timed = run(&Workload { stop: Stop::after(Nanos::from_millis(95)), ..slow }).0;
    assert_eq!((timed.requests(), timed.elapsed), (10, Nanos::from_millis(95)));
}

#[test]
fn a_worker_whose_trace_is_over_does_not_keep_the_run_going() {
    let slow = replay(&slow_reads(), ReplayPace::default());
    let bounded = Workload { stop: Stop::after(Nanos::from_secs(3600)), ..slow };
    let (measurement, drive) = run(&bounded);
    assert!(drive.now() < Nanos::from_secs(1), "{}", drive.now());
    assert!(measurement.elapsed < Nanos::from_secs(1));
}

#[test]
fn a_trace_that_was_not_read_or_is_too_long_runs_nowhere() {
    let unread = Workload { replay: Some(Replay::of("gone.log")), ..Workload::default() };
    let error = run_virtual(&mut drive(), &unread, Seed::new(1)).unwrap_err();
    assert!(matches!(error, VirtualError::Invalid(Invalid::TraceUnread { .. })), "{error}");
    let far = replay("fio version 2 iolog\nf read 67108864 4096\n", ReplayPace::AsFast);
    let error = run_virtual(&mut drive(), &far, Seed::new(1)).unwrap_err().to_string();
    assert!(error.contains("ends at 65540k, beyond the active range of 64m"), "{error}");
}

#[test]
fn a_file_is_recorded_and_replayed_at_every_pace() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let access =
        Access { size: Some(Bytes::from_mib(8)), writes: true, create: true, direct: false, ..Access::default() };
    let mut target = Target::open(&folder.path().join("scratch"), &access).unwrap();
    let record = Arc::new(Record::default());
    target.record_to(Some(Arc::clone(&record)));
    let asked = Workload { workers: 2, stop: Stop::after_requests(300), ..mixed(4) };
    let measured = run_real(&target, &asked, Seed::new(1), &|_| {}).unwrap();
    target.record_to(None);
    let submitted = record.take();
    assert_eq!(submitted.len() as u64, measured.requests() + measured.flush.requests);
    assert!(submitted.is_sorted_by_key(|(at, _)| *at), "the workers' requests are merged by time");
    let log = to_iolog("scratch", &submitted);
    for pace in [ReplayPace::AsFast, ReplayPace::Recorded { percent: 1000 }, ReplayPace::Think] {
        let replayed = run_real(&target, &replay(&log, pace), Seed::new(1), &|_| {}).unwrap();
        let counts = |measured: &Measurement| {
            [&measured.read, &measured.write, &measured.flush].map(|flow| (flow.requests, flow.bytes))
        };
        assert_eq!(counts(&replayed), counts(&measured), "{pace:?}");
    }
    assert!(record.take().is_empty(), "what is replayed after the end of a record is no part of it");
    let timed = replay(&slow_reads(), ReplayPace::Recorded { percent: 1000 });
    let timed = run_real(&target, &timed, Seed::new(1), &|_| {}).unwrap();
    assert!(timed.elapsed >= Nanos::from_millis(99), "{}", timed.elapsed);
    assert_eq!(timed.workload.replay.unwrap().digest.unwrap().format, TraceFormat::Iolog3);
}

/// A boot, replayed on a drive that holds what it reads, with the time to think at so many percent of its speed.
fn boot(preset: &str, percent: u32) -> Measurement {
    let workload = replay(include_str!("../../../../plans/traces/boot.txt"), ReplayPace::Think.at(percent));
    let mut drive = Preset::find(preset).unwrap().build();
    let image = Workload {
        pattern: Pattern::Write,
        block: Bytes::from_mib(1),
        size: Some(Bytes::from_mib(512)),
        stop: Stop::after_bytes(Bytes::from_mib(512)),
        ..Workload::default()
    };
    run_virtual(&mut drive, &image, Seed::new(1)).unwrap();
    run_virtual(&mut drive, &workload, Seed::new(1)).unwrap()
}

const DISK: &str = "seagate-7200.11";
const FLASH: &str = "x25-m?capacity.user=1GiB";

#[test]
fn a_boot_from_a_disk_takes_longer_than_one_from_flash_by_what_the_disk_takes_longer() {
    let waited = |measurement: &Measurement| {
        let latency = measurement.latency();
        let flushes = measurement.flush.latency.mean() * measurement.flush.requests as f64;
        (latency.mean() * measurement.requests() as f64 + flushes) / 1e9
    };
    let [disk, flash] = [DISK, FLASH].map(|preset| boot(preset, 100));
    let longer = disk.elapsed.as_secs_f64() - flash.elapsed.as_secs_f64();
    let waits = waited(&disk) - waited(&flash);
    assert!(longer > 1.0, "{longer} s");
    // What is waited for at the same time makes the boot longer but once.
    assert!(longer > 0.4 * waits && longer < 1.01 * waits, "longer by {longer} s; {waits} s more in all requests");
}

#[test]
fn the_ratio_of_disk_to_flash_grows_with_the_speed_of_the_computer() {
    let ratio = |percent| {
        let [disk, flash] = [DISK, FLASH].map(|preset| boot(preset, percent).elapsed.as_secs_f64());
        disk / flash
    };
    let ratios = [100, 1000, 100_000].map(ratio);
    assert!(ratios.is_sorted() && ratios[0] > 1.01 && ratios[2] > 3.0, "{ratios:?}");
}

#[test]
fn a_boot_is_the_same_boot_each_time() {
    assert_eq!(boot(FLASH, 100), boot(FLASH, 100));
}
