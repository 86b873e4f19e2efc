//! The conditions of an experiment, as workloads on a drive in a known state.

use std::ops::Range;

use block::{Bytes, Nanos};
use workload::{Arrival, ArrivalProcess, Distribution, Pattern, Stop, Workload};

use super::quantity::{Quantity, REQUESTS_BEYOND};
use super::stated::{BACKGROUND_WORKERS, Condition, IN_FLIGHT_MAX, PROBE_IOPS, Reading, wrong};
use crate::Diagnostic;

/// So many must lie beyond a published one.
const PUBLISHED_BEYOND: f64 = 20.0;

/// The queue of each worker where a load is offered.
const PROBE_DEPTH: u32 = 64;
/// The share of reads among the requests of the workers beside the probe.
const BACKGROUND_READS: u8 = 1;
/// How long an offered load lasts: 500,000 reads of the probe are due in 100 s.
const LOAD_TIME: Nanos = Nanos::from_secs(120);

/// So much can be in flight: more would be simulated beyond the end of any run.
const IN_FLIGHT_BYTES_MAX: Bytes = Bytes::from_gib(4);
/// Run before the measurement and not counted, where the source says nothing of it.
const RAMP: Nanos = Nanos::from_secs(2);
/// No measurement lasts longer.
const TIME_MAX: Nanos = Nanos::from_secs(1000);
/// How long one lasts whose rate is not published.
const TIME_DEFAULT: Nanos = Nanos::from_secs(60);
/// From so many overwrites on, in hundredths of the capacity, a flash drive is in the steady state of random writing.
const STEADY_LEAST: u32 = 100;
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
        let millis_max = TIME_MAX.as_secs_f64() * 1e3;
        let millis = |rate: f64| (1e3 * requests / rate).min(millis_max) as u64;
        let wanted = rate.map_or(TIME_DEFAULT, |rate| Nanos::from_millis(millis(rate)));
        let least = window_max.times(WINDOWS).max(Nanos::from_secs(1));
        let wanted = wanted.clamp(least, TIME_MAX.max(least));
        let source_time = self.source_time.map(|time| time.min(TIME_MAX));
        let time = source_time.filter(|_| window_max > Nanos::ZERO).unwrap_or(wanted);
        self.runs = wanted.as_nanos().div_ceil(time.as_nanos()) as u32;
        for (_, workload) in &mut self.jobs {
            workload.stop = Stop::after(time);
        }
    }
}

impl Measure {
    /// Whether a flash drive is not in the same state at its end as at its begin: it writes at random for a time that the
    /// source tells, and begins before so much was written so that nothing changes any more.
    pub fn ages(&self) -> bool {
        let is_steady = self.overwrites.is_some_and(|overwrites| overwrites >= STEADY_LEAST);
        let writes = |workload: &Workload| workload.changes_data() && workload.makes_random();
        let writes = self.jobs.iter().any(|(_, workload)| writes(workload));
        writes && !is_steady && !self.shrinks && self.source_time.is_some()
    }

    /// The same on a flash drive that is scaled down to `share` of its size: for as long as takes it as far as the source's drive,
    /// and as many times as are as long as the source's run, or as a tenth of it.
    #[must_use]
    pub fn aging(&self, share: f64, is_quick: bool) -> Self {
        let mut measure = self.clone();
        let time = self.source_time.unwrap_or_default().min(TIME_MAX);
        for (_, workload) in &mut measure.jobs {
            workload.stop = Stop::after(time);
        }
        measure.shrinks = true;
        let all = if is_quick { 0.1 } else { 1.0 };
        measure.runs = (all / share).ceil() as u32;
        measure
    }
}

/// What a point has of its own in place of its group's conditions.
#[derive(Default)]
pub(super) struct OwnCondition<'f> {
    pub(super) rw: Option<&'f str>,
    pub(super) bs: Option<Bytes>,
    pub(super) depth: Option<u32>,
    pub(super) overwrites: Option<u32>,
}

