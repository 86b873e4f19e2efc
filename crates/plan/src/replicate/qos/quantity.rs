//! What a published number is of, and how it is worked out from measurements.

use block::{Nanos, Op};
use measurement::Measurement;
use stats::{Histogram, median};

/// The length of the windows in which requests are counted; others are multiples of it.
pub const WINDOW: Nanos = Nanos::from_millis(500);

/// So many requests must lie beyond a percentile of ours for it to count.
pub const REQUESTS_BEYOND: f64 = 50.0;

/// Longer windows would take more of them than a run has time for.
const WINDOW_MAX: Nanos = Nanos::from_secs(50);

/// What a published number is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Requests a second, of one kind or of all, of all jobs together.
    Rate(Option<Op>),
    /// The mean latency.
    Mean,
    /// The latency that so many percent of the requests of one kind, or of all, do not exceed.
    Percentile(Option<Op>, f64),
    /// The longest latency.
    Max(Option<Op>),
    /// The standard deviation of the latency.
    Deviation,
    /// The fewest requests a second in any window of this length.
    WindowMin(Nanos),
    /// The most.
    WindowMax(Nanos),
    /// Their standard deviation.
    WindowDeviation(Nanos),
    /// The rate that 99.9 % of the seconds exceed, in percent of the mean.
    SlowestSecond,
    /// The share of seconds whose rate is within 1 % of the mean, in percent.
    NearMean,
}

/// How a published number is to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// It was measured.
    Value,
    /// At most this was promised or seen.
    AtMost,
    /// At least this.
    AtLeast,
}

/// Which bar a number counts towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Rates and means.
    Rate,
    /// 50 % and 99 %.
    Typical,
    /// 99.9 % and 99.99 %.
    Tail,
    /// Deviation and minimum.
    Consistency,
    /// Beyond 99.99 % and the extremes: no bar.
    Extreme,
}

impl Kind {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Rate, Self::Typical, Self::Tail, Self::Consistency, Self::Extreme];

    /// What they are, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rate => "rates and means",
            Self::Typical => "p50 and p99",
            Self::Tail => "p99.9 and p99.99",
            Self::Consistency => "consistency",
            Self::Extreme => "beyond p99.99, extremes",
        }
    }

    /// The word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Typical => "typical",
            Self::Tail => "tail",
            Self::Consistency => "consistency",
            Self::Extreme => "extreme",
        }
    }
}

/// A quantity of a simulated drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// In the unit of the published number: µs, requests a second, or percent.
    pub value: f64,
    /// How many requests it rests on: those beyond a percentile, or those of a second of which each is compared with the mean;
    /// none where any number will do.
    pub rests_on: Option<f64>,
}

impl Quantity {
    /// The quantity and sense that a name of the file means: `read p99.9 QD1, at most`.
    pub fn parse(name: &str) -> Option<(Self, Sense)> {
        let (name, sense) = [(", at most", Sense::AtMost), (", below", Sense::AtMost), (", at least", Sense::AtLeast)]
            .into_iter()
            .find_map(|(suffix, sense)| Some((name.strip_suffix(suffix)?, sense)))
            .unwrap_or((name, Sense::Value));
        let name = name.strip_suffix(", about").or(name.strip_suffix(" typ")).unwrap_or(name);
        let name = name.strip_suffix(" (whole half)").unwrap_or(name);
        let name = match name.rsplit_once(" QD") {
            Some((before, depth)) if depth.parse::<u32>().is_ok() => before,
            _ => name,
        };
        let (op, bare) = match (name.strip_prefix("read "), name.strip_prefix("write ")) {
            (Some(rest), _) => (Some(Op::Read), rest),
            (_, Some(rest)) => (Some(Op::Write), rest),
            _ => (None, name),
        };
        let quantity = match (name, bare) {
            ("IOPS" | "mean IOPS" | "fresh IOPS, seconds 3-12", _) => Self::Rate(None),
            ("achieved reads/s", _) => Self::Rate(Some(Op::Read)),
            ("achieved writes/s", _) => Self::Rate(Some(Op::Write)),
            ("mean" | "typical latency" | "mean latency up to 75,000 IOPS", _) => Self::Mean,
            ("random read latency" | "random write latency", _) => Self::Mean,
            ("sequential read latency" | "sequential write latency", _) => Self::Mean,
            ("latency std dev", _) => Self::Deviation,
            ("one-second averages within 1 % of the mean", _) => Self::NearMean,
            (consistency, _) if consistency.starts_with("IOPS consistency") => Self::SlowestSecond,
            (_, "max") => Self::Max(op),
            (_, percentile) if percentile.starts_with('p') => {
                let percent: f64 = percentile[1..].parse().ok().filter(|percent| (0.0..100.0).contains(percent))?;
                Self::Percentile(op, percent)
            }
            (windowed, _) => windowed_quantity(windowed)?,
        };
        Some((quantity, sense))
    }

