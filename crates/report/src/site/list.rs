//! The list of runs: searched, filtered, a page at a time, with a way to compare.

use block::Nanos;
use maud::{Markup, html};
use measurement::{Counted, Filter, Listed, RunState};

use super::frame::{SiteSection, plain};
use crate::conditions::date;
use crate::number::whole;

/// A run of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// What the store has of it.
    pub run: Listed,
    /// Whether a process carries it out now.
    pub is_under_way: bool,
}

/// One page of the list, with what was asked for and what could be.
#[derive(Clone, Debug)]
pub struct List {
    /// The runs of this page, the latest first.
    pub entries: Vec<RunEntry>,
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
            (search(list))
            @if list.entries.is_empty() {
                section.trouble { p { "No run matches. " a href="/" { "All runs" } } }
            } @else { (table(list)) (pages(list)) }
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

    /// The same list at another page.
    fn address(&self, page: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.filter.words.is_empty() {
            query.append_pair("q", &self.filter.words.join(" "));
        }
        let state = self.filter.state.map(word);
        let filter = &self.filter;
        for (key, value) in [
            ("target", filter.target.as_deref()),
            ("plan", filter.plan.as_deref()),
            ("state", state),
            ("group", filter.group.as_deref()),
            ("tag", filter.tag.as_deref()),
            ("host", filter.host.as_deref()),
            ("serial", filter.serial.as_deref()),
        ] {
            value.map(|value| query.append_pair(key, value));
        }
        if page > 1 {
            query.append_pair("page", &page.to_string());
        }
        match query.finish() {
            query if query.is_empty() => "/".to_owned(),
            query => format!("/?{query}"),
        }
    }
}

/// How a state is asked for.
const fn word(state: RunState) -> &'static str {
    match state {
        RunState::Running => "unfinished",
        RunState::Complete => "complete",
        RunState::Failed => "failed",
    }
}

fn search(list: &List) -> Markup {
    let states = [RunState::Complete, RunState::Running, RunState::Failed].map(|state| (word(state).to_owned(), None));
    let counted = |all: &[Counted]| all.iter().map(|one| (one.name.clone(), Some(one.runs))).collect::<Vec<_>>();
    html! {
        form.search role="search" action="/" method="get" {
            div.words {
                label for="q" { "Search" }
                input #q name="q" type="search" value=(list.filter.words.join(" ")) placeholder="drive, plan or path";
            }
            (choice("target", "Drive or target", list.filter.target.as_deref(), &counted(&list.targets)))
            (choice("plan", "Plan", list.filter.plan.as_deref(), &counted(&list.plans)))
            (choice("state", "State", list.filter.state.map(word), &states))
            div.go {
                button { "Show" }
                @if list.is_filtered() { a href="/" { "All runs" } }
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
        form.runs action="/compare" method="get" {
            div.bar {
                p { (span(list)) }
                button { "Compare selected" }
            }
            table.list {
                caption.hidden { "Runs, the latest first" }
                thead { tr {
                    th scope="col" { span.hidden { "Select to compare" } }
                    th.number scope="col" { "Run" } th scope="col" { "Target" } th scope="col" { "Plan" }
                    th scope="col" { "Started" } th.number scope="col" { "Took" } th scope="col" { "State" }
                } }
                tbody { @for entry in &list.entries { (row(entry)) } }
            }
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

fn row(entry: &RunEntry) -> Markup {
    let run = &entry.run;
    let address = if entry.is_under_way { format!("/live/{}", run.id) } else { format!("/run/{}", run.id) };
    let tick = format!("run-{}", run.id);
    html! {
        tr {
            td.tick { input id=(tick) type="checkbox" name="runs" value=(run.id) aria-label={ "Run " (run.id) }; }
            td.number.id { label for=(tick) { (run.id) } }
            th.target scope="row" { a href=(address) { (run.target_identity) } code { (run.target) } }
            td.plan { (run.plan) @if run.quick { " " span.quiet { "quick" } } }
            td.started { (date(run.started_ms)) }
            td.number.took { (took(run)) }
            td.state { (state(entry)) }
        }
    }
}

/// How long a run took by the clock on the wall; nothing while it runs.
fn took(run: &Listed) -> String {
    let length = run.finished_ms.and_then(|end| u64::try_from(end - run.started_ms).ok());
    length.map(|ms| Nanos::from_millis(ms).to_string()).unwrap_or_default()
}

/// The badge of how far a run has come.
fn state(entry: &RunEntry) -> Markup {
    let (class, word) = match entry.run.state {
        RunState::Running if entry.is_under_way => ("now", "under way"),
        RunState::Running => ("partial", word(RunState::Running)),
        state => (word(state), word(state)),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

fn pages(list: &List) -> Markup {
    let last = list.found.div_ceil(list.page_length).max(1);
    html! {
        @if last > 1 {
            nav.pages aria-label="Pages" {
                @if list.page > 1 {
                    @if list.page > 2 { a href=(list.address(1)) { "Latest" } }
                    a rel="prev" href=(list.address(list.page - 1)) { "Newer" }
                }
                span { "Page " (whole(list.page)) " of " (whole(last)) }
                @if list.page < last {
                    a rel="next" href=(list.address(list.page + 1)) { "Older" }
                    @if list.page + 1 < last { a href=(list.address(last)) { "Oldest" } }
                }
            }
        }
    }
}
