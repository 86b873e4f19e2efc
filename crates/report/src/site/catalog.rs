//! What there is to choose from: plans and simulated drives.

use maud::{Markup, html};

use super::frame::{SiteSection, plain};
use super::list::runs;

/// A plan or a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The word by which it is asked for.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// What is known of it besides, each with what it is.
    pub facts: Vec<(String, String)>,
    pub runs: u64,
}

/// The plans that are built in.
pub fn plans(entries: &[CatalogEntry], version: &str) -> String {
    let how = html! { code { "assay review --plan NAME" } " runs one; " code { "assay plans show NAME" } " lists its steps." };
    page("Plans", ["plan", "Steps"], entries, &how, SiteSection::Plans, version)
}

/// The drives that are simulated.
pub fn drives(entries: &[CatalogEntry], version: &str) -> String {
    let how = html! { code { "assay review NAME" } " reviews one; " code { "assay drives show NAME" } " shows every number with its source." };
    page("Simulated drives", ["target", "Parameters"], entries, &how, SiteSection::Drives, version)
}

/// `key` is by what runs are filtered, `within` what the facts are called.
fn page(
    title: &str,
    [key, within]: [&str; 2],
    entries: &[CatalogEntry],
    how: &Markup,
    place: SiteSection,
    version: &str,
) -> String {
    let heading = html! { h1 { (title) } p.facts { span { (how) } } };
    let main = html! {
        ul.catalog {
            @for entry in entries { li {
                h2 { code { (entry.name) } }
                p { (entry.title) }
                @if !entry.facts.is_empty() {
                    details { summary { (within) } dl {
                        @for (label, fact) in &entry.facts { dt { (label) } dd { (fact) } }
                    } }
                }
                @if entry.runs > 0 {
                    @let address = address(key, &entry.name);
                    p.of-it { a href=(address) { (runs(entry.runs)) } }
                }
            } }
        }
    };
    plain(title, version, place, heading, main)
}

/// The list of the runs that have this in common.
fn address(key: &str, value: &str) -> String {
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair(key, value).finish();
    format!("/?{query}")
}
