//! The list of runs: searched, filtered, a page at a time, with a way to compare.

use block::Nanos;
use maud::{Markup, html};
use measurement::{Counted, Filter, Listed, RunId, RunState};

use super::frame::{SiteSection, plain};
use crate::conditions::date;
use crate::number::whole;

/// One page of the list, with what was asked for and what could be.
#[derive(Clone, Debug)]
pub struct List {
    /// The runs of this page, the latest first.
    pub entries: Vec<Listed>,
    /// The runs that are selected to be compared, on whichever page they are.
    pub selected: Vec<RunId>,
    /// Which runs were asked for.
    pub filter: Filter,
    /// Which page it is, from 1.
    pub page: u64,
    /// The most runs on a page.
    pub page_length: u64,
    /// How many runs were asked for, on all pages.
    pub found: u64,
    /// How many runs there are.
    pub all: u64,
    /// What was run on.
    pub targets: Vec<Counted>,
    /// The plans that were followed.
    pub plans: Vec<Counted>,
    /// The file of the store, for people.
    pub store: String,
}

/// A page of the list of runs.
pub fn list(list: &List, version: &str) -> String {
    let heading = html! {
        h1 { "Runs" }
        p.facts { span { (runs(list.all)) " in " code { (list.store) } } }
    };
    let main = html! {
        @if list.all == 0 {
            section.trouble { p { "The store has no runs; " code { "assay review" } " creates the first." } }
        } @else {
            // One form, so that what is selected goes along to other pages and other searches without a script.
            form.runs action="/" method="get" {
                (search(list))
                (selected_elsewhere(list))
                @if list.entries.is_empty() {
                    section.trouble { p { "No run matches. " a href=(list.unfiltered()) { "All runs" } } }
                } @else { (table(list)) (pages(list)) }
            }
        }
    };
    plain("Runs", version, SiteSection::Runs, heading, main)
}

/// `1 run`, `1,234 runs`.
pub(super) fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{} runs", whole(count)) }
}

impl List {
    fn is_filtered(&self) -> bool {
        self.filter != Filter::default()
    }

    /// What narrows the list and has no field in the search.
    fn hidden(&self) -> [(&'static str, Option<&str>); 5] {
        let filter = &self.filter;
        [
            ("model", filter.model.as_deref()),
            ("group", filter.group.as_deref()),
            ("tag", filter.tag.as_deref()),
            ("host", filter.host.as_deref()),
            ("serial", filter.serial.as_deref()),
        ]
    }

    /// The selected runs that are not on this page.
    fn elsewhere(&self) -> impl Iterator<Item = RunId> {
        self.selected.iter().copied().filter(|run| !self.entries.iter().any(|entry| entry.id == *run))
    }

    /// All runs, with what is selected.
    fn unfiltered(&self) -> String {
        let runs: Vec<String> = self.selected.iter().map(ToString::to_string).collect();
        if runs.is_empty() { "/".to_owned() } else { format!("/?runs={}", runs.join(",")) }
    }
}

/// The selected runs of other pages, which stay selected until they are deselected.
fn selected_elsewhere(list: &List) -> Markup {
    let others: Vec<RunId> = list.elsewhere().collect();
    html! {
        @if !others.is_empty() {
            fieldset.elsewhere {
                legend { "Selected on other pages" }
                @for run in others {
                    label { input type="checkbox" name="runs" value=(run) checked; " run " (run) }
                }
            }
        }
    }
}

fn search(list: &List) -> Markup {
    let states = RunState::ALL.map(|state| (state.name().to_owned(), None));
    let counted = |all: &[Counted]| all.iter().map(|one| (one.name.clone(), Some(one.runs))).collect::<Vec<_>>();
    html! {
        div.search role="search" {
            div.words {
                label for="q" { "Search" }
                input #q name="q" type="search" value=(list.filter.words.join(" ")) placeholder="drive, plan or path";
            }
            (choice("target", "Drive or target", list.filter.target.as_deref(), &counted(&list.targets)))
            (choice("plan", "Plan", list.filter.plan.as_deref(), &counted(&list.plans)))
            (choice("state", "State", list.filter.state.map(RunState::name), &states))
            div.go {
                button { "Show" }
                @if list.is_filtered() { a href=(list.unfiltered()) { "All runs" } }
            }
            @for (name, value) in list.hidden() {
                @if let Some(value) = value { label.also { input type="checkbox" name=(name) value=(value) checked; " " (name) " " b { (value) } } }
            }
        }
    }
}

/// One of these, or any. What was asked for is among them even where no run has it.
fn choice(name: &str, label: &str, chosen: Option<&str>, all: &[(String, Option<u64>)]) -> Markup {
    let unlisted = chosen.filter(|chosen| !all.iter().any(|(one, _)| one == chosen));
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { "any" }
                @if let Some(chosen) = unlisted { option value=(chosen) selected { (chosen) } }
                @for (one, runs) in all {
                    option value=(one) selected[chosen == Some(one)] { (one) @if let Some(runs) = runs { " (" (whole(*runs)) ")" } }
                }
            }
        }
    }
}

