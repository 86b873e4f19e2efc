//! Charts of trials: figures along what is swept, and over time.

use plotly::common::{ErrorData, ErrorType, Mode, TickMode};
use plotly::layout::AxisType;
use plotly::{Bar, Scatter};
use stats::Interval;

use super::sheet::{Row, Sheet};
use crate::chart::{
    Along, COLORS, Heads, Look, Panel, REPEAT, SILENT, TEXT_ONLY, amounts, axis, drawn, house, hover, time,
};
use crate::number::{count, spread};

/// The ratio of the largest to the smallest value beyond which an axis is logarithmic.
const WIDE: f64 = 8.0;
/// As many points have their course drawn.
const COURSES: usize = 6;

/// The panels of a step: its leading figures. One point alone is better read than drawn.
pub(super) fn panels(sheet: &Sheet) -> Vec<Panel> {
    if sheet.rows.len() < 2 {
        return Vec::new();
    }
    let panel = |column: usize| match sheet.along() {
        Some(along) => lines(sheet, column, along),
        None => columns(sheet, column),
    };
    sheet.leading().into_iter().map(panel).collect()
}

/// A line for each combination of what else is swept, along the axis at `along`.
fn lines(sheet: &Sheet, column: usize, along: usize) -> Panel {
    let of = |row: &Row| row.figures[column];
    let means = sheet.rows.iter().filter_map(|row| of(row).map(|figure| figure.mean));
    let names = sheet.distinct(|row| row.line(along));
    let mut ticks: Vec<(f64, &str)> =
        sheet.rows.iter().filter_map(|row| Some((row.number(along)?, row.value(along)))).collect();
    ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
    ticks.dedup_by(|one, other| one.0 == other.0);
    let is_wide = ticks[0].0 > 0.0 && ticks[ticks.len() - 1].0 / ticks[0].0 > WIDE;
    let x = axis(sheet.axes[along].title)
        .type_(if is_wide { AxisType::Log } else { AxisType::Linear })
        .show_grid(false)
        .tick_mode(TickMode::Array)
        .tick_values(ticks.iter().map(|tick| tick.0).collect())
        .tick_text(ticks.iter().map(|tick| tick.1.to_owned()).collect());
    let mut plot = house(x, amounts(means), names.len());
    for (place, name) in names.iter().enumerate() {
        let look = Look::ranked(COLORS[place % COLORS.len()], place / COLORS.len());
        let rows: Vec<&Row> = sheet.rows.iter().filter(|row| row.line(along) == *name && of(row).is_some()).collect();
        let x = || rows.iter().filter_map(|row| row.number(along));
        let figures = || rows.iter().filter_map(|row| of(row));
        let samples: Vec<(f64, f64)> = rows.iter().flat_map(|row| samples(sheet, column, row, along)).collect();
        plot.add_trace(
            Scatter::new(samples.iter().map(|dot| dot.0).collect(), drawn(samples.iter().map(|dot| dot.1)))
                .show_legend(false)
                .meta(REPEAT)
                .name(hover(std::slice::from_ref(name)))
                .legend_group(name)
                .mode(Mode::Markers)
                .marker(look.dots())
                .hover_info(SILENT),
        );
        plot.add_trace(
            Scatter::new(x().collect(), drawn(figures().map(|figure| figure.mean)))
                .name(hover(std::slice::from_ref(name)))
                .legend_group(name)
                .mode(Mode::LinesMarkers)
                .line(look.line())
                .marker(look.marker())
                .text_array(rows.iter().map(|row| said(sheet, column, row)).collect())
                .hover_template(TEXT_ONLY)
                .error_y(bars(look.color(), figures())),
        );
    }
    let heads = Heads::new(sheet.head(along), sheet.columns[column].head());
    Panel::new(sheet.columns[column].title(), heads, &plot)
}

/// The figures of single goes, where there are several.
fn samples(sheet: &Sheet, column: usize, row: &Row, along: usize) -> Vec<(f64, f64)> {
    let Some(x) = row.number(along) else { return Vec::new() };
    let column = &sheet.columns[column];
    let goes = row.outcome.repeats.iter().filter_map(|go| go.figure(&column.name));
    let dots: Vec<(f64, f64)> = goes.map(|value| (x, value * column.scale)).collect();
    if dots.len() > 1 { dots } else { Vec::new() }
}

