//! The conditions of an experiment, as workloads on a drive in a known state.

use std::ops::Range;

use block::{Bytes, Nanos};
use serde::Deserialize;
use serde_spanned::Spanned;
use workload::{Arrival, ArrivalProcess, Distribution, Pattern, Stop, Workload};

use super::quantity::Quantity;
use crate::Diagnostic;

/// So many requests must lie beyond a percentile of ours for it to count.
pub const REQUESTS_BEYOND: f64 = 50.0;
/// So many must lie beyond a published one.
const PUBLISHED_BEYOND: f64 = 20.0;

/// The probe's rate, and the queue of each worker, where a load is offered.
const PROBE_IOPS: u32 = 10_000;
const PROBE_DEPTH: u32 = 64;
/// The other workers, and the share of reads among their requests.
const BACKGROUND_WORKERS: u32 = 6;
const BACKGROUND_READS: u8 = 1;
/// How long an offered load lasts: 500,000 reads of the probe are due in 100 s.
const LOAD_TIME: Nanos = Nanos::from_secs(120);

/// Run before the measurement and not counted, where the source says nothing of it.
const RAMP: Nanos = Nanos::from_secs(2);
/// No measurement lasts longer.
const TIME_MAX: Nanos = Nanos::from_secs(1000);
/// How long one lasts whose rate is not published.
const TIME_DEFAULT: Nanos = Nanos::from_secs(60);
/// Windows that a deviation or an extreme of rates takes at least.
const WINDOWS: u64 = 20;

/// What is run on a drive in a known state.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Random writes before, in hundredths of the capacity, after a sequential fill; none where nothing is written.
    pub overwrites: Option<u32>,
    /// Where those fall.
    pub distribution: Distribution,
    /// The workloads side by side, with their names; latencies are those of the first.
    pub jobs: Vec<(&'static str, Workload)>,
    /// Whether its times are of the filling of a drive, and shrink with it.
    pub shrinks: bool,
    /// How long the source measured, where it says so.
    source_time: Option<Nanos>,
    /// How many times it is run, each on its own clone of the drive.
    pub runs: u32,
}

impl Measure {
    /// Sets how long it lasts: for twice as many requests as the farthest percentile of `asked` takes at the published rate.
    /// Extremes and deviations of rates depend on the number of windows: where such are asked, each run is as long as the
    /// source's.
    pub(super) fn last(&mut self, asked: impl Iterator<Item = Quantity>, rate: Option<f64>) {
        if self.jobs.len() > 1 || self.shrinks {
            return;
        }
        let (mut percent_max, mut window_max) = (50.0_f64, Nanos::ZERO);
        for quantity in asked {
            if let Quantity::Percentile(_, percent) = quantity {
                percent_max = percent_max.max(percent);
            }
            window_max = window_max.max(quantity.window().unwrap_or_default());
        }
        let requests = 2.0 * REQUESTS_BEYOND / (1.0 - percent_max / 100.0);
        let wanted = rate.map_or(TIME_DEFAULT, |rate| Nanos::from_millis((1e3 * requests / rate) as u64));
        let least = window_max.times(WINDOWS).max(Nanos::from_secs(1));
        let wanted = wanted.clamp(least, TIME_MAX.max(least));
        let time = self.source_time.filter(|_| window_max > Nanos::ZERO).unwrap_or(wanted);
        self.runs = wanted.as_nanos().div_ceil(time.as_nanos()) as u32;
        for (_, workload) in &mut self.jobs {
            workload.stop = Stop::after(time);
        }
    }
}

/// How the numbers of some sources were made, as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingFile {
    pub(super) id: String,
    #[expect(dead_code, reason = "for readers of the file, who must find it with every reading")]
    text: String,
    #[serde(default)]
    pub(super) promise: bool,
    pub(super) contents: Option<String>,
    /// What the load generator takes for a request outside of the latency that it prints.
    #[serde(default)]
    outside_ns: u32,
    /// Run before the measurement and not counted.
    ramp_s: Option<u32>,
}

/// The conditions as the file has them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionFile {
    rw: Option<String>,
    bs: Option<u64>,
    qd: Option<u32>,
    workers: Option<u32>,
    overwrites: Option<f64>,
    distribution: Option<String>,
    offered_total_iops: Option<u32>,
    rate_iops: Option<u32>,
    #[serde(default)]
    saturated: bool,
    specimen: Option<u32>,
    pub(super) runtime_s: Option<u32>,
    pub(super) ios: Option<u64>,
    state: Option<String>,
    ramp_s: Option<u32>,
    // For readers of the file.
    #[serde(rename = "pattern")]
    _pattern: Option<String>,
    #[serde(rename = "engine")]
    _engine: Option<String>,
    #[serde(rename = "os")]
    _os: Option<String>,
    #[serde(rename = "note")]
    _note: Option<String>,
    #[serde(rename = "load")]
    _load: Option<String>,
    #[serde(rename = "qos")]
    _qos: Option<String>,
    #[serde(rename = "consistency")]
    _consistency: Option<String>,
    #[serde(rename = "capacities")]
    _capacities: Option<String>,
}

