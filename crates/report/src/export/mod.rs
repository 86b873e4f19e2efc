//! One workload's measurement as a document: for people, for programs, for parsers of fio's output; and all of a run's.

mod cells;
mod csv;
mod fio;
mod json;
mod markdown;
#[cfg(feature = "parquet")]
mod parquet;
mod review;
mod run;
mod series;
mod table;
mod text;

use block::{Nanos, Seed};
use measurement::{Clock, Flow, Measurement};

pub use cells::{cells_csv, cells_json};
pub use csv::csv;
pub(crate) use csv::line as csv_line;
pub use fio::{FioJob, FioTimes, TERSE_VERSIONS, WorkerLogs, fio, heading, normal, terse};
pub use json::json;
pub use markdown::review_markdown;
pub(crate) use markdown::{escaped as markdown_text, table as markdown_table};
#[cfg(feature = "parquet")]
pub use parquet::review_parquet;
pub use review::{review_csv, review_json, review_jsonl};
pub use run::{RunDocument, runs_json};
pub use series::series;
pub use table::{ColumnKind, TableColumn, review_table, series_table};
pub use text::text;

/// A measurement with what a document says about it.
#[derive(Clone, Copy, Debug)]
pub struct Single<'a> {
    /// The name of the job.
    pub name: &'a str,
    /// What it ran on, as it was asked for.
    pub target: &'a str,
    /// The program's version.
    pub version: &'a str,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub timestamp_ms: i64,
    /// The seed that repeats it, of which the measurement's own was derived.
    pub seed: Seed,
    /// Whether requests went around the page cache, which a simulated drive does not have.
    pub direct: bool,
    /// What was measured.
    pub measurement: &'a Measurement,
    /// Doubts about it.
    pub findings: &'a [String],
}

impl Single<'_> {
    /// Reads, writes and trims, in this order.
    fn flows(&self) -> [(&'static str, &Flow); 3] {
        let Measurement { read, write, trim, .. } = self.measurement;
        [("read", read), ("write", write), ("trim", trim)]
    }

    /// `amount` a second; zero when no time has passed.
    fn per_second(&self, amount: u64) -> f64 {
        match self.measurement.elapsed {
            Nanos::ZERO => 0.0,
            elapsed => amount as f64 / elapsed.as_secs_f64(),
        }
    }

    fn clock(&self) -> &'static str {
        match self.measurement.clock {
            Clock::Virtual => "virtual",
            Clock::Real => "real",
        }
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use drive::Counters;
    use measurement::{Cpu, Handover, Method};
    use workload::{Pattern, Stop, Workload};

    use super::*;

    /// Two reads and a write every millisecond for two seconds: 100 µs and 250 µs, but one read of 5 ms.
    pub(super) fn mixed() -> Measurement {
        let workload = Workload {
            pattern: Pattern::RandRw,
            read_percent: 67,
            queue_depth: 32,
            workers: 2,
            offset: Bytes::from_mib(1),
            size: Some(Bytes::from_gib(1)),
            stop: Stop { time: Some(Nanos::from_secs(2)), ..Stop::after_bytes(Bytes::from_gib(2)) },
            ramp: Nanos::from_millis(500),
            ..Workload::default()
        };
        let mut measurement = Measurement::new(workload, Seed::new(u64::MAX), Clock::Real);
        for ms in 1..=2000 {
            let read = Nanos::from_micros(if ms == 1500 { 5_000 } else { 100 });
            for (op, latency) in [(Op::Read, read), (Op::Read, read), (Op::Write, Nanos::from_micros(250))] {
                measurement.record(op, Bytes::from_kib(4), Nanos::from_millis(ms), latency);
            }
        }
        measurement.cpu = Some(Cpu {
            user: Nanos::from_millis(100),
            system: Nanos::from_millis(300),
            switches_voluntary: 6_000,
            switches_involuntary: 3_000,
            halted: Nanos::from_millis(20),
            submission: None,
            disks: Vec::new(),
            handover: Some(Handover { method: Method::Deferred, registered: true, refusal: None }),
        });
        measurement.drive = Some(Counters {
            requests: [4000, 2000, 0, 0],
            host_written: Bytes::from_kib(8000),
            pages_programmed: 3000,
            page: Bytes::from_kib(4),
            ..Counters::default()
        });
        measurement
    }

    /// A measurement in which nothing was completed.
    pub(super) fn nothing() -> Measurement {
        Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual)
    }

    /// `measurement` with names that need care, and two findings.
    pub(super) fn single(measurement: &Measurement) -> Single<'_> {
        static FINDINGS: std::sync::LazyLock<[String; 2]> =
            std::sync::LazyLock::new(|| ["The host was busy, so it says.".into(), "Not \"steady\".".into()]);
        Single {
            name: "mine, \"quoted\"",
            target: "./scratch.bin",
            version: "0.1.0",
            timestamp_ms: 1_767_225_605_042,
            seed: Seed::new(u64::MAX),
            direct: true,
            measurement,
            findings: &*FINDINGS,
        }
    }
}
