//! How all steps in rounds came out, at a glance.

use maud::{Markup, html};
use plan::Metric;

use super::course::RoundsCourse;
use crate::figure::CellFigure;
use crate::number::{kept, spread, three};
use crate::part::MeasuredStep;
use crate::table::framed;

/// A step in rounds, or one of its cells that decide.
pub(crate) struct OverviewRow {
    /// The step's title, or what sets the cell apart.
    pub(crate) name: String,
    /// Whether it is one of several cells of the step above it.
    pub(crate) is_cell: bool,
    /// Whether a steady state was reached, in a few words.
    pub(crate) steady: String,
    /// The figure by which it was judged; none of a step with several cells.
    pub(crate) figure: Option<(CellFigure, Metric)>,
    /// The place in the page.
    anchor: String,
}

/// The steps in rounds, each of several cells followed by those that decide.
pub(crate) fn rows(parts: &[MeasuredStep]) -> Vec<OverviewRow> {
    let mut rows = Vec::new();
    for (part, course) in parts.iter().filter_map(|part| Some((part, RoundsCourse::of(part)?))) {
        let by = course.rounds.by;
        let figure = |place: usize| (part.readings[place].figure(by), by);
        let is_lone = part.readings.len() == 1;
        rows.push(OverviewRow {
            name: part.step.title.clone(),
            is_cell: false,
            steady: course.briefly(),
            figure: is_lone.then(|| figure(0)),
            anchor: part.anchor(),
        });
        rows.extend(course.windows.iter().filter(|_| !is_lone).map(|window| OverviewRow {
            name: window.name.clone(),
            is_cell: true,
            steady: (if window.found.steady { "met" } else { "not met" }).to_owned(),
            figure: Some(figure(window.place)),
            anchor: part.anchor(),
        }));
    }
    rows
}

/// The same as a table; nothing where no step is in rounds.
pub(crate) fn overview(parts: &[MeasuredStep]) -> Markup {
    let rows = rows(parts);
    if rows.is_empty() {
        return html! {};
    }
    let table = html! {
        table.overview {
            thead { tr {
                th scope="col" { "Measured in rounds" } th scope="col" { "Steady state" }
                th.number scope="col" { "Figure" } th scope="col" { "Unit" }
            } }
            tbody { @for row in &rows { tr {
                @if row.is_cell { th.cell scope="row" { (row.name) } }
                @else { th scope="row" { a href={ "#" (row.anchor) } { (row.name) } } }
                td { (row.steady) }
                @match &row.figure {
                    Some((CellFigure::Measured(interval), _)) => td.number data-v=(kept(interval.mean)) data-h=[interval.half_width.map(kept)] {
                        (three(interval.mean)) @if let Some(spread) = spread(interval) { " " span.spread { (spread) } }
                    },
                    Some(_) => td.number { span.absent { "not measured" } },
                    None => td {},
                }
                td.unit { (row.figure.map_or("", |(_, metric)| metric.unit())) }
            } } }
        }
    };
    framed("Steps measured in rounds", &table)
}
