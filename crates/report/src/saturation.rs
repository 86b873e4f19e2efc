//! What a step says that writes until the write cache is full: the levels of its rate, and what idle times bring back.

use maud::{Markup, html};
use plan::{Action, Axis};
use stats::levels;

use crate::axis;
use crate::chart::{self, FilledLine};
use crate::drawn::figure;
use crate::number::{kept, percent, three};
use crate::part::MeasuredStep;
use crate::timeline::{Span, Timeline};

/// A level at which the rate stayed for fewer seconds than this is none.
const LEVEL_LEAST: usize = 3;

/// How the writes of such a step went.
pub(crate) struct Saturation {
    /// The levels of the first writes, in order.
    pub(crate) levels: Vec<Level>,
    /// What was written after each idle time.
    pub(crate) recoveries: Vec<Recovery>,
    /// The first writes, and those after each idle time, with what they are called.
    lines: Vec<(String, Vec<Span>)>,
}

/// A stretch in which the rate stayed at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    /// How much was written, in bytes.
    pub(crate) bytes: f64,
    /// For how long, in seconds.
    pub(crate) seconds: f64,
}

/// What an idle time brought back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recovery {
    /// How long it was: `10 s`.
    pub(crate) idle: String,
    /// The rate of all that was written after it, in bytes a second.
    pub(crate) rate: f64,
    /// How much of that went at the first level, in bytes; none where the rate never fell.
    pub(crate) fast: Option<f64>,
    /// Whether all of it did, so that there may be more.
    pub(crate) is_all: bool,
}

impl Level {
    /// Bytes a second.
    pub(crate) fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }
}

impl Saturation {
    /// Of a step that writes so and was measured; none of another.
    pub(crate) fn of(part: &MeasuredStep) -> Option<Self> {
        let Action::Saturate(_) = &part.step.action else { return None };
        let mut lines = part.readings.iter().filter_map(|reading| {
            let measured = reading.point.measurements().next()?;
            let idle = axis::label(&Axis::Idle, reading.point);
            Some((idle, Timeline::whole(measured).spans))
        });
        let (_, first) = lines.next().filter(|(idle, _)| idle.is_empty())?;
        let later: Vec<(String, Vec<Span>)> = lines.collect();
        let rates: Vec<f64> = first.iter().map(Span::bandwidth).collect();
        let levels: Vec<Level> = levels(&rates, LEVEL_LEAST).into_iter().map(|at| Level::of(&first[at])).collect();
        let recoveries = later.iter().map(|(idle, spans)| Recovery::of(idle, spans, &levels)).collect();
        let lines = std::iter::once(("first writes".to_owned(), first)).chain(later).collect();
        Some(Self { levels, recoveries, lines })
    }

    /// How much was written before the rate fell, in bytes; none where it did not.
    pub(crate) fn cache(&self) -> Option<f64> {
        fallen(&self.levels).map(|(first, _)| first.bytes)
    }

    /// The answer in a sentence or two.
    pub(crate) fn said(&self) -> String {
        let all: f64 = self.levels.iter().map(|level| level.bytes).sum();
        let (Some(first), Some(last)) = (self.levels.first(), self.levels.last()) else { return String::new() };
        let Some(cache) = self.cache() else {
            return format!(
                "Sequential writes: {} over all {} written; the rate did not fall.",
                rate(last.rate()),
                size(all)
            );
        };
        let mut said = format!(
            "Sequential writes: {} for the first {}, {} at the end of {} written ({} × slower)",
            rate(first.rate()),
            size(cache),
            rate(last.rate()),
            size(all),
            three(first.rate() / last.rate())
        );
        let back = |one: &Recovery| {
            let fast = one.fast?;
            Some(format!("{}{} ({})", if one.is_all { "at least " } else { "" }, percent(fast / cache), one.idle))
        };
        let recovered: Vec<String> = self.recoveries.iter().filter_map(back).collect();
        match self.recoveries.last() {
            Some(longest) if self.recoveries.iter().all(|one| one.fast == Some(0.0)) => {
                said += &format!("; idle time of up to {} brings nothing of that back", longest.idle);
            }
            Some(_) if !recovered.is_empty() => {
                said += &format!("; of that, idle time brings back {}", recovered.join(", "));
            }
            _ => {}
        }
        said + "."
    }

