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

/// What is found of a purge that was left out on purpose.
pub const PURGE_LEFT_OUT: &str = "No purge (--purge none): the first state is the state as found.";

/// What is found of a purge that the target cannot do.
pub const CANNOT_PURGE: &str =
    "The target does not support discard, so it was not purged: the first state is the state as found.";

/// Whether a finding about a purge says that the target was left as it was.
pub fn leaves_as_found(finding: &str) -> bool {
    finding.ends_with("is the state as found.")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_from_a_finding_that_nothing_was_purged() {
        assert!(leaves_as_found(PURGE_LEFT_OUT) && leaves_as_found(CANNOT_PURGE));
        assert!(!leaves_as_found("The drive was purged by two commands."));
    }
}
