//! The requests of one kind in fio's words.

use std::collections::BTreeMap;

use block::Nanos;
use measurement::{Flow, TICK, Tick, TimesSum};
use serde::Serialize;
use stats::Histogram;

use super::{FioJob, Keys};

/// The percentiles that fio prints unless told otherwise.
pub(super) const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// The requests of one kind.
#[derive(Serialize)]
pub(super) struct Direction {
    pub(super) io_bytes: u64,
    pub(super) io_kbytes: u64,
    pub(super) bw_bytes: u64,
    pub(super) bw: u64,
    pub(super) iops: f64,
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    pub(super) short_ios: u64,
    pub(super) drop_ios: u64,
    pub(super) slat_ns: Latency,
    pub(super) clat_ns: Latency,
    pub(super) lat_ns: Latency,
    pub(super) bw_min: u64,
    pub(super) bw_max: u64,
    pub(super) bw_agg: f64,
    pub(super) bw_mean: f64,
    pub(super) bw_dev: f64,
    pub(super) bw_samples: usize,
    pub(super) iops_min: u64,
    pub(super) iops_max: u64,
    pub(super) iops_mean: f64,
    pub(super) iops_stddev: f64,
    pub(super) iops_samples: usize,
}

impl Direction {
    pub(super) fn of(job: &FioJob, flow: &Flow, time: Nanos, completed: impl Fn(&Tick) -> u64, plus: bool) -> Self {
        let seconds = (time.as_nanos() / TICK.as_nanos()) as usize;
        let per_second = |amount: u64| if time > Nanos::ZERO { amount as f64 / time.as_secs_f64() } else { 0.0 };
        let iops: Vec<f64> =
            job.single.measurement.series.iter().take(seconds).map(|tick| completed(tick) as f64).collect();
        let mean = if flow.requests > 0 { flow.bytes.get() as f64 / flow.requests as f64 } else { 0.0 };
        let kib_per_request = mean / 1024.0;
        let (bw, iops) = (Samples::of(&iops, kib_per_request), Samples::of(&iops, 1.0));
        let service = flow.service.as_deref().unwrap_or(&flow.latency);
        let bytes = flow.bytes.get();
        let bw_bytes = per_second(bytes) as u64;
        // Tools divide by it, so a run of less than a millisecond counts as one.
        let runtime = if flow.requests > 0 { (time.as_nanos() / 1_000_000).max(1) } else { 0 };
        Self {
            io_bytes: bytes,
            io_kbytes: bytes / 1024,
            bw_bytes,
            bw: bw_bytes / 1024,
            iops: per_second(flow.requests),
            runtime,
            total_ios: flow.requests,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: Latency::default(),
            clat_ns: Latency::in_full(service, job.percentiles(), plus),
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

impl Direction {
    /// The same with how long submissions took.
    pub(super) fn submitted_in(self, times: &TimesSum) -> Self {
        let (min, max) = (times.min.as_nanos(), times.max.as_nanos());
        let (mean, stddev) = (times.mean(), times.deviation());
        Self { slat_ns: Latency { min, max, mean, stddev, count: times.count, ..Latency::default() }, ..self }
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

/// How long requests took, in nanoseconds; all zero where none was timed, as fio has it.
#[derive(Default, Serialize)]
pub(super) struct Latency {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) stddev: f64,
    #[serde(rename = "N")]
    pub(super) count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) percentile: Option<Keys<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bins: Option<Keys<String, u64>>,
}

impl Latency {
    pub(super) fn of(latency: &Histogram) -> Self {
        Self {
            min: latency.min().as_nanos(),
            max: latency.max().as_nanos(),
            mean: latency.mean(),
            stddev: of_sample(latency.deviation(), latency.count()),
            count: latency.count(),
            percentile: None,
            bins: None,
        }
    }

    /// With percentiles and, where `plus` says so, the whole distribution, where there is one.
    pub(super) fn in_full(latency: &Histogram, list: &[f64], plus: bool) -> Self {
        let bins = if plus { bins(latency) } else { None };
        Self { percentile: percentiles(latency, list), bins, ..Self::of(latency) }
    }
}

/// The deviation as fio has it, with one less than the count as divisor.
fn of_sample(deviation: f64, count: u64) -> f64 {
    if count < 2 { 0.0 } else { deviation * (count as f64 / (count - 1) as f64).sqrt() }
}

fn percentiles(latency: &Histogram, list: &[f64]) -> Option<Keys<String, u64>> {
    let of = |percent: &f64| (format!("{percent:.6}"), latency.percentile(*percent).as_nanos());
    (!latency.is_empty()).then(|| Keys(list.iter().map(of).collect()))
}

/// The distribution in fio's classes, each by the latency in its middle.
fn bins(latency: &Histogram) -> Option<Keys<String, u64>> {
    let mut classes = BTreeMap::new();
    for (each, count) in latency.bins() {
        *classes.entry(middle(each.as_nanos())).or_insert(0) += count;
    }
    (!latency.is_empty()).then(|| Keys(classes.into_iter().map(|(ns, count)| (ns.to_string(), count)).collect()))
}

/// The middle of fio's class of this latency: 64 classes to each power of two, and one to each nanosecond below 128.
///
/// Source: fio 3.33, `stat.c`, `plat_val_to_idx` and `plat_idx_to_val`.
fn middle(ns: u64) -> u64 {
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(6);
    (ns >> shift << shift) + (1 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_fio_s() {
        // Keys that fio 3.33 printed, and the ends of their classes.
        let table = [
            (0, 0),
            (127, 127),
            (128, 129),
            (65_024, 65_280),
            (65_535, 65_280),
            (67_000, 67_072),
            (2_624_724, 2_637_824),
        ];
        for (ns, class) in table {
            assert_eq!(middle(ns), class, "{ns} ns");
        }
        assert_eq!(middle(u64::MAX), u64::MAX - (1 << 56) + 1, "the last class does not overflow");
    }
}
