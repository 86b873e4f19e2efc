//! A conditioning over time.

use plotly::Scatter;
use plotly::common::{DashType, Line, Marker, MarkerSymbol, Mode};

use super::{Heads, Panel, TEXT_ONLY, amounts, clock, drawn, house, hover, time};
use crate::number::{latency, three};
use crate::timeline::{Span, Timeline};

/// The most points that a line is drawn with.
pub(crate) const SERIES_POINTS: usize = 1500;

/// The panels of a conditioning: requests a second, and latency. None where it was too short for a line.
pub(crate) fn series(timeline: &Timeline) -> Vec<Panel> {
    let bins = timeline.binned(SERIES_POINTS);
    if bins.len() < 2 {
        return Vec::new();
    }
    let (_, unit, _) = time(end(&bins));
    let heads = |figure: &str| Heads::new(format!("Time ({unit})"), figure);
    vec![
        Panel::new("IOPS, more is better".to_owned(), heads("IOPS"), &throughput(timeline, &bins)),
        Panel::new("Latency (µs), less is better".to_owned(), heads("Latency (µs)"), &latencies(&bins)),
    ]
}

/// When the last of `bins` ends, in seconds.
pub(super) fn end(bins: &[Span]) -> f64 {
    bins.last().map_or(0.0, |span| span.start + span.length)
}

fn throughput(timeline: &Timeline, bins: &[Span]) -> plotly::Plot {
    let end = end(bins);
    let (unit, name, x) = time(end);
    let mut plot = house(x, amounts(bins.iter().map(Span::iops)), 3);
    let at = |span: &Span| {
        hover(&[format!("at {}", clock(span.middle(), unit, name)), format!("{} IOPS", three(span.iops()))])
    };
    plot.add_trace(line(bins, unit, "over time", "var(--series-2)", |span| span.iops(), at));
    if !timeline.rounds.is_empty() {
        let text = timeline
            .rounds
            .iter()
            .enumerate()
            .map(|(i, span)| hover(&[format!("round {}", i + 1), format!("{} IOPS", three(span.iops()))]));
        let (x, y) = (timeline.rounds.iter().map(|s| s.middle() / unit), timeline.rounds.iter().map(Span::iops));
        plot.add_trace(
            Scatter::new(drawn(x), drawn(y))
                .name("mean of a round")
                .mode(Mode::Markers)
                .marker(Marker::new().color("var(--series-1)").symbol(MarkerSymbol::Diamond).size(5))
                .text_array(text.collect())
                .hover_template(TEXT_ONLY),
        );
    }
    if let Some(found) = timeline.steadiness {
        let name = if found.steady { "steady mean" } else { "mean of the last rounds" };
        let text = hover(&[name.to_owned(), format!("{} IOPS", three(found.mean))]);
        plot.add_trace(
            Scatter::new(drawn([0.0, end / unit].into_iter()), drawn([found.mean; 2].into_iter()))
                .name(name)
                .mode(Mode::Lines)
                .line(Line::new().color("var(--ink)").width(1.5).dash(DashType::Dash))
                .text_array(vec![text.clone(), text])
                .hover_template(TEXT_ONLY),
        );
    }
    plot
}

/// The longest, the 99 % and the median of each bin; the mean in place of both where percentiles were not kept.
fn latencies(bins: &[Span]) -> plotly::Plot {
    let end = end(bins);
    let (unit, name, x) = time(end);
    let longest: Figure = ("longest", "var(--series-4)", |span| Some(span.latency_max));
    let is_known = bins.iter().any(|span| span.percentile(50.0).is_some());
    let figures: &[Figure] = if is_known {
        &[
            longest,
            ("99 %", "var(--series-3)", |span| span.percentile(99.0)),
            ("median", "var(--series-2)", |span| span.percentile(50.0)),
        ]
    } else {
        &[longest, ("mean", "var(--series-2)", Span::latency_mean)]
    };
    let all = bins.iter().flat_map(|span| figures.iter().map(|(_, _, of)| of(span).unwrap_or(f64::NAN)));
    let mut plot = house(x, amounts(all), figures.len());
    let at = |span: &Span| {
        let words =
            figures.iter().rev().map(|(name, _, of)| format!("{name} {}", latency(of(span).unwrap_or(f64::NAN))));
        hover(&[format!("at {}", clock(span.middle(), unit, name)), words.collect::<Vec<_>>().join(", ")])
    };
    for (name, color, of) in figures {
        plot.add_trace(line(bins, unit, name, color, |span| of(span).unwrap_or(f64::NAN), at));
    }
    plot
}

/// A figure of a span in microseconds, none where it is not known, with its name and the color of its line.
type Figure = (&'static str, &'static str, fn(&Span) -> Option<f64>);

fn line(
    bins: &[Span],
    unit: f64,
    name: &str,
    color: &'static str,
    of: impl Fn(&Span) -> f64,
    text: impl Fn(&Span) -> String,
) -> Box<Scatter<f64, f64>> {
    Scatter::new(drawn(bins.iter().map(|span| span.middle() / unit)), drawn(bins.iter().map(of)))
        .name(name)
        .mode(Mode::Lines)
        .line(Line::new().color(color).width(1.5))
        .text_array(bins.iter().map(text).collect())
        .hover_template(TEXT_ONLY)
}
