//! How far other runs lie from the first, with intervals: what lines that run close together cannot show.

use lab::compare::Contrast;
use plotly::common::{ErrorData, ErrorType, Line, Marker, MarkerSymbol, Mode, TickMode};
use plotly::layout::Axis;
use plotly::{Plot, Scatter};
use stats::Ratio;

use super::lines::{along, look, place};
use super::{Along, COLORS, Heads, Panel, TEXT_ONLY, axis, drawn, house, hover};
use crate::figure::Reading;
use crate::sweep::Sweep;

/// At least so many percent are shown either side of no change, so that what is next to nothing looks so.
const ROOM: f64 = 1.0;

/// What is drawn, as a column of data is headed.
const CHANGE: &str = "Change (%)";

/// A change to be drawn.
pub(crate) struct Change<'c> {
    /// What is compared.
    pub(crate) contrast: &'c Contrast,
    /// What is said of it when it is hovered over.
    pub(crate) said: Vec<String>,
}

/// The changes of one line or one run.
struct Series<'c> {
    name: String,
    color: &'static str,
    points: Vec<(f64, Change<'c>)>,
}

/// The panel of the changes along a sweep. `found` gives that of a cell in the run at a place.
pub(crate) fn changes<'c>(
    title: String,
    sweep: &Sweep,
    found: impl Fn(&Reading, usize) -> Option<Change<'c>>,
) -> Option<Panel> {
    let lines = sweep.lines.iter().filter(|line| line.rank > 0);
    let series = lines.map(|line| {
        let point = |reading: &&Reading| Some((place(reading, sweep.axis), found(reading, line.rank)?));
        let points = line.readings.iter().filter_map(point).collect();
        Series { name: line.name.clone(), color: look(sweep, line).color, points }
    });
    panel(title, (along(sweep), Heads::new(crate::axis::head(sweep.axis), CHANGE)), series.collect())
}

/// The panel of the changes of figures that lie along no axis, one beside the other under their names; each run has
/// its name and its changes, each with the place of its figure.
pub(crate) fn changes_by_name(
    title: String,
    names: &[String],
    runs: Vec<(String, Vec<(usize, Change)>)>,
) -> Option<Panel> {
    let middle = (runs.len() as f64 - 1.0) / 2.0;
    let series = runs.into_iter().enumerate().map(|(rank, (name, changes))| {
        let aside = (rank as f64 - middle) * 0.12;
        let points = changes.into_iter().map(|(at, change)| (at as f64 + aside, change)).collect();
        Series { name, color: COLORS[(rank + 1) % COLORS.len()], points }
    });
    let along = axis("")
        .show_grid(false)
        .range(vec![-0.5, names.len() as f64 - 0.5])
        .tick_mode(TickMode::Array)
        .tick_values((0..names.len()).map(|at| at as f64).collect())
        .tick_text(names.to_vec());
    panel(title, (along, Heads::new("Figure", CHANGE).along(Along::Names)), series.collect())
}

/// The panel of `series`; none where there is no point.
fn panel(title: String, (along, heads): (Axis, Heads), mut series: Vec<Series>) -> Option<Panel> {
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return None;
    }
    let ends = || series.iter().flat_map(|series| &series.points).flat_map(|(_, change)| ends(change.contrast));
    let (low, high) = (ends().fold(-ROOM, f64::min), ends().fold(ROOM, f64::max));
    let margin = (high - low) * 0.06;
    let amounts = axis("").range(vec![low - margin, high + margin]).tick_suffix(" %").n_ticks(7);
    let amounts = amounts.zero_line(true).zero_line_color("var(--quiet)");
    let mut plot = house(along.zero_line(false), amounts, series.len());
    series.into_iter().for_each(|series| draw(series, &mut plot));
    Some(Panel::new(title, heads, &plot))
}

/// From what to what a change may reach, in percent.
fn ends(contrast: &Contrast) -> [f64; 2] {
    let ratio = contrast.ratio.ratio;
    let (low, high) = contrast.ratio.bounds.unwrap_or((ratio, ratio));
    [percent(low), percent(high)]
}

/// Draws points with their intervals, filled where the change is more than chance, hollow where it may be chance.
fn draw(series: Series, plot: &mut Plot) {
    let Series { name, color, points } = series;
    let (real, open): (Vec<_>, Vec<_>) = points.into_iter().partition(|(_, one)| one.contrast.verdict().is_real());
    let mut is_first = true;
    for (points, symbol) in [(real, MarkerSymbol::Circle), (open, MarkerSymbol::CircleOpen)] {
        if !points.is_empty() {
            // One entry in the legend for both kinds.
            plot.add_trace(trace(&name, color, symbol, &points).show_legend(is_first));
            is_first = false;
        }
    }
}

fn trace(name: &str, color: &'static str, symbol: MarkerSymbol, points: &[(f64, Change)]) -> Box<Scatter<f64, f64>> {
    let ratios = || points.iter().map(|(_, change)| change.contrast.ratio);
    let arm = |ratio: Ratio, end: fn((f64, f64)) -> f64| {
        100.0 * ratio.bounds.map_or(0.0, |bounds| (end(bounds) - ratio.ratio).abs())
    };
    let bars = ErrorData::new(ErrorType::Data)
        .symmetric(false)
        .array(drawn(ratios().map(|ratio| arm(ratio, |bounds| bounds.1))))
        .array_minus(drawn(ratios().map(|ratio| arm(ratio, |bounds| bounds.0))))
        .color(color)
        .thickness(1.2)
        .width(4);
    let marker = Marker::new().color(color).size(8).symbol(symbol).line(Line::new().color(color).width(1.5));
    Scatter::new(drawn(points.iter().map(|(x, _)| *x)), drawn(ratios().map(|ratio| percent(ratio.ratio))))
        .name(hover(&[name.to_owned()]))
        .legend_group(name)
        .mode(Mode::Markers)
        .marker(marker)
        .error_y(bars)
        .text_array(points.iter().map(|(_, change)| hover(&change.said)).collect())
        .hover_template(TEXT_ONLY)
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}
