//! One measurement as JSON: all of it.

use block::{Bytes, Nanos};
use drive::Counters;
use engine::{Clock, Cpu, Flow, TICK, Tick};
use serde::Serialize;
use stats::Histogram;
use workload::Workload;

use super::{Single, per_second};

/// All of a measurement as one JSON object.
///
/// Fields of the workload have fio's names. Sizes are in bytes, `bandwidth` in bytes a second; names that end in
/// `_ns` are nanoseconds. What was not asked or measured is `null`. The seed is text, because a number in
/// JavaScript holds no 64 bits.
pub fn json(single: &Single) -> String {
    let measurement = single.measurement;
    let direction = |flow| Direction::of(flow, measurement.elapsed);
    let document = Document {
        assay: single.version,
        name: single.name,
        target: single.target,
        timestamp_ms: single.timestamp_ms,
        workload: Asked::of(&measurement.workload),
        seed: measurement.seed.to_string(),
        clock: measurement.clock,
        elapsed_ns: measurement.elapsed,
        read: direction(&measurement.read),
        write: direction(&measurement.write),
        trim: direction(&measurement.trim),
        series_interval_ns: TICK,
        series: measurement.series.iter().map(Interval::of).collect(),
        cpu: measurement.cpu.map(|Cpu { user, system }| Processor { user_ns: user, system_ns: system }),
        drive: measurement.drive.map(|counters| Activity::of(&counters)),
        findings: single.findings,
    };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    assay: &'a str,
    name: &'a str,
    target: &'a str,
    timestamp_ms: i64,
    workload: Asked,
    seed: String,
    clock: Clock,
    elapsed_ns: Nanos,
    read: Direction,
    write: Direction,
    trim: Direction,
    series_interval_ns: Nanos,
    /// The last may cover less than the interval.
    series: Vec<Interval>,
    cpu: Option<Processor>,
    drive: Option<Activity>,
    findings: &'a [String],
}

/// A workload in fio's words.
#[derive(Serialize)]
struct Asked {
    rw: String,
    rwmixread: Option<u8>,
    bs: Bytes,
    iodepth: u32,
    numjobs: u32,
    offset: Bytes,
    size: Option<Bytes>,
    runtime_ns: Option<Nanos>,
    ramp_time_ns: Nanos,
    number_ios: Option<u64>,
    /// Of all workers together.
    io_size_total: Option<Bytes>,
}

impl Asked {
    fn of(workload: &Workload) -> Self {
        Self {
            rw: workload.pattern.to_string(),
            rwmixread: workload.pattern.is_mixed().then_some(workload.read_percent),
            bs: workload.block,
            iodepth: workload.queue_depth,
            numjobs: workload.workers,
            offset: workload.offset,
            size: workload.size,
            runtime_ns: workload.stop.time,
            ramp_time_ns: workload.ramp,
            number_ios: workload.stop.requests,
            io_size_total: workload.stop.bytes,
        }
    }
}

#[derive(Serialize)]
struct Direction {
    requests: u64,
    bytes: Bytes,
    iops: f64,
    bandwidth: f64,
    /// None where there are no requests.
    latency_ns: Option<Latency>,
}

impl Direction {
    fn of(flow: &Flow, elapsed: Nanos) -> Self {
        Self {
            requests: flow.requests,
            bytes: flow.bytes,
            iops: per_second(flow.requests, elapsed),
            bandwidth: per_second(flow.bytes.get(), elapsed),
            latency_ns: (flow.requests > 0).then(|| Latency::of(&flow.latency)),
        }
    }
}

#[derive(Serialize)]
struct Latency {
    min: Nanos,
    mean: f64,
    stddev: f64,
    p50: Nanos,
    p90: Nanos,
    p99: Nanos,
    p99_9: Nanos,
    p99_99: Nanos,
    max: Nanos,
}

impl Latency {
    fn of(latency: &Histogram) -> Self {
        Self {
            min: latency.min(),
            mean: latency.mean(),
            stddev: latency.deviation(),
            p50: latency.percentile(50.0),
            p90: latency.percentile(90.0),
            p99: latency.percentile(99.0),
            p99_9: latency.percentile(99.9),
            p99_99: latency.percentile(99.99),
            max: latency.max(),
        }
    }
}

/// What was completed in one interval of the series.
#[derive(Serialize)]
struct Interval {
    reads: u64,
    writes: u64,
    trims: u64,
    bytes: Bytes,
    /// None where nothing was completed.
    latency_mean_ns: Option<f64>,
    latency_max_ns: Option<Nanos>,
}

