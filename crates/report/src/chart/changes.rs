//! How far other runs lie from the first, with intervals: what lines that run close together cannot show.

use plan::compare::Contrast;
use plotly::common::{DashType, ErrorData, ErrorType, Line, Marker, MarkerSymbol, Mode, TickMode};
use plotly::layout::{Axis, AxisType};
use plotly::{Plot, Scatter};
use stats::Ratio;

use super::lines::{along, look, place};
use super::{COLORS, GUIDE, Ground, Heads, Panel, SILENT, TEXT_ONLY, axis, drawn, house, hover};
use crate::axis::{logarithmic_ticks, plain};
use crate::figure::CellFigures;
use crate::sweep::Sweep;

/// At least so many percent are shown either side of no change, so that what is next to nothing looks so.
const ROOM: f64 = 1.0;
/// The ratio of the largest to the smallest beyond which an axis of ratios is logarithmic.
const WIDE: f64 = 2.0;

/// Labels of a logarithmic axis of less than a factor of ten about 1.
const STEPS: [f64; 13] = [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0];

/// What is drawn, as a column of data is headed.
const CHANGE: &str = "Change (%)";

pub(crate) struct DrawnChange<'c> {
    /// What is compared.
    pub(crate) contrast: &'c Contrast,
    /// What is said of it when it is hovered over.
    pub(crate) said: Vec<String>,
}

/// The changes of one line or one run.
pub(crate) struct Changes<'c> {
    /// What they are called.
    pub(crate) name: String,
    /// The colour of their run or line.
    pub(crate) color: &'static str,
    /// Where each lies, and the change.
    pub(crate) points: Vec<(f64, DrawnChange<'c>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum ChangeScale {
    /// As a share that is added or lost.
    Percent,
    Times,
}

/// The panel of the changes along a sweep. `found` gives that of a cell in the run at a place.
pub(crate) fn changes<'c>(
    title: String,
    sweep: &Sweep,
    found: impl Fn(&CellFigures, usize) -> Option<DrawnChange<'c>>,
) -> Option<Panel> {
    let lines = sweep.lines.iter().filter(|line| line.rank > 0);
    let series = lines.map(|line| {
        let point = |reading: &&CellFigures| Some((place(reading, sweep.axis), found(reading, line.rank)?));
        let points = line.readings.iter().filter_map(point).collect();
        Changes { name: line.name.clone(), color: look(sweep, line).color, points }
    });
    let series: Vec<Changes> = series.collect();
    let amounts = shares(&series);
    let plot = plot(along(sweep).zero_line(false), amounts, ChangeScale::Percent, series)?;
    Some(Panel::new(title, Heads::new(crate::axis::head(sweep.axis), CHANGE), &plot))
}

/// The panel of the changes of figures that lie along no axis, one beside the other under their names; each run has
/// its name and its changes, each with the place of its figure.
pub(crate) fn changes_by_name(
    title: String,
    names: &[String],
    runs: Vec<(String, Vec<(usize, DrawnChange)>)>,
) -> Option<Panel> {
    let ground = Ground::names("Figure", names);
    let others = runs.len();
    let series = runs.into_iter().enumerate().map(|(rank, (name, changes))| {
        let points = changes.into_iter().map(|(at, change)| (at as f64 + ground.aside(rank, others), change)).collect();
        Changes { name, color: COLORS[(rank + 1) % COLORS.len()], points }
    });
    let series: Vec<Changes> = series.collect();
    let plot = plot(ground.axis().zero_line(false), shares(&series), ChangeScale::Percent, series)?;
    Some(Panel::new(title, ground.heads(CHANGE), &plot))
}

/// The panel of how many times the first run's each figure is; `of` names the first run. None where there is nothing.
pub(crate) fn ratios(title: String, of: &str, ground: &Ground, series: Vec<Changes>) -> Option<Panel> {
    let ends = || all_ends(&series, ChangeScale::Times);
    let (low, high) = (ends().fold(1.0, f64::min), ends().fold(1.0, f64::max));
    let mut plot = plot(ground.axis(), factors(low, high), ChangeScale::Times, series)?;
    plot.add_trace(
        Scatter::new(ground.ends.to_vec(), vec![1.0, 1.0])
            .name(of)
            .meta(GUIDE)
            .show_legend(false)
            .mode(Mode::Lines)
            .line(Line::new().color("var(--quiet)").width(1.0).dash(DashType::Dash))
            .hover_info(SILENT),
    );
    Some(Panel::new(title, ground.heads(&format!("× {of}")), &plot))
}

