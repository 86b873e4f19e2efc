//! The drives with other parts that a plan sweeps over, each brought to where the plan is.

use std::collections::BTreeMap;

use block::{Bytes, Nanos};

use crate::LabError;
use crate::cost::Place;
use crate::plan::Step;
use crate::subject::Subject;

/// What steps are carried out on, with what has been done to it.
pub(crate) struct Lineage<'s> {
    /// The target itself, or one like it with other parts.
    pub subject: &'s mut dyn Subject,
    /// What is other in it; empty for the target itself.
    pub changes: &'s str,
    /// What was written at random since it was last purged.
    pub written: Bytes,
    /// Whether it is as an earlier process left it, when a run is resumed.
    pub survives: bool,
    /// Whether something else of the plan is done meanwhile, of which is told instead.
    pub is_apart: bool,
    /// What the cost of work on it depends on.
    pub place: Place,
}

impl<'s> Lineage<'s> {
    /// The target itself, or one like it with `changes`, as nothing has been done to it.
    pub fn of(subject: &'s mut dyn Subject, changes: &'s str, survives: bool) -> Self {
        let place = subject.place();
        Self { subject, changes, written: Bytes::ZERO, survives, is_apart: false, place }
    }

    pub fn is_target(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether it is told what is done on it while it is. Drives with other parts are brought along side by side.
    pub fn is_heard(&self) -> bool {
        self.is_target() && !self.is_apart
    }

    /// What `cost` adds to the progress of a run: drives with other parts are brought along side by side.
    pub fn share(&self, cost: Nanos) -> Nanos {
        if self.is_target() { cost } else { Nanos::from_nanos(cost.as_nanos() / self.place.side_by_side()) }
    }

    /// What it is called in findings; none for the target itself.
    pub fn cell(&self) -> Option<&str> {
        Some(self.changes).filter(|changes| !changes.is_empty())
    }
}

/// One drive with other parts.
pub(crate) struct Variant {
    /// What is other in it.
    pub changes: String,
    /// The drive.
    pub subject: Box<dyn Subject + Send>,
    /// What was written at random since it was last purged.
    pub written: Bytes,
    /// The first of the plan's steps that has not been done on it.
    pub next: usize,
}

impl Variant {
    /// It, with what has been done to it.
    pub fn lineage(&mut self) -> Lineage<'_> {
        let Self { changes, subject, written, .. } = self;
        Lineage { written: *written, ..Lineage::of(subject.as_mut(), changes, false) }
    }
}

/// The drives that are wanted again later in the plan.
#[derive(Default)]
pub(crate) struct Variants {
    kept: BTreeMap<String, Variant>,
}

impl Variants {
    /// The drive with these `changes`: as it was left, or a new one.
    ///
    /// # Errors
    /// If `target` has no such parts.
    pub fn take(&mut self, changes: &str, target: &dyn Subject) -> Result<Variant, LabError> {
        match self.kept.remove(changes) {
            Some(variant) => Ok(variant),
            None => {
                let subject = target.changed(changes)?;
                Ok(Variant { changes: changes.to_owned(), subject, written: Bytes::ZERO, next: 0 })
            }
        }
    }

    /// Keeps the drive if `later` steps measure on it.
    pub fn put_back(&mut self, variant: Variant, later: &[Step]) {
        if later.iter().flat_map(Step::sampled).any(|cell| cell.changes() == variant.changes) {
            self.kept.insert(variant.changes.clone(), variant);
        }
    }
}