/// The conditions of a group, checked.
pub(super) struct Condition {
    file: ConditionFile,
    overwrites: Option<u32>,
    distribution: Distribution,
}

fn wrong(span: Range<usize>, message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::new("qos::condition", span, message).label("in these conditions").help(help)
}

impl ConditionFile {
    pub(super) fn read(&self, span: Range<usize>) -> Result<Condition, Diagnostic> {
        let refuse = |message: String, help: &str| Err(wrong(span.clone(), message, help));
        let overwrites = match self.overwrites {
            Some(times) if !(0.0..=100.0).contains(&times) => {
                return refuse(format!("{times} overwrites are out of range"), "give 0 to 100 capacities");
            }
            times => times.map(|times| (times * 100.0).round() as u32),
        };
        if self.runtime_s == Some(0) {
            return refuse("`runtime_s` is 0".to_owned(), "give the seconds that the source measured, or leave it out");
        }
        let distribution = match &self.distribution {
            Some(text) => match text.parse() {
                Ok(distribution) => distribution,
                Err(error) => return refuse(format!("distribution `{text}`: {error}"), "write `zipf:0.8`"),
            },
            None => Distribution::Uniform,
        };
        if let Some(offered) = self.offered_total_iops.filter(|offered| *offered < PROBE_IOPS + BACKGROUND_WORKERS) {
            let message = format!("an offered load of {offered} requests a second is less than the probe's own");
            return refuse(message, "give more than 10,000");
        }
        Ok(Condition { file: self.clone(), overwrites, distribution })
    }
}

impl Condition {
    /// The workload of the quantity `name`, whose point may have its own pattern and depth. What the load generator takes
    /// outside of a request's latency comes between two of a worker that has one at a time; of deeper queues it is not
    /// simulated.
    pub(super) fn measure(
        &self,
        name: &str,
        rw: Option<&Spanned<String>>,
        depth: Option<u32>,
        reading: &ReadingFile,
        span: Range<usize>,
    ) -> Result<Measure, Diagnostic> {
        let refuse = |message: String, help: &str| wrong(span.clone(), message, help);
        let file = &self.file;
        let rw = rw.map(|rw| rw.get_ref()).or(file.rw.as_ref());
        let rw = rw.ok_or_else(|| refuse("they have no `rw`".to_owned(), "add `rw = \"randread\"`"))?;
        let pattern: Pattern = rw.parse().map_err(|()| {
            let known: Vec<&str> = Pattern::ALL.iter().map(|(name, _)| *name).collect();
            refuse(format!("`{rw}` is not a pattern"), &block::suggestion(rw, &known))
        })?;
        let bs = file.bs.ok_or_else(|| refuse("they have no `bs`".to_owned(), "add `bs = 4096`, in bytes"))?;
        if bs == 0 || !Bytes::new(bs).is_multiple_of(block::SECTOR) {
            return Err(refuse(format!("requests of {bs} B are not whole sectors"), "give a multiple of 512"));
        }
        let is_fresh = name.starts_with("fresh");
        let stated = file.ramp_s.or(reading.ramp_s).map(|seconds| Nanos::from_secs(u64::from(seconds)));
        let ramp = stated.unwrap_or(RAMP);
        let base =
            Workload { pattern, block: Bytes::new(bs), ramp, stop: Stop::after(LOAD_TIME), ..Workload::default() };
        let jobs = match file.offered_total_iops {
            Some(offered) => load(&base, offered),
            None => {
                let depth = depth.or(file.qd);
                let depth = depth.ok_or_else(|| refuse("they have no `qd`".to_owned(), "add `qd = 1`"))?;
                let workers = file.workers.unwrap_or(1);
                for (key, count) in [("qd", depth), ("workers", workers)] {
                    if !(1..=65_536).contains(&count) {
                        return Err(refuse(format!("`{key}` is {count}"), "give 1 to 65,536"));
                    }
                }
                let rate = file.rate_iops.unwrap_or(0);
                let outside = if depth == 1 && rate == 0 { reading.outside_ns } else { 0 };
                let think = Nanos::from_nanos(u64::from(outside));
                let arrival = Arrival { rate, think, ..Arrival::default() };
                let distribution = self.distribution.clone();
                vec![("", Workload { queue_depth: depth, workers, arrival, distribution, ..base })]
            }
        };
        let mut measure = Measure {
            overwrites: self.overwrites,
            distribution: self.distribution.clone(),
            jobs,
            shrinks: is_fresh,
            source_time: file.runtime_s.map(|seconds| Nanos::from_secs(u64::from(seconds))),
            runs: 1,
        };
        if is_fresh {
            // `seconds 3-12` of a drive that has been filled once.
            measure.overwrites = Some(0);
            measure.jobs[0].1.ramp = Nanos::from_secs(3);
            measure.jobs[0].1.stop = Stop::after(Nanos::from_secs(9));
        }
        Ok(measure)
    }

