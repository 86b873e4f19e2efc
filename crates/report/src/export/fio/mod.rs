//! fio's own JSON, so that what reads fio's output reads this.
//!
//! The schema is that of fio 3.33, key by key, as `--output-format=json+` prints it. Where the meanings differ:
//!
//! - `fio version` is `fio-3.33-assay-VERSION`, the form of fio's own development builds: tools that look for
//!   the prefix or the number find the schema's, people find who measured;
//! - the workers of a job are one job, as with fio's `group_reporting`;
//! - latency runs from submission to completion, so `clat_ns` and `lat_ns` are the same; with `rate_iops`, `lat_ns` runs
//!   from when a request came, which fio's does not; `slat_ns` is of one submission in 64, which is a part of `clat_ns`;
//! - `bw_*` and `iops_*` describe whole seconds of the series, for all workers together; where requests have
//!   several sizes, `bw_*` takes their mean;
//! - `iodepth_level` is the depth that was asked for, which a closed loop keeps;
//! - `global options` repeats the job's, for some tools look there and others in `job options`;
//! - `disk_util` has the whole devices beneath a real target, by the kernel's counters over the time that counts, and a
//!   simulated drive where requests never leave it idle;
//! - one key is added, `assay`: seed (as text, for JavaScript's numbers hold no 64 bits), clock, findings, and the keys
//!   of the schema that are 0 because nothing was measured.
//!
//! Source: fio 3.33, `stat.c`, `show_thread_status_json`; its `HOWTO.rst`, "JSON output".

mod direction;
mod disk;
mod log;
mod normal;
mod number;
mod options;
mod steady;
mod terse;

use block::Nanos;
use jiff::Timestamp;
use measurement::{Flow, Measurement, Settling};
use serde::{Serialize, Serializer};
use stats::Histogram;

use self::direction::{Direction, Latency, PERCENTILES};
use self::disk::Disk;
pub use self::log::WorkerLogs;
pub use self::normal::{heading, normal};
use self::options::{global, options};
use self::steady::Steady;
pub use self::terse::{VERSIONS as TERSE_VERSIONS, terse};
use super::Single;

/// What of a job fio counts and assay does not.
const UNMEASURED: [&str; 7] =
    ["slat_ns", "short_ios", "drop_ios", "majf", "minf", "iodepth_submit", "iodepth_complete"];

/// The upper ends of fio's classes of latencies below 1 µs, in ns, and below 1 ms, in µs.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The upper ends of its classes above, in ms; a last one has no end.
const CLASSES_MS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
/// What fio reports for a request that moved less than it was to.
/// Source: Linux, include/uapi/asm-generic/errno-base.h, `EIO`.
const EIO: i32 = 5;
/// The lower ends of its classes of queue depths.
const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// One of the jobs that fio's output is about.
#[derive(Clone, Debug)]
pub struct FioJob<'a> {
    /// Its measurement, and that of those whose figures are added to it.
    pub single: Single<'a>,
    /// Its group: those before a stonewall have a lower one.
    pub group: usize,
    /// Of how many clones the figures are.
    pub members: u32,
    /// How long they took.
    pub times: FioTimes,
    /// How they came to the steady state that ends them; none where none does.
    pub settling: Option<Settling>,
    /// What it is, where it says.
    pub description: Option<&'a str>,
    /// Its options as they were given; none for those that its workload comes to.
    pub options: Option<Vec<(&'static str, String)>>,
    /// The percentiles that it asks for; none for those that fio has by itself.
    pub percentiles: Option<Vec<f64>>,
}

/// How long jobs took whose figures are added up, each from its own begin.
#[derive(Clone, Copy, Debug)]
pub struct FioTimes {
    read: Nanos,
    write: Nanos,
    trim: Nanos,
    /// All clones of all of them.
    sum: Nanos,
}

impl FioTimes {
    /// Those of one job.
    pub fn of(measurement: &Measurement) -> Self {
        let Measurement { elapsed, read, write, trim, workload, .. } = measurement;
        let time = |flow: &Flow| if flow.requests > 0 { *elapsed } else { Nanos::ZERO };
        let sum = elapsed.times(u64::from(workload.workers));
        Self { read: time(read), write: time(write), trim: time(trim), sum }
    }

