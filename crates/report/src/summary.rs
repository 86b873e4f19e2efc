//! The summary for a terminal.

use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use plan::{Metric, Outcome};

use crate::column::{Column, of_flushes, of_latencies};
use crate::conditions::{date, took};
use crate::cost::Cost;
use crate::figure::{CellFigure, CellFigures};
use crate::headline::headline;
use crate::key::{KeyEntry, KeyFigure, Scorecard, is_key};
use crate::number::{Scaled, count, spread, three};
use crate::part::MeasuredStep;
use crate::report::Report;
use crate::table::{cell_name, scaled};
use crate::wrap::{hanging, wrapped};
use crate::{energy, prose, rounds, trials};

/// From so many columns on there is room for changes beside three states.
const WIDE: u16 = 110;

/// The narrowest that a summary can be and still hold its table.
const WIDTH_LEAST: u16 = 60;

/// What came of a run, for a terminal `width` columns wide: what was tested, the verdict, the table of key
/// figures with their 95 % intervals, and how many findings there are.
///
/// With `color` false there are no escape sequences. Ends with a line feed.
pub fn summary(outcome: &Outcome, width: u16, color: bool) -> String {
    Report::of(outcome).summary(width, color)
}

pub(crate) fn of_report(report: &Report, width: u16, color: bool) -> String {
    let width = width.max(WIDTH_LEAST);
    let Report { outcome, parts, scorecard } = report;
    let run = &outcome.run;
    let mut lines = wrapped(&format!("{} ({})", run.target_identity, run.target), width);
    if color {
        lines.iter_mut().for_each(|line| *line = format!("\x1b[1m{line}\x1b[0m"));
    }
    let mut facts = vec![
        format!("plan {}", run.plan),
        format!("seed {}", run.seed),
        date(run.started_ms),
        run.state.name().to_owned(),
    ];
    facts.extend(run.quick.then(|| "quick".to_owned()));
    facts.extend(run.simulated.then(|| "durations for simulated drives".to_owned()));
    facts.extend(took(run).map(|took| format!("took {took}")));
    lines.extend(wrapped(&facts.join(" · "), width));
    if let Some(shortfall) = prose::shortfall(outcome) {
        lines.push(String::new());
        lines.extend(wrapped(&shortfall, width));
    }
    let headline = headline(scorecard, parts);
    if let Some(headline) = &headline {
        lines.push(String::new());
        lines.extend(wrapped(headline, width));
    }
    for (place, sentence) in prose::beyond(headline.as_ref(), scorecard, parts).iter().enumerate() {
        lines.extend((place == 0).then(String::new));
        lines.extend(hanging(&format!("– {sentence}"), width, 2));
    }
    if !scorecard.rows.is_empty() {
        lines.push(String::new());
        lines.extend(table(scorecard, width, color).lines().map(|line| line.trim_end().to_owned()));
    }
    if let Some(rounds) = in_rounds(parts, width, color) {
        lines.push(String::new());
        lines.extend(rounds.lines().map(|line| line.trim_end().to_owned()));
    }
    for part in parts.iter().filter(|part| part.trials().is_some()) {
        let mut table = blank(width, color);
        if trials::lines(part, &mut table) {
            lines.push(String::new());
            lines.extend(padded(table).lines().map(|line| line.trim_end().to_owned()));
        }
    }
    // What can be no key figure is shown as it is.
    let is_silent = |part: &&MeasuredStep| {
        part.trials().is_none()
            && !part.is_conditioning()
            && !part.is_saturation()
            && part.rounds().is_none()
            && !part.readings.iter().any(is_key)
    };
    for part in parts.iter().filter(is_silent) {
        lines.push(String::new());
        lines.extend(cells(part, width, color).lines().map(|line| line.trim_end().to_owned()));
    }
    for table in parts.iter().filter_map(|part| flushes(part, width, color)) {
        lines.push(String::new());
        lines.extend(table.lines().map(|line| line.trim_end().to_owned()));
    }
    if energy::is_asked(outcome) {
        let mut table = blank(width, color);
        let more = energy::rows(parts, &mut table);
        lines.push(String::new());
        lines.extend(padded(table).lines().map(|line| line.trim_end().to_owned()));
        lines.extend((more > 0).then(|| format!("and {} in the report", count(more, "more point"))));
    }
    if let Some(cost) = Cost::of(outcome).and_then(|cost| cost.line()) {
        lines.push(String::new());
        lines.extend(wrapped(&cost, width));
    }
    lines.push(String::new());
    let doubts = [prose::precision(parts), Some(format!("{}.", count(outcome.findings.len(), "finding")))];
    lines.extend(wrapped(&doubts.into_iter().flatten().collect::<Vec<_>>().join(" "), width));
    lines.join("\n") + "\n"
}

