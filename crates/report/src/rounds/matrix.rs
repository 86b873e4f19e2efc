//! A sweep over two axes as a table of one figure, coloured by how large it is.

use maud::{Markup, html};
use plan::{Axis, Field, Metric};
use stats::Interval;

use crate::axis;
use crate::figure::{CellFigure, CellFigures};
use crate::number::{kept, spread, three};
use crate::part::MeasuredStep;
use crate::table::{Rows, exact, framed};

/// The most columns that a page has room for.
const COLUMNS_MAX: usize = 10;
/// The deepest colour behind a figure, in percent: text stays readable on it, light or dark.
const DEEPEST: f64 = 38.0;

/// The cells of a sweep over two axes.
pub(crate) struct MatrixGrid<'p> {
    part: &'p MeasuredStep<'p>,
    /// What differs from row to row, and from column to column.
    axes: [&'p Axis; 2],
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<&'p CellFigures<'p>>>)>,
}

impl<'p> MatrixGrid<'p> {
    /// The cells of `part` as rows and columns in the plan's order; none where not two axes are swept, or where both
    /// have more values than a page has room for.
    pub(crate) fn of(part: &'p MeasuredStep<'p>) -> Option<Self> {
        let [outer, inner] = &part.axes[..] else { return None };
        let values = |axis: &Axis| {
            let mut values: Vec<String> = Vec::new();
            for reading in &part.readings {
                let value = label(axis, reading);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };
        let ways = [[inner, outer], [outer, inner]];
        let axes = ways.into_iter().find(|[_, column]| values(column).len() <= COLUMNS_MAX)?;
        let (rows, columns) = (values(axes[0]), values(axes[1]));
        let at = |row: &String, column: &String| {
            part.readings.iter().find(|one| label(axes[0], one) == *row && label(axes[1], one) == *column)
        };
        let rows = rows.into_iter().map(|row| {
            let cells = columns.iter().map(|column| at(&row, column)).collect();
            (row, cells)
        });
        let rows = rows.collect();
        Some(Self { part, axes, columns, rows })
    }
}

/// A value as the head of a row or a column: of a mix its reads and its writes, as specifications write them.
fn label(axis: &Axis, reading: &CellFigures) -> String {
    match axis.field() {
        Some(Field::Rwmixread) => {
            let reads = reading.cell().workload.reads();
            format!("{reads}/{}", 100 - reads)
        }
        _ => axis::label(axis, reading.point),
    }
}

fn title(axis: &Axis) -> &str {
    if axis.field() == Some(Field::Rwmixread) { "Reads/writes, %" } else { axis.title() }
}

/// The table of one figure of `grid`, in the unit of `metric`.
pub(crate) fn matrix(
    grid: &MatrixGrid,
    rows: Rows,
    caption: &str,
    metric: Metric,
    of: &dyn Fn(&CellFigures) -> CellFigure,
) -> Markup {
    let place = |reading: &CellFigures| grid.part.cell_anchor(reading.point).filter(|_| rows == Rows::Linked);
    let figures = || grid.rows.iter().flat_map(|(_, cells)| cells).flatten().map(|reading| of(reading));
    let means =
        || figures().filter_map(|figure| figure.interval().map(|interval| interval.mean)).filter(|mean| *mean > 0.0);
    let (least, most) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
    let table = html! {
        table.matrix {
            caption { (caption) "; deeper colour is more" }
            thead {
                tr {
                    th scope="col" rowspan="2" { (title(grid.axes[0])) }
                    th.over scope="colgroup" colspan=(grid.columns.len()) { (title(grid.axes[1])) }
                }
                tr { @for column in &grid.columns { th.number scope="col" { (column) } } }
            }
            tbody { @for (row, cells) in &grid.rows { tr {
                th scope="row" { (row) }
                @for cell in cells {
                    @match cell {
                        Some(reading) => (shaded(place(reading), &of(reading), metric, least, most)),
                        None => td.number { span.dash { "–" } },
                    }
                }
            } } }
        }
    };
    framed(&format!("{}: {caption}", grid.part.step.title), &table)
}

/// A figure on a ground as deep as it is large among the others.
fn shaded(id: Option<String>, figure: &CellFigure, metric: Metric, least: f64, most: f64) -> Markup {
    match figure {
        CellFigure::Measured(interval) => html! {
            td.number.heat id=[id] style={ "--heat:" (depth(interval.mean, least, most)) "%" }
                title=(exact(interval, metric.unit())) data-v=(kept(interval.mean)) data-h=[interval.half_width.map(kept)]
            {
                (three(interval.mean))
                @if let Some(spread) = spread(interval) { span.spread { (spread) } }
            }
        },
        CellFigure::TooFew => html! { td.number id=[id] title="Too few requests" { span.dash { "–" } } },
        CellFigure::NotGiven | CellFigure::NotMeasured => {
            html! { td.number id=[id] { span.absent { "not measured" } } }
        }
    }
}

/// How deep the colour is, in percent: by the logarithm, for sizes span factors.
fn depth(value: f64, least: f64, most: f64) -> u32 {
    let place = if most > least && value > 0.0 { (value / least).ln() / (most / least).ln() } else { 0.0 };
    (place * DEEPEST).round() as u32
}

/// The longest latency in the window; of several rounds there is no mean of it.
pub(super) fn longest(reading: &CellFigures) -> CellFigure {
    let longest =
        reading.cell().repeats.iter().map(|round| round.latency().max().as_micros_f64()).max_by(f64::total_cmp);
    match longest.filter(|micros| *micros > 0.0) {
        Some(mean) => CellFigure::Measured(Interval { mean, half_width: None, repeats: reading.cell().repeats.len() }),
        None => CellFigure::NotMeasured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_by_factors_and_stay_light() {
        assert_eq!([10.0, 100.0, 1000.0].map(|value| depth(value, 10.0, 1000.0)), [0, 19, 38]);
        assert_eq!(depth(5.0, 5.0, 5.0), 0, "where all are the same, nothing stands out");
    }
}
