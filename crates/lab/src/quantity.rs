//! What a figure of a review is of: a metric of requests, or time and energy as a whole.

use engine::Measurement;

use crate::Metric;

/// What a measurement gives for a figure of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// A metric of the requests.
    Of(Metric),
    /// From the first submission to the last completion, in seconds.
    Elapsed,
    /// What the drive used meanwhile, in joules.
    Energy,
    /// What the drive used meanwhile, in watts.
    Power,
}

impl Quantity {
    /// Every quantity with the name that it has in a method.
    pub const ALL: [(&'static str, Self); 9] = [
        ("iops", Self::Of(Metric::Iops)),
        ("bandwidth", Self::Of(Metric::Bandwidth)),
        ("latency-mean", Self::Of(Metric::LatencyMean)),
        ("latency-median", Self::Of(Metric::LatencyMedian)),
        ("latency-99", Self::Of(Metric::Latency99)),
        ("write-amplification", Self::Of(Metric::WriteAmplification)),
        ("elapsed", Self::Elapsed),
        ("energy", Self::Energy),
        ("power", Self::Power),
    ];

    /// The names in a method.
    pub fn names() -> [&'static str; Self::ALL.len()] {
        Self::ALL.map(|(name, _)| name)
    }

    /// The quantity of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, quantity)| quantity)
    }

    /// The unit; empty where there is none.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Of(metric) => metric.unit(),
            Self::Elapsed => "s",
            Self::Energy => "J",
            Self::Power => "W",
        }
    }

    /// The figure; none where the measurement does not give it.
    pub fn of(self, measurement: &Measurement) -> Option<f64> {
        let seconds = measurement.elapsed.as_secs_f64();
        match self {
            Self::Of(metric) => metric.of(measurement),
            Self::Elapsed => (measurement.requests() > 0).then_some(seconds),
            Self::Energy => energy(measurement),
            Self::Power => energy(measurement).filter(|_| seconds > 0.0).map(|joules| joules / seconds),
        }
    }
}

/// What a drive that keeps account of its energy used, in joules.
fn energy(measurement: &Measurement) -> Option<f64> {
    let nanojoules = measurement.drive?.energy_nj;
    (nanojoules > 0).then(|| nanojoules as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos, Op, Seed};
    use drive::Counters;
    use engine::Clock;
    use workload::Workload;

    use super::*;

    #[test]
    fn a_measurement_gives_each_quantity_in_its_unit() {
        let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        let each = Nanos::from_millis(1);
        for i in 1..=2000 {
            measurement.record(Op::Write, Bytes::from_kib(4), each.times(i), each);
        }
        let page = Bytes::from_kib(4);
        let counters = Counters { host_written: page.times(2000), pages_programmed: 3000, page, ..Counters::default() };
        measurement.drive = Some(counters);
        for (name, expected) in [
            ("iops", 1000.0),
            ("bandwidth", 4.096),
            ("latency-mean", 1000.0),
            ("write-amplification", 1.5),
            ("elapsed", 2.0),
        ] {
            let found = Quantity::named(name).unwrap().of(&measurement).unwrap();
            assert!((found / expected - 1.0).abs() < 0.002, "{name}: {found}");
        }
    }

    #[test]
    fn nothing_is_given_where_nothing_was_measured() {
        let nothing = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for (name, quantity) in Quantity::ALL {
            assert_eq!(quantity.of(&nothing), None, "{name}");
        }
    }
}
