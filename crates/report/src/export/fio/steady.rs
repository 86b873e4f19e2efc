//! The steady state that ended jobs, as fio has it.

use measurement::{Settling, SteadySample};
use serde::Serialize;
use workload::{SteadyCriterion, SteadyFigure, SteadyMeasure};

use super::number::{Base, short};

/// What came of it.
///
/// Source: fio 3.33, `stat.c`, `add_ddir_status_json` and `show_ss_normal`; what concerns latencies, of later versions.
#[derive(Serialize)]
pub(super) struct Steady {
    ss: String,
    duration: u64,
    attained: u8,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    data: Data,
}

/// The values of the latest window; 0 as in fio where there were not so many yet.
#[derive(Serialize)]
struct Data {
    bw_mean: u64,
    iops_mean: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_mean: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<Vec<u64>>,
    iops: Vec<u64>,
    bw: Vec<u64>,
}

impl Steady {
    /// None where no steady state ends the jobs.
    pub(super) fn of(settling: &Settling) -> Option<Self> {
        let end = settling.end();
        let SteadyCriterion { figure, of, is_percent, limit } = end.criterion?;
        let unit = if is_percent { "%" } else { "" };
        let trend = settling.trend().unwrap_or_default();
        let values = |of: fn(&SteadySample) -> f64| {
            let there = settling.samples().map(|sample| of(&sample) as u64);
            there.chain(std::iter::repeat(0)).take(end.values()).collect::<Vec<_>>()
        };
        let mean = |values: &[u64]| values.iter().sum::<u64>() / values.len().max(1) as u64;
        let (iops, bw) = (values(|sample| sample.iops), values(|sample| sample.bandwidth));
        let lat_ns = (figure == SteadyFigure::Latency).then(|| values(|sample| sample.latency));
        // fio's has a sign, which its limit does not regard.
        let sign = if of == SteadyMeasure::Slope { trend.slope.signum() } else { 1.0 };
        let (max_deviation, slope) = match of {
            SteadyMeasure::Deviation => (trend.deviation, 0.0),
            SteadyMeasure::Slope => (0.0, trend.slope),
        };
        Some(Self {
            ss: format!("{}{}:{:.6}{unit}", figure.name(), of.suffix(), limit.get()),
            duration: end.window.as_nanos() / 1_000_000_000,
            attained: u8::from(settling.is_attained()),
            criterion: format!("{:.6}{unit}", sign * settling.value().unwrap_or_default()),
            max_deviation,
            slope,
            data: Data {
                bw_mean: mean(&bw),
                iops_mean: mean(&iops),
                lat_mean: lat_ns.as_deref().map(mean),
                lat_ns,
                iops,
                bw,
            },
        })
    }

    /// fio's line of it.
    pub(super) fn line(&self) -> String {
        let Self { ss, attained, criterion, data, .. } = self;
        let attained = if *attained == 1 { "yes" } else { "no" };
        let rate = |base| short(data.bw_mean, 4, base, "B/s");
        let iops = short(data.iops_mean, 4, Base::Decimal, "");
        let latency = data.lat_mean.map_or_else(String::new, |mean| {
            let (unit, nanos) = match mean {
                2_000_001.. => ("msec", 1_000_000),
                2_001.. => ("usec", 1_000),
                _ => ("nsec", 1),
            };
            format!(", lat={}{unit}", short(mean / nanos, 4, Base::Decimal, ""))
        });
        let name = ss.split(':').next().unwrap_or_default();
        let what =
            name.strip_suffix("_slope").map_or_else(|| format!("{name} mean dev"), |name| format!("{name} slope"));
        let unit = if criterion.ends_with('%') { "%" } else { "" };
        let value: f64 = criterion.trim_end_matches('%').parse().unwrap_or_default();
        format!(
            "  steadystate  : attained={attained}, bw={} ({}), iops={iops}{latency}, {what}={value:.3}{unit}\n",
            rate(Base::Binary),
            rate(Base::Decimal),
        )
    }
}
