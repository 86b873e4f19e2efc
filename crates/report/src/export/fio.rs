//! fio's own JSON, so that what reads fio's output reads this.
//!
//! The schema is that of fio 3.33, key by key. Where the meanings differ:
//!
//! - `fio version` is `fio-3.33-assay-VERSION`, the form of fio's own development builds: tools that look for
//!   the prefix or the number find the schema's, people find who measured;
//! - all workers are one job, as with fio's `group_reporting`;
//! - latency runs from submission to completion, so `clat_ns` and `lat_ns` are the same and `slat_ns` is empty;
//!   with `rate_iops`, `lat_ns` runs from when a request came, which fio's does not;
//! - `bw_*` and `iops_*` describe whole seconds of the series, for all workers together; where requests have
//!   several sizes, `bw_*` takes their mean;
//! - `iodepth_level` is the depth that was asked for, which a closed loop keeps; depths of batches, context
//!   switches and page faults are not recorded and are 0;
//! - one key is added, `assay`: seed (as text, for JavaScript's numbers hold no 64 bits), clock and findings.
//!
//! Source: fio 3.33, `stat.c`, `show_thread_status_json`; its `HOWTO.rst`, "JSON output".

use block::{Bytes, Nanos};
use engine::{Clock, Flow, Measurement, Method, TICK, Tick};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use stats::Histogram;
use workload::Workload;

use super::Single;

/// The percentiles that fio prints unless told otherwise.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// The upper ends of fio's classes of latencies below 1 µs, in ns, and below 1 ms, in µs.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The upper ends of its classes above, in ms; a last one has no end.
const CLASSES_MS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
/// What fio reports for a request that moved less than it was to.
/// Source: Linux, include/uapi/asm-generic/errno-base.h, `EIO`.
const EIO: i32 = 5;
/// The lower ends of its classes of queue depths.
const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A measurement in fio's JSON schema; ends with a line feed.
pub fn fio(single: &Single) -> String {
    let document = Document {
        fio_version: format!("fio-3.33-assay-{}", single.version),
        timestamp: single.timestamp_ms.div_euclid(1000),
        timestamp_ms: single.timestamp_ms,
        time: time(single.timestamp_ms),
        global_options: Keys(Vec::<(&str, String)>::new()),
        jobs: [Job::of(single)],
        disk_util: [],
        assay: Ours { seed: single.seed.to_string(), clock: single.clock(), findings: single.findings },
    };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

/// The moment as C's `ctime` has it, in universal time: `Thu Jan  1 00:00:00 2026`.
fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |at| at.strftime("%a %b %e %H:%M:%S %Y").to_string())
}

/// An object whose keys keep their order.
struct Keys<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Keys<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    fio_version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    #[serde(rename = "global options")]
    global_options: Keys<&'static str, String>,
    jobs: [Job<'a>; 1],
    disk_util: [(); 0],
    assay: Ours<'a>,
}

/// What fio has no place for.
#[derive(Serialize)]
struct Ours<'a> {
    seed: String,
    clock: &'static str,
    findings: &'a [String],
}

#[derive(Serialize)]
struct Job<'a> {
    jobname: &'a str,
    groupid: u32,
    error: i32,
    eta: u32,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Keys<&'static str, String>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Keys<String, f64>,
    iodepth_submit: Keys<String, f64>,
    iodepth_complete: Keys<String, f64>,
    latency_ns: Keys<String, f64>,
    latency_us: Keys<String, f64>,
    latency_ms: Keys<String, f64>,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
    /// Only where requests failed and the run went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<i32>,
}

