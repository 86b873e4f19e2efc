//! What a step that tries something shows in the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use measurement::Paper;
use plan::Trials;

use super::chart::{courses, panels};
use super::sheet::{TrialSheet, first};
use super::text::verdict;
use crate::drawn::figure;
use crate::figure::CellFigures;
use crate::number::count;
use crate::part::MeasuredStep;
use crate::table::{LONG, figures, framed};

/// More papers than this are folded away together.
const PAPERS: usize = 4;

/// What goes for all points is said once.
type Conditions = Vec<(String, String)>;

/// Chart, tables, conditions and what programs wrote.
pub(crate) fn section(part: &MeasuredStep, trials: &Trials) -> Markup {
    let Some(sheet) = TrialSheet::of(part) else { return html! {} };
    let title = &part.step.title;
    let mut charts = panels(&sheet);
    charts.extend(courses(&sheet));
    let (common, others) = conditions(&sheet);
    html! {
        p { (trials.experiment.about()) }
        @if let Some(words) = verdict(part) { p { (words) } }
        @if !charts.is_empty() { (figure(title, &charts, &caption(&sheet))) }
        (figures(part))
        @if !common.is_empty() {
            details { summary { "Conditions of this step" } (framed("Conditions", &list(&common))) }
        }
        @if !others.is_empty() {
            details { summary { "Conditions by point" } (framed("Conditions by point", &by_point(&sheet, &others))) }
        }
        (papers(&sheet))
    }
}

/// How the charts are read.
fn caption(sheet: &TrialSheet) -> String {
    let means = match repeats(sheet) {
        1 => "Each point was measured once, so there are no intervals.",
        _ => "Means over repeats with 95 % intervals; single repeats as dots.",
    };
    let over_time = if courses(sheet).is_some() { " The first repeat is shown over time." } else { "" };
    format!("{means}{over_time}")
}

fn repeats(sheet: &TrialSheet) -> usize {
    sheet.rows.iter().map(|row| row.point.repeats.len()).max().unwrap_or_default()
}

/// The conditions that are the same everywhere, and the names of those that are not.
fn conditions(sheet: &TrialSheet) -> (Conditions, Vec<String>) {
    let of = |row: &CellFigures| first(row).map_or_else(Vec::new, |go| go.conditions.clone());
    let mut common: Conditions = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for (name, text) in sheet.rows.iter().flat_map(|row| of(row)) {
        let same = |row: &CellFigures| of(row).iter().any(|(other, found)| *other == name && *found == text);
        if sheet.rows.iter().all(|row| same(row)) {
            if !common.iter().any(|(known, _)| *known == name) {
                common.push((name, text));
            }
        } else if !others.contains(&name) {
            others.push(name);
        }
    }
    (common, others)
}

fn list(conditions: &Conditions) -> Markup {
    html! {
        table { tbody { @for (name, text) in conditions {
            tr { th scope="row" { (name) } td.long { (text) } }
        } } }
    }
}

fn by_point(sheet: &TrialSheet, names: &[String]) -> Markup {
    let found = |row: &CellFigures, name: &str| {
        let conditions = first(row).map_or(&[][..], |go| &go.conditions);
        conditions.iter().find(|(other, _)| other == name).map_or_else(|| "–".to_owned(), |(_, text)| text.clone())
    };
    html! {
        table {
            thead { tr {
                th scope="col" { "Point" }
                @for name in names { th scope="col" { (name) } }
            } }
            tbody { @for row in &sheet.rows { tr {
                th.long[sheet.name(row).len() > LONG] scope="row" { (sheet.name(row)) }
                @for name in names { @let text = found(row, name); td.long[text.len() > LONG] { (text) } }
            } } }
        }
    }
}

/// What programs wrote in the first go at each point.
fn papers(sheet: &TrialSheet) -> Markup {
    let number = sheet.rows.iter().filter_map(|row| first(row)).map(|go| go.papers.len()).sum();
    let each = each_paper(sheet);
    html! { @if number > PAPERS { details { summary { "Output of programs: " (count(number, "paper")) } (each) } } @else { (each) } }
}

fn each_paper(sheet: &TrialSheet) -> Markup {
    html! {
        @for row in &sheet.rows { @for paper in first(row).map_or(&[][..], |go| &go.papers) {
            details {
                summary { (paper.name) @if !sheet.name(row).is_empty() { " – " (sheet.name(row)) } }
                (shown_paper(paper))
            }
        } }
    }
}

fn shown_paper(paper: &Paper) -> Markup {
    // As an image nothing in it can run.
    match paper.media.as_str() {
        "image/svg+xml" => html! {
            div.scroll role="region" tabindex="0" aria-label=(paper.name) {
                img alt=(paper.name) src={ "data:image/svg+xml;base64," (STANDARD.encode(&paper.text)) };
            }
        },
        _ => html! { pre.scroll tabindex="0" { (paper.text) } },
    }
}
