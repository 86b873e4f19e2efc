//! What was asked of an attached drive, for whoever wants to replay it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use block::{Nanos, Request};

/// A request with when it came and when it was done, on the drive's own clock.
pub type RecordedRequest = (Nanos, Nanos, Request);

/// The requests that are answered while somebody listens, in the order in which they were done.
#[derive(Debug, Default)]
pub struct RequestRecorder {
    is_listened: AtomicBool,
    answered: Mutex<Vec<RecordedRequest>>,
}

impl RequestRecorder {
    /// Begins to listen; what was heard before is forgotten.
    pub fn listen(&self) {
        self.answered().clear();
        self.is_listened.store(true, Ordering::Relaxed);
    }

    /// Ends listening: what was answered since it began, in the order in which it came, from the first one on.
    pub fn take(&self) -> Vec<RecordedRequest> {
        self.is_listened.store(false, Ordering::Relaxed);
        let mut taken = std::mem::take(&mut *self.answered());
        taken.sort_by_key(|(came, ..)| *came);
        let first = taken.first().map_or(Nanos::ZERO, |(came, ..)| *came);
        for (came, done, _) in &mut taken {
            (*came, *done) = (*came - first, *done - first);
        }
        taken
    }

    pub fn note(&self, answered: RecordedRequest) {
        if self.is_listened.load(Ordering::Relaxed) {
            self.answered().push(answered);
        }
    }

    fn answered(&self) -> MutexGuard<'_, Vec<RecordedRequest>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_while_somebody_listens_is_told_in_the_order_in_which_it_came() {
        let (heard, micros) = (RequestRecorder::default(), Nanos::from_micros);
        heard.note((micros(1), micros(2), Request::FLUSH));
        heard.listen();
        heard.note((micros(12), micros(15), Request::FLUSH));
        heard.note((micros(10), micros(16), Request::FLUSH));
        let expected = [(micros(0), micros(6), Request::FLUSH), (micros(2), micros(5), Request::FLUSH)];
        assert_eq!(heard.take(), expected);
        heard.note((micros(20), micros(21), Request::FLUSH));
        assert_eq!(heard.take(), []);
    }
}
