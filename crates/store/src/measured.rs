//! Measurements as rows.

use block::{Bytes, Nanos, Seed};
use engine::{Clock, Flow, Measurement};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, named_params};
use serde::de::DeserializeOwned;
use stats::Histogram;

use crate::{RunId, StoreError, series};

/// A measurement with its place in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The step's name.
    pub step: String,
    /// The cell's key.
    pub key: String,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// What was measured.
    pub measurement: Measurement,
}

/// Writes one measurement.
pub fn insert(
    connection: &Connection,
    run: RunId,
    step: &str,
    cell: &str,
    repeat: u32,
    measurement: &Measurement,
) -> Result<(), StoreError> {
    let latency = measurement.latency();
    let percentile = |percent| latency.percentile(percent).as_nanos() as i64;
    let json = |value: serde_json::Result<String>| value.expect("numbers and names always serialise");
    connection
        .prepare_cached(
            "INSERT INTO measurement (run, step, cell, repeat, seed, clock, workload, elapsed_ns, iops, bytes_per_s, \
             latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p9999_ns, read_requests, read_bytes, \
             read_latency, write_requests, write_bytes, write_latency, trim_requests, trim_bytes, trim_latency, \
             series, cpu, drive) VALUES (:run, :step, :cell, :repeat, :seed, :clock, :workload, :elapsed, :iops, \
             :rate, :mean, :p50, :p99, :p9999, :reads, :read_bytes, :read_latency, :writes, :write_bytes, \
             :write_latency, :trims, :trim_bytes, :trim_latency, :series, :cpu, :drive)",
        )?
        .execute(named_params! {
            ":run": run.0,
            ":step": step,
            ":cell": cell,
            ":repeat": repeat,
            ":seed": measurement.seed.to_string(),
            ":clock": match measurement.clock { Clock::Virtual => "virtual", Clock::Real => "real" },
            ":workload": json(serde_json::to_string(&measurement.workload)),
            ":elapsed": measurement.elapsed.as_nanos() as i64,
            ":iops": measurement.iops(),
            ":rate": measurement.bandwidth(),
            ":mean": latency.mean(),
            ":p50": percentile(50.0),
            ":p99": percentile(99.0),
            ":p9999": percentile(99.99),
            ":reads": measurement.read.requests as i64,
            ":read_bytes": measurement.read.bytes.get() as i64,
            ":read_latency": measurement.read.latency.to_bytes(),
            ":writes": measurement.write.requests as i64,
            ":write_bytes": measurement.write.bytes.get() as i64,
            ":write_latency": measurement.write.latency.to_bytes(),
            ":trims": measurement.trim.requests as i64,
            ":trim_bytes": measurement.trim.bytes.get() as i64,
            ":trim_latency": measurement.trim.latency.to_bytes(),
            ":series": series::encode(&measurement.series),
            ":cpu": measurement.cpu.map(|cpu| json(serde_json::to_string(&cpu))),
            ":drive": measurement.drive.map(|drive| json(serde_json::to_string(&drive))),
        })?;
    Ok(())
}

/// Reads all measurements of a run in the order in which they were written.
pub fn select(connection: &Connection, run: RunId) -> Result<Vec<Stored>, StoreError> {
    let mut statement = connection.prepare("SELECT * FROM measurement WHERE run = ?1 ORDER BY id")?;
    let mut rows = statement.query([run.0])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(stored(row)?);
    }
    Ok(all)
}

fn stored(row: &Row) -> Result<Stored, StoreError> {
    let (step, key): (String, String) = (row.get("step")?, row.get("cell")?);
    let damaged = |what| StoreError::Damaged { what, step: step.clone(), cell: key.clone() };
    let flow = |requests, bytes, latency, what| -> Result<Flow, StoreError> {
        let latency = Histogram::from_bytes(&row.get::<_, Vec<u8>>(latency)?).map_err(|_| damaged(what))?;
        let requests = row.get::<_, i64>(requests)? as u64;
        if latency.count() != requests {
            return Err(damaged(what));
        }
        Ok(Flow { requests, bytes: Bytes::new(row.get::<_, i64>(bytes)? as u64), latency })
    };
    let measurement = Measurement {
        workload: parsed(row, "workload")?.ok_or_else(|| damaged("workload"))?,
        seed: seed(row, "seed")?,
        clock: if row.get::<_, String>("clock")? == "real" { Clock::Real } else { Clock::Virtual },
        elapsed: Nanos::from_nanos(row.get::<_, i64>("elapsed_ns")? as u64),
        read: flow("read_requests", "read_bytes", "read_latency", "latencies of reads")?,
        write: flow("write_requests", "write_bytes", "write_latency", "latencies of writes")?,
        trim: flow("trim_requests", "trim_bytes", "trim_latency", "latencies of trims")?,
        series: series::decode(&row.get::<_, Vec<u8>>("series")?).ok_or_else(|| damaged("series"))?,
        cpu: parsed(row, "cpu")?,
        drive: parsed(row, "drive")?,
    };
    Ok(Stored { step: step.clone(), key: key.clone(), repeat: row.get("repeat")?, measurement })
}

/// A column of JSON; none where it is null.
fn parsed<T: DeserializeOwned>(row: &Row, column: &str) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| conversion(row, column, error))).transpose()
}

/// A seed, which is kept as text.
pub fn seed(row: &Row, column: &str) -> rusqlite::Result<Seed> {
    let text: String = row.get(column)?;
    text.parse().map(Seed::new).map_err(|error| conversion(row, column, error))
}

fn conversion(row: &Row, column: &str, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
