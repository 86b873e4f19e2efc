//! Findings in the page: of a step, and all of a run.

use maud::{Markup, html};
use plan::{Finding, Outcome};

use crate::number::count;
use crate::part::MeasuredStep;
use crate::quoting::quoting;

/// A finding about more cells than this says how many they are, and lists them where it is asked for.
const FEW: usize = 4;

/// The findings about a step; nothing where there are none.
pub(crate) fn of_step(part: &MeasuredStep, findings: &[Finding]) -> Markup {
    let own: Vec<&Finding> = findings.iter().filter(|finding| finding.step.as_ref() == Some(&part.step.name)).collect();
    html! {
        @if !own.is_empty() {
            aside.findings aria-label="Findings about this step" {
                ul { @for finding in own { li {
                    @if let Some(cells) = cells(Some(part), finding) { (cells) " " }
                    (quoting(&finding.text))
                    (by_cell(Some(part), finding))
                } } }
            }
        }
    }
}

/// All findings of a run, each with its step as a link.
pub(crate) fn all(outcome: &Outcome, parts: &[MeasuredStep]) -> Markup {
    html! {
        @if outcome.findings.is_empty() {
            p { "No findings." }
        } @else {
            ul.all-findings { @for finding in &outcome.findings {
                @let part = parts.iter().find(|part| Some(&part.step.name) == finding.step.as_ref());
                li { (subject(outcome, part, finding)) (quoting(&finding.text)) (by_cell(part, finding)) }
            } }
        }
    }
}

/// The step that a finding is about, and its cells.
fn subject(outcome: &Outcome, part: Option<&MeasuredStep>, finding: &Finding) -> Markup {
    let Some(name) = &finding.step else { return html! {} };
    let title =
        outcome.plan.steps.iter().find(|step| step.name == *name).map_or(name.as_str(), |step| step.title.as_str());
    html! {
        // What measured nothing has no section.
        @match part { Some(part) => a href={ "#" (part.anchor()) } { (title) }, None => (title) }
        @if let Some(cells) = cells(part, finding) { ", " (cells) }
        ": "
    }
}

/// The cells that a finding is about, or how many they are; none of one about a whole step.
fn cells(part: Option<&MeasuredStep>, finding: &Finding) -> Option<Markup> {
    let keys = finding.keys();
    Some(match keys.len() {
        0 => return None,
        many if many > FEW => html! { (count(many, "point")) ":" },
        _ => html! { @for (place, key) in keys.iter().enumerate() { @if place > 0 { ", " } (cell(part, key)) } },
    })
}

/// Each cell of a finding with its own numbers, folded away; nothing where that says no more than the finding.
fn by_cell(part: Option<&MeasuredStep>, finding: &Finding) -> Markup {
    html! {
        @if finding.differs() {
            details { summary { "By point" } ul {
                @for one in &finding.cells { li { (cell(part, &one.cell)) ": " (quoting(&one.text)) } }
            } }
        } @else if finding.keys().len() > FEW {
            details { summary { "Points" } ul { @for key in finding.keys() { li { (cell(part, key)) } } } }
        }
    }
}

/// A cell as a link to its figures, where there are any.
fn cell(part: Option<&MeasuredStep>, key: &str) -> Markup {
    html! { @match part { Some(part) => a href={ "#" (part.place_of(key)) } { code { (key) } }, None => code { (key) } } }
}
