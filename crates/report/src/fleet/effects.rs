//! What the host limits: drives held against themselves in another group of runs.

use maud::{Markup, html};
use plan::fleet::{FleetEffect, FleetEffects};

use crate::comparison::change;
use crate::number::{bound, count, kept, percent, three};
use crate::table::framed;

/// What is found, in a sentence or two.
pub(super) fn told(effects: &FleetEffects, before: &str) -> Vec<String> {
    if effects.drives == 0 {
        return vec![format!("No drive is also in {before}.")];
    }
    let sure: Vec<&FleetEffect> = effects.figures.iter().filter(|one| one.is_sure()).collect();
    let worst = |one: &&&FleetEffect| one.ratio.map_or(0.0, |ratio| ratio.log.abs());
    let mut told = vec![match sure.len() {
        0 => format!("Against {before}, no key figure of {} changed significantly.", count(effects.drives, "drive")),
        some => format!(
            "Against {before}, {} of {} changed significantly.",
            some,
            count(effects.figures.len(), "key figure")
        ),
    }];
    let worse = sure.iter().filter(|one| one.is_worse()).max_by(|one, two| worst(one).total_cmp(&worst(two)));
    if let Some(one) = worse {
        let sums = one.sums().map_or_else(String::new, |(before, now)| {
            format!(": all drives together {} {unit}, before {} {unit}", three(now), three(before), unit = one.unit)
        });
        told.push(format!("The most: {} {}{sums}.", one.title, ratio_told(one)));
    }
    told
}

/// `−40.1 % (−41.0 to −39.2 %)`: the change with its interval.
pub(super) fn ratio_told(effect: &FleetEffect) -> String {
    let Some(ratio) = effect.ratio else { return "–".to_owned() };
    let (low, high) = ratio.bounds();
    match ratio.is_exact() {
        true => change(ratio.ratio()),
        false => format!("{} ({} to {})", change(ratio.ratio()), change(low), change(high)),
    }
}

/// The figures of all drives, before and now.
pub(super) fn section(effects: &FleetEffects, before: &str, now: &str) -> Markup {
    let table = html! {
        table {
            caption { "Geometric means over the drives; the drive is the unit of the test. ▲ is significant (paired t-test of the \
                logarithms at 5 %, Holm's correction over the figures)." }
            thead { tr {
                th scope="col" { "Key figure" } th scope="col" { "Unit" } th.number scope="col" { "Drives" }
                th.number scope="col" { "Sum, " (before) } th.number scope="col" { "Sum, " (now) }
                th.number scope="col" { "Change a drive" } th scope="col" { "p" }
            } }
            tbody { @for effect in &effects.figures { tr {
                th.long scope="row" { (effect.title) }
                td.unit { (effect.unit) }
                td.number { (effect.pairs.len()) }
                @match effect.sums() {
                    Some((before, now)) => { td.number data-v=(kept(before)) { (three(before)) } td.number data-v=(kept(now)) { (three(now)) } },
                    None => { td.number { span.dash { "–" } } td.number { span.dash { "–" } } },
                }
                td.number {
                    span.worse[effect.is_sure() && effect.is_worse()].better[effect.is_sure() && !effect.is_worse()] { (bound(&ratio_told(effect))) }
                    @if effect.is_sure() { span.flag role="img" aria-label="significant" { "▲" } }
                }
                td { (effect.p.map_or_else(|| "–".to_owned(), percent_of_p)) }
            } } }
        }
    };
    html! {
        section #host {
            h2 { "Against " (before) }
            @if effects.figures.is_empty() { p { "No key figure is in both." } } @else { (framed("Against another group", &table)) }
            @if !effects.unshared.is_empty() {
                p.trust { "In one of the two only: " (effects.unshared.join(", ")) "." }
            }
        }
    }
}

fn percent_of_p(p: f64) -> String {
    if p < 0.0005 { "<0.1 %".to_owned() } else { percent(p) }
}
