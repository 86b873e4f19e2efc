//! A fleet as a page.

use maud::{Markup, html};
use plan::fleet::Fleet;

use super::prose::{self, Standing};
use super::{FleetReport, effects, matrix, rug, sheet};
use crate::conditions::date;
use crate::number::{bound, count};
use crate::page::Page;
use crate::table::framed;

/// A fleet, before it is known where its style and scripts are.
pub(crate) fn page(report: &FleetReport, version: &str) -> Page {
    let main = html! {
        (section(report))
        (sheet::sheets(&report.fleet))
        p.trust { (bound(&prose::method(&report.fleet))) }
    };
    let title = prose::headline(report);
    Page { title, version: version.to_owned(), name: "fleet".to_owned(), heading: heading(report), main }
}

/// What was reviewed, where and when.
fn heading(report: &FleetReport) -> Markup {
    let drives = &report.fleet.drives;
    let mut hosts: Vec<&str> = drives.iter().filter_map(|drive| drive.identity.host.as_deref()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let first = drives.iter().map(|drive| drive.run.started_ms).min().unwrap_or_default();
    html! {
        p.kicker { "Fleet report" }
        h1 { (prose::headline(report)) }
        p.facts {
            @for peers in &report.fleet.peers { span { (peers.drives.len()) " × " (peers.title) } }
            @match hosts[..] { [] => {}, [host] => span { (host) }, _ => span { (count(hosts.len(), "host")) } }
            span { "from " (date(first)) }
        }
    }
}

/// The summary, the figures over all drives, and the drives.
pub(super) fn section(report: &FleetReport) -> Markup {
    let fleet = &report.fleet;
    let sentences = prose::summary(report);
    html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            @if let Some((first, rest)) = sentences.split_first() {
                p.verdict { (bound(first)) }
                @if !rest.is_empty() { ul.verdict { @for sentence in rest { li { (bound(sentence)) } } } }
            }
            @if let Some((before, found)) = &report.effects {
                ul.verdict { @for sentence in effects::told(found, before) { li { (bound(&sentence)) } } }
            }
            p.trust { "The sheets below and the CSV have every figure. " (bound(&prose::method(fleet))) }
        }
        section #drives { h2 { "Drives" } (drives(fleet)) }
        @for (at, peers) in fleet.peers.iter().enumerate().filter(|(_, peers)| !peers.figures.is_empty()) {
            section id={ "figures-" (at) } {
                h2 { "Key figures" @if fleet.peers.len() > 1 { ": " (peers.title) } }
                p.asked { "A mark a drive; each figure has its own scale." }
                div.rugs { @for figure in &peers.figures { (rug::card(fleet, figure)) } }
                (matrix::matrix(fleet, peers))
            }
        }
        @if let Some((before, found)) = &report.effects { (effects::section(found, before, &report.title)) }
    }
}

/// The drives, each with how it stands.
fn drives(fleet: &Fleet) -> Markup {
    let has_gates = fleet.drives.iter().any(|drive| drive.gate.is_some());
    let has_slots = fleet.drives.iter().any(|drive| drive.identity.slot.is_some());
    let table = html! {
        table.fleet {
            caption.hidden { "Drives" }
            thead { tr {
                th scope="col" { "Serial number" } th scope="col" { "Verdict" } th scope="col" { "Differs in" }
                @if has_gates { th scope="col" { "Limits" } }
                @if has_slots { th scope="col" { "Slot" } } th scope="col" { "Firmware" } th scope="col" { "Target" } th scope="col" { "Run" } th scope="col" { "Findings" }
            } }
            tbody { @for (at, drive) in fleet.drives.iter().enumerate() {
                @let standing = Standing::of(fleet, at);
                tr {
                    th scope="row" { a href={ "#" (sheet::anchor(fleet, at)) } { (drive.identity.label()) } }
                    td { span class={ "badge " (standing.class()) } { (standing.name()) } }
                    td.long { @if standing == Standing::Incomplete { (drive.run.error.as_deref().unwrap_or("cut off")) } @else { (bound(&prose::differences(fleet, at, 2))) } }
                    @if has_gates { td { (drive.gate.as_ref().map_or("–", |gate| gate.outcome().name())) } }
                    @if has_slots { td { (drive.identity.slot.as_deref().unwrap_or("–")) } }
                    td { (drive.identity.firmware.as_deref().unwrap_or("–")) }
                    td.long { code { (drive.identity.target) } }
                    td { (drive.run.id) }
                    td { (sheet::findings_told(drive)) }
                }
            } }
        }
    };
    framed("Drives", &table)
}
