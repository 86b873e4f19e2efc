//! What is served.

use std::path::PathBuf;

use super::accept::Turn;
use super::access::Access;
use super::live::Plans;

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