    /// The same together with those of another: of each kind of request the longer.
    pub fn and(self, other: Self) -> Self {
        let Self { read, write, trim, sum } = other;
        Self { read: self.read.max(read), write: self.write.max(write), trim: self.trim.max(trim), sum: self.sum + sum }
    }
}

impl<'a> FioJob<'a> {
    /// A job that is all there is.
    pub fn alone(single: Single<'a>) -> Self {
        let members = single.measurement.workload.workers;
        Self {
            single,
            group: 0,
            members,
            times: FioTimes::of(single.measurement),
            settling: single.measurement.settling(),
            description: None,
            options: None,
            percentiles: None,
        }
    }

    fn percentiles(&self) -> &[f64] {
        self.percentiles.as_deref().unwrap_or(&PERCENTILES)
    }
}

/// The version that fio's documents have.
fn version(single: &Single) -> String {
    format!("fio-3.33-assay-{}", single.version)
}

/// Jobs in fio's JSON schema, with the whole distributions of their latencies where `plus` says so; ends with a line feed.
///
/// # Panics
/// If there are no jobs.
pub fn fio(jobs: &[FioJob], plus: bool) -> String {
    let single = &jobs[0].single;
    let document = Document {
        fio_version: version(single),
        timestamp: single.timestamp_ms.div_euclid(1000),
        timestamp_ms: single.timestamp_ms,
        time: time(single.timestamp_ms),
        global_options: global(single),
        jobs: jobs.iter().map(|job| Job::of(job, plus)).collect(),
        disk_util: if jobs.len() == 1 { Disk::of(single) } else { Vec::new() },
        assay: Ours {
            seed: single.seed.to_string(),
            clock: single.clock(),
            findings: single.findings,
            not_measured: UNMEASURED,
        },
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
    jobs: Vec<Job<'a>>,
    disk_util: Vec<Disk<'a>>,
    assay: Ours<'a>,
}

/// What fio has no place for.
#[derive(Serialize)]
struct Ours<'a> {
    seed: String,
    clock: &'static str,
    findings: &'a [String],
    not_measured: [&'static str; UNMEASURED.len()],
}

#[derive(Serialize)]
struct Job<'a> {
    jobname: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<&'a str>,
    groupid: usize,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<Steady>,
}

impl<'a> Job<'a> {
    fn of(job: &FioJob<'a>, plus: bool) -> Self {
        let single = &job.single;
        let Measurement { workload, elapsed, read, write, trim, flush, cpu, failures, .. } = single.measurement;
        let first_error = failures.iter().next().map(|failure| failure.errno.unwrap_or(EIO));
        let FioTimes { read: reading, write: writing, trim: trimming, sum } = job.times;
        let busy = sum.as_secs_f64();
        let percent = |time: Nanos| if busy > 0.0 { 100.0 * time.as_secs_f64() / busy } else { 0.0 };
        let cpu = cpu.clone().unwrap_or_default();
        let submission = cpu.submission.unwrap_or_default();
        let latency = single.measurement.latency();
        let nanosecond = Nanos::from_nanos(1);
        Self {
            jobname: single.name,
            desc: job.description,
            groupid: job.group,
            error: first_error.unwrap_or(0),
            eta: 0,
            elapsed: (*elapsed + workload.ramp).as_nanos().div_ceil(1_000_000_000),
            options: job.options.clone().map_or_else(|| options(single), Keys),
            read: Direction::of(job, read, reading, |tick| tick.reads, plus).submitted_in(&submission.read),
            write: Direction::of(job, write, writing, |tick| tick.writes, plus).submitted_in(&submission.write),
            trim: Direction::of(job, trim, trimming, |tick| tick.trims, plus).submitted_in(&submission.trim),
            sync: Sync { total_ios: flush.requests, lat_ns: Latency::in_full(&flush.latency, job.percentiles(), plus) },
            job_runtime: sum.as_nanos() / 1_000_000,
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
            steadystate: job.settling.as_ref().and_then(Steady::of),
        }
    }
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
    use measurement::Clock;
    use serde_json::{Value, json};

    use workload::{Arrival, Stop, Workload};

