//! The program's own JSON: everything that was measured, with units in the names.

use std::collections::BTreeMap;

use block::{Bytes, Nanos};
use drive::Counters;
use measurement::{Consumption, Cpu, Failures, Flow, Handover, Interval, Measurement, TICK, Verified};
use plan::Metric;
use serde::Serialize;
use stats::Histogram;
use workload::{Replay, ReplayPace, TraceDigest, Workload};

use super::Single;

/// A measurement as one JSON object; ends with a line feed.
///
/// Fields of the workload have fio's names, sizes are bytes, and what was not measured is null, never zero.
/// Rates are per second. The seed is text, for JavaScript's numbers hold no 64 bits.
pub fn json(single: &Single) -> String {
    let document = Document {
        assay: single.version,
        job: single.name,
        target: single.target,
        timestamp_ms: single.timestamp_ms,
        measured: MeasurementDocument::of(single, None),
        findings: single.findings,
    };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    assay: &'a str,
    job: &'a str,
    target: &'a str,
    timestamp_ms: i64,
    #[serde(flatten)]
    measured: MeasurementDocument<'a>,
    findings: &'a [String],
}

/// What was asked and what was measured.
#[derive(Serialize)]
pub(super) struct MeasurementDocument<'a> {
    workload: WorkloadDocument,
    seed: String,
    clock: &'static str,
    elapsed_ns: u64,
    read: Direction,
    write: Direction,
    trim: Direction,
    flush: Direction,
    /// The longest that an interval can be.
    series_interval_ns: u64,
    series: Vec<IntervalDocument>,
    cpu: Option<Processor>,
    failed: Vec<Failed>,
    verified: Option<Checked>,
    drive: Option<DriveDocument>,
    energy: Option<Energy<'a>>,
    /// Every figure that tables have, by its name for programs and in its own unit.
    figures: BTreeMap<&'static str, f64>,
}

impl<'a> MeasurementDocument<'a> {
    /// `round` is how long each round is, where rounds of that time follow one another in the measurement.
    pub(super) fn of(single: &Single<'a>, round: Option<Nanos>) -> Self {
        let measurement = single.measurement;
        let [read, write, trim] = single.flows().map(|(_, flow)| Direction::of(single, flow));
        Self {
            workload: WorkloadDocument::of(&measurement.workload),
            seed: single.seed.to_string(),
            clock: single.clock(),
            elapsed_ns: measurement.elapsed.as_nanos(),
            read,
            write,
            trim,
            flush: Direction::of(single, &measurement.flush),
            series_interval_ns: round.map_or(TICK, |round| round.min(TICK)).as_nanos(),
            series: measurement.intervals(round).map(|one| IntervalDocument::of(&one)).collect(),
            cpu: measurement.cpu.as_ref().map(Processor::of),
            failed: Failed::all(&measurement.failures),
            verified: measurement.verified.as_ref().map(Checked::of),
            drive: measurement.drive.as_ref().map(|drive| DriveDocument::of(drive, measurement.elapsed)),
            energy: measurement.energy.as_ref().map(|energy| Energy::of(energy, measurement)),
            figures: Metric::tabled().filter_map(|one| Some((one.key(), one.of(measurement)?))).collect(),
        }
    }
}

/// The workload, with fio's names.
#[derive(Serialize)]
struct WorkloadDocument {
    rw: String,
    rwmixread: u8,
    /// Null where requests have several sizes.
    bs: Option<Bytes>,
    iodepth: u32,
    numjobs: u32,
    offset: Bytes,
    size: Option<Bytes>,
    runtime_ns: Option<Nanos>,
    number_ios: Option<u64>,
    /// Of all workers together.
    io_size: Option<Bytes>,
    ramp_time_ns: Nanos,
    /// What else was asked for, by fio's names as fio takes it.
    options: BTreeMap<&'static str, String>,
    /// What was replayed; left out where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Replayed>,
}

#[derive(Serialize)]
struct Replayed {
    source: String,
    pace: &'static str,
    /// In percent of the recorded speed; null where the recorded times were passed over.
    time_scale: Option<u32>,
    scale: u32,
    /// Null where the trace is not known.
    trace: Option<TraceDigest>,
}

impl Replayed {
    fn of(replay: &Replay) -> Self {
        let (pace, time_scale) = match replay.pace {
            ReplayPace::Recorded { percent } => ("recorded", Some(percent)),
            ReplayPace::AsFast => ("as_fast", None),
            ReplayPace::Think => ("think", None),
            ReplayPace::ThinkAt { percent } => ("think", Some(percent)),
        };
        Self { source: replay.source.clone(), pace, time_scale, scale: replay.scale, trace: replay.digest }
    }
}