/// An axis of so many times, about once; logarithmic where halves and doubles are on it.
fn factors(low: f64, high: f64) -> Axis {
    if low <= 0.0 || high / low <= WIDE {
        let room = ((high - low) * 0.08).max(ROOM / 100.0);
        return axis("").range(vec![low - room, high + room]).tick_format(",~g").tick_suffix(" ×").n_ticks(7);
    }
    let (low, high) = (low / 1.15, high * 1.15);
    let (ticks, text) = match high / low < 10.0 {
        true => STEPS.iter().map(|step| (*step, plain(*step))).unzip(),
        false => logarithmic_ticks(low, high),
    };
    let text = text.into_iter().map(|text: String| text + " ×").collect();
    let axis = axis("").type_(AxisType::Log).range(vec![low.log10(), high.log10()]);
    axis.tick_mode(TickMode::Array).tick_values(ticks).tick_text(text)
}

/// An axis of percent about no change.
fn shares(series: &[Changes]) -> Axis {
    let ends = || all_ends(series, ChangeScale::Percent);
    let (low, high) = (ends().fold(-ROOM, f64::min), ends().fold(ROOM, f64::max));
    let margin = (high - low) * 0.06;
    let amounts = axis("").range(vec![low - margin, high + margin]).tick_suffix(" %").n_ticks(7);
    amounts.zero_line(true).zero_line_color("var(--quiet)")
}

/// From what to what each change may reach.
fn all_ends(series: &[Changes], scale: ChangeScale) -> impl Iterator<Item = f64> {
    series.iter().flat_map(|series| &series.points).flat_map(move |(_, change)| {
        let ratio = change.contrast.ratio;
        let (low, high) = ratio.bounds.unwrap_or((ratio.ratio, ratio.ratio));
        [scale.of(low), scale.of(high)]
    })
}

/// The plot of `series`; none where there is no point.
fn plot(along: Axis, amounts: Axis, scale: ChangeScale, mut series: Vec<Changes>) -> Option<Plot> {
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return None;
    }
    let mut plot = house(along, amounts, series.len());
    series.into_iter().for_each(|series| draw(series, scale, &mut plot));
    Some(plot)
}

/// Draws points with their intervals, filled where the change is more than chance, hollow where it may be chance.
fn draw(series: Changes, scale: ChangeScale, plot: &mut Plot) {
    let Changes { name, color, points } = series;
    let (real, open): (Vec<_>, Vec<_>) = points.into_iter().partition(|(_, one)| one.contrast.verdict().is_real());
    let mut is_first = true;
    for (points, symbol) in [(real, MarkerSymbol::Circle), (open, MarkerSymbol::CircleOpen)] {
        if !points.is_empty() {
            // One entry in the legend for both kinds.
            plot.add_trace(trace(&name, color, symbol, scale, &points).show_legend(is_first));
            is_first = false;
        }
    }
}

fn trace(
    name: &str,
    color: &'static str,
    symbol: MarkerSymbol,
    scale: ChangeScale,
    points: &[(f64, DrawnChange)],
) -> Box<Scatter<f64, f64>> {
    let ratios = || points.iter().map(|(_, change)| change.contrast.ratio);
    let arm = |ratio: Ratio, end: fn((f64, f64)) -> f64| {
        ratio.bounds.map_or(0.0, |bounds| (scale.of(end(bounds)) - scale.of(ratio.ratio)).abs())
    };
    let bars = ErrorData::new(ErrorType::Data)
        .symmetric(false)
        .array(drawn(ratios().map(|ratio| arm(ratio, |bounds| bounds.1))))
        .array_minus(drawn(ratios().map(|ratio| arm(ratio, |bounds| bounds.0))))
        .color(color)
        .thickness(1.2)
        .width(4);
    let marker = Marker::new().color(color).size(8).symbol(symbol).line(Line::new().color(color).width(1.5));
    Scatter::new(drawn(points.iter().map(|(x, _)| *x)), drawn(ratios().map(|ratio| scale.of(ratio.ratio))))
        .name(hover(&[name.to_owned()]))
        .legend_group(name)
        .mode(Mode::Markers)
        .marker(marker)
        .error_y(bars)
        .text_array(points.iter().map(|(_, change)| hover(&change.said)).collect())
        .hover_template(TEXT_ONLY)
}

impl ChangeScale {
    /// A ratio as it is drawn.
    fn of(self, ratio: f64) -> f64 {
        match self {
            Self::Percent => (ratio - 1.0) * 100.0,
            Self::Times => ratio,
        }
    }
}
