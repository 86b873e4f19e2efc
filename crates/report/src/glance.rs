//! The drive at a glance: its key figures by state as bars, with what is rated and published, and what other drives are
//! rated.

use std::sync::LazyLock;

use drive::preset::{Preset, Rated};
use maud::{Markup, html};
use plan::Metric;
use workload::Pattern;

use crate::key::{KeyFigure, Scorecard};
use crate::number::{Scaled, capital, spread};
use crate::rated::{RatedSheet, rating};
use crate::reviewed::Reviewed;

/// The most figures that are shown.
const SHOWN: usize = 9;
/// Ratings of drives that read in sequence up to so many times faster or slower are shown in grey.
const CLASS: f64 = 2.0;

/// What each built-in drive is rated.
static RATED: LazyLock<Vec<Rated>> = LazyLock::new(|| Preset::all().map(|preset| preset.rated).collect());

/// The small multiples; empty where there is nothing to compare.
pub(crate) fn glance(scorecard: &Scorecard, sheet: Option<&RatedSheet>, reviewed: Option<&Reviewed>) -> Markup {
    let is_shown = |row: &&KeyFigure| row.base().is_some() && row.metric != Metric::LatencyMedian;
    let rows: Vec<&KeyFigure> = scorecard.rows.iter().filter(is_shown).take(SHOWN).collect();
    if rows.len() < 2 {
        return html! {};
    }
    let peers = peers(scorecard, sheet);
    // Only what is rated at a like depth.
    let rated = |row: &KeyFigure| Some(sheet?.promised(row).filter(|rated| rated.depth.is_none())?.value);
    let alike = |peer: &Rated, row: &KeyFigure| Some(rating(peer, row).filter(|rated| rated.depth.is_none())?.value);
    let others = |row: &KeyFigure| -> Vec<f64> { peers.iter().filter_map(|peer| alike(peer, row)).collect() };
    let has_rated = rows.iter().any(|row| rated(row).is_some());
    let has_published = reviewed.is_some_and(|reviewed| rows.iter().any(|row| reviewed.value(row).is_some()));
    let others: Vec<Vec<f64>> = rows.iter().copied().map(others).collect();
    let has_others = others.iter().any(|others| !others.is_empty());
    html! {
        div.glance role="img" aria-label="Key figures by state; the table below has every figure" {
            @for (row, others) in rows.iter().zip(&others) {
                (card(scorecard, row, rated(row), reviewed.and_then(|reviewed| reviewed.value(row)), others))
            }
        }
        p.trust {
            "Bars start at zero; each figure has its own scale. "
            @if has_rated { span.mark.is-rated {} " rated " }
            @if has_published { span.mark.is-published {} " published " }
            @if has_others { span.mark.is-other {} " ratings of other built-in drives of similar sequential read rate" }
        }
    }
}

/// What other drives of its class are rated.
fn peers(scorecard: &Scorecard, sheet: Option<&RatedSheet>) -> Vec<&'static Rated> {
    let measured = scorecard.of_pattern(Pattern::Read, Metric::Bandwidth).find_map(KeyFigure::base);
    let own = sheet.and_then(RatedSheet::sequential_read).or(measured.map(|measured| measured.mean));
    let Some(own) = own else { return Vec::new() };
    let is_peer = |rated: &Rated| {
        let read = rated.sequential_read.map(|rate| rate.get() as f64 / 1e6);
        read.is_some_and(|read| (own / CLASS..=own * CLASS).contains(&read))
            && sheet.is_none_or(|sheet| !sheet.is_of(rated))
    };
    RATED.iter().filter(|rated| is_peer(rated)).collect()
}

fn card(scorecard: &Scorecard, row: &KeyFigure, rated: Option<f64>, published: Option<f64>, others: &[f64]) -> Markup {
    let bars: Vec<_> = scorecard
        .states
        .iter()
        .zip(&row.entries)
        .filter_map(|(state, entry)| Some((state, *entry.as_ref()?.figure.interval()?)))
        .collect();
    let own = bars.iter().map(|(_, interval)| interval.mean).chain(rated).chain(published);
    let scaled = Scaled::over(row.metric.unit(), own.clone());
    let most = own.fold(0.0, f64::max);
    // A drive far beyond this one would make all of its bars short.
    let others: Vec<f64> = others.iter().copied().filter(|other| *other <= most * 1.3).collect();
    let end = others.iter().copied().fold(most, f64::max).max(f64::MIN_POSITIVE) * 1.02;
    let at = |value: f64| format!("{:.1}%", (value / end * 100.0).clamp(0.0, 100.0));
    let request = &row.request;
    let (name, detail) = match row.metric.is_throughput() {
        true if request.pattern.is_mixed() => (
            request.pattern.words().to_owned(),
            format!("{} % reads, {}, queue depth {}", request.reads, request.block, request.in_flight()),
        ),
        true => (request.pattern.words().to_owned(), format!("{}, queue depth {}", request.block, request.in_flight())),
        false => (
            format!("{}, {}", request.pattern.words(), row.metric.title().to_lowercase().trim_end_matches(" latency")),
            format!("{}, queue depth {}, less is better", request.block, request.in_flight()),
        ),
    };
    html! {
        div.card {
            p.panel-title { (capital(&name)) " " span.unit { (scaled.unit) } }
            p.unit { (detail) }
            div.bars {
                @for (state, interval) in &bars {
                    span.state { (state.title()) }
                    span.track {
                        span.bar style={ "width:" (at(interval.mean)) } {}
                        @for other in &others { span.mark.is-other style={ "left:" (at(*other)) } {} }
                        @if let Some(rated) = rated { span.mark.is-rated style={ "left:" (at(rated)) } {} }
                        @if let Some(published) = published { span.mark.is-published style={ "left:" (at(published)) } {} }
                    }
                    span.value {
                        (scaled.three(interval.mean))
                        @if let Some(spread) = spread(interval) { " " span.spread { (spread) } }
                    }
                }
            }
        }
    }
}
