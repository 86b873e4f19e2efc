//! Whether a measurement has come to the steady state that ends its workload.

use std::collections::VecDeque;

use block::Nanos;
use workload::{SteadyCriterion, SteadyEnd, SteadyFigure, SteadyGroup, SteadyMeasure};

use crate::{Measurement, TICK, TICKS_MAX, Tick};

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

    /// The mean latency in nanoseconds; 0 where nothing was completed.
    fn mean_latency(self) -> u64 {
        self.latency.checked_div(self.requests).unwrap_or(0)
    }

    /// What is judged of it, in requests, bytes or nanoseconds.
    fn get(self, figure: SteadyFigure) -> u64 {
        match figure {
            SteadyFigure::Iops => self.requests,
            SteadyFigure::Bandwidth => self.bytes,
            SteadyFigure::Latency => self.mean_latency(),
        }
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

/// How the values in a window go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trend {
    pub mean: f64,
    /// The largest distance of one from the mean.
    pub deviation: f64,
    /// By how much the least-squares line through them rises from one to the next; negative when falling.
    pub slope: f64,
}

/// What tells the trend of the values in a sliding window without looking at all of them.
#[derive(Clone, Debug, Default)]
struct SlidingWindow {
    /// How many values came before those in it, and how many are in it.
    passed: u64,
    count: u64,
    sum: i128,
    /// The sum of each times its place.
    products: i128,
    /// Those than which none behind them is less, and none is more, with their numbers.
    least: VecDeque<(u64, u64)>,
    most: VecDeque<(u64, u64)>,
}

impl SlidingWindow {
    /// Takes one more, in place of the first where that leaves.
    fn push(&mut self, value: u64, leaving: Option<u64>) {
        if let Some(first) = leaving {
            self.sum -= i128::from(first);
            self.products -= self.sum;
            (self.passed, self.count) = (self.passed + 1, self.count - 1);
            for ends in [&mut self.least, &mut self.most] {
                ends.pop_front_if(|(number, _)| *number < self.passed);
            }
        }
        let number = self.passed + self.count;
        self.sum += i128::from(value);
        self.products += i128::from(self.count) * i128::from(value);
        self.count += 1;
        while self.least.pop_back_if(|(_, other)| *other >= value).is_some() {}
        while self.most.pop_back_if(|(_, other)| *other <= value).is_some() {}
        self.least.push_back((number, value));
        self.most.push_back((number, value));
    }

    fn trend(&self) -> Trend {
        let (Some((_, least)), Some((_, most))) = (self.least.front(), self.most.front()) else {
            return Trend::default();
        };
        let count = i128::from(self.count);
        let mean = self.sum as f64 / count as f64;
        let (places, squares) = (count * (count - 1) / 2, count * (count - 1) * (2 * count - 1) / 6);
        let slope = match count * squares - places * places {
            0 => 0.0,
            below => (count * self.products - places * self.sum) as f64 / below as f64,
        };
        Trend { mean, deviation: (*most as f64 - mean).max(mean - *least as f64), slope }
    }
}

/// The way of a measurement to the steady state that ends its workload, interval by interval.
#[derive(Clone, Debug)]
pub struct Settling {
    end: SteadyEnd,
    criterion: SteadyCriterion,
    /// How much was seen of the time that is judged.
    seen: Nanos,
    /// What was completed in the value under way.
    sum: TickSum,
    /// The latest, a window at most.
    sums: VecDeque<TickSum>,
    window: SlidingWindow,
    is_attained: bool,
}

impl Settling {
    /// None where no steady state ends the workload.
    pub fn new(end: SteadyEnd) -> Option<Self> {
        let (seen, sum, sums, window) = (Nanos::ZERO, TickSum::default(), VecDeque::new(), SlidingWindow::default());
        Some(Self { end, criterion: end.criterion?, seen, sum, sums, window, is_attained: false })
    }

