//! Where data is when blocks are mapped and a few log blocks take what is overwritten.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How log blocks are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Each log block belongs to one data block.
    ///
    /// Source: J. Kim et al., "A space-efficient flash translation layer for CompactFlash systems", IEEE Transactions on
    /// Consumer Electronics 48(2), 2002.
    Bast,
    /// One log block takes what is written in order from the start of a block, the others take all else in turn.
    ///
    /// Source: S.-W. Lee et al., "A log buffer-based flash translation layer using fully-associative sector translation", ACM
    /// Transactions on Embedded Computing Systems 6(3), 2007.
    Fast,
}

/// A page of flash: its block, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub block: u32,
    pub page: u32,
}

/// Something that flash must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HybridOp {
    /// Program with data from the controller.
    Program(Place),
    /// Read a page and program it elsewhere.
    Copy(Place, Place),
    /// Erase a block.
    Erase(u32),
}

/// How often each kind of merge was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merges {
    /// The log block, full and in order, becomes the data block.
    pub switch: u64,
    /// The log block is in order and takes the rest of the data block first.
    pub partial: u64,
    /// All pages are copied to a block of their own.
    pub full: u64,
}

const NONE: u32 = u32::MAX;

/// A map of blocks, and of the pages in log blocks.
///
/// A page lies at its own number in its data block, unless it was overwritten: then in a log block, until that is merged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Translation {
    scheme: Scheme,
    pages_per_block: u32,
    /// The data block of each logical block.
    data: Vec<u32>,
    /// The first page of each data block that was not programmed, nor any behind it.
    next: Vec<u32>,
    /// Of each logical page, one more than its place in a log block, counted through all blocks; or zero.
    logged: Vec<u32>,
    /// Whether each logical page is in its data block.
    kept: Vec<bool>,
    /// The one that was written least lately, first.
    logs: VecDeque<Log>,
    logs_max: usize,
    free: VecDeque<u32>,
    erases: Vec<u32>,
    merges: Merges,
    copied: u64,
    digest: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Log {
    block: u32,
    /// The logical block that it belongs to, if it does to one.
    owner: Option<u32>,
    /// The logical page of each page that was programmed.
    pages: Vec<u32>,
}

impl Translation {
    /// An empty map of so many logical pages, with so many log blocks.
    ///
    /// # Panics
    /// If there is no log block, or more pages than can be numbered.
    pub fn new(scheme: Scheme, pages: u32, pages_per_block: u32, log_blocks: u32) -> Self {
        let logical = pages.div_ceil(pages_per_block);
        // One block beside, into which others are merged.
        let blocks = logical + log_blocks + 1;
        assert!(log_blocks > 0 && blocks.checked_mul(pages_per_block).is_some_and(|all| all < NONE), "{blocks} blocks");
        Self {
            scheme,
            pages_per_block,
            data: vec![NONE; logical as usize],
            next: vec![0; logical as usize],
            logged: vec![0; pages as usize],
            kept: vec![false; pages as usize],
            logs: VecDeque::new(),
            logs_max: log_blocks as usize,
            free: (0..blocks).collect(),
            erases: vec![0; blocks as usize],
            merges: Merges::default(),
            copied: 0,
            digest: 0,
        }
    }

