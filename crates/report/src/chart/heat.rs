//! Latency over time as a map: how the requests of each stretch are spread.

use std::collections::BTreeMap;

use plotly::HeatMap;
use plotly::common::{ColorBar, ColorScale, ColorScaleElement, Font, ThicknessMode, TickMode};
use plotly::layout::{Axis, AxisType, Margin};
use stats::Histogram;

use super::series::end;
use super::{HEIGHT, Heads, Panel, axis, drawn, house, time};
use crate::axis::{logarithmic_ticks, plain};
use crate::number::rounded;
use crate::timeline::Span;

/// The most stretches of time that a map is drawn with: about as many as it has room for.
pub(crate) const STRETCHES: usize = 120;
/// About as many rows of latency has a map.
const ROWS: f64 = 44.0;
/// Rows for each factor of ten in latency, fewest and most: within 4 %, latencies of a series cannot be told apart.
const FINENESS: (f64, f64) = (5.0, 40.0);
/// The least share that has a colour of its own, as a power of ten in percent.
const FAINTEST: f64 = -3.0;
/// The colours from the least share to the greatest.
const RAMP: [&str; 5] = ["var(--heat-1)", "var(--heat-2)", "var(--heat-3)", "var(--heat-4)", "var(--heat-5)"];
/// What the colour stands for.
const SHARE: &str = "Share of requests (%)";

/// What a map of latencies shows, for captions.
pub(crate) const HEAT_CAPTION: &str = "Latency heat map: each column is an interval of time, each row a range of \
    latencies, and the colour the share of the interval's requests, in factors of ten. A thin band means consistent \
    latency; a second band is a second kind of request, such as those that wait behind slower ones; scattered \
    cells above are the tail.";

/// The requests of one stretch of time.
struct Stretch {
    /// Where it begins and ends along the axis.
    ends: [f64; 2],
    /// Latencies in microseconds with how many took so long.
    latencies: Vec<(f64, u64)>,
}

/// The panel of a measurement over time; none where how latencies lie was not kept, or where there is but one stretch.
pub(crate) fn heat_over_time(title: String, spans: &[Span]) -> Option<Panel> {
    let (unit, name, x) = time(end(spans));
    let stretch = |span: &Span| Stretch {
        ends: [span.start / unit, (span.start + span.length) / unit],
        latencies: span.latencies().into_iter().flatten().map(|(at, count)| (at.as_micros_f64(), count)).collect(),
    };
    let is_known = spans.iter().all(|span| span.requests == 0 || span.latencies().is_some());
    let stretches: Vec<Stretch> = spans.iter().map(stretch).collect();
    map(title, x, &format!("Time ({name})"), &stretches).filter(|_| is_known)
}

/// The panel of what was measured in rounds, a column each.
pub(crate) fn heat_by_round(title: String, rounds: &[Histogram]) -> Option<Panel> {
    let stretch = |(place, latencies): (usize, &Histogram)| Stretch {
        ends: [place as f64 + 0.5, place as f64 + 1.5],
        latencies: latencies.bins().map(|(at, count)| (at.as_micros_f64(), count)).collect(),
    };
    let stretches: Vec<Stretch> = rounds.iter().enumerate().map(stretch).collect();
    map(title, axis("Round").show_grid(false), "Round", &stretches)
}

fn map(title: String, x: Axis, along: &str, stretches: &[Stretch]) -> Option<Panel> {
    let lattice = Lattice::of(stretches)?;
    if stretches.len() < 2 {
        return None;
    }
    let columns: Vec<BTreeMap<i32, f64>> = stretches.iter().map(|stretch| lattice.shares(stretch)).collect();
    let edge = |row: i32| 10_f64.powf(f64::from(row) / lattice.fineness);
    let edges: Vec<f64> = (lattice.first..=lattice.last + 1).map(edge).collect();
    // Shares by row, none where nothing took so long; four digits, for a colour tells fewer.
    let row = |row: i32| -> Vec<Option<f64>> {
        columns.iter().map(|column| column.get(&row).map(|share| rounded(*share, 4))).collect()
    };
    let shares: Vec<Vec<Option<f64>>> = (lattice.first..=lattice.last).map(row).collect();
    let ends = stretches.iter().map(|stretch| stretch.ends[0]).chain(stretches.last().map(|last| last.ends[1]));
    let faintest = columns.iter().flat_map(|column| column.values()).copied().fold(100.0, f64::min);
    let (ticks, text) = logarithmic_ticks(edges[0], edges[edges.len() - 1]);
    let y = axis("")
        .type_(AxisType::Log)
        .show_grid(false)
        .tick_mode(TickMode::Array)
        .tick_values(ticks)
        .tick_text(text)
        .range(vec![edges[0].log10(), edges[edges.len() - 1].log10()]);
    let mut plot = house(x.show_grid(false), y, 1);
    // The page's script takes the logarithm of the shares when it draws.
    let faintest = faintest.log10().floor().max(FAINTEST);
    plot.add_trace(
        HeatMap::new(drawn(ends), drawn(edges.into_iter()), shares)
            .zmin(faintest)
            .zmax(2.0)
            .zauto(false)
            .hover_on_gaps(false)
            .color_scale(ramp())
            .color_bar(bar(faintest))
            .hover_template("%{customdata:.3~g} % of the requests<br>about %{y:,.3~r} µs<extra></extra>"),
    );
    let layout = plot.layout().clone().height(HEIGHT).margin(Margin::new().left(8).right(8).top(8).bottom(8));
    plot.set_layout(layout);
    let heads = Heads { z: Some(SHARE), ..Heads::new(along, "Latency (µs)") };
    Some(Panel::new(title, heads, &plot))
}

