//! Tables as they were published, with ours beside every figure and how far it is off.

use maud::{Markup, html};
use plan::replicate::{Answer, Expect, Replication, Series, Tally, Use};

use super::{error, is_missed, published};
use crate::number::{bound, kept, percent, three};
use crate::table::framed;

/// The deepest colour behind an error, in percent: text stays readable on it, light or dark.
const DEEPEST: f64 = 45.0;

/// A table: labels as rows, series as columns.
pub(super) struct Grid<'r> {
    title: String,
    rows: String,
    labels: Vec<&'r str>,
    columns: Vec<Column<'r>>,
}

/// A series with its figures.
struct Column<'r> {
    head: String,
    unit: &'r str,
    answers: &'r [Answer],
}

/// The tables that the review's file lays out.
pub(super) fn laid_out(replication: &Replication) -> Vec<Grid<'_>> {
    let grid = |layout: &plan::replicate::Layout| {
        let column = |column: &plan::replicate::Column| Column {
            head: column.head.clone(),
            ..Column::of(replication, column.series)
        };
        Grid::of(layout.title.clone(), layout.rows.clone(), layout.columns.iter().map(column).collect())
    };
    replication.published.tables.iter().map(grid).collect()
}

/// The tables of the series of a group that no table of its file has: those of the same labels beside each other.
pub(super) fn of_group(replication: &Replication, group: usize) -> Vec<Grid<'_>> {
    let is_laid_out = |place: usize| {
        let columns = replication.published.tables.iter().flat_map(|table| &table.columns);
        columns.into_iter().any(|column| column.series == (group, place))
    };
    let series = &replication.published.groups[group].series;
    let labels = |series: &Series| -> Vec<String> { series.figures.iter().map(|one| one.label.clone()).collect() };
    let left: Vec<usize> = (0..series.len()).filter(|place| !is_laid_out(*place)).collect();
    let alike = |one: &usize, other: &usize| {
        let (one, other) = (&series[*one], &series[*other]);
        one.figures.len() > 1 && one.unit == other.unit && labels(one) == labels(other)
    };
    let grid = |places: &[usize]| {
        let columns = places.iter().map(|place| Column::of(replication, (group, *place))).collect();
        let title = match places {
            [one] => series[*one].title.clone(),
            _ => replication.published.groups[group].title.clone(),
        };
        Grid::of(title, "Figure".to_owned(), columns)
    };
    left.chunk_by(alike).map(grid).collect()
}

impl<'r> Column<'r> {
    fn of(replication: &'r Replication, (group, place): (usize, usize)) -> Self {
        let series = &replication.published.groups[group].series[place];
        Self { head: series.title.clone(), unit: &series.unit, answers: &replication.answers[group][place] }
    }

    fn at(&self, label: &str) -> Option<&'r Answer> {
        self.answers.iter().find(|answer| answer.figure.label == label)
    }
}

impl<'r> Grid<'r> {
    fn of(title: String, rows: String, columns: Vec<Column<'r>>) -> Self {
        let mut labels: Vec<&str> = Vec::new();
        for answer in columns.iter().flat_map(|column| column.answers) {
            if !labels.contains(&answer.figure.label.as_str()) {
                labels.push(&answer.figure.label);
            }
        }
        Self { title, rows, labels, columns }
    }

    /// The table with the tallies of fitted and of checked figures below each column.
    pub(super) fn table(&self) -> Markup {
        let is_lone = self.columns.len() == 1;
        let judged = self.columns.iter().flat_map(|column| column.answers).filter(|answer| answer.is_judged()).count();
        let head =
            |column: &Column| html! { (column.head) @if !column.unit.is_empty() { ", " span.unit { (column.unit) } } };
        let table = html! {
            table.published {
                caption { (self.title) @if is_lone && !self.columns[0].unit.is_empty() { ", " (self.columns[0].unit) } }
                thead {
                    @if !is_lone { tr {
                        th scope="col" rowspan="2" { (self.rows) }
                        @for column in &self.columns { th.over scope="colgroup" colspan="3" { (head(column)) } }
                    } }
                    tr {
                        @if is_lone { th scope="col" { (self.rows) } }
                        @for _ in &self.columns {
                            th.number.first scope="col" { "Published" } th.number scope="col" { "Measured" }
                            th.number scope="col" data-head="Error, %" { "Error" }
                        }
                    }
                }
                tbody { @for label in &self.labels { tr {
                    th scope="row" { (label) }
                    @for column in &self.columns { (cells(column.at(label))) }
                } } }
                // A lone figure is its own tally.
                @if judged > 1 { tfoot { @for (usage, words) in [(Use::Fit, "Fitted †"), (Use::Check, "Checked")] {
                    @let tallies: Vec<Tally> = self.columns.iter().map(|column| Tally::of(column.answers.iter(), Some(usage))).collect();
                    @if tallies.iter().any(|tally| tally.judged > 0) { tr {
                        th scope="row" { (words) }
                        @for tally in &tallies { td.tally colspan="3" { (tallied(tally)) } }
                    } }
                } } }
            }
        };
        framed(&self.title, &table)
    }
}

