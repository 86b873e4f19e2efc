//! Tables of figures.

use maud::{Markup, html};
use plan::{Axis, Field, Group, Metric};
use stats::Interval;

use crate::axis;
use crate::change::FigureChange;
use crate::column::{Column, columns, of_latencies};
use crate::figure::{CellFigure, CellFigures};
use crate::key::{KeyFigure, Scorecard};
use crate::number::{Scaled, count, kept, latency, significant, spread, three};
use crate::part::{MeasuredStep, names};
use crate::rated::{self, RatedSheet};
use crate::reviewed::Reviewed;

/// A table that scrolls sideways by itself where the page is narrow.
pub(crate) fn framed(about: &str, table: &Markup) -> Markup {
    html! { div.scroll role="region" tabindex="0" aria-label=(about) { (table) } }
}

/// The key figures, a column for each state, with what is promised and the change.
pub(crate) fn scorecard(scorecard: &Scorecard, sheet: Option<&RatedSheet>, reviewed: Option<&Reviewed>) -> Markup {
    let sheet = sheet.filter(|sheet| sheet.is_wanted(scorecard));
    let has_change = scorecard.has_change();
    let table = html! {
        table.key {
            caption.hidden { "Key figures with 95 % confidence intervals" }
            thead { tr {
                th scope="col" { "Key figure" }
                th scope="col" { "Unit" }
                @for state in &scorecard.states { th.number scope="col" { (state.title()) } }
                @if sheet.is_some() { th.number scope="col" { "Rated" } }
                @if reviewed.is_some() { th.number scope="col" { "Published" } }
                @if has_change { th scope="col" { "Change" } }
            } }
            tbody { @for row in &scorecard.rows { tr {
                th scope="row" {
                    @match row.anchor() {
                        Some(anchor) => a href={ "#" (anchor) } { (row.name()) },
                        None => (row.name()),
                    }
                }
                @let scaled = scaled(row);
                td.unit { (scaled.unit) }
                @for (state, entry) in scorecard.states.iter().zip(&row.entries) {
                    @match entry {
                        Some(entry) => (figure_in(Some(state.title()), &entry.figure.scaled(scaled.scale), scaled.unit)),
                        None => td.number.unplanned title="Not part of the plan" { (dash()) },
                    }
                }
                @if let Some(sheet) = sheet { (rated::cell(sheet.promised(row))) }
                @if let Some(reviewed) = reviewed { (reviewed.cell(row, scaled)) }
                @if has_change { td.change {
                    @let change = scorecard.change(row);
                    (changed(change.map(|change| change.change)))
                    @if let Some(states) = change.and_then(|change| change.states()) { " " span.spread { (states) } }
                } }
            } } }
        }
    };
    html! {
        (framed("Key figures", &table))
        @if let Some(about) = scorecard.about_changes() { p.trust { (about) } }
        @if let Some(sheet) = sheet { (sheet.note(scorecard)) }
        @if let Some(reviewed) = reviewed { (reviewed.note(scorecard)) }
    }
}

/// The unit of a row.
pub(crate) fn scaled(row: &KeyFigure) -> Scaled<'static> {
    let means = row.entries.iter().flatten().filter_map(|entry| Some(entry.figure.interval()?.mean));
    Scaled::over(row.metric.unit(), means)
}

fn changed(change: Option<FigureChange>) -> Markup {
    match change {
        Some(change) if !change.is_clear() => html! { span.absent { (change) } },
        Some(change) => html! { span.worse[change.is_worse()] { (change) } },
        None => html! {},
    }
}

/// One figure in a cell of a table.
fn figure(figure: &CellFigure, metric: Metric) -> Markup {
    figure_in(None, figure, metric.unit())
}

/// One figure in a cell of a table, marked where it is not sure; `state` is its column where a phone shows no heads.
fn figure_in(state: Option<&str>, figure: &CellFigure, unit: &str) -> Markup {
    let absent = |why: &str| html! { td.number data-state=[state] title=(why) { (dash()) } };
    match figure {
        CellFigure::NotMeasured => html! { td.number data-state=[state] { span.absent { "not measured" } } },
        CellFigure::TooFew => absent("Too few requests per repeat for this percentile"),
        CellFigure::NotGiven => absent("Not defined for this measurement"),
        CellFigure::Measured(interval) => html! {
            td.number.imprecise[interval.is_imprecise()] data-state=[state] title=(exact(interval, unit))
                data-v=(kept(interval.mean)) data-h=[interval.half_width.map(kept)]
            {
                (mean_and_spread(interval))
                @if interval.is_imprecise() { span.flag role="img" aria-label="wider than ±2 %" { "▲" } }
            }
        },
    }
}

