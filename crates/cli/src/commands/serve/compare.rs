//! Runs held against each other.

use lab::compare::{Comparison, Family, Question, RANKED_FROM, Ranking};
use lab::recall;
use store::{RunId, Store};

use super::refusal::{Refusal, number};
use crate::http::{HttpRequest, HttpResponse, JSON};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The most runs of one page.
const MOST: usize = 200;

/// What came of comparing: from 12 runs on they are ranked.
enum Compared {
    Pairs(Comparison),
    Ranked(Ranking),
}

/// The comparison of the runs that were asked for.
pub fn page(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    // What else the list's form has is not a part of this address, which people keep and share.
    if !request.without("runs").is_empty() {
        let runs: Vec<String> = asked(request)?.iter().map(ToString::to_string).collect();
        return Ok(HttpResponse::see(&format!("/compare?runs={}", runs.join(","))));
    }
    let page = match compared(store, request)? {
        Compared::Pairs(comparison) => report::site::comparison(&comparison, VERSION),
        Compared::Ranked(ranking) => report::site::ranking(&ranking, VERSION),
    };
    Ok(HttpResponse::html(200, page))
}

/// The same for programs.
pub fn document(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let document = match compared(store, request)? {
        Compared::Pairs(comparison) => report::comparison::json(&comparison, None, VERSION),
        Compared::Ranked(ranking) => report::ranking::json(&ranking, VERSION),
    };
    Ok(HttpResponse::text(JSON, document))
}

fn compared(store: &Store, request: &HttpRequest) -> Result<Compared, Refusal> {
    let runs = asked(request)?;
    if runs.len() >= RANKED_FROM {
        let with_key = |run| recall(store, run).map(|outcome| (report::key_places(&outcome), outcome));
        let all = runs.into_iter().map(|run| with_key(run).map(|(key, outcome)| (outcome, key)));
        return Ok(Compared::Ranked(Ranking::of(all.collect::<Result<_, _>>()?, Family::Run)?));
    }
    let outcomes = runs.into_iter().map(|run| recall(store, run)).collect::<Result<_, _>>()?;
    Ok(Compared::Pairs(report::comparison::of(outcomes, Question::default())?))
}

/// The runs that were asked for: `runs=1,2` or `runs=1&runs=2`. The earliest is what the others are held against where
/// they were ticked, and the first where they were named in a row.
fn asked(request: &HttpRequest) -> Result<Vec<RunId>, Refusal> {
    let mut runs = named(request)?;
    if request.all("runs").count() > 1 {
        runs.sort();
    }
    if runs.len() < 2 {
        let words = "Select two or more runs in the list; they are compared with the earliest.";
        return Err(Refusal::Asked(words.to_owned()));
    }
    few_enough(&runs)?;
    Ok(runs)
}

/// The runs of an address, in its order: `runs=1,2` or `runs=1&runs=2`.
pub fn named(request: &HttpRequest) -> Result<Vec<RunId>, Refusal> {
    let all = request.all("runs").flat_map(|part| part.split(',')).map(str::trim);
    all.filter(|part| !part.is_empty()).map(number).collect()
}

/// Refuses more runs than a page compares.
pub fn few_enough(runs: &[RunId]) -> Result<(), Refusal> {
    if runs.len() > MOST {
        return Err(Refusal::Asked(format!("{} runs are too many to compare; select at most {MOST}.", runs.len())));
    }
    Ok(())
}
