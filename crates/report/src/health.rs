//! The health of the drive, before a run and after: on the page, for terminals and for programs.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use host::health::self_test::{SelfTestEnd, SelfTestOutcome};
use host::health::{HealthReading, HealthRecord, HealthRow, rows};
use maud::{Markup, html};
use serde_json::json;

use crate::number::three;
use crate::quoting::quoting;
use crate::table::framed;
use crate::wrap::wrapped;

/// The section of the report; what could not be seen is told with why.
pub(crate) fn section(record: &HealthRecord) -> Markup {
    let rows = rows(record);
    html! {
        @for words in words(record) { p { (quoting(&words)) } }
        @if !rows.is_empty() { (framed("Health", &table(&rows))) }
    }
}

fn table(rows: &[HealthRow]) -> Markup {
    html! {
        table {
            caption.hidden { "Health before and after" }
            thead { tr { @for head in ["Figure", "Before", "After", "Change", "From"] { th scope="col" { (head) } } } }
            tbody { @for row in rows { tr {
                th scope="row" { (row.name) }
                td { (dash(&row.before)) }
                td { (dash(&row.after)) }
                td { (row.change) }
                td { (row.origin) }
            } } }
        }
    }
}

/// The same for a terminal `width` columns wide, with its findings, after the drive's self-test where there was one. Ends with a
/// line feed.
pub fn text(record: &HealthRecord, tested: Option<&SelfTestEnd>, width: u16) -> String {
    let words = tested.map(self_test).into_iter().chain(words(record)).chain(record.findings());
    let mut lines: Vec<String> = words.flat_map(|words| wrapped(&words, width)).collect();
    let rows = rows(record);
    if !rows.is_empty() {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        let is_pair = record.before.is_some();
        table.set_header(if is_pair { vec!["", "before", "after", "change", "from"] } else { vec!["", "now", "from"] });
        for row in rows {
            let cells = match is_pair {
                true => vec![row.name.to_owned(), dash(&row.before), dash(&row.after), row.change, row.origin],
                false => vec![row.name.to_owned(), dash(&row.after), row.origin],
            };
            table.add_row(cells);
        }
        for column in 1..if is_pair { 4 } else { 2 } {
            table.column_mut(column).expect("the header has it").set_cell_alignment(CellAlignment::Right);
        }
        lines.push(String::new());
        lines.extend(table.lines().map(|line| line.trim_end().to_owned()));
    }
    lines.join("\n") + "\n"
}

/// How a self-test ended.
fn self_test(end: &SelfTestEnd) -> String {
    let SelfTestEnd { test, device, by, outcome, words } = end;
    let outcome = match outcome {
        SelfTestOutcome::Passed => "passed",
        SelfTestOutcome::Failed => "failed",
        SelfTestOutcome::Aborted => "aborted",
    };
    format!("Self-test ({}) of {device} by {by}: {outcome} ({words}).", test.name())
}

/// The readings as one JSON object; what is not known is null, never zero.
pub fn json(record: &HealthRecord, tested: Option<&SelfTestEnd>) -> String {
    let document = json!({
        "self_test": tested,
        "before": record.before,
        "after": record.after,
        "write_amplification": record.write_amplification(),
        "findings": record.findings(),
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

/// Who says so, what is missing and why, and what the run cost the flash.
fn words(record: &HealthRecord) -> Vec<String> {
    let mut words = Vec::new();
    match (&record.before, &record.after) {
        (None, None) => words.push("The drive's health was not read.".to_owned()),
        (Some(HealthReading::Missing(why)), Some(HealthReading::Missing(other))) if why == other => {
            words.push(format!("Unknown: {why}."));
        }
        (None, Some(HealthReading::Missing(why))) => words.push(format!("Unknown: {why}.")),
        (before, after) => {
            for (moment, reading) in [("Before", before), ("After", after)] {
                match reading {
                    Some(HealthReading::Missing(why)) => words.push(format!("{moment} the run: unknown: {why}.")),
                    None if moment == "After" => words.push("The run has not ended.".to_owned()),
                    _ => {}
                }
            }
            let [before, after] = [before, after].map(|reading| reading.as_ref().and_then(HealthReading::health));
            words.extend(after.or(before).map(|health| format!("By {}.", health.source)));
        }
    }
    words.extend(record.write_amplification().map(|share| {
        format!(
            "Write amplification during the run: {} (flash writes over host writes; 1 is ideal, less is better).",
            three(share)
        )
    }));
    words
}

fn dash(text: &str) -> String {
    if text.is_empty() { "–".to_owned() } else { text.to_owned() }
}
