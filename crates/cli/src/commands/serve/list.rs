//! The list of runs.

use report::site::List;
use store::{Filter, RunId, Store};

use super::compare;
use super::refusal::Refusal;
use super::site::Site;
use crate::http::{HttpRequest, HttpResponse, JSON};
use crate::run_filter;

/// The runs of a page.
const PAGE: u64 = 50;
/// The most targets and plans to choose from; others are found by their words.
const CHOICES: u64 = 200;
/// The most runs of a page for programs.
const PAGE_MAX: u64 = 200;
/// More runs than any store has.
const SKIPPED_MAX: u64 = 1 << 62;

/// The page of the list that was asked for; the last one where there are fewer.
pub fn page(site: &Site, store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let filter = filter(request)?;
    let number = counted(request, "page", 1)?;
    let all = store.count(&Filter::default())?;
    let found = if filter == Filter::default() { all } else { store.count(&filter)? };
    let number = u64::clamp(number, 1, found.div_ceil(PAGE).max(1));
    let runs = store.listed(&filter, (number - 1) * PAGE, PAGE)?;
    let list = List {
        entries: runs,
        selected: selected(request)?,
        filter,
        page: number,
        page_length: PAGE,
        found,
        all,
        targets: store.targets(CHOICES)?,
        plans: store.plans(CHOICES)?,
        store: site.store.display().to_string(),
    };
    Ok(HttpResponse::html(200, report::site::list(&list, env!("CARGO_PKG_VERSION"))))
}

/// The same list for programs: a page of the runs that were asked for, the latest first. Beyond the last page it is empty.
pub fn document(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let filter = filter(request)?;
    let (page, length) = (counted(request, "page", 1)?, counted(request, "per_page", PAGE)?.min(PAGE_MAX));
    let runs = store.wanted(&filter, (page - 1).saturating_mul(length).min(SKIPPED_MAX), length)?;
    Ok(HttpResponse::text(JSON, report::export::runs_json(&runs, store.count(&filter)?)))
}

/// A number that was asked for, from 1; `otherwise` where none was.
fn counted(request: &HttpRequest, name: &str, otherwise: u64) -> Result<u64, Refusal> {
    let read = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let given = request.parameter(name).map(read);
    given.unwrap_or(Some(otherwise)).ok_or_else(|| match name {
        "page" => Refusal::Asked("Invalid page number; the first is 1.".to_owned()),
        _ => Refusal::Asked(format!("Invalid {name}; it is a whole number from 1.")),
    })
}

/// The runs that are selected, in the order of their numbers.
fn selected(request: &HttpRequest) -> Result<Vec<RunId>, Refusal> {
    let mut runs = compare::named(request)?;
    runs.sort();
    runs.dedup();
    compare::few_enough(&runs)?;
    Ok(runs)
}

/// Which runs were asked for.
pub fn filter(request: &HttpRequest) -> Result<Filter, Refusal> {
    let mut filter = Filter::default();
    run_filter::search(&mut filter, request.parameter("q").unwrap_or_default());
    for key in run_filter::KEYS {
        if let Some(value) = request.parameter(key) {
            run_filter::narrow(&mut filter, key, value).map_err(Refusal::Asked)?;
        }
    }
    Ok(filter)
}
