//! Noting where data went.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// The controller's notes of where written data went, which it takes down one at a time beside its commands.
///
/// A write is answered once its note is begun: a lone one never waits, many are held to the pace of notes.
/// Reads do not wait for notes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Journal {
    free: Nanos,
}

impl Journal {
    /// Takes down a note that takes `length`, from `ready` on at the earliest; when it is begun.
    #[inline]
    pub fn note(&mut self, ready: Nanos, length: Nanos) -> Nanos {
        let begun = self.free.max(ready);
        self.free = begun + length;
        begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_note_does_not_wait_and_others_are_held_to_their_pace() {
        let (mut journal, us) = (Journal::default(), Nanos::from_micros);
        assert_eq!([10, 11, 12].map(|at| journal.note(us(at), us(300))), [us(10), us(310), us(610)]);
        assert_eq!(journal.note(us(2_000), us(300)), us(2_000), "after a pause");
    }
}
