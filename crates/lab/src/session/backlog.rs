//! What is left to be measured while a target goes on.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use block::Bytes;

use crate::LabError;
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

/// What is done on copies while the target goes on.
#[derive(Default)]
pub struct Apart {
    /// How many copies there are.
    copies: AtomicUsize,
    /// The first failure.
    failure: Mutex<Option<LabError>>,
}

/// So many copies at most are there at once: each may hold as much memory as the target.
const COPIES_MAX: usize = 2;

impl Apart {
    /// What came of all of it, once it is over.
    pub fn outcome(self) -> Result<(), LabError> {
        self.failure.into_inner().expect("nothing panics while it holds a failure").map_or(Ok(()), Err)
    }

    /// Counts one more, if there are not too many yet; whether it did.
    pub fn begin(&self) -> bool {
        let more = |copies| Some(copies + 1).filter(|copies| *copies <= COPIES_MAX);
        self.copies.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Notes what came of one that was begun.
    pub fn end(&self, outcome: Result<(), LabError>) {
        self.copies.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = outcome {
            self.failure.lock().expect("nothing panics while it holds a failure").get_or_insert(error);
        }
    }
}
