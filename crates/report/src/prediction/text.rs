//! How well drives predict, for a terminal.

use plan::replicate::Use;
use plan::replicate::qos::{Bar, Kind, Qos, QosRun};

use super::{Row, asked, cells, conditions, counted, factor, ordering, scope, sections};
use crate::number::{count, three};
use crate::wrap::wrapped;

/// The narrowest that a table can be.
const WIDTH_LEAST: u16 = 80;
/// Columns of the table of points: published, simulated, ratio, use or verdict.
const COLUMNS: [u16; 4] = [10, 10, 7, 6];
/// Names of points stand below their heading.
const INDENT: u16 = 2;
/// The room for a drive's name in the table by drive, beside a space; a longer one has a line of its own.
const NAME: usize = 17;

/// Published beside simulated by drive and kind, then all together, for a terminal `width` columns wide. Ends with a
/// line feed.
pub fn text(qos: &Qos, run: &QosRun, width: u16) -> String {
    let width = width.max(WIDTH_LEAST);
    let mut lines = vec!["Published and simulated latencies and rates".to_owned(), scope(qos, run)];
    for (drive, model, target) in asked(qos, run) {
        lines.push(String::new());
        lines.extend(wrapped(model, width));
        match target {
            Err(why) => lines.extend(wrapped(&format!("Not simulated: {why}."), width)),
            Ok(target) => {
                lines.extend(wrapped(&conditions(target), width));
                lines.extend(points(qos, run, drive, width));
            }
        }
    }
    lines.push(String::new());
    lines.extend(by_drive(qos, run));
    lines.push(String::new());
    lines.extend(overall(qos, run));
    lines.extend(disordered(qos, run, width));
    lines.join("\n") + "\n"
}

fn rule(width: u16) -> String {
    "─".repeat(usize::from(width))
}

fn points(qos: &Qos, run: &QosRun, drive: usize, width: u16) -> Vec<String> {
    let mut lines = vec![line("", ["Published", "Simulated", "Ratio", "Use"], width), rule(width)];
    for section in sections(qos, run, drive) {
        lines.extend(wrapped(&section.title, width));
        lines.extend(section.rows.iter().flat_map(|row| point(row, width)));
    }
    lines.push(rule(width));
    lines
}

fn point(row: &Row, width: u16) -> Vec<String> {
    let unit = match row.point.unit.as_str() {
        "us" => ", µs",
        "%" => ", %",
        _ => "",
    };
    let simulated = row.answer.simulated.map_or_else(|| "–".to_owned(), |simulated| three(simulated.value));
    let ratio = row.answer.ratio(row.point).map_or_else(|| "–".to_owned(), ratio_cell);
    let last = if row.verdict().is_empty() { row.point.usage.name() } else { row.verdict() };
    let published = format!("{}{}", row.side(), three(row.point.value));
    let columns = [&*published, &simulated, &ratio, last];
    let mut names = wrapped(&format!("{}{unit}", row.name()), room(width) - INDENT);
    let name = names.pop().unwrap_or_default();
    let indented = |name: String| format!("{:1$}{name}", "", usize::from(INDENT));
    names.into_iter().map(indented).chain([line(&indented(name), columns, width)]).collect()
}

/// Simulated over published, in its column: a mistaken unit makes it larger than any that is read.
fn ratio_cell(ratio: f64) -> String {
    if ratio < 999.5 { format!("{ratio:.2}") } else { "> 999".to_owned() }
}

/// How much room is left of the columns.
fn room(width: u16) -> u16 {
    width - COLUMNS.iter().sum::<u16>()
}

/// A name and columns at the right.
fn line(name: &str, columns: [&str; 4], width: u16) -> String {
    let room = usize::from(room(width));
    let columns: String =
        columns.iter().zip(COLUMNS).map(|(cell, width)| format!("{cell:>0$}", usize::from(width))).collect();
    format!("{name:<room$}{columns}").trim_end().to_owned()
}

