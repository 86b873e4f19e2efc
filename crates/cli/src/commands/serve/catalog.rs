//! Plans and simulated drives.

use drive::preset::Preset;
use lab::plan::{PlanLength, catalog, parse};
use report::site::{self, CatalogEntry};
use store::{Counted, Store};

use super::refusal::Refusal;
use crate::http::HttpResponse;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// More than there are plans and drives.
const ALL: u64 = 10_000;

fn runs_of(name: &str, counted: &[Counted]) -> u64 {
    counted.iter().find(|one| one.name == name).map_or(0, |one| one.runs)
}

/// The plans that are built in.
pub fn plans(store: &Store) -> Result<HttpResponse, Refusal> {
    let counted = store.plans(ALL)?;
    let entry = |(name, text): (&str, &str)| {
        let plan = parse(text, PlanLength::Full).expect("a test reads every plan that is built in");
        let facts = plan.steps.iter().enumerate();
        let facts = facts.map(|(place, step)| (format!("step {}", place + 1), step.title.clone())).collect();
        CatalogEntry { name: name.to_owned(), title: plan.title, facts, runs: runs_of(name, &counted) }
    };
    let entries: Vec<CatalogEntry> = catalog::builtin().iter().copied().map(entry).collect();
    Ok(HttpResponse::html(200, site::plans(&entries, VERSION)))
}

/// The drives that are built in.
pub fn drives(store: &Store) -> Result<HttpResponse, Refusal> {
    let counted = store.targets(ALL)?;
    let entry = |preset: Preset| {
        let name = format!("sim:{}", preset.name);
        let facts = preset.facts().into_iter().map(|(label, fact)| (label.to_owned(), fact)).collect();
        CatalogEntry { title: preset.title.clone(), facts, runs: runs_of(&name, &counted), name }
    };
    let entries: Vec<CatalogEntry> = Preset::all().map(entry).collect();
    Ok(HttpResponse::html(200, site::drives(&entries, VERSION)))
}