impl WorkloadDocument {
    fn of(workload: &Workload) -> Self {
        Self {
            rw: workload.rw(),
            rwmixread: workload.reads(),
            bs: workload.sizes.is_none().then_some(workload.block),
            iodepth: workload.queue_depth,
            numjobs: workload.workers,
            offset: workload.offset,
            size: workload.size,
            runtime_ns: workload.stop.time,
            number_ios: workload.stop.requests,
            io_size: workload.stop.bytes,
            ramp_time_ns: workload.ramp,
            options: workload.options().into_iter().collect(),
            replay: workload.replay.as_ref().map(Replayed::of),
        }
    }
}

#[derive(Serialize)]
struct Direction {
    requests: u64,
    bytes: Bytes,
    iops: f64,
    bandwidth_bytes: f64,
    latency_ns: Option<LatencyDocument>,
    /// From submission, where `latency_ns` counts from when a request came.
    service_latency_ns: Option<LatencyDocument>,
}

impl Direction {
    fn of(single: &Single, flow: &Flow) -> Self {
        Self {
            requests: flow.requests,
            bytes: flow.bytes,
            iops: single.per_second(flow.requests),
            bandwidth_bytes: single.per_second(flow.bytes.get()),
            latency_ns: (!flow.latency.is_empty()).then(|| LatencyDocument::of(&flow.latency)),
            service_latency_ns: flow.service.as_deref().map(LatencyDocument::of),
        }
    }
}

