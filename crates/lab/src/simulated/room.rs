//! How many states of a drive the memory of the machine has room for.

use std::sync::{Condvar, Mutex, MutexGuard};

use block::Bytes;
use host::Machine;

use crate::LabError;

/// So many states there are at once, beside what measurements write to: the drive's own, two further ones, and the one that the
/// drive has left meanwhile, in part.
const BESIDE: f64 = 3.6;
/// So many where memory is short: the drive's own and a further one, neither of which takes the most.
const BESIDE_SHORT: f64 = 1.6;
/// Memory that is left to others: one part in so many.
const MARGIN: u64 = 16;

/// The room for states of a drive. With too little of it one further state is there at a time, and measurements that write take turns.
#[derive(Debug)]
pub(super) struct Room {
    /// What a state takes at most, and a clone that a measurement writes to.
    state: Bytes,
    clone: Bytes,
    /// None where that is not known.
    memory: Option<Bytes>,
    /// How many more measurements may write now.
    writers: Mutex<usize>,
    changed: Condvar,
}

/// The right to write in a measurement, until this is dropped.
pub(super) struct Writing<'r>(&'r Room);

impl Room {
    /// That of the machine as it is now, for a drive of which a state takes so much, and so much a clone that is written to.
    pub fn here(state: Bytes, clone: Bytes) -> Self {
        Self::of(Machine::here().memory_available(), state, clone)
    }

    /// That of so much memory; without bounds where that is not known.
    pub fn of(memory: Option<Bytes>, state: Bytes, clone: Bytes) -> Self {
        let room = Self { state, clone, memory, writers: Mutex::new(1), changed: Condvar::new() };
        // Where there is no bound, as many as can be counted.
        let writers = room.clones_beside(if room.is_short() { BESIDE_SHORT } else { BESIDE }) as usize;
        Self { writers: Mutex::new(writers.max(1)), ..room }
    }

    /// For how many clones that are written to there is room beside so many states.
    fn clones_beside(&self, states: f64) -> f64 {
        match self.memory.map(to_be_had) {
            Some(memory) if self.clone > Bytes::ZERO => {
                (memory.get() as f64 - states * self.state.get() as f64) / self.clone.get() as f64
            }
            _ => f64::INFINITY,
        }
    }

    /// What a state takes at most.
    pub fn state_memory(&self) -> Bytes {
        self.state
    }

    /// What a clone that is written to takes.
    pub fn clone_memory(&self) -> Bytes {
        self.clone
    }

    /// Whether there is no room for two further states and what goes on beside them.
    pub fn is_short(&self) -> bool {
        self.is_short_of(Bytes::ZERO)
    }

    /// The same where each takes so much, if that is more than was thought.
    pub fn is_short_of(&self, state: Bytes) -> bool {
        self.clones_beside(BESIDE * self.share(state).max(1.0)) < 1.0
    }

    /// What part this is of what a state takes at most.
    fn share(&self, memory: Bytes) -> f64 {
        memory.get() as f64 / self.state.get().max(1) as f64
    }

    /// Whether a drive that takes `own` can go on into a random state beside measurements of what it was: where memory is
    /// short, only if it is in none yet. What was begun on a copy before may have come to another state meanwhile.
    pub fn can_fork(&self, own: Bytes) -> bool {
        let share = self.share(own);
        !self.is_short() || share < 0.5 && self.clones_beside(2.0 + share) >= 1.0
    }

    /// Whether there is not even room for two measurements that write, so that all is done one after the other.
    pub fn is_narrow(&self) -> bool {
        self.clones_beside(BESIDE_SHORT) < 2.0
    }

    /// Refuses what measurements in a drive's random states take, where there is not as much: before any is made, of which
    /// nothing could come.
    pub fn check(&self) -> Result<(), LabError> {
        let states = Bytes::new((BESIDE_SHORT * self.state.get() as f64) as u64);
        check_in(self.memory, states + self.clone)
    }

    /// Waits until one more measurement may write.
    pub fn write(&self) -> Writing<'_> {
        let mut writers = self.writers();
        while *writers == 0 {
            writers = self.changed.wait(writers).expect("nothing panics while it counts");
        }
        *writers -= 1;
        Writing(self)
    }

    fn writers(&self) -> MutexGuard<'_, usize> {
        self.writers.lock().expect("nothing panics while it counts")
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        *self.0.writers() += 1;
        self.0.changed.notify_one();
    }
}

/// Refuses to take so much more memory than there is, which the kernel would end the program for.
pub(super) fn check(needed: Bytes) -> Result<(), LabError> {
    check_in(Machine::here().memory_available(), needed)
}

fn check_in(available: Option<Bytes>, needed: Bytes) -> Result<(), LabError> {
    match available.map(to_be_had) {
        Some(available) if needed > available => Err(LabError::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// What may be taken of the memory that is available.
fn to_be_had(memory: Bytes) -> Bytes {
    Bytes::new(memory.get() - memory.get() / MARGIN)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const EACH: Bytes = Bytes::from_gib(8);

    #[test]
    fn with_less_memory_fewer_write_and_one_always_may() {
        let part = Bytes::from_gib(1);
        for (gib, clone, writers, is_short, is_narrow) in [
            (1, EACH, 1, true, true),
            (30, EACH, 1, true, true),
            (31, EACH, 2, true, false),
            (39, EACH, 2, true, false),
            (40, EACH, 1, false, false),
            (48, EACH, 2, false, false),
            (80, EACH, 5, false, false),
            (15, part, 1, true, true),
            (16, part, 2, true, false),
            (31, part, 16, true, false),
            (32, part, 1, false, false),
        ] {
            let room = Room::of(Some(Bytes::from_gib(gib)), EACH, clone);
            let found = (*room.writers(), room.is_short(), room.is_narrow());
            assert_eq!(found, (writers, is_short, is_narrow), "{gib} GiB, {clone} for each that writes");
        }
        for room in [Room::of(None, EACH, EACH), Room::of(Some(EACH), Bytes::ZERO, Bytes::ZERO)] {
            assert!(!room.is_short() && *room.writers() > 1_000_000, "nothing says that there is little");
        }
    }

    #[test]
    fn a_drive_goes_on_beside_its_measurements_where_two_states_and_what_it_takes_have_room() {
        for (gib, own, can) in [(20, 2, false), (21, 2, true), (21, 3, false), (31, 8, false)] {
            let room = Room::of(Some(Bytes::from_gib(gib)), EACH, Bytes::from_gib(1));
            assert_eq!(room.can_fork(Bytes::from_gib(own)), can, "{own} GiB of {gib}");
            assert!(room.is_short());
        }
        assert!(Room::of(None, EACH, EACH).can_fork(EACH));
    }

    #[test]
    fn no_more_write_at_once_than_may() {
        let room = Room::of(Some(Bytes::from_gib(48)), EACH, EACH);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let _writing = room.write();
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        now.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(*room.writers(), 2);
    }

    #[test]
    fn more_than_there_is_is_refused_with_both_amounts() {
        assert!(check_in(Some(Bytes::from_gib(9)), EACH).is_ok() && check_in(None, EACH).is_ok());
        let said = check_in(Some(Bytes::from_gib(5)), EACH).unwrap_err().to_string();
        for word in ["8 GiB", "4.69 GiB", "capacity.user"] {
            assert!(said.contains(word), "{said}");
        }
    }
}
