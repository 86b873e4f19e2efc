//! The drives of one model by their key figures: every value, as far from the median as its colour is deep.

use maud::{Markup, html};
use plan::fleet::{Fleet, FleetPeers, FleetPlace};

use super::{prose, sheet};
use crate::comparison::change;
use crate::number::{Scaled, kept, percent};
use crate::table::{exact, framed};

/// A figure that lies so far from the median has the deepest colour.
const DEEPEST: f64 = 0.3;

/// Every figure of every drive.
pub(super) fn matrix(fleet: &Fleet, peers: &FleetPeers) -> Markup {
    let scales: Vec<Scaled> = peers.figures.iter().map(|figure| Scaled::of(&figure.unit, figure.median)).collect();
    let has_slots = peers.drives.iter().any(|at| fleet.drives[*at].identity.slot.is_some());
    let table = html! {
        table.matrix {
            caption { "Means over the repeats, and how far each is from the median. ▲ differs from its peers." }
            thead { tr {
                th scope="col" { "Serial number" } @if has_slots { th scope="col" { "Slot" } } th scope="col" { "Firmware" }
                @for (figure, scaled) in peers.figures.iter().zip(&scales) {
                    th.number scope="col" { (figure.title) ", " span.unit { (scaled.unit) } }
                }
            } }
            tbody {
                tr.counted {
                    th scope="row" { "Median" } td {} @if has_slots { td {} }
                    @for (figure, scaled) in peers.figures.iter().zip(&scales) {
                        td.number data-v=(kept(figure.median)) { (scaled.three(figure.median)) span.spread { "±" (percent(figure.deviation)) } }
                    }
                }
                @for &at in &peers.drives {
                    @let identity = &fleet.drives[at].identity;
                    tr {
                        th scope="row" { a href={ "#" (sheet::anchor(fleet, at)) } { (identity.label()) } }
                        @if has_slots { td { (identity.slot.as_deref().unwrap_or("–")) } }
                        td { (identity.firmware.as_deref().unwrap_or("–")) }
                        @for (figure, scaled) in peers.figures.iter().zip(&scales) {
                            (cell(figure.places.iter().find(|place| place.drive == at), *scaled, &figure.unit))
                        }
                    }
                }
            }
        }
    };
    framed(&peers.title, &table)
}

fn cell(place: Option<&FleetPlace>, scaled: Scaled, unit: &str) -> Markup {
    let Some(place) = place else { return html! { td.number { span.dash { "–" } } } };
    let mean = place.side.interval.mean;
    // Which way it is off is told by the hue, better or worse by the word beside.
    let side = if place.is_apart { if place.ratio > 1.0 { " off high" } else { " off low" } } else { "" };
    let heat = place.is_apart.then(|| format!("--heat:{:.0}%", 20.0 + 40.0 * (place.distance() / DEEPEST).min(1.0)));
    html! {
        td class={ "number" (side) } style=[heat] title=(exact(&place.side.interval, unit)) data-v=(kept(mean)) {
            (scaled.three(mean))
            span.spread { (change(place.ratio)) }
            @if place.is_apart { span.flag role="img" aria-label={ "differs: " (prose::way(place)) } { "▲" } }
        }
    }
}
