//! One measurement in fio's own JSON, for programs that read that already.
//!
//! All workers are one job, as with fio's `--group_reporting`. What is not measured here has the value by which
//! fio says so: submission latency, context switches, page faults, how requests were batched.
//!
//! Source: fio 3.33, `stat.c`, `show_thread_status_json`; `HOWTO.rst`, "JSON output".

use block::{Bytes, Nanos};
use engine::{Clock, Flow, Measurement, TICK, Tick};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use stats::Histogram;
use workload::Workload;

use super::{Single, per_second};

/// The percentiles that fio gives unless it is told otherwise.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Below which the latencies of each bin of `latency_ns` and `latency_us` lie, in their unit.
const BINS: [&str; 10] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];
/// The same for `latency_ms`.
const BINS_MS: [&str; 12] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
/// The least of each bin of `iodepth_level`; the last is written as `>=64`.
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// The most of each bin of `iodepth_submit` and `iodepth_complete`.
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// The measurement as fio would have written it.
pub fn fio(single: &Single) -> String {
    let seconds = single.timestamp_ms.div_euclid(1_000);
    let document = Document {
        version: format!("fio-3.33-assay-{}", single.version),
        timestamp: seconds,
        timestamp_ms: single.timestamp_ms,
        time: Timestamp::from_second(seconds)
            .map_or_else(|_| String::new(), |at| at.strftime("%a %b %e %H:%M:%S %Y").to_string()),
        jobs: [Job::of(single)],
        disk_util: [],
    };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    jobs: [Job<'a>; 1],
    disk_util: [(); 0],
}

/// Pairs that are written as an object, in this order.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Shares of the requests, in percent.
type Shares = Object<&'static str, f64>;

#[derive(Serialize)]
struct Job<'a> {
    jobname: &'a str,
    groupid: u32,
    error: u32,
    eta: u32,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Object<&'static str, String>,
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
    iodepth_level: Shares,
    iodepth_submit: Shares,
    iodepth_complete: Shares,
    latency_ns: Shares,
    latency_us: Shares,
    latency_ms: Shares,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
}

impl<'a> Job<'a> {
    fn of(single: &Single<'a>) -> Self {
        let measurement = single.measurement;
        let Measurement { workload, elapsed, .. } = measurement;
        let workers = u64::from(workload.workers);
        // fio's shares are of the time of all workers together.
        let whole = elapsed.times(workers).as_secs_f64();
        let share = |time: Nanos| if whole > 0.0 { time.as_secs_f64() / whole * 100.0 } else { 0.0 };
        let cpu = measurement.cpu.unwrap_or_default();
        let direction = |flow, count: fn(&Tick) -> u64| Direction::of(measurement, flow, count);
        let [latency_ns, latency_us, latency_ms] = by_latency(&measurement.latency());
        Self {
            jobname: single.name,
            groupid: 0,
            error: 0,
            eta: 0,
            elapsed: (*elapsed + workload.ramp).as_nanos().div_ceil(1_000_000_000),
            options: options(single),
            read: direction(&measurement.read, |tick| tick.reads),
            write: direction(&measurement.write, |tick| tick.writes),
            trim: direction(&measurement.trim, |tick| tick.trims),
            sync: Sync { total_ios: 0, lat_ns: Latency::NONE },
            job_runtime: milliseconds(*elapsed) * workers,
            usr_cpu: share(cpu.user),
            sys_cpu: share(cpu.system),
            ctx: 0,
            majf: 0,
            minf: 0,
            iodepth_level: by_depth(measurement),
            iodepth_submit: none(&BATCHES),
            iodepth_complete: none(&BATCHES),
            latency_ns,
            latency_us,
            latency_ms,
            latency_depth: workload.queue_depth,
            latency_target: 0,
            latency_percentile: 100.0,
            latency_window: 0,
        }
    }
}

