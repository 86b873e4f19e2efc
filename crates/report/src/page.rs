//! The report as one HTML file that needs nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use plan::Outcome;

use crate::conditions::{back_matter, date, took};
use crate::cost::Cost;
use crate::glance::glance;
use crate::headline::headline;
use crate::number::{bound, count};
use crate::part::MeasuredStep;
use crate::report::Report;
use crate::reviewed::Reviewed;
use crate::section::section;
use crate::told::told;
use crate::{prose, rated, rounds, setup, table, trials};

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const CHARTS: &str = include_str!("chart.js");
pub(crate) const DATA: &str = include_str!("data.js");

/// The report of a run: one self-contained HTML file that opens without a network.
///
/// Summary first, then a section for each step that measured something, then findings, conditions,
/// environment and how to repeat it. The same outcome always gives the same text.
pub fn html(outcome: &Outcome) -> String {
    Report::of(outcome).html()
}

/// A page before it is known where its style and scripts are.
pub(crate) struct Page {
    pub(crate) title: String,
    /// That of the program that measured or compared.
    pub(crate) version: String,
    /// What files with data from the page begin with: `run-3`.
    pub(crate) name: String,
    pub(crate) heading: Markup,
    pub(crate) main: Markup,
}

impl Page {
    /// What a browser has to know of the page, wherever its style is.
    pub(crate) fn about(&self) -> Markup {
        html! {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "assay " (self.version) };
            title { (self.title) }
        }
    }

    /// The page with all that it needs inside.
    pub(crate) fn contained(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    (self.about())
                    style { (PreEscaped(STYLE)) }
                }
                body data-name=(self.name) {
                    a.skip href="#content" { "Skip to the content" }
                    header { (self.heading) }
                    main #content tabindex="-1" { (self.main) }
                    footer { p { "Made by assay " (self.version) ". Charts by Plotly.js (MIT licence), contained in this file." } }
                    (PreEscaped(plotly_script()))
                    script { (PreEscaped(CHARTS)) }
                    script { (PreEscaped(DATA)) }
                }
            }
        };
        page.into_string()
    }
}

/// The report of a run.
pub(crate) fn page(report: &Report) -> Page {
    let Report { outcome, parts, .. } = report;
    let run = &outcome.run;
    let main = html! {
        (summary(report))
        (contents(outcome, parts))
        (NO_SCRIPT)
        @for index in 0..parts.len() { (section(outcome, parts, index)) }
        @if setup::is_wanted(outcome) { (setup::setup(outcome)) }
        (back_matter(outcome, parts))
    };
    let title = format!("{} – {}", run.target_identity, outcome.plan.title);
    let (version, name) = (run.version.clone(), format!("run-{}", run.id));
    Page { title, version, name, heading: heading(outcome), main }
}

/// What stands before the charts where they cannot be drawn.
pub(crate) const NO_SCRIPT: PreEscaped<&str> =
    PreEscaped("<noscript><p class=\"missing\">Charts need JavaScript; the tables hold every figure.</p></noscript>");

/// What was tested, when, and how far it came.
fn heading(outcome: &Outcome) -> Markup {
    let run = &outcome.run;
    html! {
        p.kicker { (outcome.plan.title) }
        h1 { (run.target_identity) }
        p.facts {
            span class={ "badge " (run.state.name()) } { (run.state.name()) }
            @if run.quick { span.badge.quick { "quick" } }
            span { code { (run.target) } }
            span { "plan " code { (run.plan) } }
            span { "seed " (run.seed) }
            span { (date(run.started_ms)) }
            @if let Some(took) = took(run) { span { "took " (took) } }
        }
    }
}

/// The answer in ten seconds.
fn summary(report: &Report) -> Markup {
    let Report { outcome, parts, scorecard } = report;
    let told = parts.iter().filter_map(|part| Some((part, trials::verdict(part).or_else(|| told(part))?)));
    let told: Vec<(&MeasuredStep, String)> = told.collect();
    html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            @if let Some(shortfall) = prose::shortfall(outcome) { p.shortfall { (shortfall) } }
            @if !told.is_empty() { ul.verdicts { @for (part, words) in &told { li {
                a href={ "#" (part.anchor()) } { (part.step.title) } " "
                span { (bound(words)) }
            } } } }
            @let headline = headline(scorecard, parts);
            @if let Some(headline) = &headline { p.verdict { (bound(headline)) } }
            @let (rated, reviewed) = (rated::RatedSheet::of(outcome), Reviewed::of(outcome, parts, scorecard));
            (glance(scorecard, rated.as_ref(), reviewed.as_ref()))
            @let verdict = prose::beyond(headline.as_ref(), scorecard, parts);
            @if !verdict.is_empty() { ul.verdict { @for sentence in &verdict { li { (bound(sentence)) } } } }
            @if !scorecard.rows.is_empty() { (table::scorecard(scorecard, rated.as_ref(), reviewed.as_ref())) }
            (rounds::overview(parts))
            p.trust {
                @if let Some(words) = rated::left_out(outcome) { (words) " " }
                @if outcome.run.simulated { "Durations are the plan's for simulated drives. " }
                @if outcome.run.quick { "Shortened by " code { "--quick" } ": a full run takes longer and has narrower intervals. " }
                @if let Some(precision) = prose::precision(parts) { (precision) " " }
                a href="#findings" { (count(outcome.findings.len(), "finding")) } "."
            }
        }
    }
}

fn contents(outcome: &Outcome, parts: &[MeasuredStep]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol {
                @for part in parts { li { a href={ "#" (part.anchor()) } { (part.step.title) } } }
                @if setup::is_wanted(outcome) { li { a href="#setup" { "Device and test setup" } } }
                @if Cost::of(outcome).is_some() { li { a href="#cost" { "Price and efficiency" } } }
                @for (anchor, title) in [
                    ("findings", "Findings"), ("health", "Health"), ("conditions", "Conditions"), ("environment", "Environment"), ("repeat", "Repeat this"),
                ] { li { a href={ "#" (anchor) } { (title) } } }
            }
        }
    }
}

/// The script element with Plotly; the crate's sources hold MathJax after it, which no chart needs.
pub(crate) fn plotly_script() -> String {
    const END: &str = "</script>";
    let mut sources = plotly::Plot::offline_js_sources();
    let end = sources.find(END).expect("the crate embeds Plotly in a script element") + END.len();
    sources.truncate(end);
    sources
}
