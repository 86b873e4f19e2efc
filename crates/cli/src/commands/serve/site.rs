//! What is served.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::access::Access;
use super::live::Plans;

/// Whoever pushes has the store one after the other, however long the one before takes.
#[derive(Debug, Default)]
pub struct Turn(Mutex<()>);

impl Turn {
    /// Waits for it, and has it until what is given is dropped.
    pub fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is served, and to whom.
#[derive(Debug)]
pub struct Site {
    /// The file of the store.
    pub store: PathBuf,
    /// By what somebody is let in.
    pub access: Access,
    /// The plans of the runs that are watched, each read once.
    pub plans: Plans,
    /// Whose turn it is to push runs; none where none are taken.
    pub accepts: Option<Turn>,
}