/// The workload as a job file would have it.
fn options(single: &Single) -> Object<&'static str, String> {
    let Measurement { workload, clock, .. } = single.measurement;
    let Workload { stop, .. } = workload;
    let engine = match clock {
        Clock::Virtual => "sim",
        Clock::Real => "io_uring",
    };
    let mut options = vec![
        ("name", single.name.to_owned()),
        ("filename", single.target.to_owned()),
        ("ioengine", engine.to_owned()),
        ("rw", workload.pattern.to_string()),
        ("bs", workload.block.get().to_string()),
        ("iodepth", workload.queue_depth.to_string()),
        ("numjobs", workload.workers.to_string()),
        ("group_reporting", "1".to_owned()),
    ];
    let mut push = |name, value: Option<String>| options.extend(value.map(|value| (name, value)));
    push("rwmixread", workload.pattern.is_mixed().then(|| workload.read_percent.to_string()));
    push("offset", (workload.offset > Bytes::ZERO).then(|| workload.offset.get().to_string()));
    push("size", workload.size.map(|size| size.get().to_string()));
    push("runtime", stop.time.map(exact));
    push("time_based", stop.time.filter(|_| stop.bytes.is_none()).map(|_| "1".to_owned()));
    push("ramp_time", Some(workload.ramp).filter(|ramp| *ramp > Nanos::ZERO).map(exact));
    push("number_ios", stop.requests.map(|requests| requests.to_string()));
    push("io_size", stop.bytes.map(|bytes| (bytes.get() / u64::from(workload.workers)).to_string()));
    Object(options)
}

/// A time in fio's notation: whole seconds as such, all else in microseconds, fio's finest unit.
fn exact(time: Nanos) -> String {
    let micros = time.as_nanos().div_ceil(1_000);
    if micros.is_multiple_of(1_000_000) { format!("{}s", micros / 1_000_000) } else { format!("{micros}us") }
}

/// One kind of requests.
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
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

impl Direction {
    fn of(measurement: &Measurement, flow: &Flow, count: fn(&Tick) -> u64) -> Self {
        let bytes = flow.bytes.get();
        let rate = per_second(bytes, measurement.elapsed);
        // Whole seconds alone: what was left of the last one would look like a slow second.
        let seconds = if flow.requests > 0 { measurement.elapsed.as_nanos() / TICK.as_nanos() } else { 0 };
        let counts = || measurement.series.iter().take(seconds as usize).map(count);
        let iops = Samples::of(counts());
        let bw = Samples::of(counts().map(|count| measurement.workload.block.times(count).get() >> 10));
        Self {
            io_bytes: bytes,
            io_kbytes: bytes >> 10,
            bw_bytes: rate as u64,
            bw: (rate / 1024.0) as u64,
            iops: per_second(flow.requests, measurement.elapsed),
            runtime: if flow.requests > 0 { milliseconds(measurement.elapsed) } else { 0 },
            total_ios: flow.requests,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: Latency::NONE,
            clat_ns: Latency::of(&flow.latency).with_percentiles(&flow.latency),
            lat_ns: Latency::of(&flow.latency),
            bw_min: bw.min,
            bw_max: bw.max,
            bw_agg: if bw.mean > 0.0 { (bw.mean / (rate / 1024.0) * 100.0).min(100.0) } else { 0.0 },
            bw_mean: bw.mean,
            bw_dev: bw.deviation,
            bw_samples: bw.count,
            iops_min: iops.min,
            iops_max: iops.max,
            iops_mean: iops.mean,
            iops_stddev: iops.deviation,
            iops_samples: iops.count,
        }
    }
}

/// Milliseconds, rounded up: what took any time at all took one, and nobody divides by zero.
const fn milliseconds(time: Nanos) -> u64 {
    time.as_nanos().div_ceil(1_000_000)
}

#[derive(Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

#[derive(Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Object<String, u64>>,
}

impl Latency {
    /// What fio writes where nothing was measured.
    const NONE: Self = Self { min: 0, max: 0, mean: 0.0, stddev: 0.0, count: 0, percentile: None };

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

