//! Measuring in a state that the drive itself is leaving.

use std::ops::Range;

use engine::LiveProgress;

use super::Session;
use super::backlog::Backlog;
use crate::LabError;
use crate::variants::{Lineage, Variants};

impl Session<'_> {
    /// Carries out `change` on the target, and beside it measures what is left to be, if anything is.
    pub(super) fn beside(
        &self,
        backlog: Option<Backlog>,
        variants: &mut Variants,
        change: impl FnOnce() -> Result<(), LabError> + Send,
    ) -> Result<(), LabError> {
        let Some(Backlog { steps, mut copy, written }) = backlog else { return change() };
        *self.ahead.titles() = Some(Vec::new());
        let measure = || {
            let mut lineage = Lineage { written, ..Lineage::of(copy.as_mut(), "", false) };
            let measured = self.measure_all(steps, &mut lineage, variants);
            drop(copy);
            // Nobody tells of a later step meanwhile.
            let mut titles = self.ahead.titles();
            titles.take().iter().flatten().for_each(|title| self.watch.step(title));
            measured
        };
        // The change first: it is in one piece, and what is measured can be shared out once something else has ended.
        let (changed, measured) = rayon::join(change, measure);
        measured.and(changed)
    }

    /// Measures steps that follow one another, all in the state that the target is in.
    pub(super) fn measure_all(
        &self,
        steps: Range<usize>,
        lineage: &mut Lineage,
        variants: &mut Variants,
    ) -> Result<(), LabError> {
        let mut next = steps.start;
        while next < steps.end {
            next += self.measure_group(next, lineage, variants)?;
        }
        Ok(())
    }

    /// Tells that a step begins which changes the target; later, where the plan has what is measured before it.
    pub(super) fn tell_change(&self, title: &str) {
        match &mut *self.ahead.titles() {
            Some(titles) => titles.push(title.to_owned()),
            None => self.watch.step(title),
        }
    }

    /// Tells how far a workload on the target has come, unless something is measured that the plan has before it.
    pub(super) fn tell_live(&self, now: LiveProgress) {
        if !self.ahead.is_ahead() {
            self.watch.live(now);
        }
    }
}
