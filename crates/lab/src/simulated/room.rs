//! How many states of a drive the memory of the machine has room for.

use std::sync::{Condvar, Mutex, MutexGuard};

use block::Bytes;
use host::Machine;

use crate::LabError;

/// So many states there are at once, beside those that measurements write to, where several processors work: the drive's own,
/// two further ones, and the one that the drive has left meanwhile, in part.
const BESIDE: f64 = 3.6;

/// So many there are where one processor works: the drive's own, a further one, and the one that a measurement writes to.
const LEAST: u64 = 3;
/// Memory that is left to others: one part in so many.
const MARGIN: u64 = 16;

/// The room for states of a drive. With too little of it, measurements that write take turns, so that as many states as there
/// is room for are there at once.
#[derive(Debug)]
pub(super) struct Room {
    /// What each takes at most.
    each: Bytes,
    /// None where that is not known.
    memory: Option<Bytes>,
    /// How many there is room for.
    states: f64,
    /// How many more measurements may write now.
    writers: Mutex<usize>,
    changed: Condvar,
}

/// The right to write in a measurement, until this is dropped.
pub(super) struct Writing<'r>(&'r Room);

impl Room {
    /// That of the machine as it is now, for a drive of which each state takes `each`.
    pub fn here(each: Bytes) -> Self {
        Self::of(Machine::here().memory_available(), each)
    }

    /// That of so much memory; without bounds where that is not known.
    pub fn of(memory: Option<Bytes>, each: Bytes) -> Self {
        let states = match memory.map(to_be_had) {
            Some(memory) if each > Bytes::ZERO => memory.get() as f64 / each.get() as f64,
            _ => f64::INFINITY,
        };
        // Where there is no bound, as many as can be counted.
        let writers = ((states - BESIDE) as usize).max(1);
        Self { each, memory, states, writers: Mutex::new(writers), changed: Condvar::new() }
    }

    /// Whether states are made and measured one after the other.
    pub fn is_narrow(&self) -> bool {
        self.states < BESIDE + 1.0
    }

    /// Refuses what measurements in a drive's random states take, where there is not as much: before any is made, of which
    /// nothing could come.
    pub fn check(&self) -> Result<(), LabError> {
        check_in(self.memory, self.each.times(LEAST))
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
        for (gib, writers, is_narrow) in [(1, 1, true), (39, 1, true), (40, 1, false), (48, 2, false), (80, 5, false)] {
            let room = Room::of(Some(Bytes::from_gib(gib)), EACH);
            assert_eq!((*room.writers(), room.is_narrow()), (writers, is_narrow), "{gib} GiB");
        }
        for room in [Room::of(None, EACH), Room::of(Some(EACH), Bytes::ZERO)] {
            assert!(!room.is_narrow() && *room.writers() > 1_000_000, "nothing says that there is little");
        }
    }

    #[test]
    fn no_more_write_at_once_than_may() {
        let room = Room::of(Some(Bytes::from_gib(48)), EACH);
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