    fn with_percentiles(self, latency: &Histogram) -> Self {
        let at = |percent: f64| (format!("{percent:.6}"), latency.percentile(percent).as_nanos());
        Self { percentile: (!latency.is_empty()).then(|| Object(PERCENTILES.map(at).to_vec())), ..self }
    }
}

/// The deviation as fio has it, with one less than the count as divisor.
fn of_sample(deviation: f64, count: u64) -> f64 {
    if count < 2 { 0.0 } else { deviation * (count as f64 / (count - 1) as f64).sqrt() }
}

/// One-second samples summed up.
struct Samples {
    min: u64,
    max: u64,
    mean: f64,
    deviation: f64,
    count: u64,
}

impl Samples {
    fn of(samples: impl Iterator<Item = u64> + Clone) -> Self {
        let count = samples.clone().count() as u64;
        let over = |sum: f64| if count > 0 { sum / count as f64 } else { 0.0 };
        let mean = over(samples.clone().map(|sample| sample as f64).sum());
        let variance = over(samples.clone().map(|sample| (sample as f64 - mean).powi(2)).sum());
        Self {
            min: samples.clone().min().unwrap_or(0),
            max: samples.max().unwrap_or(0),
            mean,
            deviation: of_sample(variance.sqrt(), count),
            count,
        }
    }
}

