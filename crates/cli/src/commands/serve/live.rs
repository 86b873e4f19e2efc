//! A run while it is under way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use lab::plan::Plan;
use lab::{LabError, plan_of, recall};
use report::site;
use store::{Run, RunId, RunState, Store};

use super::refusal::Refusal;
use crate::http::HttpResponse;
use crate::progress_message::ProgressMessage;

/// The page that follows a run.
pub fn page(store: &Store, run: RunId) -> Result<HttpResponse, Refusal> {
    // Asked first: what is kept meanwhile is then shown by the next look, and nothing is missed.
    let (now, kept) = (now(store, run), store.kept(run)?);
    let outcome = recall(store, run)?;
    Ok(HttpResponse::html(200, site::live(&outcome, &kept, now.as_ref())))
}

/// How far it has come. This is asked every second, so nothing that was measured is read, and the plan only once.
pub fn state(store: &Store, plans: &Plans, run: RunId) -> Result<HttpResponse, Refusal> {
    let (now, kept) = (now(store, run), store.kept(run)?);
    let run = store.run(run)?;
    let text = site::live_state(&run, &*plans.of(&run)?, &kept, now.as_ref());
    Ok(HttpResponse::text("application/json", text))
}

/// The plans of the runs that were followed last, as they were read.
#[derive(Debug, Default)]
pub struct Plans(Mutex<VecDeque<(Option<u32>, Arc<Plan>)>>);

/// How many of them are kept.
const FOLLOWED: usize = 8;

impl Plans {
    /// The plan of a run. It is known by its text, as the store may have become another.
    fn of(&self, run: &Run) -> Result<Arc<Plan>, LabError> {
        let asked = (run.repeats, run.quick, run.simulated, &run.plan_text);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known
            .iter()
            .find(|(repeats, plan)| (*repeats, plan.quick, plan.simulated, &plan.text) == asked)
            .map(|(_, plan)| Arc::clone(plan));
        if let Some(plan) = found {
            return Ok(plan);
        }
        let plan = Arc::new(plan_of(run)?);
        known.push_front((run.repeats, Arc::clone(&plan)));
        known.truncate(FOLLOWED);
        Ok(plan)
    }
}

/// The curve of the step that is carried out.
pub fn curve(store: &Store, run: RunId) -> Result<HttpResponse, Refusal> {
    let now = now(store, run);
    Ok(HttpResponse::html(200, site::live_curve(&store.run(run)?, now.as_ref())))
}

/// The section of a step.
pub fn step(store: &Store, run: RunId, place: &str) -> Result<HttpResponse, Refusal> {
    let section = site::live_step(&recall(store, run)?, place).ok_or(Refusal::NoSuchPage)?;
    Ok(HttpResponse::html(200, section))
}

/// What the process that carries the run out tells; none where no process does.
fn now(store: &Store, run: RunId) -> Option<site::LiveSnapshot> {
    let told = store.told(run);
    // It may have ended between the two looks.
    let is_running = || store.run(run).is_ok_and(|run| run.state == RunState::Running);
    told.filter(|_| is_running())
        .map(|text| ProgressMessage::read(&text).map(|bulletin| bulletin.now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;

    const PLAN: &str =
        "name = \"p\"\n[[step]]\nname = \"read\"\nrw = \"randread\"\nruntime = \"1s\"\nsweep.bs = [\"4k\", \"8k\"]\n";

    fn run(text: &str, quick: bool) -> Run {
        Run {
            id: RunId(1),
            plan: "p".to_owned(),
            plan_text: text.to_owned(),
            quick,
            simulated: false,
            target: "sim:x25-m".to_owned(),
            target_identity: String::new(),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: None,
            seed: Seed::new(1),
            repeats: None,
            state: RunState::Running,
            error: None,
            started_ms: 0,
            finished_ms: None,
            version: String::new(),
            commit: String::new(),
            environment: "{}".to_owned(),
            annotations: store::Annotations::default(),
            uuid: store::Uuid::nil(),
            group: None,
            sharding: None,
        }
    }

    #[test]
    fn the_plan_of_a_run_that_is_followed_is_read_once() {
        let (plans, asked) = (Plans::default(), run(PLAN, false));
        let first = plans.of(&asked).unwrap();
        assert!((0..100).all(|_| Arc::ptr_eq(&first, &plans.of(&asked).unwrap())));
        assert!(!Arc::ptr_eq(&first, &plans.of(&run(PLAN, true)).unwrap()), "it was shortened");
        let other = plans.of(&run(&PLAN.replace("4k", "16k"), false)).unwrap();
        assert_eq!(other.text, PLAN.replace("4k", "16k"), "another store has another run of this number");
        assert!(Arc::ptr_eq(&first, &plans.of(&asked).unwrap()));
        for number in 0..2 * FOLLOWED {
            plans.of(&run(&PLAN.replace("1s", &format!("{}s", number + 2)), false)).unwrap();
        }
        assert_eq!(plans.0.lock().unwrap().len(), FOLLOWED);
    }
}
