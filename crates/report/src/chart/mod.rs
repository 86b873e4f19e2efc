//! Charts: what they share, and the panels that a step's figure is made of.
//!
//! Colours are written as CSS variables, `var(--ink)`; the page's script puts in what they stand for,
//! so that a chart follows light, dark and paper like everything around it.

mod beside;
mod changes;
mod curve;
mod demand;
mod filled;
mod ground;
mod heat;
mod joined;
mod lines;
mod percentiles;
mod rounds;
mod series;
mod spoken;
mod spots;
mod written;

pub(crate) use beside::{Point, beside};
pub(crate) use changes::{Changes, DrawnChange, changes, changes_by_name, ratios};
pub(crate) use curve::{curve, curve_across, curves_of};
pub(crate) use demand::{DemandLine, DemandPoint, Response, demand, responses};
pub(crate) use filled::{FilledLine, filled};
pub(crate) use ground::Ground;
pub(crate) use heat::{HEAT_CAPTION, STRETCHES, heat_by_round, heat_over_time};
pub(crate) use joined::{Stretch, joined};
pub(crate) use lines::{lines, lines_for};
pub(crate) use percentiles::{PercentileLine, percentiles};
use plotly::common::{
    Anchor, DashType, ErrorData, ErrorType, Font, HoverInfo, Label, Line, Marker, MarkerSymbol, Orientation, TickMode,
};
use plotly::layout::{Axis, AxisType, HoverMode, Legend, Margin, RangeMode};
use plotly::{Configuration, Layout, Plot};
pub(crate) use rounds::{Track, convergence, window};
use serde_json::Value;
pub(crate) use series::{SERIES_POINTS, series};
pub(crate) use spots::{Spot, Spots, spots};
use stats::Interval;
use workload::Pattern;
pub(crate) use written::written;

use crate::axis::{logarithmic_ticks, plain};
use crate::number::{DIGITS, rounded};

/// The ratio of the largest to the smallest value beyond which an axis is logarithmic.
const WIDE: f64 = 20.0;
/// How high a chart is, in CSS pixels.
const HEIGHT: usize = 320;
/// More lines than this have a legend that takes room from them.
const MANY: usize = 6;

/// One chart with its heading.
pub(crate) struct Panel {
    /// What is drawn and which way is better: `IOPS, more is better`.
    pub(crate) title: String,
    /// Whether the scale of its values is logarithmic.
    pub(crate) is_logarithmic: bool,
    /// What its data is called where it is taken away as CSV.
    pub(crate) heads: Heads,
    /// The same in words, for those who cannot see it.
    pub(crate) spoken: String,
    /// The figure as Plotly's JSON.
    pub(crate) json: String,
}

impl Panel {
    pub(crate) fn new(title: String, heads: Heads, plot: &Plot) -> Self {
        // Inside a script element only `<` could end it; JSON strings may spell it otherwise.
        let json = plot.to_json();
        let figure: Value = serde_json::from_str(&json).expect("a figure is JSON");
        let is_logarithmic = figure["layout"]["yaxis"]["type"] == "log";
        Self {
            title,
            is_logarithmic,
            spoken: spoken::spoken(&heads, &figure),
            heads,
            json: json.replace('<', "\\u003c"),
        }
    }
}

/// What the columns of a chart's data are called, with their units: the page's script makes CSV of what is drawn.
pub(crate) struct Heads {
    /// What lies along the horizontal axis: `Block size (B)`.
    pub(crate) x: String,
    /// What lies along the vertical axis: `IOPS`.
    pub(crate) y: String,
    /// What the colour stands for, where it stands for an amount.
    pub(crate) z: Option<&'static str>,
    /// How a place along the horizontal axis is told.
    pub(crate) along: Along,
}

impl Heads {
    pub(crate) fn new(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self { x: x.into(), y: y.into(), z: None, along: Along::Numbers }
    }

