//! A step that makes the target forget all data.

use host::PurgeMethod;

use super::Action;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Phase, Site};

/// Forgets all data.
#[derive(Clone, Debug, PartialEq)]
pub struct Purge {
    /// How a real target is made to.
    pub method: PurgeMethod,
}

pub(super) const FORM: Form = Form {
    name: "purge",
    numbers: || vec!["purge"],
    more: &[],
    build: |_, _, body, _| Some(Action::Purge(Purge { method: body.purge.unwrap_or_default() })),
};

impl StepKind for Purge {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        vec![Phase::Purge(self.method)]
    }

    fn purge_by(&mut self, method: PurgeMethod) {
        self.method = method;
    }

    fn sentence(&self, _: &Phrases) -> String {
        match self.method {
            PurgeMethod::Discard => "Purge".to_owned(),
            PurgeMethod::None => "No purge".to_owned(),
            method => format!("Purge by {}", method.name()),
        }
    }
}
