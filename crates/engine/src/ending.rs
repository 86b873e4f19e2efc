//! What ends a run on a virtual clock before its workloads do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::OnError;

/// What ends a run on a virtual clock before its workloads do: a request that fails, or somebody who asks for it.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What a request means that the drive ends with an error.
    pub on_error: OnError,
    /// Set from outside when the run is to end.
    pub stop: Option<Arc<AtomicBool>>,
}

impl From<OnError> for Ending {
    fn from(on_error: OnError) -> Self {
        Self { on_error, stop: None }
    }
}

impl Ending {
    /// Whether somebody has asked for the end.
    #[inline]
    pub fn is_asked_for(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
