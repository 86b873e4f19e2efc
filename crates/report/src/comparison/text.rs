//! A comparison for a terminal.

use plan::compare::{Comparison, Contrast};

use super::columns::Columns;
use super::prose::{label, reach, sentences, times, verdict};
use super::rows::{SharedStep, shared};
use super::{change, colored, interval, key, mark, method, name, unshared};
use crate::conditions::date;
use crate::cost;
use crate::figure::CellFigures;
use crate::number::capital;
use crate::table::cell_name;
use crate::wrap::wrapped;

/// The width of a figure's column: `−50.0 −55.1…−45.2 ▼`.
const COLUMN: usize = 20;
/// No text is narrower.
const WIDTH_LEAST: u16 = 60;
/// What heads all that is no key figure.
const EXPLORATORY: &str = "All figures, exploratory: a lead to follow, not a result";
/// By so much lines about trials are set in.
const INDENT: u16 = 2;

/// Runs held against the first of them, for a terminal `width` columns wide. With `color` false there are no escape
/// sequences. Ends with a line feed.
pub fn text(comparison: &Comparison, width: u16, color: bool) -> String {
    let width = width.max(WIDTH_LEAST);
    let mut lines = Vec::new();
    for (place, outcome) in comparison.outcomes.iter().enumerate() {
        let run = &outcome.run;
        let name = name(comparison, place);
        let quick = if run.quick { " (quick)" } else { "" };
        let facts = format!(
            "{name}: {}, {}, plan {}{quick}, {}",
            run.target_identity,
            run.target,
            run.plan,
            date(run.started_ms)
        );
        lines.extend(wrapped(&capital(&facts), width));
    }
    lines.extend(cost::lines(comparison).iter().flat_map(|line| wrapped(line, width)));
    for other in 1..comparison.outcomes.len() {
        lines.push(String::new());
        lines.extend(wrapped(&verdict(comparison, other), width).into_iter().map(|line| bold(line, color)));
        let sentences = sentences(comparison, other);
        lines.extend(sentences.iter().flat_map(|sentence| wrapped(sentence, width)));
    }
    for other in 1..comparison.outcomes.len() {
        let key = key::lines(comparison, other, width, color);
        lines.extend((!key.is_empty()).then(String::new).into_iter().chain(key));
    }
    if let Some(reach) = reach(comparison) {
        lines.push(String::new());
        lines.extend(wrapped(&reach, width));
    }
    if comparison.contrasts.iter().any(|one| one.key.is_some()) {
        lines.push(String::new());
        lines.extend(wrapped(EXPLORATORY, width).into_iter().map(|line| bold(line, color)));
    }
    for step in shared(comparison) {
        for other in 1..comparison.outcomes.len() {
            lines.extend(table(comparison, &step, other, width, color));
        }
        lines.extend(tried(comparison, &step, width));
    }
    lines.push(String::new());
    let key = "Change of the mean from the first run in percent, with its 95 % interval where the repeats vary; ▲ \
        significantly better, ▼ significantly worse, * an outlier among the repeats.";
    lines.extend(wrapped(key, width));
    lines.extend(wrapped(&method(comparison), width));
    for note in unshared(comparison).iter().chain(&comparison.caveats) {
        lines.push(String::new());
        lines.extend(wrapped(note, width));
    }
    let text: Vec<String> = lines.iter().map(|line| line.trim_end().replace(crate::number::BINDING, " ")).collect();
    text.join("\n") + "\n"
}

/// The cells of a step in one of the other runs.
fn table(comparison: &Comparison, step: &SharedStep, other: usize, width: u16, color: bool) -> Vec<String> {
    let named = step.contrasts.iter().any(|one| one.other == other);
    if !named || step.base().trials().is_some() {
        return Vec::new();
    }
    let titles: Vec<&str> = step.figures().iter().map(|one| one.figure.title()).collect();
    let mut lines = vec![String::new()];
    let against = match comparison.outcomes.len() {
        2 => String::new(),
        _ => format!(", {} against {}", name(comparison, other), name(comparison, 0)),
    };
    lines.extend(
        wrapped(&format!("{}{against}", step.base().step.title), width).into_iter().map(|line| bold(line, color)),
    );
    let heads = (String::new(), titles.iter().map(|title| format!("{title}, %   ")).collect());
    let row = |reading: &CellFigures| {
        let found: Vec<Option<&Contrast>> = titles.iter().map(|title| step.find(reading, title, other)).collect();
        found.iter().any(Option::is_some).then(|| {
            let name = match cell_name(step.base(), reading) {
                name if name.is_empty() => reading.cell().workload.pattern.words().to_owned(),
                name => name,
            };
            (name, found.iter().map(|one| figure(*one, color)).collect())
        })
    };
    let rows = step.base().readings.iter().filter_map(row).collect();
    lines.extend(Columns { heads, rows, widths: vec![COLUMN; titles.len()], gap: 1 }.lines(width));
    lines
}

/// What is compared of a step that tries something: a line for each figure of each point.
fn tried(comparison: &Comparison, step: &SharedStep, width: u16) -> Vec<String> {
    if step.base().trials().is_none() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), step.base().step.title.clone()];
    for one in &step.contrasts {
        let key = step.key(one);
        let at = if key.is_empty() { String::new() } else { format!("{key}: ") };
        let (other, first) = (label(comparison, one.other), label(comparison, 0));
        let (said, mark) = (times(&one.ratio, &first), mark(one.verdict()));
        let line = format!("{at}{} of {other} is {said} {mark}", one.figure.name);
        lines.extend(wrapped(line.trim_end(), width - INDENT).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

fn figure(contrast: Option<&Contrast>, color: bool) -> String {
    let Some(one) = contrast else { return "–   ".to_owned() };
    let bare = |text: String| text.replace(" %", "");
    let bounds = bare(interval(one.ratio)).replace(" to ", "…");
    let has_outlier = !(one.before.outliers.is_empty() && one.after.outliers.is_empty());
    let verdict = one.verdict();
    let marks = format!("{}{}", mark(verdict), if has_outlier { "*" } else { "" });
    let text = format!("{} {bounds}", bare(change(one.ratio.ratio)));
    colored(format!("{} {marks:2}", text.trim_end()), verdict, color)
}

fn bold(line: String, color: bool) -> String {
    if color { format!("\x1b[1m{line}\x1b[0m") } else { line }
}
