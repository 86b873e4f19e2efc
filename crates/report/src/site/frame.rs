//! What all pages of the site have around them.

use maud::{DOCTYPE, Markup, html};

use super::asset::address;
use crate::page::Page;

/// Which part of the site a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteSection {
    Runs,
    Fleet,
    Plans,
    Drives,
    /// None of them, and those are not shown: to somebody who has not said who they are.
    Outside,
}

/// Whether a page has charts, and whether they grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charts {
    None,
    Drawn,
    Growing,
}

/// A page of the site.
pub(super) fn framed(page: &Page, place: SiteSection, charts: Charts) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (page.about())
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(address("style.css"));
                @if charts == Charts::Growing { noscript { meta http-equiv="refresh" content="5"; } }
            }
            body.site data-name=(page.name) {
                a.skip href="#content" { "Skip to the content" }
                (top(place))
                header { (page.heading) }
                main #content tabindex="-1" { (page.main) }
                footer { p { "Served by assay" @if charts != Charts::None { ". Charts by Plotly.js (MIT licence)" } "." } }
                @if charts != Charts::None {
                    script src=(address("plotly.js")) {}
                    script src=(address("chart.js")) {}
                    script src=(address("data.js")) {}
                }
                @if charts == Charts::Growing { script src=(address("live.js")) {} }
            }
        }
    };
    document.into_string()
}

/// A page of the site without charts, under a title for the browser's window.
pub(super) fn plain(title: &str, version: &str, place: SiteSection, heading: Markup, main: Markup) -> String {
    let (title, version) = (format!("{title} – assay"), version.to_owned());
    framed(&Page { title, version, name: "assay".to_owned(), heading, main }, place, Charts::None)
}

/// The way to the other parts.
fn top(place: SiteSection) -> Markup {
    html! {
        div.top {
            a.brand href="/" { "assay" }
            @if place != SiteSection::Outside {
                nav.parts aria-label="Parts" {
                    @for (part, address, name) in
                        [(SiteSection::Runs, "/", "Runs"), (SiteSection::Fleet, "/fleet", "Fleet"), (SiteSection::Plans, "/plans", "Plans"), (SiteSection::Drives, "/drives", "Simulated drives")]
                    { a href=(address) aria-current=[(part == place).then_some("true")] { (name) } }
                }
            }
        }
    }
}
