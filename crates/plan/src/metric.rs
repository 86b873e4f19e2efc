//! The figures that a measurement gives: one table, from which plans, comparisons, reports and exports are made.

use measurement::{Better, Consumption, Figure, Flow, Measurement};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workload::{Pattern, ReplayPace};

/// All that is to be said of a figure, in one place.
#[derive(Clone, Copy)]
struct Row {
    /// The name for programs.
    key: &'static str,
    /// The name in the method of a published review; none where no method asks for it.
    word: Option<&'static str>,
    title: &'static str,
    unit: &'static str,
    better: Better,
    group: Group,
    /// The heading of a column where the title is too long, and what it means.
    heading: Option<(&'static str, &'static str)>,
    /// What a smaller and a larger value are called beside another: `slower`, `faster`.
    change: [&'static str; 2],
    /// How many requests a repeat must have made to tell it.
    requests_needed: u64,
    /// The column in tables for programs; none where columns for each direction say it.
    column: Option<&'static str>,
    /// Whether tables with room for a few figures have it.
    is_brief: bool,
    /// Whether the mean over cells means something.
    has_mean: bool,
    /// In which comparisons it is.
    compared: Compared,
    of: fn(&Measurement) -> Option<f64>,
}

/// A figure of latency: what most rows have in common.
const LATENCY: Row = Row {
    key: "",
    word: None,
    title: "",
    unit: "µs",
    better: Better::Less,
    group: Group::Latency,
    heading: None,
    change: ["shorter", "longer"],
    requests_needed: 1,
    column: None,
    is_brief: false,
    has_mean: false,
    compared: Compared::Never,
    of: |_| None,
};

const THROUGHPUT: Row = Row {
    better: Better::More,
    group: Group::Throughput,
    change: ["slower", "faster"],
    is_brief: true,
    has_mean: true,
    ..LATENCY
};

const MIXED: Row = Row { group: Group::Mixed, ..LATENCY };

const MIXED_RATE: Row = Row { group: Group::Mixed, better: Better::More, change: ["slower", "faster"], ..LATENCY };

const SERVICE: Row = Row { group: Group::Service, ..LATENCY };

const FLUSH: Row = Row { group: Group::Flush, ..LATENCY };

const ENERGY: Row = Row { group: Group::Energy, change: ["less", "more"], ..LATENCY };

/// What figures tell of alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// How much is done in a second.
    Throughput,
    /// How long requests take.
    Latency,
    /// How long they take from submission, where latency counts from when they came.
    Service,
    /// What reads and writes of a mix do, each for themselves.
    Mixed,
    /// Flushes, which are no requests: neither rates nor other latencies count them.
    Flush,
    /// What the drive does inside.
    Flash,
    /// How long all of it took.
    Time,
    /// What the drive used meanwhile: has tables of its own.
    Energy,
    /// How long it took, whoever asks: in no table.
    Elapsed,
}

/// In which comparisons of runs a figure is: by which name it is asked for there, and what that says in a help text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    Never,
    Always(&'static str, &'static str),
    /// Where it is asked for by name, or is a key figure.
    Asked(&'static str, &'static str),
    /// The throughput of workloads at random.
    AtRandom,
    /// The throughput of workloads in sequence.
    InSequence,
}

