//! How well drives predict, as one HTML file.

use maud::{Markup, html};
use plan::replicate::Use;
use plan::replicate::qos::{Bar, BarVerdict, Kind, Qos, QosRun};

use super::{Section, asked, capital, cells, conditions, counted, factor, ordering, scope, sections, short, tails};
use crate::drawn::figure as drawn;
use crate::number::{BINDING, bound, kept, three};
use crate::page::{NO_SCRIPT, Page};
use crate::quoting::quoting;
use crate::table::framed;

/// Below the charts of percentiles.
const CAPTION: &str = "Solid lines: published; dashed lines: simulated. Both axes are logarithmic. Hover over a point \
    for its figure. Of many experiments a selection is plotted; the tables have all.";

/// Published beside simulated: one self-contained HTML file, with the `command` that made it. The same always gives the same
/// text.
pub fn html(qos: &Qos, run: &QosRun, command: &str, version: &str) -> String {
    let heading = html! {
        p.kicker { "Published latencies and rates, reproduced in simulated time" }
        h1 { "Prediction errors of the drives" }
        p.facts { span { (scope(qos, run)) } }
    };
    let main = html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            (overall(qos, run))
            (by_drive(qos, run))
            p.trust {
                "Parameters of the drives were fitted to fitted points; these are no evidence for the models. "
                "Checked points are never used for fitting. A factor is simulated over published or its inverse, whichever "
                "is larger. Ratings are bounds; excluded points count towards no criterion."
            }
        }
        (NO_SCRIPT)
        @for (drive, model, target) in asked(qos, run) {
            section.step id=(qos.drives[drive].id) {
                h2 { (model) }
                @match target {
                    Err(why) => p.missing { "Not simulated: " (quoting(why)) "." },
                    Ok(target) => {
                        p.facts { span { (conditions(target)) } }
                        @let panels = tails::panels(qos, run, drive);
                        @if !panels.is_empty() { (drawn(model, &panels, CAPTION)) }
                        @for section in sections(qos, run, drive) { (points(&section)) }
                        (sources(qos, drive))
                    }
                }
            }
        }
        (disordered(qos, run))
        section #repeat {
            h2 { "Repeat this" }
            p { "The same command with the same version gives the same figures:" }
            pre.command { code { (command) } }
        }
    };
    let (title, name) = ("Prediction errors of the drives".to_owned(), "replicate-qos".to_owned());
    Page { title, version: version.to_owned(), name, heading, main }.contained()
}

fn overall(qos: &Qos, run: &QosRun) -> Markup {
    let verdict = |verdict: BarVerdict| {
        let name = verdict.name().replace(' ', &BINDING.to_string());
        html! { @match verdict {
            BarVerdict::NotMet => span.worse { (name) },
            BarVerdict::Met => (name),
            BarVerdict::Empty => span.absent { (name) },
        } }
    };
    let heads = ["Points", "Median error", "Within 25 %", "Median factor", "Within 1.6, consistency 1.5"];
    let table = html! {
        table.told {
            caption { "All drives simulated, fitted and checked points apart" }
            thead { tr {
                th scope="col" { "Figures" } th scope="col" { "Use" }
                @for head in heads { th.number scope="col" { (bound(head)) } }
                th scope="col" { "Wanted" } th scope="col" { "Verdict" }
            } }
            tbody { @for bar in run.bars(qos).iter().filter(|bar| bar.verdict != BarVerdict::Empty) { tr {
                th scope="row" { (counted(bar)) }
                td { (bar.usage.name()) }
                @for cell in cells(bar) { td.number { (cell) } }
                td { (bound(Bar::wanted(bar.kind))) }
                td { (verdict(bar.verdict)) }
            } } }
        }
    };
    framed("All drives", &table)
}

fn by_drive(qos: &Qos, run: &QosRun) -> Markup {
    let kinds = || Kind::ALL.into_iter().filter(|kind| *kind != Kind::Extreme);
    let table = html! {
        table.told {
            caption { "Median factor by drive and kind, and of how many points" }
            thead { tr {
                th scope="col" { "Drive" } th scope="col" { "Use" }
                @for kind in kinds() { th.number scope="col" { (capital(kind.title())) } }
            } }
            tbody { @for (drive, model, _) in asked(qos, run) { @for usage in [Use::Fit, Use::Check] { tr {
                th scope="row" { a href={ "#" (qos.drives[drive].id) } { (model) } }
                td { (usage.name()) }
                @for kind in kinds() {
                    td.number { (factor(run, qos, drive, kind, usage).unwrap_or_else(|| "–".to_owned())) }
                }
            } } } }
        }
    };
    framed("By drive", &table)
}

fn points(section: &Section) -> Markup {
    let table = html! {
        table.told {
            caption { (quoting(&section.title)) }
            thead { tr {
                th scope="col" { "Figure" } th scope="col" { "Use" } th scope="col" { "Unit" }
                th.number scope="col" { "Published" } th.number scope="col" { "Simulated" }
                th.number scope="col" { "Simulated / published" }
            } }
            tbody { @for row in &section.rows { tr {
                th scope="row" { (row.name()) }
                td { (row.point.usage.name()) }
                td.unit { @if row.point.unit == "us" { "µs" } @else { (row.point.unit) } }
                td.number data-v=(kept(row.point.value)) { (row.side()) (three(row.point.value)) }
                td.number data-v=[row.answer.simulated.map(|simulated| kept(simulated.value))] {
                    (row.answer.simulated.map_or_else(|| "–".to_owned(), |simulated| three(simulated.value)))
                }
                td.number {
                    (row.answer.ratio(row.point).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")))
                    @if !row.verdict().is_empty() { " " (row.verdict()) }
                }
            } } }
        }
    };
    framed(&section.title, &table)
}

/// Where the published figures of a drive are from, by experiment: the first word of each figure's name.
fn sources(qos: &Qos, drive: usize) -> Markup {
    let table = html! {
        table.told {
            caption { "Sources of the published figures by experiment; grade A: exact number of a table or log, B: approximate" }
            thead { tr {
                th scope="col" { "Experiment" } th scope="col" { "Source" } th scope="col" { "Where" } th scope="col" { "Grade" }
            } }
            tbody { @for group in qos.groups.iter().filter(|group| group.drive == drive) { tr {
                th scope="row" { (short(&group.id)) }
                @for text in [&group.source, &group.seen, &group.grade] {
                    td { @if text.is_empty() { span.absent { "not stated" } } @else { (quoting(text)) } }
                }
            } } }
        }
    };
    framed("Sources", &table)
}

fn disordered(qos: &Qos, run: &QosRun) -> Markup {
    let orderings = run.orderings(qos);
    let wrong: Vec<_> = orderings.iter().filter(|ordering| !ordering.is_same).collect();
    html! {
        @if !wrong.is_empty() {
            section #orderings {
                h2 { "Pairs ordered differently" }
                ul { @for one in wrong { li { (ordering(qos, one)) " (" (one.usage.name()) ")" } } }
            }
        }
    }
}