/// `38,900 ±0.1 %`, with room for a spread where there is none, so that the digits of a column stay below one another.
pub(crate) fn mean_and_spread(interval: &Interval) -> Markup {
    html! { (three(interval.mean)) " " span.spread { (spread(interval).unwrap_or_default()) } }
}

/// What stands where a number would.
pub(crate) fn dash() -> Markup {
    html! { span.dash { "–" } " " span.spread {} }
}

/// `38,912 ± 45 IOPS, 5 repeats`: what stands behind a rounded figure.
pub(crate) fn exact(interval: &Interval, unit: &str) -> String {
    let mean = significant(interval.mean, 6);
    let half = interval.half_width.map_or_else(String::new, |half| format!(" ± {}", significant(half, 2)));
    format!("{mean}{half} {unit}, {}", count(interval.repeats, "repeat"))
}

/// All figures of a step, a row for each cell, to which links lead.
pub(crate) fn figures(part: &MeasuredStep) -> Markup {
    all_figures(part, Rows::Linked)
}

/// All figures of a step whose cells have their places elsewhere.
pub(crate) fn figures_again(part: &MeasuredStep) -> Markup {
    all_figures(part, Rows::Plain)
}

fn all_figures(part: &MeasuredStep, rows: Rows) -> Markup {
    let is_apart = |column: &Column| APART.iter().any(|(group, _)| column.is_of(*group));
    let (apart, columns): (Vec<_>, Vec<_>) = columns(part).into_iter().partition(is_apart);
    let is_simple = part.axes.iter().all(|axis| matches!(axis, Axis::Field(Field::Rw) | Axis::Job));
    let with_max = part.trials().is_none() && is_simple;
    let with_limit = part.readings.iter().any(|reading| reading.limit().is_some());
    let (scale, latencies) = (Scale::of(part), of_latencies(part));
    let more = usize::from(with_max) + usize::from(with_limit) + usize::from(scale.is_some());
    let all_jobs = part.of_all_jobs(|reading| {
        html! {
            tr.group {
                th scope="row" { (cell_name(part, reading)) }
                @for column in &columns { (figure_in(None, &column.figure(reading), column.unit)) }
                @if scale.is_some() { td {} }
                @if with_max { (longest(reading, latencies)) }
                @if with_limit { td {} }
            }
        }
    });
    let about = format!("{}: all figures", part.step.title);
    let table = html! {
        table {
            caption { (about_figures(part)) }
            thead { tr {
                (axis_head(part))
                @for column in &columns { th.number scope="col" { (head(column)) } }
                @if let Some(scale) = &scale { th.number scope="col" { "IOPS, " span.unit { "× at " (scale.first) } } }
                @if with_max { th.number scope="col" { "Maximum, " span.unit { (latencies.unit) } } }
                @if with_limit { th scope="col" { "Bottleneck" } }
            } }
            (grouped(part, rows, columns.len() + 1 + more, |reading| html! {
                @for column in &columns { (figure_in(None, &column.figure(reading), column.unit)) }
                @if let Some(scale) = &scale { td.number data-v=[scale.times(reading).map(kept)] { (scale.times(reading).map_or_else(|| "–".to_owned(), three)) } }
                @if with_max { (longest(reading, latencies)) }
                @if with_limit { td { (reading.limit().map_or_else(String::new, |limit| limit.to_string())) } }
            }))
            @if !all_jobs.is_empty() { tbody {
                @for row in &all_jobs { (row) }
            } }
            @if let [Axis::Field(Field::Offset)] = part.axes[..] {
                tbody { tr.group {
                    th scope="row" { "Mean of all" }
                    @for column in &columns { td.number data-v=[mean_of_all(part, column).map(kept)] { (mean_of_all(part, column).map_or_else(|| "–".to_owned(), three)) } }
                    @for _ in 0..more { td {} }
                } }
            }
        }
    };
    html! {
        (framed(&about, &table))
        @for (group, title) in APART {
            @let of_group: Vec<&Column> = apart.iter().filter(|column| column.is_of(group)).collect();
            @if !of_group.is_empty() { (figures_apart(part, title, &of_group)) }
        }
    }
}

