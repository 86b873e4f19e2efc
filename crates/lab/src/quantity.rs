//! What a figure of a review is of: a metric of requests, or time and energy as a whole.

use engine::{Consumption, Measurement};

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
    /// What it used beside what it would have used at rest, in joules.
    AboveIdle,
    /// What it used for each GiB moved, in joules.
    PerGib,
    /// What it used for each thousand requests, in joules.
    PerThousand,
}

impl Quantity {
    /// Every quantity with the name that it has in a method.
    pub const ALL: [(&'static str, Self); 12] = [
        ("iops", Self::Of(Metric::Iops)),
        ("bandwidth", Self::Of(Metric::Bandwidth)),
        ("latency-mean", Self::Of(Metric::LatencyMean)),
        ("latency-median", Self::Of(Metric::LatencyMedian)),
        ("latency-99", Self::Of(Metric::Latency99)),
        ("write-amplification", Self::Of(Metric::WriteAmplification)),
        ("elapsed", Self::Elapsed),
        ("energy", Self::Energy),
        ("power", Self::Power),
        ("energy-above-idle", Self::AboveIdle),
        ("energy-per-gib", Self::PerGib),
        ("energy-per-thousand", Self::PerThousand),
    ];

    /// All that is told of power and energy, in the order of tables.
    pub const ENERGY: [Self; 5] = [Self::Power, Self::Energy, Self::AboveIdle, Self::PerGib, Self::PerThousand];

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
            Self::AboveIdle => "J",
            Self::PerGib => "J/GiB",
            Self::PerThousand => "J/1,000",
        }
    }

    /// The words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Of(metric) => metric.title(),
            Self::Elapsed => "Time",
            Self::Energy => "Energy",
            Self::Power => "Power",
            Self::AboveIdle => "Energy above idle",
            Self::PerGib => "Energy per GiB",
            Self::PerThousand => "Energy per 1,000 requests",
        }
    }

    /// The figure; none where the measurement does not give it.
    pub fn of(self, measurement: &Measurement) -> Option<f64> {
        let elapsed = measurement.elapsed;
        let used = || consumed(measurement);
        match self {
            Self::Of(metric) => metric.of(measurement),
            Self::Elapsed => (measurement.requests() > 0).then_some(elapsed.as_secs_f64()),
            Self::Energy => used()?.joules,
            Self::Power => used()?.watts(elapsed),
            Self::AboveIdle => used()?.above_idle(elapsed),
            Self::PerGib => used()?.per_gib(measurement.bytes()),
            Self::PerThousand => used()?.per_thousand(measurement.requests()),
        }
    }
}

/// What was consumed: by a meter, or by the account of a simulated drive whose measurement was kept before both were
/// told alike.
fn consumed(measurement: &Measurement) -> Option<Consumption> {
    measurement.energy.clone().or_else(|| {
        let nanojoules = measurement.drive?.energy_nj;
        (nanojoules > 0).then(|| Consumption { joules: Some(nanojoules as f64 / 1e9), ..Consumption::default() })
    })
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
    fn a_meter_and_a_drive_that_keeps_account_give_the_same_figures() {
        let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Real);
        for i in 1..=2000 {
            measurement.record(Op::Read, Bytes::from_kib(4), Nanos::from_millis(1).times(i), Nanos::from_millis(1));
        }
        measurement.drive = Some(Counters { energy_nj: 5_000_000_000, ..Counters::default() });
        let figures = |measurement: &Measurement| Quantity::ENERGY.map(|quantity| quantity.of(measurement));
        let gib = 2000.0 * 4096.0 / f64::from(1 << 30);
        assert_eq!(figures(&measurement), [Some(2.5), Some(5.0), None, Some(5.0 / gib), Some(2.5)]);
        let metered = Consumption { joules: Some(5.0), idle_watts: Some(0.5), ..Consumption::default() };
        (measurement.drive, measurement.energy) = (None, Some(metered));
        assert_eq!(figures(&measurement), [Some(2.5), Some(5.0), Some(4.0), Some(5.0 / gib), Some(2.5)]);
        measurement.energy = Some(Consumption { idle_watts: Some(0.5), ..Consumption::default() });
        assert_eq!(figures(&measurement), [None; 5], "a meter that failed gives nothing, not zero");
    }

    #[test]
    fn nothing_is_given_where_nothing_was_measured() {
        let nothing = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for (name, quantity) in Quantity::ALL {
            assert_eq!(quantity.of(&nothing), None, "{name}");
        }
    }
}