fn by_drive(qos: &Qos, run: &QosRun) -> Vec<String> {
    let heads = ["Rates", "p50, p99", "Tails", "Consistency"];
    let row = |name: &str, usage: &str, cells: [&str; 4]| {
        let (cells, room): (String, usize) = (cells.iter().map(|cell| format!("{cell:>13}")).collect(), NAME + 1);
        format!("{name:<room$}{usage:<6}{cells}").trim_end().to_owned()
    };
    let mut lines = vec!["Median factor by drive, and of how many points".to_owned()];
    lines.push(row("", "", heads));
    lines.push(rule(WIDTH_LEAST));
    for (drive, _, target) in asked(qos, run) {
        let Ok(target) = target else {
            let name = own_line(qos.drives[drive].name(), &mut lines);
            lines.push(row(name, "", ["not simulated", "", "", ""]));
            continue;
        };
        let first = own_line(&target.name, &mut lines);
        for usage in [Use::Fit, Use::Check] {
            let cells = Kind::ALL.map(|kind| factor(run, qos, drive, kind, usage).unwrap_or_else(|| "–".to_owned()));
            let name = if usage == Use::Fit { first } else { "" };
            lines.push(row(name, usage.name(), [&cells[0], &cells[1], &cells[2], &cells[3]]));
        }
    }
    lines.push(rule(WIDTH_LEAST));
    lines
}

/// The name as it stands before a drive's rows: nothing where it is too long for that, and has a line before them.
fn own_line<'n>(name: &'n str, lines: &mut Vec<String>) -> &'n str {
    if name.chars().count() <= NAME {
        return name;
    }
    lines.extend(wrapped(name, WIDTH_LEAST));
    ""
}

fn overall(qos: &Qos, run: &QosRun) -> Vec<String> {
    let row = |name: &str, usage: &str, cells: [&str; 5], verdict: &str| {
        let widths = [6, 8, 8, 8, 9];
        let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        format!("{name:<24}{usage:<6}{cells}  {verdict}").trim_end().to_owned()
    };
    let mut lines = vec!["All drives, fitted and checked points apart".to_owned()];
    lines.push(row("", "", ["Points", "Error", "≤ 25 %", "Factor", "≤ 1.6"], ""));
    lines.push(rule(WIDTH_LEAST));
    for bars in run.bars(qos).chunks_exact(2) {
        for bar in bars {
            let cells = cells(bar);
            let name = if bar.usage == Use::Fit { counted(bar) } else { String::new() };
            let cells: [&str; 5] = std::array::from_fn(|place| cells[place].as_str());
            lines.push(row(&name, bar.usage.name(), cells, bar.verdict.name()));
        }
        lines.push(format!("  wanted: {}", Bar::wanted(bars[0].kind)));
    }
    lines.push(rule(WIDTH_LEAST));
    lines.push("Error and Factor are medians; the last column is ≤ 1.5 for consistency.".to_owned());
    lines
}

/// The pairs whose order came out wrong.
fn disordered(qos: &Qos, run: &QosRun, width: u16) -> Vec<String> {
    let orderings = run.orderings(qos);
    let wrong: Vec<_> = orderings.iter().filter(|ordering| !ordering.is_same).collect();
    if wrong.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), format!("Ordered differently: {}", count(wrong.len(), "pair"))];
    let said = |one: &&plan::replicate::qos::Ordering| format!("  {} ({})", ordering(qos, one), one.usage.name());
    lines.extend(wrong.iter().flat_map(|one| wrapped(&said(one), width)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_stands_apart_from_what_is_left_of_it() {
        for (ratio, cell) in [(0.014, "0.01"), (138.78, "138.78"), (2141.49, "> 999")] {
            assert_eq!(ratio_cell(ratio), cell);
            assert!(ratio_cell(ratio).len() < usize::from(COLUMNS[2]));
        }
    }
}
