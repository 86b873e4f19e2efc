//! What the tests of plans share.

use std::sync::Mutex;

use assay_lab::plan::{self, Plan, PlanLength};
use assay_lab::{LabError, Outcome, recall};
use block::{Bytes, Seed};
use store::{NewRun, RunId, Store};

/// Enters a run of `plan` on this target, of which so much is used.
pub fn begin(store: &mut Store, plan: &Plan, target: &str, size: Option<Bytes>) -> RunId {
    store
        .begin(&NewRun {
            plan: plan.name.clone(),
            plan_text: plan.text.clone(),
            quick: false,
            simulated: false,
            target: target.to_owned(),
            target_identity: String::new(),
            target_fingerprint: None,
            direct: true,
            size,
            capacity: None,
            drive: None,
            seed: Seed::new(1),
            repeats: None,
            started_ms: 0,
            version: String::new(),
            commit: String::new(),
            environment: "{}".to_owned(),
            annotations: store::Annotations::default(),
            group: None,
            shard: None,
        })
        .unwrap()
}

/// Does `work` with a new store in which a run of this plan on this drive has begun; what the store has of it then.
pub fn in_new_run(
    text: &str,
    target: &str,
    work: impl FnOnce(&Mutex<Store>, RunId, &Plan) -> Result<(), LabError>,
) -> Result<Outcome, LabError> {
    let plan = plan::parse(text, PlanLength::Full).unwrap();
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = begin(&mut store, &plan, &format!("sim:{target}"), None);
    let store = Mutex::new(store);
    work(&store, run, &plan)?;
    recall(&store.into_inner().unwrap(), run)
}
