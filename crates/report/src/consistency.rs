//! How evenly a drive serves requests, second by second.

use crate::number::{percent, three};
use crate::timeline::{Span, Timeline};

/// Fewer seconds than this say nothing of how even they are.
const SECONDS_LEAST: usize = 5;

/// The rates of single seconds in the rounds by which steady state is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Consistency {
    /// How many seconds.
    seconds: usize,
    /// Mean IOPS.
    mean: f64,
    /// The standard deviation of the seconds, as a share of the mean.
    deviation: f64,
    /// The slowest second, as a share of the mean.
    least: f64,
}

impl Consistency {
    /// Of the last rounds, as many as the rule judges; none where there are too few seconds.
    pub(crate) fn of(timeline: &Timeline) -> Option<Self> {
        let last = timeline.rounds.len().checked_sub(timeline.rule.rounds)?;
        let begin = timeline.rounds.get(last)?.start;
        let is_whole = |span: &&Span| span.start >= begin - 1e-9 && span.length > 0.5;
        let rates: Vec<f64> = timeline.spans.iter().filter(is_whole).map(Span::iops).collect();
        if rates.len() < SECONDS_LEAST {
            return None;
        }
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let squares = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        let deviation = (squares / (rates.len() - 1) as f64).sqrt() / mean;
        let least = rates.iter().copied().fold(f64::MAX, f64::min) / mean;
        (mean > 0.0).then_some(Self { seconds: rates.len(), mean, deviation, least })
    }

    /// The same in a sentence.
    pub(crate) fn said(&self) -> String {
        format!(
            "Consistency over the last {} s, second by second: mean {} IOPS, standard deviation {} of it, slowest second {} of it.",
            self.seconds,
            three(self.mean),
            percent(self.deviation),
            percent(self.least)
        )
    }
}

#[cfg(test)]
mod tests {
    use stats::SteadyRule;

    use super::*;

    #[test]
    fn the_slowest_second_and_the_spread_are_those_of_the_last_rounds() {
        let span =
            |second: usize, requests: u64| Span { start: second as f64, length: 1.0, requests, ..Span::default() };
        // A fast round before the window of five, in which one second is slow.
        let rates = [900, 900, 100, 100, 100, 100, 100, 100, 100, 50, 100, 150];
        let spans: Vec<Span> = rates.into_iter().enumerate().map(|(second, rate)| span(second, rate)).collect();
        let rounds =
            (0..6).map(|round| Span { start: f64::from(round) * 2.0, length: 2.0, ..Span::default() }).collect();
        let timeline = Timeline { spans, rounds, steadiness: None, rule: SteadyRule::SNIA };
        let found = Consistency::of(&timeline).unwrap();
        assert_eq!(
            found.said(),
            "Consistency over the last 10 s, second by second: mean 100 IOPS, standard deviation 24 % of it, slowest second 50 \
             % of it."
        );
        let brief = Timeline { rounds: timeline.rounds[..2].to_vec(), ..timeline };
        assert_eq!(Consistency::of(&brief), None);
    }
}
