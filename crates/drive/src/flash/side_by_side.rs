//! Work on parts of a large table that several processors do side by side. What comes of it does not hang on how many.

use std::num::NonZero;

/// So many entries at least are worth another processor, and no more of those are of use: memory gives no more.
const ENTRIES_EACH: usize = 4 << 20;
const PROCESSORS_MOST: usize = 4;

/// How many processors are worth while for so many entries.
pub fn processors(entries: usize) -> usize {
    let there = std::thread::available_parallelism().map_or(1, NonZero::get);
    (entries / ENTRIES_EACH).clamp(1, there.min(PROCESSORS_MOST))
}

/// Does the same work on parts that have nothing to do with each other.
pub fn side_by_side<T: Send>(processors: usize, parts: Vec<T>, work: impl Fn(T) + Sync) {
    let each = parts.len().div_ceil(processors).max(1);
    let (mut parts, work) = (parts.into_iter(), &work);
    std::thread::scope(|scope| {
        for _ in 1..processors {
            let share: Vec<T> = parts.by_ref().take(each).collect();
            scope.spawn(move || share.into_iter().for_each(work));
        }
        parts.for_each(work);
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn every_part_is_worked_on_once_whoever_does_it() {
        for (processors, parts) in [(1, 5), (2, 5), (4, 5), (4, 3), (3, 0)] {
            let done: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
            side_by_side(processors, (0..parts).collect(), |part| _ = done[part].fetch_add(1, Ordering::Relaxed));
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{processors} for {parts}");
        }
    }
}
