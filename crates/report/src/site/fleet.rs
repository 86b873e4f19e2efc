//! Many drives side by side: those of a model, a tag or a group, each by its latest run.

use maud::{Markup, html};
use measurement::{Filter, KnownDrive};

use super::frame::{Charts, SiteSection, framed};
use super::list::runs as counted;
use crate::conditions::date;
use crate::fleet::FleetReport;
use crate::number::{count, whole};
use crate::page::Page;

/// The drives of a store.
#[derive(Clone, Debug)]
pub struct FleetPage {
    /// Which drives were asked for.
    pub filter: Filter,
    /// The drives, that of the latest run first.
    pub drives: Vec<KnownDrive>,
    /// How many there are, of which the latest are shown.
    pub found: u64,
    /// The models of all drives, each with how many there are.
    pub models: Vec<(String, u64)>,
    /// The drives held against each other, each by its latest run of one plan; else why they are not.
    pub report: Result<FleetReport, String>,
}

/// The address of a drive's page.
pub fn drive_address(drive: &KnownDrive) -> String {
    let (key, value) = match &drive.serial {
        Some(serial) => ("serial", serial),
        None => ("target", &drive.target),
    };
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair(key, value).finish();
    format!("/drive?{query}")
}

/// The page of the drives: those held against each other, and what else there is of each.
pub fn fleet(fleet: &FleetPage, version: &str) -> String {
    let report = fleet.report.as_ref().ok().map(|report| crate::fleet::page(report, version));
    let found = html! { p.facts { span { (count(fleet.drives.len(), "drive")) @if fleet.found > fleet.drives.len() as u64 { " of " (whole(fleet.found)) } } } };
    let (title, heading, figures) = match report {
        Some(Page { title, heading, main, .. }) => (title, heading, main),
        None => ("Fleet".to_owned(), html! { h1 { "Fleet" } (found) }, html! {}),
    };
    let main = html! {
        (choices(fleet))
        @if fleet.drives.is_empty() {
            section.trouble { p { "No drive matches. " a href="/fleet" { "All drives" } } }
        } @else {
            @if let Err(why) = &fleet.report { section.trouble { p { (why) } } }
            (figures)
            section #known { h2 { "All runs of each drive" } (table(fleet)) }
        }
    };
    let page = Page {
        title: format!("{title} – assay"),
        version: version.to_owned(),
        name: "fleet".to_owned(),
        heading,
        main,
    };
    framed(&page, SiteSection::Fleet, Charts::None)
}

fn choices(fleet: &FleetPage) -> Markup {
    let text = |name: &str, label: &str, value: Option<&str>| {
        html! { div { label for=(name) { (label) } input id=(name) name=(name) value=(value.unwrap_or_default()); } }
    };
    let Filter { model, tag, group, plan, .. } = &fleet.filter;
    let is_unlisted = model.as_ref().is_some_and(|model| !fleet.models.iter().any(|(known, _)| known == model));
    html! {
        form.search role="search" action="/fleet" method="get" {
            div.words {
                label for="model" { "Model" }
                select #model name="model" {
                    option value="" { "any" }
                    @if let Some(model) = model.as_ref().filter(|_| is_unlisted) { option value=(model) selected { (model) } }
                    @for (known, drives) in &fleet.models {
                        option value=(known) selected[model.as_ref() == Some(known)] { (known) " (" (whole(*drives)) ")" }
                    }
                }
            }
            (text("tag", "Tag", tag.as_deref()))
            (text("group", "Group", group.as_deref()))
            (text("plan", "Plan", plan.as_deref()))
            div.go { button { "Show" } @if fleet.filter != Filter::default() { a href="/fleet" { "All drives" } } }
        }
    }
}

fn table(fleet: &FleetPage) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label="Drives" { table.drives {
            caption.hidden { "Drives, that of the latest run first" }
            thead { tr { @for head in ["Drive", "Serial number or target", "Latest run"] { th scope="col" { (head) } } th.number scope="col" { "Runs" } } }
            tbody { @for drive in &fleet.drives { tr {
                th scope="row" { a href=(drive_address(drive)) { (drive.model) } }
                td.long { code { (drive.serial.as_deref().unwrap_or(&drive.target)) } }
                td { (date(drive.started_ms)) " " a href={ "/run/" (drive.latest) } { "run " (drive.latest) } }
                td.number { (counted(drive.runs)) }
            } } }
        } }
    }
}
