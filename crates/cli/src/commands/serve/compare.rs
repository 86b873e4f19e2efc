//! Runs held against each other.

use lab::compare::{Family, Question, RANKED_FROM, Ranking};
use lab::recall;
use store::{RunId, Store};

use super::refusal::{Refusal, number};
use crate::http::{HttpRequest, HttpResponse};

/// The most runs of one page.
const MOST: usize = 200;

/// The comparison of the runs that were asked for: `runs=1,2` or `runs=1&runs=2`. The earliest is what the others are
/// held against where they were ticked, and the first where they were named in a row.
pub fn page(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let given: Vec<&str> = request.all("runs").collect();
    let named = given.iter().flat_map(|part| part.split(',')).map(str::trim).filter(|part| !part.is_empty());
    let mut runs = named.map(number).collect::<Result<Vec<RunId>, _>>()?;
    if given.len() > 1 {
        runs.sort();
    }
    if runs.len() < 2 {
        let words = "Select two or more runs in the list; they are compared with the earliest.";
        return Err(Refusal::Asked(words.to_owned()));
    }
    if runs.len() > MOST {
        return Err(Refusal::Asked(format!("{} runs are too many to compare; select at most {MOST}.", runs.len())));
    }
    if runs.len() >= RANKED_FROM {
        let with_key = |run| recall(store, run).map(|outcome| (report::key_places(&outcome), outcome));
        let all = runs.into_iter().map(|run| with_key(run).map(|(key, outcome)| (outcome, key)));
        let ranking = Ranking::of(all.collect::<Result<_, _>>()?, Family::Run)?;
        return Ok(HttpResponse::html(200, report::site::ranking(&ranking, env!("CARGO_PKG_VERSION"))));
    }
    let outcomes = runs.into_iter().map(|run| recall(store, run)).collect::<Result<_, _>>()?;
    let comparison = report::comparison::of(outcomes, Question::default())?;
    Ok(HttpResponse::html(200, report::site::comparison(&comparison, env!("CARGO_PKG_VERSION"))))
}