/// The table: a figure is an entry here and nothing else.
macro_rules! figures {
    ($($(#[$about:meta])* $name:ident: $row:expr;)*) => {
        /// One figure that a measurement gives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Metric { $($(#[$about])* $name),* }

        impl Metric {
            /// Every figure, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            const fn row(self) -> Row {
                match self { $(Self::$name => $row),* }
            }
        }
    };
}

figures! {
    /// Requests a second.
    Iops: Row {
        key: "iops", word: Some("iops"), title: "IOPS", unit: "IOPS", compared: Compared::AtRandom,
        of: |measured| Some(measured.iops()),
        ..THROUGHPUT
    };
    /// Data a second, in megabytes of 1,000,000 bytes.
    Bandwidth: Row {
        key: "bandwidth", word: Some("bandwidth"), title: "Bandwidth", unit: "MB/s", compared: Compared::InSequence,
        of: |measured| Some(measured.bandwidth() / 1e6),
        ..THROUGHPUT
    };
    LatencyMean: Row {
        key: "latency-mean", word: Some("latency-mean"), title: "Mean latency", compared: Compared::Always("latency", "Mean latency"),
        is_brief: true, has_mean: true, of: |measured| Some(measured.latency().mean() / 1e3),
        ..LATENCY
    };
    LatencyMedian: Row {
        key: "latency-median", word: Some("latency-median"), title: "Median latency",
        compared: Compared::Asked("median", "The median of latency"),
        of: |measured| percentile(measured, 50.0),
        ..LATENCY
    };
    /// 90th percentile of latency.
    Latency90: Row {
        key: "latency90", title: "90 % latency", requests_needed: 10,
        of: |measured| percentile(measured, 90.0),
        ..LATENCY
    };
    /// 99th percentile of latency.
    Latency99: Row {
        key: "latency99", word: Some("latency-99"), title: "99 % latency", compared: Compared::Always("p99", "The 99th percentile of latency"),
        requests_needed: 100, is_brief: true, of: |measured| percentile(measured, 99.0),
        ..LATENCY
    };
    /// 99.9th percentile of latency.
    Latency999: Row {
        key: "latency999", title: "99.9 % latency", requests_needed: 1_000,
        compared: Compared::Asked("p99.9", "The 99.9th percentile of latency"),
        of: |measured| percentile(measured, 99.9),
        ..LATENCY
    };
    /// 99.99th percentile of latency.
    Latency9999: Row {
        key: "latency9999", title: "99.99 % latency", requests_needed: 10_000,
        compared: Compared::Asked("p99.99", "The 99.99th percentile of latency"),
        of: |measured| percentile(measured, 99.99),
        ..LATENCY
    };
    /// Reads of a mix in a second.
    ReadIops: Row {
        key: "read-iops", title: "Read IOPS", unit: "IOPS", of: |measured| Some(rate(of_mix(measured)?.0, measured)),
        ..MIXED_RATE
    };
    /// Writes of a mix in a second.
    WriteIops: Row {
        key: "write-iops", title: "Write IOPS", unit: "IOPS", of: |measured| Some(rate(of_mix(measured)?.1, measured)),
        ..MIXED_RATE
    };
    /// Median latency of the reads of a mix.
    ReadMedian: Row {
        key: "read-latency-median", title: "Read median latency", of: |measured| of_flow(of_mix(measured)?.0, 50.0),
        ..MIXED
    };
    /// 99th percentile of the same.
    Read99: Row {
        key: "read-latency99", title: "Read 99 % latency", requests_needed: 100, of: |measured| of_flow(of_mix(measured)?.0, 99.0),
        ..MIXED
    };
    /// Median latency of the writes of a mix.
    WriteMedian: Row {
        key: "write-latency-median", title: "Write median latency", of: |measured| of_flow(of_mix(measured)?.1, 50.0),
        ..MIXED
    };
    /// 99th percentile of the same.
    Write99: Row {
        key: "write-latency99", title: "Write 99 % latency", requests_needed: 100, of: |measured| of_flow(of_mix(measured)?.1, 99.0),
        ..MIXED
    };
    /// Mean latency from submission, where the others count from when a request came.
    ServiceMean: Row {
        key: "service-mean", title: "Mean service latency",
        heading: Some(("Mean service", "From submission; the others count from arrival")),
        of: |measured| measured.service().map(|service| service.mean() / 1e3),
        ..SERVICE
    };
    /// 99th percentile of the same.
    Service99: Row {
        key: "service99", title: "99 % service latency", requests_needed: 100,
        heading: Some(("99 % service", "From submission; the others count from arrival")),
        of: |measured| measured.service().map(|service| service.percentile(99.0).as_micros_f64()),
        ..SERVICE
    };
    /// Flushes a second.
    FlushRate: Row {
        key: "flush-rate", title: "Flushes", unit: "1/s", better: Better::More, change: ["slower", "faster"],
        of: |measured| Some(rate(flushes(measured, 1)?, measured)),
        ..FLUSH
    };
    FlushMean: Row {
        key: "flush-latency-mean", title: "Mean flush latency", has_mean: true,
        of: |measured| Some(flushes(measured, 1)?.latency.mean() / 1e3),
        ..FLUSH
    };
    /// 99th percentile of the same.
    Flush99: Row {
        key: "flush-latency99", title: "99 % flush latency", of: |measured| of_flow(flushes(measured, 100)?, 99.0),
        ..FLUSH
    };
    /// Data programmed into flash for each byte written.
    WriteAmplification: Row {
        key: "write-amplification", word: Some("write-amplification"), title: "Write amplification", unit: "×",
        group: Group::Flash, heading: Some(("Write ampl.", "Write amplification: bytes programmed to flash per byte written by the host")),
        change: ["less", "more"], column: Some("write_amplification"),
        of: |measured| measured.drive.and_then(|counters| counters.write_amplification()),
        ..LATENCY
    };
    /// How long a replay took that lets who made the requests think, in seconds.
    Time: Row {
        key: "time", title: "Time", unit: "s", group: Group::Time,
        of: |measured| thinks(measured).then(|| measured.elapsed.as_secs_f64()),
        ..LATENCY
    };
    /// What the drive used meanwhile, in watts.
    Power: Row {
        key: "power", word: Some("power"), title: "Power", unit: "W",
        of: |measured| consumed(measured)?.watts(measured.elapsed),
        ..ENERGY
    };
    /// What the drive used meanwhile, in joules.
    Energy: Row {
        key: "energy", word: Some("energy"), title: "Energy", unit: "J", of: |measured| consumed(measured)?.joules,
        ..ENERGY
    };
    /// What it used beside what it would have used at rest, in joules.
    EnergyAboveIdle: Row {
        key: "energy-above-idle", word: Some("energy-above-idle"), title: "Energy above idle", unit: "J",
        of: |measured| consumed(measured)?.above_idle(measured.elapsed),
        ..ENERGY
    };
    /// What it used for each GiB moved, in joules.
    EnergyPerGib: Row {
        key: "energy-per-gib", word: Some("energy-per-gib"), title: "Energy per GiB", unit: "J/GiB",
        of: |measured| consumed(measured)?.per_gib(measured.bytes()),
        ..ENERGY
    };
    /// What it used for each thousand requests, in joules.
    EnergyPerThousand: Row {
        key: "energy-per-thousand", word: Some("energy-per-thousand"), title: "Energy per 1,000 requests",
        unit: "J/1,000", of: |measured| consumed(measured)?.per_thousand(measured.requests()),
        ..ENERGY
    };
    /// From the first submission to the last completion, in seconds.
    Elapsed: Row {
        key: "elapsed", word: Some("elapsed"), title: "Time", unit: "s", group: Group::Elapsed,
        of: |measured| Some(measured.elapsed.as_secs_f64()),
        ..LATENCY
    };
}

impl Metric {
    /// The figures that tables of a step have, in their order.
    pub fn tabled() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|one| !matches!(one.group(), Group::Energy | Group::Elapsed))
    }

    /// The few figures that a narrow table has room for.
    pub fn brief() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|one| one.row().is_brief)
    }

    /// The figures of this group, in the order of tables.
    pub fn of_group(group: Group) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(move |one| one.group() == group)
    }

    /// The figure that a published review's method calls so.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.row().word == Some(word))
    }

    /// The names in a method.
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().filter_map(|one| one.row().word).collect()
    }

    /// The figure; none where the measurement does not give it.
    pub fn of(self, measurement: &Measurement) -> Option<f64> {
        // Energy is used also where nothing was asked.
        let is_given = measurement.requests() > 0 || self.group() == Group::Energy;
        is_given.then(|| (self.row().of)(measurement)).flatten()
    }

    /// The same with its name, unit and direction.
    pub fn figure(self, measurement: &Measurement) -> Option<Figure> {
        let (name, unit) = (self.title().to_owned(), self.unit().to_owned());
        self.of(measurement).map(|value| Figure { name, unit, value, better: self.row().better })
    }

    /// The figure of this title.
    pub fn titled(title: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.title() == title)
    }

    /// The name of a column that has it in bytes, nanoseconds, seconds or as it is, which the name ends with: `latency_mean_ns`,
    /// `bandwidth_bytes` (a second), `iops`; and how many of those its unit is.
    pub fn base(self) -> (String, f64) {
        let (unit, scale) = match self.unit() {
            "µs" => ("_ns", 1e3),
            "MB/s" => ("_bytes", 1e6),
            "s" => ("_s", 1.0),
            _ => ("", 1.0),
        };
        (self.key().replace('-', "_") + unit, scale)
    }

    /// How many requests a repeat must have made for a percentile to be told from the maximum.
    pub const fn requests_needed(self) -> u64 {
        self.row().requests_needed
    }

    /// The name for programs.
    pub const fn key(self) -> &'static str {
        self.row().key
    }

    /// The words for people.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// The unit; empty where there is none.
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }

    /// The heading of a column, where it is not made of title and unit, and what it means.
    pub const fn heading(self) -> Option<(&'static str, &'static str)> {
        self.row().heading
    }

    /// What it tells of.
    pub const fn group(self) -> Group {
        self.row().group
    }

    /// Whether it says how much is done in a second.
    pub fn is_throughput(self) -> bool {
        self.group() == Group::Throughput
    }

    pub fn more_is_better(self) -> bool {
        self.row().better == Better::More
    }

    /// What a value is called that is smaller than another, and one that is larger.
    pub const fn change(self) -> [&'static str; 2] {
        self.row().change
    }

    /// The column that tables for programs have of it beside those of each direction.
    pub const fn column(self) -> Option<&'static str> {
        self.row().column
    }

    /// Whether the mean over cells means something.
    pub const fn has_mean(self) -> bool {
        self.row().has_mean
    }

    /// By what it is asked for in comparisons; none where it is in none.
    pub fn aspect(self) -> Option<Aspect> {
        Some(match self.row().compared {
            Compared::Never => return None,
            Compared::Always(name, about) | Compared::Asked(name, about) => {
                Aspect { name, title: self.title(), about, metrics: [self; 2] }
            }
            Compared::AtRandom | Compared::InSequence => Aspect::THROUGHPUT,
        })
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|one| one.key() == key);
        found.copied().ok_or_else(|| D::Error::custom(format_args!("there is no figure `{key}`")))
    }
}

