//! Repeated reviews for a terminal.

use plan::replicate::{Answer, Replication, Series, Use};

use super::{error, is_missed, judged, limits, notes, published, summarised};
use crate::number::{count, three};
use crate::wrap::wrapped;

/// The widths of the columns after the figure's name: published, measured, and the errors.
const COLUMNS: [usize; 4] = [12, 11, 11, 11];
/// The narrowest that a table can be.
const WIDTH_LEAST: u16 = 70;

/// What came of repeating reviews, for a terminal `width` columns wide. With `color` false there are no escape
/// sequences. Ends with a line feed.
pub fn text(replications: &[Replication], width: u16, color: bool) -> String {
    let width = width.max(WIDTH_LEAST);
    let told: Vec<String> = replications.iter().map(|replication| review(replication, width, color)).collect();
    told.join("\n\n") + "\n"
}

fn review(replication: &Replication, width: u16, color: bool) -> String {
    let published = &replication.published;
    let mut lines: Vec<String> = wrapped(&published.title, width).into_iter().map(|line| bold(line, color)).collect();
    lines.extend(wrapped(&summarised(replication), width));
    lines.extend(wrapped(&format!("{}. Seed {}.", published.source, replication.seed), width));
    for missing in &replication.missing {
        lines.push(String::new());
        let verb = if missing.failed { "failed" } else { "was not run" };
        lines.extend(wrapped(
            &format!("Part `{}` on sim:{} {verb}: {}.", missing.part, missing.target, missing.why),
            width,
        ));
    }
    for group in 0..published.groups.len() {
        lines.push(String::new());
        lines.extend(table(replication, group, width, color));
        let said = judged(replication, group).join(" ");
        lines.extend(wrapped(&said, width));
        for (reason, figures) in notes(replication, group) {
            let figures = if figures.len() > 4 { count(figures.len(), "figure") } else { figures.join("; ") };
            lines.extend(wrapped(&format!("{reason} ({figures})."), width));
        }
    }
    for limit in limits(replication) {
        lines.push(String::new());
        lines.extend(wrapped(&limit, width));
    }
    lines.extend(besides(replication, width));
    lines.join("\n")
}

/// The figures of a group; nothing where none was measured.
fn table(replication: &Replication, group: usize, width: u16, color: bool) -> Vec<String> {
    let title = &replication.published.groups[group].title;
    if replication.answers_of(group).all(|answer| answer.measured.is_none()) {
        return vec![bold(title.clone(), color)];
    }
    let mut lines = vec![row([title, "Published", "Measured", "Fitted", "Checked"], width)];
    lines[0] = bold(lines[0].clone(), color);
    lines.push("─".repeat(usize::from(width)));
    for (series, answers) in replication.published.groups[group].series.iter().zip(&replication.answers[group]) {
        if answers.iter().any(|answer| answer.measured.is_some()) {
            lines.push(title_of(series));
            lines.extend(answers.iter().map(|answer| figure(answer, width, color)));
        }
    }
    lines.push("─".repeat(usize::from(width)));
    lines
}

fn title_of(series: &Series) -> String {
    if series.unit.is_empty() { series.title.clone() } else { format!("{}, {}", series.title, series.unit) }
}

fn figure(answer: &Answer, width: u16, color: bool) -> String {
    let label = format!("  {}", answer.figure.label);
    let measured = answer.measured.map_or_else(|| "–".to_owned(), three);
    let off = error(answer).unwrap_or_default();
    let off = match &answer.figure.odd {
        Some(_) => format!("({off})"),
        None if is_missed(answer) => format!("▲ {off}"),
        None => off,
    };
    let (fitted, checked) = match answer.figure.usage {
        Use::Fit => (off.as_str(), ""),
        Use::Check => ("", off.as_str()),
    };
    let line = row([&label, &published(answer), &measured, fitted, checked], width);
    if color && is_missed(answer) { format!("\x1b[33m{line}\x1b[0m") } else { line }
}

/// A name and four columns at the right.
fn row(cells: [&str; 5], width: u16) -> String {
    let room = usize::from(width) - COLUMNS.iter().sum::<usize>();
    let [name, columns @ ..] = cells;
    let mut name: String = name.chars().take(room).collect();
    name.extend(std::iter::repeat_n(' ', room - name.chars().count()));
    let columns: String = columns.iter().zip(COLUMNS).map(|(cell, width)| format!("{cell:>width$}")).collect();
    format!("{name}{columns}").trim_end().to_owned()
}

/// What was measured and not published: the table where that is all there is, else how much of it there is.
fn besides(replication: &Replication, width: u16) -> Vec<String> {
    let besides = &replication.besides;
    if besides.is_empty() {
        return Vec::new();
    }
    if replication.all().any(|answer| answer.measured.is_some()) {
        let more = format!("{} more in the report and in `--format json`.", count(besides.len(), "measurement"));
        return std::iter::once(String::new()).chain(wrapped(&more, width)).collect();
    }
    let mut lines = vec![String::new(), row(["Measured without a published figure", "", "", "", ""], width)];
    let room = usize::from(width).saturating_sub(20);
    lines.extend(
        besides.iter().map(|beside| format!("  {:<room$}{:>10} {}", beside.id, three(beside.measured), beside.unit)),
    );
    lines
}

fn bold(line: String, color: bool) -> String {
    if color { format!("\x1b[1m{line}\x1b[0m") } else { line }
}