    use super::super::tests::{mixed, nothing, single};
    use super::*;

    fn document(measurement: &Measurement) -> Value {
        serde_json::from_str(&fio(&[FioJob::alone(single(measurement))], true)).unwrap()
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
                "rwmixread": "67", "rwmixwrite": "33", "bs": "4k", "iodepth": "32", "numjobs": "2", "randseed": "18446744073709551615",
                "direct": "1", "offset": "1m", "size": "1g", "runtime": "2", "ramp_time": "500ms", "io_size": "1g",
            })
        );
        assert_eq!((&job["usr_cpu"], &job["sys_cpu"]), (&json!(2.5), &json!(7.5)));
        assert_eq!(document["assay"]["seed"], "18446744073709551615");
        assert_eq!(document["assay"]["findings"][1], "Not \"steady\".");
    }

    #[test]
    fn what_is_global_is_the_job_s_but_for_name_and_file() {
        let document = document(&mixed());
        let mut expected = document["jobs"][0]["job options"].as_object().unwrap().clone();
        expected.retain(|name, _| name != "name" && name != "filename");
        expected["bs"] = "4096B".into();
        assert_eq!(document["global options"], Value::Object(expected));
        let stopped_by_time = Measurement {
            workload: Workload { stop: Stop::after(Nanos::from_secs(3)), ..mixed().workload },
            ..mixed()
        };
        let document = self::document(&stopped_by_time);
        assert_eq!(document["global options"]["time_based"], "1");
        assert_eq!(document["global options"].get("io_size"), None);
    }

    #[test]
    fn what_is_zero_because_nobody_measured_it_is_told() {
        let document = document(&mixed());
        let job = &document["jobs"][0];
        for key in document["assay"]["not_measured"].as_array().unwrap() {
            let key = key.as_str().unwrap();
            let value = job.get(key).or_else(|| job["read"].get(key)).unwrap_or_else(|| panic!("no {key}"));
            let all = value.as_object().map_or(vec![value], |map| map.values().collect());
            assert!(all.iter().all(|value| value.as_f64() == Some(0.0)), "{key} is {value}");
        }
    }

    #[test]
    fn the_whole_distribution_is_there() {
        let document = document(&mixed());
        let bins = document["jobs"][0]["read"]["clat_ns"]["bins"].as_object().unwrap();
        let found: Vec<_> = bins.iter().map(|(ns, count)| (ns.as_str(), count.as_u64().unwrap())).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 4000);
        assert!(bins.contains_key("99840") && bins.contains_key("5013504"), "{found:?}");
    }

    #[test]
    fn a_simulated_drive_is_a_disk_that_was_always_busy() {
        let simulated = Measurement { clock: Clock::Virtual, ..mixed() };
        let single = Single { target: "sim:x25-m", ..single(&simulated) };
        let disks = |single: &Single| -> Value {
            let document: Value = serde_json::from_str(&fio(&[FioJob::alone(*single)], true)).unwrap();
            document["disk_util"].clone()
        };
        let disk = &disks(&single)[0];
        assert_eq!((&disk["name"], &disk["read_ios"], &disk["util"]), (&json!("x25-m"), &json!(4000), &json!(100.0)));
        // 3,998 reads of 100 µs, two of 5 ms; 2,000 writes of 250 µs.
        assert_eq!(
            (&disk["read_ticks"], &disk["write_ticks"], &disk["in_queue"]),
            (&json!(409), &json!(500), &json!(909))
        );
        assert_eq!(disks(&self::single(&mixed())), json!([]), "a real drive's counters are not read");
        let think = Arrival { think: Nanos::from_millis(1), ..Arrival::default() };
        let paused = Measurement { workload: Workload { arrival: think, ..mixed().workload }, ..simulated.clone() };
        assert_eq!(disks(&Single { measurement: &paused, ..single }), json!([]), "how long it was idle is not known");
    }

    #[test]
    fn only_a_real_target_has_a_page_cache_to_go_around() {
        let (real, simulated) = (mixed(), Measurement { clock: Clock::Virtual, ..mixed() });
        let direct = |single: &Single| {
            let document: Value = serde_json::from_str(&fio(&[FioJob::alone(*single)], true)).unwrap();
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
}