/// Figures that have tables of their own, for which that of all requests would be too wide; and the titles of those.
const APART: [(Group, &str); 2] = [(Group::Mixed, "Reads and writes"), (Group::Flush, "Flushes")];

/// Some figures of a step, a row for each cell.
fn figures_apart(part: &MeasuredStep, title: &str, columns: &[&Column]) -> Markup {
    let figures = |reading: &CellFigures| {
        html! { @for column in columns { (figure_in(None, &column.figure(reading), column.unit)) } }
    };
    let all_jobs = part
        .of_all_jobs(|reading| html! { tr.group { th scope="row" { (cell_name(part, reading)) } (figures(reading)) } });
    let table = html! {
        table {
            caption { (title) ". " (about_repeats(part)) }
            thead { tr {
                (axis_head(part))
                @for column in columns {
                    th.number scope="col" {
                        (column.brief()) @if !column.name.ends_with(column.unit) { ", " span.unit { (column.unit) } }
                    }
                }
            } }
            (grouped(part, Rows::Plain, columns.len() + 1, figures))
            @if !all_jobs.is_empty() { tbody { @for row in &all_jobs { (row) } } }
        }
    };
    framed(&format!("{}: {}", part.step.title, title.to_lowercase()), &table)
}

/// What a disk utility calls the average across the surface: each place counts as much. Percentiles have no mean.
fn mean_of_all(part: &MeasuredStep, column: &Column) -> Option<f64> {
    column.metric.filter(|metric| metric.has_mean())?;
    let figure = |reading: &CellFigures| column.interval(reading).map(|interval| interval.mean);
    let figures = part.readings.iter().map(figure).collect::<Option<Vec<f64>>>()?;
    Some(figures.iter().sum::<f64>() / figures.len() as f64)
}

/// How a step's figures grow along a part of the drive that is swept, such as the number of drives.
struct Scale<'a, 'p> {
    part: &'p MeasuredStep<'a>,
    axis: &'p Axis,
    /// Its first value.
    first: &'p str,
}

impl<'a, 'p> Scale<'a, 'p> {
    /// None where no part of the drive is swept, or what is has no order.
    fn of(part: &'p MeasuredStep<'a>) -> Option<Self> {
        let axis = part.axes.iter().find(|axis| matches!(axis, Axis::Part(_)))?;
        let values = || part.readings.iter().filter_map(|reading| value_at(reading, axis));
        let first = values().next()?;
        values().all(|value| value.parse::<f64>().is_ok()).then_some(Self { part, axis, first })
    }

    /// The IOPS of `reading` over those at the first value and the same of all else.
    fn times(&self, reading: &CellFigures) -> Option<f64> {
        let others = |reading: &CellFigures| {
            let point = reading.point.point.iter().filter(|(axis, _)| axis != self.axis);
            point.cloned().collect::<Vec<_>>()
        };
        let is_first =
            |other: &&CellFigures| value_at(other, self.axis) == Some(self.first) && others(other) == others(reading);
        let base = self.part.readings.iter().find(is_first)?;
        let iops = |reading: &CellFigures| reading.figure(Metric::Iops).interval().map(|interval| interval.mean);
        Some(iops(reading)? / iops(base)?)
    }
}

/// Where a reading is along `axis`.
fn value_at<'a>(reading: &CellFigures<'a>, axis: &Axis) -> Option<&'a str> {
    reading.point.point.iter().find(|(of, _)| of == axis).map(|(_, value)| value.as_str())
}

/// The figures of a step beside those of another state, with the change.
pub(crate) fn comparison(base: &MeasuredStep, part: &MeasuredStep, metric: Metric) -> Markup {
    let [before, after] = names(base, part);
    let metrics = [metric, Metric::LatencyMean];
    let about = format!("{}: {} and {}", part.step.title, before.to_lowercase(), after.to_lowercase());
    let table = html! {
        table {
            caption { (before) " and " (after.to_lowercase()) ": means ± 95 % confidence" }
            thead { tr {
                (axis_head(part))
                @for metric in metrics {
                    @for state in [&before, &after] { th.number scope="col" { (head(&Column::of(metric))) " " span.of { (state) } } }
                    th scope="col" { "Change" }
                }
            } }
            (grouped(part, Rows::Linked, 1 + 3 * metrics.len(), |reading| html! {
                @let other = base.counterpart(reading.point);
                @for metric in metrics {
                    @let first = other.map_or(CellFigure::NotMeasured, |other| other.figure(metric));
                    @let second = reading.figure(metric);
                    (figure(&first, metric)) (figure(&second, metric))
                    td.change {
                        (changed(first.interval().zip(second.interval()).and_then(|(a, b)| FigureChange::between(metric, a, b))))
                    }
                }
            }))
        }
    };
    framed(&about, &table)
}