/// A table without its rows.
fn blank(width: u16, color: bool) -> Table {
    let mut table = Table::new();
    table.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    if color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// How the steps in rounds came out: a row for each, and for each cell that decides; none where there are none.
fn in_rounds(parts: &[MeasuredStep], width: u16, color: bool) -> Option<Table> {
    let mut table = blank(width, color);
    let figure = Cell::new("Figure").set_alignment(CellAlignment::Right);
    table.set_header([Cell::new("Measured in rounds"), Cell::new("Steady state"), figure, Cell::new("Unit")]);
    for row in rounds::rows(parts) {
        let name = if row.is_cell { format!("  {}", row.name) } else { row.name };
        let [figure, unit] = match row.figure {
            Some((figure, metric)) => [figure_cell(&figure, color), Cell::new(metric.unit())],
            None => [Cell::new(""), Cell::new("")],
        };
        table.add_row([Cell::new(name), Cell::new(row.steady), figure, unit]);
    }
    (table.row_count() > 0).then(|| padded(table))
}

/// The figures of a step, a row for each cell or job, and for all jobs that ran beside one another.
fn cells(part: &MeasuredStep, width: u16, color: bool) -> Table {
    // Only replays that let somebody think have it, and they are about it.
    let has_time = part.readings.iter().any(|reading| reading.figure(Metric::Time).interval().is_some());
    let shown: Vec<Metric> = Metric::brief().chain(has_time.then_some(Metric::Time)).collect();
    figures(part, &part.step.title, &shown, width, color)
}

/// What the flushes of a step did, which the rows of its cells leave out; none where there were none.
fn flushes(part: &MeasuredStep, width: u16, color: bool) -> Option<Table> {
    let shown = of_flushes(part);
    let title = format!("Flushes: {}", part.step.title);
    (!shown.is_empty()).then(|| figures(part, &title, &shown, width, color))
}

/// A table of these figures, a row for each cell or job, and for all jobs that ran beside one another.
fn figures(part: &MeasuredStep, title: &str, shown: &[Metric], width: u16, color: bool) -> Table {
    let mut table = blank(width, color);
    let head = |(metric, column): &(Metric, Column)| match metric.is_throughput() {
        true => column.unit.to_owned(),
        false => format!("{}, {}", column.brief(), column.unit),
    };
    let latencies = of_latencies(part);
    let shown: Vec<_> = shown.iter().map(|metric| (*metric, Column::of(*metric).with(latencies))).collect();
    let heads = shown.iter().map(|column| Cell::new(head(column)).set_alignment(CellAlignment::Right));
    table.set_header([Cell::new(title)].into_iter().chain(heads));
    let row = |reading: &CellFigures| {
        let figures =
            shown.iter().map(|(metric, column)| figure_cell(&reading.figure(*metric).scaled(column.scale), color));
        let name = match cell_name(part, reading) {
            name if name.is_empty() => reading.cell().workload.pattern.words().to_owned(),
            name => name,
        };
        [Cell::new(name)].into_iter().chain(figures).collect::<Vec<_>>()
    };
    table.add_rows(part.readings.iter().map(row).chain(part.of_all_jobs(row)));
    padded(table)
}

/// The table with room between its columns.
fn padded(mut table: Table) -> Table {
    let last = table.column_count() - 1;
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if place == last { 0 } else { 2 }));
    }
    table
}

fn table(scorecard: &Scorecard, width: u16, color: bool) -> Table {
    let mut table = blank(width, color);
    // Three states leave no room for what the verdict tells of their changes.
    let has_change = scorecard.has_change() && (scorecard.states.len() < 3 || width >= WIDE);
    let mut head = vec![Cell::new("Key figure"), Cell::new("Unit")];
    head.extend(scorecard.states.iter().map(|state| Cell::new(state.title()).set_alignment(CellAlignment::Right)));
    head.extend(has_change.then(|| Cell::new("Change")));
    table.set_header(head);
    for row in &scorecard.rows {
        let scaled = scaled(row);
        let mut cells = vec![Cell::new(short(row)), Cell::new(scaled.unit)];
        cells.extend(row.entries.iter().map(|entry| figure(entry.as_ref(), scaled, color)));
        cells.extend(has_change.then(|| change(scorecard, row, color)));
        table.add_row(cells);
    }
    padded(table)
}

/// A rule below the head and nothing else.
const RULED: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─'))
    .content_lines(ContentLineStyle::none());

/// `Rand. read, 4K, QD32`, `Rand. read, 4K: 99.99 %`: short enough for a column. Sequential requests
/// and latencies are of one at a time unless a depth is given.
fn short(row: &KeyFigure) -> String {
    let request = &row.request;
    let is_latency = !row.metric.is_throughput();
    let name = match row.name() {
        name if request.in_flight() == 1 && (is_latency || !request.pattern.is_random()) => {
            name.replacen(", queue depth 1", "", 1)
        }
        name => name,
    };
    let words = [
        (" latency", ""),
        ("Mixed random ", ""),
        ("queue depth ", "QD"),
        ("Sequential", "Seq."),
        ("Random", "Rand."),
        (" KiB", "K"),
    ];
    words.into_iter().fold(name, |name, (long, short)| name.replacen(long, short, 1))
}

fn figure(entry: Option<&KeyEntry>, scaled: Scaled, color: bool) -> Cell {
    figure_cell(&entry.map_or(CellFigure::NotGiven, |entry| entry.figure.scaled(scaled.scale)), color)
}

fn figure_cell(figure: &CellFigure, color: bool) -> Cell {
    let text = match figure {
        CellFigure::Measured(interval) => {
            let spread = spread(interval).map_or_else(String::new, |spread| format!(" {spread}"));
            three(interval.mean) + &spread
        }
        CellFigure::NotMeasured => "not measured".to_owned(),
        CellFigure::TooFew | CellFigure::NotGiven => "–".to_owned(),
    };
    let cell = Cell::new(text).set_alignment(CellAlignment::Right);
    if color && figure.is_imprecise() { cell.fg(Color::Yellow) } else { cell }
}

fn change(scorecard: &Scorecard, row: &KeyFigure, color: bool) -> Cell {
    match scorecard.change(row) {
        None => Cell::new(""),
        Some(change) if !change.change.is_clear() => Cell::new("unclear"),
        Some(change) if color && change.change.is_worse() => Cell::new(change).fg(Color::Yellow),
        Some(change) => Cell::new(change),
    }
}
