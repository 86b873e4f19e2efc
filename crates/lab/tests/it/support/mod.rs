//! What the tests of plans share.

use assay_lab::plan::Plan;
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
