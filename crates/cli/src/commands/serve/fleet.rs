//! Many drives side by side.

use lab::fleet::{Fleet, FleetRule};
use lab::recall;
use report::fleet::{FleetChecks, FleetReport};
use report::site::{self, FleetPage};
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
    let fleet = FleetPage {
        models: models(&store.drives(&Filter::default(), MODELS_MAX)?),
        report: report(store, &filter)?,
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

/// The drives held against each other, each by its latest run of a plan: of that of the latest run where none was asked for.
fn report(store: &Store, filter: &Filter) -> Result<Result<FleetReport, String>, Refusal> {
    let complete = Filter { state: filter.state.or(Some(RunState::Complete)), ..filter.clone() };
    let Some(latest) = store.drives(&complete, 1)?.into_iter().next() else {
        return Ok(Err("No run of these drives is complete, so there are no figures yet.".to_owned()));
    };
    let plan = store.run(latest.latest)?.plan;
    let mut drives = Vec::new();
    for known in store.drives(&Filter { plan: Some(plan.clone()), ..complete }, DRIVES_MAX)? {
        // A run is read by itself: what is kept of it is small.
        drives.push(report::fleet::drive(&recall(store, known.latest)?, &FleetChecks::default())?);
    }
    let asked = [("model", &filter.model), ("tag", &filter.tag), ("group", &filter.group), ("plan", &Some(plan))];
    let title = asked.into_iter().filter_map(|(key, value)| Some(format!("{key} {}", value.as_ref()?)));
    let title = title.collect::<Vec<_>>().join(", ");
    let fleet = Fleet::of(drives, FleetRule::default());
    Ok(fleet.map(|fleet| FleetReport { title, fleet, effects: None }).map_err(|error| format!("No fleet: {error}.")))
}