/// Rows of latency, as wide as each other by factor.
struct Lattice {
    /// Rows for each factor of ten.
    fineness: f64,
    first: i32,
    last: i32,
}

impl Lattice {
    /// The rows that all of `stretches` need; none where nothing was completed.
    fn of(stretches: &[Stretch]) -> Option<Self> {
        let all = || stretches.iter().flat_map(|stretch| &stretch.latencies).map(|(at, _)| at.max(1e-3).log10());
        let (least, most) = all().fold((f64::MAX, f64::MIN), |(least, most), at| (least.min(at), most.max(at)));
        if least > most {
            return None;
        }
        let fineness = (ROWS / (most - least).max(0.1)).clamp(FINENESS.0, FINENESS.1).floor();
        // A row above and below, so that nothing lies on the edge.
        let row = |at: f64| (at * fineness).floor() as i32;
        Some(Self { fineness, first: row(least) - 1, last: row(most) + 1 })
    }

    /// The share of the requests of a stretch in each row in use, in percent.
    fn shares(&self, stretch: &Stretch) -> BTreeMap<i32, f64> {
        let all: u64 = stretch.latencies.iter().map(|(_, count)| count).sum();
        let mut rows = BTreeMap::new();
        for (at, count) in &stretch.latencies {
            let row = (at.max(1e-3).log10() * self.fineness).floor() as i32;
            *rows.entry(row).or_insert(0.0) += 100.0 * *count as f64 / all as f64;
        }
        rows
    }
}

fn ramp() -> ColorScale {
    let last = (RAMP.len() - 1) as f64;
    let stop = |(place, color): (usize, &&str)| ColorScaleElement(place as f64 / last, (*color).to_owned());
    ColorScale::Vector(RAMP.iter().enumerate().map(stop).collect())
}

/// The key to the colours, a mark for each factor of ten.
fn bar(faintest: f64) -> ColorBar {
    let powers: Vec<f64> = (faintest as i32..=2).map(f64::from).collect();
    let text = powers.iter().map(|power| format!("{} %", plain(10_f64.powf(*power))));
    ColorBar::new()
        .thickness(10)
        .thickness_mode(ThicknessMode::Pixels)
        .outline_width(0)
        .tick_mode(TickMode::Array)
        .tick_text(text.collect())
        .tick_vals(powers)
        .tick_font(Font::new().color("var(--quiet)").size(11))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_each_stretch_add_up_to_all_of_its_requests() {
        let stretches = [
            Stretch { ends: [0.0, 1.0], latencies: vec![(85.0, 990), (90.0, 9), (12_000.0, 1)] },
            Stretch { ends: [1.0, 2.0], latencies: vec![(0.0, 1), (300.0, 3)] },
        ];
        let lattice = Lattice::of(&stretches).unwrap();
        for stretch in &stretches {
            let shares = lattice.shares(stretch);
            assert!((shares.values().sum::<f64>() - 100.0).abs() < 1e-9, "{shares:?}");
            assert!(shares.keys().all(|row| (lattice.first..=lattice.last).contains(row)), "{shares:?}");
        }
        assert!(
            lattice.shares(&stretches[0]).values().any(|share| (share - 0.1).abs() < 1e-9),
            "the tail is told apart"
        );
    }

    #[test]
    fn there_is_no_map_of_one_stretch_or_of_nothing() {
        let one = || Stretch { ends: [0.0, 1.0], latencies: vec![(85.0, 990)] };
        let empty = || Stretch { ends: [0.0, 1.0], latencies: Vec::new() };
        let is_drawn = |stretches: &[Stretch]| map(String::new(), axis(""), "", stretches).is_some();
        assert!(!is_drawn(&[one()]) && !is_drawn(&[empty(), empty()]) && is_drawn(&[one(), empty()]));
    }
}
