//! What was written and is not on the platters yet.

use block::Lba;
use serde::{Deserialize, Serialize};

/// A stretch of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The first sector.
    pub first: Lba,
    /// The sector after the last.
    pub end: Lba,
}

impl Extent {
    /// How many sectors it has.
    pub fn sectors(self) -> u64 {
        self.end.get() - self.first.get()
    }
}

/// Written sectors by position; neighbours are joined, so that small sequential writes become large ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteCache {
    size: u64,
    extents_max: usize,
    /// Ascending, apart from each other.
    extents: Vec<Extent>,
    held: u64,
    /// What is on its way to the platters, whose room is not free yet.
    leaving: Vec<Extent>,
    /// Whether it is being emptied for its own sake: from when half of its room is taken until a quarter is.
    drains: bool,
}

impl WriteCache {
    /// An empty cache of so many sectors in at most so many stretches.
    pub fn new(size: u64, extents_max: usize) -> Self {
        let extents = Vec::with_capacity(extents_max + 1);
        Self { size, extents_max, extents, held: 0, leaving: Vec::new(), drains: false }
    }

    /// Whether such a write can ever wait here.
    pub fn takes(&self, sectors: u64) -> bool {
        sectors <= self.size
    }

    pub fn has_room(&self, sectors: u64) -> bool {
        self.held + self.on_their_way() + sectors <= self.size && self.extents.len() < self.extents_max
    }

    fn on_their_way(&self) -> u64 {
        self.leaving.iter().map(|extent| extent.sectors()).sum()
    }

