//! Repeated reviews as one HTML file.

use maud::{Markup, html};
use plan::replicate::{Answer, GoalVerdict, Replication, Series, Use};

use super::{error, grid, judged, limits, notes, published, summarised};
use crate::chart::{Point, beside};
use crate::drawn::figure as drawn;
use crate::number::{bound, count, three};
use crate::page::{NO_SCRIPT, Page};
use crate::quoting::quoting;
use crate::table::framed;

/// What came of repeating reviews: one self-contained HTML file, a section for each, with the `command` that made it. The same
/// always gives the same text.
pub fn html(replications: &[Replication], command: &str, version: &str) -> String {
    let seed = replications.first().map_or(0, |replication| replication.seed.get());
    let heading = html! {
        p.kicker { "Published reviews, reproduced in simulated time" }
        h1 { "Published and measured figures" }
        p.facts { span { (count(replications.len(), "review")) } span { "seed " (seed) } }
    };
    let main = html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            ul.verdicts { @for replication in replications { li {
                a href={ "#" (replication.published.review) } { (replication.published.title) }
                span { (bound(&summarised(replication))) }
            } } }
            (grid::totals(replications))
            (overview(replications))
            p.trust {
                "Parameters of the drives were fitted to the fitted figures; these are no evidence for the models. "
                "Checked figures were not used for fitting."
            }
        }
        (NO_SCRIPT)
        @for replication in replications { (section(replication)) }
        section #repeat {
            h2 { "Repeat this" }
            p { "The same command with the same version"
                @if replications.iter().any(|one| one.published.method.is_some()) { " and the same files" }
                " gives the same figures:"
            }
            pre.command { code { (command) } }
        }
    };
    let (title, version, name) =
        ("Published and measured figures".to_owned(), version.to_owned(), "replicate".to_owned());
    Page { title, version, name, heading, main }.contained()
}

/// Every group with its verdict.
fn overview(replications: &[Replication]) -> Markup {
    let table = html! {
        table.told {
            caption.hidden { "Verdicts" }
            thead { tr { th scope="col" { "Review" } th scope="col" { "Figures" } th scope="col" { "Verdict" } } }
            @for replication in replications { tbody {
                @for (place, group) in replication.published.groups.iter().enumerate() { tr {
                    th scope="row" {
                        @if place == 0 { a href={ "#" (replication.published.review) } { (replication.published.review) } }
                    }
                    td { (group.title) }
                    td { (verdict(replication.verdict(place))) }
                } }
            } }
        }
    };
    framed("Verdicts", &table)
}

fn verdict(verdict: GoalVerdict) -> Markup {
    html! {
        @match verdict {
            GoalVerdict::NotMet => span.worse { (verdict.name()) },
            GoalVerdict::Met => (verdict.name()),
            _ => span.absent { (verdict.name()) },
        }
    }
}

fn section(replication: &Replication) -> Markup {
    let published = &replication.published;
    html! {
        section.step id=(published.review) {
            h2 { (published.title) }
            p.steadiness { (bound(&summarised(replication))) }
            p { (bound(&published.about)) }
            p { (bound(&replication.about)) }
            p.asked { (published.source) }
            @for missing in &replication.missing {
                p.missing { "Part " code { (missing.part) } " on " code { "sim:" (missing.target) } ": " (missing.why) "." }
            }
            (grid::key())
            @for grid in grid::laid_out(replication) { (grid.table()) }
            @for group in 0..published.groups.len() { (section_of(replication, group)) }
            @for limit in limits(replication) { p { (limit) } }
            (besides(replication))
            (conditions(replication))
        }
    }
}

/// Chart, table and verdict of a group.
fn section_of(replication: &Replication, group: usize) -> Markup {
    let goals = &replication.published.groups[group];
    let is_measured = replication.answers_of(group).any(|answer| answer.measured.is_some());
    html! {
        h3 { (goals.title) }
        p.steadiness { (bound(&judged(replication, group).join(" "))) }
        @if is_measured {
            @if let Some(panel) = chart(replication, group) {
                (drawn(&goals.title, &[panel], "Both axes are logarithmic. Hover over a point for its figure."))
            }
            @for grid in grid::of_group(replication, group) { (grid.table()) }
        }
        @for (reason, figures) in notes(replication, group) {
            p.asked { (quoting(&reason)) " (" (if figures.len() > 4 { count(figures.len(), "figure") } else { figures.join("; ") }) ")." }
        }
    }
}

const KINDS: [&str; 3] = ["fitted", "checked", "excluded"];

/// The points of all series of a group that share the first one's unit.
fn chart(replication: &Replication, group: usize) -> Option<crate::chart::Panel> {
    let series = &replication.published.groups[group].series;
    let unit = series.first()?.unit.as_str();
    let mut points = Vec::new();
    for (series, answers) in series.iter().zip(&replication.answers[group]).filter(|(series, _)| series.unit == unit) {
        points.extend(answers.iter().filter_map(|answer| point(series, answer)));
    }
    beside(unit, &KINDS, &points)
}

fn point(series: &Series, answer: &Answer) -> Option<Point> {
    let kind = match (&answer.figure.odd, answer.figure.usage) {
        (Some(_), _) => 2,
        (None, Use::Fit) => 0,
        (None, Use::Check) => 1,
    };
    let (expect, measured) = (answer.figure.expect?, answer.measured?);
    let said = vec![
        series.title.clone(),
        answer.figure.label.clone(),
        format!("published {}, measured {} {}", published(answer), three(measured), series.unit),
        format!("{}: {}", KINDS[kind], error(answer)?),
    ];
    matches!(expect, plan::replicate::Expect::Value { .. }).then_some(Point {
        kind,
        published: expect.number()?,
        measured,
        said,
    })
}

/// What was measured and not published.
fn besides(replication: &Replication) -> Markup {
    let table = html! {
        table.told {
            thead { tr { th scope="col" { "Measurement" } th.number scope="col" { "Measured" } th scope="col" { "Unit" } } }
            tbody { @for beside in &replication.besides { tr {
                th scope="row" { code { (beside.id) } }
                td.number { (three(beside.measured)) }
                td.unit { (beside.unit) }
            } } }
        }
    };
    html! {
        @if !replication.besides.is_empty() {
            details {
                summary { (count(replication.besides.len(), "measurement")) " without a published figure" }
                (framed("Also measured", &table))
            }
        }
    }
}

fn conditions(replication: &Replication) -> Markup {
    html! {
        @if !replication.conditions.is_empty() {
            details {
                summary { "Targets" }
                dl { @for condition in &replication.conditions {
                    dt { (condition.part) }
                    dd { (condition.title) ", " code { "sim:" (condition.target) } }
                } }
            }
        }
    }
}