/// The figures of single cells beside those of another state: a row for each figure.
pub(crate) fn comparison_by_figure(base: &MeasuredStep, part: &MeasuredStep) -> Markup {
    let [before, after] = names(base, part);
    let about = format!("{}: {} and {}", part.step.title, before.to_lowercase(), after.to_lowercase());
    let columns = columns(part);
    let table = html! {
        table {
            caption { (about_figures(part)) }
            thead { tr {
                th scope="col" { "Figure" } th scope="col" { "Unit" }
                @for state in [&before, &after] { th.number scope="col" { (state) } }
                th scope="col" { "Change" }
            } }
            @for reading in &part.readings { tbody id=[part.cell_anchor(reading.point)] {
                @if part.readings.len() > 1 {
                    tr.group { th scope="rowgroup" colspan="5" { (cell_name(part, reading)) } }
                }
                @let other = base.counterpart(reading.point);
                @for metric in columns.iter().filter_map(|column| column.metric) { tr {
                    @let first = other.map_or(CellFigure::NotMeasured, |other| other.figure(metric));
                    @let second = reading.figure(metric);
                    th scope="row" { (metric.title()) }
                    td.unit { (metric.unit()) }
                    (figure(&first, metric)) (figure(&second, metric))
                    td.change {
                        (changed(first.interval().zip(second.interval()).and_then(|(a, b)| FigureChange::between(metric, a, b))))
                    }
                } }
                tr {
                    th scope="row" { "Maximum latency" } td.unit { "µs" }
                    @match other { Some(other) => (longest(other, MICROS)), None => (figure(&CellFigure::NotMeasured, Metric::LatencyMean)) }
                    (longest(reading, MICROS)) td.change {}
                }
            } }
        }
    };
    framed(&about, &table)
}

/// What sets a cell apart from the others of its step.
pub(crate) fn cell_name(part: &MeasuredStep, reading: &CellFigures) -> String {
    let words = part.axes.iter().map(|axis| axis::words(axis, reading.point));
    words.collect::<Vec<_>>().join(", ")
}

/// A value of more letters is written in several lines.
pub(crate) const LONG: usize = 24;

/// Whether links lead to the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Linked,
    /// The cells have their places in another table.
    Plain,
}

/// The rows of a step's points: of cells one for each value of the last axis, under a heading for the values of the
/// others; of trials, which have many axes with short names, a row with all values for each at which something came of it.
pub(crate) fn grouped(
    part: &MeasuredStep,
    rows: Rows,
    columns: usize,
    cells: impl Fn(&CellFigures) -> Markup,
) -> Markup {
    let place = |reading: &CellFigures| part.cell_anchor(reading.point).filter(|_| rows == Rows::Linked);
    if part.trials().is_some() {
        let value = |axis: &Axis, reading: &CellFigures| {
            let value = axis::label(axis, reading.point);
            html! { th.long[value.len() > LONG] scope="row" { (value) } }
        };
        return html! {
            tbody { @for reading in part.readings.iter().filter(|reading| reading.is_measured()) {
                tr id=[place(reading)] { @for axis in &part.axes { (value(axis, reading)) } (cells(reading)) }
            } }
        };
    }
    let (last, outer) = part.axes.split_last().map_or((None, &[][..]), |(last, outer)| (Some(last), outer));
    let group = |reading: &CellFigures| {
        let words: Vec<String> = outer.iter().map(|axis| axis::words(axis, reading.point)).collect();
        words.join(", ")
    };
    // A name is written as it is, not begun with a capital letter.
    let is_name = outer.first().is_some_and(|axis| axis.field().is_none());
    html! {
        @for readings in part.readings.chunk_by(|one, other| group(one) == group(other)) {
            tbody {
                @if !outer.is_empty() {
                    tr.group { th.name[is_name] scope="rowgroup" colspan=(columns) { (group(&readings[0])) } }
                }
                @for reading in readings { tr id=[place(reading)] {
                    @let workload = reading.cell().workload;
                    th scope="row" { (last.map_or_else(|| axis::unswept(reading.point, workload), |axis| axis::label(axis, reading.point))) }
                    (cells(reading))
                } }
            }
        }
    }
}

