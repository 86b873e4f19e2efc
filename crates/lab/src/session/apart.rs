//! Steps that a purge undoes, done on copies beside the rest of the plan.

use host::PurgeMethod;
use rayon::Scope;

use super::Session;
use super::backlog::Apart;
use crate::LabError;
use crate::plan::Step;
use crate::subject::Subject;
use crate::variants::Lineage;

impl Session<'_> {
    /// Whether the next step purges what step number `index` leaves.
    pub(super) fn is_undone(&self, index: usize, subject: &dyn Subject) -> bool {
        let purges =
            |step: &Step| step.work(&subject.site()).purges().is_some_and(|method| method != PurgeMethod::None);
        !purges(&self.plan.steps[index]) && self.plan.steps.get(index + 1).is_some_and(purges)
    }

    /// Does step number `index` on a copy of the target, if it is undone and that can be copied; whether it does. What comes
    /// later sees nothing of the step then and does not wait for it.
    pub(super) fn do_apart<'s>(
        &'s self,
        index: usize,
        whole: &mut Lineage,
        apart: &'s Apart,
        scope: &Scope<'s>,
    ) -> Result<bool, LabError> {
        let copy = if self.is_undone(index, whole.subject) { whole.subject.copy() } else { None };
        let Some(mut copy) = copy else { return Ok(false) };
        let step = &self.plan.steps[index];
        self.tell_change(&step.title);
        let written = whole.written;
        let is_apart = whole.subject.side_by_side() > 1 && apart.begin();
        let mut change = move || {
            let mut lineage = Lineage { written, is_apart, ..Lineage::of(copy.as_mut(), "", false) };
            self.change(index, &mut lineage)
        };
        if is_apart {
            scope.spawn(move |_| apart.end(change()));
            Ok(true)
        } else {
            change().map(|()| true)
        }
    }
}