    /// The queue depth that a name of the file has: 1 of `read p99.9 QD1, at most`.
    pub fn depth(name: &str) -> Option<u32> {
        let (_, rest) = name.split_once(" QD")?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok().filter(|depth| *depth > 0)
    }

    /// The unit in which it is worked out, as the file writes it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Mean | Self::Percentile(..) | Self::Max(_) | Self::Deviation => "us",
            Self::Rate(_) | Self::WindowMin(_) | Self::WindowMax(_) | Self::WindowDeviation(_) => "IOPS",
            Self::SlowestSecond | Self::NearMean => "%",
        }
    }

    /// So many requests of ours it must rest on to count. Of a second, one request more or less is to be within 1 %.
    pub fn rests_on_least(self) -> f64 {
        match self {
            Self::NearMean => 100.0,
            _ => REQUESTS_BEYOND,
        }
    }

    /// Which bar it counts towards.
    pub fn kind(self) -> Kind {
        match self {
            Self::Rate(_) | Self::Mean => Kind::Rate,
            Self::Percentile(_, percent) if percent <= 99.0 => Kind::Typical,
            Self::Percentile(_, percent) if percent <= 99.99 => Kind::Tail,
            Self::Percentile(..) | Self::Max(_) | Self::WindowMax(_) => Kind::Extreme,
            Self::Deviation | Self::WindowMin(_) | Self::WindowDeviation(_) => Kind::Consistency,
            Self::SlowestSecond | Self::NearMean => Kind::Consistency,
        }
    }

    /// The length of the windows in which it counts requests; none where it counts none.
    pub fn window(self) -> Option<Nanos> {
        match self {
            Self::WindowMin(window) | Self::WindowMax(window) | Self::WindowDeviation(window) => Some(window),
            Self::SlowestSecond | Self::NearMean => Some(Nanos::from_secs(1)),
            _ => None,
        }
    }

    /// Works it out: latencies are those of the first of `jobs`, rates those of all. `runs` has the requests of all jobs in
    /// each [`WINDOW`], for each run; of what is counted in windows it is the run in the middle.
    ///
    /// None where nothing of the kind was measured.
    pub fn of(self, jobs: &[Measurement], runs: &[Vec<u64>]) -> Option<Simulated> {
        let of_op = |op| histogram(&jobs[0], op);
        let plain = |value| Simulated { value, rests_on: None };
        let found = match self {
            Self::Rate(op) if jobs.iter().all(|job| requests(job, op) == 0) => return None,
            Self::Rate(op) => plain(jobs.iter().map(|job| rate(job, op)).sum()),
            Self::Mean => plain(of_op(None)?.mean() / 1e3),
            Self::Deviation => plain(of_op(None)?.deviation() / 1e3),
            Self::Max(op) => plain(of_op(op)?.max().as_nanos() as f64 / 1e3),
            Self::Percentile(op, percent) => {
                let latencies = of_op(op)?;
                let beyond = latencies.count() as f64 * (100.0 - percent) / 100.0;
                Simulated { value: latencies.percentile(percent).as_nanos() as f64 / 1e3, rests_on: Some(beyond) }
            }
            _ => {
                let window = self.window()?;
                let of_run = |counts: &Vec<u64>| self.of_rates(rates(counts, window));
                let value = median(runs.iter().filter_map(of_run))?;
                let a_second = || jobs.iter().map(|job| rate(job, None)).sum();
                Simulated { value, rests_on: (self == Self::NearMean).then(a_second) }
            }
        };
        Some(found)
    }

    /// Works it out from the rates of one run's windows. None where there are none, or where it is no such quantity.
    fn of_rates(self, mut rates: Vec<f64>) -> Option<f64> {
        rates.sort_by(f64::total_cmp);
        let (least, most) = (*rates.first()?, *rates.last()?);
        let mean_of = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / rates.len() as f64;
        let mean = mean_of(&mut rates.iter().copied());
        match self {
            Self::WindowMin(_) => Some(least),
            Self::WindowMax(_) => Some(most),
            Self::WindowDeviation(_) => Some(mean_of(&mut rates.iter().map(|rate| (rate - mean).powi(2))).sqrt()),
            Self::SlowestSecond => Some(100.0 * rates[rates.len() / 1000] / mean),
            Self::NearMean => {
                let near = rates.iter().filter(|rate| (*rate / mean - 1.0).abs() <= 0.01).count();
                Some(100.0 * near as f64 / rates.len() as f64)
            }
            _ => None,
        }
    }
}