fn table(list: &List) -> Markup {
    html! {
        div.bar {
            p { (span(list)) }
            button formaction="/compare" { "Compare selected" }
        }
        table.list {
            caption.hidden { "Runs, the latest first" }
            thead { tr {
                th scope="col" { span.hidden { "Select to compare" } }
                th.number scope="col" { "Run" } th scope="col" { "Target" } th scope="col" { "Plan" }
                th scope="col" { "Started" } th.number scope="col" { "Took" } th scope="col" { "State" }
            } }
            tbody { @for run in &list.entries { (row(run, list.selected.contains(&run.id))) } }
        }
    }
}

/// `Runs 51 to 100 of 10 000`.
fn span(list: &List) -> Markup {
    let first = (list.page - 1) * list.page_length + 1;
    let last = first - 1 + list.entries.len() as u64;
    html! {
        @if first == 1 && last == list.found { (runs(list.found)) @if list.is_filtered() { " found" } }
        @else { (whole(first)) "–" (whole(last)) " of " (runs(list.found)) @if list.is_filtered() { " found" } }
    }
}

fn row(run: &Listed, is_selected: bool) -> Markup {
    let address = if run.state == RunState::Running { format!("/live/{}", run.id) } else { format!("/run/{}", run.id) };
    let tick = format!("run-{}", run.id);
    html! {
        tr {
            td.tick { input id=(tick) type="checkbox" name="runs" value=(run.id) checked[is_selected] aria-label={ "Run " (run.id) }; }
            td.number.id { label for=(tick) { (run.id) } }
            th.target scope="row" { a href=(address) { (run.target_identity) } code { (run.target) } }
            td.plan { (run.plan) @if run.quick { " " span.quiet { "quick" } } }
            td.started { (date(run.started_ms)) }
            td.number.took { (took(run)) }
            td.state { span class={ "badge " (run.state.name()) } { (run.state.name()) } }
        }
    }
}

/// How long a run took by the clock on the wall; nothing while it runs.
fn took(run: &Listed) -> String {
    let length = run.finished_ms.and_then(|end| u64::try_from(end - run.started_ms).ok());
    length.map(|ms| Nanos::from_millis(ms).to_string()).unwrap_or_default()
}

fn pages(list: &List) -> Markup {
    let last = list.found.div_ceil(list.page_length).max(1);
    html! {
        @if last > 1 {
            nav.pages aria-label="Pages" {
                @if list.page > 1 {
                    @if list.page > 2 { (to(1, "Latest")) }
                    (to(list.page - 1, "Newer"))
                }
                span { "Page " (whole(list.page)) " of " (whole(last)) }
                @if list.page < last {
                    (to(list.page + 1, "Older"))
                    @if list.page + 1 < last { (to(last, "Oldest")) }
                }
            }
        }
    }
}

/// The way to another page. It sends the form, and so what is selected.
fn to(page: u64, word: &str) -> Markup {
    html! { button.plain name="page" value=(page) { (word) } }
}
