//! A sheet a drive: who it is, how it stands among its peers, and what it was held to. One prints on a page.

use maud::{Markup, html};
use plan::fleet::{Fleet, FleetDrive};
use plan::gate::{Gate, GateOutcome};

use super::prose::{self, Standing};
use crate::comparison::change;
use crate::conditions::{date, took};
use crate::number::{Scaled, bound, count, kept, spread};
use crate::quoting::quoting;
use crate::table::framed;

/// As many findings are listed on a sheet.
const FINDINGS: usize = 8;

/// The place of a drive's sheet in the page.
pub(super) fn anchor(fleet: &Fleet, at: usize) -> String {
    format!("drive-{}", fleet.drives[at].run.id)
}

/// The sheets of all drives.
pub(super) fn sheets(fleet: &Fleet) -> Markup {
    html! {
        section #sheets {
            h2 { "A sheet a drive" }
            @for at in 0..fleet.drives.len() { (sheet(fleet, at)) }
        }
    }
}

fn sheet(fleet: &Fleet, at: usize) -> Markup {
    let drive = &fleet.drives[at];
    let standing = Standing::of(fleet, at);
    html! {
        article.sheet id=(anchor(fleet, at)) {
            h3 { (drive.identity.label()) " " span class={ "badge " (standing.class()) } { (standing.name()) } }
            (facts(drive))
            @if let Some(error) = &drive.run.error { p.shortfall { (quoting(error)) } }
            @if fleet.places(at).next().is_some() { (figures(fleet, at)) }
            @if let Some(gate) = &drive.gate { (checks(gate)) }
            @if !drive.findings.is_empty() { (findings(drive)) }
        }
    }
}

/// Who the drive is and which run it is of.
fn facts(drive: &FleetDrive) -> Markup {
    let (identity, run) = (&drive.identity, &drive.run);
    let rows = [
        ("Model", Some(identity.model.clone())),
        ("Serial number", identity.serial.clone()),
        ("World-wide name", identity.wwid.clone()),
        ("Firmware", identity.firmware.clone()),
        ("Slot", identity.slot.clone()),
        ("Target", Some(identity.target.clone())),
        ("Host", identity.host.clone()),
    ];
    let took = took(run).map_or_else(String::new, |took| format!(", took {took}"));
    html! {
        dl {
            @for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) { dt { (name) } dd { (value) } }
            dt { "Run" } dd { (run.id) " (" (run.state.name()) "), plan " (run.plan) @if run.quick { " (quick)" } ", " (date(run.started_ms)) (took) }
        }
    }
}

/// Its key figures beside those of its peers.
fn figures(fleet: &Fleet, at: usize) -> Markup {
    let table = html! {
        table {
            caption.hidden { "Key figures" }
            thead { tr {
                th scope="col" { "Key figure" } th scope="col" { "Unit" } th.number scope="col" { "This drive" }
                th.number scope="col" { "Median of its model" } th.number scope="col" { "Difference" } th scope="col" { "Verdict" }
            } }
            tbody { @for (figure, place) in fleet.places(at) {
                @let scaled = Scaled::of(&figure.unit, figure.median);
                @let interval = &place.side.interval;
                tr {
                    th.long scope="row" { (figure.title) }
                    td.unit { (scaled.unit) }
                    td.number data-v=(kept(interval.mean)) {
                        (scaled.three(interval.mean))
                        @if let Some(spread) = spread(interval) { " " span.spread { (spread) } }
                    }
                    td.number data-v=(kept(figure.median)) { (scaled.three(figure.median)) }
                    td.number data-v=(kept(place.ratio)) { (change(place.ratio)) }
                    td { @if place.is_apart { span class=(prose::way(place)) { (prose::way(place)) } } }
                }
            } }
        }
    };
    framed("Key figures", &table)
}

/// What it was held to.
fn checks(gate: &Gate) -> Markup {
    let class = |outcome| match outcome {
        GateOutcome::Pass => "better",
        GateOutcome::Inconclusive => "absent",
        GateOutcome::Fail => "worse",
    };
    let table = html! {
        table.told {
            caption { "Limits" }
            thead { tr { th scope="col" { "Verdict" } th scope="col" { "Limit" } th scope="col" { "Found" } } }
            tbody { @for check in &gate.checks { tr {
                td { span class=(class(check.outcome)) { (check.outcome.name()) } }
                td { (check.question.title) }
                td { (bound(&crate::gate::found(check))) }
            } } }
        }
    };
    html! {
        @if gate.checks.is_empty() { p.trust { "Nothing of what was asked was measured, or is promised of this drive." } }
        @else { (framed("Limits", &table)) }
    }
}

fn findings(drive: &FleetDrive) -> Markup {
    let more = drive.findings.len().saturating_sub(FINDINGS);
    html! {
        div.findings {
            ul { @for finding in drive.findings.iter().take(FINDINGS) { li {
                @if let Some(step) = &finding.step { (step) ": " }
                (quoting(&finding.text))
            } } }
            @if more > 0 { p { (count(more, "more finding")) " in the run's report." } }
        }
    }
}

/// `3 findings`; a dash where there are none.
pub(super) fn findings_told(drive: &FleetDrive) -> String {
    if drive.findings.is_empty() { "–".to_owned() } else { count(drive.findings.len(), "finding") }
}
