//! Runs and measurements to keep.

use assay_store::NewRun;
use block::{Bytes, Nanos, Op, Seed};
use drive::Counters;
use measurement::{Clock, Cpu, DiskUse, Handover, Measurement, Method, SubmissionTimes, TimesSum};
use workload::{Pattern, Stop, Workload};

/// A run of a simulated drive.
pub fn new_run() -> NewRun {
    NewRun {
        plan: "review".into(),
        plan_text: "name = \"review\"\n".into(),
        quick: true,
        simulated: false,
        target: "sim:x25-m".into(),
        target_identity: "Intel X25-M, 80 GB".into(),
        target_fingerprint: Some("inode 7".into()),
        direct: false,
        size: Some(Bytes::from_gib(2)),
        capacity: Some(Bytes::from_gib(3)),
        drive: Some("{\"files\":[\"kind\"]}".into()),
        seed: Seed::new(u64::MAX),
        repeats: Some(3),
        started_ms: 1_767_225_600_000,
        version: "0.1.0".into(),
        commit: "abc1234".into(),
        environment: "{\"kernel\":\"6.1\"}".into(),
        annotations: measurement::Annotations::default(),
        group: None,
        shard: None,
    }
}

/// A mixed workload measured for `seconds` with ten requests a second, a few at the ends of their ranges.
pub fn measurement(seed: u64, seconds: u64) -> Measurement {
    let workload = Workload {
        pattern: Pattern::RandRw,
        read_percent: 67,
        block: Bytes::from_kib(8),
        queue_depth: 32,
        workers: 2,
        size: Some(Bytes::from_gib(1)),
        stop: Stop::after(Nanos::from_secs(seconds)),
        ..Workload::default()
    };
    let mut measurement = Measurement::new(workload, Seed::new(seed), Clock::Real);
    for i in 0..seconds * 10 {
        let op = [Op::Read, Op::Read, Op::Write, Op::Trim][(i % 4) as usize];
        let latency = Nanos::from_nanos(80_000 + i * 977 % 50_000);
        measurement.record(op, Bytes::from_kib(8), Nanos::from_millis(i * 100), latency);
    }
    measurement.cpu = Some(Cpu {
        user: Nanos::from_millis(12),
        system: Nanos::from_micros(34_567),
        switches_voluntary: 123,
        switches_involuntary: 4,
        halted: Nanos::ZERO,
        handover: Some(Handover { method: Method::Threads, registered: false, refusal: Some(1) }),
        submission: Some(SubmissionTimes {
            read: TimesSum {
                count: 3,
                min: Nanos::from_nanos(900),
                max: Nanos::from_micros(4),
                total: Nanos::from_micros(6),
                squares: 17_000_000,
            },
            ..SubmissionTimes::default()
        }),
        disks: vec![DiskUse { name: "vda".to_owned(), reads: 7, busy: Nanos::from_millis(12), ..DiskUse::default() }],
    });
    measurement.drive =
        Some(Counters { requests: [1, 2, 3, u64::MAX], host_written: Bytes::from_gib(1), ..Counters::default() });
    measurement
}
