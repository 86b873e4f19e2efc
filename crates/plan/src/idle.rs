//! A step that leaves the drive alone.

use block::Nanos;

use super::Action;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Phase, Site};

/// Leaves the drive alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    /// For so long.
    pub time: Nanos,
}

pub(super) const FORM: Form = Form {
    name: "idle",
    numbers: || vec!["time"],
    more: &["quick", "simulated"],
    build: |_, draft, body, mistakes| {
        let given = body.time.ok_or_else(|| super::build::missing(draft, &[("time", "60s")]));
        mistakes.keep(given).map(|time| Action::Idle(Idle { time }))
    },
};

impl StepKind for Idle {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        vec![Phase::Rest(self.time)]
    }

    fn brief(&self) -> String {
        format!("idle for {}", self.time)
    }

    fn sentence(&self, _: &Phrases) -> String {
        format!("Leave the drive idle for {}", self.time)
    }
}
