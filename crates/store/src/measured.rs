//! Measurements as rows.

use block::{Bytes, Nanos, Seed};
use measurement::{Clock, Flow, Measurement};
use rusqlite::{Connection, Row, named_params};
use serde::de::DeserializeOwned;
use stats::Histogram;

use crate::budget::Rows;
use crate::error::{Cause, doubled};
use crate::run::figure;
use crate::sealed::{seal, unseal};
use crate::{RunId, StoreError, series};

/// A measurement with its place in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMeasurement {
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
) -> Result<(), Cause> {
    let latency = measurement.latency();
    let percentile = |percent| latency.percentile(percent).as_nanos() as i64;
    let json = |value: serde_json::Result<String>| value.expect("numbers and names always serialise");
    connection
        .prepare_cached(
            "INSERT INTO measurement (run, step, cell, repeat, seed, clock, workload, elapsed_ns, iops, bytes_per_s, \
             latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p9999_ns, read_requests, read_bytes, \
             read_latency, write_requests, write_bytes, write_latency, trim_requests, trim_bytes, trim_latency, \
             series, cpu, drive, flush_requests, flush_latency, \
             read_service, write_service, trim_service, failures, verified, energy) VALUES (:run, :step, :cell, :repeat, :seed, :clock, :workload, :elapsed, :iops, \
             :rate, :mean, :p50, :p99, :p9999, :reads, :read_bytes, :read_latency, :writes, :write_bytes, \
             :write_latency, :trims, :trim_bytes, :trim_latency, :series, :cpu, :drive, \
             :flushes, :flush_latency, :read_service, :write_service, :trim_service, :failures, :verified, :energy)",
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
            ":read_latency": seal(measurement.read.latency.to_bytes()),
            ":writes": measurement.write.requests as i64,
            ":write_bytes": measurement.write.bytes.get() as i64,
            ":write_latency": seal(measurement.write.latency.to_bytes()),
            ":trims": measurement.trim.requests as i64,
            ":trim_bytes": measurement.trim.bytes.get() as i64,
            ":trim_latency": seal(measurement.trim.latency.to_bytes()),
            ":series": seal(series::encode(&measurement.series)),
            ":cpu": measurement.cpu.as_ref().map(|cpu| json(serde_json::to_string(cpu))),
            ":drive": measurement.drive.map(|drive| json(serde_json::to_string(&drive))),
            ":flushes": measurement.flush.requests as i64,
            ":flush_latency":
                (measurement.flush.requests > 0).then(|| seal(measurement.flush.latency.to_bytes())),
            ":read_service": service(&measurement.read),
            ":write_service": service(&measurement.write),
            ":trim_service": service(&measurement.trim),
            ":failures":
                (!measurement.failures.is_empty()).then(|| json(serde_json::to_string(&measurement.failures))),
            ":verified": measurement.verified.as_ref().map(|verified| json(serde_json::to_string(verified))),
            ":energy": measurement.energy.as_ref().map(|energy| json(serde_json::to_string(energy))),
        })
        .map(drop)
        .map_err(|error| doubled(error, run, step, cell, repeat))
}

/// The latencies from submission, where there are any.
fn service(flow: &Flow) -> Option<Vec<u8>> {
    flow.service.as_ref().map(|service| seal(service.to_bytes()))
}

/// Takes back one measurement, if it is there.
pub fn delete(connection: &Connection, run: RunId, step: &str, cell: &str, repeat: u32) -> Result<(), Cause> {
    let place = named_params! { ":run": run.0, ":step": step, ":cell": cell, ":repeat": repeat };
    connection
        .prepare_cached(
            "DELETE FROM measurement WHERE run = :run AND step = :step AND cell = :cell AND repeat = :repeat",
        )?
        .execute(place)?;
    Ok(())
}

/// The rows of a run in the order of their numbers. Only those are sorted: sorting the rows would take the memory of all.
pub fn in_order(columns: &str, table: &str, number: &str) -> String {
    let own = format!("SELECT {number} FROM {table} WHERE run = ?1");
    format!("SELECT {columns} FROM {table} WHERE {number} IN ({own}) ORDER BY {number}")
}