impl Interval {
    fn of(tick: &Tick) -> Self {
        let requests = tick.requests();
        let mean = || tick.latency_total.as_nanos() as f64 / requests as f64;
        Self {
            reads: tick.reads,
            writes: tick.writes,
            trims: tick.trims,
            bytes: tick.bytes,
            latency_mean_ns: (requests > 0).then(mean),
            latency_max_ns: (requests > 0).then_some(tick.latency_max),
        }
    }
}

#[derive(Serialize)]
struct Processor {
    user_ns: Nanos,
    system_ns: Nanos,
}

/// What the simulated drive did meanwhile.
#[derive(Serialize)]
struct Activity {
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    host_read: Bytes,
    host_written: Bytes,
    host_trimmed: Bytes,
    pages_read: u64,
    pages_programmed: u64,
    pages_moved: u64,
    blocks_erased: u64,
    page: Bytes,
    write_amplification: Option<f64>,
}

impl Activity {
    fn of(counters: &Counters) -> Self {
        let [reads, writes, trims, flushes] = counters.requests;
        Self {
            reads,
            writes,
            trims,
            flushes,
            host_read: counters.host_read,
            host_written: counters.host_written,
            host_trimmed: counters.host_trimmed,
            pages_read: counters.pages_read,
            pages_programmed: counters.pages_programmed,
            pages_moved: counters.pages_moved,
            blocks_erased: counters.blocks_erased,
            page: counters.page,
            write_amplification: counters.write_amplification(),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Measurement;
    use serde_json::{Value, json};

    use super::super::samples::{mixed, nothing, reads, single, writes};
    use super::*;

    fn parsed(measurement: &Measurement, findings: &[String]) -> Value {
        let text = super::json(&single(measurement, findings));
        assert!(text.ends_with("}\n"), "{text}");
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_real_run_has_its_conditions_directions_and_processor_time() {
        let document = parsed(&mixed(), &["Unsteady, \"hot\".\n".to_owned()]);
        assert_eq!(document["assay"], "0.1.0");
        assert_eq!((&document["seed"], &document["clock"]), (&json!("18446744073709551615"), &json!("real")));
        assert_eq!(
            document["workload"],
            json!({
                "rw": "randrw", "rwmixread": 67, "bs": 8192, "iodepth": 32, "numjobs": 2, "offset": 0, "size": 1 << 30,
                "runtime_ns": 2_500_000_000_u64, "ramp_time_ns": 0, "number_ios": null, "io_size_total": 1_u64 << 32,
            })
        );
        assert_eq!(
            document["write"],
            json!({
                "requests": 2500, "bytes": 20_480_000, "iops": 1000.0, "bandwidth": 8_192_000.0,
                "latency_ns": {
                    "min": 300_000, "mean": 300_000.0, "stddev": 0.0, "p50": 300_000, "p90": 300_000, "p99": 300_000,
                    "p99_9": 300_000, "p99_99": 300_000, "max": 300_000,
                },
            })
        );
        assert_eq!(
            document["trim"],
            json!({ "requests": 0, "bytes": 0, "iops": 0.0, "bandwidth": 0.0, "latency_ns": null })
        );
        assert_eq!(document["cpu"], json!({ "user_ns": 250_000_000, "system_ns": 1_000_000_000 }));
        assert_eq!(document["drive"], Value::Null);
        assert_eq!(document["findings"], json!(["Unsteady, \"hot\".\n"]));
    }

    #[test]
    fn the_series_has_an_entry_a_second() {
        let document = parsed(&mixed(), &[]);
        assert_eq!(document["series_interval_ns"], 1_000_000_000);
        let series = document["series"].as_array().unwrap();
        let reads: Vec<&Value> = series.iter().map(|interval| &interval["reads"]).collect();
        assert_eq!(reads, [999, 1000, 501]);
        assert_eq!(
            series[1],
            json!({
                "reads": 1000, "writes": 1000, "trims": 0, "bytes": 16_384_000,
                "latency_mean_ns": 200_000.0, "latency_max_ns": 300_000,
            })
        );
    }

    #[test]
    fn a_simulated_drive_tells_what_it_did() {
        assert_eq!(parsed(&writes(), &[])["drive"]["write_amplification"], 2.5);
        let document = parsed(&reads(), &[]);
        assert_eq!(document["drive"]["pages_read"], 20_000);
        assert_eq!(document["drive"]["write_amplification"], Value::Null);
        assert_eq!((&document["cpu"], &document["workload"]["rwmixread"]), (&Value::Null, &Value::Null));
        assert_eq!(document["read"]["latency_ns"]["max"], 12_000_000);
    }

    #[test]
    fn nothing_measured_is_a_document_too() {
        let document = parsed(&nothing(), &[]);
        assert_eq!((&document["read"]["iops"], &document["series"]), (&json!(0.0), &json!([])));
    }
}