/// `8 of 9 met, median 2.1 %, largest 12 %`.
fn tallied(tally: &Tally) -> String {
    let Some((median, worst)) = tally.median.zip(tally.worst) else { return "–".to_owned() };
    let (median, worst) = (percent(median), percent(worst));
    bound(&format!("{} of {} met; median {median}, largest {worst}", tally.met, tally.judged))
}

/// What was published, what was measured, and how far that is off.
fn cells(answer: Option<&Answer>) -> Markup {
    let Some(answer) = answer else {
        return html! { td.number.first { span.dash { "–" } } td.number {} td.number {} };
    };
    let value = match answer.figure.expect {
        Some(Expect::Value { value, .. }) => Some(kept(value)),
        _ => None,
    };
    html! {
        td.number.first title=(answer.figure.id) data-v=[value] {
            (published(answer))
            @if answer.figure.usage == Use::Fit { span.dagger title="fitted: a parameter was fitted to it" { "†" } }
        }
        td.number data-v=[answer.measured.map(kept)] { (answer.measured.map_or_else(|| "–".to_owned(), three)) }
        (off(answer))
    }
}

/// An error on a ground of the hue of its sign, as deep as it is large beside what is allowed; what is not met is
/// marked. Figures that were left out have none.
fn off(answer: &Answer) -> Markup {
    let Some(words) = error(answer) else { return html! { td.number {} } };
    let share = answer.error().unwrap_or_default();
    let exact = kept(share * 100.0);
    if !answer.is_judged() {
        return html! { td.number data-v=(exact) title=[answer.figure.odd.as_deref()] { span.absent { "(" (words) ")" } } };
    }
    let depth = (share.abs() / answer.figure.tolerance.max(0.01) * DEEPEST / 2.0).min(DEEPEST).round();
    let missed = is_missed(answer);
    html! {
        td.number.off.high[share > 0.0].low[share < 0.0] style={ "--heat:" (depth) "%" } data-v=(exact)
            title=(if missed { "exceeds the tolerance" } else { "within the tolerance" })
        {
            (words) @if missed { span.flag role="img" aria-label="not met" { "▲" } }
        }
    }
}

/// How the tables are read.
pub(super) fn key() -> Markup {
    html! {
        p.asked {
            "Each table has the published figure, the measured one, and its relative error: "
            span.off.high style="--heat:30%" { "orange" } " if too high, "
            span.off.low style="--heat:30%" { "blue" } " if too low, the deeper the larger the error; ▲ exceeds the \
                tolerance. "
            "† marks figures that parameters were fitted to; all others are for validation only. Figures in brackets \
             are excluded; the reason is below."
        }
    }
}

/// All reviews at a glance, fitted and checked figures apart.
pub(super) fn totals(replications: &[Replication]) -> Markup {
    let tally = |replication: &Replication, usage| tallied(&Tally::of(replication.all(), Some(usage)));
    let table = html! {
        table {
            caption { "All figures of each review, fitted and checked separately" }
            thead { tr { @for head in ["Review", "Fitted †", "Checked"] { th scope="col" { (head) } } } }
            tbody { @for replication in replications { tr {
                th scope="row" { a href={ "#" (replication.published.review) } { (replication.published.title) } }
                @for usage in [Use::Fit, Use::Check] { td { (tally(replication, usage)) } }
            } } }
        }
    };
    framed("Totals", &table)
}
