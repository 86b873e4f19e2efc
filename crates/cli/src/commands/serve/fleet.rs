//! Many drives side by side.

use lab::compare::{Family, Ranking};
use lab::recall;
use report::site::{self, Fleet};
use store::{Filter, KnownDrive, RunState, Store};

use super::list;
use super::refusal::Refusal;
use crate::http::{HttpRequest, HttpResponse, JSON};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The most drives of a page.
const DRIVES_MAX: u64 = 200;
/// The most drives whose models can be chosen.
const MODELS_MAX: u64 = 10_000;

/// The page of the drives.
pub fn page(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let filter = list::filter(request)?;
    let drives = store.drives(&filter, MODELS_MAX)?;
    let fleet = Fleet {
        models: models(&store.drives(&Filter::default(), MODELS_MAX)?),
        figures: figures(store, &filter)?,
        found: drives.len() as u64,
        drives: drives.into_iter().take(DRIVES_MAX as usize).collect(),
        filter,
    };
    Ok(HttpResponse::html(200, site::fleet(&fleet, VERSION)))
}

/// The drives for programs.
pub fn document(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let drives = store.drives(&list::filter(request)?, MODELS_MAX)?;
    let drive = |drive: &KnownDrive| {
        serde_json::json!({
            "model": drive.model, "serial": drive.serial, "target": drive.target, "runs": drive.runs,
            "latest_run": drive.latest, "latest_ms": drive.started_ms,
        })
    };
    let document = serde_json::json!({ "drives": drives.iter().map(drive).collect::<Vec<_>>() });
    Ok(HttpResponse::text(JSON, document.to_string() + "\n"))
}

/// The models, each with how many drives there are of it, the most first.
fn models(drives: &[KnownDrive]) -> Vec<(String, u64)> {
    let mut models: Vec<(String, u64)> = Vec::new();
    for drive in drives {
        match models.iter_mut().find(|(known, _)| *known == drive.model) {
            Some((_, count)) => *count += 1,
            None => models.push((drive.model.clone(), 1)),
        }
    }
    models.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    models
}

/// The key figures of the drives, each by its latest complete run; of the plan of the latest of them where none was asked for.
fn figures(store: &Store, filter: &Filter) -> Result<Result<Ranking, String>, Refusal> {
    let mut filter = Filter { state: Some(RunState::Complete), ..filter.clone() };
    let Some(latest) = store.drives(&filter, 1)?.into_iter().next() else {
        return Ok(Err("No run of these drives is complete.".to_owned()));
    };
    filter.plan = Some(store.run(latest.latest)?.plan);
    let mut all = Vec::new();
    for drive in store.drives(&filter, DRIVES_MAX)? {
        let outcome = recall(store, drive.latest)?;
        all.push((report::key_places(&outcome), outcome));
    }
    let ranked = Ranking::of(all.into_iter().map(|(key, outcome)| (outcome, key)).collect(), Family::Run);
    Ok(ranked.map_err(|error| match error {
        lab::compare::CompareError::Alone => "Figures are compared from two drives on.".to_owned(),
        error => format!("The drives cannot be compared: {error}."),
    }))
}