/// `min IOPS (10 s)`, `IOPS std dev (0.5 s samples)`.
fn windowed_quantity(name: &str) -> Option<Quantity> {
    let (what, window) = name.strip_suffix(')')?.split_once(" (")?;
    let seconds: f64 = window.trim_end_matches(" samples").strip_suffix(" s")?.parse().ok()?;
    if !(0.0..=WINDOW_MAX.as_secs_f64()).contains(&seconds) {
        return None;
    }
    let window = Nanos::from_millis((seconds * 1e3) as u64);
    let is_whole = window >= WINDOW && window.as_nanos().is_multiple_of(WINDOW.as_nanos());
    match what {
        _ if !is_whole => None,
        "min IOPS" => Some(Quantity::WindowMin(window)),
        "max IOPS" => Some(Quantity::WindowMax(window)),
        "IOPS std dev" => Some(Quantity::WindowDeviation(window)),
        _ => None,
    }
}

/// From submission to completion; of requests of one kind, or of all. None where there were none.
fn histogram(job: &Measurement, op: Option<Op>) -> Option<Histogram> {
    let of = |flow: &measurement::Flow| flow.service.as_deref().unwrap_or(&flow.latency).clone();
    let latencies = match op {
        Some(Op::Read) => of(&job.read),
        Some(_) => of(&job.write),
        None => {
            let mut all = of(&job.read);
            all.merge(&of(&job.write));
            all.merge(&of(&job.trim));
            all
        }
    };
    (!latencies.is_empty()).then_some(latencies)
}

/// How many of one kind were completed, or of all.
fn requests(job: &Measurement, op: Option<Op>) -> u64 {
    match op {
        Some(Op::Read) => job.read.requests,
        Some(_) => job.write.requests,
        None => job.requests(),
    }
}

fn rate(job: &Measurement, op: Option<Op>) -> f64 {
    requests(job, op) as f64 / job.elapsed.as_secs_f64()
}

