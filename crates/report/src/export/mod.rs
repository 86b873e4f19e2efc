//! Documents of one workload's measurement, for people and for programs.
//!
//! Each is whole by itself, is valid whatever was measured, and ends with a line feed.

mod csv;
mod fio;
mod json;
mod text;

use block::Nanos;
use engine::{Flow, Measurement};

pub use csv::csv;
pub use fio::fio;
pub use json::json;
pub use text::text;

/// One workload's measurement with what a document says about it.
#[derive(Clone, Copy, Debug)]
pub struct Single<'a> {
    /// The job's name.
    pub name: &'a str,
    /// What it ran on, as it was asked for.
    pub target: &'a str,
    /// The program's version.
    pub version: &'a str,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub timestamp_ms: i64,
    /// What was measured.
    pub measurement: &'a Measurement,
    /// Doubts about it.
    pub findings: &'a [String],
}

/// The kinds of requests that were completed, with their names.
fn directions(measurement: &Measurement) -> impl Iterator<Item = (&'static str, &Flow)> {
    let all = [("read", &measurement.read), ("write", &measurement.write), ("trim", &measurement.trim)];
    all.into_iter().filter(|(_, flow)| flow.requests > 0)
}

/// An amount as a rate; zero when no time has passed, for JSON knows no infinity.
fn per_second(amount: u64, elapsed: Nanos) -> f64 {
    if elapsed == Nanos::ZERO { 0.0 } else { amount as f64 / elapsed.as_secs_f64() }
}

#[cfg(test)]
mod samples {
    //! Measurements whose every figure can be worked out by hand.

    use block::{Bytes, Nanos, Op, Seed};
    use drive::Counters;
    use engine::{Clock, Cpu, Measurement};
    use workload::{Pattern, Stop, Workload};

    use super::Single;

    /// Two and a half seconds of 8 KiB requests, one a millisecond in either direction: reads of 100 µs, writes of 300 µs.
    pub(super) fn mixed() -> Measurement {
        let workload = Workload {
            pattern: Pattern::RandRw,
            read_percent: 67,
            block: Bytes::from_kib(8),
            queue_depth: 32,
            workers: 2,
            size: Some(Bytes::from_gib(1)),
            stop: Stop { time: Some(Nanos::from_millis(2_500)), bytes: Some(Bytes::from_gib(4)), ..Stop::default() },
            ..Workload::default()
        };
        let mut measurement = Measurement::new(workload, Seed::new(u64::MAX), Clock::Real);
        for ms in 1..=2_500 {
            measurement.record(Op::Read, Bytes::from_kib(8), Nanos::from_millis(ms), Nanos::from_micros(100));
            measurement.record(Op::Write, Bytes::from_kib(8), Nanos::from_millis(ms), Nanos::from_micros(300));
        }
        measurement.cpu = Some(Cpu { user: Nanos::from_millis(250), system: Nanos::from_millis(1_000) });
        measurement
    }

    /// 20,000 random reads of 4 KiB from a simulated drive in a second, all of 800 µs but one of 12 ms.
    pub(super) fn reads() -> Measurement {
        let workload = Workload {
            pattern: Pattern::RandRead,
            queue_depth: 32,
            stop: Stop::after_requests(20_000),
            ..Workload::default()
        };
        let mut measurement = Measurement::new(workload, Seed::new(7), Clock::Virtual);
        for i in 1..=20_000 {
            let latency = if i == 9 { Nanos::from_millis(12) } else { Nanos::from_micros(800) };
            measurement.record(Op::Read, Bytes::from_kib(4), Nanos::from_micros(50).times(i), latency);
        }
        measurement.drive = Some(Counters { pages_read: 20_000, page: Bytes::from_kib(4), ..Counters::default() });
        measurement
    }

    /// As many random writes as [`reads`] has reads, for each of which flash programmed two pages and a half.
    pub(super) fn writes() -> Measurement {
        let workload = Workload { pattern: Pattern::RandWrite, stop: Stop::after_requests(4), ..Workload::default() };
        let mut measurement = Measurement::new(workload, Seed::new(7), Clock::Virtual);
        for i in 1..=4 {
            measurement.record(Op::Write, Bytes::from_kib(4), Nanos::from_millis(i), Nanos::from_millis(1));
        }
        measurement.drive = Some(Counters {
            host_written: Bytes::from_kib(16),
            pages_programmed: 10,
            page: Bytes::from_kib(4),
            ..Counters::default()
        });
        measurement
    }

    /// Nothing was measured and no time has passed.
    pub(super) fn nothing() -> Measurement {
        Measurement::new(Workload::default(), Seed::new(0), Clock::Virtual)
    }

    pub(super) fn single<'a>(measurement: &'a Measurement, findings: &'a [String]) -> Single<'a> {
        let timestamp_ms = 1_767_225_600_123;
        Single { name: "job", target: "sim:x25-m", version: "0.1.0", timestamp_ms, measurement, findings }
    }
}