#[derive(Serialize)]
struct LatencyDocument {
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

impl LatencyDocument {
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

/// One interval of the series.
#[derive(Serialize)]
struct IntervalDocument {
    start_ns: Nanos,
    length_ns: Nanos,
    reads: u64,
    writes: u64,
    trims: u64,
    bytes: Bytes,
    latency_mean_ns: Option<f64>,
    /// This and the other percentiles: within 1.6 %, and null for measurements from before they were kept.
    latency_p50_ns: Option<Nanos>,
    latency_p99_ns: Option<Nanos>,
    latency_p99_9_ns: Option<Nanos>,
    latency_max_ns: Option<Nanos>,
}

impl IntervalDocument {
    fn of(interval: &Interval) -> Self {
        let Interval { start, length, tick, .. } = *interval;
        let requests = tick.requests();
        Self {
            start_ns: start,
            length_ns: length,
            reads: tick.reads,
            writes: tick.writes,
            trims: tick.trims,
            bytes: tick.bytes,
            latency_mean_ns: (requests > 0).then(|| tick.latency_total.as_nanos() as f64 / requests as f64),
            latency_p50_ns: tick.percentile(50.0),
            latency_p99_ns: tick.percentile(99.0),
            latency_p99_9_ns: tick.percentile(99.9),
            latency_max_ns: (requests > 0).then_some(tick.latency_max),
        }
    }
}

#[derive(Serialize)]
struct Processor {
    user_ns: u64,
    system_ns: u64,
    switches_voluntary: u64,
    switches_involuntary: u64,
    /// How requests were handed to the kernel.
    handover: Option<Handover>,
    /// For how long the program was suspended or had no processor.
    halted_ns: u64,
}

impl Processor {
    fn of(cpu: &Cpu) -> Self {
        let Cpu { user, system, switches_voluntary, switches_involuntary, handover, halted, .. } = *cpu;
        let [user_ns, system_ns, halted_ns] = [user, system, halted].map(Nanos::as_nanos);
        Self { user_ns, system_ns, switches_voluntary, switches_involuntary, handover, halted_ns }
    }
}

/// Requests that failed, which are in no other figure.
#[derive(Serialize)]
struct Failed {
    op: String,
    /// The system's number; null where less was moved than was asked.
    errno: Option<i32>,
    reason: String,
    requests: u64,
}

impl Failed {
    fn all(failures: &Failures) -> Vec<Self> {
        let each = failures.iter().map(|failure| Self {
            op: failure.op.to_string(),
            errno: failure.errno,
            reason: failure.reason(),
            requests: failure.count,
        });
        each.collect()
    }
}

/// What came of checking written data; null where it was not asked for.
#[derive(Serialize)]
struct Checked {
    reads: u64,
    damaged_blocks: u64,
    unread_blocks: u64,
    /// The first of the damaged blocks.
    damage: Vec<String>,
}

impl Checked {
    fn of(verified: &Verified) -> Self {
        Self {
            reads: verified.checked,
            damaged_blocks: verified.damaged,
            unread_blocks: verified.unread,
            damage: verified.first.iter().map(ToString::to_string).collect(),
        }
    }
}

/// What the simulated drive did.
#[derive(Serialize)]
struct DriveDocument {
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    host_read_bytes: Bytes,
    host_written_bytes: Bytes,
    host_trimmed_bytes: Bytes,
    page_bytes: Bytes,
    pages_read: u64,
    pages_programmed: u64,
    pages_moved: u64,
    blocks_erased: u64,
    /// All that was counted besides, by the counters' own names and with units; what was not is left out.
    #[serde(flatten)]
    others: BTreeMap<String, u64>,
    write_amplification: Option<f64>,
    /// What held a rig up; null where there is no rig.
    limit: Option<&'static str>,
}

/// Counters that a document has in fields of their own, or as its energy.
const APART: [&str; 10] = [
    "requests",
    "host_read",
    "host_written",
    "host_trimmed",
    "page",
    "pages_read",
    "pages_programmed",
    "pages_moved",
    "blocks_erased",
    "energy_nj",
];

/// Counters that are called otherwise in a document, as their units want or for clearness.
const RENAMED: [(&str, &str); 8] = [
    ("host_rejected", "host_rejected_bytes"),
    ("failed", "failed_commands"),
    ("repaired", "repaired_reads"),
    ("throttled", "throttled_ns"),
    ("host_busy", "host_busy_ns"),
    ("host_busiest", "host_busiest_ns"),
    ("controller_commands_busy", "controller_commands_busy_ns"),
    ("controller_data_busy", "controller_data_busy_ns"),
];

/// What was counted of all that is not in [`APART`], so that a new counter needs no line here.
fn others(counters: &Counters) -> BTreeMap<String, u64> {
    let all = serde_json::to_value(counters).expect("counters are numbers");
    let named = |name: &str| RENAMED.iter().find(|(counter, _)| *counter == name).map_or(name, |(_, to)| to).to_owned();
    let counted = |(name, value): (&String, &serde_json::Value)| {
        let count = value.as_u64().filter(|count| *count > 0 && !APART.contains(&name.as_str()))?;
        Some((named(name), count))
    };
    all.as_object().into_iter().flatten().filter_map(counted).collect()
}

impl DriveDocument {
    fn of(counters: &Counters, elapsed: Nanos) -> Self {
        let [reads, writes, trims, flushes] = counters.requests;
        Self {
            reads,
            writes,
            trims,
            flushes,
            host_read_bytes: counters.host_read,
            host_written_bytes: counters.host_written,
            host_trimmed_bytes: counters.host_trimmed,
            page_bytes: counters.page,
            pages_read: counters.pages_read,
            pages_programmed: counters.pages_programmed,
            pages_moved: counters.pages_moved,
            blocks_erased: counters.blocks_erased,
            others: others(counters),
            write_amplification: counters.write_amplification(),
            limit: counters.limit(elapsed).map(|limit| limit.part.name()),
        }
    }
}

/// What was consumed, by whoever metered it. What is not known is null, and a finding says why.
#[derive(Serialize)]
struct Energy<'a> {
    meter: &'a str,
    joules: Option<f64>,
    watts_mean: Option<f64>,
    watts_idle: Option<f64>,
    joules_above_idle: Option<f64>,
    joules_per_gib: Option<f64>,
    joules_per_thousand_requests: Option<f64>,
    /// Null where a drive keeps exact account.
    readings: Option<u64>,
}

impl<'a> Energy<'a> {
    fn of(energy: &'a Consumption, measurement: &Measurement) -> Self {
        Self {
            meter: &energy.meter,
            joules: energy.joules,
            watts_mean: energy.watts(measurement.elapsed),
            watts_idle: energy.idle_watts,
            joules_above_idle: energy.above_idle(measurement.elapsed),
            joules_per_gib: energy.per_gib(measurement.bytes()),
            joules_per_thousand_requests: energy.per_thousand(measurement.requests()),
            readings: energy.readings,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{mixed, nothing, single};
    use super::*;

    fn document(measurement: &measurement::Measurement) -> Value {
        serde_json::from_str(&super::json(&single(measurement))).unwrap()
    }

    #[test]
    fn every_figure_is_there_with_its_unit() {
        let document = document(&mixed());
        assert_eq!(document["job"], "mine, \"quoted\"");
        assert_eq!(document["seed"], "18446744073709551615");
        assert_eq!((&document["clock"], &document["elapsed_ns"]), (&json!("real"), &json!(2_000_000_000_u64)));
        assert_eq!(
            document["workload"],
            json!({
                "rw": "randrw", "rwmixread": 67, "bs": 4096, "iodepth": 32, "numjobs": 2, "offset": 1 << 20,
                "size": 1 << 30, "runtime_ns": 2_000_000_000_u64, "number_ios": null, "io_size": 2_u64 << 30,
                "ramp_time_ns": 500_000_000, "options": {},
            })
        );
        let read = &document["read"];
        assert_eq!((&read["requests"], &read["bytes"]), (&json!(4000), &json!(4000 * 4096)));
        assert_eq!((&read["iops"], &read["bandwidth_bytes"]), (&json!(2000.0), &json!(2000.0 * 4096.0)));
        let latency = &read["latency_ns"];
        assert_eq!((&latency["min"], &latency["max"]), (&json!(100_000), &json!(5_000_000)));
        assert_eq!(latency["mean"], (3998.0 * 100_000.0 + 2.0 * 5_000_000.0) / 4000.0);
        let deviation = 4_900_000.0 * (2.0 * 3998.0_f64).sqrt() / 4000.0;
        assert!((latency["stddev"].as_f64().unwrap() / deviation - 1.0).abs() < 1e-6, "{latency}");
        assert!((latency["p99"].as_f64().unwrap() / 100_000.0 - 1.0).abs() < 0.002, "{latency}");
        assert!((latency["p99_99"].as_f64().unwrap() / 5_000_000.0 - 1.0).abs() < 0.002, "{latency}");
        assert_eq!(document["series"][0]["writes"], 999);
        let interval = &document["series"][1];
        assert_eq!(interval["latency_max_ns"], 5_000_000);
        for (percentile, truth) in [("p50", 100e3), ("p99", 250e3), ("p99_9", 250e3)] {
            let found = interval[format!("latency_{percentile}_ns")].as_f64().unwrap();
            assert!((found / truth - 1.0).abs() <= 0.016, "{percentile}: {interval}");
        }
        assert_eq!(
            document["cpu"],
            json!({
                "user_ns": 100_000_000, "system_ns": 300_000_000,
                "switches_voluntary": 6000, "switches_involuntary": 3000, "halted_ns": 20_000_000,
                "handover": { "method": "deferred", "registered": true, "refusal": null },
            })
        );
        assert_eq!(document["drive"]["write_amplification"], 1.5);
        let figures = &document["figures"];
        assert_eq!((&figures["iops"], &figures["write-amplification"]), (&json!(3000.0), &json!(1.5)));
        assert_eq!(figures["service-mean"], json!(null), "it is left out where it is not given");
        assert_eq!(document["findings"][1], "Not \"steady\".");
    }

    #[test]
    fn every_counter_of_the_drive_is_there_once_it_has_counted() {
        let mut measurement = mixed();
        measurement.drive = Some(Counters {
            read_retries: 7,
            patrol_reads: 8,
            pages_read_ahead: 9,
            read_ahead_wasted: 2,
            failed: 3,
            throttled: Nanos::from_micros(4),
            ..measurement.drive.unwrap()
        });
        let drive = &document(&measurement)["drive"];
        for (name, count) in [
            ("read_retries", 7),
            ("patrol_reads", 8),
            ("pages_read_ahead", 9),
            ("read_ahead_wasted", 2),
            ("failed_commands", 3),
            ("throttled_ns", 4000),
        ] {
            assert_eq!(drive[name], count, "{name}");
        }
        assert_eq!((&drive["zone_resets"], &drive["energy_nj"]), (&json!(null), &json!(null)));
        let known = serde_json::to_value(Counters::default()).unwrap();
        for name in APART.iter().chain(RENAMED.iter().map(|(name, _)| name)) {
            assert!(known.get(name).is_some(), "there is no counter `{name}`");
        }
        let own = drive.as_object().unwrap().keys().filter(|name| known.get(name).is_some()).count();
        assert_eq!(own, 8, "four counters that are always there and four that have counted: {drive}");
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let mut old = mixed();
        old.series.iter_mut().for_each(|tick| tick.latencies = stats::Bins::default());
        assert_eq!(document(&old)["series"][0]["latency_p50_ns"], json!(null), "nobody kept how they lay");
        let mixed = document(&mixed());
        assert_eq!((&mixed["trim"]["requests"], &mixed["trim"]["latency_ns"]), (&json!(0), &json!(null)));
        let nothing = document(&nothing());
        assert_eq!(nothing["read"]["latency_ns"], json!(null));
        assert_eq!((&nothing["cpu"], &nothing["drive"], &nothing["series"]), (&json!(null), &json!(null), &json!([])));
    }
}
