//! What will happen when.

use std::collections::VecDeque;

use block::Nanos;
use serde::{Deserialize, Serialize};

/// What will happen, earliest first; equal times in the order in which they were noted.
///
/// Most of it is noted in the order in which it happens, or nearly so: an insertion from the back looks at
/// one or two neighbours, where a heap would look at several levels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue<T> {
    due: VecDeque<(Nanos, T)>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { due: VecDeque::new() }
    }
}

impl<T> EventQueue<T> {
    /// Notes what will happen `at` that time.
    #[inline]
    pub fn note(&mut self, at: Nanos, what: T) {
        let mut index = self.due.len();
        if index == 0 || self.due[index - 1].0 <= at {
            return self.due.push_back((at, what));
        }
        while index > 0 && self.due[index - 1].0 > at {
            index -= 1;
        }
        self.due.insert(index, (at, what));
    }

    /// When the earliest is; later than any time if there is none.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.due.front().map_or(Nanos::MAX, |(at, _)| *at)
    }

    /// Takes the earliest if it is at or before `until`.
    #[inline]
    pub fn take(&mut self, until: Nanos) -> Option<(Nanos, T)> {
        self.due.pop_front_if(|(at, _)| *at <= until)
    }

    /// How much will happen.
    pub fn count(&self) -> u32 {
        self.due.len() as u32
    }

    /// Whether nothing will happen.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_equals_in_the_order_of_their_noting() {
        let mut agenda = EventQueue::default();
        for (at, what) in [(30, 'a'), (10, 'b'), (20, 'c'), (10, 'd')] {
            agenda.note(Nanos::from_nanos(at), what);
        }
        assert_eq!(agenda.next(), Nanos::from_nanos(10));
        let taken: Vec<char> =
            std::iter::from_fn(|| agenda.take(Nanos::from_nanos(20))).map(|(_, what)| what).collect();
        assert_eq!(taken, ['b', 'd', 'c']);
        assert!(!agenda.is_empty(), "what is due later stays");
    }
}
