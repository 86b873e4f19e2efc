//! The figures that a measurement gives.

use engine::Measurement;
use serde::{Deserialize, Serialize};
use workload::ReplayPace;

/// One figure that a measurement gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Requests a second.
    Iops,
    /// Data a second, in megabytes of 1,000,000 bytes.
    Bandwidth,
    /// Mean latency, in microseconds.
    LatencyMean,
    /// Median latency, in microseconds.
    LatencyMedian,
    /// 99th percentile of latency, in microseconds.
    Latency99,
    /// 99.99th percentile of latency, in microseconds.
    Latency9999,
    /// Mean latency from submission, in microseconds, where the others count from when a request came.
    ServiceMean,
    /// 99th percentile of the same.
    Service99,
    /// Data programmed into flash for each byte written.
    WriteAmplification,
    /// How long a replay took that lets who made the requests think, in seconds.
    Time,
}

impl Metric {
    /// Every metric, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Iops,
        Self::Bandwidth,
        Self::LatencyMean,
        Self::LatencyMedian,
        Self::Latency99,
        Self::Latency9999,
        Self::ServiceMean,
        Self::Service99,
        Self::WriteAmplification,
        Self::Time,
    ];

    /// The figure; none where the measurement does not give it.
    pub fn of(self, measurement: &Measurement) -> Option<f64> {
        let micros = |percent: f64| Some(measurement.latency().percentile(percent).as_micros_f64());
        match self {
            _ if measurement.requests() == 0 => None,
            Self::Iops => Some(measurement.iops()),
            Self::Bandwidth => Some(measurement.bandwidth() / 1e6),
            Self::LatencyMean => Some(measurement.latency().mean() / 1e3),
            Self::LatencyMedian => micros(50.0),
            Self::Latency99 => micros(99.0),
            Self::Latency9999 => micros(99.99),
            Self::ServiceMean => measurement.service().map(|service| service.mean() / 1e3),
            Self::Service99 => measurement.service().map(|service| service.percentile(99.0).as_micros_f64()),
            Self::WriteAmplification => measurement.drive.and_then(|counters| counters.write_amplification()),
            Self::Time => thinks(measurement).then(|| measurement.elapsed.as_secs_f64()),
        }
    }

    /// How many requests a repeat must have made for a percentile to be told from the maximum.
    pub const fn requests_needed(self) -> u64 {
        match self {
            Self::Latency99 | Self::Service99 => 100,
            Self::Latency9999 => 10_000,
            _ => 1,
        }
    }

    /// The words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "Bandwidth",
            Self::LatencyMean => "Mean latency",
            Self::LatencyMedian => "Median latency",
            Self::Latency99 => "99 % latency",
            Self::Latency9999 => "99.99 % latency",
            Self::ServiceMean => "Mean service latency",
            Self::Service99 => "99 % service latency",
            Self::WriteAmplification => "Write amplification",
            Self::Time => "Time",
        }
    }

    /// The unit; empty where there is none.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "MB/s",
            Self::LatencyMean
            | Self::LatencyMedian
            | Self::Latency99
            | Self::Latency9999
            | Self::ServiceMean
            | Self::Service99 => "µs",
            Self::WriteAmplification => "×",
            Self::Time => "s",
        }
    }

    /// Whether more is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Iops | Self::Bandwidth)
    }
}

/// Whether how long it took depends on the drive, and on somebody who thinks.
fn thinks(measurement: &Measurement) -> bool {
    let pace = measurement.workload.replay.as_ref().map(|replay| replay.pace);
    matches!(pace, Some(ReplayPace::Think | ReplayPace::ThinkAt { .. }))
}