impl<'a> Job<'a> {
    fn of(single: &Single<'a>) -> Self {
        let Measurement { workload, elapsed, read, write, trim, flush, cpu, failures, .. } = single.measurement;
        let first_error = failures.iter().next().map(|failure| failure.errno.unwrap_or(EIO));
        let busy = elapsed.as_secs_f64() * f64::from(workload.workers);
        let percent = |time: Nanos| if busy > 0.0 { 100.0 * time.as_secs_f64() / busy } else { 0.0 };
        let cpu = cpu.unwrap_or_default();
        let latency = single.measurement.latency();
        let nanosecond = Nanos::from_nanos(1);
        Self {
            jobname: single.name,
            groupid: 0,
            error: first_error.unwrap_or(0),
            eta: 0,
            elapsed: (*elapsed + workload.ramp).as_nanos().div_ceil(1_000_000_000),
            options: options(single),
            read: Direction::of(single, read, |tick| tick.reads),
            write: Direction::of(single, write, |tick| tick.writes),
            trim: Direction::of(single, trim, |tick| tick.trims),
            sync: Sync { total_ios: flush.requests, lat_ns: Latency::of(&flush.latency) },
            job_runtime: elapsed.times(u64::from(workload.workers)).as_nanos() / 1_000_000,
            usr_cpu: percent(cpu.user),
            sys_cpu: percent(cpu.system),
            ctx: cpu.switches_voluntary + cpu.switches_involuntary,
            majf: 0,
            minf: 0,
            iodepth_level: depth_levels(if latency.is_empty() { 0 } else { workload.queue_depth }),
            iodepth_submit: batches(),
            iodepth_complete: batches(),
            latency_ns: classes(&latency, nanosecond, Nanos::from_micros(1), &CLASSES),
            latency_us: classes(&latency, Nanos::from_micros(1), Nanos::from_millis(1), &CLASSES),
            latency_ms: classes(&latency, Nanos::from_millis(1), Nanos::MAX, &CLASSES_MS),
            latency_depth: workload.queue_depth,
            latency_target: 0,
            latency_percentile: 100.0,
            latency_window: 0,
            total_err: first_error.map(|_| failures.total()),
            first_error,
        }
    }
}

/// The workload as fio's options, which are text.
fn options(single: &Single) -> Keys<&'static str, String> {
    let Measurement { workload, clock, cpu, .. } = single.measurement;
    let &Workload { pattern, block, queue_depth, workers, offset, size, stop, ramp, .. } = workload;
    let by_threads = cpu.and_then(|cpu| cpu.handover).is_some_and(|handover| handover.method == Method::Threads);
    let engine = match clock {
        Clock::Virtual => "simulated",
        Clock::Real if by_threads => "psync",
        Clock::Real => "io_uring",
    };
    let mut options = vec![
        ("name", single.name.to_owned()),
        ("filename", single.target.to_owned()),
        ("ioengine", engine.to_owned()),
        ("rw", workload.rw()),
        ("iodepth", queue_depth.to_string()),
        ("numjobs", workers.to_string()),
        ("randseed", single.seed.to_string()),
    ];
    options.extend((*clock == Clock::Real).then(|| ("direct", u8::from(single.direct).to_string())));
    options.extend(workload.sizes.is_none().then(|| ("bs", amount(block))));
    options.extend(workload.options());
    options.extend(pattern.is_mixed().then(|| ("rwmixread", workload.read_percent.to_string())));
    options.extend((offset > Bytes::ZERO).then(|| ("offset", amount(offset))));
    options.extend(size.map(|size| ("size", amount(size))));
    options.extend(stop.time.map(|time| ("runtime", duration(time))));
    options.extend((ramp > Nanos::ZERO).then(|| ("ramp_time", duration(ramp))));
    options.extend(stop.requests.map(|requests| ("number_ios", requests.to_string())));
    let each = |bytes: Bytes| amount(Bytes::new(bytes.get() / u64::from(workers.max(1))));
    options.extend(stop.bytes.map(|bytes| ("io_size", each(bytes))));
    Keys(options)
}

/// An amount of data as fio's users write it: `512`, `4k`, `2g`.
fn amount(bytes: Bytes) -> String {
    let units = [("g", Bytes::from_gib(1)), ("m", Bytes::from_mib(1)), ("k", Bytes::from_kib(1))];
    let fitting = units.into_iter().find(|(_, unit)| bytes > Bytes::ZERO && bytes.is_multiple_of(*unit));
    fitting.map_or_else(|| bytes.get().to_string(), |(suffix, unit)| format!("{}{suffix}", bytes.div(unit)))
}