/// What is compared of a cell: a figure, or the one of two that stands for throughput there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aspect {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Of workloads at random, and in sequence.
    metrics: [Metric; 2],
}

impl Aspect {
    /// Requests a second; of sequential patterns data a second.
    pub const THROUGHPUT: Self = Self {
        name: "throughput",
        title: "Throughput",
        about: "IOPS; of sequential patterns MB/s",
        metrics: [Metric::Iops, Metric::Bandwidth],
    };

    /// All of them, in the order of tables.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Metric::ALL.iter().filter_map(|metric| metric.aspect()).collect();
        all.dedup();
        all
    }

    /// Those that are compared of every point unless others are asked for.
    pub fn usual() -> Vec<Self> {
        let is_usual = |one: &Self| !matches!(one.metrics[0].row().compared, Compared::Asked(..));
        Self::all().into_iter().filter(is_usual).collect()
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.name == name)
    }

    /// The figure that stands for it in a cell of this pattern.
    pub const fn metric(self, pattern: Pattern) -> Metric {
        self.metrics[if pattern.is_random() { 0 } else { 1 }]
    }

    /// The word on the command line and for programs.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The words for people.
    pub const fn title(self) -> &'static str {
        self.title
    }

    /// What it is, in a line of a help text.
    pub const fn about(self) -> &'static str {
        self.about
    }
}

fn percentile(measurement: &Measurement, percent: f64) -> Option<f64> {
    Some(measurement.latency().percentile(percent).as_micros_f64())
}

/// The reads and the writes of a measurement that has both.
fn of_mix(measured: &Measurement) -> Option<(&Flow, &Flow)> {
    (measured.read.requests > 0 && measured.write.requests > 0).then_some((&measured.read, &measured.write))
}

/// The flushes of a measurement that made so many of them at least.
fn flushes(measured: &Measurement, least: u64) -> Option<&Flow> {
    Some(&measured.flush).filter(|flush| flush.requests >= least)
}

fn rate(flow: &Flow, measured: &Measurement) -> f64 {
    flow.requests as f64 / measured.elapsed.as_secs_f64()
}

fn of_flow(flow: &Flow, percent: f64) -> Option<f64> {
    Some(flow.latency.percentile(percent).as_micros_f64())
}

/// Whether how long it took depends on the drive, and on somebody who thinks.
fn thinks(measurement: &Measurement) -> bool {
    let pace = measurement.workload.replay.as_ref().map(|replay| replay.pace);
    matches!(pace, Some(ReplayPace::Think | ReplayPace::ThinkAt { .. }))
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
mod tests;
