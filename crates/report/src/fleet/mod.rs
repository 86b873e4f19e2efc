//! Many drives held against each other: each key figure over all of them, which lies apart, and a sheet a drive.

mod checks;
mod documents;
mod effects;
mod matrix;
mod page;
mod prose;
mod rug;
mod sheet;
mod text;

pub use checks::{FleetChecks, RatedCheck, drive};
pub use documents::{csv, json, markdown};
use maud::Markup;
use plan::fleet::{Fleet, FleetEffects};
pub use text::text;

pub(crate) use page::page;

/// What a report of a fleet is made from.
#[derive(Clone, Debug)]
pub struct FleetReport {
    /// What the runs have in common: `group rack-7`, `tag nightly`.
    pub title: String,
    pub fleet: Fleet,
    /// The same drives in another group of runs, by its title; none where there is none to hold them against.
    pub effects: Option<(String, FleetEffects)>,
}

/// A fleet as one self-contained HTML file.
pub fn html(report: &FleetReport, version: &str) -> String {
    page(report, version).contained()
}

/// What a page has of a fleet between its head and its foot, as HTML: the summary, the key figures over all drives, and the
/// drives. Without the sheets.
pub fn section(report: &FleetReport) -> Markup {
    page::section(report)
}

#[cfg(test)]
mod tests;
