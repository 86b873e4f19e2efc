//! A run as Markdown, for an issue or a chat.

use plan::{Metric, Outcome};

use crate::column::of_flushes;
use crate::conditions::{date, took};
use crate::figure::{CellFigure, CellFigures};
use crate::key::Scorecard;
use crate::number::{count, spread, three};
use crate::part::MeasuredStep;
use crate::parts::parts;
use crate::prose;
use crate::table::cell_name;

/// A run as GitHub renders it: what was tested, the verdict, the key figures with their 95 % intervals, a table for each
/// step, the findings. Ends with a line feed.
///
/// Source: GitHub Flavored Markdown Spec 0.29, §4.10, "Tables (extension)".
pub fn review_markdown(outcome: &Outcome) -> String {
    let (parts, run) = (parts(outcome), &outcome.run);
    let scorecard = Scorecard::of(&parts);
    let mut page = format!("# {}\n\n", escaped(&run.target_identity));
    let mut facts = vec![code(&run.target), format!("plan {}", code(&run.plan))];
    facts.extend([format!("seed {}", run.seed), date(run.started_ms), run.state.name().to_owned()]);
    facts.extend(run.quick.then(|| "quick".to_owned()));
    facts.extend(took(run).map(|took| format!("took {took}")));
    facts.push(format!("assay {}", escaped(&run.version)));
    page += &format!("{}\n", facts.join(" · "));
    let verdict = prose::verdict(&scorecard, &parts).join(" ");
    for text in prose::shortfall(outcome).into_iter().chain(Some(verdict).filter(|text| !text.is_empty())) {
        page += &format!("\n**{}**\n", escaped(&text));
    }
    if !scorecard.rows.is_empty() {
        page += &key_figures(&scorecard);
    }
    for part in parts.iter().filter(|part| part.trials().is_none() && part.is_measured()) {
        page += &format!("\n## {}\n", escaped(&part.step.title));
        page += &step(part);
    }
    page += &format!("\n## {}\n\n", count(outcome.findings.len(), "finding"));
    for finding in &outcome.findings {
        let cells = finding.keys().join(", ");
        let place = finding.step.iter().cloned().chain(Some(cells).filter(|cells| !cells.is_empty()));
        let place = place.collect::<Vec<_>>().join(" ");
        let place = if place.is_empty() { place } else { format!("{}: ", escaped(&place)) };
        page += &format!("- {place}{}\n", escaped(&finding.text));
        for one in finding.cells.iter().filter(|_| finding.differs()) {
            page += &format!("  - {}: {}\n", escaped(&one.cell), escaped(&one.text));
        }
    }
    let doubt = prose::precision(&parts).map_or_else(String::new, |words| format!("{words} "));
    page + &format!("\n{doubt}± is a 95 % confidence interval over the repeats.\n")
}

fn key_figures(scorecard: &Scorecard) -> String {
    let mut heads = vec!["Key figure".to_owned(), "Unit".to_owned()];
    heads.extend(scorecard.states.iter().map(|state| state.title().to_owned()));
    heads.extend(scorecard.has_change().then(|| "Change".to_owned()));
    let numbers = 2..2 + scorecard.states.len();
    let rows = scorecard.rows.iter().map(|row| {
        let mut cells = vec![row.name(), row.metric.unit().to_owned()];
        cells.extend(
            row.entries
                .iter()
                .map(|entry| entry.as_ref().map_or_else(|| "–".to_owned(), |entry| figure(&entry.figure))),
        );
        let change = || scorecard.change(row).map_or_else(String::new, |change| change.to_string());
        cells.extend(scorecard.has_change().then(change));
        cells
    });
    table(&heads, |column| numbers.contains(&column), rows)
}

fn step(part: &MeasuredStep) -> String {
    let shown: Vec<Metric> = Metric::brief().chain(of_flushes(part)).collect();
    let heads = shown.iter().map(|metric| match metric {
        Metric::Iops => metric.unit().to_owned(),
        _ => format!("{}, {}", metric.title(), metric.unit()),
    });
    let heads: Vec<String> = ["Cell".to_owned()].into_iter().chain(heads).collect();
    let row = |reading: &CellFigures| {
        let name = match cell_name(part, reading) {
            name if name.is_empty() => reading.cell().workload.pattern.words().to_owned(),
            name => name,
        };
        [name].into_iter().chain(shown.iter().map(|metric| figure(&reading.figure(*metric)))).collect()
    };
    table(&heads, |column| column > 0, part.readings.iter().map(row).chain(part.of_all_jobs(row)))
}

/// A table with an empty line before it, its numbers to the right.
pub(crate) fn table(
    heads: &[String],
    is_number: impl Fn(usize) -> bool,
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<&str> = (0..heads.len()).map(|column| if is_number(column) { "---:" } else { "---" }).collect();
    let rows: String = rows.map(|cells| line(&cells)).collect();
    format!("\n{}| {} |\n{rows}", line(heads), rule.join(" | "))
}

fn figure(figure: &CellFigure) -> String {
    match figure {
        CellFigure::Measured(interval) => {
            three(interval.mean) + &spread(interval).map_or_else(String::new, |spread| format!(" {spread}"))
        }
        CellFigure::NotMeasured => "not measured".to_owned(),
        CellFigure::TooFew | CellFigure::NotGiven => "–".to_owned(),
    }
}

/// A name as code, of which nothing is taken for markup and which ends where it does.
fn code(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{}`", plain.replace('`', "'"))
}

/// A text that Markdown takes for no more than it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => safe.extend(['\\', letter]),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_no_table() {
        let rows = [vec!["a|b".to_owned(), "1".to_owned()]];
        let page = table(&["Cell".to_owned(), "IOPS".to_owned()], |column| column == 1, rows.into_iter());
        assert_eq!(page, "\n| Cell | IOPS |\n| --- | ---: |\n| a\\|b | 1 |\n");
        assert_eq!(code("a`b\n\n# c"), "`a'b  # c`");
        assert_eq!(escaped("<script> *x*\n# y"), "\\<script\\> \\*x\\* \\# y");
    }
}