    /// Why a quantity counts in no bar; none where it does.
    pub(super) fn apart(&self, quantity: Quantity, contents: Option<&str>, requests: Option<f64>) -> Option<String> {
        if self.file.saturated {
            return Some("saturated: the drive does not keep up".to_owned());
        }
        if let Some(contents) = contents {
            return Some(format!("prior contents unknown: {contents}"));
        }
        if self.file.state.as_deref() == Some("not stated") {
            return Some("prior contents unknown: not stated".to_owned());
        }
        if self.file.offered_total_iops.is_some() && matches!(quantity, Quantity::Rate(_)) {
            return Some("the offered rate: shows only that the drive keeps up".to_owned());
        }
        let Quantity::Percentile(_, percent) = quantity else { return None };
        let beyond = requests? * (100.0 - percent) / 100.0;
        (beyond < PUBLISHED_BEYOND).then(|| format!("few requests: the published figure rests on {beyond:.0} requests"))
    }

    /// The conditions in words that are the same for two drives under the same conditions; none for a second specimen,
    /// which would count twice.
    pub(super) fn shared(&self, reading: &str) -> Option<String> {
        let file = &self.file;
        let word = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        (file.specimen.unwrap_or(1) == 1).then(|| {
            format!(
                "{reading} {} {} qd{} j{} {} {} {}",
                file.rw.as_deref().unwrap_or_default(),
                file.bs.unwrap_or_default(),
                word(file.qd),
                word(file.workers),
                word(file.offered_total_iops),
                word(file.rate_iops),
                file.distribution.as_deref().unwrap_or_default(),
            )
        })
    }
}

/// A probe of constant rate beside workers whose requests come independently; together they come to `offered`.
fn load(base: &Workload, offered: u32) -> Vec<(&'static str, Workload)> {
    let constant = Arrival { rate: PROBE_IOPS, process: ArrivalProcess::Linear, ..Arrival::default() };
    let each = (offered - PROBE_IOPS) / BACKGROUND_WORKERS;
    let independent = Arrival { rate: each, process: ArrivalProcess::Poisson, ..Arrival::default() };
    let open = Workload { pattern: Pattern::RandRw, queue_depth: PROBE_DEPTH, ..base.clone() };
    let background =
        Workload { workers: BACKGROUND_WORKERS, read_percent: BACKGROUND_READS, arrival: independent, ..open.clone() };
    vec![("probe", Workload { read_percent: 50, arrival: constant, ..open }), ("background", background)]
}

#[cfg(test)]
mod tests {
    use super::super::{QosGroup, builtin};
    use super::*;

