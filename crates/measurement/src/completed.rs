//! Single requests, for what keeps more of them than their histogram.

use std::fmt::Debug;

use block::{Nanos, Request};

/// A request that was completed and is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// When, since counting began.
    pub at: Nanos,
    pub request: Request,
    /// How long it took; from when it came where requests come at a rate.
    pub latency: Nanos,
    /// How long it took from its submission on.
    pub service: Nanos,
    /// How long its submission took, which is a part of both; none where that was not timed.
    pub submission: Option<Nanos>,
}

/// Hears of every request of a job that is counted, as it is completed.
///
/// Each worker tells its own, in the order of time, from its own thread: what is done here is part of what is measured.
pub trait Observer: Debug + Send + Sync {
    /// The worker of this number has completed a request.
    fn completed(&self, worker: u32, completed: &Completed);

    /// Whether each submission is to be timed, which takes a call of its own.
    fn times_submissions(&self) -> bool {
        false
    }
}