fn none(names: &[&'static str]) -> Shares {
    Object(names.iter().map(|name| (*name, 0.0)).collect())
}

/// A closed loop keeps its depth: all requests see the same.
fn by_depth(measurement: &Measurement) -> Shares {
    let mut shares = none(&DEPTHS);
    if measurement.requests() > 0 {
        let place = measurement.workload.queue_depth.ilog2() as usize;
        shares.0[place.min(DEPTHS.len() - 1)].1 = 100.0;
    }
    shares
}

/// Where latencies lie: below a microsecond, below a millisecond, above.
fn by_latency(latency: &Histogram) -> [Shares; 3] {
    let mut shares = [none(&BINS), none(&BINS), none(&BINS_MS)];
    let one = 100.0 / latency.count().max(1) as f64;
    for (latency, count) in latency.bins() {
        let (unit, amount) = match latency.as_nanos() {
            ns @ ..1_000 => (0, ns),
            ns @ ..1_000_000 => (1, ns / 1_000),
            ns => (2, ns / 1_000_000),
        };
        let bins = &mut shares[unit].0;
        let place = bins.iter().position(|(below, _)| below.parse().is_ok_and(|below: u64| amount < below));
        let last = bins.len() - 1;
        bins[place.unwrap_or(last)].1 += one * count as f64;
    }
    shares
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::samples::{mixed, nothing, reads, single};
    use super::*;

    fn parsed(measurement: &Measurement) -> Value {
        serde_json::from_str(&fio(&single(measurement, &[]))).unwrap()
    }

    fn only(bins: &Value) -> Vec<(&str, f64)> {
        let bins = bins.as_object().unwrap().iter().map(|(name, share)| (name.as_str(), share.as_f64().unwrap()));
        bins.filter(|(_, share)| *share > 0.0).collect()
    }

    #[test]
    fn rates_are_in_fio_s_units() {
        let document = parsed(&mixed());
        assert_eq!(document["fio version"], "fio-3.33-assay-0.1.0");
        assert_eq!((&document["timestamp"], &document["timestamp_ms"]), (&json!(1_767_225_600), &json!(1_767_225_600_123_u64)));
        assert_eq!(document["time"], "Thu Jan  1 00:00:00 2026");
        let job = &document["jobs"][0];
        assert_eq!((&job["elapsed"], &job["job_runtime"]), (&json!(3), &json!(5_000)));
        assert_eq!((&job["usr_cpu"], &job["sys_cpu"]), (&json!(5.0), &json!(20.0)));
        let read = &job["read"];
        assert_eq!((&read["io_bytes"], &read["io_kbytes"]), (&json!(20_480_000), &json!(20_000)));
        assert_eq!((&read["bw_bytes"], &read["bw"]), (&json!(8_192_000), &json!(8_000)));
        assert_eq!((&read["iops"], &read["runtime"]), (&json!(1000.0), &json!(2_500)));
    }

    /// Of the first second there are 999 requests, of the second 1000; the half second after them is no sample.
    #[test]
    fn samples_are_whole_seconds() {
        let document = parsed(&mixed());
        let read = &document["jobs"][0]["read"];
        assert_eq!((&read["iops_min"], &read["iops_max"], &read["iops_samples"]), (&json!(999), &json!(1000), &json!(2)));
        assert_eq!((&read["iops_mean"], &read["iops_stddev"]), (&json!(999.5), &json!(0.5_f64.sqrt())));
        assert_eq!((&read["bw_min"], &read["bw_max"], &read["bw_mean"]), (&json!(7_992), &json!(8_000), &json!(7_996.0)));
        assert_eq!(read["bw_agg"], json!(99.95));
    }

    #[test]
    fn latencies_lie_in_fio_s_bins() {
        let document = parsed(&reads());
        let job = &document["jobs"][0];
        assert_eq!(only(&job["latency_ms"]), [("20", 0.005)]);
        let us = only(&job["latency_us"]);
        assert_eq!(us.len(), 1);
        assert_eq!((us[0].0, us[0].1.round()), ("1000", 100.0), "{us:?}");
        assert_eq!(only(&job["iodepth_level"]), [("32", 100.0)]);
        let percentile = &job["read"]["clat_ns"]["percentile"];
        let median = percentile["50.000000"].as_u64().unwrap();
        assert!(median.abs_diff(800_000) < 1_000, "{median} ns");
        assert_eq!(job["read"]["clat_ns"]["max"], 12_000_000);
        assert_eq!(job["write"]["clat_ns"].get("percentile"), None);
    }

    #[test]
    fn a_bin_ends_just_below_its_name() {
        let bin = |ns| {
            let mut latency = Histogram::new();
            latency.record(Nanos::from_nanos(ns));
            let shares = by_latency(&latency);
            shares.iter().position(|bins| bins.0.iter().any(|bin| bin.1 > 0.0)).map(|unit| {
                (unit, shares[unit].0.iter().find(|bin| bin.1 > 0.0).unwrap().0)
            })
        };
        for (ns, unit, name) in [
            (0, 0, "2"), (2, 0, "4"), (999, 0, "1000"), (1_000, 1, "2"), (9_900, 1, "10"), (10_000, 1, "20"),
            (990_000, 1, "1000"), (1_000_000, 2, "2"), (999_000_000, 2, "1000"), (1_000_000_000, 2, "2000"),
            (2_000_000_000, 2, ">=2000"), (60_000_000_000, 2, ">=2000"),
        ] {
            assert_eq!(bin(ns), Some((unit, name)), "{ns} ns");
        }
    }

    #[test]
    fn the_job_s_options_are_what_fio_would_be_given() {
        let document = parsed(&mixed());
        assert_eq!(
            document["jobs"][0]["job options"],
            json!({
                "name": "job", "filename": "sim:x25-m", "ioengine": "io_uring", "rw": "randrw", "bs": "8192",
                "iodepth": "32", "numjobs": "2", "group_reporting": "1", "rwmixread": "67", "size": "1073741824",
                "runtime": "2500000us", "io_size": "2147483648",
            })
        );
        let document = parsed(&reads());
        assert_eq!(document["jobs"][0]["job options"]["number_ios"], "20000");
        assert_eq!(exact(Nanos::from_secs(10)), "10s");
    }

    #[test]
    fn nothing_measured_is_what_fio_writes_for_nothing() {
        let document = parsed(&nothing());
        let job = &document["jobs"][0];
        assert_eq!((&job["read"], &job["read"]["iops"]), (&job["trim"], &json!(0.0)));
        assert_eq!((&job["usr_cpu"], &job["read"]["bw_agg"]), (&json!(0.0), &json!(0.0)));
        assert!(only(&job["iodepth_level"]).is_empty());
    }
}
