//! A long measurement over time: its series as spans, its rounds, and whether they became steady.

use block::Nanos;
use measurement::{Interval, Measurement, TICK};
use plan::Condition;
use stats::{Bins, Steadiness, SteadyRule};

/// What was completed in one stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Span {
    /// When it began, in seconds.
    pub(crate) start: f64,
    /// How long it is, in seconds.
    pub(crate) length: f64,
    /// Requests completed.
    pub(crate) requests: u64,
    /// Data that they moved, in bytes.
    pub(crate) bytes: u64,
    /// The sum of their latencies, in microseconds.
    pub(crate) latency_total: f64,
    /// The longest of their latencies, in microseconds.
    pub(crate) latency_max: f64,
    /// How they lie, as far as that was kept.
    pub(crate) latencies: Bins,
}

/// How much was written when each of these was half over, in GB, where they do nothing but write.
pub(crate) fn written(spans: &[Span]) -> Vec<f64> {
    let halves = spans.iter().scan(0, |total, span| {
        *total += span.bytes;
        Some((*total - span.bytes / 2) as f64 / 1e9)
    });
    halves.collect()
}

impl Span {
    /// Requests a second.
    pub(crate) fn iops(&self) -> f64 {
        self.requests as f64 / self.length
    }

    /// Megabytes of 1,000,000 bytes a second.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.length / 1e6
    }

    /// Mean latency in microseconds; none where nothing was completed.
    pub(crate) fn latency_mean(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.latency_total / self.requests as f64)
    }

    /// The latency that `percent` of the requests did not exceed, in microseconds; none where that is not known.
    pub(crate) fn percentile(&self, percent: f64) -> Option<f64> {
        let is_known = self.latencies.count() == self.requests;
        let found = self.latencies.percentile(percent).filter(|_| is_known)?;
        Some(found.as_micros_f64().min(self.latency_max))
    }

    /// How its latencies lie, each with how many requests took so long; none where that was not kept of all of them.
    pub(crate) fn latencies(&self) -> Option<Vec<(Nanos, u64)>> {
        (self.requests > 0 && self.latencies.count() == self.requests).then(|| self.latencies.bins())
    }

    /// When it was half over, in seconds.
    pub(crate) fn middle(&self) -> f64 {
        self.start + self.length / 2.0
    }

    /// Takes in what was completed later.
    fn extend(&mut self, next: &Self) {
        self.length += next.length;
        self.absorb(next);
    }

    /// Takes in what was completed without making the span longer.
    fn absorb(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency_total += other.latency_total;
        self.latency_max = self.latency_max.max(other.latency_max);
        self.latencies.merge(&other.latencies);
    }
}

/// A conditioning over time.
pub(crate) struct Timeline {
    /// A span for every second.
    pub(crate) spans: Vec<Span>,
    /// A span for every round; empty where rounds do not end by time.
    pub(crate) rounds: Vec<Span>,
    /// What its last rounds show under the rule, never that they are steady where the plan asks for no rule; none while there
    /// are too few.
    pub(crate) steadiness: Option<Steadiness>,
    /// The rule that was applied; SNIA's where the plan asks for none.
    pub(crate) rule: SteadyRule,
}

impl Timeline {
    /// The timeline of what `condition` measured.
    pub(crate) fn of(condition: &Condition, measurement: &Measurement) -> Self {
        let rule = condition.steady.unwrap_or(SteadyRule::SNIA);
        let round = condition.round();
        let intervals: Vec<Interval> = measurement.intervals(round).collect();
        let (mut spans, mut rounds) = (Vec::new(), Vec::new());
        for one in intervals.chunk_by(|one, next| one.round == next.round) {
            let own = spans_of(one);
            rounds.extend(merged(&own));
            spans.extend(own);
        }
        if round.is_none() {
            rounds.clear();
        }
        let means: Vec<f64> = rounds.iter().map(Span::iops).collect();
        let judged = |found: Steadiness| Steadiness { steady: found.steady && condition.steady.is_some(), ..found };
        Self { spans, steadiness: rule.judge(&means).map(judged), rounds, rule }
    }

    /// The timeline of what was run in one piece, which no rule judges.
    pub(crate) fn whole(measurement: &Measurement) -> Self {
        let spans = spans_of(&measurement.intervals(None).collect::<Vec<_>>());
        Self { spans, rounds: Vec::new(), steadiness: None, rule: SteadyRule::SNIA }
    }

