//! A run while it is under way.

use lab::{plan_of, recall};
use report::site;
use store::{RunId, State, Store};

use super::refusal::Refusal;
use crate::bulletin::Bulletin;
use crate::http::Response;

/// The page that follows a run.
pub fn page(store: &Store, run: RunId) -> Result<Response, Refusal> {
    // Asked first: what is kept meanwhile is then shown by the next look, and nothing is missed.
    let (now, kept) = (now(store, run), store.kept(run)?);
    let outcome = recall(store, run)?;
    Ok(Response::html(200, site::live(&outcome, &kept, now.as_ref())))
}

/// How far it has come. This is asked every second, so nothing that was measured is read.
pub fn state(store: &Store, run: RunId) -> Result<Response, Refusal> {
    let (now, kept) = (now(store, run), store.kept(run)?);
    let run = store.run(run)?;
    let text = site::live_state(&run, &plan_of(&run)?, &kept, now.as_ref());
    Ok(Response::text("application/json", text))
}

/// What is kept of one step.
pub fn step(store: &Store, run: RunId, place: &str) -> Result<Response, Refusal> {
    let section = site::live_step(&recall(store, run)?, place).ok_or(Refusal::NoSuchPage)?;
    Ok(Response::html(200, section))
}

/// What the process that carries the run out tells; none where no process does.
fn now(store: &Store, run: RunId) -> Option<site::Now> {
    let told = store.told(run);
    // It may have ended between the two looks.
    let is_running = || store.run(run).is_ok_and(|run| run.state == State::Running);
    told.filter(|_| is_running()).map(|text| Bulletin::read(&text).map(|bulletin| bulletin.now()).unwrap_or_default())
}