/// A time as fio's users write it: `10`, `500ms`, `7us`.
fn duration(time: Nanos) -> String {
    match time.as_nanos() / 1000 {
        us if us % 1_000_000 == 0 => (us / 1_000_000).to_string(),
        us if us % 1000 == 0 => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}

#[derive(Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: usize,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: usize,
}

impl Direction {
    fn of(single: &Single, flow: &Flow, completed: impl Fn(&Tick) -> u64) -> Self {
        let Measurement { elapsed, series, .. } = single.measurement;
        let seconds = if flow.requests > 0 { (elapsed.as_nanos() / TICK.as_nanos()) as usize } else { 0 };
        let iops: Vec<f64> = series.iter().take(seconds).map(|tick| completed(tick) as f64).collect();
        let mean = if flow.requests > 0 { flow.bytes.get() as f64 / flow.requests as f64 } else { 0.0 };
        let kib_per_request = mean / 1024.0;
        let (bw, iops) = (Samples::of(&iops, kib_per_request), Samples::of(&iops, 1.0));
        let service = flow.service.as_deref().unwrap_or(&flow.latency);
        let bytes = flow.bytes.get();
        let bw_bytes = single.per_second(bytes) as u64;
        // Tools divide by it, so a run of less than a millisecond counts as one.
        let runtime = if flow.requests > 0 { (elapsed.as_nanos() / 1_000_000).max(1) } else { 0 };
        Self {
            io_bytes: bytes,
            io_kbytes: bytes / 1024,
            bw_bytes,
            bw: bw_bytes / 1024,
            iops: single.per_second(flow.requests),
            runtime,
            total_ios: flow.requests,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: Latency::default(),
            clat_ns: Latency { percentile: percentiles(service), ..Latency::of(service) },
            lat_ns: Latency::of(&flow.latency),
            bw_min: bw.min as u64,
            bw_max: bw.max as u64,
            bw_agg: if bw.count > 0 { 100.0 } else { 0.0 },
            bw_mean: bw.mean,
            bw_dev: bw.deviation,
            bw_samples: bw.count,
            iops_min: iops.min as u64,
            iops_max: iops.max as u64,
            iops_mean: iops.mean,
            iops_stddev: iops.deviation,
            iops_samples: iops.count,
        }
    }
}

/// Samples a second apart; all zero where there are none, as fio has it.
#[derive(Default)]
struct Samples {
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
    count: usize,
}

impl Samples {
    /// Of `values`, each times `scale`.
    fn of(values: &[f64], scale: f64) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64;
        let (min, max) =
            values.iter().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
        Self {
            min: min * scale,
            max: max * scale,
            mean: mean * scale,
            deviation: of_sample(variance.sqrt(), count as u64) * scale,
            count,
        }
    }
}

#[derive(Default, Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Keys<String, u64>>,
}

impl Latency {
    fn of(latency: &Histogram) -> Self {
        Self {
            min: latency.min().as_nanos(),
            max: latency.max().as_nanos(),
            mean: latency.mean(),
            stddev: of_sample(latency.deviation(), latency.count()),
            count: latency.count(),
            percentile: None,
        }
    }
}

/// The deviation as fio has it, with one less than the count as divisor.
fn of_sample(deviation: f64, count: u64) -> f64 {
    if count < 2 { 0.0 } else { deviation * (count as f64 / (count - 1) as f64).sqrt() }
}

fn percentiles(latency: &Histogram) -> Option<Keys<String, u64>> {
    let of = |percent: f64| (format!("{percent:.6}"), latency.percentile(percent).as_nanos());
    (!latency.is_empty()).then(|| Keys(PERCENTILES.map(of).to_vec()))
}

/// Flushes.
#[derive(Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

