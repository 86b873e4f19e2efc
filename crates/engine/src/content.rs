//! What is written.

use block::Seed;
use workload::{Stamp, Workload};

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// What it follows from.
    pub seed: Seed,
    /// What compression can take away of it, in percent.
    pub compressible: u8,
    /// The share of blocks that repeat an earlier one, in percent.
    pub duplicates: u8,
    /// By what written blocks are known again; none where nobody looks.
    pub stamp: Option<Stamp>,
}

impl Content {
    /// What worker number `index` of a run of this seed writes; none if it writes nothing.
    pub fn of(workload: &Workload, seed: Seed, index: u32) -> Option<Self> {
        let &Workload { compressible, duplicates, .. } = workload;
        let stamp = workload.verify.stamps.then(|| Stamp::new(seed));
        let seed = seed.split("content").number(u64::from(index));
        workload.pattern.changes_data().then_some(Self { seed, compressible, duplicates, stamp })
    }

    /// Makes of `page` what it is before its first write.
    pub fn fill(&self, page: &mut Page, first: u64) {
        page.fill(self.seed, first, random_words(self.compressible));
    }
}

/// What of a buffer is new in every write, so that no two writes are alike unless they are to be.
pub(crate) struct Fresh {
    seed: Seed,
    writes: u64,
    /// All random words of a page, of which there are so many; none for the first word alone. What does not
    /// compress by itself and is never repeated needs no more; what does would compress further beside others like it.
    random: Option<u64>,
    duplicates: Option<Duplicates>,
}

/// Which writes repeat an earlier one.
struct Duplicates {
    percent: u8,
    choices: Seed,
    /// How many writes so far repeated none.
    originals: u64,
}

impl Duplicates {
    /// Which original the write of this number holds.
    fn original(&mut self, write: u64) -> u64 {
        let choice = self.choices.number(write).get();
        if self.originals > 0 && choice % 100 < u64::from(self.percent) {
            return choice / 100 % self.originals;
        }
        self.originals += 1;
        self.originals - 1
    }
}

impl Fresh {
    /// What is new in every write of this content; none where all of it is zeroes.
    pub fn new(content: Content) -> Option<Self> {
        let Content { seed, compressible, duplicates: percent, .. } = content;
        let duplicates = (percent > 0).then(|| Duplicates { percent, choices: seed.split("duplicates"), originals: 0 });
        let whole = compressible > 0 || percent > 0;
        (random_words(compressible) > 0).then(|| Self {
            seed: seed.split("stamps"),
            writes: 0,
            random: whole.then_some(random_words(compressible)),
            duplicates,
        })
    }

    /// Makes every page of a write differ from all that was written before, so that nothing can be deduplicated: all
    /// of its random words, or its first alone. A write that is to repeat an earlier one gets all of its words.
    pub fn renew(&mut self, pages: &mut [Page]) {
        self.writes += 1;
        let number = self.duplicates.as_mut().map_or(self.writes, |duplicates| duplicates.original(self.writes));
        let mark = self.seed.number(number);
        for (page, index) in pages.iter_mut().zip(0..) {
            match self.random {
                Some(random) => page.fill(mark, 512 * index, random),
                None => page.0[0] = mark.get().wrapping_add(index),
            }
        }
    }
}

/// Of the 512 words of a page, how many are random where so much can be compressed away; the others are zero.
const fn random_words(compressible: u8) -> u64 {
    (512 * (100 - compressible as u64) + 50) / 100
}

/// Memory that is aligned as O_DIRECT asks.
#[derive(Clone)]
#[repr(C, align(4096))]
pub(crate) struct Page([u64; 512]);

impl Page {
    /// Nothing but zeroes.
    pub const ZERO: Self = Self([0; 512]);

    /// Makes `random` of the words random, the first of them number `first` of `seed`'s, and leaves the others.
    ///
    /// They are spread evenly over the page's eight sectors, so that requests of one sector compress like those of
    /// many, and stand first in each.
    fn fill(&mut self, seed: Seed, first: u64, random: u64) {
        for (sector, words) in (0..8).zip(self.0.chunks_exact_mut(64)) {
            let count = (sector + 1) * random / 8 - sector * random / 8;
            let numbers = (first + 64 * sector..).map(|index| seed.number(index).get());
            words[..count as usize].iter_mut().zip(numbers).for_each(|(word, number)| *word = number);
        }
    }
}

/// By what the data of a request is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentMark {
    /// Nobody looks.
    None,
    /// It is that of this write of the block.
    Write(u32),
    /// It is that of any write of the block.
    Latest,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_share_of_zeroes_is_what_was_asked_for_in_every_page_and_nearly_in_every_sector() {
        for compressible in [0, 1, 46, 50, 99, 100] {
            let random = random_words(compressible);
            let mut page = Page([0; 512]);
            page.fill(Seed::new(7), 0, random);
            let words = |sector: &[u64]| sector.iter().filter(|&&word| word != 0).count() as u64;
            let counts: Vec<u64> = page.0.chunks(64).map(words).collect();
            assert_eq!(counts.iter().sum::<u64>(), random);
            assert!((random as f64 / 512.0 - f64::from(100 - compressible) / 100.0).abs() <= 0.5 / 512.0);
            assert!(counts.iter().all(|&count| count.abs_diff(random / 8) <= 1), "{compressible} %: {counts:?}");
        }
    }

    /// Of so many writes of two pages, how many blocks are the first of their kind, and how many pages.
    fn originals(compressible: u8, duplicates: u8, writes: usize) -> (usize, usize) {
        let content = Content { seed: Seed::new(7), compressible, duplicates, stamp: None };
        let mut fresh = Fresh::new(content).unwrap();
        let mut pages = [Page::ZERO, Page::ZERO];
        let (mut blocks, mut singles) = (HashSet::new(), HashSet::new());
        for _ in 0..writes {
            fresh.renew(&mut pages);
            blocks.insert((pages[0].0, pages[1].0));
            singles.extend(pages.iter().map(|page| page.0));
        }
        (blocks.len(), singles.len())
    }

    #[test]
    fn the_share_of_blocks_that_repeat_an_earlier_one_is_what_was_asked_for() {
        for compressible in [0, 50] {
            for percent in [0, 30, 90, 100] {
                let (blocks, pages) = originals(compressible, percent, 2000);
                let expected = (2000 * (100 - usize::from(percent)) / 100).max(1);
                assert!(blocks.abs_diff(expected) <= 100, "{percent} %: {blocks} of 2000, expected {expected}");
                assert_eq!(pages, 2 * blocks, "{percent} %: no page repeats another within a block");
            }
        }
    }
}