/// Reads all measurements of a run in the order in which they were written.
pub fn select(connection: &Connection, run: RunId, mut order: Rows) -> Result<Vec<StoredMeasurement>, Cause> {
    let mut statement = connection.prepare(&in_order("*", "measurement", "id"))?;
    let mut rows = statement.query([run.0])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        order.next(row.get("id")?, row)?;
        all.push(stored(row)?);
    }
    Ok(all)
}

/// A measurement of a row with all columns, checked.
pub fn stored(row: &Row) -> Result<StoredMeasurement, Cause> {
    let (step, key, repeat): (String, String, u32) = (row.get("step")?, row.get("cell")?, row.get("repeat")?);
    let damaged = |what| StoreError::Damaged { what, step: step.clone(), cell: key.clone(), repeat };
    let flow = |requests, bytes, latency, service, what| -> Result<Flow, Cause> {
        let requests = figure(row, requests)?;
        let latency = histogram(&row.get::<_, Vec<u8>>(latency)?, Some(requests)).ok_or_else(|| damaged(what))?;
        let service = row.get::<_, Option<Vec<u8>>>(service)?;
        let service = service.map(|sealed| histogram(&sealed, None).ok_or_else(|| damaged(what)));
        let service = service.transpose()?.map(Box::new);
        Ok(Flow { requests, bytes: Bytes::new(figure(row, bytes)?), latency, service })
    };
    // Measurements without flushes, and those from before flushes were counted, have no histogram of them.
    let flush = match figure(row, "flush_requests")? {
        0 => Flow::default(),
        requests => {
            let sealed: Option<Vec<u8>> = row.get("flush_latency")?;
            let latency = histogram(&sealed.unwrap_or_default(), Some(requests));
            Flow { requests, latency: latency.ok_or_else(|| damaged("latency of flushes"))?, ..Flow::default() }
        }
    };
    let sealed: Vec<u8> = row.get("series")?;
    let measurement = Measurement {
        workload: parsed(&row.get::<_, String>("workload")?).ok_or_else(|| damaged("workload"))?,
        seed: row.get::<_, String>("seed")?.parse().map(Seed::new).map_err(|_| damaged("seed"))?,
        clock: if row.get::<_, String>("clock")? == "real" { Clock::Real } else { Clock::Virtual },
        elapsed: Nanos::from_nanos(figure(row, "elapsed_ns")?),
        read: flow("read_requests", "read_bytes", "read_latency", "read_service", "latency of reads")?,
        write: flow("write_requests", "write_bytes", "write_latency", "write_service", "latency of writes")?,
        trim: flow("trim_requests", "trim_bytes", "trim_latency", "trim_service", "latency of trims")?,
        flush,
        series: unseal(&sealed).and_then(series::decode).ok_or_else(|| damaged("series"))?,
        cpu: optional(row.get("cpu")?).ok_or_else(|| damaged("CPU time"))?,
        failures: optional(row.get("failures")?).ok_or_else(|| damaged("failed requests"))?.unwrap_or_default(),
        verified: optional(row.get("verified")?).ok_or_else(|| damaged("verified data"))?,
        drive: optional(row.get("drive")?).ok_or_else(|| damaged("drive's counters"))?,
        energy: optional(row.get("energy")?).ok_or_else(|| damaged("energy"))?,
        began: None,
    };
    Ok(StoredMeasurement { step: step.clone(), key: key.clone(), repeat, measurement })
}

/// The histogram that was sealed; none if it is damaged, or not one of so many requests.
fn histogram(sealed: &[u8], requests: Option<u64>) -> Option<Histogram> {
    let histogram = Histogram::from_bytes(unseal(sealed)?).ok()?;
    requests.is_none_or(|requests| histogram.count() == requests).then_some(histogram)
}

/// What a text of JSON says; none if it says something else.
fn parsed<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// The same where there may be no text.
fn optional<T: DeserializeOwned>(text: Option<String>) -> Option<Option<T>> {
    text.map_or(Some(None), |text| parsed(&text).map(Some))
}