    fn group(id: &str) -> &'static QosGroup {
        builtin().groups.iter().find(|group| group.id == id).unwrap()
    }

    #[test]
    fn an_offered_load_is_a_probe_beside_six_workers() {
        let [measure] = &group("samsung-pm9a3-960/load-50k").measures[..] else { panic!("one workload") };
        assert_eq!((measure.overwrites, &measure.distribution), (Some(300), &Distribution::Uniform));
        let [("probe", probe), ("background", background)] = &measure.jobs[..] else { panic!("two jobs") };
        assert_eq!((probe.reads(), probe.queue_depth, probe.workers), (50, 64, 1));
        assert_eq!((probe.arrival.rate, probe.arrival.process), (10_000, ArrivalProcess::Linear));
        assert_eq!((background.reads(), background.queue_depth, background.workers), (1, 64, 6));
        assert_eq!((background.arrival.rate, background.arrival.process), (7_500, ArrivalProcess::Poisson));
        assert_eq!((probe.stop.time, background.stop.time), (Some(LOAD_TIME), Some(LOAD_TIME)));
    }

    #[test]
    fn what_a_generator_takes_beside_is_between_requests_one_at_a_time() {
        let think = |id| group(id).measures[0].jobs[0].1.arrival.think;
        assert_eq!(think("samsung-980pro-1000/randread-4k-qd1-j1"), Nanos::from_nanos(2_500));
        assert_eq!(think("samsung-980pro-1000/randread-4k-qd8-j1"), Nanos::ZERO);
        assert_eq!(think("solidigm-p5520-1920/sat-uniform"), Nanos::ZERO);
    }

    #[test]
    fn a_run_at_saturation_lasts_for_its_windows_and_a_fresh_rate_is_of_a_filled_drive() {
        let zipf = &group("solidigm-p5520-1920/sat-zipf08").measures[0];
        assert_eq!((zipf.overwrites, zipf.distribution.to_string()), (Some(300), "zipf:0.8".to_owned()));
        let even = group("solidigm-p5520-1920/sat-uniform");
        let [steady, fresh] = &even.measures[..] else { panic!("two workloads: {:?}", even.measures) };
        let workload = &steady.jobs[0].1;
        assert_eq!((workload.queue_depth, workload.workers, workload.reads()), (128, 4, 0));
        assert!(workload.stop.time.unwrap() >= Nanos::from_secs(20), "20 windows of a second");
        assert_eq!((fresh.overwrites, fresh.shrinks, fresh.jobs[0].1.ramp), (Some(0), true, Nanos::from_secs(3)));
        let ten = &group("micron-7450pro-960/sat-zipf02").measures[0].jobs[0].1;
        assert!(ten.stop.time.unwrap() >= Nanos::from_secs(200), "20 windows of ten seconds");
    }

    #[test]
    fn logs_of_fio_are_a_closed_loop_for_as_long_as_their_percentiles_take() {
        let read = &group("samsung-980pro-1000/randread-4k-qd32-j2").measures[0];
        let workload = &read.jobs[0].1;
        assert_eq!((workload.queue_depth, workload.workers, workload.reads()), (32, 2, 100));
        assert!(workload.is_closed());
        let requests = workload.stop.time.unwrap().as_secs_f64() * 560_543.0;
        assert!((requests / 1e6 - 1.0).abs() < 0.01, "p99.99 takes a million requests: {requests}");
        let disk = &group("wd740gd-74/randread-4k-qd1-j32-run1").measures[0];
        assert_eq!(
            (disk.overwrites, disk.jobs[0].1.ramp),
            (None, Nanos::ZERO),
            "from the first request, as the source"
        );
        let worn = &group("intel-s4610-480/randwrite-4k-qd1-j16").measures[0];
        assert_eq!(worn.overwrites, Some(63), "28 of 49 cells of 530 GB in all");
    }

    #[test]
    fn rates_in_windows_are_of_runs_as_long_as_the_sources_and_as_many_as_percentiles_take() {
        let lasts = |id| {
            let measure = &group(id).measures[0];
            (measure.jobs[0].1.stop.time.unwrap(), measure.runs)
        };
        assert_eq!(lasts("wd740gd-74/randwrite-4k-qd8-j1-run2"), (Nanos::from_secs(60), 8), "p99.9 of 221 a second");
        assert_eq!(lasts("samsung-980pro-1000/randread-4k-qd32-j1"), (Nanos::from_secs(120), 1));
        assert_eq!(lasts("wd740gd-74/randread-4k-qd1-j32-run1").1, 1, "nothing is asked of its windows");
        assert_eq!(lasts("intel-s3700/oberstet-linux-rw").1, 1, "nor of these");
    }

    #[test]
    fn a_data_sheets_points_have_workloads_of_their_own() {
        let sheet = group("intel-s3700/datasheet");
        let of = |name: &str| {
            let point = sheet.points.iter().find(|point| point.name == name).unwrap();
            let workload = &sheet.measures[*point.measure.as_ref().unwrap()].jobs[0].1;
            (workload.pattern, workload.queue_depth)
        };
        assert_eq!(of("write p99.9 QD1, at most"), (Pattern::RandWrite, 1));
        assert_eq!(of("IOPS consistency read"), (Pattern::RandRead, 32));
        assert_eq!(of("sequential write latency typ"), (Pattern::Write, 1));
        let rising = &group("intel-s3700/myce").measures[0].jobs[0].1;
        assert_eq!((rising.arrival.rate, rising.queue_depth), (75_000, 32));
    }

    #[test]
    fn what_rests_on_little_is_set_apart_with_its_reason() {
        for (id, name, word) in [
            ("samsung-pm9a3-960/load-90k", "read p99", Some("saturated")),
            ("samsung-pm9a3-960/load-70k", "read p99", None),
            ("samsung-pm9a3-960/load-70k", "achieved reads/s", Some("offered")),
            ("intel-s4610-480/randread-4k-qd1-j1", "p50", Some("prior contents")),
            ("intel-s3700/oberstet-linux-rw", "p50", Some("prior contents")),
            ("samsung-f1-1tb/randread-4k-qd1-j1", "p99.9", Some("rests on 4 requests")),
            ("samsung-f1-1tb/randread-4k-qd1-j1", "p99", None),
            ("samsung-980pro-1000/randread-4k-qd1-j1", "p99.99", None),
        ] {
            let apart = group(id).points.iter().find(|point| point.name == name).unwrap().apart.as_deref();
            match word {
                Some(word) => assert!(apart.is_some_and(|why| why.contains(word)), "{id} {name}: {apart:?}"),
                None => assert_eq!(apart, None, "{id} {name}"),
            }
        }
    }
}
