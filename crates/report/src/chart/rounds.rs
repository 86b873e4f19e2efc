//! Figures from round to round: how they came to a level, and the window in which they are judged.

use plan::Metric;
use plotly::Scatter;
use plotly::common::{DashType, Line, Marker, Mode};
use plotly::layout::{Axis, Shape, ShapeLayer, ShapeLine, ShapeType};

use super::lines::metric_head;
use super::{COLORS, GUIDE, Heads, LineStyle, Panel, TEXT_ONLY, amounts, axis, drawn, house, hover};
use crate::number::{percent, with_unit};
use crate::rounds::Window;

/// The most rounds that have a tick each.
const TICKS: usize = 12;

/// One cell from round to round.
pub(crate) struct Track {
    /// What sets it apart from the others in the chart.
    pub(crate) name: String,
    /// Its place among the step's lines, and so its colour.
    pub(crate) place: usize,
    /// Whether it decides.
    pub(crate) is_watched: bool,
    /// The rounds by their numbers, with the figure.
    pub(crate) values: Vec<(usize, f64)>,
}

/// The panel of cells from round to round, with the rounds of the window shaded.
pub(crate) fn convergence(title: String, metric: Metric, tracks: &[Track], window: Option<(usize, usize)>) -> Panel {
    let last = tracks.iter().flat_map(|track| &track.values).map(|(round, _)| *round).max().unwrap_or(1);
    let values = tracks.iter().flat_map(|track| &track.values).map(|(_, value)| *value);
    let mut plot = house(round_axis(1, last), amounts(values), tracks.len());
    for track in tracks {
        let look = LineStyle::ranked(COLORS[track.place % COLORS.len()], track.place / COLORS.len());
        let (width, size) = if track.is_watched { (3.0, 8) } else { (1.5, 5) };
        let text = track
            .values
            .iter()
            .map(|(round, value)| hover(&[track.name.clone(), format!("round {round}"), with_unit(metric, *value)]));
        plot.add_trace(
            Scatter::new(xs(&track.values), ys(&track.values))
                .name(hover(std::slice::from_ref(&track.name)))
                .mode(Mode::LinesMarkers)
                .line(look.line().width(width))
                .marker(look.marker().size(size))
                .text_array(text.collect())
                .hover_template(TEXT_ONLY),
        );
    }
    if let Some((first, last)) = window {
        let layout = plot.layout().clone().shapes(vec![band(first as f64 - 0.5, last as f64 + 0.5)]);
        plot.set_layout(layout);
    }
    Panel::new(title, Heads::new("Round", metric_head(metric)), &plot)
}

/// The panel of a window: the figure, its mean, the lines a spread's half from it, and the line fitted to it.
pub(crate) fn window(title: String, window: &Window) -> Panel {
    let Window { metric, first, ref values, found, rule, .. } = *window;
    let last = window.last();
    let (low, high) = (found.mean * (1.0 - rule.spread / 2.0), found.mean * (1.0 + rule.spread / 2.0));
    let all = || values.iter().copied().chain([low, high]);
    let (least, most) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
    let room = (most - least) * 0.12;
    let y = axis("").range(vec![least - room, most + room]).separate_thousands(true).tick_format(",~g").n_ticks(6);
    let mut plot = house(round_axis(first, last), y, 4);
    let ends = [first as f64 - 0.5, last as f64 + 0.5];
    let level = |name: String, from: f64, to: f64, color: &'static str, dash: DashType, in_legend: bool| {
        let said = hover(&[name.clone(), if from == to { with_unit(metric, from) } else { window.formula() }]);
        Scatter::new(ends.to_vec(), drawn([from, to].into_iter()))
            .name(name)
            .meta(GUIDE)
            .show_legend(in_legend)
            .mode(Mode::Lines)
            .line(Line::new().color(color).width(1.5).dash(dash))
            .text_array(vec![said.clone(), said])
            .hover_template(TEXT_ONLY)
    };
    let share = |share: f64| percent(1.0 + share / 2.0);
    let sides = format!("{}, {}", share(-rule.spread), share(rule.spread));
    plot.add_trace(level("mean".to_owned(), found.mean, found.mean, "var(--ink)", DashType::Solid, true));
    plot.add_trace(level(sides.clone(), high, high, COLORS[3], DashType::Dash, true));
    plot.add_trace(level(sides, low, low, COLORS[3], DashType::Dash, false));
    let at = |end: f64| window.intercept() + window.slope() * end;
    plot.add_trace(level("best fit".to_owned(), at(ends[0]), at(ends[1]), COLORS[1], DashType::DashDot, true));
    let text =
        (first..).zip(values).map(|(round, value)| hover(&[format!("round {round}"), with_unit(metric, *value)]));
    plot.add_trace(
        Scatter::new((first..=last).map(|round| round as f64).collect(), drawn(values.iter().copied()))
            .name(if metric == Metric::Iops { "IOPS".to_owned() } else { metric.title().to_lowercase() })
            .mode(Mode::LinesMarkers)
            .line(Line::new().color(COLORS[0]).width(2.0))
            .marker(Marker::new().color(COLORS[0]).size(9))
            .text_array(text.collect())
            .hover_template(TEXT_ONLY),
    );
    Panel::new(title, Heads::new("Round", metric_head(metric)), &plot)
}

/// An axis of rounds with a tick for each where there is room.
fn round_axis(first: usize, last: usize) -> Axis {
    let axis = axis("Round").show_grid(false).range(vec![first as f64 - 0.5, last as f64 + 0.5]);
    if last - first < TICKS { axis.dtick(1.0).tick0(first as f64) } else { axis.n_ticks(TICKS).tick_format(",d") }
}

/// A band behind everything from one place to another.
fn band(from: f64, to: f64) -> Shape {
    Shape::new()
        .shape_type(ShapeType::Rect)
        .layer(ShapeLayer::Below)
        .x_ref("x")
        .y_ref("paper")
        .x0(from)
        .x1(to)
        .y0(0.0)
        .y1(1.0)
        .fill_color("var(--line)")
        .opacity(0.5)
        .line(ShapeLine::new().width(0.0))
}

fn xs(values: &[(usize, f64)]) -> Vec<f64> {
    values.iter().map(|(round, _)| *round as f64).collect()
}

fn ys(values: &[(usize, f64)]) -> Vec<f64> {
    drawn(values.iter().map(|(_, value)| *value))
}