/// The whole of the time at the class of `depth`; none for a depth of zero.
fn depth_levels(depth: u32) -> Keys<String, f64> {
    let class = DEPTHS.iter().rposition(|&least| least <= depth);
    let share = |i| if Some(i) == class { 100.0 } else { 0.0 };
    Keys(DEPTHS.iter().enumerate().map(|(i, &least)| (open_ended(least.into(), 64), share(i))).collect())
}

/// fio's classes of the sizes of batches, which are not recorded.
fn batches() -> Keys<String, f64> {
    let classes = ["0", "4", "8", "16", "32", "64", ">=64"];
    Keys(classes.map(|class| (class.to_owned(), 0.0)).to_vec())
}

fn open_ended(number: u64, last: u64) -> String {
    if number == last { format!(">={number}") } else { number.to_string() }
}

/// The shares, in percent of all requests, whose latency of at least one `unit` and less than `end` is below each
/// of `ends`; where `end` is no limit, the last class takes the rest.
fn classes(latency: &Histogram, unit: Nanos, end: Nanos, ends: &[u64]) -> Keys<String, f64> {
    let mut counts = vec![0_u64; ends.len() + 1];
    for (each, count) in latency.bins().filter(|(each, _)| *each >= unit && *each < end) {
        let value = each.as_nanos() / unit.as_nanos();
        counts[ends.iter().position(|&end| value < end).unwrap_or(ends.len())] += count;
    }
    let all = latency.count().max(1) as f64;
    let labels = ends.iter().map(u64::to_string);
    let rest = (end == Nanos::MAX).then(|| format!(">={}", ends[ends.len() - 1]));
    Keys(labels.chain(rest).zip(counts).map(|(label, count)| (label, 100.0 * count as f64 / all)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{mixed, nothing, single};
    use super::*;

    fn document(measurement: &Measurement) -> Value {
        serde_json::from_str(&fio(&single(measurement))).unwrap()
    }

    #[test]
    fn the_job_says_what_was_asked_in_fio_s_words() {
        let document = document(&mixed());
        assert_eq!(document["fio version"], "fio-3.33-assay-0.1.0");
        assert_eq!(
            (&document["timestamp"], &document["time"]),
            (&json!(1_767_225_605), &json!("Thu Jan  1 00:00:05 2026"))
        );
        let job = &document["jobs"][0];
        assert_eq!(
            (&job["jobname"], &job["elapsed"], &job["job_runtime"]),
            (&json!("mine, \"quoted\""), &json!(3), &json!(4000))
        );
        assert_eq!(
            job["job options"],
            json!({
                "name": "mine, \"quoted\"", "filename": "./scratch.bin", "ioengine": "io_uring", "rw": "randrw",
                "rwmixread": "67", "bs": "4k", "iodepth": "32", "numjobs": "2", "randseed": "18446744073709551615",
                "direct": "1", "offset": "1m", "size": "1g", "runtime": "2", "ramp_time": "500ms", "io_size": "1g",
            })
        );
        assert_eq!((&job["usr_cpu"], &job["sys_cpu"]), (&json!(2.5), &json!(7.5)));
        assert_eq!(document["assay"]["seed"], "18446744073709551615");
        assert_eq!(document["assay"]["findings"][1], "Not \"steady\".");
    }

    #[test]
    fn only_a_real_target_has_a_page_cache_to_go_around() {
        let (real, simulated) = (mixed(), Measurement { clock: Clock::Virtual, ..mixed() });
        let direct = |single: &Single| {
            let document: Value = serde_json::from_str(&fio(single)).unwrap();
            document["jobs"][0]["job options"]["direct"].clone()
        };
        assert_eq!(direct(&single(&real)), "1");
        assert_eq!(direct(&Single { direct: false, ..single(&real) }), "0");
        assert_eq!(direct(&single(&simulated)), Value::Null);
    }

    #[test]
    fn a_direction_has_fio_s_units() {
        let document = document(&mixed());
        let read = &document["jobs"][0]["read"];
        for (key, value) in [
            ("io_bytes", json!(16_384_000)),
            ("io_kbytes", json!(16_000)),
            ("bw_bytes", json!(8_192_000)),
            ("bw", json!(8000)),
            ("iops", json!(2000.0)),
            ("runtime", json!(2000)),
            ("total_ios", json!(4000)),
            ("bw_min", json!(7992)),
            ("bw_max", json!(8000)),
            ("bw_mean", json!(7996.0)),
            ("bw_agg", json!(100.0)),
            ("bw_samples", json!(2)),
            ("iops_min", json!(1998)),
            ("iops_max", json!(2000)),
            ("iops_samples", json!(2)),
        ] {
            assert_eq!(read[key], value, "{key}");
        }
        let deviation = ((4_900_000.0_f64.powi(2) * 3998.0 * 2.0 / 4000.0) / 3999.0).sqrt();
        assert!((read["lat_ns"]["stddev"].as_f64().unwrap() / deviation - 1.0).abs() < 1e-6, "{}", read["lat_ns"]);
        assert!((read["iops_stddev"].as_f64().unwrap() - 2.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(read["slat_ns"], json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 }));
        assert_eq!((&read["lat_ns"]["min"], &read["lat_ns"]["max"]), (&json!(100_000), &json!(5_000_000)));
        assert_eq!((&read["lat_ns"]["N"], &read["lat_ns"]["mean"]), (&json!(4000), &read["clat_ns"]["mean"]));
        let percentiles = &read["clat_ns"]["percentile"];
        assert!((percentiles["99.990000"].as_f64().unwrap() / 5e6 - 1.0).abs() < 0.002, "{percentiles}");
        assert_eq!(percentiles.as_object().unwrap().len(), 17);
        assert_eq!(document["jobs"][0]["trim"]["clat_ns"]["N"], 0);
    }

    #[test]
    fn latencies_and_depths_fall_into_fio_s_classes() {
        let document = document(&mixed());
        let job = &document["jobs"][0];
        let sum = |key: &str| job[key].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum::<f64>();
        assert_eq!(sum("latency_ns"), 0.0);
        assert!((sum("latency_us") + sum("latency_ms") - 100.0).abs() < 1e-9);
        assert_eq!(job["latency_us"]["250"], 100.0 * 3998.0 / 6000.0, "100 µs is not below 100");
        assert_eq!(job["latency_us"]["500"], 100.0 * 2000.0 / 6000.0);
        assert_eq!(job["latency_ms"]["10"], 100.0 * 2.0 / 6000.0);
        assert_eq!((&job["iodepth_level"]["32"], sum("iodepth_level")), (&json!(100.0), 100.0));
        for (depth, class) in [(1, "1"), (3, "2"), (31, "16"), (64, ">=64"), (1000, ">=64")] {
            let found = depth_levels(depth).0.into_iter().find(|(_, share)| *share > 0.0).unwrap();
            assert_eq!(found, (class.to_owned(), 100.0), "{depth}");
        }
    }

    #[test]
    fn nothing_measured_is_still_numbers() {
        let document = document(&nothing());
        let job = &document["jobs"][0];
        assert_eq!((&job["read"]["iops"], &job["read"]["runtime"]), (&json!(0.0), &json!(0)));
        assert_eq!(job["read"]["clat_ns"].get("percentile"), None);
        assert!(job["iodepth_level"].as_object().unwrap().values().all(|share| share == 0.0));
        assert!(!document.to_string().contains("null"), "{document}");
    }

    #[test]
    fn amounts_are_written_as_users_of_fio_write_them() {
        assert_eq!(
            [512, 4096, 6000, 1 << 20, 3 << 30].map(|bytes| amount(Bytes::new(bytes))),
            ["512", "4k", "6000", "1m", "3g"]
        );
        assert_eq!([10_000_000, 1_500_000, 7].map(|us| duration(Nanos::from_micros(us))), ["10", "1500ms", "7us"]);
    }
}
