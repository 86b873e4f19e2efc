//! A run from its entry in the store to its end.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use block::Seed;
use lab::plan::Plan;
use lab::{LabError, Session};
use store::{NewRun, RunId, State, Store};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::target::Opened;

/// What is to be run.
pub struct Undertaking<'a> {
    /// The plan, as it will be carried out.
    pub plan: &'a Plan,
    /// The origin of all random choices.
    pub seed: Seed,
    /// Repeats a cell where the command line gave them.
    pub repeats: Option<u32>,
    /// How much of a real target is used, where the command line said.
    pub size: Option<block::Bytes>,
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Undertaking<'_> {
    /// Enters the run in the store.
    pub fn begin(&self, store: &mut Store, opened: &Opened) -> Result<RunId, Failure> {
        let run = store.begin(&NewRun {
            plan: self.plan.name.clone(),
            plan_text: self.plan.text.clone(),
            quick: self.plan.quick,
            target: opened.name.clone(),
            target_identity: opened.identity.clone(),
            size: self.size,
            seed: self.seed,
            repeats: self.repeats,
            started_ms: now_ms(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("ASSAY_COMMIT").to_owned(),
            environment: opened.environment.clone(),
        })?;
        for finding in &opened.findings {
            store.note(run, None, None, finding)?;
        }
        Ok(run)
    }

    /// Carries the plan out, from wherever the store says it got to, and enters how it ended. Gives the
    /// store back either way.
    pub fn carry_out(&self, store: Store, run: RunId, opened: &mut Opened) -> (Store, Result<(), LabError>) {
        let store = Mutex::new(store);
        let progress = Progress::new();
        let done = Session::new(&store, run, self.plan, self.seed, &progress)
            .and_then(|session| session.carry_out(opened.subject.as_mut(), opened.real));
        progress.finish();
        let mut store = store.into_inner().expect("nothing panics while it holds the store");
        let (state, words) = match &done {
            Ok(()) => (State::Complete, None),
            Err(error) => (State::Failed, Some(error.to_string())),
        };
        let entered = store.finish(run, state, words.as_deref(), now_ms());
        (store, done.and(entered.map_err(LabError::from)))
    }
}