    /// Where `page` is; none if it was never written.
    #[inline]
    pub fn place_of(&self, page: u32) -> Option<Place> {
        let (block, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        match self.logged[page as usize].checked_sub(1) {
            Some(at) => Some(Place { block: at / self.pages_per_block, page: at % self.pages_per_block }),
            None => self.kept[page as usize].then(|| Place { block: self.data[block as usize], page: offset }),
        }
    }

    /// Writes `page`, appending to `plan` what flash must do for it, in order; the last is its own program.
    pub fn write(&mut self, page: u32, plan: &mut Vec<HybridOp>) {
        let (logical, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        let place = if self.goes_in_place(logical, offset) {
            if self.data[logical as usize] == NONE {
                self.data[logical as usize] = self.take_free();
            }
            self.next[logical as usize] = offset + 1;
            self.kept[page as usize] = true;
            Place { block: self.data[logical as usize], page: offset }
        } else {
            let log = self.log_for(logical, offset, plan);
            let log = &mut self.logs[log];
            log.pages.push(page);
            let place = Place { block: log.block, page: log.pages.len() as u32 - 1 };
            self.logged[page as usize] = place.block * self.pages_per_block + place.page + 1;
            place
        };
        plan.push(HybridOp::Program(place));
        self.note(u64::from(page) << 32 | u64::from(place.block * self.pages_per_block + place.page));
    }

    /// Whether a page can be programmed in its data block: it and all behind it are still erased, and no log has it.
    fn goes_in_place(&self, logical: u32, offset: u32) -> bool {
        offset >= self.next[logical as usize]
            && self.logged[(logical * self.pages_per_block + offset) as usize] == 0
            && !self.logs.iter().any(|log| log.owner == Some(logical))
    }

    /// The number of the log block that takes a page.
    fn log_for(&mut self, logical: u32, offset: u32, plan: &mut Vec<HybridOp>) -> usize {
        let full = self.pages_per_block as usize;
        let owned = self.logs.iter().position(|log| log.owner == Some(logical));
        match self.scheme {
            Scheme::Bast => {
                if let Some(at) = owned {
                    if self.logs[at].pages.len() < full {
                        // The one written last is the last to go.
                        let log = self.logs.remove(at).expect("it was just found");
                        self.logs.push_back(log);
                        return self.logs.len() - 1;
                    }
                    self.merge(at, plan);
                }
                if self.logs.len() == self.logs_max {
                    self.merge(0, plan);
                }
                self.open(Some(logical))
            }
            Scheme::Fast => {
                if let Some(at) = owned.filter(|&at| self.logs[at].pages.len() == offset as usize) {
                    return at;
                }
                // With a single log block there is none to spare for what comes in order.
                if offset == 0 && self.logs_max > 1 {
                    if let Some(at) = self.logs.iter().position(|log| log.owner.is_some()) {
                        self.merge(at, plan);
                    }
                    self.make_room(plan);
                    return self.open(Some(logical));
                }
                let open = |log: &Log| log.owner.is_none() && log.pages.len() < full;
                if let Some(at) = self.logs.iter().position(open) {
                    return at;
                }
                self.make_room(plan);
                self.open(None)
            }
        }
    }

    /// Merges the log block that was opened first, if there is no room for another.
    fn make_room(&mut self, plan: &mut Vec<HybridOp>) {
        if self.logs.len() == self.logs_max {
            let shared = self.logs.iter().position(|log| log.owner.is_none());
            self.merge(shared.unwrap_or(0), plan);
        }
    }

    fn open(&mut self, owner: Option<u32>) -> usize {
        let block = self.take_free();
        self.logs.push_back(Log { block, owner, pages: Vec::new() });
        self.logs.len() - 1
    }

    /// Empties a log block.
    fn merge(&mut self, at: usize, plan: &mut Vec<HybridOp>) {
        let log = self.logs.remove(at).expect("there is such a log block");
        let Some(owner) = log.owner else {
            for &page in &log.pages {
                if self.is_latest(page, log.block) {
                    self.merge_all(page / self.pages_per_block, plan);
                }
            }
            return self.erase(log.block, plan);
        };
        let first = owner * self.pages_per_block;
        if log.pages.iter().enumerate().all(|(offset, &page)| page == first + offset as u32) {
            self.take_over(owner, &log, plan);
        } else {
            self.merge_all(owner, plan);
            self.erase(log.block, plan);
        }
    }

    /// Whether the latest copy of a page is in this log block.
    fn is_latest(&self, page: u32, block: u32) -> bool {
        self.logged[page as usize].checked_sub(1).is_some_and(|at| at / self.pages_per_block == block)
    }

    /// Makes a log block that is in order the data block, with what it lacks.
    fn take_over(&mut self, owner: u32, log: &Log, plan: &mut Vec<HybridOp>) {
        let (first, written) = (owner * self.pages_per_block, log.pages.len() as u32);
        let old = std::mem::replace(&mut self.data[owner as usize], log.block);
        let mut next = written;
        for offset in written..self.pages_per_block.min(self.logged.len() as u32 - first) {
            if self.kept[(first + offset) as usize] {
                let (from, to) = (Place { block: old, page: offset }, Place { block: log.block, page: offset });
                plan.push(HybridOp::Copy(from, to));
                self.copied += 1;
                next = offset + 1;
            }
        }
        if next > written {
            self.merges.partial += 1
        } else {
            self.merges.switch += 1
        }
        self.next[owner as usize] = next;
        for &page in &log.pages {
            if self.is_latest(page, log.block) {
                self.logged[page as usize] = 0;
            }
            self.kept[page as usize] = true;
        }
        if old != NONE {
            self.erase(old, plan);
        }
    }

    /// Copies the latest of all pages of a logical block into a new one.
    fn merge_all(&mut self, logical: u32, plan: &mut Vec<HybridOp>) {
        self.merges.full += 1;
        let first = logical * self.pages_per_block;
        let block = self.take_free();
        for offset in 0..self.pages_per_block.min(self.logged.len() as u32 - first) {
            let page = first + offset;
            let Some(from) = self.place_of(page) else { continue };
            plan.push(HybridOp::Copy(from, Place { block, page: offset }));
            self.copied += 1;
            self.next[logical as usize] = offset + 1;
            self.logged[page as usize] = 0;
            self.kept[page as usize] = true;
        }
        let old = std::mem::replace(&mut self.data[logical as usize], block);
        if old != NONE {
            self.erase(old, plan);
        }
        // A log block of its own has nothing left, and some of it may be older than what was copied.
        if let Some(at) = self.logs.iter().position(|log| log.owner == Some(logical)) {
            let log = self.logs.remove(at).expect("it was just found");
            self.erase(log.block, plan);
        }
    }

    fn take_free(&mut self) -> u32 {
        self.free.pop_front().expect("there are as many blocks as data, logs and a merge take")
    }

    fn erase(&mut self, block: u32, plan: &mut Vec<HybridOp>) {
        plan.push(HybridOp::Erase(block));
        self.erases[block as usize] += 1;
        self.free.push_back(block);
        self.note(u64::from(!block));
    }

    fn note(&mut self, what: u64) {
        self.digest = (self.digest ^ what).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31);
    }

    /// Forgets all data, at no cost.
    pub fn purge(&mut self) {
        let blocks = self.erases.len() as u32;
        self.data.fill(NONE);
        self.next.fill(0);
        self.logged.fill(0);
        self.kept.fill(false);
        self.logs.clear();
        self.free = (0..blocks).collect();
        self.digest = 0;
    }

    /// How often each kind of merge was done.
    pub fn merges(&self) -> Merges {
        self.merges
    }

    /// Pages that merges have copied.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// A number that is equal for equal histories.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Erases of each block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flash that holds, in each page, the number of the write that it is of.
    struct Flash(Vec<Option<u64>>);

    impl Flash {
        fn at(&mut self, place: Place) -> &mut Option<u64> {
            &mut self.0[(place.block * 8 + place.page) as usize]
        }

        /// Carries a plan out; its last program is of `stamp`.
        fn carry_out(&mut self, plan: &[HybridOp], stamp: u64) {
            for op in plan {
                match *op {
                    HybridOp::Program(place) => assert_eq!(self.at(place).replace(stamp), None, "programmed twice"),
                    HybridOp::Copy(from, to) => {
                        let data = self.at(from).expect("there is data");
                        assert_eq!(self.at(to).replace(data), None, "programmed twice");
                    }
                    HybridOp::Erase(block) => self.0[block as usize * 8..][..8].fill(None),
                }
            }
        }
    }

    /// Whatever is written, the map points to the latest copy of every page, and no page is programmed twice between erases.
    #[test]
    fn no_data_is_lost_and_one_seed_tells_one_story() {
        let story = |scheme, seed: u64| {
            let logs = 1 + (seed % 5) as u32;
            let mut map = Translation::new(scheme, 60, 8, logs);
            let mut flash = Flash(vec![None; 8 * (8 + logs as usize + 1)]);
            let (mut latest, mut random, mut plan) = (vec![None; 60], testkit::Random::new(seed), Vec::new());
            let (mut at, mut left) = (0, 0);
            for stamp in 0..5_000 {
                if left == 0 {
                    (at, left) = (random.below(60), 1 + random.below(1 + 20 * (seed % 3)));
                }
                let page = at % 60;
                (at, left) = (at + 1, left - 1);
                plan.clear();
                map.write(page as u32, &mut plan);
                flash.carry_out(&plan, stamp);
                latest[page as usize] = Some(stamp);
                for page in 0..60 {
                    let found = map.place_of(page).and_then(|place| *flash.at(place));
                    assert_eq!(found, latest[page as usize], "{scheme:?}, seed = {seed}, page {page}");
                }
            }
            (map.digest(), map.merges(), map.copied())
        };
        for scheme in [Scheme::Bast, Scheme::Fast] {
            for seed in 0..15 {
                assert_eq!(story(scheme, seed), story(scheme, seed), "{scheme:?}, seed = {seed}");
            }
            let (digest, merges, _) = story(scheme, 4);
            assert!(digest != story(scheme, 5).0 && merges.full > 0);
        }
    }

    fn written(scheme: Scheme, pages: impl IntoIterator<Item = u32>) -> (Merges, u64) {
        let (mut map, mut plan) = (Translation::new(scheme, 64, 8, 3), Vec::new());
        (0..64).for_each(|page| map.write(page, &mut plan));
        assert_eq!(plan.len(), 64, "the first time, each page goes to its place");
        pages.into_iter().for_each(|page| map.write(page, &mut plan));
        (map.merges(), map.copied())
    }

    #[test]
    fn each_pattern_has_its_merge() {
        for scheme in [Scheme::Bast, Scheme::Fast] {
            // All in order again: log blocks become data blocks, and nothing is copied.
            let (merges, copied) = written(scheme, 0..64);
            assert!(merges.switch >= 5 && (merges.partial, merges.full, copied) == (0, 0, 0), "{scheme:?}: {merges:?}");
            // The first half of each block: the other half is copied.
            let (merges, copied) = written(scheme, (0..64).filter(|page| page % 8 < 4));
            assert!(merges.partial >= 5 && (merges.switch, merges.full) == (0, 0), "{scheme:?}: {merges:?}");
            assert_eq!(copied, 4 * merges.partial);
        }
        // A page here and there: a block is copied for each with a log block of its own, which is never full.
        let apart = || (0..64).map(|index| index * 8 % 64 + 3);
        let (merges, copied) = written(Scheme::Bast, apart());
        assert_eq!((merges.full, copied), (61, 61 * 8), "all but what is in log blocks yet");
        // Shared log blocks are filled first: of 64 pages in eight blocks, each is copied once for several.
        let (merges, _) = written(Scheme::Fast, apart());
        assert!(merges.full < 61 / 2, "{merges:?}");
    }
}