    /// The chart, the levels and the recovery.
    pub(crate) fn section(&self, part: &MeasuredStep) -> Markup {
        let lines: Vec<FilledLine> = self
            .lines
            .iter()
            .enumerate()
            .map(|(at, (name, spans))| FilledLine {
                name: if at == 0 { name.clone() } else { format!("after {name} idle") },
                spans,
            })
            .collect();
        let caption =
            "Throughput (more is better) by data written since the step or the idle time began; each point a second.";
        html! {
            p.steadiness { (self.said()) }
            (figure(&part.step.title, &chart::filled(&lines), caption))
            div.scroll { table {
                thead { tr { th scope="col" { "Level" } th.number scope="col" { "Written (GB)" } th.number scope="col" { "Time (s)" } th.number scope="col" { "Bandwidth (MB/s)" } } }
                tbody { @for (at, level) in self.levels.iter().enumerate() { tr {
                    th scope="row" { (at + 1) }
                    (cell(level.bytes / 1e9)) (cell(level.seconds)) (cell(level.rate() / 1e6))
                } } }
            } }
            @if !self.recoveries.is_empty() {
                div.scroll { table {
                    thead { tr { th scope="col" { "Idle for" } th.number scope="col" { "Written fast (GB)" } th.number scope="col" { "Share of the first level" } th.number scope="col" { "Bandwidth (MB/s)" } } }
                    tbody { @for one in &self.recoveries { tr {
                        th scope="row" { (one.idle) }
                        @match (one.fast, self.cache()) {
                            (Some(fast), Some(cache)) => { (cell(fast / 1e9)) td.number data-v=(kept(fast / cache)) { @if one.is_all { "at least " } (percent(fast / cache)) } }
                            _ => { td.number { "–" } td.number { "–" } }
                        }
                        (cell(one.rate / 1e6))
                    } } }
                } }
            }
        }
    }
}

impl Level {
    fn of(spans: &[Span]) -> Self {
        Self {
            bytes: spans.iter().map(|span| span.bytes as f64).sum(),
            seconds: spans.iter().map(|span| span.length).sum::<f64>().max(1e-9),
        }
    }
}

impl Recovery {
    /// Of what was written at the first level and the rest at the last: of each second, as its rate tells. One that is nearer to the
    /// last level, as a ratio, is all slow: between the two there may be others.
    fn of(idle: &str, burst: &[Span], levels: &[Level]) -> Self {
        let all = Level::of(burst);
        let fast = fallen(levels).map(|(first, last)| {
            let (fast, slow) = (first.rate(), last.rate());
            let is_fast = |one: &Level| one.rate() * one.rate() > fast * slow;
            let seconds = burst.iter().map(|span| Level::of(std::slice::from_ref(span))).filter(is_fast);
            let of = |one: Level| ((one.bytes / slow - one.seconds) / (1.0 / slow - 1.0 / fast)).clamp(0.0, one.bytes);
            seconds.map(of).sum::<f64>()
        });
        let is_all = fast.is_some_and(|fast| fast > 0.97 * all.bytes);
        Self { idle: idle.to_owned(), rate: all.rate(), fast, is_all }
    }
}

/// The first and the last level where the rate fell; none where it did not.
fn fallen(levels: &[Level]) -> Option<(&Level, &Level)> {
    let (first, last) = (levels.first()?, levels.last()?);
    (first.rate() > last.rate() * stats::LEVELS_DIFFER).then_some((first, last))
}

fn cell(value: f64) -> Markup {
    html! { td.number data-v=(kept(value)) { (three(value)) } }
}

fn rate(bytes: f64) -> String {
    format!("{} MB/s", three(bytes / 1e6))
}

fn size(bytes: f64) -> String {
    match bytes {
        1e12.. => format!("{} TB", three(bytes / 1e12)),
        1e9.. => format!("{} GB", three(bytes / 1e9)),
        _ => format!("{} MB", three(bytes / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_follows_from_its_seconds() {
        let levels = [Level { bytes: 100e9, seconds: 20.0 }, Level { bytes: 200e9, seconds: 200.0 }];
        let second = |rate: &f64| Span { length: 1.0, bytes: (rate * 1e9) as u64, ..Span::default() };
        let spans = |rates: &[f64]| rates.iter().map(second).collect::<Vec<_>>();
        // 13 GB at 5 GB/s, in the third second for six tenths, and the rest at 1 GB/s.
        let found = Recovery::of("60 s", &spans(&[&[5.0, 5.0, 3.4], &[1.0; 17][..]].concat()), &levels);
        assert!((found.fast.unwrap() / 13e9 - 1.0).abs() < 1e-9 && !found.is_all, "{found:?}");
        let all = Recovery::of("300 s", &spans(&[5.0; 6]), &levels);
        assert!(all.is_all && (all.fast.unwrap() / 30e9 - 1.0).abs() < 1e-9);
        let between = Recovery::of("1 s", &spans(&[1.6; 30]), &levels);
        assert_eq!(between.fast, Some(0.0), "never as fast as at first, if faster than at last");
        let level = [Level { bytes: 100e9, seconds: 100.0 }];
        assert_eq!(Recovery::of("1 s", &spans(&[1.0]), &level).fast, None);
        let nothing = Saturation { levels: levels.into(), recoveries: vec![between], lines: Vec::new() }.said();
        assert!(nothing.ends_with("(5.00 × slower); idle time of up to 1 s brings nothing of that back."), "{nothing}");
        let told = Saturation { levels: levels.into(), recoveries: vec![found, all], lines: Vec::new() }.said();
        assert_eq!(
            told,
            "Sequential writes: 5,000 MB/s for the first 100 GB, 1,000 MB/s at the end of 300 GB written (5.00 × slower); of that, idle \
             time brings back 13 % (60 s), at least 30 % (300 s)."
        );
        let flat = Saturation { levels: level.into(), recoveries: Vec::new(), lines: Vec::new() }.said();
        assert_eq!(flat, "Sequential writes: 1,000 MB/s over all 100 GB written; the rate did not fall.");
    }
}