    /// All that is not on the platters: what waits and what is on its way.
    pub fn unsaved(&self) -> impl Iterator<Item = Extent> + '_ {
        self.extents.iter().chain(&self.leaving).copied()
    }

    /// Whether nothing waits, nor is on its way.
    pub fn is_clean(&self) -> bool {
        self.extents.is_empty() && self.leaving.is_empty()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether what waits has to go to the platters even if writes still come: it has taken half of the room, and no less than a
    /// quarter since. With one limit for both, each small write into a cache that is half full would move the arm for itself.
    pub fn drains(&self) -> bool {
        self.drains
    }

    /// Whether such a part of the room is taken by what waits.
    fn holds_one_in(&self, parts: usize) -> bool {
        !self.is_empty() && (self.held >= self.size / parts as u64 || self.extents.len() >= self.extents_max / parts)
    }

    /// Notes that more or less waits.
    fn note_change(&mut self) {
        self.drains = self.holds_one_in(2) || self.drains && self.holds_one_in(4);
    }

    /// Whether all of it is here.
    pub fn covers(&self, first: Lba, end: Lba) -> bool {
        let next = self.extents.partition_point(|extent| extent.end <= first);
        self.extents.get(next).is_some_and(|extent| extent.first <= first && end <= extent.end)
    }

    /// Keeps what was written, joined with what it overlaps or touches.
    pub fn put(&mut self, first: Lba, end: Lba) {
        let from = self.extents.partition_point(|extent| extent.end < first);
        let until = self.extents.partition_point(|extent| extent.first <= end);
        if from == until {
            self.extents.insert(from, Extent { first, end });
            self.held += end.get() - first.get();
            return self.note_change();
        }
        let joined = Extent { first: first.min(self.extents[from].first), end: end.max(self.extents[until - 1].end) };
        self.held += joined.sectors() - self.extents[from..until].iter().map(|extent| extent.sectors()).sum::<u64>();
        self.extents[from] = joined;
        self.extents.drain(from + 1..until);
        self.note_change();
    }

    /// Forgets sectors that are written to the platters by another way.
    pub fn forget(&mut self, first: Lba, end: Lba) {
        let from = self.extents.partition_point(|extent| extent.end <= first);
        let until = self.extents.partition_point(|extent| extent.first < end);
        if from >= until {
            return;
        }
        let (head, tail) = (self.extents[from].first, self.extents[until - 1].end);
        self.held -= self.extents[from..until].iter().map(|extent| extent.sectors()).sum::<u64>();
        let left = [Extent { first: head, end: first }, Extent { first: end, end: tail }];
        let left = left.into_iter().filter(|extent| extent.first < extent.end);
        self.held += left.clone().map(Extent::sectors).sum::<u64>();
        self.extents.splice(from..until, left);
        self.note_change();
    }

    /// Up to `count` stretches in order of position from `from` on, and on from the first behind the last;
    /// with their indices.
    pub fn sweep(&self, from: Lba, count: usize) -> impl Iterator<Item = (usize, Extent)> + '_ {
        let start = self.extents.partition_point(|extent| extent.first < from);
        let length = self.extents.len();
        (0..length.min(count)).map(move |ahead| {
            let index = if start + ahead < length { start + ahead } else { start + ahead - length };
            (index, self.extents[index])
        })
    }

    /// Takes the first sectors of a stretch, at most `most`, off to the platters; their room stays taken until
    /// [`release`](Self::release).
    pub fn take(&mut self, index: usize, most: u64) -> Extent {
        let whole = self.extents[index];
        let taken = Extent { end: whole.end.min(Lba::new(whole.first.get() + most)), ..whole };
        if taken.end == whole.end {
            self.extents.remove(index);
        } else {
            self.extents[index].first = taken.end;
        }
        self.held -= taken.sectors();
        self.leaving.push(taken);
        self.note_change();
        taken
    }

    /// Frees the room of what was taken: it is on the platters. Whether anything was on its way.
    pub fn release(&mut self) -> bool {
        self.leaving.drain(..).count() > 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.extents.clear();
        self.leaving.clear();
        self.held = 0;
        self.drains = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &mut WriteCache, first: u64, end: u64) {
        cache.put(Lba::new(first), Lba::new(end));
    }

    fn extents(cache: &WriteCache) -> Vec<(u64, u64)> {
        cache.extents.iter().map(|extent| (extent.first.get(), extent.end.get())).collect()
    }

    #[test]
    fn neighbours_and_overlaps_become_one() {
        let mut cache = WriteCache::new(1_000, 16);
        for (first, end) in [(40, 50), (0, 10), (10, 20), (45, 60), (18, 41)] {
            put(&mut cache, first, end);
        }
        assert_eq!(extents(&cache), [(0, 60)]);
        assert_eq!(cache.held, 60, "each sector is counted once");
        assert!(cache.covers(Lba::new(5), Lba::new(60)) && !cache.covers(Lba::new(5), Lba::new(61)));
    }

    #[test]
    fn room_is_taken_until_the_platters_have_it() {
        let mut cache = WriteCache::new(100, 16);
        put(&mut cache, 0, 80);
        assert!(cache.has_room(20) && !cache.has_room(21));
        let taken = cache.take(0, 30);
        assert_eq!((taken.first, taken.end), (Lba::new(0), Lba::new(30)));
        assert!(!cache.has_room(21), "on its way");
        cache.release();
        assert!(cache.has_room(50) && !cache.has_room(51));
    }

    #[test]
    fn a_cache_drains_from_half_to_a_quarter_of_its_room() {
        let mut cache = WriteCache::new(100, 16);
        put(&mut cache, 0, 49);
        assert!(!cache.drains());
        put(&mut cache, 49, 50);
        assert!(cache.drains(), "half of its sectors");
        cache.take(0, 25);
        assert!(cache.drains());
        cache.take(0, 1);
        assert!(!cache.drains());
        (0..7).for_each(|extent| put(&mut cache, 1_000 + 2 * extent, 1_001 + 2 * extent));
        assert!(cache.drains(), "half of its stretches");
        cache.clear();
        assert!(!cache.drains());
    }

    #[test]
    fn what_goes_to_the_platters_by_another_way_is_forgotten() {
        let mut cache = WriteCache::new(1_000, 16);
        for (first, end) in [(0, 10), (20, 30), (40, 50)] {
            put(&mut cache, first, end);
        }
        cache.forget(Lba::new(10), Lba::new(20));
        cache.forget(Lba::new(5), Lba::new(42));
        assert_eq!((extents(&cache), cache.held), (vec![(0, 5), (42, 50)], 13));
        cache.forget(Lba::new(44), Lba::new(46));
        assert_eq!((extents(&cache), cache.held), (vec![(0, 5), (42, 44), (46, 50)], 11));
    }

    #[test]
    fn a_sweep_goes_on_from_the_first_behind_the_last() {
        let mut cache = WriteCache::new(1_000, 16);
        for first in [10, 20, 30, 40] {
            put(&mut cache, first, first + 5);
        }
        let sweep = |from, count| cache.sweep(Lba::new(from), count).map(|(index, _)| index).collect::<Vec<_>>();
        assert_eq!(sweep(25, 8), [2, 3, 0, 1]);
        assert_eq!(sweep(25, 3), [2, 3, 0]);
        assert_eq!(sweep(99, 8), [0, 1, 2, 3]);
    }

    /// Any writes, forgettings and takings leave what a plain array of sectors says.
    #[test]
    fn the_cache_holds_what_an_array_of_sectors_holds() {
        let mut random = testkit::Random::new(7);
        let mut random = |below: u64| random.below(below);
        let (mut cache, mut plain) = (WriteCache::new(10_000, 1_000), vec![false; 600]);
        for _ in 0..5_000 {
            let first = random(500);
            let end = first + 1 + random(40);
            match random(3) {
                0 => cache.forget(Lba::new(first), Lba::new(end)),
                1 if !cache.is_empty() => {
                    let taken = cache.take(random(cache.extents.len() as u64) as usize, 1 + random(30));
                    plain[taken.first.get() as usize..taken.end.get() as usize].fill(false);
                    continue;
                }
                _ => {
                    put(&mut cache, first, end);
                    plain[first as usize..end as usize].fill(true);
                    continue;
                }
            }
            plain[first as usize..end as usize].fill(false);
        }
        assert_eq!(cache.held, plain.iter().filter(|held| **held).count() as u64);
        for (first, end) in extents(&cache) {
            assert!(plain[first as usize..end as usize].iter().all(|held| *held));
        }
        assert!(cache.extents.windows(2).all(|pair| pair[0].end < pair[1].first), "apart");
    }
}
