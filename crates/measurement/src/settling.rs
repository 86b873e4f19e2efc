//! Whether a measurement has come to the steady state that ends its workload.

use std::collections::VecDeque;

use block::Nanos;
use stats::Trend;
use workload::{SteadyCriterion, SteadyEnd, SteadyFigure, SteadyMeasure};

use crate::{Measurement, TICK, Tick};

const _: () = assert!(TICK.as_nanos() == SteadyEnd::TICK.as_nanos(), "what is judged are intervals of the series");

/// What an interval of the series adds to a value that is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickSum {
    requests: u64,
    bytes: u64,
    latency: u64,
}

impl From<&Tick> for TickSum {
    fn from(tick: &Tick) -> Self {
        Self { requests: tick.requests(), bytes: tick.bytes.get(), latency: tick.latency_total.as_nanos() }
    }
}

impl TickSum {
    /// Adds what others completed in the same interval, or the same ones in the next.
    pub fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency = self.latency.saturating_add(other.latency);
    }
}

/// A value of each figure that can be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadySample {
    pub iops: f64,
    /// Bytes a second.
    pub bandwidth: f64,
    /// The mean, in nanoseconds; 0 where nothing was completed.
    pub latency: f64,
}

impl SteadySample {
    fn of(sum: TickSum, interval: Nanos) -> Self {
        let TickSum { requests, bytes, latency } = sum;
        let seconds = interval.as_secs_f64();
        Self {
            iops: requests as f64 / seconds,
            bandwidth: bytes as f64 / seconds,
            latency: latency as f64 / requests.max(1) as f64,
        }
    }

    fn get(&self, figure: SteadyFigure) -> f64 {
        match figure {
            SteadyFigure::Iops => self.iops,
            SteadyFigure::Bandwidth => self.bandwidth,
            SteadyFigure::Latency => self.latency,
        }
    }
}

/// The way of a measurement to the steady state that ends its workload, interval by interval.
#[derive(Clone, Debug)]
pub struct Settling {
    end: SteadyEnd,
    criterion: SteadyCriterion,
    /// How much of the counted time was seen.
    seen: Nanos,
    /// What was completed in the value under way.
    sum: TickSum,
    samples: VecDeque<SteadySample>,
    /// What the latest whole window shows.
    trend: Option<Trend>,
    is_attained: bool,
}

impl Settling {
    /// None where no steady state ends the workload.
    pub fn new(end: SteadyEnd) -> Option<Self> {
        let criterion = end.criterion?;
        let (seen, sum, samples) = (Nanos::ZERO, TickSum::default(), VecDeque::with_capacity(end.values()));
        Some(Self { end, criterion, seen, sum, samples, trend: None, is_attained: false })
    }

    /// Takes what was completed in the next interval of the series; whether the state is steady, after which nothing more is
    /// taken.
    pub fn push(&mut self, tick: TickSum) -> bool {
        if self.is_attained {
            return true;
        }
        self.seen += TICK;
        // The ramp takes whole intervals.
        if self.seen < self.end.ramp + TICK {
            return false;
        }
        self.sum.add(tick);
        let judged = self.seen - Nanos::from_nanos(self.end.ramp.as_nanos().next_multiple_of(TICK.as_nanos()));
        if !judged.as_nanos().is_multiple_of(self.end.interval.as_nanos()) {
            return false;
        }
        if self.samples.len() == self.end.values() {
            self.samples.pop_front();
        }
        self.samples.push_back(SteadySample::of(std::mem::take(&mut self.sum), self.end.interval));
        if self.samples.len() == self.end.values() {
            let values: Vec<f64> = self.samples.iter().map(|sample| sample.get(self.criterion.figure)).collect();
            self.trend = Some(Trend::of(&values));
            self.is_attained = self.value().is_some_and(|value| value < self.criterion.limit.get());
        }
        self.is_attained
    }

    /// What is held against the limit, without its sign; none before the first whole window.
    pub fn value(&self) -> Option<f64> {
        let Trend { mean, deviation, slope } = self.trend?;
        let amount = match self.criterion.of {
            SteadyMeasure::Deviation => deviation,
            SteadyMeasure::Slope => slope.abs(),
        };
        // Where nothing happens nothing is steady.
        Some(match self.criterion.is_percent {
            true if mean == 0.0 => f64::INFINITY,
            true => 100.0 * amount / mean,
            false => amount,
        })
    }

    /// Whether the state is steady.
    pub fn is_attained(&self) -> bool {
        self.is_attained
    }

    /// What is to come to what, and over which time.
    pub fn end(&self) -> SteadyEnd {
        self.end
    }

    /// When it was steady, or how far it was seen, since counting began.
    pub fn seen(&self) -> Nanos {
        self.seen
    }

    /// What the latest whole window shows; none before the first.
    pub fn trend(&self) -> Option<Trend> {
        self.trend
    }

    /// The latest values, a window at most.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &SteadySample> {
        self.samples.iter()
    }
}

/// How many whole intervals a time has.
const fn intervals(time: Nanos) -> usize {
    (time.as_nanos() / TICK.as_nanos()) as usize
}