/// The rates of all whole windows of this length.
fn rates(counts: &[u64], window: Nanos) -> Vec<f64> {
    let width = (window.as_nanos() / WINDOW.as_nanos()) as usize;
    counts.chunks_exact(width).map(|chunk| chunk.iter().sum::<u64>() as f64 / window.as_secs_f64()).collect()
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Seed};
    use measurement::Clock;
    use workload::Workload;

    use super::*;

    #[test]
    fn every_name_of_the_file_has_a_meaning() {
        let second = Nanos::from_secs(1);
        for (name, quantity, sense) in [
            ("IOPS", Quantity::Rate(None), Sense::Value),
            ("IOPS QD8, about", Quantity::Rate(None), Sense::Value),
            ("IOPS QD16, at least", Quantity::Rate(None), Sense::AtLeast),
            ("achieved writes/s", Quantity::Rate(Some(Op::Write)), Sense::Value),
            ("mean latency up to 75,000 IOPS, below", Quantity::Mean, Sense::AtMost),
            ("read p99.9 QD1, at most", Quantity::Percentile(Some(Op::Read), 99.9), Sense::AtMost),
            ("write max (whole half)", Quantity::Max(Some(Op::Write)), Sense::Value),
            ("p50", Quantity::Percentile(None, 50.0), Sense::Value),
            ("IOPS std dev (0.5 s samples)", Quantity::WindowDeviation(WINDOW), Sense::Value),
            ("min IOPS (1 s)", Quantity::WindowMin(second), Sense::Value),
            ("max IOPS (10 s)", Quantity::WindowMax(second.times(10)), Sense::Value),
            ("IOPS consistency: 99.9 % slowest second / mean", Quantity::SlowestSecond, Sense::Value),
        ] {
            assert_eq!(Quantity::parse(name), Some((quantity, sense)), "{name}");
        }
        assert_eq!(Quantity::depth("read p99.9 QD16, at most"), Some(16));
        for name in ["read latency (400 GB), QD not in excerpt", "p50", "p50 QD0", "p50 QD99999999999"] {
            assert_eq!(Quantity::depth(name), None, "{name}");
        }
        for name in ["median", "p100", "pnan", "pfew", "min IOPS (inf s)", "min IOPS (nan s)", "min IOPS (1e18 s)"] {
            assert_eq!(Quantity::parse(name), None, "{name}");
        }
        for name in ["min IOPS (0.3 s)", "min IOPS", "read", "mean latency"] {
            assert_eq!(Quantity::parse(name), None, "{name}");
        }
    }

    #[test]
    fn trims_are_requests_and_a_kind_of_which_there_was_none_has_no_rate() {
        let mut job = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for number in 1..=4 {
            job.record(Op::Trim, Bytes::from_kib(4), Nanos::from_secs(number), Nanos::from_micros(10 * number));
        }
        let jobs = [job];
        let of = |quantity: Quantity| quantity.of(&jobs, &[]).map(|simulated| simulated.value);
        assert_eq!((of(Quantity::Rate(None)), of(Quantity::Mean)), (Some(1.0), Some(25.0)));
        assert_eq!(of(Quantity::Max(None)), Some(40.0));
        for op in [Op::Read, Op::Write] {
            assert_eq!((of(Quantity::Rate(Some(op))), of(Quantity::Max(Some(op)))), (None, None), "{op:?}");
        }
    }

    #[test]
    fn quantities_agree_with_counting_by_hand() {
        let mut job = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for (number, micros) in (1..).zip([10, 20, 30, 40]) {
            let op = if micros < 30 { Op::Read } else { Op::Write };
            job.record(op, Bytes::from_kib(4), Nanos::from_secs(number), Nanos::from_micros(micros));
        }
        let jobs = [job.clone(), job];
        let of = |quantity: Quantity| quantity.of(&jobs, &[vec![10, 20, 30, 40, 50]]).unwrap().value;
        let second = Nanos::from_secs(1);
        assert_eq!(of(Quantity::Rate(None)), 2.0, "two jobs, four requests in four seconds each");
        assert_eq!(of(Quantity::Rate(Some(Op::Read))), 1.0);
        assert_eq!(of(Quantity::Mean), 25.0, "of the first job alone");
        assert_eq!(of(Quantity::Max(Some(Op::Read))), 20.0);
        assert!((of(Quantity::Deviation) - 125.0_f64.sqrt()).abs() < 1e-9);
        assert!((of(Quantity::Percentile(None, 50.0)) / 20.0 - 1.0).abs() < 1e-3);
        assert_eq!(Quantity::Percentile(None, 50.0).of(&jobs, &[]).unwrap().rests_on, Some(2.0));
        assert_eq!(Quantity::NearMean.of(&jobs, &[vec![1, 1]]).unwrap().rests_on, Some(2.0));
        assert_eq!((of(Quantity::WindowMin(WINDOW)), of(Quantity::WindowMax(second))), (20.0, 70.0));
        assert_eq!(of(Quantity::WindowDeviation(second)), 20.0, "30 and 70; the half second at the end is left out");
        assert_eq!(of(Quantity::SlowestSecond), 60.0);
        assert_eq!(of(Quantity::NearMean), 0.0);
        assert_eq!(Quantity::WindowMin(second).of(&jobs, &[vec![7]]), None, "no whole window");
        let runs = [vec![10, 20, 90], vec![50, 60, 70], vec![30, 10, 35]];
        let middle = Quantity::WindowMin(WINDOW).of(&jobs, &runs).unwrap().value;
        assert_eq!(middle, 20.0, "the least of each run is 20, 100 and 20 a second");
    }
}