/// What heads the columns of what is swept, as [`grouped`] has them.
pub(crate) fn axis_head(part: &MeasuredStep) -> Markup {
    match part.trials() {
        Some(_) => html! { @for axis in &part.axes { th scope="col" { (axis.title()) } } },
        None => html! { th scope="col" { (part.axes.last().map_or("Workload", |axis| axis.title())) } },
    }
}

/// What heads the column of a figure; throughput is named by its unit.
fn head(column: &Column) -> Markup {
    let name = match column.metric {
        Some(metric) if metric.is_throughput() => return html! { (metric.unit()) },
        Some(_) => column.name.trim_end_matches(" latency"),
        None => &column.name,
    };
    let heading = column.metric.and_then(Metric::heading);
    let is_number = column.unit == "×";
    html! {
        @match heading { Some((words, about)) => abbr title=(about) { (words) }, None => (name) }
        @if !column.unit.is_empty() && !is_number { ", " span.unit { (column.unit) } }
    }
}

/// Latencies as they are measured.
const MICROS: Scaled = Scaled { unit: "µs", scale: 1.0 };

fn longest(reading: &CellFigures, scaled: Scaled) -> Markup {
    match reading.cell().repeats.iter().map(|repeat| repeat.latency().max().as_micros_f64()).max_by(f64::total_cmp) {
        Some(micros) => html! {
            td.number title=(latency(micros)) data-v=(kept(micros * scaled.scale)) {
                // As wide as the interval that a mean would have: the digits stay below one another.
                (scaled.three(micros)) " " span.spread {}
            }
        },
        None => figure(&CellFigure::NotMeasured, Metric::LatencyMean),
    }
}

/// `Means of 5 repeats ± 95 % confidence`, and why a percentile is not there.
fn about_figures(part: &MeasuredStep) -> String {
    let is_told = part.readings.iter().any(|reading| reading.figure(Metric::Latency9999).interval().is_some());
    let tail =
        if is_told || part.trials().is_some() { "" } else { "; the 99.99 % latency needs 10,000 requests per repeat" };
    about_repeats(part) + tail
}

fn about_repeats(part: &MeasuredStep) -> String {
    let repeats: Vec<usize> =
        part.readings.iter().map(|reading| reading.point.repeats.len()).filter(|&n| n > 0).collect();
    match (repeats.iter().min(), repeats.iter().max()) {
        (Some(1), Some(1)) => "Measured once: no intervals".to_owned(),
        (Some(least), Some(most)) if least == most => format!("Means of {most} repeats ± 95 % confidence"),
        (Some(least), Some(most)) => format!("Means of {least} to {most} repeats ± 95 % confidence"),
        _ => "Not measured".to_owned(),
    }
}

/// The figures whose interval is wider than ±2 %, widest first.
pub(crate) fn imprecise(parts: &[MeasuredStep]) -> Markup {
    let mut rows: Vec<(f64, &MeasuredStep, String, String, String, Interval)> = Vec::new();
    for part in parts {
        let columns = columns(part);
        for (reading, column) in part.readings.iter().flat_map(|one| columns.iter().map(move |column| (one, column))) {
            if let Some(interval) = column.interval(reading).filter(Interval::is_imprecise) {
                let (cell, told) = (cell_name(part, reading), column.told(&interval));
                rows.push((interval.relative().unwrap_or(0.0), part, cell, column.name.clone(), told, interval));
            }
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    if rows.is_empty() {
        return html! { p { "No figure has a 95 % interval wider than ±2 %." } };
    }
    let table = html! {
        table {
            caption { "Widest intervals first" }
            thead { tr {
                th scope="col" { "Step" } th scope="col" { "Point" } th scope="col" { "Figure" }
                th.number scope="col" { "Mean" } th.number scope="col" { "Interval" }
            } }
            tbody { @for (_, part, cell, title, told, interval) in &rows { tr {
                th scope="row" { a href={ "#" (part.anchor()) } { (part.step.title) } }
                td { @if cell.is_empty() { "–" } @else { (cell) } }
                td { (title) }
                td.number { (told) }
                td.number { (spread(interval).unwrap_or_default()) }
            } } }
        }
    };
    html! {
        details {
            summary { (count(rows.len(), "figure")) " with a 95 % interval wider than ±2 %" }
            (framed("Figures wider than ±2 %", &table))
        }
    }
}