/// Why a point has no workload.
pub(super) enum Unmeasurable {
    /// The file has to be corrected.
    Mistake(Diagnostic),
    /// It is not simulated, for this reason.
    Reason(String),
}

impl From<Diagnostic> for Unmeasurable {
    fn from(mistake: Diagnostic) -> Self {
        Self::Mistake(mistake)
    }
}

/// What the conditions do not say.
fn lacking(name: &str, example: &str) -> Unmeasurable {
    Unmeasurable::Reason(format!("its conditions have no `{name}`; add `{name} = {example}`"))
}

impl Condition {
    /// The workload of the quantity `name`, whose point may have conditions of its own. What the load generator takes
    /// outside of a request's latency comes between two of a worker that has one at a time; of deeper queues it is not
    /// simulated.
    pub(super) fn measure(
        &self,
        name: &str,
        own: &OwnCondition,
        reading: &Reading,
        span: &Range<usize>,
    ) -> Result<Measure, Unmeasurable> {
        if let Some(why) = &self.lacks {
            return Err(Unmeasurable::Reason(why.clone()));
        }
        let pattern = match own.rw.or(self.rw.as_deref()) {
            _ if self.offered.is_some() => Pattern::RandRw,
            Some(rw) => pattern(rw, span)?,
            None => return Err(lacking("rw", "\"randread\"")),
        };
        let block = own.bs.or(self.bs).ok_or_else(|| lacking("bs", "4096"))?;
        let is_fresh = name.starts_with("fresh");
        let ramp = self.ramp.or(reading.ramp).unwrap_or(RAMP);
        let base = Workload { pattern, block, ramp, stop: Stop::after(LOAD_TIME), ..Workload::default() };
        let jobs = match self.offered {
            Some(offered) => load(&base, offered),
            None => vec![("", self.closed(base, own, reading, span)?)],
        };
        let mut measure = Measure {
            overwrites: own.overwrites.or(self.overwrites),
            distribution: self.distribution.clone(),
            jobs,
            shrinks: is_fresh,
            source_time: self.runtime,
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

    /// So many requests of each worker at all times, or at a rate.
    fn closed(
        &self,
        base: Workload,
        own: &OwnCondition,
        reading: &Reading,
        span: &Range<usize>,
    ) -> Result<Workload, Unmeasurable> {
        let depth = own.depth.or(self.depth).ok_or_else(|| lacking("qd", "1"))?;
        let workers = self.workers.unwrap_or(1);
        if u64::from(depth) * u64::from(workers) > IN_FLIGHT_MAX {
            let message = format!("{workers} workers with {depth} requests each are too many");
            return Err(wrong(span.clone(), message, "at most 65536 requests can be in flight").into());
        }
        let bytes = base.block.times(u64::from(depth) * u64::from(workers));
        if bytes > IN_FLIGHT_BYTES_MAX {
            let message =
                format!("{workers} workers with {depth} requests of {} each have {bytes} in flight", base.block);
            let help = format!("at most {IN_FLIGHT_BYTES_MAX} can be; give a smaller `bs` or `qd`");
            return Err(wrong(span.clone(), message, &help).into());
        }
        let rate = self.rate.unwrap_or(0);
        let think = if depth == 1 && rate == 0 { reading.outside } else { Nanos::ZERO };
        let arrival = Arrival { rate, think, ..Arrival::default() };
        let read_percent = self.read_percent.unwrap_or(base.read_percent);
        let distribution = self.distribution.clone();
        Ok(Workload { queue_depth: depth, workers, arrival, distribution, read_percent, ..base })
    }

    /// How many requests the published numbers rest on, where that is known: counted, or the `rate` times the time.
    pub(super) fn requests(&self, rate: Option<f64>) -> Option<f64> {
        self.ios.map(|ios| ios as f64).or_else(|| Some(rate? * self.runtime?.as_secs_f64()))
    }

    /// Why a quantity counts in no bar; none where it does.
    pub(super) fn apart(&self, quantity: Quantity, contents: Option<&str>, requests: Option<f64>) -> Option<String> {
        if self.is_saturated {
            return Some("saturated: the drive does not keep up".to_owned());
        }
        if let Some(contents) = contents {
            return Some(format!("prior contents unknown: {contents}"));
        }
        if self.is_state_unknown {
            return Some("prior contents unknown: not stated".to_owned());
        }
        if self.offered.is_some() && matches!(quantity, Quantity::Rate(_)) {
            return Some("the offered rate: shows only that the drive keeps up".to_owned());
        }
        let Quantity::Percentile(_, percent) = quantity else { return None };
        let beyond = requests? * (100.0 - percent) / 100.0;
        (beyond < PUBLISHED_BEYOND).then(|| format!("few requests: the published figure rests on {beyond:.0} requests"))
    }

    /// The conditions in words that are the same for two drives under the same conditions; none for a second specimen,
    /// which would count twice.
    pub(super) fn shared(&self, reading: &str) -> Option<String> {
        let word = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        (self.specimen == 1).then(|| {
            format!(
                "{reading} {} {} qd{} j{} {} {} {} {:?}",
                self.rw.as_deref().unwrap_or_default(),
                self.bs.unwrap_or_default().get(),
                word(self.depth),
                word(self.workers),
                word(self.offered),
                word(self.rate),
                self.stated_distribution,
                self.read_percent,
            )
        })
    }
}

/// The pattern that `rw` names. Words of a source, which name none, are no mistake.
fn pattern(rw: &str, span: &Range<usize>) -> Result<Pattern, Unmeasurable> {
    let known: Vec<&str> = Pattern::ALL.iter().map(|(name, _)| *name).collect();
    let help = || block::suggestion(rw, &known);
    match rw.parse() {
        Ok(pattern) => Ok(pattern),
        Err(()) if rw.contains(' ') => {
            Err(Unmeasurable::Reason(format!("`{rw}` is not a pattern; give `rw` as one of {}", known.join(", "))))
        }
        Err(()) => Err(wrong(span.clone(), format!("`{rw}` is not a pattern"), &help()).into()),
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

    /// Twelve runs of 5 s on a twelfth of the drive stand for the source's minute.
    #[test]
    fn a_drive_that_is_not_in_its_steady_state_comes_as_far_as_the_source_did() {
        let of = |id| &group(id).measures[0];
        let aging = of("intel-s4610-480/randwrite-4k-qd4-j1");
        assert!(aging.ages());
        for (is_quick, runs) in [(false, 12), (true, 2)] {
            let small = aging.aging(1.0 / 12.0, is_quick);
            assert_eq!(
                (small.runs, small.shrinks, small.jobs[0].1.stop.time),
                (runs, true, Some(Nanos::from_secs(60)))
            );
        }
        for steady in
            ["samsung-pm9a3-960/load-50k", "solidigm-p5520-1920/sat-uniform", "intel-s4610-480/randread-4k-qd4-j1"]
        {
            assert!(!of(steady).ages(), "{steady}");
        }
    }

    #[test]
    fn a_data_sheets_points_have_workloads_of_their_own() {
        let sheet = group("intel-s3700/datasheet");
        let of = |name: &str| {
            let point = sheet.points.iter().find(|point| point.name == name).unwrap();
            let measure = &sheet.measures[*point.measure.as_ref().unwrap()];
            let workload = &measure.jobs[0].1;
            (workload.pattern, workload.queue_depth, measure.overwrites)
        };
        assert_eq!(of("write p99.9 QD1, at most"), (Pattern::RandWrite, 1, Some(300)));
        assert_eq!(of("IOPS consistency read"), (Pattern::RandRead, 32, Some(300)));
        assert_eq!(of("sequential write latency typ"), (Pattern::Write, 1, Some(0)));
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