    /// The same where places along the axis are told in this way.
    pub(crate) fn along(self, along: Along) -> Self {
        Self { along, ..self }
    }
}

/// How a place along the horizontal axis is told in data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// As the number that is drawn.
    Numbers,
    /// By the label that is nearest.
    Names,
    /// As the percentile of which one in so many is beyond.
    Rarities,
}

impl Along {
    /// As the script knows it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Names => "names",
            Self::Rarities => "rarities",
        }
    }
}

/// The mark of traces that hold single repeats, in a column of their own where data is taken away.
pub(crate) const REPEAT: &str = "single repeat";
/// The mark of lines that only help the eye: no data.
pub(crate) const GUIDE: &str = "guide";

/// The look that lines of one place and state share.
pub(crate) struct LineStyle {
    color: &'static str,
    dash: DashType,
    symbol: MarkerSymbol,
}

pub(crate) const COLORS: [&str; 6] =
    ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)", "var(--series-6)"];

/// The colour that a kind of request has throughout the report.
const fn color(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Read | Pattern::RandRead => COLORS[0],
        Pattern::Write | Pattern::RandWrite => COLORS[1],
        Pattern::ReadWrite | Pattern::RandRw => COLORS[2],
        Pattern::Trim | Pattern::RandTrim => COLORS[3],
    }
}

/// Whether the colours of these patterns are enough to tell lines apart.
fn tells_apart(patterns: impl Iterator<Item = Pattern>) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    for color in patterns.map(color) {
        if seen.contains(&color) {
            return false;
        }
        seen.push(color);
    }
    true
}

impl LineStyle {
    /// The look of a line by what it does, where that tells lines apart; otherwise by its place among them.
    fn of(pattern: Pattern, place: usize, by_pattern: bool, rank: usize) -> Self {
        match by_pattern {
            true => Self::ranked(color(pattern), rank),
            // The seventh line is told from the first by its dashes.
            false => Self::ranked(COLORS[place % COLORS.len()], rank + place / COLORS.len()),
        }
    }

    /// The look of what has this colour and this rank among those that stand beside each other.
    pub(crate) fn ranked(color: &'static str, rank: usize) -> Self {
        let (dash, symbol) = match rank % 4 {
            0 => (DashType::Solid, MarkerSymbol::Circle),
            1 => (DashType::Dash, MarkerSymbol::DiamondOpen),
            2 => (DashType::Dot, MarkerSymbol::SquareOpen),
            _ => (DashType::DashDot, MarkerSymbol::TriangleUpOpen),
        };
        Self { color, dash, symbol }
    }

    /// The colour alone.
    pub(crate) const fn color(&self) -> &'static str {
        self.color
    }

    pub(crate) fn line(&self) -> Line {
        Line::new().color(self.color).dash(self.dash.clone()).width(2.0)
    }

    pub(crate) fn marker(&self) -> Marker {
        Marker::new().color(self.color).symbol(self.symbol.clone()).size(7)
    }

    /// For single repeats, behind the line.
    pub(crate) fn dots(&self) -> Marker {
        Marker::new().color(self.color).size(4).opacity(0.45)
    }
}

/// A plot with the house's look and these axes.
pub(crate) fn house(x: Axis, y: Axis, lines: usize) -> Plot {
    let layout = Layout::new()
        .height(if lines > MANY { HEIGHT + 40 } else { HEIGHT })
        .auto_size(true)
        .margin(Margin::new().left(8).right(12).top(8).bottom(8))
        .font(Font::new().family("system-ui, sans-serif").size(12).color("var(--quiet)"))
        .paper_background_color("rgba(0,0,0,0)")
        .plot_background_color("rgba(0,0,0,0)")
        .separators(".,")
        .show_legend(lines > 1)
        .legend(
            Legend::new()
                .orientation(Orientation::Horizontal)
                .trace_group_gap(0)
                .x(0.0)
                .x_anchor(Anchor::Left)
                .y(1.02)
                .y_anchor(Anchor::Bottom)
                .font(Font::new().color("var(--ink)")),
        )
        .hover_mode(HoverMode::Closest)
        .hover_label(
            Label::new()
                .background_color("var(--paper)")
                .border_color("var(--line)")
                .font(Font::new().color("var(--ink)"))
                .align("left"),
        )
        .x_axis(x)
        .y_axis(y);
    let mut plot = Plot::new();
    plot.set_layout(layout);
    plot.set_configuration(
        Configuration::new()
            .responsive(true)
            .display_logo(false)
            .display_mode_bar(plotly::configuration::DisplayModeBar::False),
    );
    plot
}

