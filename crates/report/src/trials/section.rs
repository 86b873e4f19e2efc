//! What a step that tries something shows in the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lab::plan::Trials;
use maud::{Markup, html};
use stats::Interval;
use trial::Paper;

use super::chart::{courses, panels};
use super::sheet::{Column, Row, Sheet, shown};
use super::text::verdict;
use crate::number::{count, kept, significant, spread, three};
use crate::part::{Part, cell_anchor};
use crate::section::figure;
use crate::table::framed;

/// A value of more letters is written in several lines.
pub(crate) const LONG: usize = 24;
/// More papers than this are folded away together.
const PAPERS: usize = 4;

/// What goes for all points is said once.
type Conditions = Vec<(String, String)>;

/// Chart, tables, conditions and what programs wrote.
pub(crate) fn section(part: &Part, trials: &Trials) -> Markup {
    let Some(sheet) = Sheet::of(trials, part.trials) else { return html! {} };
    let title = &part.step.title;
    let mut charts = panels(&sheet);
    charts.extend(courses(&sheet));
    let (common, others) = conditions(&sheet);
    html! {
        p { (trials.experiment.about()) }
        @if let Some(words) = verdict(part) { p { (words) } }
        @if !charts.is_empty() { (figure(title, &charts, &caption(&sheet))) }
        (framed(&format!("{title}: figures"), &table(&sheet, &part.step.name, title)))
        @if !common.is_empty() {
            details { summary { "Conditions of this step" } (framed("Conditions", &list(&common))) }
        }
        @if !others.is_empty() {
            details { summary { "Conditions by point" } (framed("Conditions by point", &by_point(&sheet, &others))) }
        }
        (papers(&sheet))
    }
}

fn table(sheet: &Sheet, step: &str, title: &str) -> Markup {
    html! {
        table {
            caption { (title) ", " (count(repeats(sheet), "repeat")) " each" }
            thead { tr {
                @for axis in sheet.axes { th scope="col" { (axis.title) } }
                @for column in &sheet.columns { th.number scope="col" { (head(column)) } }
            } }
            tbody { @for row in &sheet.rows { tr id=[cell_anchor(step, &row.outcome.point.key())] {
                @for place in 0..sheet.axes.len() {
                    @let value = shown(row.value(place));
                    th.long[value.len() > LONG] scope="row" { (value) }
                }
                @for (column, found) in sheet.columns.iter().zip(&row.figures) { (cell(column, found.as_ref())) }
            } } }
        }
    }
}

/// How the charts are read.
fn caption(sheet: &Sheet) -> String {
    let means = match repeats(sheet) {
        1 => "Each point was measured once, so there are no intervals.",
        _ => "Means over repeats with 95 % intervals; single repeats as dots.",
    };
    let over_time = if courses(sheet).is_some() { " The first repeat is shown over time." } else { "" };
    format!("{means}{over_time}")
}

fn repeats(sheet: &Sheet) -> usize {
    sheet.rows.iter().map(|row| row.outcome.repeats.len()).max().unwrap_or_default()
}

fn head(column: &Column) -> Markup {
    html! { (column.name) @if !column.unit.is_empty() { ", " span.unit { (column.unit) } } }
}

fn cell(column: &Column, found: Option<&Interval>) -> Markup {
    let Some(interval) = found else {
        return html! { td.number { span.absent { "not measured" } } };
    };
    let half = interval.half_width.map_or_else(String::new, |half| format!(" ± {}", significant(half, 2)));
    let exact =
        format!("{}{half} {}, {}", significant(interval.mean, 6), column.unit, count(interval.repeats, "repeat"));
    html! {
        td.number.imprecise[interval.is_imprecise()] title=(exact) data-v=(kept(interval.mean))
            data-h=[interval.half_width.map(kept)] {
            (three(interval.mean))
            @if let Some(spread) = spread(interval) { " " span.spread { (spread) } }
            @if interval.is_imprecise() { span.flag role="img" aria-label="wider than ±2 %" { "▲" } }
        }
    }
}

/// The conditions that are the same everywhere, and the names of those that are not.
fn conditions(sheet: &Sheet) -> (Conditions, Vec<String>) {
    let of = |row: &Row| row.outcome.repeats[0].conditions.clone();
    let mut common: Conditions = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for (name, text) in sheet.rows.iter().flat_map(of) {
        let same = |row: &Row| of(row).iter().any(|(other, found)| *other == name && *found == text);
        if sheet.rows.iter().all(same) {
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

fn by_point(sheet: &Sheet, names: &[String]) -> Markup {
    let found = |row: &Row, name: &str| {
        let conditions = &row.outcome.repeats[0].conditions;
        conditions.iter().find(|(other, _)| other == name).map_or_else(|| "–".to_owned(), |(_, text)| text.clone())
    };
    html! {
        table {
            thead { tr {
                th scope="col" { "Point" }
                @for name in names { th scope="col" { (name) } }
            } }
            tbody { @for row in &sheet.rows { tr {
                th.long[row.name().len() > LONG] scope="row" { (row.name()) }
                @for name in names { @let text = found(row, name); td.long[text.len() > LONG] { (text) } }
            } } }
        }
    }
}

/// What programs wrote in the first go at each point.
fn papers(sheet: &Sheet) -> Markup {
    let number = sheet.rows.iter().map(|row| row.outcome.repeats[0].papers.len()).sum();
    let each = each_paper(sheet);
    html! { @if number > PAPERS { details { summary { "Output of programs: " (count(number, "paper")) } (each) } } @else { (each) } }
}

fn each_paper(sheet: &Sheet) -> Markup {
    html! {
        @for row in &sheet.rows { @for paper in &row.outcome.repeats[0].papers {
            details {
                summary { (paper.name) @if !row.name().is_empty() { " – " (row.name()) } }
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
