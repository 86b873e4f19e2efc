//! Charts of trials: figures along what is swept, and over time.

use plotly::common::{ErrorData, Mode};
use plotly::{Bar, Scatter};
use stats::Interval;

use super::sheet::{TrialSheet, first};
use crate::axis::{words, written};
use crate::chart::{
    COLORS, Ground, Heads, LineStyle, Panel, SILENT, Spot, Spots, amounts, arms, axis, drawn, house, hover, spots, time,
};
use crate::figure::CellFigures;
use crate::number::{count, spread};
use crate::part::point_place;

/// As many points have their course drawn.
const COURSES: usize = 6;

/// The panels of a step: its leading figures. One point alone is better read than drawn.
pub(super) fn panels(sheet: &TrialSheet) -> Vec<Panel> {
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
fn lines(sheet: &TrialSheet, place: usize, along: usize) -> Panel {
    let column = &sheet.columns[place];
    let line = |(rank, name): (usize, String)| {
        let look = LineStyle::ranked(COLORS[rank % COLORS.len()], rank / COLORS.len());
        let spot = |row: &&CellFigures| {
            Some(Spot {
                x: sheet.number(row, along)?,
                figure: column.interval(row)?,
                samples: column.samples(row),
                said: said(sheet, place, row),
                place: point_place(row.point),
            })
        };
        let rows = sheet.rows.iter().filter(|row| sheet.line(row, along) == name);
        Spots { look, spots: rows.filter_map(spot).collect(), name }
    };
    let names = sheet.distinct(|row| sheet.line(row, along));
    let all: Vec<Spots> = names.into_iter().enumerate().map(line).collect();
    spots(column.title(), &column.head(), &sheet.ground(along), &all)
}

/// A bar for each point: one beside the other for what is swept last, in groups for the rest.
fn columns(sheet: &TrialSheet, column: usize) -> Panel {
    let last = sheet.axes.len().checked_sub(1).filter(|last| *last > 0);
    let group = |row: &CellFigures| last.map_or_else(|| sheet.name(row), |last| sheet.line(row, last));
    let series = |row: &CellFigures| last.map_or_else(String::new, |last| words(&sheet.axes[last], row.point));
    let (groups, names) = (sheet.distinct(group), sheet.distinct(series));
    let found = |row: &CellFigures| sheet.columns[column].interval(row);
    let ground = Ground::names("Point", &groups);
    let y =
        axis("").range_mode(plotly::layout::RangeMode::ToZero).separate_thousands(true).tick_format(",~g").n_ticks(6);
    let mut plot = house(ground.axis(), y, names.len());
    let width = if names.len() > 1 { 0.8 / names.len() as f64 } else { 0.6 };
    for (rank, name) in names.iter().enumerate() {
        let is_own = |row: &&CellFigures| series(row) == *name && found(row).is_some();
        let rows: Vec<&CellFigures> = sheet.rows.iter().copied().filter(is_own).collect();
        let aside = (rank as f64 - (names.len() as f64 - 1.0) / 2.0) * width;
        let place =
            |row: &&CellFigures| groups.iter().position(|one| *one == group(row)).unwrap_or_default() as f64 + aside;
        let figures = || rows.iter().filter_map(|row| found(row));
        let bar = Bar::new(rows.iter().map(place).collect(), drawn(figures().map(|figure| figure.mean)))
            .name(hover(std::slice::from_ref(name)))
            .marker(plotly::common::Marker::new().color(COLORS[rank % COLORS.len()]))
            .text_array(vec![String::new(); rows.len()])
            .hover_text_array(rows.iter().map(|row| hover(&said(sheet, column, row))).collect())
            .hover_template("%{hovertext}<extra></extra>")
            .width(width * 0.94);
        let is_repeated = figures().any(|figure| figure.half_width.is_some());
        plot.add_trace(if is_repeated { bar.error_y(bars(figures())) } else { bar });
    }
    Panel::new(sheet.columns[column].title(), ground.heads(&sheet.columns[column].head()), &plot)
}

/// The 95 % intervals of figures, as bars.
fn bars(figures: impl Iterator<Item = Interval>) -> ErrorData {
    let figures: Vec<Interval> = figures.collect();
    arms(figures.iter().map(Some)).color("var(--ink)")
}

/// What happened over time in the first go at each point, where somebody kept it.
pub(super) fn courses(sheet: &TrialSheet) -> Option<Panel> {
    let courses: Vec<(String, &measurement::Course)> = sheet
        .rows
        .iter()
        .filter_map(|row| Some((sheet.name(row), first(row)?.courses.first()?)))
        .take(COURSES)
        .collect();
    let course = courses.first()?.1;
    let (title, by) = if course.unit == "B/s" {
        (format!("{} (MB/s)", course.name), 1e-6)
    } else {
        (format!("{} ({})", course.name, course.unit), 1.0)
    };
    let points = || courses.iter().flat_map(|(_, course)| &course.points);
    let (unit, clock, x) = time(points().fold(0.0, |end, point| end.max(point.0)));
    let mut plot = house(x, amounts(points().map(|point| point.1 * by)), courses.len());
    for (place, (name, course)) in courses.iter().enumerate() {
        let look = LineStyle::ranked(COLORS[place % COLORS.len()], 0);
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
fn said(sheet: &TrialSheet, column: usize, row: &CellFigures) -> Vec<String> {
    let Some(figure) = sheet.columns[column].interval(row) else { return Vec::new() };
    let values = sheet.axes.iter().map(|axis| format!("{}: {}", axis.title(), written(axis, row.point)));
    let spread = spread(&figure).map_or_else(String::new, |spread| format!(" {spread}"));
    let told = format!("{}{spread}", sheet.columns[column].told(&figure));
    values.chain([told, count(figure.repeats, "repeat")]).collect()
}
