//! The list of runs.

use report::site::{List, RunEntry};
use store::{Filter, RunState, Store};

use super::refusal::Refusal;
use super::site::Site;
use crate::http::{HttpRequest, HttpResponse};

/// The runs of a page.
const PAGE: u64 = 50;
/// The most targets and plans to choose from; others are found by their words.
const CHOICES: u64 = 200;
/// The most words that are searched for.
const WORDS: usize = 16;

/// The page of the list that was asked for; the last one where there are fewer.
pub fn page(site: &Site, store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let filter = filter(request)?;
    let number = match request.parameter("page") {
        None => 1,
        Some(text) => text.parse().map_err(|_| Refusal::Asked("Invalid page number; the first is 1.".to_owned()))?,
    };
    let all = store.count(&Filter::default())?;
    let found = if filter == Filter::default() { all } else { store.count(&filter)? };
    let number = u64::clamp(number, 1, found.div_ceil(PAGE).max(1));
    let runs = store.listed(&filter, (number - 1) * PAGE, PAGE)?;
    let entry = |run: store::Listed| {
        let is_under_way = run.state == RunState::Running && store.told(run.id).is_some();
        RunEntry { run, is_under_way }
    };
    let list = List {
        entries: runs.into_iter().map(entry).collect(),
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

/// Which runs were asked for.
fn filter(request: &HttpRequest) -> Result<Filter, Refusal> {
    let state = request.parameter("state").map(|word| match word {
        "complete" => Ok(RunState::Complete),
        "unfinished" => Ok(RunState::Running),
        "failed" => Ok(RunState::Failed),
        _ => Err(Refusal::Asked("Invalid state; it is complete, unfinished or failed.".to_owned())),
    });
    let words = request.parameter("q").unwrap_or_default().split_whitespace();
    Ok(Filter {
        words: words.take(WORDS).map(str::to_owned).collect(),
        target: request.parameter("target").map(str::to_owned),
        plan: request.parameter("plan").map(str::to_owned),
        state: state.transpose()?,
    })
}