impl Settling {
    /// How what was measured side by side, each from its own begin, came to the first steady state that ends any of it; none
    /// where none does.
    pub fn of<'m>(measured: impl Iterator<Item = &'m Measurement> + Clone) -> Option<Self> {
        let end = measured.clone().map(|one| one.workload.stop.steady).find(|end| end.criterion.is_some())?;
        let judged = measured.filter(|one| one.workload.stop.steady == end);
        let mut settling = Self::new(end)?;
        let begin = judged.clone().map(|one| one.workload.lead()).min()?;
        let late = |one: &Measurement| intervals(one.workload.lead() - begin);
        let whole = judged.clone().map(|one| late(one) + intervals(one.elapsed)).max()?;
        for interval in 0..whole {
            let mut sum = TickSum::default();
            let ticks = judged.clone().filter_map(|one| one.series.get(interval.checked_sub(late(one))?));
            ticks.for_each(|tick| sum.add(tick.into()));
            if settling.push(sum) {
                break;
            }
        }
        Some(settling)
    }

    /// What came of it, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { criterion, end: SteadyEnd { window, interval, .. }, seen, .. } = self;
        let outcome =
            if self.is_attained { format!("Steady after {seen}") } else { format!("Not steady after {seen}") };
        let Some(value) = self.value() else {
            return format!("{outcome}: less than the {window} over which it is judged.");
        };
        let (figure, limit) = (criterion.figure.words(), criterion.limit);
        let (value, limit) =
            (criterion.shown(format!("{value:.2}"), value), criterion.shown(limit.to_string(), limit.get()));
        match criterion.of {
            SteadyMeasure::Deviation => {
                format!("{outcome}: over {window} {figure} deviates from its mean by up to {value}, limit {limit}.")
            }
            SteadyMeasure::Slope => {
                format!("{outcome}: over {window} {figure} changes by {value} in {interval}, limit {limit}.")
            }
        }
    }
}

impl Measurement {
    /// How it came to the steady state that ends its workload; none where none does.
    pub fn settling(&self) -> Option<Settling> {
        Settling::of(std::iter::once(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settling(criterion: &str, [window, ramp, interval]: [u64; 3]) -> Settling {
        let [window, ramp, interval] = [window, ramp, interval].map(Nanos::from_secs);
        Settling::new(SteadyEnd { criterion: criterion.parse().ok(), window, ramp, interval }).unwrap()
    }

    /// So many requests of 4 KiB in each interval, of 1 ms each.
    fn ended_after(mut settling: Settling, requests: &[u64]) -> (Settling, Option<usize>) {
        let sum = |&requests: &u64| TickSum { requests, bytes: requests * 4096, latency: requests * 1_000_000 };
        let ended = requests.iter().position(|requests| settling.push(sum(requests)));
        (settling, ended.map(|place| place + 1))
    }

    #[test]
    fn a_figure_is_steady_once_a_whole_window_is_within_the_limit() {
        let falling = [200, 150, 120, 110, 104, 100, 100, 102, 101, 99, 100];
        let (settling, ended) = ended_after(settling("iops:3%", [4, 0, 1]), &falling);
        assert_eq!(ended, Some(8), "{settling:?}");
        assert_eq!(settling.samples().map(|sample| sample.iops).collect::<Vec<_>>(), [104.0, 100.0, 100.0, 102.0]);
        assert!((settling.value().unwrap() - 100.0 * 2.5 / 101.5).abs() < 1e-9);
        assert_eq!(
            settling.sentence(),
            "Steady after 8 s: over 4 s IOPS deviates from its mean by up to 2.46 %, limit 3 %."
        );
    }

    #[test]
    fn a_slope_is_that_from_one_value_to_the_next() {
        let (_, ended) = ended_after(settling("iops_slope:9.6", [3, 0, 1]), &[130, 120, 110, 100, 91, 82]);
        assert_eq!(ended, Some(5), "110, 100 and 91 fall by 9.5");
        let (settling_still, _) = ended_after(settling("bw_slope:4m", [3, 0, 1]), &[9000, 6000, 3000]);
        assert_eq!(
            settling_still.sentence(),
            "Not steady after 3 s: over 3 s bandwidth changes by 11.7 MiB per second in 1 s, limit 4 MiB per second."
        );
        let (_, ended) = ended_after(settling("bw_slope:9%", [3, 0, 1]), &[130, 120, 110, 100, 91, 82]);
        assert_eq!(ended, Some(3), "10 of 120 are 8.3 %");
    }

    #[test]
    fn the_ramp_is_not_judged_and_values_may_stand_for_several_intervals() {
        assert_eq!(ended_after(settling("iops:1", [2, 3, 1]), &[5; 9]).1, Some(5));
        let uneven = [90, 110, 80, 120, 70, 130];
        assert_eq!(ended_after(settling("iops:1%", [4, 0, 2]), &uneven).1, Some(4));
        assert_eq!(ended_after(settling("iops:1%", [4, 0, 1]), &uneven).1, None);
        let mut half = settling("iops:1", [2, 0, 1]);
        half.end.ramp = Nanos::from_millis(1500);
        assert_eq!(ended_after(half, &[5; 9]).1, Some(4), "one and a half intervals leave none of the second");
    }

    #[test]
    fn nothing_is_not_steady_by_a_share_of_nothing() {
        assert_eq!(ended_after(settling("iops:5%", [2, 0, 1]), &[0; 9]).1, None);
        let (settling, ended) = ended_after(settling("lat:1ms", [2, 0, 1]), &[1, 0, 7]);
        assert_eq!((ended, settling.samples().len()), (Some(2), 2), "0.5 ms around 0.5 ms");
    }
}
