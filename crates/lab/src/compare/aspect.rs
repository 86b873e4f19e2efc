//! What is compared of a cell.

use serde::{Deserialize, Serialize};
use workload::Pattern;

use crate::Metric;

/// What is compared of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// Requests a second; of sequential patterns data a second.
    Throughput,
    /// Mean latency.
    Latency,
    /// The 99th percentile of latency.
    P99,
}

impl Aspect {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Latency, Self::P99];

    /// The figure that stands for it in a cell of this pattern.
    pub const fn metric(self, pattern: Pattern) -> Metric {
        match self {
            Self::Throughput if pattern.is_random() => Metric::Iops,
            Self::Throughput => Metric::Bandwidth,
            Self::Latency => Metric::LatencyMean,
            Self::P99 => Metric::Latency99,
        }
    }

    /// The word on the command line and for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::P99 => "p99",
        }
    }

    /// The words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Latency => "Mean latency",
            Self::P99 => "99 % latency",
        }
    }

    /// Which way is better.
    pub const fn better(self) -> &'static str {
        match self {
            Self::Throughput => "more is better",
            Self::Latency | Self::P99 => "less is better",
        }
    }
}
