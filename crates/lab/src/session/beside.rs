//! Measuring in a state that the drive itself is leaving.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use block::Bytes;
use engine::LiveProgress;

use super::Session;
use crate::LabError;
use crate::subject::Subject;
use crate::variants::{Lineage, Variants};

/// Steps that are still to be measured, in a state that a copy of the target has kept for them.
pub(super) struct Backlog {
    /// The steps.
    pub steps: Range<usize>,
    /// The copy.
    pub copy: Box<dyn Subject + Send>,
    /// What was written at random to it since it was last purged.
    pub written: Bytes,
}

/// What the target itself does while a backlog is measured: what is told of a run goes by what the plan has first, and that is
/// the backlog.
#[derive(Default)]
pub(super) struct Ahead(Mutex<Option<Vec<String>>>);

impl Ahead {
    /// Whether the target is ahead of what is measured.
    pub fn is_ahead(&self) -> bool {
        self.titles().is_some()
    }

    fn titles(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.0.lock().expect("nothing panics while it holds titles")
    }
}

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
            let titles = self.ahead.titles().take();
            titles.iter().flatten().for_each(|title| self.watch.step(title));
            measured
        };
        let (measured, changed) = rayon::join(measure, change);
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
