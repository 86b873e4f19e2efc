//! The pages of `assay serve`: the same reports, and what leads to them.
//!
//! They work without scripts, save for charts and for a view that follows a run while it is under way. Their style and
//! scripts are files beside them, so that a browser keeps those and may be told to run no others.

mod asset;
mod catalog;
mod curve;
mod drive;
mod fleet;
mod frame;
mod list;
mod live;
mod trouble;

pub use asset::{Asset, asset};
pub use catalog::{CatalogEntry, drives, plans};
pub use drive::{DriveHistory, drive, drive_json};
pub use fleet::{FleetPage, drive_address, fleet};
pub use list::{List, list};
pub use live::{LiveSnapshot, live, live_curve, live_state, live_step};
use maud::{Markup, html};
use measurement::RunState;
use plan::Outcome;
use plan::compare::{Comparison, Ranking};
pub use trouble::{trouble, who_are_you};

use crate::Report;
use crate::page::Page;
use frame::{Charts, SiteSection, framed};

/// The report of a run as a page of the site.
pub fn report(outcome: &Outcome) -> String {
    let page = crate::page::page(&Report::of(outcome));
    let heading = html! { (page.heading) (tools(outcome)) };
    framed(&Page { heading, ..page }, SiteSection::Runs, Charts::Drawn)
}

/// What can be done with a report: followed, taken away, held against another.
fn tools(outcome: &Outcome) -> Markup {
    let id = outcome.run.id;
    html! {
        @if outcome.run.state == RunState::Running { p.notice { "This run is in progress. " a href={ "/live/" (id) } { "Live view" } "." } }
        div.tools {
            p { "Run " (id) " as "
                a href={ "/run/" (id) "/text" } { "text" } ", " a href={ "/run/" (id) "/csv" } { "CSV" } ", "
                a href={ "/run/" (id) "/json" } { "JSON" }
            }
            form action="/compare" method="get" {
                input type="hidden" name="runs" value=(id);
                label for="other" { "Compare with run" }
                input #other name="runs" inputmode="numeric" pattern="[0-9]+" size="6" required;
                button { "Compare" }
            }
        }
    }
}

/// A ranking as a page of the site.
pub fn ranking(ranking: &Ranking, version: &str) -> String {
    framed(&crate::ranking::page(ranking, version), SiteSection::Runs, Charts::None)
}

/// A comparison as a page of the site.
pub fn comparison(comparison: &Comparison, version: &str) -> String {
    let page = crate::comparison::page(comparison, version);
    let heading = html! {
        (page.heading)
        div.tools { p { "Reports of "
            @for (place, outcome) in comparison.outcomes.iter().enumerate() {
                @if place > 0 { ", " }
                a href={ "/run/" (outcome.run.id) } { "run " (outcome.run.id) }
            }
        } }
    };
    framed(&Page { heading, ..page }, SiteSection::Runs, Charts::Drawn)
}