    /// Takes what was completed in the next interval of the series; whether the state is steady, after which nothing more is
    /// taken.
    pub fn push(&mut self, tick: TickSum) -> bool {
        // Beyond so many, no series has more.
        if self.is_attained || self.seen >= TICK.times(TICKS_MAX as u64) {
            return self.is_attained;
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
        let (sum, figure) = (std::mem::take(&mut self.sum), self.criterion.figure);
        let leaving = if self.sums.len() == self.end.values() { self.sums.pop_front() } else { None };
        self.window.push(sum.get(figure), leaving.map(|first| first.get(figure)));
        self.sums.push_back(sum);
        self.is_attained = self.value().is_some_and(|value| value < self.criterion.limit.get());
        self.is_attained
    }

    /// What the latest whole window shows; none before the first.
    pub fn trend(&self) -> Option<Trend> {
        let seconds = match self.criterion.figure {
            SteadyFigure::Iops | SteadyFigure::Bandwidth => self.end.interval.as_secs_f64(),
            SteadyFigure::Latency => 1.0,
        };
        let Trend { mean, deviation, slope } = self.window.trend();
        let is_whole = self.sums.len() == self.end.values();
        is_whole.then(|| Trend { mean: mean / seconds, deviation: deviation / seconds, slope: slope / seconds })
    }

    /// What is held against the limit, without its sign; none before the first whole window.
    pub fn value(&self) -> Option<f64> {
        let Trend { mean, deviation, slope } = self.trend()?;
        let amount = match self.criterion.of {
            SteadyMeasure::Deviation => deviation,
            SteadyMeasure::Slope => slope.abs(),
        };
        Some(match self.criterion.is_percent {
            // Nothing has no share.
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

    /// When it was steady, or how far it was seen, from when all counted that is judged.
    pub fn seen(&self) -> Nanos {
        self.seen
    }

    /// The latest values, a window at most.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = SteadySample> {
        let seconds = self.end.interval.as_secs_f64();
        self.sums.iter().map(move |sum| SteadySample {
            iops: sum.requests as f64 / seconds,
            bandwidth: sum.bytes as f64 / seconds,
            latency: sum.mean_latency() as f64,
        })
    }

    /// How a group of what was measured side by side came to its steady state.
    pub fn of_group(group: &SteadyGroup, measured: &[&Measurement]) -> Option<Self> {
        let mut settling = Self::new(group.end)?;
        let members: Vec<(&Measurement, usize)> =
            group.places.iter().map(|&place| (measured[place], group.skipped(&measured[place].workload))).collect();
        let whole = |(one, skipped): &(&Measurement, usize)| {
            ((one.elapsed.as_nanos() / TICK.as_nanos()) as usize).saturating_sub(*skipped)
        };
        for interval in 0..members.iter().map(whole).max().unwrap_or(0) {
            let mut sum = TickSum::default();
            let ticks = members.iter().filter_map(|(one, skipped)| one.series.get(skipped + interval));
            ticks.for_each(|tick| sum.add(tick.into()));
            if settling.push(sum) {
                break;
            }
        }
        Some(settling)
    }

    /// How each of what was measured side by side came to the steady state that ends it; none where none does.
    pub fn of_each(measured: &[&Measurement]) -> Vec<Option<Self>> {
        let mut each = vec![None; measured.len()];
        for group in SteadyGroup::all(measured.iter().map(|one| &one.workload)) {
            let settling = Self::of_group(&group, measured);
            group.places.iter().for_each(|&place| each[place].clone_from(&settling));
        }
        each
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
    /// How it came by itself to the steady state that ends its workload; none where none does.
    pub fn settling(&self) -> Option<Settling> {
        Settling::of_each(&[self]).pop().flatten()
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

    #[test]
    fn a_sliding_window_has_the_trend_of_its_values() {
        let mut window = SlidingWindow::default();
        let values: Vec<u64> = (0..200).map(|i: u64| (i * i * 7919) % 1009).collect();
        for (last, value) in values.iter().enumerate() {
            window.push(*value, last.checked_sub(9).map(|first| values[first]));
            let there: Vec<f64> =
                values[(last + 1).saturating_sub(9)..=last].iter().map(|value| *value as f64).collect();
            let (count, mean) = (there.len() as f64, there.iter().sum::<f64>() / there.len() as f64);
            let deviation = there.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
            let middle = (count - 1.0) / 2.0;
            let rise: f64 = there.iter().enumerate().map(|(x, y)| (x as f64 - middle) * y).sum();
            let run: f64 = (0..there.len()).map(|x| (x as f64 - middle).powi(2)).sum();
            let slope = if run == 0.0 { 0.0 } else { rise / run };
            let found = window.trend();
            for (found, expected) in [(found.mean, mean), (found.deviation, deviation), (found.slope, slope)] {
                assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} and {expected} at {last}");
            }
        }
    }
}