    /// At most `most` spans, each the sum of as many neighbours.
    pub(crate) fn binned(&self, most: usize) -> Vec<Span> {
        self.spans.chunks(self.spans.len().div_ceil(most).max(1)).filter_map(merged).collect()
    }
}

/// The intervals of one round.
///
/// The last of a round may cover a sliver of time with a few late completions: too short to
/// make a rate of, so it is counted with the interval before it.
fn spans_of(intervals: &[Interval]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(intervals.len());
    for Interval { start, length, tick, .. } in intervals {
        let span = Span {
            start: start.as_secs_f64(),
            length: length.as_secs_f64(),
            requests: tick.requests(),
            bytes: tick.bytes.get(),
            latency_total: tick.latency_total.as_micros_f64(),
            latency_max: tick.latency_max.as_micros_f64(),
            latencies: tick.latencies.clone(),
        };
        match spans.last_mut() {
            Some(last) if span.length < TICK.as_secs_f64() / 2.0 => last.extend(&span),
            _ => spans.push(Span { length: span.length.max(1e-9), ..span }),
        }
    }
    spans
}

fn merged(spans: &[Span]) -> Option<Span> {
    let (first, rest) = spans.split_first()?;
    let mut sum = first.clone();
    rest.iter().for_each(|span| sum.extend(span));
    Some(sum)
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use measurement::Clock;
    use plan::Limit;
    use workload::{Stop, Workload};

    use super::*;

    fn condition(round: Nanos) -> Condition {
        Condition {
            workload: Workload { stop: Stop::after(round), ..Workload::default() },
            steady: Some(SteadyRule::SNIA),
            at_least: vec![Limit::Percent(100)],
            at_most: vec![Limit::Percent(200)],
            construct: true,
        }
    }

    /// Rounds of two seconds at so many requests a second, each with one completion just after its end.
    fn rounds(rates: &[u64]) -> Measurement {
        let mut all = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for &rate in rates {
            let mut round = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
            let each = Nanos::from_nanos(1_000_000_000 / rate);
            for i in 1..=2 * rate {
                round.record(Op::Write, Bytes::from_kib(4), each.times(i), each);
            }
            round.record(Op::Write, Bytes::from_kib(4), Nanos::from_micros(2_000_050), Nanos::from_millis(1));
            all.append(&round);
        }
        all
    }

    #[test]
    fn a_sliver_at_the_end_of_a_round_is_not_a_fall() {
        let timeline = Timeline::of(&condition(Nanos::from_secs(2)), &rounds(&[1000, 500, 500]));
        assert_eq!((timeline.rounds.len(), timeline.spans.len()), (3, 6));
        for (span, rate) in timeline.spans.iter().zip([1000.0, 1000.0, 500.0, 500.0, 500.0, 500.0]) {
            assert!((span.iops() / rate - 1.0).abs() < 0.01, "{span:?} should be near {rate}");
        }
    }

    #[test]
    fn rounds_are_judged_by_the_rule() {
        let steady = Timeline::of(&condition(Nanos::from_secs(2)), &rounds(&[1000, 500, 505, 500, 495, 500]));
        assert!(steady.steadiness.unwrap().steady);
        assert!((steady.steadiness.unwrap().mean / 500.0 - 1.0).abs() < 0.01, "only the last five count");
        let few = Timeline::of(&condition(Nanos::from_secs(2)), &rounds(&[1000, 500]));
        assert_eq!(few.steadiness, None);
        let unasked = Condition { steady: None, ..condition(Nanos::from_secs(2)) };
        let unjudged = Timeline::of(&unasked, &rounds(&[500; 6])).steadiness.unwrap();
        assert!(!unjudged.steady && (unjudged.mean / 500.0 - 1.0).abs() < 0.01, "{unjudged:?}");
    }

    #[test]
    fn bins_keep_every_request() {
        let timeline = Timeline::of(&condition(Nanos::from_secs(2)), &rounds(&[100; 40]));
        let bins = timeline.binned(7);
        assert!(bins.len() <= 7, "{}", bins.len());
        let sum = |spans: &[Span]| spans.iter().map(|span| span.requests).sum::<u64>();
        assert_eq!(sum(&bins), sum(&timeline.spans));
        assert_eq!(sum(&bins), 40 * 201);
        let (median, most) = (bins[0].percentile(50.0).unwrap(), bins[0].percentile(99.9).unwrap());
        assert!((median / 10_000.0 - 1.0).abs() <= 0.016 && most >= median, "{median} µs");
    }
}