/// An axis with the house's look.
pub(crate) fn axis(title: &str) -> Axis {
    let axis = Axis::new()
        .auto_margin(true)
        .grid_color("var(--line)")
        .line_color("var(--line)")
        .zero_line(false)
        .tick_color("var(--line)");
    if title.is_empty() { axis } else { axis.title(title) }
}

/// An axis of amounts that fits `values`: from zero, or logarithmic where they range widely.
pub(crate) fn amounts(values: impl Iterator<Item = f64>) -> Axis {
    let (least, most) = values
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    if most / least <= WIDE || most == 0.0 {
        return axis("").range_mode(RangeMode::ToZero).separate_thousands(true).tick_format(",~g").n_ticks(6);
    }
    logarithmic(axis(""), least, most)
}

/// `axis` made logarithmic, with round labels between `least` and `most`.
fn logarithmic(axis: Axis, least: f64, most: f64) -> Axis {
    let (ticks, text) = logarithmic_ticks(least, most);
    axis.type_(AxisType::Log).tick_mode(TickMode::Array).tick_values(ticks).tick_text(text)
}

/// An axis of time for spans that end at `end` seconds: the unit's length in seconds, and the axis.
pub(crate) fn time(end: f64) -> (f64, &'static str, Axis) {
    let (unit, name) = match end {
        end if end <= 300.0 => (1.0, "s"),
        end if end <= 3.0 * 3600.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    (unit, name, axis(&format!("Time ({name})")).tick_format(",~g").range_mode(RangeMode::ToZero).show_grid(false))
}

/// Text for hovering over a point, safe against what looks like markup in a plan's own words.
pub(crate) fn hover(lines: &[String]) -> String {
    let safe = |line: &String| line.replace('&', "&amp;").replace('<', "&lt;");
    lines.iter().map(safe).collect::<Vec<_>>().join("<br>")
}

/// Numbers for drawing and for taking away, without the noise that arithmetic leaves behind their digits.
pub(crate) fn drawn(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.map(|value| rounded(value, DIGITS)).collect()
}

/// The intervals of figures as bars, down as far as up unless that would be below zero.
pub(crate) fn arms<'a>(intervals: impl Iterator<Item = Option<&'a Interval>>) -> ErrorData {
    let arms =
        intervals.map(|interval| match interval.and_then(|interval| Some((interval.mean, interval.bounds()?))) {
            Some((mean, (low, high))) => (mean - low, high - mean),
            None => (f64::NAN, f64::NAN),
        });
    let (down, up): (Vec<f64>, Vec<f64>) = arms.unzip();
    let [down, up] = [down, up].map(|arms| drawn(arms.into_iter()));
    ErrorData::new(ErrorType::Data).symmetric(false).array(up).array_minus(down).thickness(1.2).width(4)
}

/// A hover template that shows a point's text and nothing else.
pub(crate) const TEXT_ONLY: &str = "%{text}<extra></extra>";
/// For marks that say nothing when hovered over.
pub(crate) const SILENT: HoverInfo = HoverInfo::Skip;

/// The seconds `value` in words, for hovering.
fn clock(value: f64, unit: f64, name: &str) -> String {
    format!("{} {name}", plain(value / unit))
}
