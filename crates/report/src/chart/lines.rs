//! The chart of a sweep: means with intervals, over the swept field, a line for each series.

use plan::{Axis, Metric};
use plotly::Scatter;
use plotly::common::{Mode, TickMode};
use plotly::layout::AxisType;
use stats::Interval;

use super::{
    COLORS, Heads, LineStyle, Panel, REPEAT, SILENT, TEXT_ONLY, amounts, arms, axis, drawn, house, hover, tells_apart,
};
use crate::axis::{head, is_logarithmic, label, labelled, value};
use crate::figure::{CellFigure, CellFigures};
use crate::number::{count, spread, with_unit};
use crate::part::point_place;
use crate::sweep::{Sweep, SweepLine};

/// The most labels along an axis that a narrow chart has room for.
const LABELS: usize = 8;

/// The panels of a sweep: throughput, and mean latency.
pub(crate) fn lines(sweep: &Sweep) -> Vec<Panel> {
    [sweep.metric(), Metric::LatencyMean].map(|metric| lines_for(sweep, metric)).into()
}

/// The panel of one figure of a sweep.
pub(crate) fn lines_for(sweep: &Sweep, metric: Metric) -> Panel {
    let title = match metric {
        metric if metric.is_throughput() => format!("{}, more is better", metric.unit()),
        _ => format!("{} ({}), less is better", metric.title(), metric.unit()),
    };
    let readings = || sweep.lines.iter().flat_map(|line| &line.readings);
    let means = readings().filter_map(|reading| reading.figure(metric).interval().map(|figure| figure.mean));
    let mut plot = house(along(sweep), amounts(means), sweep.lines.len());
    for line in &sweep.lines {
        let look = look(sweep, line);
        plot.add_trace(repeats(line, sweep.axis, metric, &look));
        plot.add_trace(means_of(line, sweep.axis, metric, &look));
    }
    Panel::new(title, Heads::new(head(sweep.axis), metric_head(metric)), &plot)
}

/// A figure as a column of data is headed: `IOPS`, `Mean latency (µs)`.
pub(super) fn metric_head(metric: Metric) -> String {
    match metric {
        metric if metric.is_throughput() => metric.unit().to_owned(),
        _ => format!("{} ({})", metric.title(), metric.unit()),
    }
}

/// How a line looks: coloured by its run where that tells lines apart, else by what it does, else by its place.
pub(super) fn look(sweep: &Sweep, line: &SweepLine) -> LineStyle {
    if sweep.by_rank {
        return LineStyle::ranked(COLORS[line.rank % COLORS.len()], line.rank);
    }
    let last = sweep.lines.iter().map(|line| line.rank).max().unwrap_or(0);
    let mut ranks = (0..=last).map(|rank| sweep.lines.iter().filter(move |line| line.rank == rank));
    let by_pattern = ranks.all(|lines| tells_apart(lines.map(|line| line.pattern)));
    LineStyle::of(line.pattern, line.place, by_pattern, line.rank)
}

/// The axis of the swept field, labelled where cells are.
pub(super) fn along(sweep: &Sweep) -> plotly::layout::Axis {
    let mut cells: Vec<(f64, String)> = sweep
        .lines
        .iter()
        .flat_map(|line| &line.readings)
        .map(|reading| (place(reading, sweep.axis), label(sweep.axis, reading.point)))
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    cells.dedup_by(|a, b| a.0 == b.0);
    let values: Vec<f64> = cells.iter().map(|cell| cell.0).collect();
    let logarithmic = is_logarithmic(sweep.axis, &values);
    let kept = labelled(&values, logarithmic, LABELS);
    axis(sweep.axis.title())
        .type_(if logarithmic { AxisType::Log } else { AxisType::Linear })
        .show_grid(false)
        .tick_mode(TickMode::Array)
        .tick_values(kept.iter().map(|&i| values[i]).collect())
        .tick_text(kept.iter().map(|&i| cells[i].1.clone()).collect())
}

/// Means joined by a line, with bars for their intervals.
fn means_of(line: &SweepLine, along: &Axis, metric: Metric, look: &LineStyle) -> Box<Scatter<f64, f64>> {
    let figures: Vec<CellFigure> = line.readings.iter().map(|reading| reading.figure(metric)).collect();
    // A gap, never a zero, where nothing was measured: JSON has no NaN and writes null.
    let y = drawn(figures.iter().map(|figure| figure.interval().map_or(f64::NAN, |interval| interval.mean)));
    let intervals: Vec<Option<&Interval>> = figures.iter().map(CellFigure::interval).collect();
    let text = line.readings.iter().zip(&figures).map(|(reading, figure)| said(line, reading, along, metric, figure));
    let trace = Scatter::new(places(line, along), y)
        .name(hover(std::slice::from_ref(&line.name)))
        .legend_group(&line.name)
        .mode(Mode::LinesMarkers)
        .line(look.line())
        .marker(look.marker())
        .text_array(text.collect())
        .custom_data(line.readings.iter().map(|reading| point_place(reading.point)).collect())
        .hover_template(TEXT_ONLY);
    match intervals.iter().flatten().any(|interval| interval.half_width.is_some()) {
        false => trace,
        true => trace.error_y(arms(intervals.into_iter()).color(look.color)),
    }
}

/// Single repeats as dots.
fn repeats(line: &SweepLine, along: &Axis, metric: Metric, look: &LineStyle) -> Box<Scatter<f64, f64>> {
    // A percentile that no repeat made enough requests for has samples, but no figure.
    let is_told = |reading: &&&CellFigures| {
        reading.figure(metric).interval().is_some() && reading.samples(metric.title()).len() > 1
    };
    let dots = || line.readings.iter().filter(is_told);
    let x = dots().flat_map(|reading| reading.samples(metric.title()).iter().map(|_| place(reading, along)));
    let y = dots().flat_map(|reading| reading.samples(metric.title()).iter().copied());
    Scatter::new(x.collect(), drawn(y))
        .name(hover(std::slice::from_ref(&line.name)))
        .legend_group(&line.name)
        .show_legend(false)
        .meta(REPEAT)
        .mode(Mode::Markers)
        .marker(look.dots())
        .hover_info(SILENT)
}

/// What is said of a point when it is hovered over.
fn said(line: &SweepLine, reading: &CellFigures, along: &Axis, metric: Metric, figure: &CellFigure) -> String {
    let Some(interval) = figure.interval() else { return String::new() };
    let spread = spread(interval).map_or_else(String::new, |spread| format!(" {spread}"));
    hover(&[
        line.name.clone(),
        format!("{}: {}", along.title(), label(along, reading.point)),
        format!("{}{spread}", with_unit(metric, interval.mean)),
        count(interval.repeats, "repeat"),
    ])
}

fn places(line: &SweepLine, along: &Axis) -> Vec<f64> {
    line.readings.iter().map(|reading| place(reading, along)).collect()
}

pub(super) fn place(reading: &CellFigures, along: &Axis) -> f64 {
    value(along, reading.point).unwrap_or(0.0)
}