/// A bar for each point: one beside the other for what is swept last, in groups for the rest.
fn columns(sheet: &Sheet, column: usize) -> Panel {
    let last = sheet.axes.len().checked_sub(1).filter(|last| *last > 0);
    let group = |row: &Row| last.map_or_else(|| row.name(), |last| row.line(last));
    let series = |row: &Row| last.map_or_else(String::new, |last| row.told(last));
    let (groups, names) = (sheet.distinct(group), sheet.distinct(series));
    let places: Vec<f64> = (0..groups.len()).map(|place| place as f64).collect();
    let told = groups.iter().map(|name| hover(std::slice::from_ref(name))).collect();
    let x = axis("").show_grid(false).tick_mode(TickMode::Array).tick_values(places).tick_text(told);
    let x = x.range(vec![-0.6, groups.len() as f64 - 0.4]);
    let y =
        axis("").range_mode(plotly::layout::RangeMode::ToZero).separate_thousands(true).tick_format(",~g").n_ticks(6);
    let mut plot = house(x, y, names.len());
    let width = if names.len() > 1 { 0.8 / names.len() as f64 } else { 0.6 };
    for (rank, name) in names.iter().enumerate() {
        let is_own = |row: &&Row| series(row) == *name && row.figures[column].is_some();
        let rows: Vec<&Row> = sheet.rows.iter().filter(is_own).collect();
        let aside = (rank as f64 - (names.len() as f64 - 1.0) / 2.0) * width;
        let place = |row: &&Row| groups.iter().position(|one| *one == group(row)).unwrap_or_default() as f64 + aside;
        let figures = || rows.iter().filter_map(|row| row.figures[column]);
        let bar = Bar::new(rows.iter().map(place).collect(), drawn(figures().map(|figure| figure.mean)))
            .name(hover(std::slice::from_ref(name)))
            .marker(plotly::common::Marker::new().color(COLORS[rank % COLORS.len()]))
            .text_array(vec![String::new(); rows.len()])
            .hover_text_array(rows.iter().map(|row| said(sheet, column, row)).collect())
            .hover_template("%{hovertext}<extra></extra>")
            .width(width * 0.94);
        let is_repeated = figures().any(|figure| figure.half_width.is_some());
        plot.add_trace(if is_repeated { bar.error_y(bars("var(--ink)", figures())) } else { bar });
    }
    let heads = Heads::new("Point", sheet.columns[column].head()).along(Along::Names);
    Panel::new(sheet.columns[column].title(), heads, &plot)
}

/// The 95 % intervals of figures, as bars.
fn bars(color: &'static str, figures: impl Iterator<Item = Interval>) -> ErrorData {
    let arms = drawn(figures.map(|figure| figure.half_width.unwrap_or(f64::NAN)));
    ErrorData::new(ErrorType::Data).array(arms).color(color).thickness(1.2).width(4)
}

/// What happened over time in the first go at each point, where somebody kept it.
pub(super) fn courses(sheet: &Sheet) -> Option<Panel> {
    let of = |row: &Row<'_>| row.outcome.repeats.first()?.courses.first().cloned();
    let courses: Vec<(String, trial::Course)> =
        sheet.rows.iter().filter_map(|row| Some((row.name(), of(row)?))).take(COURSES).collect();
    let first = &courses.first()?.1;
    let (title, by) = if first.unit == "B/s" {
        (format!("{} (MB/s)", first.name), 1e-6)
    } else {
        (format!("{} ({})", first.name, first.unit), 1.0)
    };
    let points = || courses.iter().flat_map(|(_, course)| &course.points);
    let (unit, clock, x) = time(points().fold(0.0, |end, point| end.max(point.0)));
    let mut plot = house(x, amounts(points().map(|point| point.1 * by)), courses.len());
    for (place, (name, course)) in courses.iter().enumerate() {
        let look = Look::ranked(COLORS[place % COLORS.len()], 0);
        let (x, y) = (course.points.iter().map(|point| point.0 / unit), course.points.iter().map(|point| point.1 * by));
        plot.add_trace(
            Scatter::new(drawn(x), drawn(y))
                .name(hover(std::slice::from_ref(name)))
                .mode(Mode::Lines)
                .line(look.line())
                .hover_info(SILENT),
        );
    }
    let heads = Heads::new(format!("Time ({clock})"), title.clone());
    Some(Panel::new(format!("{title}, over time"), heads, &plot))
}

/// What is said of a point when it is hovered over.
fn said(sheet: &Sheet, column: usize, row: &Row) -> String {
    let Some(figure) = row.figures[column] else { return String::new() };
    let values = row.outcome.point.values.iter().map(|(choice, value)| format!("{}: {value}", choice.title));
    let spread = spread(&figure).map_or_else(String::new, |spread| format!(" {spread}"));
    let told = format!("{}{spread}", sheet.columns[column].told(&figure));
    hover(&values.chain([told, count(figure.repeats, "repeat")]).collect::<Vec<_>>())
}
