//! What is left to be measured while a target goes on.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use block::Bytes;

use crate::subject::Subject;

/// Steps that are still to be measured, in a state that a copy of the target has kept for them.
pub struct Backlog {
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
pub struct Ahead(Mutex<Option<Vec<String>>>);

impl Ahead {
    /// Whether the target is ahead of what is measured.
    pub fn is_ahead(&self) -> bool {
        self.titles().is_some()
    }

    /// The titles of the steps that the target has begun meanwhile; none where it is not ahead.
    pub fn titles(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.0.lock().expect("nothing panics while it holds titles")
    }
}
