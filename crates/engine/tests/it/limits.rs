//! What counts for a limit, and what comes behind it: requests of the ramp, and the flush at the end.

use assay_engine::{Access, Measurement, Submission, Target, run_real, run_virtual};
use block::{Bytes, Nanos, Seed};
use drive::preset::Preset;
use workload::{Arrival, Pattern, SteadyEnd, Stop, Workload};

fn on_drive(workload: &Workload) -> Measurement {
    let mut drive = Preset::find("x25-m?capacity.user=512MiB&spare=40%").unwrap().build();
    run_virtual(&mut drive, workload, Seed::new(7)).unwrap()
}

fn on_file(workload: &Workload, engine: &str) -> Measurement {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let submission = Submission { engine: engine.parse().unwrap(), ..Submission::default() };
    let access = Access { size: Some(Bytes::from_mib(4)), submission, writes: true, ..Access::default() };
    let target = Target::open(&directory.path().join("new.bin"), &access).unwrap();
    run_real(&target, workload, Seed::new(7), &|_| {}).unwrap()
}

fn writes(stop: Stop) -> Workload {
    Workload { pattern: Pattern::RandWrite, stop, end_fsync: true, ..Workload::default() }
}

#[test]
fn each_worker_flushes_once_at_its_end_and_that_is_part_of_what_is_measured() {
    let rate = Arrival { rate: 2_000, ..Arrival::default() };
    for (arrival, depth, workers) in [(Arrival::default(), 1, 1), (Arrival::default(), 4, 3), (rate, 4, 2)] {
        let requests = writes(Stop::after_requests(50));
        let workload = Workload { arrival, queue_depth: depth, workers, ..requests };
        let without = Workload { end_fsync: false, ..workload.clone() };
        let (with, without) = (on_drive(&workload), on_drive(&without));
        assert_eq!((with.write.requests, with.flush.requests), (50 * u64::from(workers), u64::from(workers)));
        assert_eq!(without.flush.requests, 0);
        assert!(with.elapsed > without.elapsed, "{} and {}", with.elapsed, without.elapsed);
        for engine in ["io_uring", "psync"] {
            let on_file = on_file(&workload, engine);
            assert_eq!(
                (on_file.write.requests, on_file.flush.requests),
                (50 * u64::from(workers), u64::from(workers)),
                "{engine}"
            );
        }
    }
}

#[test]
fn nothing_is_flushed_at_the_end_that_was_flushed_or_not_written() {
    let flushed = Workload { fsync: 1, ..writes(Stop::after_bytes(Bytes::from_kib(40))) };
    let with = on_drive(&flushed);
    let without = on_drive(&Workload { end_fsync: false, ..flushed });
    assert!(with.flush.requests - without.flush.requests <= 1);
    let reads = Workload { pattern: Pattern::RandRead, ..writes(Stop::after_requests(10)) };
    assert_eq!(on_drive(&reads).flush.requests, 0);
}

#[test]
fn a_flush_at_the_end_counts_also_where_the_time_is_over() {
    let time = Nanos::from_millis(300);
    for workload in [writes(Stop::after(time)), Workload { queue_depth: 8, workers: 2, ..writes(Stop::after(time)) }] {
        let measured = [on_drive(&workload), on_file(&workload, "io_uring"), on_file(&workload, "psync")];
        for measured in measured {
            assert_eq!(measured.flush.requests, u64::from(workload.workers));
            assert!(measured.elapsed >= time, "{}", measured.elapsed);
            assert_eq!(measured.series.len(), 1, "it is in the last interval");
        }
    }
}

#[test]
fn a_run_that_is_over_before_its_workers_begin_has_one_request() {
    for engine in ["io_uring", "psync"] {
        let workload = Workload { workers: 3, ..writes(Stop::after(Nanos::from_nanos(1))) };
        let measured = on_file(&workload, engine);
        assert!((1..=3).contains(&measured.write.requests), "{engine}: {}", measured.write.requests);
    }
}

#[test]
fn requests_of_the_ramp_do_not_count_for_the_limit_of_requests() {
    let limit = Workload { ramp: Nanos::from_millis(100), end_fsync: false, ..writes(Stop::after_requests(80)) };
    for workload in [limit.clone(), Workload { queue_depth: 4, workers: 2, ..limit }] {
        for measured in [on_drive(&workload), on_file(&workload, "io_uring"), on_file(&workload, "psync")] {
            // What was in flight when the ramp ended is measured too.
            let (least, depth) = (80 * u64::from(workload.workers), u64::from(workload.queue_depth * workload.workers));
            assert!((least..=least + depth).contains(&measured.requests()), "{} of {least}", measured.requests());
        }
    }
}

#[test]
fn a_steady_state_ends_a_run_in_real_time_as_soon_as_every_worker_has_told() {
    // However the machine stalls, there are two seconds with some requests in each within some minutes.
    let steady = SteadyEnd { criterion: "iops:99%".parse().ok(), window: Nanos::from_secs(2), ..SteadyEnd::default() };
    let stop = Stop { steady, ..Stop::after(Nanos::from_secs(600)) };
    for (arrival, workers) in [(Arrival::default(), 1), (Arrival { rate: 100, ..Arrival::default() }, 2)] {
        let measured = on_file(&Workload { arrival, workers, stop, ..Workload::default() }, "psync");
        let settling = measured.settling().unwrap();
        assert!(settling.is_attained(), "{settling:?}");
        assert!(measured.elapsed >= settling.seen() && measured.elapsed < Nanos::from_secs(600));
        assert!(settling.value().is_some_and(|value| value < 99.0), "{settling:?}");
    }
}
